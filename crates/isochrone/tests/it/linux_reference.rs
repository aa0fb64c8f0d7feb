//! `isochrone analyze` against exact figures of nine kernel traces, which scripts of another origin counted from the
//! events: CPU time, system calls, interrupts, all to the ns.
//!
//! Without the corpus these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::common::shared;
use crate::peers::{Differences, Ours, Row, traced_name};
use serde_json::Value;

/// A trace's name, what the reference says of it, and what ours do: by thread, and CPU time by process.
struct Trace {
    name: String,
    theirs: Value,
    ours: Ours,
    by_process: Ours,
}

/// All traces of the reference, analysed once for all tests.
fn traces() -> &'static [Trace] {
    static TRACES: OnceLock<Vec<Trace>> = OnceLock::new();
    TRACES.get_or_init(|| {
        let shared = shared();
        let vm = shared.join("data/vm");
        let reference = std::fs::read_to_string(vm.join("refs/cpu_syscalls.json")).unwrap();
        let reference: Value = serde_json::from_str(&reference).unwrap();
        let traces = reference["traces"].as_object().unwrap();
        assert_eq!(traces.len(), 9);
        let trace = |(name, theirs): (&String, &Value)| Trace {
            name: name.clone(),
            theirs: theirs.clone(),
            ours: Ours::of(&vm.join(name), "cputop,syscallstats,irqstats", &[]),
            by_process: Ours::of(&vm.join(name), "cputop", &["--by-process"]),
        };
        traces.iter().map(trace).collect()
    })
}

/// Runs the comparison on every trace of the reference.
fn each(compare: impl Fn(&mut Differences, &Trace)) {
    let mut differences = Differences::default();
    for trace in traces() {
        compare(&mut differences, trace);
    }
    differences.none();
}

fn number(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or_else(|| panic!("{name} of {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().unwrap().iter()
}

/// CPU time that is known, and time before a CPU's first switch, which ours call unknown, ns. Theirs end with the last
/// switch and tell the tail apart.
fn cpu_time(theirs: &Value) -> (i64, i64) {
    (number(theirs, "cpu_ns") + number(theirs, "tail_ns"), number(theirs, "head_ns"))
}

/// Ours by what `key` says, summed up; those that never ran are left out, as the reference does.
fn our_cpu_time(ours: &Ours, key: &str) -> BTreeMap<i64, (i64, i64)> {
    let mut sums: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for row in ours.rows("cputop", "processes") {
        let sum = sums.entry(row.int(key)).or_default();
        *sum = (sum.0 + row.int("cpu_ns"), sum.1 + row.int("unknown_ns"));
    }
    sums.retain(|_, &mut sum| sum != (0, 0));
    sums
}

/// Theirs likewise, without the idle tasks, which are no threads for ours.
fn their_cpu_time(theirs: &Value, table: &str, key: &str) -> BTreeMap<i64, (i64, i64)> {
    let mut sums: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for theirs in list(&theirs[table]).iter().filter(|theirs| number(theirs, key) != 0) {
        let (cpu, head) = cpu_time(theirs);
        let sum = sums.entry(number(theirs, key)).or_default();
        *sum = (sum.0 + cpu, sum.1 + head);
    }
    sums.retain(|_, &mut sum| sum != (0, 0));
    sums
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_window_is_from_the_first_event_to_the_last() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        differences.same(|| trace.clone(), ours.duration(), number(theirs, "duration_ns"));
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cpu_time_of_each_thread() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let (ours, theirs) = (our_cpu_time(ours, "tid"), their_cpu_time(theirs, "threads", "tid"));
        assert!(theirs.len() > 20, "{trace}: only {}", theirs.len());
        differences.same_maps(&format!("{trace}: thread"), &ours, &theirs);
    });
}

