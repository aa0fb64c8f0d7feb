//! `schedlog`, `schedtop` and `schedstats` against those of lttng-analyses.

use std::collections::{BTreeMap, BTreeSet};

use super::printed::{Process, fields, process, times};
use super::theirs::{DAY, Trace, each, is_old_name, priorities, renamed, same_name, statistics};
use super::{Differences, Ours, Row};

/// A line of the log of waits, as both show it.
#[derive(Debug, Clone, PartialEq)]
struct Wait {
    times: (i64, i64),
    priority: i64,
    cpu: i64,
    wakee: Process,
    waker: Process,
}

/// Fault: who woke a thread is not known before the first switch of the CPU that it was woken from, though the event
/// says in which thread it was.
fn waker_is_lost(ours: &Ours, wait: &Wait) -> bool {
    let rows = ours.rows("cputop", "cpus").iter();
    let first_switches = rows.map(|row| ours.range.0 + row.int("unknown_ns"));
    first_switches.max().is_some_and(|last| wait.times.0 < last % DAY)
}

/// How many waits have lost their waker by that fault.
const LOST_WAKERS: [(&str, usize); 7] = [
    ("many-threads", 1),
    ("scp_src", 0),
    ("vm/chain3_h1", 1),
    ("vm/chain3_h2", 2),
    ("vm/chain3_h3", 2),
    ("vm/hog2_h1", 1),
    ("vm/hog2_h2", 3),
];

fn our_waits(rows: &[Row]) -> Vec<Wait> {
    let wait = |row: &Row| Wait {
        times: (row.int("wakeup_ns") % DAY, row.int("switch_ns") % DAY),
        priority: row.int("priority"),
        cpu: row.int("cpu"),
        wakee: Process { name: row.text("comm").to_owned(), tid: row.maybe("tid") },
        // Theirs do not call an idle task a waker.
        waker: match row.maybe("waker_tid") {
            Some(tid) if tid != 0 => Process { name: row.text("waker_comm").to_owned(), tid: Some(tid) },
            _ => Process { name: "Unknown".to_owned(), tid: None },
        },
    };
    rows.iter().map(wait).collect()
}

fn their_waits(text: &str) -> Vec<Wait> {
    let wait = |line: &str| {
        let (begin, end, rest) = times(line)?;
        let mut fields = rest.split_whitespace();
        let [latency, priority, cpu] = [(); 3].map(|()| fields.next().unwrap());
        assert_eq!(latency, format!("{:.3}", (end - begin) as f64 / 1000.0), "{line}");
        // The names begin behind the third field.
        let names = rest.trim_start().strip_prefix(latency)?.trim_start().strip_prefix(priority)?;
        let (wakee, rest) = process(names.trim_start().strip_prefix(cpu)?)?;
        let (waker, _) = process(rest)?;
        let (priority, cpu) = (priority.parse().unwrap(), cpu.parse().unwrap());
        Some(Wait { times: (begin, end), priority, cpu, wakee, waker })
    };
    text.lines().filter_map(wait).collect()
}

/// The last name of each thread whose number only one had: theirs shows it in all waits, ours the one that the thread had then.
fn last_names(ours: &Ours) -> BTreeMap<i64, String> {
    let mut all: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
    for row in ours.rows("cputop", "processes") {
        all.entry(row.int("tid")).or_default().insert(row.text("comm"));
    }
    let only = |(tid, names): (i64, BTreeSet<&str>)| match names.len() {
        1 => Some((tid, names.first()?.to_string())),
        _ => None,
    };
    all.into_iter().filter_map(only).collect()
}

fn compare_waits(differences: &mut Differences, trace: &Trace, ours: Vec<Wait>, theirs: &[Wait]) -> usize {
    let renamed = renamed(&trace.ours);
    let last = last_names(&trace.ours);
    differences.same(|| format!("{}: waits", trace.name), ours.len(), theirs.len());
    let mut lost = 0;
    for (mut ours, theirs) in ours.into_iter().zip(theirs) {
        if theirs.waker.tid.is_none() && ours.waker.tid.is_some() && waker_is_lost(&trace.ours, &ours) {
            ours.waker = theirs.waker.clone();
            lost += 1;
        }
        for (ours, theirs) in [(&mut ours.wakee, &theirs.wakee), (&mut ours.waker, &theirs.waker)] {
            if let Some(name) = ours.tid.and_then(|tid| last.get(&tid)) {
                ours.name.clone_from(name);
            }
            if is_old_name(trace.name, &renamed, ours, theirs) {
                ours.name.clone_from(&theirs.name);
            }
        }
        differences.same(|| trace.name.to_owned(), &ours, theirs);
    }
    lost
}

/// By what both can be sorted.
fn in_order(mut waits: Vec<Wait>) -> Vec<Wait> {
    waits.sort_by_key(|wait| (wait.times.1, wait.cpu, wait.wakee.tid));
    waits
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedlog() {
    each("schedlog", 7, |differences, trace, text| {
        let ours = in_order(our_waits(trace.ours.rows("schedlog", "log")));
        let lost = compare_waits(differences, trace, ours, &in_order(their_waits(text)));
        let expect = LOST_WAKERS.iter().find(|lost| lost.0 == trace.name).unwrap().1;
        differences.same(|| format!("{}: lost wakers", trace.name), lost, expect);
    });
}

/// Longest first; those that are as long have no order.
fn by_length(mut waits: Vec<Wait>) -> Vec<Wait> {
    waits.sort_by_key(|wait| (wait.times.0 - wait.times.1, wait.times.1, wait.wakee.tid));
    waits
}

fn compare_schedtop(differences: &mut Differences, trace: &Trace, text: &str, limit: usize) {
    let ours = our_waits(trace.ours.rows("schedtop", "top"));
    let lengths = |waits: &[Wait]| -> Vec<i64> {
        waits.iter().map(|wait| wait.times.1 - wait.times.0).take(limit).collect()
    };
    let theirs = their_waits(text);
    differences.same(|| format!("{}: lengths", trace.name), lengths(&ours), lengths(&theirs));
    let ours = by_length(ours).into_iter().take(limit).collect();
    compare_waits(differences, trace, ours, &by_length(theirs));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedtop() {
    each("schedtop", 7, |differences, trace, text| compare_schedtop(differences, trace, text, 10));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedtop_of_all_waits() {
    each("schedtop.all", 5, |differences, trace, text| {
        compare_schedtop(differences, trace, text, usize::MAX);
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedstats() {
    each("schedstats", 7, |differences, trace, text| {
        let renamed = renamed(&trace.ours);
        let rows: BTreeMap<i64, &Row> =
            trace.ours.rows("schedstats", "threads").iter().map(|row| (row.int("tid"), row)).collect();
        let mut seen = 0;
        for line in text.lines().skip_while(|line| !line.starts_with("Process ")).skip(1) {
            let Some((process, rest)) = process(line) else { continue };
            let (figures, theirs) = rest.split_once('[').unwrap();
            let tid = process.tid.unwrap();
            let what = format!("{}: thread {tid}", trace.name);
            let Some(row) = rows.get(&tid) else {
                differences.same(|| what, "none", line);
                continue;
            };
            seen += 1;
            same_name(differences, trace.name, &renamed, (tid, row.text("comm")), &process);
            statistics(differences, &what, row, &fields(figures).unwrap());
            let ours: BTreeSet<String> =
                row.text("priorities").split_whitespace().map(str::to_owned).collect();
            differences.same(|| format!("{what}: priorities"), ours, priorities(theirs));
        }
        differences.same(|| format!("{}: threads", trace.name), rows.len(), seen);
    });
}
