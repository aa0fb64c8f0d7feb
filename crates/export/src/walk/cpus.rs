//! What CPUs and disks did: the thread that ran, interrupts and softirqs, requests, and bytes through disks and networks.

use std::cmp::Reverse;

use isochrone_analysis::InterruptSource;
use isochrone_kernel::Name;
use isochrone_store::{BlockSpan, HandlerSpan, SliceSpan, ThreadRow};
use isochrone_time::{RawNs, Window};

use super::ExportError;
use super::counters::Counted;
use super::host::{Host, name_of};
use crate::timeline::{Event, Timeline, TrackKind, Value};

/// Passes what the CPUs and disks of a host did in a part of its time.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: Window<RawNs>,
    to: &mut T,
) -> Result<(), ExportError> {
    running(host, part, to)?;
    interrupts(host, part, to)?;
    disks(host, part, to)
}

/// What a CPU ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ran {
    Thread(ThreadRow),
    Unidentified,
    Unknown,
}

fn running<T: Timeline>(host: &mut Host<'_>, part: Window<RawNs>, to: &mut T) -> Result<(), ExportError> {
    let cut = |start: RawNs, end: RawNs| (start.max(part.start), end.min(part.end));
    let mut all: Vec<(u32, RawNs, Reverse<RawNs>, Ran)> = Vec::new();
    let Host { store, counters, .. } = host;
    let is_idle = |row: ThreadRow| store.thread(row).is_some_and(|it| it.tid.is_none());
    store.slices(part, |slice| {
        let SliceSpan { cpu, thread, start, end, .. } = slice;
        if thread.is_some_and(is_idle) {
            return;
        }
        let (from, until) = cut(start, end);
        counters.add_time(Counted::BusyCpus, from, until);
        if part.contains(start) {
            all.push((cpu, start, Reverse(end), thread.map_or(Ran::Unidentified, Ran::Thread)));
        }
    })?;
    store.unknown(part, |it| {
        let (from, until) = cut(it.start, it.end);
        counters.add_time(Counted::UnknownCpus, from, until);
        if part.contains(it.start) {
            all.push((it.cpu, it.start, Reverse(it.end), Ran::Unknown));
        }
    })?;
    all.sort_unstable();
    for (cpu, start, Reverse(end), ran) in all {
        let span = host.span(start, end);
        let cpu = host.add_cpu(cpu, to)?;
        let args;
        let event = match ran {
            Ran::Unknown => Event::new("unknown", "unknown"),
            Ran::Unidentified => Event::new("?", "cpu"),
            Ran::Thread(row) => {
                let thread = host.store.thread(row);
                let tid = thread.and_then(|thread| thread.tid).unwrap_or_default();
                args = [("tid", Value::Int(tid.into()))];
                Event { args: &args, ..Event::new(name_of(thread), "cpu") }
            }
        };
        let Some(tracks) = host.cpus.get_mut(&cpu) else { continue };
        tracks.running.slice(span, &event, TrackKind::Under { parent: tracks.track, name: "running" }, to)?;
    }
    Ok(())
}

fn interrupts<T: Timeline>(host: &mut Host<'_>, part: Window<RawNs>, to: &mut T) -> Result<(), ExportError> {
    let mut all: Vec<HandlerSpan> = Vec::new();
    let mut keep = |handler: HandlerSpan| {
        if part.contains(handler.start) {
            all.push(handler);
        }
    };
    host.store.irqs(part, &mut keep)?;
    host.store.softirqs(part, &mut keep)?;
    all.sort_by_key(|it| (it.cpu, it.start, Reverse(it.end), it.name.is_some(), it.number));
    for handler in &all {
        let span = host.span(handler.start, handler.end);
        let cpu = host.add_cpu(handler.cpu, to)?;
        let (source, category) = match &handler.name {
            Some(name) => (InterruptSource::Hard { number: handler.number, name: Name::clone(name) }, "irq"),
            None => (InterruptSource::Soft(handler.number.unsigned_abs()), "softirq"),
        };
        let Some(tracks) = host.cpus.get_mut(&cpu) else { continue };
        let more = tracks.interrupts_kind();
        tracks.interrupts.slice(span, &Event::new(&source.to_string(), category), more, to)?;
    }
    Ok(())
}

/// Passes the requests that start in a part of a host's time, and counts the bytes of those that end in it, and of its packets.
fn disks<T: Timeline>(host: &mut Host<'_>, part: Window<RawNs>, to: &mut T) -> Result<(), ExportError> {
    let mut all: Vec<BlockSpan> = Vec::new();
    let Host { store, counters, .. } = host;
    // Requests that end at the first instant of the part started before it.
    store.block_requests(Window::new(part.start.saturating_sub(1), part.end), |request| {
        if part.contains(request.end) {
            let what = if request.is_write { Counted::DiskWritten } else { Counted::DiskRead };
            counters.add_bytes(what, request.end, request.bytes.unwrap_or(0));
        }
        if part.contains(request.start) {
            all.push(request);
        }
    })?;
    for packet in store.packets(part)? {
        let what = if packet.is_sent { Counted::NetworkSent } else { Counted::NetworkReceived };
        counters.add_bytes(what, packet.at, packet.bytes);
    }
    all.sort_by_key(|it| (it.device, it.start, Reverse(it.end), it.is_write, it.thread, it.bytes));
    for request in &all {
        let span = host.span(request.start, request.end);
        let disk = format!("disk {}", host.store.entry().disk_name(request.device));
        let mut lanes = host.disks.remove(&request.device).unwrap_or_default();
        let mut args = Vec::with_capacity(2);
        args.extend(request.bytes.map(|bytes| ("bytes", Value::Int(bytes.into()))));
        args.extend(request.thread.map(|thread| ("thread", Value::Text(host.name_of(Some(thread))))));
        let name = if request.is_write { "write" } else { "read" };
        let event = Event { args: &args, ..Event::new(name, "disk") };
        lanes.slice(span, &event, TrackKind::Under { parent: host.track, name: &disk }, to)?;
        host.disks.insert(request.device, lanes);
    }
    Ok(())
}
