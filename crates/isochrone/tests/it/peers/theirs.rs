//! What all comparisons with lttng-analyses need: the traces with both accounts of them, figures as they are printed,
//! and the faults that show in more than one of its outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use super::printed::{Printed, Process};
use super::{Differences, Ours, Row};
use crate::common::shared;

/// Ns of a day, of which texts show the time.
pub(crate) const DAY: i64 = 86_400_000_000_000;

/// A trace: directory of the texts, the trace itself.
pub(crate) const TRACES: [(&str, &str); 13] = [
    ("synthetic/cputop", "lttng-analyses/synthetic/CpuTest.test_cputop"),
    ("synthetic/disable_intersect", "lttng-analyses/synthetic/IntersectTest.test_disable_intersect"),
    ("synthetic/iolatencytop", "lttng-analyses/synthetic/IoTest.test_iolatencytop"),
    ("synthetic/iousagetop", "lttng-analyses/synthetic/IoTest.test_iousagetop"),
    ("synthetic/irqlog", "lttng-analyses/synthetic/IrqTest.test_irqlog"),
    ("synthetic/irqstats", "lttng-analyses/synthetic/IrqTest.test_irqstats"),
    ("many-threads", "ctf/traces/tc/many-threads"),
    ("scp_src", "scp/scp_src"),
    ("vm/chain3_h1", "vm/chain3/h1"),
    ("vm/chain3_h2", "vm/chain3/h2"),
    ("vm/chain3_h3", "vm/chain3/h3"),
    ("vm/hog2_h1", "vm/hog2/h1"),
    ("vm/hog2_h2", "vm/hog2/h2"),
];

/// What is compared.
pub(crate) const ALL: &str = "cputop,iolog,iolatencytop,iolatencystats,iolatencyfreq,iousagetop,irqlog,irqstats,irqfreq,memtop,schedlog,schedtop,schedstats,schedfreq,syscallstats";

/// A trace, what ours make of it and the texts about it.
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) ours: Ours,
    texts: BTreeMap<String, String>,
}

impl Trace {
    /// The text of one of their analyses, if there is one.
    pub(crate) fn text(&self, analysis: &str) -> Option<&str> {
        self.texts.get(analysis).map(String::as_str)
    }
}

/// All traces, analysed once for all tests.
pub(crate) fn traces() -> &'static [Trace] {
    static TRACES_OF_TESTS: OnceLock<Vec<Trace>> = OnceLock::new();
    TRACES_OF_TESTS.get_or_init(|| {
        let shared = shared();
        let data = shared.join("data");
        let trace = |&(name, path): &(&'static str, &str)| {
            let outputs = data.join("lttng-analyses");
            let (directory, only) = match name.strip_prefix("synthetic/") {
                Some(analysis) => (outputs.join("synthetic/expected"), Some(analysis)),
                None => (outputs.join(name), None),
            };
            let names = ALL.split(',').chain([
                "cputop.all",
                "disable_intersect",
                "iolatencytop.all",
                "iousagetop.all",
                "memtop.all",
                "schedtop.all",
            ]);
            let texts = names
                .filter(|&name| only.is_none_or(|only| name == only))
                .filter_map(|name| {
                    let text = std::fs::read_to_string(directory.join(format!("{name}.txt"))).ok()?;
                    Some((name.to_owned(), text))
                })
                .collect();
            let path = data.join(path);
            Trace { name, ours: Ours::of(&path, ALL, &["--linear"]), texts, path }
        };
        TRACES.iter().map(trace).collect()
    })
}

/// Compares the texts of an analysis with ours, of recorded traces or of synthetic ones; there are to be `count`.
pub(crate) fn compare(
    analysis: &str,
    is_synthetic: bool,
    count: usize,
    compare: impl Fn(&mut Differences, &Trace, &str),
) {
    let mut differences = Differences::default();
    let there: Vec<_> = traces()
        .iter()
        .filter(|trace| trace.name.starts_with("synthetic/") == is_synthetic)
        .filter_map(|trace| Some((trace, trace.texts.get(analysis)?)))
        .collect();
    assert_eq!(there.len(), count, "{analysis}");
    for (trace, text) in there {
        compare(&mut differences, trace, text);
    }
    differences.none();
}

