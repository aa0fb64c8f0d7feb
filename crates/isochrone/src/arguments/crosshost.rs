//! What can be asked across hosts: of requests, of who works for whom, of messages.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use isochrone_crosshost::Service;

use super::analyze::TableFormat;
use super::clock::Clock;
use super::time::{Given, Zone, given};

/// Questions across hosts, as commands. `isochrone analyze NAME` is the same: see [`spelled_short`].
#[derive(Debug, Subcommand)]
pub(crate) enum CrossHost {
    /// Who pays for the CPU that servers use: each client with what it used itself and what was done for it, across hosts
    #[command(after_help = "Examples:\n  \
        isochrone accounting web/ app/ db/                              who pays\n  \
        isochrone accounting --table requests --sort cpu web/ app/ db/  the dearest requests\n\n\
        A client's `self` is its own CPU time, `sub` that of the servers while it waited for them, through all tiers, `total` both. What \
        a server did for nobody who waited is `unattributed`. Record on every host what `isochrone critical-path` needs.")]
    Accounting(Box<Accounting>),
    /// Where requests spent their time, across all hosts: on CPUs, waiting for whom, on the network
    #[command(
        name = "critical-path",
        after_help = "Examples:\n  \
        isochrone critical-path web/ app/ db/                        the slowest request, and what all of them spent their time on\n  \
        isochrone critical-path --service 8080 --request 14 web/ app/ db/    one request\n  \
        isochrone critical-path --service redis-server web/ app/ db/         of one program\n  \
        isochrone critical-path --phase thumbnail web/ app/ db/              phases of a program, through all hosts\n  \
        isochrone critical-path --thread web:842 --begin 12:30:01 --end 12:30:02 web/ app/\n  \
        isochrone critical-path --format json web/ app/ db/ | jq '.tables[].name'\n\n\
        A request begins when its client sends it (or connects for it) and ends when the client has read the answer. It is followed \
        back from its end, from each wait to what ended it: the thread, timer or disk that woke, or the packet, and who sent that. \
        Record on every host:\n  \
        lttng enable-event --kernel 'sched_*','irq_*','timer_hrtimer_expire_*'\n  \
        lttng enable-event --kernel net_dev_queue,net_dev_xmit,net_if_receive_skb\n  \
        lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'\n  \
        lttng enable-event --kernel --syscall --all\n  \
        lttng add-context --kernel --type tid --type pid --type procname"
    )]
    CriticalPath(Box<CriticalPath>),
    /// What threads waited for, in which calls, on which descriptors, and who ended their waits
    #[command(after_help = "Examples:\n  \
        isochrone blocking web/                                  what waits cost, by process and cause\n  \
        isochrone blocking --procname 'nginx*' web/ app/ db/     of one program\n  \
        isochrone blocking --tid 842 --table waits web/          each wait of a thread\n  \
        isochrone blocking --dot web/ app/ | dot -Tsvg -o waits.svg    who waits for whom, as a picture, with Graphviz\n\n\
        A wait ends when the thread can run again. Who ended it: the thread that woke it, on another host the one that sent the packet. \
        Record on every host what `isochrone critical-path` needs.")]
    Blocking(Box<Blocking>),
    /// Which processes have to do with which: sockets, pipes, locks, signals, forks, across hosts, and who waited for whom
    #[command(after_help = "Examples:\n  \
        isochrone ipc web/ app/ db/                              as a table\n  \
        isochrone ipc --dot web/ app/ db/ | dot -Tsvg -o ipc.svg    as a picture, with Graphviz")]
    Ipc(Box<Ipc>),
    /// How long packets take between hosts, per link and connection, with what their clocks leave open
    #[command(after_help = "Examples:\n  \
        isochrone messages web/ app/ db/                         by link and connection\n  \
        isochrone messages --table messages --format csv web/ app/    each of them\n\n\
        Latencies of one way are as sure as the clocks of both hosts (`uncertainty`). Round trips do not depend on clocks: departure to \
        return, less the time that the other host took.")]
    Messages(Box<Messages>),
}

/// Names of these commands.
const NAMES: [&str; 5] = ["accounting", "blocking", "critical-path", "ipc", "messages"];

/// Arguments in which `analyze NAME` is the command of that name, where there is one. Options may stand between the two, with their values as far as
/// those of `line` take any.
pub(crate) fn spelled_short(
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
        let commands =
            line.get_subcommands().filter(|it| it.get_name() == "analyze" || NAMES.contains(&it.get_name()));
        let mut known = commands.flat_map(clap::Command::get_arguments);
        let Some(long) = option.to_str().and_then(|option| option.strip_prefix("--")) else { return false };
        known.any(|it| it.get_long() == Some(long) && it.get_action().takes_values())
    };
    let is_value = |place: usize| takes_value(&arguments[place - 1]);
    let first = (command + 1..arguments.len()).find(|&it| !is_option(&&arguments[it]) && !is_value(it));
    if let Some(place) = first.filter(|&place| NAMES.iter().any(|known| arguments[place] == *known)) {
        let name = arguments.remove(place);
        arguments[command] = name;
    }
    arguments
}

