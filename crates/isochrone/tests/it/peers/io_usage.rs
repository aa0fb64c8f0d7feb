//! `iousagetop` and `memtop` against those of lttng-analyses.

use std::collections::BTreeMap;

use super::interrupts::events;
use super::io::{disk, size, theirs};
use super::theirs::{Trace, each};
use super::{Differences, Row};

/// The part of a text that is a chart of this title: its lines, without bars.
fn chart(text: &str, title: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(title)).skip(2);
    let mut found = Vec::new();
    while let Some(line) = lines.next().filter(|line| !line.is_empty()) {
        found.push(line.trim_start_matches(['█', ' ']).to_owned());
    }
    found
}

/// A size and what is behind it.
fn sized(line: &str) -> Option<((f64, f64), &str)> {
    let (number, rest) = line.split_once(' ')?;
    let (unit, rest) = rest.trim_start().split_once(' ')?;
    Some((size(number, unit), rest.trim()))
}

/// The number in brackets of `name (pid)`, `name (pid=unknown (tid=101))`: a process, or the thread of an unknown one.
fn number(label: &str) -> Option<i64> {
    let (_, rest) = label.rsplit_once(['(', '='])?;
    rest.trim_end_matches(')').parse().ok()
}

/// Sizes that were printed, added up by what they are of.
fn add(sums: &mut BTreeMap<i64, (f64, f64)>, key: i64, (least, most): (f64, f64)) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0 + least, sum.1 + most);
}

fn compare_sums(
    differences: &mut Differences,
    what: &str,
    ours: &BTreeMap<i64, i64>,
    theirs: &BTreeMap<i64, (f64, f64)>,
    all: bool,
) {
    for (key, &(least, most)) in theirs {
        let bytes = ours.get(key).copied().unwrap_or_default();
        if !(least..=most).contains(&(bytes as f64)) {
            differences.same(|| format!("{what} {key}"), bytes.to_string(), format!("{least}..{most}"));
        }
    }
    for (key, bytes) in ours.iter().filter(|(key, bytes)| all && **bytes > 0 && !theirs.contains_key(key)) {
        differences.same(|| format!("{what} {key}"), bytes.to_string(), "none".to_owned());
    }
}

fn process(row: &Row) -> i64 {
    row.maybe("pid").unwrap_or_else(|| row.maybe("tid").unwrap_or(-1))
}

/// Bytes of a column by process.
fn by_process<'r>(rows: impl IntoIterator<Item = &'r Row>, column: &str) -> BTreeMap<i64, i64> {
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(process(row)).or_default() += row.maybe(column).unwrap_or_default();
    }
    sums
}

/// Fault: a request that one thread put into the queue of a disk and another, a worker of the kernel, took out of it is the other's: trace, way,
/// who put it there, who took it out, bytes.
const ISSUED_BY_ANOTHER: [(&str, &str, i64, i64, i64); 4] = [
    ("vm/chain3_h1", "write", 113, 35, 1024),
    ("vm/chain3_h2", "write", 113, 35, 1024),
    ("vm/chain3_h3", "write", 113, 35, 1024),
    ("vm/hog2_h1", "write", 113, 35, 1024),
];

pub(crate) fn compare_iousagetop(differences: &mut Differences, trace: &Trace, text: &str) {
    let (name, ours) = (trace.name, &trace.ours);
    let all = name.starts_with("vm/") || name.starts_with("synthetic/");
    for (title, kind, column) in [("Read", "read", "read_bytes"), ("Write", "write", "written_bytes")] {
        // Ours are the sums of our log; theirs of the calls that they count.
        let moves = |row: &&Row| [kind, "transfer"].contains(&row.text("kind"));
        let logged = by_process(ours.rows("iolog", "log").iter().filter(moves), "bytes");
        let totals = by_process(ours.rows("iousagetop", "processes"), column);
        let is_zero = |sums: BTreeMap<i64, i64>| sums.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        differences.same_maps::<i64, i64>(
            &format!("{name}: log, {kind}"),
            &is_zero(totals),
            &is_zero(logged),
        );
        let rows = if name.starts_with("synthetic/") {
            ours.rows("iolog", "log").iter().collect()
        } else {
            theirs(trace)
        };
        let counted = by_process(rows.into_iter().filter(|row| row.text("kind") == kind), "bytes");
        let mut printed = BTreeMap::new();
        for line in chart(text, &format!("Per-process I/O {title} ")) {
            let Some((bytes, rest)) = sized(&line) else { continue };
            let end = rest.find("  ").unwrap_or(rest.len());
            if let Some(number) = number(rest[..end].trim()) {
                add(&mut printed, number, bytes);
            }
        }
        compare_sums(differences, &format!("{name}: {kind} by process"), &counted, &printed, all);
        let mut blocks = BTreeMap::new();
        for line in chart(text, &format!("Block I/O {title}")) {
            let Some((bytes, label)) = sized(&line) else { continue };
            if let Some(number) = number(label) {
                add(&mut blocks, number, bytes);
            }
        }
        let mut requested = by_process(ours.rows("iousagetop", "blocks"), column);
        let other_way = ISSUED_BY_ANOTHER.iter().filter(|(of, way, ..)| *of == name && *way == kind);
        for (_, _, inserted, issued, bytes) in other_way {
            *requested.entry(*inserted).or_default() -= bytes;
            *requested.entry(*issued).or_default() += bytes;
        }
        compare_sums(differences, &format!("{name}: {kind} of disks by process"), &requested, &blocks, all);
    }
    compare_disks(differences, trace, text);
    compare_interfaces(differences, trace, text);
}