/// The process and the name of each thread that ran.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn pid_and_name_of_each_thread() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let ours: BTreeMap<i64, (i64, String)> = ours
            .rows("cputop", "processes")
            .iter()
            .filter(|row| row.int("cpu_ns") > 0)
            .map(|row| (row.int("tid"), (row.int("pid"), row.text("comm").to_owned())))
            .collect();
        let theirs = list(&theirs["threads"]).iter().filter(|theirs| number(theirs, "tid") != 0);
        let theirs: BTreeMap<i64, (i64, String)> = theirs
            .filter(|theirs| cpu_time(theirs).0 > 0)
            .map(|theirs| {
                (number(theirs, "tid"), (number(theirs, "pid"), theirs["comm"].as_str().unwrap().to_owned()))
            })
            .collect();
        differences.same_maps(&format!("{trace}: thread"), &ours, &theirs);
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cpu_time_of_each_process() {
    each(|differences, Trace { name: trace, by_process: ours, theirs, .. }| {
        let (ours, theirs) = (our_cpu_time(ours, "pid"), their_cpu_time(theirs, "processes", "pid"));
        differences.same_maps(&format!("{trace}: process"), &ours, &theirs);
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn busy_idle_and_unknown_time_of_each_cpu() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let times = |row: &Row| [row.int("busy_ns"), row.int("idle_ns"), row.int("unknown_ns")];
        let found: BTreeMap<i64, [i64; 3]> =
            ours.rows("cputop", "cpus").iter().map(|row| (row.int("cpu"), times(row))).collect();
        let expect: BTreeMap<i64, [i64; 3]> = entries(&theirs["cpus"])
            .map(|(cpu, theirs)| {
                let (head, tail) = (&theirs["before_first_switch"], &theirs["after_last_switch"]);
                let mut busy = number(theirs, "between_switches_busy_ns");
                let mut idle = number(theirs, "between_switches_idle_ns");
                *if number(tail, "tid") == 0 { &mut idle } else { &mut busy } += number(tail, "ns");
                (cpu.parse().unwrap(), [busy, idle, number(head, "ns")])
            })
            .collect();
        differences.same_maps(&format!("{trace}: CPU"), &found, &expect);
        for (cpu, times) in &found {
            differences.same(|| format!("{trace}: sum of CPU {cpu}"), times.iter().sum(), ours.duration());
        }
        let total = times(&ours.rows("cputop", "total")[0]);
        let sums: Vec<i64> = (0..3).map(|at| expect.values().map(|times| times[at]).sum()).collect();
        differences.same(|| format!("{trace}: total"), total.to_vec(), sums);
    });
}

/// Count, sum, least and greatest duration, ns, and how many failed.
type Figures = (i64, i64, i64, i64, i64);

fn their_figures(theirs: &Value) -> Figures {
    let [count, total, min, max] = ["count", "total_ns", "min_ns", "max_ns"].map(|name| number(theirs, name));
    // Interrupts do not fail.
    (count, total, min, max, theirs["errors"].as_i64().unwrap_or(0))
}

fn our_figures(row: &Row) -> Figures {
    let [count, total, min, max] = ["count", "total_ns", "min_ns", "max_ns"].map(|name| row.int(name));
    (count, total, min, max, 0)
}