impl CrossHost {
    /// What all of them have.
    pub(super) fn common(&self) -> &AcrossHosts {
        match self {
            Self::Accounting(asked) => &asked.common,
            Self::CriticalPath(asked) => &asked.common,
            Self::Blocking(asked) => &asked.common,
            Self::Ipc(asked) => &asked.common,
            Self::Messages(asked) => &asked.common,
        }
    }
}

/// What all questions across hosts have.
#[derive(Debug, Args)]
pub(crate) struct AcrossHosts {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Only what begins from this time on: any form in which a command prints one
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) begin: Option<Given>,
    /// Only what begins before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) end: Option<Given>,
    /// Sort the tables that have this column by it: figures the greatest first, names and times in their order
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// Show at most N rows of each table; 0: all [default: as text, 10 of the tables that begin with the greatest; else all]
    #[arg(long, value_name = "N", value_parser = super::analyze::number::<usize>)]
    pub(crate) limit: Option<usize>,
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// How many cores to use where the store has to be built [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// What `isochrone critical-path` can be asked.
#[derive(Debug, Args)]
pub(crate) struct CriticalPath {
    /// Requests of this service: a port, an address with its port, or the name of its program; `*` stands for anything, `?` for one
    /// character [default: of all services whose clients serve nobody themselves]
    #[arg(long, value_name = "PORT|NAME", value_parser = service)]
    pub(crate) service: Option<Service>,
    /// Follow phases of programs of these names instead of requests (`lttng-ust` events that begin and end them: see `isochrone phases`); `*`
    /// stands for anything, `?` for one character
    #[arg(long = "phase", value_name = "NAME", value_delimiter = ',', conflicts_with = "service")]
    pub(crate) phases: Vec<String>,
    /// Draw this request; the slowest, unless one is named
    #[arg(long, value_name = "N")]
    pub(crate) request: Option<usize>,
    /// Follow this thread from --begin to --end instead of requests: a number, or HOST:TID
    #[arg(long, value_name = "TID", value_parser = thread, conflicts_with_all = ["service", "request", "phases"])]
    pub(crate) thread: Option<ThreadName>,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// What `isochrone accounting` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Accounting {
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// What `isochrone blocking` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Blocking {
    /// Only these threads, by number
    #[arg(long = "tid", value_name = "TID", value_delimiter = ',', value_parser = super::analyze::number::<i32>, help_heading = "Filters")]
    pub(crate) tids: Vec<i32>,
    /// Only the threads of these processes, by number
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',', value_parser = super::analyze::number::<i32>, help_heading = "Filters")]
    pub(crate) pids: Vec<i32>,
    /// Only threads of these names; `*` stands for anything, `?` for one character
    #[arg(long = "procname", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) procnames: Vec<String>,
    /// Print who waits for whom as a graph in the DOT language of Graphviz
    #[arg(long, conflicts_with_all = ["format", "table", "sort", "limit"])]
    pub(crate) dot: bool,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// What `isochrone ipc` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Ipc {
    /// Print the graph in the DOT language of Graphviz
    #[arg(long, conflicts_with_all = ["format", "table", "sort", "limit"])]
    pub(crate) dot: bool,
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// What `isochrone messages` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Messages {
    #[command(flatten)]
    pub(crate) common: AcrossHosts,
}

/// A thread: its number, and its host where several are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadName {
    pub(crate) host: Option<String>,
    pub(crate) tid: i32,
}

fn service(text: &str) -> Result<Service, String> {
    Service::from_str(text).map_err(|error| error.to_string())
}

fn thread(text: &str) -> Result<ThreadName, String> {
    let (host, tid) = match text.rsplit_once(':') {
        Some((host, tid)) => (Some(host.to_owned()), tid),
        None => (None, text),
    };
    let tid = tid.parse().map_err(|_| "not the number of a thread, as in 842 or web:842".to_owned())?;
    Ok(ThreadName { host, tid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_by_both_names() {
        let check = |text: &str, expect: &str| {
            let line = crate::arguments::Arguments::command_line();
            let found = spelled_short(text.split(' ').map(OsString::from), &line);
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

    #[test]
    fn threads() {
        let check = |text, expect: Option<(Option<&str>, i32)>| {
            let expect = expect.map(|(host, tid)| ThreadName { host: host.map(str::to_owned), tid });
            assert_eq!(thread(text).ok(), expect, "{text}");
        };
        check("842", Some((None, 842)));
        check("web:842", Some((Some("web"), 842)));
        check("a:b:1", Some((Some("a:b"), 1)));
        check("web:", None);
        check("web", None);
    }
}
