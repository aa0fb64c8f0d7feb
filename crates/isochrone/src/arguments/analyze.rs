//! `isochrone analyze`, and the analyses that are commands by their own names.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use isochrone_analysis::{AnalysisKind, Interrupt};
use isochrone_strace::errno_of;
use wildmatch::WildMatch;

use super::common::{Clock, Cluster, Threads, TimeWindow, at_least_one, number};
use super::options::{GivenOptions, PHASES, STATES, STORED};
use super::time::{TimeArg, Zone, duration};
use crate::suggest::did_you_mean;

const EXAMPLES: &str = "Examples:\n  \
    isochrone analyze cputop web/                              threads by CPU time\n  \
    isochrone analyze cputop web/ app/ db/                     of three hosts, on one clock\n  \
    isochrone analyze syscallstats --procname 'postgres*' db/  the calls of one program\n  \
    isochrone analyze irqstats,schedfreq db/                   two analyses, one pass\n  \
    isochrone analyze schedtop --min 1ms web/                  the longest waits for a CPU\n  \
    isochrone analyze syscallstats --sort p99 --by-process db/ the slowest system calls of each process\n  \
    isochrone analyze fds --tid 842 --at 12:30:01.5 web/       what was open in thread 842 then\n  \
    isochrone analyze iousagetop --by-process db/              which process read and wrote which files\n  \
    isochrone analyze usage --every 100ms web/ app/ db/        CPU, memory, disks, network over time\n  \
    isochrone analyze syscalls --errno ENOSPC --around db/     calls that failed on a full disk, and what else ran\n  \
    isochrone analyze phases thumbnails/                       where the time of each phase of a program went\n  \
    isochrone analyze states --tid 842 --begin 12:30:01 --end 12:30:02 web/   what thread 842 did in that second\n  \
    isochrone analyze cputop --format jsonl web/ | jq 'select(.percent > 10)'\n\n\
    Events that are enough for all of them:\n  \
    lttng enable-event --kernel 'sched_*','irq_*','timer_hrtimer_expire_*'\n  \
    lttng enable-event --kernel net_dev_queue,net_dev_xmit,net_if_receive_skb\n  \
    lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'\n  \
    lttng enable-event --kernel 'x86_exceptions_page_fault_*'\n  \
    lttng enable-event --kernel --syscall --all\n  \
    lttng add-context --kernel --type tid --type pid --type procname\n\n\
    The contexts tid, pid and procname identify threads from the first event on; a state \
    dump (LTTng writes one by itself) has the files that were open.\n\n\
    Time that a trace does not account for is unknown, not idle: before the first switch of a CPU, and where events or a chunk \
    are missing. CPU time is cut at --begin and --end; calls, interrupts and waits count where they end.";

/// The list of analyses, and examples.
pub(super) fn help() -> String {
    let kinds = AnalysisKind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    let lines = kinds
        .chain(STORED.map(|stored| (stored.name, stored.about)))
        .map(|(name, about)| format!("  {name:<14} {about}\n"));
    format!("Analyses:\n{}\n{EXAMPLES}", lines.collect::<String>())
}

/// `isochrone analyze`: names of analyses, and their options.
#[derive(Debug, Args)]
pub(crate) struct AnalyzeNamed {
    /// The analysis; several, separated by commas, take one pass together and are shown in this order
    #[arg(value_name = "NAME", value_parser = names)]
    pub(crate) names: Names,
    #[command(flatten)]
    pub(crate) analyze: Analyze,
}

