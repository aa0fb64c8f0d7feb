//! `isochrone events`.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use isochrone_periods::{Condition, Field};

use super::analyze::cpus;
use super::common::{Clock, Threads, TimeWindow, number};
use super::time::Zone;

/// `isochrone events`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of the command line.
pub(crate) struct Events {
    /// Traces, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// How to print events
    #[arg(long, value_enum, default_value_t = EventFormat::Text)]
    pub(crate) format: EventFormat,
    #[command(flatten)]
    pub(crate) filters: EventFilters,
    /// Only events of these threads or processes, by number, and of all that they create; and their
    /// switches and wake-ups
    #[arg(long = "follow", value_name = "NUMBER", value_delimiter = ',', value_parser = number::<i32>, help_heading = "Filters")]
    pub(crate) follow: Vec<i32>,
    /// Count these events instead of printing them: by host and name, or by what --by names
    #[arg(long, conflicts_with_all = ["explain", "bounds", "date"], help_heading = "Counts")]
    pub(crate) count: bool,
    /// With --count: by these fields, named as in --where; `$host`, `$event` and `$cpu` may be among them.
    /// Events without such a field are counted as `-`
    #[arg(
        long,
        value_name = "FIELD",
        value_delimiter = ',',
        value_parser = Field::parse,
        requires = "count",
        help_heading = "Counts"
    )]
    pub(crate) by: Vec<Field>,
    /// Show only the first N of all these events; with --count, the N most frequent
    #[arg(long, value_name = "N", help_heading = "Filters")]
    pub(crate) limit: Option<NonZeroU64>,
    /// Print dates as well as times of day
    #[arg(long)]
    pub(crate) date: bool,
    /// Show behind each event what the kernel's events tell of it: whose it is, the system call that its
    /// thread is in, the file or the peer of each descriptor that it names; and behind the end of a system
    /// call or of a phase (`request_end` after `request_begin`) where its time went: on CPUs, in waits and
    /// who ended them, and who took the CPU. Traces are indexed first
    #[arg(long, help_heading = "Explanations")]
    pub(crate) explain: bool,
    /// With --explain: fields of these names are descriptors, too; `fd`, `oldfd`, `in_fd` and the like are
    /// known
    #[arg(
        long = "fd-field",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "explain",
        help_heading = "Explanations"
    )]
    pub(crate) fd_fields: Vec<String>,
    /// With --explain: show also where the time of these periods went, behind the events that end them:
    /// `[NAME[(PARENT)]] : BEGIN [: END]`, as `isochrone analyze --period` has them. May be repeated
    #[arg(long = "period", value_name = "PERIOD", requires = "explain", help_heading = "Explanations")]
    pub(crate) periods: Vec<String>,
    /// Show the bounds of each time on the common clock, and mark with `~` events that may have happened
    /// before the line above, which is of another host
    #[arg(long, help_heading = "Times")]
    pub(crate) bounds: bool,
}

/// Which events.
#[derive(Debug, Args)]
pub(crate) struct EventFilters {
    #[command(flatten)]
    pub(crate) window: TimeWindow,
    /// Only events of these names; `*` stands for anything
    #[arg(long = "event", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) names: Vec<String>,
    /// Only events of these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) of: Threads,
    /// Only events on these CPUs: 2, or 0-3,8
    #[arg(long = "cpu", value_name = "CPU", value_delimiter = ',', value_parser = cpus, help_heading = "Filters")]
    pub(crate) cpus: Vec<RangeInclusive<u32>>,
    /// Only events for which this holds: fields by their names, `$host`, `$event` and `$cpu`, integers and
    /// texts in quotes (with `*` and
    /// `?`), compared with == != < <= > >= and combined with && || ! and parentheses. A comparison with a
    /// field that an event does not have is false. The language is that of --period (`isochrone analyze`):
    /// `$evt.$ctx.tid` is a context, `$evt.$pkt_ctx.cpu_id` one of the packet
    #[arg(long = "where", value_name = "CONDITION", value_parser = Condition::parse, help_heading = "Filters")]
    pub(crate) condition: Option<Condition>,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// One line an event, as babeltrace2 writes them
    Text,
    /// One JSON object a line; `jsonl` means the same
    #[value(alias = "jsonl")]
    Json,
    /// Comma-separated values below a header line: time, host, CPU and name, contexts and fields as JSON
    /// objects
    Csv,
}
