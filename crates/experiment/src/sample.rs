//! A first sample of hosts, long before all of them is read: what CPUs and threads did at the begin of
//! packets that are spread over the whole trace.
//!
//! Of each packet that is chosen the events at its begin are read, as a piece of the trace with that CPU
//! alone. What is complete within it counts; so a part says what its CPU is known to have done there; what it
//! did until the next one is only likely. Which packets and how much of them depends on the traces alone.
//! Asked by the page of `isochrone view`, while a store is being made.

use std::collections::BTreeMap;

use isochrone_hosts::{EventSource, Host};
use isochrone_kernel::{
    Border, Decoder, Irq, KernelEvent, Name, PartialState, Slice, Softirq, Spans, ThreadAliases,
};
use isochrone_pipeline::map_in_order;
use isochrone_time::RawNs;
use isochrone_timing::TimedHost;

use crate::model::Spread;

/// Bytes of events that are read of all hosts together: about a million events.
const ALL_BYTES: u64 = 32 << 20;

/// Of a packet at least; some hundred events.
const LEAST_BYTES: u64 = 8 << 10;

/// Packets of a stream: more than that are hardly farther apart than pixels.
const MOST_PARTS: u64 = 500;

/// Packets of a stream that are asked for before they are looked at.
const AHEAD: u64 = 32;

/// What a host is known to have done now and then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSample {
    /// By CPU, and by time.
    pub parts: Vec<SampledPart>,
    /// Names of threads by tid: the last one that was seen.
    pub names: BTreeMap<i32, Name>,
    /// Bytes of events that were read.
    pub bytes: u64,
}

/// What a CPU is known to have done at the begin of a packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampledPart {
    /// The CPU.
    pub cpu: u32,
    /// When the packet begins.
    pub begin: RawNs,
    /// Until when it was read.
    pub read: RawNs,
    /// When the next one begins of which something was read, or this one ends.
    pub end: RawNs,
    /// Time without a thread, ns.
    pub idle: u64,
    /// Time of threads, ns; handlers that interrupted them included.
    pub running: u64,
    /// Time of interrupts, ns.
    pub irq: u64,
    /// Time of softirqs, ns.
    pub softirq: u64,
    /// Time of each thread, ns, by tid.
    pub threads: BTreeMap<i32, u64>,
}

impl Spans for SampledPart {
    fn slice(&mut self, slice: &Slice) {
        let length = length(slice.begin, slice.end);
        if slice.thread.is_idle() {
            self.idle += length;
            return;
        }
        self.running += length;
        if let Some(tid) = slice.thread.tid() {
            *self.threads.entry(tid).or_default() += length;
        }
    }

    fn irq(&mut self, irq: &Irq) {
        self.irq += length(irq.begin, irq.end);
    }

    fn softirq(&mut self, softirq: &Softirq) {
        self.softirq += length(softirq.begin, softirq.end);
    }

    fn wants_files(&self) -> bool {
        false
    }

    // Threads are told apart by their tids here.
    fn rename(&mut self, _: &ThreadAliases) {}

    // Of pieces of which none is merged with another.
    fn absorb(&mut self, _: Self) {}
}

fn length(begin: RawNs, end: RawNs) -> u64 {
    u64::try_from(end.saturating_since(begin)).unwrap_or(0)
}

/// Samples hosts: one for each, in their order. Reads at most some 32 MiB, or 8 KiB of each stream where
/// these are more.
pub fn sample(hosts: &[TimedHost<'_>], spread: Spread) -> Vec<HostSample> {
    let sources = hosts.iter().enumerate().flat_map(|(place, host)| {
        let kernel = host.traced.sources().iter().filter(|source| source.is_kernel && source.cpu.is_some());
        kernel.map(move |source| (place, &host.traced, source))
    });
    let sources: Vec<(usize, &Host<'_>, &EventSource<'_>)> = sources.collect();
    let share = ALL_BYTES / (sources.len() as u64).max(1);
    let parts = map_in_order(sources, spread.threads(), |(index, host, source)| {
        (index, of_source(host, source, share))
    });
    let mut all = vec![HostSample::default(); hosts.len()];
    for (index, part) in parts {
        let host = &mut all[index];
        host.parts.extend(part.parts);
        host.names.extend(part.names);
        host.bytes += part.bytes;
    }
    for host in &mut all {
        host.parts.sort_by_key(|part| (part.cpu, part.begin, part.end));
    }
    all
}

/// The sample of a stream, of so many bytes.
fn of_source(host: &Host<'_>, source: &EventSource<'_>, share: u64) -> HostSample {
    let packets = source.packets();
    let count = (packets.len() as u64).min(MOST_PARTS).min((share / LEAST_BYTES).max(1));
    let bytes = (share / count.max(1)).max(LEAST_BYTES);
    let place = |n: u64| packets.start + (u128::from(n) * packets.len() as u128 / u128::from(count)) as usize;
    let trace = host.traces()[source.trace_number];
    // Around each of them the kernel would read much that is of no use here.
    let ahead = |n: u64| {
        if n < count {
            trace.read_ahead(source.stream, place(n), bytes);
        }
    };
    (0..AHEAD).for_each(ahead);
    let mut sample = HostSample::default();
    let mut decoder = Decoder::new(trace, false);
    for (n, packet) in (0..count).map(|n| (n, place(n))) {
        ahead(n + AHEAD);
        let Some(begin) = source.begin_of(packet) else { continue };
        if let Some(before) = sample.parts.last_mut() {
            before.end = begin.max(before.read);
        }
        let (mut read, mut last) = (0, begin);
        let cpu = source.cpu.unwrap_or(0);
        let end = source.end_of(packet).max(begin);
        let part = SampledPart { cpu, begin, read: begin, end, ..SampledPart::default() };
        let mut state = PartialState::new(Border::At(begin), part);
        for (time, event) in source.events_of(packet) {
            let decoder = decoder.prepare(&event);
            let what = decoder.decode(&event);
            if let KernelEvent::Switch { next, .. } = &what {
                let known = sample.names.entry(next.tid).or_default();
                if known.as_bytes() != next.comm {
                    *known = String::from_utf8_lossy(next.comm).into();
                }
            }
            state.event(&decoder.context(&event, time), what);
            read += event.size();
            last = last.max(time);
            if read >= bytes {
                break;
            }
        }
        sample.bytes += read;
        let part = std::mem::take(state.spans_mut());
        sample.parts.push(SampledPart { read: last, end: part.end.max(last), ..part });
    }
    sample
}