/// The options of analyses.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of the command line.
pub(crate) struct Analyze {
    /// Traces, of one host or many; the chunks of a rotated session belong together
    #[arg(required_unless_present_any = ["metadata", "mi_version"], value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Show the bounds of each time of a table on the common clock
    #[arg(long, help_heading = "Times")]
    pub(crate) bounds: bool,
    #[command(flatten)]
    pub(crate) window: TimeWindow,
    /// The state at this instant (processes, fds, syscalls): threads, open descriptors, calls in progress
    #[arg(
        long,
        value_name = "TIME",
        value_parser = TimeArg::parse,
        allow_hyphen_values = true,
        conflicts_with_all = ["begin", "end"]
    )]
    pub(crate) at: Option<TimeArg>,
    /// Only these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) of: Threads,
    /// Only these CPUs: 2, or 0-3,8
    #[arg(long = "cpu", value_name = "CPU", value_delimiter = ',', value_parser = cpus, help_heading = "Filters")]
    pub(crate) cpus: Vec<RangeInclusive<u32>>,
    /// Only calls, interrupts, waits, phases and periods that take this long or longer: 250us, 1.5ms; without
    /// a unit ns
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) min: Option<u64>,
    /// Only calls, interrupts, waits, phases and periods that take this long or less
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Filters")]
    pub(crate) max: Option<u64>,
    /// Only I/O calls and requests to disks that move this many bytes or more: 4096, 64KiB, 1MiB (io*)
    #[arg(long = "minsize", value_name = "SIZE", value_parser = size, help_heading = "Filters")]
    pub(crate) min_size: Option<u64>,
    /// Only I/O calls and requests to disks that move this many bytes or fewer (io*)
    #[arg(long = "maxsize", value_name = "SIZE", value_parser = size, help_heading = "Filters")]
    pub(crate) max_size: Option<u64>,
    /// Only hardware interrupts (irqfreq, irqlog, irqstats); with a value, those of a number or name:
    /// --irq=27, --irq='virtio*'. Together with --softirq: both kinds
    #[arg(long, value_name = "IRQ", value_delimiter = ',', num_args = 0.., require_equals = true, value_parser = interrupt::<i32>, help_heading = "Filters")]
    pub(crate) irq: Option<Vec<Interrupt<i32>>>,
    /// Only softirqs (irqfreq, irqlog, irqstats); with a value, those of a vector or name: --softirq=3,
    /// `--softirq=net_rx`. Together with --irq: both kinds
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
    /// Show what all CPUs ran when each of the calls ended (syscalls): a row for each CPU and call, so choose
    /// few calls
    #[arg(long, conflicts_with = "at")]
    pub(crate) around: bool,
    /// By process instead of by thread (cputop, iousagetop, memtop, syscallstats)
    #[arg(long, help_heading = "Tables")]
    pub(crate) by_process: bool,
    /// Sort the tables that have this column by it: numbers in descending, names and times in ascending
    /// order. Columns have the names that --format csv prints; `_ns` may be left out
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    pub(crate) sort: Option<String>,
    /// Show at most N rows of each table; 0: all [default: as text, 10 of the tables that start with the
    /// greatest; else all]
    #[arg(long, alias = "top", value_name = "N", value_parser = number::<usize>, help_heading = "Tables")]
    pub(crate) limit: Option<usize>,
    /// Show at most N rows of each distribution (irqfreq, schedfreq, iolatencyfreq) [default: 20]
    #[arg(long, value_name = "N", value_parser = bars, help_heading = "Tables")]
    pub(crate) bars: Option<usize>,
    /// Distributions in bins of equal width instead of growing width (irqfreq, schedfreq, iolatencyfreq)
    #[arg(long, help_heading = "Tables")]
    pub(crate) linear: bool,
    /// Length of the steps of tables over time (usage): 100ms, 1s; steps start at whole multiples of it
    /// [default: some dozens of steps]
    #[arg(long, value_name = "DURATION", value_parser = step, help_heading = "Tables")]
    pub(crate) every: Option<u64>,
    /// Only within periods, and by period: `[NAME[(PARENT)]] : BEGIN [: END]`, with expressions as those of
    /// events --where, in which END may compare with `$begin.$evt.FIELD`, and both with
    /// `$parent.$begin.$evt.FIELD`. Of phases and of periodlog, periodtop, periodstats and periodfreq: these
    /// instead of what programs recorded. May be repeated
    #[arg(long = "period", value_name = "PERIOD", conflicts_with_all = ["at", "around"], help_heading = "Filters")]
    pub(crate) periods: Vec<String>,
    /// Fields of the first and last event of a period to show (periodlog, periodtop):
    /// `NAME : [irq =] $evt.irq, … [: [ret =] $evt.ret, …]`
    #[arg(long = "period-captures", value_name = "CAPTURES", requires = "periods", help_heading = "Tables")]
    pub(crate) period_captures: Vec<String>,
    /// Maximum number of rows of each thread, approximately: states within the same Nth of the window become
    /// one (states)
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Tables"
    )]
    pub(crate) pixels: Option<u32>,
    /// The store to use, built by `isochrone index -o` (states, phases, --at) [default: in the cache, built
    /// if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// What to print: tables for people, comma-separated values, or JSON; text leaves out columns that do not
    /// fit
    #[arg(long, value_enum, default_value_t = TableFormat::Text, help_heading = "Tables")]
    pub(crate) format: TableFormat,
    /// Print the description of the tables instead of results (--format lami)
    #[arg(long, help_heading = "LAMI")]
    pub(crate) metadata: bool,
    /// Print the version of the interface instead of results (--format lami)
    #[arg(long, help_heading = "LAMI", conflicts_with = "metadata")]
    pub(crate) mi_version: bool,
    /// Only check, by the exit status, that the traces have what the analysis needs (--format lami)
    #[arg(long, help_heading = "LAMI", conflicts_with_all = ["metadata", "mi_version"])]
    pub(crate) test_compatibility: bool,
    /// Print lines with the progress of the work before the document (--format lami)
    #[arg(long, help_heading = "LAMI")]
    pub(crate) output_progress: bool,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME", help_heading = "Tables")]
    pub(crate) table: Option<String>,
    /// Number of cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Split each host's trace into N pieces that are analysed separately and merged; the result is the same
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) chunks: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// The options that were typed.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// The analyses that are requested.
#[derive(Debug, Clone)]
pub(crate) enum Names {
    /// These analyses, in one pass.
    Kinds(Vec<AnalysisKind>),
    /// What threads did, from a store.
    States,
    /// Where the time of phases went, from a store.
    Phases,
}

