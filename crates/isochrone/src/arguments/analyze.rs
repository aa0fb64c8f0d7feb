//! What `isochrone analyze` can be asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use isochrone_analysis::{AnalysisKind, errno_of};
use isochrone_experiment::Instant;

const EXAMPLES: &str = "Examples:\n  \
    isochrone analyze cputop web/                              who used the CPUs\n  \
    isochrone analyze cputop --sync sync.json web/ app/ db/    of three hosts, on one clock\n  \
    isochrone analyze syscallstats --procname 'postgres*' db/  the calls of one program\n  \
    isochrone analyze irqstats,schedfreq db/                   two questions, one pass\n  \
    isochrone analyze schedtop --min 1ms web/                  who waited for a CPU longest\n  \
    isochrone analyze fds --tid 842 --at 12:30:01.5 web/       what was open in thread 842 then\n  \
    isochrone analyze syscalls --errno ENOSPC --around db/     who hit a full disk, and what else ran\n  \
    isochrone analyze states --tid 842 --begin 12:30:01 --end 12:30:02 web/   what thread 842 did in that second\n  \
    isochrone analyze cputop --format json web/ | jq '.tables[0].rows[0]'\n\n\
    Record what they need with: lttng enable-event --kernel 'sched_*,irq_*,block_rq_*' and \
    lttng enable-event --kernel --syscall --all. The contexts tid, pid and procname make threads known from the first event on, a state \
    dump (LTTng writes one by itself) tells which files were open.\n\n\
    Time that a trace cannot account for is unknown, not idle: before the first switch of a CPU, while events were lost, while \
    a chunk is missing. CPU time is cut at --begin and --end; calls, interrupts and waits count where they end.";

/// The analyses there are, and examples.
pub(super) fn help() -> String {
    let kinds = AnalysisKind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    let lines = kinds.chain([(STATES, ABOUT_STATES)]).map(|(name, about)| format!("  {name:<13} {about}\n"));
    format!("Analyses:\n{}\n{EXAMPLES}", lines.collect::<String>())
}

/// What `isochrone analyze` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// What to compute; several with commas between them take one pass together and are shown in this order
    #[arg(value_name = "NAME", value_parser = names)]
    pub(crate) names: Names,
    /// Traces, of one host or many; the chunks of a rotated session belong together
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Put the times of all hosts on the reference clock of this file, which `isochrone sync -o` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) sync: Option<PathBuf>,
    /// Only from this time on: a time of day (UTC, as tables show it), Unix seconds with a decimal point, Unix nanoseconds without,
    /// or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) begin: Option<Instant>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) end: Option<Instant>,
    /// The state at this instant (processes, fds, syscalls): who was where, what was open, which calls were going on
    #[arg(long, value_name = "TIME", value_parser = instant, conflicts_with_all = ["begin", "end"])]
    pub(crate) at: Option<Instant>,
    /// Only these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// Only these threads, by number
    #[arg(long = "tid", value_name = "TID", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) tids: Vec<i32>,
    /// Only threads of these names; `*` stands for anything, `?` for one character
    #[arg(long = "procname", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) procnames: Vec<String>,
    /// Only these CPUs
    #[arg(long = "cpu", value_name = "CPU", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) cpus: Vec<u32>,
    /// Only calls, interrupts and waits that take this long or longer: 250us, 1.5ms; without a unit ns
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) min: Option<u64>,
    /// Only calls, interrupts and waits that take this long or less
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) max: Option<u64>,
    /// Only hardware interrupts (irqfreq, irqlog, irqstats), those of these numbers if any are given: --irq=27,28. With --softirq
    /// beside it, both
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', num_args = 0.., require_equals = true, help_heading = "Filters")]
    pub(crate) irq: Option<Vec<i32>>,
    /// Only softirqs (irqfreq, irqlog, irqstats), those of these vectors if any are given: --softirq=3. With --irq beside it, both
    #[arg(long, value_name = "VECTOR", value_delimiter = ',', num_args = 0.., require_equals = true, help_heading = "Filters")]
    pub(crate) softirq: Option<Vec<u32>>,
    /// Only these file descriptors (fds)
    #[arg(long = "fd", value_name = "FD", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) fds: Vec<i32>,
    /// Only these system calls (syscalls)
    #[arg(long = "call", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) calls: Vec<String>,
    /// Only calls that ended in these errors, ENOENT or 2 (syscalls)
    #[arg(long = "errno", value_name = "ERROR", value_delimiter = ',', value_parser = error, help_heading = "Filters")]
    pub(crate) errors: Vec<u16>,
    /// Tell what all CPUs ran when each of the calls ended (syscalls): a row for each CPU and call, so ask for few calls
    #[arg(long)]
    pub(crate) around: bool,
    /// CPU time by process instead of by thread (cputop)
    #[arg(long)]
    pub(crate) by_process: bool,
    /// At most so many rows of tables that are sorted by a figure (cputop, schedtop); 0: all [default: 10 as text, else all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// At most so many rows of each distribution (irqfreq, schedfreq)
    #[arg(long, value_name = "ROWS", default_value_t = 20, value_parser = bars)]
    pub(crate) bars: usize,
    /// Distributions in rows of equal width, not of growing width (irqfreq, schedfreq)
    #[arg(long)]
    pub(crate) linear: bool,
    /// At most about so many rows of each thread: those that share a pixel of the window become one (states)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pixels: Option<u32>,
    /// The store to use, which `isochrone index -o` made (states) [default: in the cache, made if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// What to print: tables for people, comma-separated values, or JSON; the latter two have all columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; a wrong name is answered with those that there are
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Cut each host's trace into so many pieces that are analysed apart and merged: the result is the same
    #[arg(long, value_name = "N")]
    pub(crate) chunks: Option<std::num::NonZeroUsize>,
}

