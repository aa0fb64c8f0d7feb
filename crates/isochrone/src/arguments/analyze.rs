//! What `isochrone analyze` can be asked.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use isochrone_analysis::{AnalysisKind, Interrupt, errno_of};
use wildmatch::WildMatch;

use super::clock::Clock;
use super::time::{Given, Zone, given};
use crate::near::did_you_mean;

const EXAMPLES: &str = "Examples:\n  \
    isochrone analyze cputop web/                              who used the CPUs\n  \
    isochrone analyze cputop web/ app/ db/                     of three hosts, on one clock\n  \
    isochrone analyze syscallstats --procname 'postgres*' db/  the calls of one program\n  \
    isochrone analyze irqstats,schedfreq db/                   two questions, one pass\n  \
    isochrone analyze schedtop --min 1ms web/                  who waited for a CPU longest\n  \
    isochrone analyze syscallstats --sort p99 --by-process db/ the slowest system calls of each process\n  \
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
#[allow(clippy::struct_excessive_bools)] // Each is a flag that somebody types.
pub(crate) struct Analyze {
    /// What to compute; several with commas between them take one pass together and are shown in this order
    #[arg(value_name = "NAME", value_parser = names)]
    pub(crate) names: Names,
    /// Traces, of one host or many; the chunks of a rotated session belong together
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Show how early and how late each time of a table can have been on the common clock
    #[arg(long, help_heading = "Times")]
    pub(crate) bounds: bool,
    /// Only from this time on: any form in which a command prints one (06:11:25.5, 2026-11-20 06:11:25.5, Unix seconds with a
    /// decimal point, Unix nanoseconds), or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) begin: Option<Given>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) end: Option<Given>,
    /// The state at this instant (processes, fds, syscalls): who was where, what was open, which calls were going on
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, conflicts_with_all = ["begin", "end"])]
    pub(crate) at: Option<Given>,
    /// Only these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// Only these threads, by number
    #[arg(long = "tid", value_name = "TID", value_delimiter = ',', value_parser = number::<i32>, help_heading = "Filters")]
    pub(crate) tids: Vec<i32>,
    /// Only the threads of these processes, by number
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',', value_parser = number::<i32>, help_heading = "Filters")]
    pub(crate) pids: Vec<i32>,
    /// Only threads of these names; `*` stands for anything, `?` for one character
    #[arg(long = "procname", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) procnames: Vec<String>,
    /// Only these CPUs: 2, or 0-3,8
    #[arg(long = "cpu", value_name = "CPU", value_delimiter = ',', value_parser = cpus, help_heading = "Filters")]
    pub(crate) cpus: Vec<RangeInclusive<u32>>,
    /// Only calls, interrupts and waits that take this long or longer: 250us, 1.5ms; without a unit ns
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) min: Option<u64>,
    /// Only calls, interrupts and waits that take this long or less
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) max: Option<u64>,
    /// Only hardware interrupts (irqfreq, irqlog, irqstats), by number or name where any are given: --irq=27, --irq='virtio*'. With
    /// --softirq, both
    #[arg(long, value_name = "IRQ", value_delimiter = ',', num_args = 0.., require_equals = true, value_parser = interrupt::<i32>, help_heading = "Filters")]
    pub(crate) irq: Option<Vec<Interrupt<i32>>>,
    /// Only softirqs (irqfreq, irqlog, irqstats), by vector or name where any are given: --softirq=3, `--softirq=net_rx`. With --irq,
    /// both
    #[arg(long, value_name = "SOFTIRQ", value_delimiter = ',', num_args = 0.., require_equals = true, value_parser = interrupt::<u32>, help_heading = "Filters")]
    pub(crate) softirq: Option<Vec<Interrupt<u32>>>,
    /// Only these file descriptors (fds)
    #[arg(long = "fd", value_name = "FD", value_delimiter = ',', value_parser = number::<i32>, help_heading = "Filters")]
    pub(crate) fds: Vec<i32>,
    /// Only these system calls (syscalls, syscallstats); `*` stands for anything, `?` for one character
    #[arg(long = "call", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) calls: Vec<String>,
    /// Only calls that ended in these errors, ENOENT or 2 (syscalls)
    #[arg(long = "errno", value_name = "ERROR", value_delimiter = ',', value_parser = error, help_heading = "Filters")]
    pub(crate) errors: Vec<u16>,
    /// Show what all CPUs ran when each of the calls ended (syscalls): a row for each CPU and call, so ask for few calls
    #[arg(long, conflicts_with = "at")]
    pub(crate) around: bool,
    /// By process instead of by thread (cputop, syscallstats)
    #[arg(long)]
    pub(crate) by_process: bool,
    /// Sort the tables that have this column by it: figures the greatest first, names and times in their order. Columns have the names
    /// that --format csv gives; `_ns` may be left out
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// Show at most N rows of each table; 0: all [default: as text, 10 of the tables that begin with the greatest; else all]
    #[arg(long, value_name = "N", value_parser = number::<usize>)]
    pub(crate) limit: Option<usize>,
    /// Show at most N rows of each distribution (irqfreq, schedfreq) [default: 20]
    #[arg(long, value_name = "N", value_parser = bars)]
    pub(crate) bars: Option<usize>,
    /// Distributions in rows of equal width, not of growing width (irqfreq, schedfreq)
    #[arg(long)]
    pub(crate) linear: bool,
    /// Show about N rows of each thread at most: those that share a pixel of the window become one (states)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pixels: Option<u32>,
    /// The store to use, which `isochrone index -o` made (states) [default: in the cache, made if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Cut each host's trace into so many pieces that are analysed apart and merged: the result is the same
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
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
    /// One JSON document for each analysis
    Json,
    /// One JSON object for each row, with the names of the columns as keys; times also in seconds, as text
    Jsonl,
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
            let near = did_you_mean(name.trim(), known.iter().copied());
            if Path::new(text).exists() {
                return format!(
                    "`{text}` is a path: the analysis comes first, as in `isochrone analyze cputop {text}`"
                );
            }
            format!("no analysis is called `{name}`{near} [possible values: {}]", known.join(", "))
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
        _ => return Err("unknown unit: give ns, us, ms or s".to_owned()),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let wrong = || "not a valid duration: give one such as 250us or 1.5ms".to_owned();
    if part.len() > digits_after || (whole.is_empty() && part.is_empty()) {
        return Err(wrong());
    }
    // Exact: the digits behind the point are filled up to ns.
    format!("{whole}{part:0<digits_after$}").parse().map_err(|_| wrong())
}

