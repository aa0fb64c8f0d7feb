//! What can be typed, and the help that teaches it.

mod analyze;
mod clock;
mod cluster;
mod crosshost;
mod export;
mod live;
mod options;
mod order;
mod pieces;
mod short;
mod summary;
mod sync_eval;
pub(crate) mod time;
mod view;
mod watch;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use isochrone_clock::ASYMMETRY;
use isochrone_clock::MAX_WANDER_PPM;
use isochrone_clock::published::MAX_DIGITS;
use isochrone_clock::{RATE_PRIOR_PPM, WANDER_PPM};
use isochrone_periods::Condition;
use isochrone_sync::ClockChoice;
use isochrone_sync::capture::DeclaredVantage;
use isochrone_sync::resolution::MAX_SAID_TICK_NS;

pub(crate) use analyze::{Analyze, AnalyzeNamed, MapNames, Names, PHASES, STATES, TableFormat};
pub use clock::Clock;
pub use cluster::Keys;
pub(crate) use crosshost::{
    AcrossHosts, Blocking, CriticalPath, CrossHost, Ipc, Messages, ThreadName, spelled_short,
};
pub(crate) use export::{Export, ExportFormat};
pub(crate) use live::{Live, Place};
pub(crate) use options::{Decides, GivenOptions};
pub(crate) use order::{EventOf, Order};
pub(crate) use pieces::{Map, Merge};
pub(crate) use short::Short;
pub(crate) use summary::Summary;
pub(crate) use sync_eval::{Eval, Method, SyncCommand};
use time::{Given, Zone, given};
pub(crate) use view::{Serve, Served, View};
pub(crate) use watch::{Stepped, Watch, WatchNames};

/// A clock that is farther off stands still.
const MAX_RATE_PRIOR_PPM: u32 = 999_999;

/// Puts the traces of many Linux hosts on one clock, with proven error bounds.
#[derive(Debug, Parser)]
#[command(
    name = "isochrone",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
                  isochrone sync web/ app/ db/ -o sync.json      three hosts on one clock; keep the corrections\n  \
                  isochrone events web/ app/ db/                 their events, in one order\n  \
                  isochrone analyze cputop web/ app/ db/         who used the CPUs\n  \
                  isochrone info web/                            what is in a trace, and what is missing\n\n\
                  A TRACE is a CTF trace directory (one with a `metadata` file), or a directory that holds some: LTTng \
                  session directories, rotation archives, a directory per host. For `sync` and `info` it may also be a packet \
                  capture (pcap, pcapng). A store (`isochrone index -o`) stands for the traces that it was made of, and so do mapped pieces (`isochrone map spans`).\n\n\
                  Exit status: 0 done; 1 done in part (something was refused, or hosts fall into islands); 2 wrong \
                  usage, nothing could be read, or a result cannot be written."
)]
pub(crate) struct Arguments {
    /// Print results only: no notes, no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// With the options of analyses that were typed. `matches`: those that these arguments were made of.
    pub(crate) fn with_given(mut self, matches: &clap::ArgMatches) -> Self {
        let analyze = match &mut self.command {
            Command::Analyze(command) => Some(&mut command.analyze),
            Command::Short(command) => Some(command.asked_mut()),
            Command::Map(command) => Some(&mut command.analyze),
            Command::Watch(command) => Some(&mut command.analyze),
            _ => None,
        };
        if let (Some(analyze), Some((_, matches))) = (analyze, matches.subcommand()) {
            analyze.given = GivenOptions::of(matches);
        }
        self
    }

