//! Analyses across hosts: of requests, of CPU time by client, of waits, of messages.

use std::ffi::OsString;
use std::str::FromStr;

use clap::{Args, Subcommand};
use isochrone_crosshost::{Endpoint, Service};

use super::analyze::{TableFormat, step};
use super::common::{HostNumber, Sources, Threads};
use super::span_id::SpanId;

/// Analyses across hosts, as commands. `isochrone analyze NAME` is the same: see [`with_command_first`].
#[derive(Debug, Subcommand)]
pub(crate) enum CrossHost {
    /// CPU time by client: what each used itself, and what servers used for it, across hosts
    #[command(after_help = "Examples:\n  \
        isochrone accounting web/ app/ db/                              CPU time by client\n  \
        isochrone accounting --table requests --sort cpu web/ app/ db/  the most expensive requests\n\n\
        A client's `self` is its own CPU time, `sub` that of the servers while it waited for them, through all tiers, `total` both. What \
        a server did while no client waited is `unattributed`. Record on every host what `isochrone critical-path` needs.")]
    Accounting(Box<AcrossHosts>),
    /// Which resource of each host is the bottleneck: CPUs, disks, network devices, memory or locks
    #[command(after_help = "Examples:\n  \
        isochrone bottleneck web/ app/ db/                       a line for each host, and its figures\n  \
        isochrone bottleneck --table steps --every 100ms web/    the same over time\n\n\
        A resource is saturated where a thread waits for it in at least 25 % of the time, or where it \
        is busy in at least 90 %; in all of the time, else while requests are in progress. Else it is \
        the one that requests spend at least 33 % of their time on. \
        Record on every host what `isochrone critical-path` needs.")]
    Bottleneck(Box<Bottleneck>),
    /// Where requests spent their time, across all hosts: on CPUs, in waits, on the network
    #[command(
        name = "critical-path",
        after_help = "Examples:\n  \
        isochrone critical-path web/ app/ db/                        the slowest request, and where all requests spent their time\n  \
        isochrone critical-path --service 8080 --request 14 web/ app/ db/    one request\n  \
        isochrone critical-path --service redis-server web/ app/ db/         of one program\n  \
        isochrone critical-path --phase thumbnail web/ app/ db/              phases of a program, through all hosts\n  \
        isochrone critical-path --thread web:842 --begin 12:30:01 --end 12:30:02 web/ app/\n  \
        isochrone critical-path --format json web/ app/ db/ | jq '.tables[].name'\n\n\
        A request starts when its client sends it (or connects for it) and ends when the client has read the answer. It is followed \
        back from its end, from each wait to what ended it: the thread, timer or disk that woke, or the packet and its sender. \
        Record on every host:\n  \
        lttng enable-event --kernel 'sched_*','irq_*','timer_hrtimer_expire_*'\n  \
        lttng enable-event --kernel net_dev_queue,net_dev_xmit,net_if_receive_skb\n  \
        lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'\n  \
        lttng enable-event --kernel 'x86_exceptions_page_fault_*'\n  \
        lttng enable-event --kernel --syscall --all\n  \
        lttng add-context --kernel --type tid --type pid --type procname"
    )]
    CriticalPath(Box<CriticalPath>),
    /// What threads waited for, in which calls, on which descriptors, and what ended their waits
    #[command(after_help = "Examples:\n  \
        isochrone blocking web/                                  time in waits, by process and cause\n  \
        isochrone blocking --procname 'nginx*' web/ app/ db/     of one program\n  \
        isochrone blocking --tid 842 --table waits web/          each wait of a thread\n  \
        isochrone blocking --dot web/ app/ | dot -Tsvg -o waits.svg    waits between processes as a graph, with Graphviz\n\n\
        A wait ends when the thread can run again. It is ended by the thread that woke it, on another host by the one that sent the packet. \
        Record on every host what `isochrone critical-path` needs.")]
    Blocking(Box<Blocking>),
    /// Communication between processes, across hosts: sockets, pipes, locks, signals, forks, and waits
    #[command(after_help = "Examples:\n  \
        isochrone ipc web/ app/ db/                              as a table\n  \
        isochrone ipc --dot web/ app/ db/ | dot -Tsvg -o ipc.svg    as a graph, with Graphviz")]
    Ipc(Box<Ipc>),
    /// Latencies of packets between hosts, by link and connection, with the uncertainty of the clocks
    #[command(after_help = "Examples:\n  \
        isochrone messages web/ app/ db/                         by link and connection\n  \
        isochrone messages --table conversations web/ app/ db/   both directions of each connection\n  \
        isochrone messages --follow 10.0.0.2:42538 web/ app/     each packet of one connection, in order\n  \
        isochrone messages --table messages --format csv web/ app/    each of them\n\n\
        One-way latencies have the uncertainty of the clocks of both hosts (`uncertainty`). Round trips do not depend on clocks: \
        departure to return, less the time at the other host.")]
    Messages(Box<Messages>),
}