/// Compares the texts of recorded traces.
pub(crate) fn each(analysis: &str, count: usize, function: impl Fn(&mut Differences, &Trace, &str)) {
    compare(analysis, false, count, function);
}

/// Notes a figure of ours that would be printed differently.
pub(crate) fn printed(
    differences: &mut Differences,
    what: impl Fn() -> String,
    ours: Option<f64>,
    theirs: &Printed,
    decimals: i32,
) {
    if !theirs.is(ours, decimals) {
        differences.same(&what, format!("{ours:?}"), format!("{theirs:?}"));
    }
}

/// A figure of ours in µs, as theirs are.
pub(crate) fn us(row: &Row, column: &str) -> Option<f64> {
    row.value(column).as_f64().map(|ns| ns / 1000.0)
}

/// Count, min, avg, max, stdev as they stand in texts, with a row of ours.
pub(crate) fn statistics(
    differences: &mut Differences,
    what: &str,
    ours: &Row,
    [count, rest @ ..]: &[Printed; 5],
) {
    differences.same(|| format!("{what}: count"), ours.int("count").to_string(), count.0.clone());
    for (column, theirs) in ["min_ns", "avg_ns", "max_ns", "stdev_ns"].iter().zip(rest) {
        printed(differences, || format!("{what}: {column}"), us(ours, column), theirs, 3);
    }
}

/// Threads that were seen to take a new name: by `execve`, or by `prctl`.
pub(crate) fn renamed(ours: &Ours) -> BTreeSet<i64> {
    ours.rows("syscallstats", "syscalls")
        .iter()
        .chain(ours.rows("syscallstats", "unfinished"))
        .filter(|row| ["execve", "prctl"].contains(&row.text("syscall")))
        .map(|row| row.int("tid"))
        .collect()
}

/// Names of threads before they took their last one, in traces whose calls do not show it: trace, old name, last ones.
pub(crate) const OLD_NAMES: [(&str, &str, &[&str]); 5] = [
    ("many-threads", "multithread", &["fluffy"]),
    ("scp_src", "bash", &["lttng", "test_scp"]),
    ("scp_src", "scp", &["ssh"]),
    ("scp_src", "sudo", &["killall", "tcpdump"]),
    ("scp_src", "test_scp", &["scp", "sleep", "sudo"]),
];

/// Fault: threads keep a name from before `execve` or `prctl` in most of its outputs.
pub(crate) fn is_old_name(trace: &str, renamed: &BTreeSet<i64>, ours: &Process, theirs: &Process) -> bool {
    ours.tid == theirs.tid
        && (ours.tid.is_some_and(|tid| renamed.contains(&tid))
            || OLD_NAMES.iter().any(|&(of, old, new)| {
                of == trace && old == theirs.name && new.contains(&ours.name.as_str())
            }))
}

/// Notes a name that is neither the last one of a thread nor an old one.
pub(crate) fn same_name(
    differences: &mut Differences,
    trace: &str,
    renamed: &BTreeSet<i64>,
    ours: (i64, &str),
    theirs: &Process,
) {
    let ours = Process { name: ours.1.to_owned(), tid: Some(ours.0) };
    if !is_old_name(trace, renamed, &ours, theirs) {
        differences.same(|| trace.to_owned(), &ours, theirs);
    }
}

/// Priorities of a thread, `[20, -3]`.
pub(crate) fn priorities(text: &str) -> BTreeSet<String> {
    let list = text.trim().trim_matches(['[', ']']);
    list.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Fault: softirqs are missed on tracers from 2.8 on, whose events are named `irq_softirq_*`. The runs on the traces of
/// virtual machines had this patched.
pub(crate) fn misses_softirqs(trace: &Trace) -> bool {
    trace.name == "many-threads"
}