    /// The command line, with helps that name only what applies.
    pub(crate) fn command_line() -> clap::Command {
        let command = Short::with_own_helps(<Self as clap::CommandFactory>::command());
        watch::with_own_help(pieces::with_own_help(command))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put the clocks of all hosts on one: match packets, solve, report
    #[command(
        override_usage = "isochrone sync [OPTIONS] <TRACE>...\n       isochrone sync [OPTIONS] --messages <FILE>\n       isochrone sync eval [OPTIONS] <TRACE>...",
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true,
        disable_help_subcommand = true,
        after_help = "Examples:\n  \
        isochrone sync web/ app/ db/                     report on the terminal\n  \
        isochrone sync web/ app/ db/ -o sync.json        and keep the corrections for other commands\n  \
        isochrone sync web/ app/ db/ --write together/   and write copies that any CTF viewer shows on one clock\n  \
        isochrone sync web/ app/ switch.pcap             with what a switch between them saw\n  \
        isochrone sync web1.pcap web2.pcapng             from captures alone\n  \
        isochrone sync --messages list.txt               from a list of messages\n  \
        isochrone sync --trust-clock app,db web/ app/ db/  app and db share a clock by PTP\n  \
        isochrone sync --clock free web/ app/ db/        nothing steered the clocks while they were traced\n  \
        isochrone sync --method hull web/ app/ db/       the estimate as LTTV chooses it, to compare\n  \
        isochrone sync eval --no-sync web/ app/ db/      how far the hosts' clocks are from one\n\n\
        Hosts are tied together by packets that both of them traced: TCP, UDP, ICMP echo. Record on every host:\n  \
        lttng enable-event --kernel net_dev_queue,net_if_receive_skb\n\n\
        Each message bounds the clocks of two hosts at its own instant; how far that reaches depends on who changes their \
        rates meanwhile. That is in kernel traces: a host without a time daemon runs free, and its rate is constant within \
        --wander; one with chronyd keeps its rate between the calls of chronyd; of others the rate is bounded by what \
        the kernel lets a daemon do, 500 ppm. The report says what is assumed of each clock, and why; --clock overrides it. Record this as well:\n  \
        lttng enable-event --kernel 'lttng_statedump_*',sched_switch\n  \
        lttng enable-event --kernel --syscall clock_adjtime,adjtimex\n\n\
        Stamps may be coarser than their file says, as whole ms in ns: the tick is read from the stamps, bounds allow for it, and a note \
        says so; --resolution overrides it. \
        Clocks that were set, stopped or slewed are noticed and reported as breaks. \
        Hosts whose clocks are one already (PTP, or several tracers on one machine) are named with --trust-clock: \
        then messages of each of them help all of them, and messages between them test the claim.\n\n\
        A capture (pcap, pcapng; not compressed) is a host of its own, called like the file without its extension, and \
        stamped by the wall clock of where it was taken: `web1.pcap` beside an LTTng trace of web1 is the clock `web1#2`. \
        Packet types, directions and addresses in it tell whether it was taken on an end host or on the way (a switch, a \
        mirror port), and so do other captures of the same packets; a note says which, and --captured corrects it. The first 96 bytes of each packet are enough: tcpdump -s 96 -w web1.pcap. \
        Below a directory, files called *.pcap, *.pcapng and *.cap are found."
    )]
    Sync(Box<Sync>),
    /// Show events of one or more traces in the order of time
    #[command(after_help = "Examples:\n  \
        isochrone events web/                                    like babeltrace2, in UTC\n  \
        isochrone events web/ app/ db/                           all hosts on one clock\n  \
        isochrone events --bounds web/ app/ db/                  and how sure their times and their order are\n  \
        isochrone events --sync sync.json web/ app/ db/          on the clock that `sync` chose before\n  \
        isochrone events --procname 'nginx*' --cpu 0-3 web/      of one program, on four CPUs\n  \
        isochrone events --where 'prev_tid == 842 && $cpu > 1' web/\n  \
        isochrone events --event 'sched_*' --format json web/    as JSON lines, for programs\n  \
        isochrone events --tid 842 --format csv web/ > 842.csv   for pandas.read_csv")]
    Events(Box<Events>),
    /// Summarize traces: hosts, clocks, streams, events, losses
    #[command(after_help = "Examples:\n  \
        isochrone info web/                                           an overview of each trace\n  \
        isochrone info --format json web/ | jq '.traces[].losses'     all gaps, for programs")]
    Info(Info),
    /// Answer questions about one host or many: CPU time, system calls, interrupts, waits, file descriptors
    #[command(after_help = analyze::help(), arg_required_else_help = true)]
    Analyze(Box<AnalyzeNamed>),
    #[command(flatten)]
    Short(Short),
    #[command(flatten)]
    CrossHost(CrossHost),
    /// Build the store of traces: what each thread, call and CPU did, for quick look-ups by thread and time
    #[command(after_help = "Examples:\n  \
        isochrone index web/ app/ db/                  into the cache, where other commands find it\n  \
        isochrone index -o shop.store web/ app/ db/    into a directory of its own\n\n\
        A store is a directory of Arrow files, one for each table and host, that pyarrow, polars, DuckDB and others open. \
        It can be deleted at any time. Commands that need one build it, and build it again when a trace has changed.")]
    Index(Index),
    /// Map a piece of traces to a file, for any scheduler: what analyses need of it, or all that a store is made of
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        isochrone map cputop,syscallstats --piece 3/8 web/ db/ -o 3.piece     the third eighth of each host\n  \
        isochrone map cputop --from 12:00 --to 12:05 web/ -o 12-00.piece      five minutes\n  \
        isochrone merge *.piece -o all.piece                                  pieces in any order\n  \
        isochrone analyze cputop all.piece                                    as of the traces\n\n\
        Each process opens all traces of its hosts and reads its piece alone. What the analyses say of all pieces together is what they \
        say of the traces, to the byte, wherever they were cut. Filters that decide what is kept (--cpu, --min, --begin, …) belong here; \
        those on threads and the form of tables belong to `isochrone analyze`. Periods (--period) need the traces."
    )]
    Map(Box<Map>),
    /// Merge mapped pieces: files to one, in any order
    #[command(after_help = "Examples:\n  \
        isochrone merge 1.piece 2.piece -o 1-2.piece                          neighbours become one\n  \
        isochrone merge night/*.piece -o night.piece                          and say what is missing\n\n\
        Pieces may be merged in any order and in any number of steps; the file at the end is the same. Two that have the same piece, or that \
        were mapped for other questions or of other traces, are refused.")]
    Merge(Merge),
    /// Show events while they are recorded: those that an LTTng relay daemon receives
    #[command(after_help = "Examples:\n  \
        isochrone live net://relay                                      the sessions of a relay daemon\n  \
        isochrone live net://relay/host/web1/shop                       one of them, as `isochrone events` shows it\n  \
        isochrone live net://relay/host/web1/shop net://relay/host/db/shop --sync sync.json\n\n\
        A session is recorded so with: lttng create shop --live --set-url=net://relay. It is shown from its begin on and, when it ends, \
        has been shown whole. An event comes when no host can send an earlier one any more, about two periods of the live timer \
        after it happened. Meanwhile the traces are kept on the disk.")]
    Live(Live),
    /// Answer questions about sessions that are being rotated, chunk by chunk as they are finished
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        isochrone watch cputop,syscallstats --state watched/ ~/lttng-traces       until Ctrl-C; goes on where it was\n  \
        isochrone watch syscallstats --state watched/ --listen 127.0.0.1:9100 /relay   figures for Prometheus\n  \
        isochrone watch cputop --once ~/lttng-traces                              what is there, and end\n\n\
        Sessions are rotated so: lttng enable-rotation --timer 30s. A chunk is mapped when the next one is there, because CPUs turn to a new \
        chunk one after the other. With --state, a process that is killed loses nothing, and reads nothing twice. What the \
        tables say at the end is what `isochrone analyze` says of all chunks."
    )]
    Watch(Box<Watch>),
    /// Show traces in the browser: all hosts on one clock, with messages, critical paths and tables
    #[command(after_help = "Examples:\n  \
        isochrone view web/ app/ db/                   opens the browser\n  \
        isochrone view --no-open web/ app/ db/         only prints the address\n  \
        isochrone view --listen 0.0.0.0:8191 web/      for other machines, which need the token in the address\n\n\
        The first time, a store of the traces is built (`isochrone index`); the page shows how far it is.")]
    View(View),
    /// Serve traces to viewers by the Trace Server Protocol: those of VS Code and Theia
    #[command(after_help = "Examples:\n  \
        isochrone serve web/ app/ db/                  one experiment of three hosts, where viewers look for it\n  \
        isochrone serve --root /traces                 viewers open what they want below /traces\n\n\
        Trace Compass's extension for VS Code and Theia's trace viewer find a server at 127.0.0.1:8080. All experiments are on one clock.")]
    Serve(Serve),
    /// Write what all hosts did for other tools: as a timeline for Perfetto or Chrome, as time series for Prometheus
    #[command(after_help = "Examples:\n  \
        isochrone export --to perfetto -o shop.pftrace web/ app/ db/    for ui.perfetto.dev\n  \
        isochrone export --to chrome -o shop.json shop.store            for what reads Chrome's JSON\n  \
        isochrone export --to perfetto --begin 12:30:01 --end 12:30:02 -o second.pftrace web/ app/\n  \
        isochrone export --to openmetrics --every 1s -o shop.om web/ app/ db/    for promtool tsdb create-blocks-from\n\n\
        States and system calls of threads, what CPUs ran, interrupts, disks, phases of programs, and counters, all on one clock; wake-ups and messages \
        between hosts are flows. A message says how long it took, and what the clocks leave open of that. Processes of the second host have \
        their pid + 10,000,000, those of the third + 20,000,000, and so on: these tools have one space of pids. docs/perfetto.md has queries.\n\n\
        Time series are counters of what CPUs, processes, disks and network interfaces used until the end of each step, as `isochrone analyze usage` \
        has them, in OpenMetrics' text with Unix times; docs/openmetrics.md has queries.\n\n\
        Reports of analyses in LAMI are made by `isochrone analyze NAME --format lami`.")]
    Export(Box<Export>),
    /// Write one page about traces: who used CPUs, disks, networks and memory, what was slow, how sure the clocks are, what is missing
    #[command(after_help = "Examples:\n  \
        isochrone summary web/ app/ db/ -o shop.html                  a page for any browser, and for paper\n  \
        isochrone summary --begin 12:30 --end 12:31 web/ -o min.html  of a minute\n\n\
        The page needs nothing but itself: it can be sent, printed and kept. Below each part is the command that shows the same as text.")]
    Summary(Box<Summary>),
    /// Ask in SQL: hands over to the program `isochrone-sql`, which is installed apart
    #[command(
        disable_help_flag = true,
        after_help = "Examples:\n  \
        isochrone sql web/ app/ db/                                      a prompt\n  \
        isochrone sql -c 'SELECT * FROM hosts' web/ app/ db/             one answer\n  \
        isochrone sql --help                                             all that it can be asked"
    )]
    Sql(Sql),
    /// Turn times of one host into times of the reference or of another host, with bounds
    #[command(after_help = "Examples:\n  \
        isochrone convert --sync sync.json --from app 1795154041.823216897\n  \
        isochrone convert --sync sync.json --from app --to db 2026-11-20T05:54:01.823216897Z\n  \
        isochrone convert --from app --to db 05:54:01.8 --traces app/ db/\n  \
        isochrone convert --sync sync.json --from app --raw 8214000000")]
    Convert(Convert),
    /// Say which of two instants of two hosts was first: proven, likely, or open
    #[command(
        override_usage = "isochrone order [OPTIONS] <HOST> <TIME> <HOST> <TIME> --traces <TRACE>...\n       \
                          isochrone order [OPTIONS] --event <HOST:WHICH> --event <HOST:WHICH> --traces <TRACE>...",
        after_help = "Examples:\n  \
        isochrone order app 05:54:01.8232 db 05:54:01.8239 --traces app/ db/          times as `events` prints them\n  \
        isochrone order app 05:54:01.8232 db 05:54:01.8239 --sync sync.json           by corrections that were kept\n  \
        isochrone order --own app 05:53:02.1 db 05:55:07.4 --sync sync.json           times of the hosts' log files\n  \
        isochrone order --event app:net_dev_xmit@05:54:01.823216897 --event 'db:$event == \"syscall_entry_openat\" && tid == 212' --traces app/ db/\n  \
        isochrone order 0 12.5 1 12.7 --messages list.txt                             times as the list has them\n\n\
        The answer is one of three. Proven: under what is assumed of the clocks (the report of `isochrone sync` says it), and whatever the delays of \
        messages were, the other order is impossible. Likely: the other order is possible; taken for a normal error, the likely error (e95) gives this \
        order a probability of 0.9 or more, which is printed. Open: either may have been first. It is said how far apart the instants would have to be for a proof. \
        What bounds an instant of one host on the other's clock are the messages between the two and those of all links together, whichever is \
        tighter. Instants of one host are ordered by its own clock, events of equal times by their stream.\n\n\
        Exit status: 0 where something is guaranteed, even if the order is open; 1 where nothing is, and the reason is printed: no messages tie the hosts, messages \
        contradict each other, or an instant lies outside the traces."
    )]
    Order(Box<Order>),
    /// Write everything a reader understands of one trace as canonical JSON lines (ctf-dump v1), to compare readers
    #[command(hide = true)]
    Dump(Dump),
    /// Print the completions of a shell
    #[command(after_help = "Examples:\n  \
        isochrone completions bash > ~/.local/share/bash-completion/completions/isochrone\n  \
        isochrone completions zsh > ~/.zfunc/_isochrone\n  \
        isochrone completions fish > ~/.config/fish/completions/isochrone.fish")]
    Completions(Completions),
    /// Write the manual pages of all commands to a directory
    #[command(after_help = "Example:\n  isochrone man ~/.local/share/man/man1 && man isochrone-events")]
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to; it is created if it is missing
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// What `isochrone sql` is called with.
#[derive(Debug, Args)]
pub(crate) struct Sql {
    /// What `isochrone-sql` is called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Index {
    /// Traces, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Where to put the store; a store that is already there is replaced, anything else is left alone [default: in the cache]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    #[command(subcommand)]
    pub(crate) command: Option<SyncCommand>,
    /// Traces or captures of two or more hosts
    #[arg(required_unless_present = "messages", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Read messages from this text instead of traces: first the number of hosts, then a line for each message, `sender
    /// receiver send_time recv_time`. Hosts are numbered from 0; times are seconds with a decimal point, ns without;
    /// further columns and `#` comments are ignored
    #[arg(long, value_name = "FILE", conflicts_with_all = ["traces", "write"])]
    pub(crate) messages: Option<PathBuf>,
    /// Write the corrections to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write synchronized copies of the traces below this directory: each argument's last path component followed by `_`
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Write a report with pictures to this file: one HTML page that needs nothing but itself
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Where the capture NAME was taken, if the note on it is wrong or it does not tell: an Ethernet or IP address of the end host; `way` (at a switch or a
    /// mirror port: a frame there proves that it was received, and no more, since the original may arrive before its copy is stamped); or `inline` (at an inline tap or a software
    /// bridge, which sends each frame on after its stamp). `late:TIME` says by how much at most its stamps of sent frames are later than these left
    /// (late:300us; ns, us, ms or s): adapters may stamp what they send when it is gone. NAME=PLACE,late:TIME says both. May be repeated
    #[arg(long, value_name = "NAME=PLACE", value_parser = taken, conflicts_with = "messages")]
    pub(crate) captured: Vec<(String, DeclaredVantage)>,
    /// Makes each interface of the capture NAME a host of its own, with a clock of its own, called NAME:0, NAME:1 and so on: for a capture that was merged from those of
    /// several machines; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "messages")]
    pub(crate) per_interface: Vec<String>,
    /// Host whose clock all others are put on [default: the one that makes the worst bound smallest]
    #[arg(long, value_name = "HOST")]
    pub(crate) reference: Option<String>,
    /// What is assumed of the clock of HOST, or of all clocks, instead of what the traces show. `free`: nobody steers it, its
    /// rate is constant within --wander. `calls`: its rate is constant between the traced calls of `clock_adjtime` and `adjtimex`, or,
    /// where these are not traced, between the runs of a daemon that works by calls. `steered:PPM`: its rate may change at any
    /// time, by at most PPM from the usual one (without PPM: 500, the kernel's limit for NTP). `unknown`: bounded like
    /// `steered`. May be repeated; HOST=ASSUMPTION takes precedence over ASSUMPTION for all
    #[arg(long, value_name = "[HOST=]ASSUMPTION", value_parser = clock)]
    pub(crate) clock: Vec<(Option<String>, ClockChoice)>,
    /// What the stamps of HOST resolve, or those of all hosts: 1ms, 15.625ms, 10us, or ns without a unit. Instead of the tick that all
    /// stamps of a clock are whole multiples of apart; never finer than its file can state. Bounds allow for it. May be repeated;
    /// HOST=TICK takes precedence over TICK for all
    #[arg(long, value_name = "[HOST=]TICK", value_parser = resolution)]
    pub(crate) resolution: Vec<(Option<String>, u64)>,
    /// How far the rate of a clock that nobody steers may be from constant, in parts per million, unless messages show more:
    /// all bounds are guaranteed under this condition. 0.1 suits computers in rooms of a steady temperature; a greater value gives wider bounds between
    /// messages; 0 treats rates as exactly constant
    #[arg(long, value_name = "PPM", default_value_t = WANDER_PPM, value_parser = wander, allow_negative_numbers = true)]
    pub(crate) wander: f64,
    /// How far apart the rates of two clocks can be, in parts per million, where messages do not show it. Crystals stay within
    /// 100; NTP slews by up to 500
    #[arg(long, value_name = "PPM", default_value_t = RATE_PRIOR_PPM, value_parser = rate_prior, allow_negative_numbers = true)]
    pub(crate) rate_prior: u32,
    /// Share of the round trip by which the least delays of the two directions may differ: what the likely error (e95) allows
    /// for. No guarantee depends on it. 0: both ways take equally long; 1: nothing is known of them
    #[arg(long, value_name = "SHARE", default_value_t = ASYMMETRY, value_parser = share, allow_negative_numbers = true)]
    pub(crate) asymmetry: f64,
    /// Hosts that share a clock already, by PTP or because they are one machine: their Unix times are taken to be equal. May be
    /// repeated for several groups; a note says how many messages contradict it
    #[arg(long, value_name = "HOST,…", value_parser = group)]
    pub(crate) trust_clock: Vec<Group>,
    /// How the estimate is chosen: as usual, or as others have published it. Bounds stay those of the messages, so that such an estimate may lie outside
    /// of them; the report says where, and what of the originals' known faults was left out
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = Method::Default, conflicts_with = "trust_clock")]
    pub(crate) method: Method,
    /// Significant digits of the formulas of --method [default: 34]
    #[arg(long, value_name = "N", value_parser = digits)]
    pub(crate) digits: Option<u32>,
    /// Only read and match packets, and say what came of it: nothing is computed and nothing is written
    #[arg(long, conflicts_with_all = [
        "messages", "output", "write", "html", "method", "digits", "reference", "clock", "resolution", "wander", "rate_prior", "asymmetry", "trust_clock",
    ])]
    pub(crate) dry_run: bool,
    /// What to print: a report for people, or the corrections themselves
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

/// Hosts that are named together.
#[derive(Debug, Clone)]
pub(crate) struct Group(pub(crate) Vec<String>);

#[derive(Debug, Args)]
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
    /// Only events at or after this time: any form in which a command prints one (06:11:25.5, 2026-11-20 06:11:25.5, Unix seconds
    /// with a decimal point, Unix nanoseconds), or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) begin: Option<Given>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) end: Option<Given>,
    /// Only events of these names; `*` stands for anything
    #[arg(long = "event", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) names: Vec<String>,
    /// Only events of these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// Only events of these threads, by number, as their contexts tell (lttng add-context --type tid)
    #[arg(long = "tid", value_name = "TID", value_delimiter = ',', value_parser = analyze::number::<i32>, help_heading = "Filters")]
    pub(crate) tids: Vec<i32>,
    /// Only events of the threads of these processes, by number
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',', value_parser = analyze::number::<i32>, help_heading = "Filters")]
    pub(crate) pids: Vec<i32>,
    /// Only events of these threads or processes, by number, and of all that they make; and switches and wake-ups of them
    #[arg(long = "follow", value_name = "NUMBER", value_delimiter = ',', value_parser = analyze::number::<i32>, help_heading = "Filters")]
    pub(crate) follow: Vec<i32>,
    /// Only events of threads of these names; `*` stands for anything, `?` for one character
    #[arg(long = "procname", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) procnames: Vec<String>,
    /// Only events on these CPUs: 2, or 0-3,8
    #[arg(long = "cpu", value_name = "CPU", value_delimiter = ',', value_parser = analyze::cpus, help_heading = "Filters")]
    pub(crate) cpus: Vec<RangeInclusive<u32>>,
    /// Only events for which this holds: fields by their names, `$host`, `$event` and `$cpu`, integers and texts in quotes (with `*` and
    /// `?`), compared with == != < <= > >= and combined with && || ! and parentheses. A comparison with what an event does not
    /// have is false. The language is that of --period (`isochrone analyze`): `$evt.$ctx.tid` is a context, `$evt.$pkt_ctx.cpu_id` one of
    /// the packet
    #[arg(long = "where", value_name = "CONDITION", value_parser = Condition::parse, help_heading = "Filters")]
    pub(crate) condition: Option<Condition>,
    /// Show only the first N of all these events
    #[arg(long, value_name = "N", help_heading = "Filters")]
    pub(crate) limit: Option<std::num::NonZeroU64>,
    /// Print dates as well as times of day
    #[arg(long)]
    pub(crate) date: bool,
    /// Show how early and how late each event can have been on the common clock, and mark with `~` those that may have happened
    /// before the line above, which is of another host
    #[arg(long, help_heading = "Times")]
    pub(crate) bounds: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Traces and captures, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Show each chunk of a rotated session, not the session as a whole
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// One trace directory
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The corrections, as written by `isochrone sync -o`
    #[arg(long, value_name = "FILE", required_unless_present = "traces", conflicts_with = "traces")]
    pub(crate) sync: Option<PathBuf>,
    /// Traces of the hosts, instead of --sync: they are synchronized on the way
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub(crate) traces: Vec<PathBuf>,
    /// Host whose times are given
    #[arg(long, value_name = "HOST")]
    pub(crate) from: String,
    /// Host whose times are wanted [default: the reference]
    #[arg(long, value_name = "HOST")]
    pub(crate) to: Option<String>,
    /// Times are, and are printed as, raw values of the hosts' own clocks in ns (time since boot), without offsets
    #[arg(long)]
    pub(crate) raw: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Times, in any form in which a command prints one: 06:11:25.5, 2026-11-20 06:11:25.5, Unix seconds with a decimal point,
    /// Unix nanoseconds; or RFC 3339
    #[arg(required = true, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) times: Vec<String>,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

impl Command {
    /// The time zone of the times that the command shows.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        match self {
            Self::Info(Info { zone, .. }) | Self::Convert(Convert { zone, .. }) => Some(zone),
            Self::Sync(sync) => Some(&sync.zone),
            Self::Order(order) => Some(&order.zone),
            Self::Events(events) => Some(&events.zone),
            Self::Export(export) => Some(&export.zone),
            Self::Summary(summary) => Some(&summary.zone),
            Self::CrossHost(asked) => Some(&asked.common().zone),
            Self::Analyze(named) => Some(&named.analyze.zone),
            Self::Short(short) => Some(&short.asked().zone),
            Self::Map(map) => Some(&map.analyze.zone),
            Self::Live(live) => Some(&live.zone),
            Self::Watch(watch) => Some(&watch.analyze.zone),
            Self::Index(_)
            | Self::Merge(_)
            | Self::View(_)
            | Self::Serve(_)
            | Self::Dump(_)
            | Self::Sql(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }
}

fn at_least_one(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse().map_err(|_| "not a number from 1 on".to_owned())
}

/// The name of a capture and where it was taken.
fn taken(text: &str) -> Result<(String, DeclaredVantage), String> {
    let (name, place) = text.rsplit_once('=').ok_or("not of the form NAME=PLACE")?;
    Ok((name.to_owned(), place.parse()?))
}

/// What is assumed of the clock of a host, or of all.
fn clock(text: &str) -> Result<(Option<String>, ClockChoice), String> {
    match text.rsplit_once('=') {
        Some((host, choice)) => Ok((Some(host.to_owned()), choice.parse()?)),
        None => Ok((None, text.parse()?)),
    }
}

/// What the stamps of a host resolve, or those of all, ns.
fn resolution(text: &str) -> Result<(Option<String>, u64), String> {
    let (host, tick) = match text.rsplit_once('=') {
        Some((host, tick)) => (Some(host.to_owned()), tick),
        None => (None, text),
    };
    match analyze::duration(tick)? {
        ns @ 1..=MAX_SAID_TICK_NS => Ok((host, ns)),
        _ => Err("not from 1ns to 1s".to_owned()),
    }
}

/// How far a rate may be from constant, ppm.
fn wander(text: &str) -> Result<f64, String> {
    number(text, MAX_WANDER_PPM).ok_or_else(|| format!("not a number of ppm from 0 to {MAX_WANDER_PPM}"))
}

/// A part of a whole.
fn share(text: &str) -> Result<f64, String> {
    number(text, 1.0).ok_or_else(|| "not a share: give a number from 0 to 1".to_owned())
}

fn number(text: &str, most: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (0.0..=most).contains(number))
}

/// How far two rates may be apart, whole ppm.
fn rate_prior(text: &str) -> Result<u32, String> {
    let known = text.parse().ok().filter(|ppm| (1..=MAX_RATE_PRIOR_PPM).contains(ppm));
    known.ok_or_else(|| format!("not a whole number of ppm from 1 to {MAX_RATE_PRIOR_PPM}"))
}

/// How many digits a formula has.
fn digits(text: &str) -> Result<u32, String> {
    let known = text.parse().ok().filter(|digits| (1..=MAX_DIGITS).contains(digits));
    known.ok_or_else(|| format!("not a number of digits from 1 to {MAX_DIGITS}"))
}

/// Names with commas between them.
fn group(text: &str) -> Result<Group, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().any(String::is_empty) || names.len() < 2 {
        true => Err("name two hosts or more, with commas between them: app,db".to_owned()),
        false => Ok(Group(names)),
    }
}

/// What a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// One line an event, as babeltrace2 writes them
    Text,
    /// One JSON object a line; `jsonl` means the same
    #[value(alias = "jsonl")]
    Json,
    /// Comma-separated values below a header line: time, host, CPU and name, contexts and fields as JSON objects
    Csv,
}

#[cfg(test)]
mod tests {
    #[test]
    fn definitions_are_consistent() {
        super::Arguments::command_line().debug_assert();
    }
}