/// Replaces `analyze NAME` by the command of that name, if it is one of [`CrossHost`]. Options may be
/// between the two, with their values, if those of `line` take any.
pub(crate) fn with_command_first(
    arguments: impl IntoIterator<Item = OsString>,
    line: &clap::Command,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_option = |argument: &&OsString| argument.as_encoded_bytes().starts_with(b"-");
    let command = 1 + arguments.iter().skip(1).take_while(is_option).count();
    if arguments.get(command).is_none_or(|it| it != "analyze") {
        return arguments;
    }
    let takes_value = |option: &OsString| {
        let commands = line
            .get_subcommands()
            .filter(|it| it.get_name() == "analyze" || CrossHost::has_subcommand(it.get_name()));
        let mut options = commands.flat_map(clap::Command::get_arguments);
        let Some(long) = option.to_str().and_then(|option| option.strip_prefix("--")) else { return false };
        options.any(|it| it.get_long() == Some(long) && it.get_action().takes_values())
    };
    let is_value = |index: usize| takes_value(&arguments[index - 1]);
    let first = (command + 1..arguments.len()).find(|&it| !is_option(&&arguments[it]) && !is_value(it));
    let is_command = |&index: &usize| arguments[index].to_str().is_some_and(CrossHost::has_subcommand);
    if let Some(index) = first.filter(is_command) {
        let name = arguments.remove(index);
        arguments[command] = name;
    }
    arguments
}

impl CrossHost {
    /// The options that all of them have.
    pub(super) fn common(&self) -> &AcrossHosts {
        match self {
            Self::Accounting(common) => common,
            Self::Messages(of) => &of.common,
            Self::Bottleneck(of) => &of.common,
            Self::CriticalPath(of) => &of.common,
            Self::Blocking(of) => &of.common,
            Self::Ipc(of) => &of.common,
        }
    }
}

