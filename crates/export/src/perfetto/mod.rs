//! Perfetto's trace format: track events on tracks of hosts, processes and threads, as `ui.perfetto.dev` and its trace processor read them.
//!
//! Times are Unix ns, by the clock `REALTIME`, which is made the trace's own. What the clock of each host showed is in snapshots, as a clock of the
//! number [`FIRST_HOST_CLOCK`] + its index. Hosts are not machines in the sense of Perfetto: flows do not lead from one of those to another.

mod messages;
mod sched;

use std::collections::BTreeMap;
use std::hash::Hash;
use std::io::{self, Write};

use isochrone_time::{RawNs, UnixNs};
use prost::Message;
use rustc_hash::FxHashMap;

use crate::timeline::{Event, Flow, SchedSwitch, SchedWaking, Timeline, Track, TrackKind, Value, unique_id};
use messages::{
    Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EXPLICIT, FtraceEvent,
    INCREMENTAL_STATE_CLEARED, Interned, InternedData, NEEDS_INCREMENTAL_STATE, ProcessDescriptor, REALTIME,
    ThreadDescriptor, TracePacket, TracePacketDefaults, TrackDescriptor, TrackEvent, event_type,
};

/// The number of the first host's clock in snapshots; smaller ones mean others, or are local.
pub const FIRST_HOST_CLOCK: u32 = 128;

/// The number of the one sequence of packets.
const SEQUENCE: u32 = 1;

/// The tag of `Trace.packet`.
const PACKET: u8 = 0x0a;

/// Interned names: the ids of texts that are written once.
#[derive(Debug)]
struct Names<K> {
    numbers: FxHashMap<K, u64>,
}

impl<K: Hash + Eq> Default for Names<K> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default() }
    }
}

impl<K: Hash + Eq> Names<K> {
    /// The number of a name, and whether it is new.
    fn number<Q: Hash + Eq + ?Sized + ToOwned<Owned = K>>(&mut self, name: &Q) -> (u64, bool)
    where
        K: std::borrow::Borrow<Q>,
    {
        if let Some(&number) = self.numbers.get(name) {
            return (number, false);
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_owned(), number);
        (number, true)
    }
}

/// Writes a timeline. Memory: the names of slices and of arguments, and some events of each CPU.
#[derive(Debug)]
pub struct Perfetto<W> {
    to: W,
    buffer: Vec<u8>,
    tracks: u64,
    names: Names<String>,
    categories: Names<String>,
    args: Names<String>,
    /// Events of the scheduler that wait to be written together, by CPU.
    sched: BTreeMap<u32, Vec<FtraceEvent>>,
}

impl<W: Write> Perfetto<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W) -> io::Result<Self> {
        let mut writer = Self {
            to,
            buffer: Vec::new(),
            tracks: 0,
            names: Names::default(),
            categories: Names::default(),
            args: Names::default(),
            sched: BTreeMap::new(),
        };
        let defaults = Some(TracePacketDefaults { timestamp_clock_id: Some(REALTIME) });
        let sequence_flags = Some(INCREMENTAL_STATE_CLEARED);
        writer.packet(TracePacket { sequence_flags, defaults, ..TracePacket::default() })?;
        Ok(writer)
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        self.buffer.clear();
        self.buffer.push(PACKET);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.to.write_all(&self.buffer)
    }

    /// Writes what another clock shows at an instant of Unix time.
    fn snapshot(&mut self, unix: u64, (other, shown): (u32, u64)) -> io::Result<()> {
        let clock = |id, time| Clock { clock_id: Some(id), timestamp: Some(time) };
        let clocks = vec![clock(REALTIME, unix), clock(other, shown)];
        let snapshot = ClockSnapshot { clocks, primary_trace_clock: Some(REALTIME) };
        self.packet(TracePacket { clock_snapshot: Some(snapshot), ..TracePacket::default() })
    }

    fn event(&mut self, at: UnixNs, event: TrackEvent, interned: Option<InternedData>) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(timestamp(at.0)),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            interned_data: interned,
            ..TracePacket::default()
        })
    }

    fn track_event(&mut self, kind: i32, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()> {
        let mut new = InternedData::default();
        let interned = |iid, name: &str| Interned { iid: Some(iid), name: Some(name.to_owned()) };
        let (name, is_new) = self.names.number(event.name);
        if is_new {
            new.event_names.push(interned(name, event.name));
        }
        let (category, is_new) = self.categories.number(event.category);
        if is_new {
            new.event_categories.push(interned(category, event.category));
        }
        let mut debug_annotations = Vec::with_capacity(event.args.len());
        for (name, value) in event.args {
            let (iid, is_new) = self.args.number(*name);
            if is_new {
                new.debug_annotation_names.push(interned(iid, name));
            }
            let (int_value, string_value) = match value {
                Value::Int(value) => (Some(*value), None),
                Value::Text(text) => (None, Some((*text).to_owned())),
            };
            debug_annotations.push(DebugAnnotation { name_iid: Some(iid), int_value, string_value });
        }
        let (flow_ids, terminating_flow_ids) = match event.flow {
            None => (Vec::new(), Vec::new()),
            Some(Flow::Start(flow)) => (vec![flow], Vec::new()),
            Some(Flow::End(flow)) => (Vec::new(), vec![flow]),
        };
        let written = TrackEvent {
            category_iids: vec![category],
            debug_annotations,
            r#type: Some(kind),
            name_iid: Some(name),
            track_uuid: Some(track.0),
            flow_ids,
            terminating_flow_ids,
            ..TrackEvent::default()
        };
        let has_new = new != InternedData::default();
        self.event(at, written, has_new.then_some(new))
    }
}

