//! Requests to disks, and how much went through disks and networks.

use std::cmp::Reverse;

use isochrone_store::BlockSpan;

use super::ExportError;
use super::host::Host;
use crate::timeline::{Lanes, Place, Shown, Timeline, Value};

/// Passes the requests of a part of a host's time, and counts bytes.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: (i64, i64),
    to: &mut T,
) -> Result<(), ExportError> {
    let is_here = |at: i64| (part.0..part.1).contains(&at);
    let (mut all, mut done): (Vec<BlockSpan>, Vec<BlockSpan>) = (Vec::new(), Vec::new());
    // Those that end with the part begin in it or before.
    host.store.block_requests((part.0.saturating_sub(1), part.1), |request| {
        if is_here(request.begin) {
            all.push(request);
        }
        if is_here(request.end) {
            done.push(request);
        }
    })?;
    for request in &done {
        host.figures.disk(request.end, request.is_write, request.bytes.unwrap_or(0));
    }
    for packet in host.store.packets(part)? {
        host.figures.packet(packet.at, packet.is_sent, packet.bytes);
    }
    all.sort_by_key(|it| (it.device, it.begin, Reverse(it.end), it.is_write, it.thread, it.bytes));
    for request in &all {
        let (begin, end) = (host.common(request.begin), host.common(request.end));
        let (parent, device) = (host.row, request.device);
        let name = format!("disk {}", host.store.entry().disk_name(device));
        let mut lanes: Lanes = host.disks.remove(&device).unwrap_or_default();
        let row = lanes.place((begin, end), to, |to| to.row(&Place::Under { parent, name: &name }))?;
        host.disks.insert(device, lanes);
        let mut details = Vec::with_capacity(2);
        details.extend(request.bytes.map(|bytes| ("bytes", Value::Int(bytes.into()))));
        details.extend(request.thread.map(|thread| ("thread", Value::Text(host.name_of(Some(thread))))));
        let name = if request.is_write { "write" } else { "read" };
        to.begin(row, begin, &Shown { name, category: "disk", details: &details, flow: None })?;
    }
    Ok(())
}