/// Sums over threads or names.
fn our_calls<K: Ord>(ours: &Ours, key: impl Fn(&Row) -> K) -> BTreeMap<K, Figures> {
    let mut sums: BTreeMap<K, Figures> = BTreeMap::new();
    for row in ours.rows("syscallstats", "syscalls") {
        let (count, total, min, max, _) = our_figures(row);
        let sum = sums.entry(key(row)).or_insert((0, 0, i64::MAX, 0, 0));
        *sum = (sum.0 + count, sum.1 + total, sum.2.min(min), sum.3.max(max), sum.4 + row.int("errors"));
    }
    sums
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn system_calls_by_name() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let ours = our_calls(ours, |row| traced_name(row).to_owned());
        let theirs: BTreeMap<String, Figures> = entries(&theirs["syscalls"])
            .map(|(name, theirs)| (name.clone(), their_figures(theirs)))
            .collect();
        assert!(theirs.len() > 30, "{trace}: only {}", theirs.len());
        differences.same_maps(&format!("{trace}: call"), &ours, &theirs);
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn system_calls_by_thread_and_name() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let mut found = our_calls(ours, |row| (row.int("tid"), traced_name(row).to_owned()));
        // The reference has errors by call, not by thread.
        for figures in found.values_mut() {
            figures.4 = 0;
        }
        let expect: BTreeMap<(i64, String), Figures> = entries(&theirs["syscalls_by_thread"])
            .flat_map(|(tid, theirs)| entries(&theirs["syscalls"]).map(move |(name, of)| (tid, name, of)))
            .map(|(tid, name, theirs)| ((tid.parse().unwrap(), name.clone()), their_figures(theirs)))
            .collect();
        differences.same_maps(&format!("{trace}: thread, call"), &found, &expect);
        let completed: i64 = ours.rows("syscallstats", "totals").iter().map(|row| row.int("count")).sum();
        let expect = number(&theirs["syscall_totals"], "completed");
        differences.same(|| format!("{trace}: completed"), completed, expect);

        let pids: BTreeMap<i64, i64> =
            ours.rows("syscallstats", "totals").iter().map(|row| (row.int("tid"), row.int("pid"))).collect();
        let expect = entries(&theirs["syscalls_by_thread"])
            .filter(|(_, theirs)| !theirs["syscalls"].as_object().unwrap().is_empty())
            .map(|(tid, theirs)| (tid.parse().unwrap(), number(theirs, "pid")))
            .collect();
        differences.same_maps(&format!("{trace}: process of thread"), &pids, &expect);
    });
}

/// A call whose exit was not seen, and an exit whose entry was not.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn system_calls_of_which_one_end_is_missing() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        for (column, table) in [("entries", "entries_without_exit"), ("exits", "exits_without_entry")] {
            let mut found: BTreeMap<String, i64> = BTreeMap::new();
            for row in ours.rows("syscallstats", "unfinished") {
                *found.entry(traced_name(row).to_owned()).or_default() += row.int(column);
            }
            found.retain(|_, &mut count| count > 0);
            let expect: BTreeMap<String, i64> = entries(&theirs["syscall_totals"][table])
                .map(|(name, count)| (name.clone(), count.as_i64().unwrap()))
                .collect();
            assert!(!expect.is_empty(), "{trace}: none");
            differences.same_maps(&format!("{trace}: {table}"), &found, &expect);
        }
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn interrupts() {
    each(|differences, Trace { name: trace, ours, theirs, .. }| {
        let rows = ours.rows("irqstats", "hard").iter();
        let found: BTreeMap<String, Figures> = rows
            .map(|row| (format!("{} {}", row.int("number"), row.text("name")), our_figures(row)))
            .collect();
        let expect: BTreeMap<String, Figures> =
            entries(&theirs["irq"]).map(|(name, theirs)| (name.clone(), their_figures(theirs))).collect();
        assert!(!expect.is_empty(), "{trace}: none");
        differences.same_maps(&format!("{trace}: IRQ"), &found, &expect);
        // No analysis of ours shows an exit without its entry; there is none.
        assert_eq!(number(theirs, "irq_unmatched_exits"), 0, "{trace}");

        let rows = ours.rows("irqstats", "soft").iter();
        let found: BTreeMap<i64, Figures> = rows.map(|row| (row.int("number"), our_figures(row))).collect();
        let expect: BTreeMap<i64, Figures> = entries(&theirs["softirq_by_vec"])
            .map(|(vector, theirs)| (vector.parse().unwrap(), their_figures(theirs)))
            .collect();
        assert!(!expect.is_empty(), "{trace}: none");
        differences.same_maps(&format!("{trace}: softirq"), &found, &expect);
    });
}

/// Programs that wrote down what they read and wrote, how often, and how many times they waited for the disk; and what the disk was asked.
mod disk1 {
    use super::*;

