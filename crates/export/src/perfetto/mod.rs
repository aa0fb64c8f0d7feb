//! Perfetto's trace format: track events on tracks of hosts, processes and threads, as `ui.perfetto.dev` and its trace processor read them.
//!
//! Times are Unix ns, by the clock `REALTIME`, which is made the trace's own. What the clock of each host showed is in snapshots, as a clock of the
//! number [`FIRST_HOST_CLOCK`] + its place. Hosts are no machines of Perfetto's: flows do not lead from one of these to another.

mod messages;

use std::hash::Hash;
use std::io::{self, Write};

use prost::Message;
use rustc_hash::FxHashMap;

use crate::timeline::{Flow, Place, Row, Shown, Timeline, Value, number_of};
use messages::{
    Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EXPLICIT, INCREMENTAL_STATE_CLEARED, Interned,
    InternedData, NEEDS_INCREMENTAL_STATE, ProcessDescriptor, REALTIME, ThreadDescriptor, TracePacket,
    TracePacketDefaults, TrackDescriptor, TrackEvent, event_type,
};

/// The number of the first host's clock in snapshots; smaller ones mean others, or are local.
pub const FIRST_HOST_CLOCK: u32 = 128;

/// The number of the one sequence of packets.
const SEQUENCE: u32 = 1;

/// The tag of `Trace.packet`.
const PACKET: u8 = 0x0a;

/// Numbers for what is written again and again.
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

/// Writes a timeline. Memory: the names of slices and the last rows' numbers, no matter how much is written.
#[derive(Debug)]
pub struct Perfetto<W> {
    to: W,
    buffer: Vec<u8>,
    rows: u64,
    names: Names<String>,
    categories: Names<String>,
    details: Names<String>,
}

impl<W: Write> Perfetto<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W) -> io::Result<Self> {
        let mut writer = Self {
            to,
            buffer: Vec::new(),
            rows: 0,
            names: Names::default(),
            categories: Names::default(),
            details: Names::default(),
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

    fn event(&mut self, at: i64, event: TrackEvent, interned: Option<InternedData>) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(unsigned(at)),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            interned_data: interned,
            ..TracePacket::default()
        })
    }

    fn shown(&mut self, kind: i32, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()> {
        let mut new = InternedData::default();
        let interned = |iid, name: &str| Interned { iid: Some(iid), name: Some(name.to_owned()) };
        let (name, is_new) = self.names.number(shown.name);
        if is_new {
            new.event_names.push(interned(name, shown.name));
        }
        let (category, is_new) = self.categories.number(shown.category);
        if is_new {
            new.event_categories.push(interned(category, shown.category));
        }
        let mut debug_annotations = Vec::with_capacity(shown.details.len());
        for (name, value) in shown.details {
            let (iid, is_new) = self.details.number(*name);
            if is_new {
                new.debug_annotation_names.push(interned(iid, name));
            }
            let (int_value, string_value) = match value {
                Value::Int(value) => (Some(*value), None),
                Value::Text(text) => (None, Some((*text).to_owned())),
            };
            debug_annotations.push(DebugAnnotation { name_iid: Some(iid), int_value, string_value });
        }
        let (flow_ids, terminating_flow_ids) = match shown.flow {
            None => (Vec::new(), Vec::new()),
            Some(Flow::Begins(flow)) => (vec![flow], Vec::new()),
            Some(Flow::Ends(flow)) => (Vec::new(), vec![flow]),
        };
        let event = TrackEvent {
            category_iids: vec![category],
            debug_annotations,
            r#type: Some(kind),
            name_iid: Some(name),
            track_uuid: Some(row.0),
            flow_ids,
            terminating_flow_ids,
            ..TrackEvent::default()
        };
        let has_new = new != InternedData::default();
        self.event(at, event, has_new.then_some(new))
    }
}

/// A time of the format; there is none before 1970.
fn unsigned(at: i64) -> u64 {
    at.max(0).unsigned_abs()
}

impl<W: Write> Timeline for Perfetto<W> {
    fn row(&mut self, place: &Place<'_>) -> io::Result<Row> {
        self.rows += 1;
        let row = Row(self.rows);
        let track = TrackDescriptor { uuid: Some(row.0), ..TrackDescriptor::default() };
        // Linux has no numbers that do not fit: see `MOST_HOSTS`.
        let number = |host, pid| Some(number_of(host, pid) as i32);
        let under = |parent: Row, name: &str| TrackDescriptor {
            parent_uuid: Some(parent.0),
            name: Some(name.to_owned()),
            // In the order in which they come.
            sibling_order_rank: i32::try_from(row.0).ok(),
            ..track.clone()
        };
        let descriptor = match *place {
            Place::Host { name, .. } => TrackDescriptor {
                name: Some(name.to_owned()),
                child_ordering: Some(EXPLICIT),
                ..track.clone()
            },
            Place::Process { host, pid, name, host_name } => TrackDescriptor {
                process: Some(ProcessDescriptor {
                    pid: number(host, pid),
                    process_name: Some(name.to_owned()),
                    process_labels: vec![host_name.to_owned()],
                }),
                ..track.clone()
            },
            Place::Thread { host, pid, tid, name } => TrackDescriptor {
                thread: Some(ThreadDescriptor {
                    pid: number(host, pid),
                    tid: Some(number_of(host, tid)),
                    thread_name: Some(name.to_owned()),
                }),
                ..track.clone()
            },
            Place::Under { parent, name } => under(parent, name),
            Place::Counter { parent, name, unit } => TrackDescriptor {
                counter: Some(CounterDescriptor { unit_name: Some(unit.to_owned()) }),
                ..under(parent, name)
            },
        };
        self.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })?;
        Ok(row)
    }

    fn begin(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()> {
        self.shown(event_type::SLICE_BEGIN, row, at, shown)
    }

    fn end(&mut self, row: Row, at: i64) -> io::Result<()> {
        let (kind, track_uuid) = (Some(event_type::SLICE_END), Some(row.0));
        self.event(at, TrackEvent { r#type: kind, track_uuid, ..TrackEvent::default() }, None)
    }

    fn instant(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()> {
        self.shown(event_type::INSTANT, row, at, shown)
    }

    fn counter(&mut self, row: Row, at: i64, value: f64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(event_type::COUNTER),
            track_uuid: Some(row.0),
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.event(at, event, None)
    }

    fn clock(&mut self, (host, _): (u32, &str), at: i64, raw: i64) -> io::Result<()> {
        let clock = |id, time| Clock { clock_id: Some(id), timestamp: Some(unsigned(time)) };
        let clocks = vec![clock(REALTIME, at), clock(FIRST_HOST_CLOCK + host, raw)];
        let snapshot = ClockSnapshot { clocks, primary_trace_clock: Some(REALTIME) };
        self.packet(TracePacket { clock_snapshot: Some(snapshot), ..TracePacket::default() })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests;