/// A time of the format, which has none before 1970.
fn timestamp(at: impl Into<i128>) -> u64 {
    u64::try_from(at.into().max(0)).unwrap_or(u64::MAX)
}

impl<W: Write> Timeline for Perfetto<W> {
    const HAS_SCHED: bool = true;

    fn track(&mut self, kind: &TrackKind<'_>) -> io::Result<Track> {
        self.tracks += 1;
        let track = Track(self.tracks);
        let descriptor = TrackDescriptor { uuid: Some(track.0), ..TrackDescriptor::default() };
        // Linux has no numbers that do not fit: see `MAX_HOSTS`.
        let number = |host, pid| Some(unique_id(host, pid) as i32);
        let under = |parent: Track, name: &str| TrackDescriptor {
            parent_uuid: Some(parent.0),
            name: Some(name.to_owned()),
            // In the order in which they come.
            sibling_order_rank: i32::try_from(track.0).ok(),
            ..descriptor.clone()
        };
        let track_descriptor = match *kind {
            TrackKind::Host { name, .. } => TrackDescriptor {
                name: Some(name.to_owned()),
                child_ordering: Some(EXPLICIT),
                ..descriptor.clone()
            },
            TrackKind::Process { host, pid, name, host_name } => TrackDescriptor {
                process: Some(ProcessDescriptor {
                    pid: number(host, pid),
                    process_name: Some(name.to_owned()),
                    process_labels: vec![host_name.to_owned()],
                }),
                ..descriptor.clone()
            },
            TrackKind::Thread { host, pid, tid, name } => TrackDescriptor {
                thread: Some(ThreadDescriptor {
                    pid: number(host, pid),
                    tid: Some(unique_id(host, tid)),
                    thread_name: Some(name.to_owned()),
                }),
                ..descriptor.clone()
            },
            TrackKind::Under { parent, name } => under(parent, name),
            TrackKind::Counter { parent, name, unit } => TrackDescriptor {
                counter: Some(CounterDescriptor { unit_name: Some(unit.to_owned()) }),
                ..under(parent, name)
            },
        };
        self.packet(TracePacket { track_descriptor: Some(track_descriptor), ..TracePacket::default() })?;
        Ok(track)
    }

    fn start(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()> {
        self.track_event(event_type::SLICE_BEGIN, track, at, event)
    }

    fn end(&mut self, track: Track, at: UnixNs) -> io::Result<()> {
        let (kind, track_uuid) = (Some(event_type::SLICE_END), Some(track.0));
        self.event(at, TrackEvent { r#type: kind, track_uuid, ..TrackEvent::default() }, None)
    }

    fn instant(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()> {
        self.track_event(event_type::INSTANT, track, at, event)
    }

    fn counter(&mut self, track: Track, at: UnixNs, value: f64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(event_type::COUNTER),
            track_uuid: Some(track.0),
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.event(at, event, None)
    }

    fn clock(&mut self, host: u32, at: UnixNs, raw: RawNs) -> io::Result<()> {
        self.snapshot(timestamp(at.0), (FIRST_HOST_CLOCK + host, timestamp(raw.0)))
    }

    fn sched_switch(&mut self, switch: &SchedSwitch<'_>) -> io::Result<()> {
        self.add_sched(switch.cpu, sched::switch(switch))
    }

    fn sched_waking(&mut self, waking: &SchedWaking<'_>) -> io::Result<()> {
        self.add_sched(waking.cpu, sched::waking(waking))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.finish_sched()?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests;
