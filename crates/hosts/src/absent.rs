//! CPUs of which nothing is there: no stream of the kernel is theirs.
//!
//! No trace says how many CPUs a host has. Three things show that one is missing: its number lies below that of another one;
//! an index lists packets of a file that is not there; events of other CPUs speak of it, which wake threads there or move
//! them. [`crate::Host`] asks once.

use std::collections::BTreeSet;

use isochrone_ctf::FieldRef;

use crate::source::EventSource;

/// So many events of each stream are looked at for CPUs that they speak of: enough that some wake-ups are among them.
const LOOK: usize = 2_000;

/// More CPUs than any Linux can have.
const MOST_CPUS: u64 = 8192;

/// Fields in which events of the scheduler speak of CPUs, by the begin of the names of these events.
const SPEAKS: [(&str, &str); 3] =
    [("sched_wak", "target_cpu"), ("sched_migrate_task", "dest_cpu"), ("sched_migrate_task", "orig_cpu")];

/// CPUs without a stream, in order. `sources`: of the host, those of one series next to each other. `numbers`: CPUs that indexes
/// list. `is_full`: whether each file
/// of a stream holds packets; one that is empty may be that of a CPU that was quiet, of which others do not speak.
pub(crate) fn cpus(
    sources: &[EventSource<'_>],
    numbers: impl IntoIterator<Item = u32>,
    is_full: bool,
) -> Vec<u32> {
    let of_kernel = || sources.iter().filter(|source| source.is_kernel);
    let there: BTreeSet<u32> = of_kernel().filter_map(|source| source.cpu).collect();
    let Some(&last) = there.last() else { return Vec::new() };
    let mut known: BTreeSet<u32> = (0..=last).filter(|_| is_full && u64::from(last) < MOST_CPUS).collect();
    known.extend(numbers);
    // The first events of a series, in however many chunks they are.
    let (mut series, mut left) = (None, LOOK);
    for source in of_kernel() {
        if series.replace(source.series) != Some(source.series) {
            left = LOOK;
        }
        left -= spoken_of(source, left, &mut known);
    }
    known.difference(&there).copied().collect()
}

/// The CPUs that the first events of a stream speak of, so many at most. Returns how many were looked at.
fn spoken_of(source: &EventSource<'_>, most: usize, known: &mut BTreeSet<u32>) -> usize {
    let plan = source.trace().stream_plan(source.stream);
    let fields: Vec<Vec<FieldRef>> = plan
        .events
        .iter()
        .map(|class| {
            let name = class.name.as_deref().unwrap_or_default();
            let speaks = SPEAKS.iter().filter(|(begin, _)| name.starts_with(begin));
            speaks.filter_map(|(_, field)| class.payload_field(plan, &[field])).collect()
        })
        .collect();
    if fields.iter().all(Vec::is_empty) {
        return 0;
    }
    let mut looked = 0;
    for event in source.trace().events_from(source.stream, source.first_packet()).take(most) {
        looked += 1;
        let numbers = fields.get(event.class().index).into_iter().flatten();
        let number =
            |field| event.signed(field).and_then(|cpu| u64::try_from(cpu).ok()).or(event.unsigned(field));
        let cpus = numbers.filter_map(number).filter(|&cpu| cpu < MOST_CPUS);
        known.extend(cpus.filter_map(|cpu| u32::try_from(cpu).ok()));
    }
    looked
}
