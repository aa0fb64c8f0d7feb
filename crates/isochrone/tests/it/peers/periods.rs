//! `periodlog`, `periodtop`, `periodstats` and `periodfreq` against those of lttng-analyses, which were asked for handlers of
//! interrupts.

use std::collections::BTreeMap;

use super::printed::{time_of_day, times};
use super::theirs::{DAY, TRACES};
use super::{Ours, Row};
use crate::common::shared;

const PERIOD: &str = r#"irq : $evt.$name == "irq_handler_entry" : $evt.$name == "irq_handler_exit" && $evt.cpu_id == $begin.$evt.cpu_id"#;
const CAPTURES: &str = "irq : irq = $evt.irq, cpu = $evt.cpu_id : ret = $evt.ret";

/// A period: begin and end on the day, and what was captured.
type Line = (i64, i64, String, String);

/// The periods of a text: captures are one on a line.
fn their_log(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines() {
        let captures = |text: &str| -> (String, String) {
            let (begin, end) = text.split_at(text.len().min(36));
            (begin.trim().to_owned(), end.trim().to_owned())
        };
        let add = |all: &mut String, more: String| {
            if !more.is_empty() {
                *all = if all.is_empty() { more } else { format!("{all}, {more}") };
            }
        };
        if let Some((begin, end, rest)) = times(line) {
            // Duration and name come first.
            let name = rest.find("irq").unwrap();
            let (first, last) = captures(rest.get(name + 25..).unwrap_or_default());
            lines.push((begin, end, first, last));
        } else if line.starts_with(' ')
            && let Some(last) = lines.last_mut()
        {
            let (first, second) = captures(line.trim_start());
            add(&mut last.2, first);
            add(&mut last.3, second);
        }
    }
    lines
}

fn line(row: &Row) -> Line {
    (
        row.int("begin_ns") % DAY,
        row.int("end_ns") % DAY,
        row.text("begin_captures").to_owned(),
        row.text("end_captures").to_owned(),
    )
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn handlers_of_interrupts() {
    let data = shared().join("data");
    let mut compared = 0;
    for (name, path) in TRACES {
        let text = |analysis: &str| {
            std::fs::read_to_string(data.join("lttng-analyses").join(name).join(format!("{analysis}.txt")))
                .ok()
        };
        let (Some(log), Some(top), Some(stats)) = (text("periodlog"), text("periodtop"), text("periodstats"))
        else {
            continue;
        };
        let options = ["--limit", "0", "--period", PERIOD, "--period-captures", CAPTURES];
        let ours = Ours::of(&data.join(path), "periodlog,periodtop,periodstats", &options);
        let mut log = their_log(&log);
        log.sort();
        let mut mine: Vec<Line> = ours.rows("periodlog", "log").iter().map(line).collect();
        mine.sort();
        assert_eq!(mine, log, "{name}");
        let longest = |lines: &[Line]| lines.iter().map(|line| line.1 - line.0).collect::<Vec<_>>();
        let top = longest(&their_log(&top));
        let mine: Vec<Line> = ours.rows("periodtop", "top").iter().map(line).collect();
        assert_eq!(longest(&mine)[..top.len()], top, "{name}");
        // Count, least, mean, greatest, deviation, sum: µs.
        let figures = |line: &str| -> Option<Vec<f64>> {
            let rest = line.strip_prefix("irq ")?;
            rest.split_whitespace().map(|figure| figure.parse().ok()).collect()
        };
        let theirs = stats.lines().find_map(figures);
        let mine = ours.rows("periodstats", "stats").first().map(|row| {
            let us = |column: &str| row.value(column).as_f64().unwrap_or(0.0) / 1000.0;
            vec![
                row.int("count") as f64,
                us("min_ns"),
                us("avg_ns"),
                us("max_ns"),
                us("stdev_ns"),
                us("total_ns"),
            ]
        });
        for (mine, theirs) in mine.iter().flatten().zip(theirs.iter().flatten()) {
            assert!((mine - theirs).abs() <= 0.00051, "{name}: {mine} {theirs}");
        }
        assert_eq!(mine.map(|it| it.len()), theirs.map(|it| it.len()), "{name}");
        compared += log.len();
    }
    assert!(compared > 1000, "{compared}");
    assert!(time_of_day("00:00:01.000000001").is_some());
}

/// A distribution counts each period once.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn distributions_have_all_of_them() {
    let data = shared().join("data");
    let text = std::fs::read_to_string(data.join("lttng-analyses/vm/hog2_h2/periodfreq.txt")).unwrap();
    let row = |line: &str| -> Option<(String, i64)> {
        let mut words = line.split_whitespace();
        let first = words.next()?.to_owned();
        first.parse::<f64>().ok()?;
        Some((first, words.next_back()?.parse().ok()?))
    };
    let theirs: BTreeMap<String, i64> = text.lines().filter_map(row).collect();
    let ours = Ours::of(&data.join("vm/hog2/h2"), "periodfreq", &["--linear", "--period", PERIOD]);
    let mine: BTreeMap<String, i64> = ours
        .rows("periodfreq", "freq")
        .iter()
        // Ours begin with the first whole ns of a row, theirs anywhere in it.
        .map(|row| (row.int("lo_ns"), row.int("count")))
        .map(|(lo, count)| (format!("{lo}"), count))
        .collect();
    assert_eq!(mine.values().sum::<i64>(), theirs.values().sum::<i64>());
    assert_eq!(mine.values().max(), theirs.values().max());
}
