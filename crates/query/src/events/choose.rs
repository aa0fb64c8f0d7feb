//! Which packets and which classes of events a query needs.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray, UInt32Array};
use isochrone_experiment::TimedTrace;
use isochrone_kernel::cpu_of;

use crate::instants::{in_range, timestamps};
use crate::pruning::{Pruner, Ranges};
use crate::scan::Piece;
use crate::tables::runs;
use crate::traced::View;

/// Bytes of packets that are read as one piece, about.
const PIECE: u64 = 1 << 20;

/// The names of requested events; `None`: all.
pub(super) fn names(view: &View<'_>, pruner: &Pruner) -> Option<Vec<String>> {
    let all: BTreeSet<&str> = all_names(view).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let column: ArrayRef = Arc::new(StringArray::from(all.clone()));
    let kept = pruner.kept(&Ranges::of(all.len()).with("event", Arc::clone(&column), column));
    if kept.iter().all(|kept| *kept) {
        return None;
    }
    Some(all.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(name, _)| name.to_owned()).collect())
}

/// The names of the classes of events that traces declare.
pub(super) fn all_names<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v str> {
    let classes = view.traces.iter().flat_map(|trace| &trace.trace().schema().streams);
    classes.flat_map(|stream| &stream.events).filter_map(|class| class.name.as_deref())
}

/// Whether there are events without a name, as CTF 2 allows.
pub(super) fn has_nameless(view: &View<'_>) -> bool {
    let classes = view.traces.iter().flat_map(|trace| &trace.trace().schema().streams);
    classes.flat_map(|stream| &stream.events).any(|class| class.name.is_none())
}

/// The requested packets with their approximate number of bytes, and the number of all packets.
pub(super) fn pieces(view: &View<'_>, pruner: &Pruner) -> (Vec<(Piece, u64)>, u64) {
    let (mut pieces, mut all) = (Vec::new(), 0);
    for (number, timed) in (0..).zip(&view.traces) {
        for (stream, there) in timed.trace().streams().iter().enumerate() {
            let first = view.first_packets.get(&(timed.place, stream)).copied().unwrap_or(0);
            let count = there.packets.len().saturating_sub(first);
            all += count as u64;
            if count == 0 {
                continue;
            }
            let kept = pruner.kept(&ranges(timed, stream, first..first + count));
            let kept = (first as u32..).zip(kept).filter(|(_, kept)| *kept).map(|(packet, _)| packet);
            let bytes = |packet: u32| there.packets[packet as usize].total_bits / 8;
            let total: u64 = there.packets.iter().map(|packet| packet.total_bits / 8).sum();
            let most = (PIECE / (total / there.packets.len() as u64).max(1)).max(1) as u32;
            pieces.extend(runs(kept, most).map(|(from, to)| {
                (Piece { of: number, part: stream as u32, from, to }, (from..to).map(bytes).sum())
            }));
        }
    }
    (pieces, all)
}

/// What is known of the events of each packet.
fn ranges(timed: &TimedTrace<'_>, stream: usize, packets: std::ops::Range<usize>) -> Ranges {
    let trace = timed.trace();
    let count = packets.len();
    let hosts: ArrayRef = Arc::new(StringArray::from(vec![timed.host.as_str(); count]));
    let packet = |number: usize| &trace.streams()[stream].packets[number];
    let cpus: ArrayRef = Arc::new(
        packets.clone().map(|number| cpu_of(trace, stream, packet(number))).collect::<UInt32Array>(),
    );
    let ranges =
        Ranges::of(count).with("host", Arc::clone(&hosts), hosts).with("cpu", Arc::clone(&cpus), cpus);
    if trace.clock(stream).is_none() {
        return ranges;
    }
    let time = |cycles: u64| timed.unix_of(stream, cycles).and_then(in_range);
    // What is not known leaves the range open.
    let known = |cycles: u64, unknown: u64| if cycles == unknown { None } else { time(cycles) };
    let first = packets.clone().map(|number| known(*trace.packet_times(stream, number).start(), 0));
    let last = packets.clone().map(|number| known(*trace.packet_times(stream, number).end(), u64::MAX));
    ranges.with("time", timestamps(first), timestamps(last))
}