/// An analysis as a command, with the options of `isochrone analyze`.
#[derive(Debug, Subcommand)]
pub(crate) enum Short {
    #[command(
        about = STORED[0].about,
        after_help = "The same as `isochrone analyze phases`.\n\nExample:\n  \
            isochrone phases thumbnails/   where the time of each phase of a program went"
    )]
    Phases(Box<Analyze>),
    #[command(
        about = STORED[1].about,
        after_help = "The same as `isochrone analyze states`.\n\nExample:\n  \
            isochrone states --tid 842 --begin 12:30:01 --end 12:30:02 web/   what thread 842 did in that second"
    )]
    States(Box<Analyze>),
}

impl Short {
    /// Its options.
    pub(super) fn analyze(&self) -> &Analyze {
        let (Self::Phases(analyze) | Self::States(analyze)) = self;
        analyze
    }

    pub(super) fn analyze_mut(&mut self) -> &mut Analyze {
        let (Self::Phases(analyze) | Self::States(analyze)) = self;
        analyze
    }

    /// The same as `isochrone analyze`.
    pub(crate) fn into_analyze(self) -> AnalyzeNamed {
        match self {
            Self::Phases(analyze) => AnalyzeNamed { names: Names::Phases, analyze: *analyze },
            Self::States(analyze) => AnalyzeNamed { names: Names::States, analyze: *analyze },
        }
    }
}

/// What pieces hold.
#[derive(Debug, Clone)]
pub(crate) enum MapNames {
    /// What these analyses keep.
    Kinds(Vec<AnalysisKind>),
    /// All spans, from which a store can be made.
    Spans {
        /// With the arguments of system calls.
        arguments: bool,
    },
}

/// The name of pieces that hold all spans.
pub(crate) const SPANS: &str = "spans";

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
    /// One JSON document in the form of lttng-analyses (LAMI 1.0), as Trace Compass runs external analyses
    Lami,
}

