//! What a trace holds and lacks, as one pass over it shows: counts, first and last events, losses.
//!
//! [`crate::survey`] and [`crate::Recordings::read`] fill these in; `isochrone info` shows them, the notes of
//! a synchronization draw on them. What a trace shows of the network is in [`crate::traffic`].

use std::collections::BTreeSet;

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::{Diagnostic, Event, FieldRef, Loss, Lost};

use crate::stamps::StampGrid;

/// What one trace gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFacts {
    /// By stream, as the trace counts them; nothing where the trace was not read.
    pub streams: Vec<StreamFacts>,
}

/// What one stream gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// By event class, in the order of the stream class.
    pub classes: Vec<Tally>,
    /// Bytes of the packets that were read, with their padding.
    pub bytes: u64,
    /// Time of the first event in cycles of the stream's clock.
    pub first: Option<u64>,
    /// Time of the last event in cycles of the stream's clock.
    pub last: Option<u64>,
    /// The first packet that was read: an earlier snapshot of the session has those before it.
    pub first_packet: usize,
    /// What the tracer could not write, in order.
    pub losses: Vec<Loss>,
    /// Inode numbers of pid namespaces besides the host's own that the state dump or forks show, of a survey:
    /// those of containers, 1024 at most.
    pub pid_namespaces: BTreeSet<u64>,
    /// What could not be decoded.
    pub diagnostics: Vec<Diagnostic>,
    /// What the stamps of the events have in common, in cycles.
    pub(crate) grid: StampGrid,
    /// Events that a synchronization left out because they are dated beyond what clocks are computed with.
    pub left_out: Option<Diagnostic>,
}

/// Events of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of events.
    pub count: u64,
    /// Their bytes, headers included; padding that aligns an event belongs to none.
    pub bytes: u64,
}

impl TraceFacts {
    /// Events decoded; linear in the event classes.
    pub fn events(&self) -> u64 {
        self.streams.iter().map(StreamFacts::events).sum()
    }

    /// Time of the first event in cycles; of use where all streams have one clock.
    pub fn first(&self) -> Option<u64> {
        self.streams.iter().filter_map(|stream| stream.first).min()
    }

    /// Time of the last event in cycles; of use where all streams have one clock.
    pub fn last(&self) -> Option<u64> {
        self.streams.iter().filter_map(|stream| stream.last).max()
    }

    /// Events that the tracer discarded; linear in the gaps.
    pub fn lost_events(&self) -> u128 {
        self.streams.iter().map(StreamFacts::lost_events).sum()
    }

    /// Packets that the tracer lost; linear in the gaps.
    pub fn lost_packets(&self) -> u128 {
        self.streams.iter().map(StreamFacts::lost_packets).sum()
    }

    /// What could not be decoded or was left out, stream by stream.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> + Clone {
        self.streams.iter().flat_map(|stream| stream.diagnostics.iter().chain(&stream.left_out))
    }

    /// Events that a synchronization left out, though they could be read, stream by stream.
    pub fn left_out(&self) -> impl Iterator<Item = &Diagnostic> + Clone {
        self.streams.iter().filter_map(|stream| stream.left_out.as_ref())
    }
}

impl StreamFacts {
    /// Subtracts `events` from those that the first packet counts as discarded: the chunk before has counted
    /// them. Linear in the gaps.
    pub fn were_counted_before(&mut self, events: u64) {
        if let Some(loss) = self.losses.iter_mut().find(|loss| loss.before_packet == 0)
            && let Lost::Events(count) = &mut loss.lost
        {
            *count = count.saturating_sub(events);
        }
        self.losses.retain(|loss| loss.lost != Lost::Events(0));
    }

    /// Events decoded; linear in the event classes.
    pub fn events(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Events that the tracer discarded: a single gap can count 2⁶⁴ − 1 of them.
    pub fn lost_events(&self) -> u128 {
        let count = |loss: &Loss| match loss.lost {
            Lost::Events(count) => u128::from(count),
            Lost::Packets(_) => 0,
        };
        self.losses.iter().map(count).sum()
    }

    /// Packets that the tracer lost.
    pub fn lost_packets(&self) -> u128 {
        let count = |loss: &Loss| match loss.lost {
            Lost::Packets(count) => u128::from(count),
            Lost::Events(_) => 0,
        };
        self.losses.iter().map(count).sum()
    }
}

/// Inode number of the host's own pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`).
const HOST_NAMESPACE: u64 = 0xefff_fffc;

/// Namespaces of a stream that are kept at most.
const MAX_NAMESPACES: usize = 1024;

/// Collects the pid namespaces besides that of the host that the events of a stream show: those of
/// containers.
#[derive(Debug, Default)]
pub(crate) struct NamespaceWatch {
    /// By event class: the field that has the number.
    fields: Vec<Option<FieldRef>>,
    ids: BTreeSet<u64>,
}

impl NamespaceWatch {
    pub(crate) fn new(plan: &StreamPlan) -> Self {
        let field = |class: &EventPlan| {
            let name = match class.name.as_deref()? {
                "lttng_statedump_process_pid_ns" => "ns_inum",
                "sched_process_fork" => "child_ns_inum",
                _ => return None,
            };
            class.payload_field(plan, &[name])
        };
        Self { fields: plan.events.iter().map(field).collect(), ids: BTreeSet::new() }
    }

    /// Whether events of a class show namespaces.
    pub(crate) fn watches(&self, class: usize) -> bool {
        self.fields.get(class).is_some_and(Option::is_some)
    }

    /// Looks at an event; whether its namespace is a new one.
    pub(crate) fn see(&mut self, event: &Event<'_>) -> bool {
        let field = self.fields.get(event.class().index).and_then(Option::as_ref);
        let id = field.and_then(|field| event.unsigned(field)).filter(|&id| id != HOST_NAMESPACE);
        id.is_some_and(|id| self.ids.len() < MAX_NAMESPACES && self.ids.insert(id))
    }

    pub(crate) fn into_ids(self) -> BTreeSet<u64> {
        self.ids
    }
}