/// The options that all analyses across hosts have.
#[derive(Debug, Args)]
pub(crate) struct AcrossHosts {
    /// Sort the tables that have this column by it: numbers in descending, names and times in ascending
    /// order
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// Show at most N rows of each table; 0: all [default: as text, 10 of the tables that start with the
    /// greatest; else all]
    #[arg(long, alias = "top", value_name = "N", value_parser = super::common::number::<usize>)]
    pub(crate) limit: Option<usize>,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all
    /// columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// Only rows in which one of these hosts is
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// `isochrone bottleneck`.
#[derive(Debug, Args)]
pub(crate) struct Bottleneck {
    /// Length of steps: 1ms, 100ms, 1s; they start at whole multiples of it [default: some dozens of steps]
    #[arg(long, value_name = "DURATION", value_parser = step)]
    pub(crate) every: Option<u64>,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// Which requests.
#[derive(Debug, Args)]
pub(crate) struct OfRequests {
    /// Requests of this service: a port, an address with its port, or the name of its program; `*` stands
    /// for anything, `?` for one character [default: all services whose clients are not servers themselves]
    #[arg(long, value_name = "PORT|NAME", value_parser = service)]
    pub(crate) service: Option<Service>,
    /// Follow phases of programs with these names instead of requests (`lttng-ust` events start and end
    /// them: see `isochrone phases`); `*` stands for anything, `?` for one character
    #[arg(long = "phase", value_name = "NAME", value_delimiter = ',', conflicts_with = "service")]
    pub(crate) phases: Vec<String>,
}

/// `isochrone critical-path`.
#[derive(Debug, Args)]
pub(crate) struct CriticalPath {
    #[command(flatten)]
    pub(crate) of: OfRequests,
    /// Draw this request [default: the slowest]
    #[arg(long, value_name = "N")]
    pub(crate) request: Option<usize>,
    /// Follow this thread from --begin to --end instead of requests: a number, or HOST:TID
    #[arg(long, value_name = "TID", value_parser = HostNumber::parse, conflicts_with_all = ["service", "request", "phases"])]
    pub(crate) thread: Option<HostNumber>,
    /// Follow the thread of a span of OpenTelemetry, from its start to its end, instead of requests: by its
    /// id, or all spans of a trace by that of the trace
    #[arg(long, value_name = "ID", conflicts_with_all = ["service", "phases", "thread"])]
    pub(crate) span: Option<SpanId>,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// `isochrone blocking`.
#[derive(Debug, Args)]
pub(crate) struct Blocking {
    #[command(flatten)]
    pub(crate) of: Threads,
    /// Print the waits between processes as a graph in the DOT language of Graphviz
    #[arg(long, conflicts_with_all = ["format", "table", "sort", "limit", "hosts"])]
    pub(crate) dot: bool,
    /// Below each wait, what the thread that ended it did meanwhile, and what its waits in turn were for,
    /// across hosts
    #[arg(long, conflicts_with_all = ["dot", "table", "sort", "limit", "hosts"])]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// `isochrone ipc`.
#[derive(Debug, Args)]
pub(crate) struct Ipc {
    /// Print the graph in the DOT language of Graphviz
    #[arg(long, conflicts_with_all = ["format", "table", "sort", "limit", "hosts"])]
    pub(crate) dot: bool,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// `isochrone messages`.
#[derive(Debug, Args)]
pub(crate) struct Messages {
    /// Each packet from and to this address, or between two of them: `10.0.0.2:8080`, `[fd00::2]:8080` or
    /// `10.0.0.2`, in the order in which they were sent; from the call that wrote it to the one that read it
    #[arg(long, value_name = "ADDRESS[,ADDRESS]", value_delimiter = ',', value_parser = Endpoint::from_str)]
    pub(crate) follow: Vec<Endpoint>,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

fn service(text: &str) -> Result<Service, String> {
    Service::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_by_both_names() {
        let check = |text: &str, expect: &str| {
            let line = crate::arguments::Arguments::command_line();
            let found = with_command_first(text.split(' ').map(OsString::from), &line);
            assert_eq!(found.join(" ".as_ref()), expect, "{text}");
        };
        check("isochrone analyze ipc web", "isochrone ipc web");
        check("isochrone -q analyze critical-path web", "isochrone -q critical-path web");
        check("isochrone analyze cputop ipc", "isochrone analyze cputop ipc");
        check("isochrone info analyze ipc", "isochrone info analyze ipc");
        check("isochrone analyze --format json ipc web", "isochrone ipc --format json web");
        check("isochrone analyze -q --limit=3 ipc web", "isochrone ipc -q --limit=3 web");
        check("isochrone analyze --no-sync ipc web", "isochrone ipc --no-sync web");
        check("isochrone analyze --host ipc cputop web", "isochrone analyze --host ipc cputop web");
        check("isochrone", "isochrone");
        check("isochrone analyze", "isochrone analyze");
    }
}