/// What is to be computed.
#[derive(Debug, Clone)]
pub(crate) enum Names {
    /// These analyses, in one pass.
    Kinds(Vec<AnalysisKind>),
    /// What threads did, from a store.
    States,
}

/// The name of the table of states, which is read from a store.
const STATES: &str = "states";

/// What it tells.
const ABOUT_STATES: &str =
    "What each thread did from when to when; from a store, which is made if there is none";

/// How tables are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Tables and bars for people
    Text,
    /// Comma-separated values, a header line for each table
    Csv,
    /// JSON for programs
    Json,
}

/// A time of day, or one with a date.
fn instant(text: &str) -> Result<Instant, String> {
    match of_day(text) {
        Some(ns) => Ok(Instant::OfDay(ns)),
        None => crate::render::time::parse(text).map(Instant::Unix),
    }
}

/// `05:54:25.967103592` in ns.
fn of_day(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let two = |text: &str, below: i128| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i128>().ok().filter(|&number| digits && number < below)
    };
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let is_part = part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
    let ns = format!("{part:0<9}").parse::<i128>().ok().filter(|_| is_part && parts.next().is_none())?;
    Some(((two(hours, 24)? * 60 + two(minutes, 60)?) * 60 + two(whole, 60)?) * 1_000_000_000 + ns)
}

/// Names of analyses with commas between them.
fn names(text: &str) -> Result<Names, String> {
    if text.trim() == STATES {
        return Ok(Names::States);
    }
    if text.split(',').any(|name| name.trim() == STATES) {
        return Err(format!("`{STATES}` is read from a store and stands alone"));
    }
    let kind = |name: &str| {
        AnalysisKind::of(name.trim()).ok_or_else(|| {
            let known: Vec<_> = AnalysisKind::ALL.iter().map(|kind| kind.name()).chain([STATES]).collect();
            format!("no analysis is called `{name}`; there are {}", known.join(", "))
        })
    };
    text.split(',').map(kind).collect::<Result<_, _>>().map(Names::Kinds)
}

/// A duration in ns.
fn duration(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let digits_after = match unit.trim() {
        "" | "ns" => 0,
        "us" | "µs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return Err("its unit is none of ns, us, ms and s".to_owned()),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let wrong = || "it is no duration such as 250us or 1.5ms".to_owned();
    if part.len() > digits_after || (whole.is_empty() && part.is_empty()) {
        return Err(wrong());
    }
    // Exact: the digits behind the point are filled up to ns.
    format!("{whole}{part:0<digits_after$}").parse().map_err(|_| wrong())
}

fn bars(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| "it is no number from 1 to 1000".to_owned())
}

/// An error by name or number.
fn error(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (1..=4095).contains(number));
    number.or_else(|| errno_of(text)).ok_or_else(|| "no error is called so".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let check = |text, expect: Option<i128>| assert_eq!(of_day(text), expect, "{text}");
        check("00:00:01", Some(1_000_000_000));
        check("23:59:59.999999999", Some(86_399_999_999_999));
        check("01:00:00.5", Some(3_600_500_000_000));
        check("24:00:00", None);
        check("23:59:60", None);
        let error = instant("23:59:60").unwrap_err();
        assert!(error.contains("is a leap second"), "{error}");
        check("1:00:00", None);
        check("01:00", None);
        check("01:00:00.1234567890", None);
        check("2026-11-20T01:00:00Z", None);
    }

    #[test]
    fn durations() {
        let check = |text, expect: Option<u64>| assert_eq!(duration(text).ok(), expect, "{text}");
        check("250", Some(250));
        check("250us", Some(250_000));
        check("250 µs", Some(250_000));
        check("1.5ms", Some(1_500_000));
        check(".25s", Some(250_000_000));
        check("1.0000000001s", None);
        check("1.5", None);
        check("", None);
        check("ms", None);
        check("3 days", None);
        check("99999999999999999999", None);
    }
}
