//! `irqlog` and `irqstats` against those of lttng-analyses.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::Command;

use super::Differences;
use super::printed::{Printed, fields, time_of_day, times};
use super::theirs::{DAY, Trace, each, misses_softirqs, printed, statistics};

/// How many runs of softirqs have such a raise.
const STALE_RAISES: [(&str, usize); 5] =
    [("vm/chain3_h1", 4), ("vm/chain3_h2", 7), ("vm/chain3_h3", 14), ("vm/hog2_h1", 1), ("vm/hog2_h2", 0)];

/// The events of a trace as text.
pub(crate) fn events(trace: &Path) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_isochrone")).args(["events", "-q"]).arg(trace).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs of softirqs by begin, CPU and vector, and when each was raised, on the day.
type Raises = BTreeMap<(i64, i64, i64), Option<i64>>;

/// Raises of a softirq of a CPU, and whether the run of each has begun.
type Queue = VecDeque<(Option<i64>, bool)>;

/// Fault: of several raises during a run each is queued, though together they make for one more run; later runs are
/// then taken for those of raises of long ago. Counted here as they are there, from the events.
fn their_raises(trace: &Trace) -> Raises {
    let event = |line: &str| {
        let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
        let what = rest.split_once("softirq_")?.1;
        let number = |name: &str| {
            let digits = what.split_once(name)?.1;
            digits[..digits.find(|c: char| !c.is_ascii_digit())?].parse::<i64>().ok()
        };
        let kind = what.split_once(':')?.0;
        Some((time_of_day(time)?, number(" cpu_id = ")?, number(" vec = ")?, kind.to_owned()))
    };
    let mut raises = Raises::new();
    let mut queues: BTreeMap<(i64, i64), Queue> = BTreeMap::new();
    for (time, cpu, vector, kind) in events(&trace.path).lines().filter_map(event) {
        let queue = queues.entry((cpu, vector)).or_default();
        match kind.as_str() {
            "raise" if queue.front().is_none_or(|first| first.1) => queue.push_back((Some(time), false)),
            "entry" => {
                if queue.is_empty() {
                    queue.push_back((None, false));
                }
                queue[0].1 = true;
                raises.insert((time, cpu, vector), queue[0].0);
            }
            "exit" => {
                queue.pop_front();
            }
            _ => {}
        }
    }
    raises
}

/// The times from raise to run of a softirq, as theirs have them: count, least, mean, greatest, deviation, ns.
fn their_raise_latencies(trace: &Trace, raises: &Raises, vector: i64) -> [Option<f64>; 5] {
    let rows = trace.ours.rows("irqlog", "log").iter();
    let latencies: Vec<f64> = rows
        .filter(|row| row.text("type") == "SoftIRQ" && row.int("number") == vector)
        .filter_map(|row| {
            let begin = row.int("begin_ns") % DAY;
            Some((begin - raises[&(begin, row.int("cpu"), vector)]?) as f64)
        })
        .collect();
    let count = latencies.len() as f64;
    let mean = latencies.iter().sum::<f64>() / count;
    let squares: f64 = latencies.iter().map(|latency| (latency - mean) * (latency - mean)).sum();
    let some = |value: f64| (count > 0.0).then_some(value);
    [
        Some(count),
        some(latencies.iter().copied().fold(f64::INFINITY, f64::min)),
        some(mean),
        some(latencies.iter().copied().fold(0.0, f64::max)),
        (count > 1.0).then(|| (squares / (count - 1.0)).sqrt()),
    ]
}

pub(crate) fn compare_irqlog(differences: &mut Differences, trace: &Trace, text: &str) {
    let mut theirs = BTreeMap::new();
    for line in text.lines() {
        let Some((begin, end, rest)) = times(line) else { continue };
        let (rest, raised) = match rest.split_once(" (raised at ") {
            Some((rest, raised)) => (rest, time_of_day(raised.trim().trim_end_matches(')'))),
            None => (rest, None),
        };
        let [duration, cpu, sort, number, name] = fields(rest).unwrap();
        let key = (begin, end, cpu.0, sort.0, number.0, name.0);
        assert_eq!(duration.0, format!("{:.3}", (end - begin) as f64 / 1000.0), "{line}");
        *theirs.entry((key, raised)).or_insert(0) += 1;
    }
    let (raises, mut stale) = (their_raises(trace), 0);
    let mut ours = BTreeMap::new();
    for row in trace.ours.rows("irqlog", "log") {
        if misses_softirqs(trace) && row.text("type") == "SoftIRQ" {
            continue;
        }
        let (begin, end) = (row.int("begin_ns") % DAY, row.int("end_ns") % DAY);
        let [cpu, number] = ["cpu", "number"].map(|column| row.int(column).to_string());
        let key = (begin, end, cpu, row.text("type").to_owned(), number, row.text("name").to_owned());
        let raised = match row.text("type") {
            "SoftIRQ" => {
                let raised = raises[&(begin, row.int("cpu"), row.int("number"))];
                if raised != row.maybe("raised_ns").map(|raised| raised % DAY) {
                    stale += 1;
                    // Never a later one.
                    assert!(raised < row.maybe("raised_ns").map(|raised| raised % DAY), "{row:?}");
                }
                raised
            }
            _ => None,
        };
        *ours.entry((key, raised)).or_insert(0) += 1;
    }
    assert!(ours.len() >= 16, "{}: only {}", trace.name, ours.len());
    let expect = STALE_RAISES.iter().find(|stale| stale.0 == trace.name).map_or(0, |stale| stale.1);
    differences.same(|| format!("{}: stale raises", trace.name), stale, expect);
    differences.same_maps(trace.name, &ours, &theirs);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn irqlog() {
    each("irqlog", 7, compare_irqlog);
}

pub(crate) fn compare_irqstats(differences: &mut Differences, trace: &Trace, text: &str) {
    let name = trace.name;
    let (raises, mut seen) = (their_raises(trace), 0);
    for line in text.lines() {
        // `27: <name>   count min avg max stdev  |  count …`; 0 of the latter where no raise was seen.
        let Some((number, rest)) = line.split_once(':') else { continue };
        let Ok(number) = number.trim().parse::<i64>() else { continue };
        let (source, rest) = rest.trim().trim_start_matches('<').split_once('>').unwrap();
        let (durations, raised) = rest.split_once('|').unwrap();
        let table = if source.ends_with("_SOFTIRQ") { "soft" } else { "hard" };
        let rows = trace.ours.rows("irqstats", table);
        let what = format!("{name}: {number} {source}");
        let Some(row) = rows.iter().find(|row| row.int("number") == number && row.text("name") == source)
        else {
            differences.same(|| what, "none", line);
            continue;
        };
        seen += 1;
        statistics(differences, &what, row, &fields(durations).unwrap());
        if table == "soft" {
            let raised: [Printed; 5] = fields(raised).unwrap();
            let ours = their_raise_latencies(trace, &raises, number);
            differences.same(
                || what.clone(),
                ours[0].map(|count| count.to_string()),
                Some(raised[0].0.clone()),
            );
            for (ours, theirs) in ours.iter().zip(&raised).skip(1) {
                printed(differences, || format!("{what}: raised"), ours.map(|ns| ns / 1000.0), theirs, 3);
            }
        }
    }
    let mut rows = trace.ours.rows("irqstats", "hard").len();
    if !misses_softirqs(trace) {
        rows += trace.ours.rows("irqstats", "soft").len();
    }
    differences.same(|| format!("{name}: interrupts"), rows, seen);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn irqstats() {
    each("irqstats", 7, compare_irqstats);
}
