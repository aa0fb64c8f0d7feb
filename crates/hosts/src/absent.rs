//! Streams of the kernel of which nothing is there: those of a CPU, or of one channel of a CPU.
//!
//! No trace says how many CPUs a host has. Four things show that one is missing: its number lies below that
//! of another one; an index lists packets of a file that is not there; events of other CPUs speak of it,
//! which wake threads there or move them; another channel has it. [`crate::Host`] asks once.

use std::collections::BTreeSet;

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::{Event, FieldRef, Trace};

use crate::source::EventSource;

/// This many events of each stream are looked at for CPUs that they speak of: enough that some wake-ups are
/// among them.
const LOOK: usize = 2_000;

/// More CPUs than any Linux can have.
const MAX_CPUS: u64 = 8192;

/// Fields in which events of the scheduler speak of CPUs, by the start of the names of these events.
const CPU_FIELDS: [(&str, &str); 3] =
    [("sched_wak", "target_cpu"), ("sched_migrate_task", "dest_cpu"), ("sched_migrate_task", "orig_cpu")];

/// Begins of the names of events that a CPU which is used has all the time. LTTng writes a packet of each
/// channel of each CPU when a session ends; where it was not ended, a file without packets may be that of a
/// channel whose events are rare, but not of these.
const FREQUENT: [&str; 6] = [
    "sched_switch",
    "syscall_entry_",
    "sys_",
    "softirq_entry",
    "irq_softirq_entry",
    "timer_hrtimer_expire_entry",
];

/// A stream of the kernel of which nothing is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbsentStream {
    /// The CPU.
    pub cpu: u32,
    /// Where another channel has the CPU: the channel that does not. Else no channel has.
    pub channel: Option<ChannelRef>,
}

/// A channel: a class of streams of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelRef {
    /// Number in [`Host::traces`](crate::Host::traces) of a trace that declares it.
    pub trace: usize,
    /// Number of the class of streams in that trace's plan.
    pub class: usize,
}

impl ChannelRef {
    /// How its events are decoded. `traces`: those of the host.
    pub fn plan<'t>(self, traces: &[&'t Trace]) -> Option<&'t StreamPlan> {
        traces.get(self.trace)?.plan().streams.get(self.class)
    }
}

/// Whether a channel records events that every CPU which is used has all the time.
pub(crate) fn is_frequent(plan: &StreamPlan) -> bool {
    records(plan, |name| FREQUENT.iter().any(|begin| name.starts_with(begin)))
}

/// Whether a channel records which thread runs.
pub(crate) fn records_switches(plan: &StreamPlan) -> bool {
    records(plan, |name| name == "sched_switch")
}

fn records(plan: &StreamPlan, is_one: impl Fn(&str) -> bool) -> bool {
    plan.events.iter().filter_map(|class| class.name.as_deref()).any(is_one)
}

/// CPUs that there are, in order: those with a stream (`there`), those that indexes list (`numbers`), and
/// those that events speak of. `sources`: of the host, those of one series next to each other. `is_full`:
/// whether each file of a stream holds packets; one that is empty may be that of a CPU that was quiet, of
/// which others do not speak.
pub(crate) fn cpus(
    sources: &[EventSource<'_>],
    there: &BTreeSet<u32>,
    numbers: impl IntoIterator<Item = u32>,
    is_full: bool,
) -> BTreeSet<u32> {
    let Some(&last) = there.last() else { return BTreeSet::new() };
    let mut known = BTreeSet::new();
    if is_full && u64::from(last) < MAX_CPUS {
        known.extend(0..=last);
    }
    known.extend(numbers.into_iter().chain(there.iter().copied()));
    // The first events of a series, in however many chunks they are.
    let (mut series, mut left) = (None, LOOK);
    for source in sources.iter().filter(|source| source.is_kernel) {
        if series.replace(source.series) != Some(source.series) {
            left = LOOK;
        }
        left -= add_referenced(source, left, &mut known);
    }
    known
}

/// The CPUs that the first events of a stream speak of, this many at most. Returns how many were looked at.
fn add_referenced(source: &EventSource<'_>, most: usize, known: &mut BTreeSet<u32>) -> usize {
    let mut references = CpuReferences::new(source.trace().stream_plan(source.stream));
    if references.fields.iter().all(Vec::is_empty) {
        return 0;
    }
    let mut looked = 0;
    for event in source.trace().events_from(source.stream, source.first_packet()).take(most) {
        looked += 1;
        references.see(&event);
    }
    known.extend(references.known);
    looked
}

/// The CPUs that the first events of a stream speak of.
#[derive(Debug)]
pub struct CpuReferences {
    /// By index of the event class: the fields that are numbers of CPUs.
    fields: Vec<Vec<FieldRef>>,
    known: BTreeSet<u32>,
    /// Events that are not looked at yet.
    left: usize,
}

impl CpuReferences {
    /// Those of no event yet. Linear in the event classes.
    pub fn new(plan: &StreamPlan) -> Self {
        let fields = |class: &EventPlan| {
            let name = class.name.as_deref().unwrap_or_default();
            let speaks = CPU_FIELDS.iter().filter(|(begin, _)| name.starts_with(begin));
            speaks.filter_map(|(_, field)| class.payload_field(plan, &[field])).collect()
        };
        Self { fields: plan.events.iter().map(fields).collect(), known: BTreeSet::new(), left: LOOK }
    }

    /// Takes the next event of the stream. Returns whether it is the first that speaks of a CPU.
    pub fn see(&mut self, event: &Event<'_>) -> bool {
        self.left = self.left.saturating_sub(1);
        let fields = self.fields.get(event.class().index).into_iter().flatten();
        let number =
            |field| event.signed(field).and_then(|cpu| u64::try_from(cpu).ok()).or(event.unsigned(field));
        let before = self.known.len();
        let cpus = fields.filter_map(number).filter(|&cpu| cpu < MAX_CPUS);
        self.known.extend(cpus.filter_map(|cpu| u32::try_from(cpu).ok()));
        self.known.len() > before
    }

    /// Whether enough events were looked at.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }
}
