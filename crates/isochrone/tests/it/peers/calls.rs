//! `syscallstats` against that of lttng-analyses.

use std::collections::BTreeMap;

use super::printed::{Process, fields};
use super::theirs::{each, printed, renamed, same_name, us};
use super::{Ours, Row, traced_name};

/// Calls of one thread and name: how many, the durations that texts show in µs, how many returned what.
#[derive(Debug, Default)]
struct Calls {
    count: i64,
    min: f64,
    avg: f64,
    max: f64,
    stdev: Option<f64>,
    total: f64,
    returns: BTreeMap<String, i64>,
}

/// Ours by thread and name as theirs have it.
fn our_calls(ours: &Ours) -> BTreeMap<(i64, String), Calls> {
    let key = |row: &Row| (row.int("tid"), traced_name(row).to_owned());
    let mut calls: BTreeMap<(i64, String), Calls> = BTreeMap::new();
    for row in ours.rows("syscallstats", "syscalls") {
        let [min, avg, max, total] =
            ["min_ns", "avg_ns", "max_ns", "total_ns"].map(|column| us(row, column).unwrap());
        let stdev = us(row, "stdev_ns");
        let sum = calls.entry(key(row)).or_default();
        if sum.count == 0 {
            *sum = Calls { count: row.int("count"), min, avg, max, stdev, total, ..Calls::default() };
        } else {
            // Several names are one to theirs: squares are added from those of each.
            let squares = |count: i64, avg: f64, stdev: Option<f64>| {
                stdev.map_or(0.0, |stdev| stdev * stdev * (count - 1) as f64) + avg * avg * count as f64
            };
            let squares = squares(sum.count, sum.avg, sum.stdev) + squares(row.int("count"), avg, stdev);
            sum.count += row.int("count");
            sum.total += total;
            sum.avg = sum.total / sum.count as f64;
            let spread = squares - sum.avg * sum.avg * sum.count as f64;
            sum.stdev = Some((spread.max(0.0) / (sum.count - 1) as f64).sqrt());
            (sum.min, sum.max) = (sum.min.min(min), sum.max.max(max));
        }
    }
    for row in ours.rows("syscallstats", "returns") {
        let calls = calls.get_mut(&key(row)).unwrap();
        *calls.returns.entry(row.text("result").to_owned()).or_default() += row.int("count");
    }
    calls
}

/// Fault: each count of a result is one too many.
fn their_returns(text: &str) -> BTreeMap<String, i64> {
    let list = text.trim().trim_matches(['{', '}']).split(", ");
    let returns = list.map(|result| result.split_once(": ").unwrap());
    returns
        .map(|(name, count)| (name.trim_matches('\'').to_owned(), count.parse::<i64>().unwrap() - 1))
        .collect()
}

/// Fault: a deviation is shown of three calls and more, though two have one.
fn their_stdev(calls: &Calls) -> Option<f64> {
    calls.stdev.filter(|_| calls.count > 2)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn syscallstats() {
    each("syscallstats", 7, |differences, trace, text| {
        let calls = our_calls(&trace.ours);
        let totals: BTreeMap<i64, &Row> =
            trace.ours.rows("syscallstats", "totals").iter().map(|row| (row.int("tid"), row)).collect();
        let renamed = renamed(&trace.ours);
        let (mut tid, mut seen) = (0, 0);
        for line in text.lines() {
            let what = || format!("{}: {line}", trace.name);
            if let Some(total) = line.strip_prefix("Total syscalls: ") {
                let ours: i64 = totals.values().map(|row| row.int("count")).sum();
                differences.same(what, ours, total.trim().parse().unwrap());
            } else if let Some(total) = line.strip_prefix("Total:") {
                let ours = totals.get(&tid).map(|row| row.int("count"));
                differences.same(what, ours, total.trim().parse().ok());
            } else if let Some((head, rest)) = line.split_once(", TID: ") {
                let (name, pid) = head.rsplit_once(" (").unwrap();
                let (number, _) = rest.split_once(')').unwrap();
                tid = number.parse().unwrap();
                let Some(row) = totals.get(&tid) else {
                    differences.same(what, "none", line);
                    continue;
                };
                let theirs = Process { name: name.to_owned(), tid: Some(tid) };
                same_name(differences, trace.name, &renamed, (tid, row.text("comm")), &theirs);
                // Fault: the process of a thread is not known before the thread is in a dump or forked.
                if pid != "?" {
                    differences.same(what, row.int("pid"), pid.parse().unwrap());
                }
            } else if let Some(rest) = line.strip_prefix(" - ") {
                let (figures, returns) = rest.split_once('{').unwrap();
                let [name, count, min, avg, max, stdev] = fields(figures).unwrap();
                let Some(ours) = calls.get(&(tid, name.0.clone())) else {
                    differences.same(what, "none", line);
                    continue;
                };
                seen += 1;
                differences.same(what, ours.count.to_string(), count.0);
                printed(differences, what, Some(ours.min), &min, 3);
                printed(differences, what, Some(ours.avg), &avg, 3);
                printed(differences, what, Some(ours.max), &max, 3);
                printed(differences, what, their_stdev(ours), &stdev, 3);
                differences.same(what, &ours.returns, &their_returns(returns));
            }
        }
        differences.same(|| format!("{}: threads and calls", trace.name), calls.len(), seen);
    });
}