fn compare_disks(differences: &mut Differences, trace: &Trace, text: &str) {
    let rows = trace.ours.rows("iousagetop", "disks");
    let of = |label: &str| {
        let label = disk(trace, label);
        rows.iter().find(|row| row.text("disk") == label)
    };
    let charts = [
        ("Disk Requests Sector Count", "sectors"),
        ("Disk Request Count", "requests"),
        ("Disk Request Average Latency", "avg_ns"),
    ];
    for (title, column) in charts {
        let lines = chart(text, title);
        let busy = rows.iter().filter(|row| row.int("requests") > 0).count();
        differences.same(|| format!("{}: {title}", trace.name), busy, lines.len());
        for line in lines {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let value: f64 = parts[0].parse().unwrap();
            let Some(row) = of(parts[parts.len() - 1]) else {
                differences.same(|| trace.name.to_owned(), "none", line.as_str());
                continue;
            };
            let ours = row.value(column).as_f64().unwrap();
            let is_same = match column {
                "avg_ns" => (ours / 1e6 - value).abs() <= 0.005_000_1,
                _ => (ours - value).abs() < 0.5,
            };
            differences.same(|| format!("{}: {title} {line}: {ours}", trace.name), is_same, true);
        }
    }
}

fn compare_interfaces(differences: &mut Differences, trace: &Trace, text: &str) {
    for (title, column) in
        [("Network Received Bytes", "received_bytes"), ("Network Sent Bytes", "sent_bytes")]
    {
        for line in chart(text, title) {
            let Some(((least, most), label)) = sized(&line) else { continue };
            let row =
                trace.ours.rows("iousagetop", "interfaces").iter().find(|row| row.text("interface") == label);
            let bytes = row.map_or(-1, |row| row.int(column));
            let is_same = (least..=most).contains(&(bytes as f64));
            differences.same(|| format!("{}: {title} {line}: {bytes}", trace.name), is_same, true);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn iousagetop() {
    each("iousagetop.all", 5, compare_iousagetop);
}

/// How many frees of each thread theirs count. Fault: while as many pages were freed as were allocated since the trace began, a free is none;
/// each allocation and each free is one page. Counted here as they are there, from the events.
fn their_frees(trace: &Trace) -> BTreeMap<i64, i64> {
    let mut frees = BTreeMap::new();
    let mut pages = 0u64;
    for line in events(&trace.path).lines() {
        if line.contains(" kmem_mm_page_alloc: ") {
            pages += 1;
        } else if line.contains(" kmem_mm_page_free: ") && pages > 0 {
            pages -= 1;
            let tid = line.split_once("{ tid = ").and_then(|(_, rest)| rest.split_once(',')?.0.parse().ok());
            *frees.entry(tid.unwrap_or(-1)).or_default() += 1;
        }
    }
    frees
}

/// Fault: before the first switch of a CPU nobody runs there: trace, thread, allocations and frees that are not counted.
const BEFORE_THE_FIRST_SWITCH: [(&str, i64, i64, i64); 1] = [("vm/hog2_h2", 167, 1, 1)];

/// Fault: an allocation of several pages counts as one, and so does what frees them; ours have both figures. Pages of the idle tasks are
/// nobody's.
fn compare_memtop(differences: &mut Differences, trace: &Trace, text: &str) {
    let rows = trace.ours.rows("memtop", "processes");
    let of_line = |line: &String| Some((number(line)?, line.split(' ').next()?.parse::<i64>().ok()?));
    let theirs = |title: &str| -> BTreeMap<i64, i64> {
        chart(text, title).iter().filter_map(of_line).filter(|(_, count)| *count > 0).collect()
    };
    let ours = |column: &str| -> BTreeMap<i64, i64> {
        let counts = rows.iter().map(|row| (row.int("tid"), row.int(column)));
        counts.filter(|(tid, count)| *tid != 0 && *count > 0).collect()
    };
    let (mut allocations, mut expected, all) = (ours("allocations"), their_frees(trace), ours("frees"));
    expected.remove(&0);
    for (_, tid, allocated, freed) in BEFORE_THE_FIRST_SWITCH.iter().filter(|(of, ..)| *of == trace.name) {
        *allocations.entry(*tid).or_default() -= allocated;
        *expected.entry(*tid).or_default() -= freed;
    }
    let allocated = theirs("Per-TID Memory Allocations");
    differences.same_maps(&format!("{}: allocations", trace.name), &allocations, &allocated);
    differences.same_maps(
        &format!("{}: frees", trace.name),
        &expected,
        &theirs("Per-TID Memory Deallocations"),
    );
    for (tid, count) in expected {
        differences.same(
            || format!("{}: frees of {tid}", trace.name),
            all.get(&tid).copied().unwrap_or(0) >= count,
            true,
        );
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn memtop() {
    each("memtop.all", 5, compare_memtop);
}