fn bars(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| "not a number from 1 to 1000".to_owned())
}

pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "not a number".to_owned())
}

/// CPUs with higher numbers are not asked for as a range: each of them is kept.
const MOST_CPUS: u32 = 1 << 16;

/// `2` or `0-3`.
pub(super) fn cpus(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok().zip(last.parse().ok()).map(|(first, last): (u32, u32)| first..=last);
    let known = range.filter(|cpus| !cpus.is_empty() && cpus.end() - cpus.start() < MOST_CPUS);
    known.ok_or_else(|| "not a CPU or a range of CPUs, as in 0-3".to_owned())
}

/// An interrupt by number or name.
fn interrupt<N: FromStr>(text: &str) -> Result<Interrupt<N>, String> {
    match text.parse() {
        Ok(number) => Ok(Interrupt::Number(number)),
        Err(_) if text.is_empty() || text.parse::<f64>().is_ok() => {
            Err("not the number or name of an interrupt".to_owned())
        }
        Err(_) => Ok(Interrupt::Name(WildMatch::new(text))),
    }
}

/// An error by name or number.
fn error(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (1..=4095).contains(number));
    number.or_else(|| errno_of(text)).ok_or_else(|| {
        format!("unknown errno `{text}`: give a name such as ENOENT, or a number from 1 to 4095")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_and_ranges() {
        let check = |text, expect: Option<RangeInclusive<u32>>| assert_eq!(cpus(text).ok(), expect, "{text}");
        check("3", Some(3..=3));
        check("0-3", Some(0..=3));
        check("3-0", None);
        check("0-4294967295", None);
        check("-1", None);
        check("", None);
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
