//! `iolog`, `iolatencytop`, `iolatencystats` and `iolatencyfreq` against those of lttng-analyses.
//!
//! Theirs count fewer calls than ours: see [`is_theirs`]. Once the logs are compared line by line, the other figures of theirs are held
//! against those of the calls that they count, and ours against those of all calls.

use std::collections::{BTreeMap, BTreeSet};

use super::distributions::{our_counts, their_counts};
use super::printed::{distributions, fields, times};
use super::theirs::{DAY, Trace, each, printed, statistics};
use super::{Differences, Row};

/// Calls that theirs take for I/O. Fault: `accept`, `creat`, `pipe`, `splice`, `preadv2` and others are not; `fcntl` only if it duplicates
/// without the flag to close on exec.
fn is_theirs(row: &Row) -> bool {
    const CALLS: [&str; 26] = [
        "open",
        "openat",
        "socket",
        "fcntl",
        "dup",
        "dup2",
        "dup3",
        "close",
        "read",
        "recvmsg",
        "recvfrom",
        "readv",
        "pread",
        "pread64",
        "preadv",
        "write",
        "sendmsg",
        "sendto",
        "writev",
        "pwrite",
        "pwrite64",
        "pwritev",
        "sync",
        "sync_file_range",
        "fsync",
        "fdatasync",
    ];
    CALLS.contains(&row.text("syscall"))
}

/// A size as it is printed, `3.36 KiB`: the number of bytes that it can be at least and at most.
pub(crate) fn size(number: &str, unit: &str) -> (f64, f64) {
    let scale = match unit {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        other => panic!("{other}"),
    };
    let number: f64 = number.parse().unwrap();
    let half = if unit == "B" { 0.0 } else { 0.005_000_1 };
    ((number - half) * scale, (number + half) * scale)
}

pub(crate) fn is_size(bytes: i64, number: &str, unit: &str) -> bool {
    let (least, most) = size(number, unit);
    (least..=most).contains(&(bytes as f64))
}

/// Fault: theirs count requests to a disk for the partition of the request that the disk was first asked for.
const PARTITIONS: [(&str, &str, &str); 1] = [("scp_src", "8:1", "8:0")];

/// A disk as ours name it. Without names of disks, theirs print numbers as the kernel's sources do.
pub(crate) fn disk(trace: &Trace, name: &str) -> String {
    let name = name.trim_matches(['(', ')']).replace(',', ":");
    let known = PARTITIONS.iter().find(|(of, partition, _)| *of == trace.name && *partition == name);
    known.map_or(name, |(_, _, disk)| (*disk).to_owned())
}

/// A line of their log.
#[derive(Debug)]
struct Line<'t> {
    begin: i64,
    end: i64,
    call: &'t str,
    /// Number and unit.
    size: Option<(&'t str, &'t str)>,
    tid: i64,
    /// Path and descriptor.
    file: Option<(&'t str, i64)>,
}

/// The text up to the next blank, and what is behind the blanks.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').unwrap_or((text, ""))
}

fn line(text: &str) -> Option<Line<'_>> {
    let (begin, end, rest) = times(text)?;
    let (call, rest) = word(rest);
    let (_, rest) = word(rest);
    let (number, rest) = word(rest);
    let (size, rest) = match number {
        "N/A" => (None, rest),
        _ => {
            let (unit, rest) = word(rest);
            (Some((number, unit)), rest)
        }
    };
    // Two blanks (one is gone), the name in 24 characters, the number of the thread.
    let (tid, rest) = word(rest.get(1 + 24..)?);
    let file = rest.trim().rsplit_once(" (fd=");
    let file = file.map(|(path, fd)| (path, fd.trim_end_matches(')').parse().unwrap()));
    Some(Line { begin, end, call, size, tid: tid.parse().ok()?, file })
}

/// Compares a line of theirs with a row of ours.
fn compare_line(differences: &mut Differences, what: &str, theirs: &Line<'_>, ours: &Row) {
    let what = || format!("{what}: {theirs:?}");
    let is_same = match theirs.size {
        Some((number, unit)) => ours.maybe("bytes").is_some_and(|bytes| is_size(bytes, number, unit)),
        None => ours.maybe("bytes").is_none(),
    };
    differences.same(|| format!("{}: size of {ours:?}", what()), is_same, true);
    if let Some((path, fd)) = theirs.file {
        differences.same(what, ours.maybe("fd"), Some(fd));
        // Fault: paths that are relative to a directory's descriptor, and all that are not paths, are unknown or something else there.
        if path.starts_with('/') {
            differences.same(what, ours.text("path"), path);
        }
    }
}

