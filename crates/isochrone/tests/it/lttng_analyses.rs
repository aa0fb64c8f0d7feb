//! `isochrone analyze` against what lttng-analyses printed for the same traces. Every figure is equal as far as it was
//! printed, or the difference is one of that tool's known faults: each of these is a function or a constant here, and
//! is expected exactly.
//!
//! Without the corpus these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.

use std::collections::{BTreeMap, BTreeSet};

use crate::peers::printed::{Printed, Process, process};
use crate::peers::theirs::{Trace, each, printed, priorities, renamed, same_name};
use crate::peers::{Differences, Row};

/// Fault: time before a CPU's first switch counts as busy, whatever ran. Ours call it unknown.
fn their_busy(row: &Row) -> f64 {
    (row.int("busy_ns") + row.int("unknown_ns")) as f64
}

/// Fault: the idle tasks are among the processes, with a figure that is neither their busy nor their idle time.
fn is_idle_task(process: &Process) -> bool {
    process.tid == Some(0) && process.name.starts_with("swapper/")
}

/// Fault: a thread that was first heard of when it left a CPU or was moved to another has no priorities, and if that
/// was before its name was known no name: trace, threads, those of them without a name.
const NOT_INTRODUCED: [(&str, &[i64], &[i64]); 7] = [
    ("many-threads", &[4042], &[]),
    ("scp_src", &[2274], &[]),
    ("vm/chain3_h1", &[174], &[]),
    ("vm/chain3_h2", &[166], &[]),
    ("vm/chain3_h3", &[160], &[]),
    ("vm/hog2_h1", &[183], &[]),
    ("vm/hog2_h2", &[167, 175, 185, 187], &[185]),
];

fn compare_cputop(differences: &mut Differences, trace: &Trace, text: &str, all: bool) {
    let (ours, name) = (&trace.ours, trace.name);
    let whole = ours.duration() as f64;
    let used = |row: &Row| (row.int("cpu_ns") + row.int("unknown_ns")) as f64 * 100.0 / whole;
    let rows: BTreeMap<i64, &Row> =
        ours.rows("cputop", "processes").iter().map(|row| (row.int("tid"), row)).collect();
    let cpus: BTreeMap<i64, &Row> =
        ours.rows("cputop", "cpus").iter().map(|row| (row.int("cpu"), row)).collect();
    let renamed = renamed(ours);
    let (mut threads, mut idle, mut seen) = (Vec::new(), 0, 0);
    for line in text.lines() {
        if let Some(total) = line.strip_prefix("Total CPU Usage: ") {
            let row = &ours.rows("cputop", "total")[0];
            let ours = their_busy(row) * 100.0 / (whole * row.int("cpus") as f64);
            let theirs = Printed(total.trim_end_matches('%').to_owned());
            printed(differences, || format!("{name}: total"), Some(ours), &theirs, 2);
            seen += 1;
        }
        let Some((percent, rest)) = line.split_once(" % ") else { continue };
        let percent = Printed(percent.trim_start_matches(['█', ' ']).to_owned());
        if let Some(cpu) = rest.strip_prefix("CPU ") {
            let row = cpus[&cpu.trim().parse().unwrap()];
            let ours = their_busy(row) * 100.0 / whole;
            printed(differences, || format!("{name}: CPU {cpu}"), Some(ours), &percent, 2);
            seen += 1;
            continue;
        }
        let (process, rest) = process(rest).unwrap();
        if is_idle_task(&process) {
            idle += 1;
            continue;
        }
        let tid = process.tid.unwrap();
        threads.push(tid);
        let Some(row) = rows.get(&tid) else {
            differences.same(|| format!("{name}: thread {tid}"), "none", line);
            continue;
        };
        let what = || format!("{name}: thread {tid}");
        printed(differences, what, Some(used(row)), &percent, 2);
        let is_named = !NOT_INTRODUCED.iter().any(|(trace, _, tids)| *trace == name && tids.contains(&tid));
        let ours_name = if is_named { row.text("comm") } else { "" };
        same_name(differences, trace.name, &renamed, (tid, ours_name), &process);
        let (migrations, theirs) = rest.trim().split_once(' ').unwrap();
        differences.same(
            || format!("{}: migrations", what()),
            // Theirs are 0 where moves were not recorded.
            row.maybe("migrations").unwrap_or(0).to_string(),
            migrations.to_owned(),
        );
        let ours: BTreeSet<String> = row.text("priorities").split_whitespace().map(str::to_owned).collect();
        let is_introduced =
            !NOT_INTRODUCED.iter().any(|(trace, tids, _)| *trace == name && tids.contains(&tid));
        let ours = if is_introduced { ours } else { BTreeSet::new() };
        differences.same(|| format!("{}: priorities", what()), ours, priorities(theirs));
    }
    differences.same(|| format!("{name}: CPUs and total"), seen, cpus.len() + 1);
    // Those that are not shown used no more than those that are.
    let least = threads.iter().map(|tid| used(rows[tid])).fold(f64::INFINITY, f64::min);
    let more = rows.iter().filter(|(tid, row)| !threads.contains(tid) && used(row) > least).count();
    differences.same(|| format!("{name}: threads that are left out"), more, 0);
    if all {
        let ran = rows.iter().filter(|(_, row)| used(row) > 0.0).count();
        differences.same(|| format!("{name}: threads that ran"), ran, threads.len());
    } else {
        differences.same(|| format!("{name}: threads"), threads.len() + idle, (rows.len() + idle).min(10));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cputop() {
    each("cputop", 7, |differences, trace, text| compare_cputop(differences, trace, text, false));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cputop_of_all_threads() {
    each("cputop.all", 5, |differences, trace, text| compare_cputop(differences, trace, text, true));
}

/// Traces of a few events, whose CPU is a field of each.
mod synthetic {
    use super::compare_cputop;
    use crate::common::shared;
    use crate::peers::interrupts::{compare_irqlog, compare_irqstats};
    use crate::peers::io::compare_top;
    use crate::peers::io_usage::compare_iousagetop;
    use crate::peers::theirs::compare;
    use crate::peers::{Ours, Row};

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn cputop() {
        compare("cputop", true, 1, |differences, trace, text| {
            compare_cputop(differences, trace, text, false);
        });
    }

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn irqlog() {
        compare("irqlog", true, 1, compare_irqlog);
    }

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn irqstats() {
        compare("irqstats", true, 1, compare_irqstats);
    }

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn iolatencytop() {
        compare("iolatencytop", true, 1, |differences, trace, text| {
            compare_top(differences, trace, text, 10);
        });
    }

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn iousagetop() {
        compare("iousagetop", true, 1, compare_iousagetop);
    }

    /// Streams that share no time: theirs must be told to look at such a trace, and refuse it otherwise. Ours look at all that there is.
    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn streams_without_a_common_time() {
        compare("disable_intersect", true, 1, compare_irqstats);
        let of = |name: &str| {
            let path = shared().join("data/lttng-analyses/synthetic").join(name);
            let rows = Ours::of(&path, "irqstats", &[]).rows("irqstats", "soft").to_vec();
            rows.iter()
                .map(|row: &Row| {
                    ["number", "count", "min_ns", "raised_min_ns"].map(|column| row.maybe(column))
                })
                .collect::<Vec<_>>()
        };
        let refused = of("IntersectTest.test_no_intersection");
        assert_eq!(refused, of("IntersectTest.test_disable_intersect"));
        assert_eq!(refused, [[Some(1), Some(1), Some(3_000_000), Some(1_000_000)]]);
    }
}