/// Parses names of analyses, separated by commas.
pub(super) fn names(text: &str) -> Result<Names, String> {
    match text.trim() {
        STATES => return Ok(Names::States),
        PHASES => return Ok(Names::Phases),
        _ => {}
    }
    if let Some(name) = STORED
        .iter()
        .map(|stored| stored.name)
        .find(|&stored| text.split(',').any(|name| name.trim() == stored))
    {
        return Err(format!("`{name}` is read from a store and cannot be combined with other analyses"));
    }
    let kind = |name: &str| {
        AnalysisKind::of(name.trim()).ok_or_else(|| {
            let known: Vec<_> = AnalysisKind::ALL
                .iter()
                .map(|kind| kind.name())
                .chain(STORED.map(|stored| stored.name))
                .collect();
            let similar = did_you_mean(name.trim(), known.iter().copied());
            if Path::new(text).exists() {
                return format!(
                    "`{text}` is a path: the analysis comes first, as in `isochrone analyze cputop {text}`"
                );
            }
            format!("no analysis is called `{name}`{similar} [possible values: {}]", known.join(", "))
        })
    };
    text.split(',').map(kind).collect::<Result<_, _>>().map(Names::Kinds)
}

/// Parses names of analyses, or `spans`, or an analysis that is read from a store, for which pieces hold
/// spans.
pub(super) fn map_names(text: &str) -> Result<MapNames, String> {
    if let Some(place) = text.split(',').position(|name| name.trim() == SPANS) {
        let others: Vec<&str> = text
            .split(',')
            .map(str::trim)
            .enumerate()
            .filter(|&(at, _)| at != place)
            .map(|(_, name)| name)
            .collect();
        return match others.as_slice() {
            [] => Ok(MapNames::Spans { arguments: false }),
            [other] if *other == AnalysisKind::Syscalls.name() => Ok(MapNames::Spans { arguments: true }),
            _ => Err(format!(
                "`{SPANS}` serves all analyses: beside it, only `syscalls` means more, the arguments of calls"
            )),
        };
    }
    Ok(match names(text)? {
        Names::Kinds(kinds) => MapNames::Kinds(kinds),
        Names::States | Names::Phases => MapNames::Spans { arguments: false },
    })
}

/// Parses the length of a step, ns.
pub(super) fn step(text: &str) -> Result<u64, String> {
    duration(text).and_then(|ns| if ns < 1_000 { Err("less than 1us".to_owned()) } else { Ok(ns) })
}

/// Parses a number of bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return Err("unknown unit: give bytes, KiB, MiB or GiB".to_owned()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "not a valid size: give one such as 4096 or 64KiB".to_owned())
}

fn bars(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| "not a number from 1 to 1000".to_owned())
}

/// Maximum number of CPUs of a range, each of which is kept.
const MAX_CPUS: u32 = 1 << 16;

/// Parses `2` or `0-3`.
pub(super) fn cpus(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok().zip(last.parse().ok()).map(|(first, last): (u32, u32)| first..=last);
    let valid = range.filter(|cpus| !cpus.is_empty() && cpus.end() - cpus.start() < MAX_CPUS);
    valid.ok_or_else(|| "not a CPU or a range of CPUs, as in 0-3".to_owned())
}

/// Parses the number or name of an interrupt.
fn interrupt<N: FromStr>(text: &str) -> Result<Interrupt<N>, String> {
    match text.parse() {
        Ok(number) => Ok(Interrupt::Number(number)),
        Err(_) if text.is_empty() || text.parse::<f64>().is_ok() => {
            Err("not the number or name of an interrupt".to_owned())
        }
        Err(_) => Ok(Interrupt::Name(WildMatch::new(text))),
    }
}

/// Parses the name or number of an error.
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
    fn sizes() {
        let check = |text, expect: Option<u64>| assert_eq!(size(text).ok(), expect, "{text}");
        check("4096", Some(4096));
        check("64KiB", Some(65536));
        check("2 m", Some(2 << 20));
        check("17179869184GiB", None);
        check("1.5k", None);
        check("KiB", None);
        check("4 pages", None);
    }
}