/// Their lines by call: nothing else of a thread begins at that instant.
fn by_call<'r>(rows: impl IntoIterator<Item = &'r Row>) -> BTreeMap<(i64, i64, i64, String), &'r Row> {
    let key = |row: &Row| {
        let [begin, end] = ["begin_ns", "end_ns"].map(|column| row.int(column) % DAY);
        (begin, end, row.int("tid"), row.text("syscall").to_owned())
    };
    rows.into_iter().map(|row| (key(row), row)).collect()
}

/// The calls that are in their log.
pub(crate) fn theirs(trace: &Trace) -> Vec<&Row> {
    let lines: Vec<Line<'_>> = trace.text("iolog").unwrap_or_default().lines().filter_map(line).collect();
    let lines: BTreeSet<_> = lines.iter().map(|line| (line.begin, line.tid, line.call)).collect();
    let is_there =
        |row: &&Row| lines.contains(&(row.int("begin_ns") % DAY, row.int("tid"), row.text("syscall")));
    trace.ours.rows("iolog", "log").iter().filter(|row| is_theirs(row)).filter(is_there).collect()
}

fn compare_log(differences: &mut Differences, trace: &Trace, text: &str) {
    let ours = by_call(trace.ours.rows("iolog", "log").iter().filter(|row| is_theirs(row)));
    let mut seen = BTreeSet::new();
    for line in text.lines().filter_map(line) {
        let key = (line.begin, line.end, line.tid, line.call.to_owned());
        match ours.get(&key) {
            Some(row) => compare_line(differences, trace.name, &line, row),
            None => differences.same(|| trace.name.to_owned(), format!("{line:?}"), "none".to_owned()),
        }
        seen.insert(key);
    }
    // Fault: a duplicate that is made with the flag to close on exec is none.
    for (key, row) in ours.iter().filter(|(key, _)| !seen.contains(key) && key.3 != "fcntl") {
        differences.same(|| format!("{}: {key:?}", trace.name), format!("{row:?}"), "none".to_owned());
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn iolog() {
    each("iolog", 7, compare_log);
}

/// Longest calls. Fault: theirs show one more than they are asked for.
pub(crate) fn compare_top(differences: &mut Differences, trace: &Trace, text: &str, limit: usize) {
    for kind in ["open", "read", "write", "sync"] {
        let title = format!("Top system call latencies {kind} (usec)");
        let Some((_, rest)) = text.split_once(&title) else { continue };
        let section = rest.split("Top system call").next().unwrap();
        let lines: Vec<Line<'_>> = section.lines().filter_map(line).collect();
        // In ours there are calls that are not in theirs: then the rows behind them are there all the same.
        let ours: Vec<&Row> =
            trace.ours.rows("iolatencytop", kind).iter().filter(|row| is_theirs(row)).collect();
        let known = by_call(ours.iter().copied());
        let length = |line: &Line<'_>| line.end - line.begin;
        for line in &lines {
            let key = (line.begin, line.end, line.tid, line.call.to_owned());
            match known.get(&key) {
                Some(row) => compare_line(differences, trace.name, line, row),
                None => differences.same(|| trace.name.to_owned(), format!("{line:?}"), "none".to_owned()),
            }
        }
        let all = ours.iter().filter(|row| row.text("syscall") != "fcntl").count();
        differences.same(
            || format!("{}: {kind}", trace.name),
            lines.len(),
            all.min(limit + 1).max(lines.len()),
        );
        // Those that are not shown took no longer than those that are.
        let least = lines.iter().map(length).min().unwrap_or(0);
        let longer =
            ours.iter().filter(|row| row.int("duration_ns") > least && row.text("syscall") != "fcntl");
        let shown: BTreeSet<_> = lines.iter().map(|line| (line.begin, line.tid)).collect();
        let left_out =
            longer.filter(|row| !shown.contains(&(row.int("begin_ns") % DAY, row.int("tid")))).count();
        differences.same(|| format!("{}: {kind} that are left out", trace.name), left_out, 0);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn iolatencytop() {
    each("iolatencytop", 7, |differences, trace, text| compare_top(differences, trace, text, 10));
    each("iolatencytop.all", 5, |differences, trace, text| compare_top(differences, trace, text, 100_000));
}

/// Durations of calls of a kind.
fn durations<'r>(rows: impl IntoIterator<Item = &'r Row>, kind: &str) -> Vec<i64> {
    rows.into_iter().filter(|row| row.text("kind") == kind).map(|row| row.int("duration_ns")).collect()
}

fn compare_stats(differences: &mut Differences, trace: &Trace, text: &str) {
    let rows = |table: &str| trace.ours.rows("iolatencystats", table);
    for row in rows("calls") {
        let all = durations(trace.ours.rows("iolog", "log"), row.text("kind"));
        let what = || format!("{}: {}", trace.name, row.text("kind"));
        differences.same(what, row.int("count"), all.len() as i64);
        differences.same(what, row.int("total_ns"), all.iter().sum());
        differences.same(what, row.maybe("min_ns"), all.iter().min().copied());
        differences.same(what, row.maybe("max_ns"), all.iter().max().copied());
    }
    let theirs = theirs(trace);
    let mut disks = 0;
    for (name, rest) in text.lines().filter_map(|line| line.split_once(' ')) {
        let Some(figures) = fields::<5>(rest) else { continue };
        if figures[0].0.parse::<u64>().is_err() {
            continue;
        }
        let what = format!("{}: {name}", trace.name);
        if !["Open", "Read", "Write", "Sync"].contains(&name) {
            disks += 1;
            let name = disk(trace, name);
            match rows("disks").iter().find(|row| row.text("disk") == name) {
                Some(row) => statistics(differences, &what, row, &figures),
                None => differences.same(|| what, "none", name.as_str()),
            }
            continue;
        }
        let all = durations(theirs.iter().copied(), &name.to_lowercase());
        differences.same(|| what.clone(), all.len().to_string(), figures[0].0.clone());
        let us = |ns: i64| Some(ns as f64 / 1000.0);
        if let (Some(least), Some(most)) = (all.iter().min(), all.iter().max()) {
            printed(differences, || what.clone(), us(*least), &figures[1], 3);
            printed(differences, || what.clone(), us(*most), &figures[3], 3);
            let mean = all.iter().sum::<i64>() as f64 / all.len() as f64 / 1000.0;
            printed(differences, || what.clone(), Some(mean), &figures[2], 3);
        }
    }
    differences.same(|| format!("{}: disks", trace.name), rows("disks").len(), disks);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn iolatencystats() {
    each("iolatencystats", 7, compare_stats);
}

fn compare_freq(differences: &mut Differences, trace: &Trace, text: &str) {
    let rows = trace.ours.rows("iolatencyfreq", "freq");
    for distribution in distributions(text, "I/O request latency distribution") {
        let what = format!("{}: {}", trace.name, distribution.of);
        let theirs_counts: Vec<i64> = distribution.rows.iter().map(|row| row.1).collect();
        let of_disk = distribution.of.strip_prefix("disk: ");
        let name = of_disk.map_or_else(|| distribution.of.clone(), |name| disk(trace, name));
        let of = if of_disk.is_some() { "disk" } else { "calls" };
        let ours: Vec<i64> = rows
            .iter()
            .filter(|row| row.text("of") == of && row.text("name") == name)
            .map(|row| row.int("count"))
            .collect();
        if of_disk.is_some() {
            differences.same(|| what, ours, theirs_counts);
            continue;
        }
        let values = durations(theirs(trace), &name);
        if values.iter().min() == values.iter().max() {
            // Fault: nothing is shown of values without a spread.
            differences.same(|| what, theirs_counts, Vec::new());
            continue;
        }
        differences.same(|| what.clone(), &their_counts(&values), &theirs_counts);
        let all = durations(trace.ours.rows("iolog", "log"), &name);
        differences.same(|| format!("{what}, ours"), our_counts(&all), ours);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn iolatencyfreq() {
    each("iolatencyfreq", 7, compare_freq);
}