    /// Requests to the disk that was made for them, by design (the README of the data): process, whether it writes, bytes, requests if known.
    const REQUESTED: [(i64, &str, i64, Option<i64>); 6] = [
        (205, "written_bytes", 8_388_608, Some(8)),
        (208, "read_bytes", 819_200, Some(200)),
        (211, "read_bytes", 16_777_216, None),
        (217, "written_bytes", 6_291_456, None),
        (218, "read_bytes", 614_400, Some(150)),
        (219, "read_bytes", 12_582_912, None),
    ];

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
    fn bytes_and_requests_by_process_and_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = crate::common::unpacked("vm/disk1", directory.path());
        let truth: Value =
            serde_json::from_str(&std::fs::read_to_string(path.join("truth.json")).unwrap()).unwrap();
        let whole = Ours::of(&path.join("h1"), "iolog,iousagetop,iolatencystats,memtop,usage", &[]);
        let runs = list(&truth["hosts"]["h1"]["disk_runs"]);
        assert_eq!(runs.len(), 7);
        for run in runs {
            let (pid, file) = (number(run, "pid"), run["file"].as_str().unwrap());
            let of_run = |row: &&Row| row.int("pid") == pid && row.text("path") == file;
            let calls: Vec<&Row> = whole.rows("iolog", "log").iter().filter(of_run).collect();
            // A last read finds the end of the file.
            let moved: Vec<&&Row> =
                calls.iter().filter(|row| row.maybe("bytes").is_some_and(|bytes| bytes > 0)).collect();
            let bytes: i64 = moved.iter().map(|row| row.int("bytes")).sum();
            let syncs: Vec<&&Row> = calls.iter().filter(|row| row.text("kind") == "sync").collect();
            let expect = ["bytes", "data_syscalls", "fsyncs"].map(|name| number(run, name));
            assert_eq!([bytes, moved.len() as i64, syncs.len() as i64], expect, "{run}");
            // They measured around the calls.
            let waited: i64 = syncs.iter().map(|row| row.int("duration_ns")).sum();
            let measured = number(run, "fsync_ns");
            assert!(
                waited <= measured && measured - waited <= 500_000 * (syncs.len() as i64 + 1),
                "{run}: {waited}"
            );
            let row = whole.rows("iousagetop", "processes").iter().find(|row| row.int("pid") == pid).unwrap();
            // Beside, each reads nothing and writes a line of its own.
            let column = if run["role"] == "dk_seqw" { "file_written_bytes" } else { "file_read_bytes" };
            assert!((0..1000).contains(&(row.int(column) - bytes)), "{run}: {row:?}");
        }
        for (pid, column, bytes, requests) in REQUESTED {
            let row = whole.rows("iousagetop", "blocks").iter().find(|row| row.int("pid") == pid).unwrap();
            assert_eq!(row.int(column), bytes, "{pid}");
            if let Some(requests) = requests {
                assert_eq!(
                    row.int(if column == "read_bytes" { "reads" } else { "writes" }),
                    requests,
                    "{pid}"
                );
            }
        }
        // 16 MiB and 12 MiB cold, 200 + 150 random reads, and what mounting read.
        let read: i64 = REQUESTED.iter().filter(|row| row.1 == "read_bytes").map(|row| row.2).sum();
        let disk = whole.rows("iousagetop", "disks").iter().find(|row| row.text("disk") == "vdc").unwrap();
        assert_eq!(disk.int("read_bytes"), read);
        // Steps add up to the whole, and pieces too.
        let sum = |table: &str, column: &str| {
            whole.rows("usage", table).iter().map(|row| row.int(column)).sum::<i64>()
        };
        let all =
            |column: &str| whole.rows("iousagetop", "disks").iter().map(|row| row.int(column)).sum::<i64>();
        assert_eq!(
            [sum("host", "read_bytes"), sum("host", "written_bytes")],
            [all("read_bytes"), all("written_bytes")]
        );
        // Flushes are in flight, too, and no service of requests that move bytes; some were recorded.
        assert!(sum("disks", "in_flight_ns") > all("service_ns"));
        assert_eq!((all("flushes"), sum("disks", "flushes")), (28, 28));
        let pages = &whole.rows("memtop", "total")[0];
        assert_eq!(
            [sum("host", "allocated_pages"), sum("host", "freed_pages")],
            [pages.int("allocated_pages"), pages.int("freed_pages")]
        );
    }
}
