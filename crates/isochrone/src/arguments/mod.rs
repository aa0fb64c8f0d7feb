//! The command line and its help.

mod analyze;
mod cache;
mod common;
mod crosshost;
mod cut;
mod events;
mod export;
mod flame;
mod in_place;
mod live;
mod options;
mod order;
mod pieces;
mod record;
mod runs;
mod short_help;
mod span_id;
mod sync;
pub(crate) mod time;
mod view;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use isochrone_analysis::AnalysisKind;

pub(crate) use analyze::{Analyze, AnalyzeNamed, MapNames, Names, Short, TableFormat};
pub(crate) use cache::{Cache, CacheAction};
pub use common::{Clock, Keys};
pub(crate) use common::{Cluster, Threads};
pub(crate) use common::{HostNumber, Sources};
use crosshost::with_command_first;
pub(crate) use crosshost::{AcrossHosts, Blocking, CriticalPath, CrossHost, Messages, OfRequests};
pub(crate) use cut::Cut;
pub(crate) use events::{EventFilters, EventFormat, Events};
pub(crate) use export::{Export, ExportFormat, Overview, Summary};
pub(crate) use flame::{Flame, FlameFormat, FlameOf};
pub(crate) use in_place::{ExecCommand, MapInPlace};
pub(crate) use live::{Live, SessionUrl};
pub(crate) use options::{Applies, Decides, GivenOptions, PHASES, STATES, STORED};
pub(crate) use order::{EventArg, Order};
pub(crate) use pieces::{Map, Merge};
pub(crate) use record::{Probe, Record, WayOptions};
pub(crate) use runs::{Check, Compared, Diff, Figure, Limit};
pub(crate) use span_id::SpanId;
pub(crate) use sync::{Eval, Sync, SyncCommand};
use time::Zone;
pub(crate) use view::{Serve, Served, View};
pub(crate) use watch::{Stepped, Watch, WatchNames};

/// Puts the traces of many Linux hosts on one clock, with proven error bounds.
#[derive(Debug, Parser)]
#[command(
    name = "isochrone",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
                  isochrone web/ app/ db/                        a first look, on one screen\n  \
                  isochrone sync web/ app/ db/ -o sync.json      three hosts on one clock; keep the corrections\n  \
                  isochrone events web/ app/ db/                 their events, in one order\n  \
                  isochrone cputop web/ app/ db/                 threads by CPU time (analyze cputop)\n  \
                  isochrone info web/                            what is in a trace, and what is missing\n\n\
                  A TRACE is a CTF trace directory (one with a `metadata` file), or a directory with several of \
                  them: LTTng session directories, rotation archives, a directory per host; one of these packed \
                  as `.zip` or `.tar` (`.tar.gz`, `.tar.xz`, `.tar.zst`); or a recording by `trace-cmd` \
                  (trace.dat) or `perf` (perf.data). For `sync` and `info` it may also be a packet capture \
                  (pcap, pcapng), compressed or not. A store (`isochrone index -o`) stands for the traces from \
                  which it was made, and so do mapped pieces (`isochrone map spans`).\n\n\
                  Exit status: 0 complete; 1 partial (something was refused, or hosts fall into islands); 2 wrong \
                  usage, nothing could be read, or a result cannot be written."
)]
pub(crate) struct Arguments {
    /// Print results only: no notes, no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Show all columns of tables, however wide the terminal is
    #[arg(long, global = true)]
    pub(crate) wide: bool,
    /// Print to the terminal itself, not to a pager (`ISOCHRONE_PAGER`, else `PAGER`, else `less`)
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments with the command that was left out: traces alone are an overview, and names of
/// analyses are of `analyze`.
pub(crate) fn with_command(
    arguments: impl IntoIterator<Item = OsString>,
    line: &clap::Command,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_option = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-");
    let first = (1..arguments.len()).find(|&index| !is_option(&arguments[index]));
    let left_out = first.and_then(|index| {
        let name = arguments[index].to_str();
        let is_analysis = |name: &str| name.split(',').all(|one| AnalysisKind::of(one).is_some());
        match name {
            Some("help") => None,
            Some(name) if line.find_subcommand(name).is_some() => None,
            Some(name) if is_analysis(name) => Some((index, "analyze")),
            _ => Path::new(&arguments[index]).exists().then_some((index, "overview")),
        }
    });
    if let Some((index, command)) = left_out {
        arguments.insert(index, command.into());
    }
    with_command_first(arguments, line)
}

impl Arguments {
    /// Adds the options of analyses that were typed. `matches`: from which these arguments were made.
    pub(crate) fn with_given(mut self, matches: &clap::ArgMatches) -> Self {
        let analyze = match &mut self.command {
            Command::Analyze(command) => Some(&mut command.analyze),
            Command::Short(command) => Some(command.analyze_mut()),
            Command::Map(command) => Some(&mut command.analyze),
            Command::Watch(command) => Some(&mut command.analyze),
            _ => None,
        };
        if let (Some(analyze), Some((_, matches))) = (analyze, matches.subcommand()) {
            analyze.given = GivenOptions::of(matches);
        }
        self
    }

    /// Interprets arguments that depend on others. `line`: by which these were parsed.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn resolved(mut self, line: &mut clap::Command) -> Result<Self, clap::Error> {
        let Command::Watch(watch) = &mut self.command else { return Ok(self) };
        let resolved = watch.resolve();
        let line = line.find_subcommand_mut("watch");
        match (resolved, line) {
            (Err((kind, message)), Some(line)) => Err(line.error(kind, message)),
            (Err((kind, message)), None) => Err(clap::Error::raw(kind, message)),
            (Ok(()), _) => Ok(self),
        }
    }

    /// The command line, with helps that show only the options that apply.
    pub(crate) fn command_line() -> clap::Command {
        short_help::shorten(options::with_own_helps(<Self as clap::CommandFactory>::command()))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show on one screen what was recorded, what is missing, how good clocks are, what was slow
    #[command(after_help = "Examples:\n  \
        isochrone web/ app/ db/           the same as isochrone overview web/ app/ db/\n  \
        isochrone overview --host app web/ app/ db/\n\n\
        The last lines are commands that say more.")]
    Overview(Box<Overview>),
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
        Hosts are tied together by packets that were traced on both of them: TCP, UDP, ICMP echo. Record on every host:\n  \
        lttng enable-event --kernel net_dev_queue,net_if_receive_skb\n\n\
        Each message bounds the clocks of two hosts at its own instant; how far that reaches depends on how their rates are \
        steered meanwhile. Kernel traces show that: a host without a time daemon runs free, and its rate is constant within \
        --wander; one with chronyd keeps its rate between the calls of chronyd; of others the rate is bounded by what \
        the kernel allows a daemon, 500 ppm. The report has the assumption about each clock, and its reason; --clock overrides it. \
        Record this as well:\n  \
        lttng enable-event --kernel 'lttng_statedump_*',sched_switch\n  \
        lttng enable-event --kernel --syscall clock_adjtime,adjtimex\n\n\
        Stamps may be coarser than their file declares, as whole ms in ns: the tick is detected, bounds allow for it, and a note \
        reports it; --resolution overrides it. \
        Clocks that were set, stopped or slewed are detected and reported as breaks. \
        Hosts that share a clock already (PTP, or several tracers on one machine) are named with --trust-clock: \
        then messages of each of them help all of them, and messages between them test the claim.\n\n\
        A capture (pcap, pcapng, compressed or not) is a host of its own, named like the file without \
        its extension, and stamped by the wall clock of the capturing machine: `web1.pcap` with an LTTng trace of web1 is the clock `web1#2`. \
        Packet types, directions and addresses in it, and other captures of the same packets, show whether it was taken on an end \
        host or on the way (a switch, a mirror port); a note reports that, and --captured corrects it. The first 96 bytes of each \
        packet are enough: tcpdump -s 96 -w web1.pcap. Below a directory, files named *.pcap, *.pcapng and *.cap are found."
    )]
    Sync(Box<Sync>),
    /// Show events of one or more traces in the order of time
    #[command(after_help = "Examples:\n  \
        isochrone events web/                                    like babeltrace2, in UTC\n  \
        isochrone events web/ app/ db/                           all hosts on one clock\n  \
        isochrone events --bounds web/ app/ db/                  with bounds of their times, and whether their order is sure\n  \
        isochrone events --sync sync.json web/ app/ db/          on the clock of an earlier `sync`\n  \
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
    /// Analyse one host or many: CPU time, system calls, interrupts, waits, file descriptors
    #[command(after_help = analyze::help(), arg_required_else_help = true)]
    Analyze(Box<AnalyzeNamed>),
    #[command(flatten)]
    Short(Short),
    #[command(flatten)]
    CrossHost(CrossHost),
    /// Build the store of traces: what each thread, call and CPU did, for quick look-ups by thread and time
    #[command(after_help = "Examples:\n  \
        isochrone index web/ app/ db/                  into the cache, where other commands find it\n  \
        isochrone index -o shop.store web/ app/ db/    into a directory of its own\n  \
        isochrone index --parquet shop/ web/ app/ db/  the tables of SQL as Parquet, times on one clock\n\n\
        A store is a directory of Arrow files, one for each table and host, that pyarrow, polars and others \
        open: raw times of each host, and numbers of threads. It can be deleted at any time. Commands that need \
        one build it, and build it again when a trace has changed. Where there is one, \
        `isochrone analyze` takes cputop, syscallstats, usage and others from it instead of reading the \
        traces.\n\n\
        --parquet writes what `isochrone sql` answers, for DuckDB, polars, Spark, ClickHouse and Trino, which \
        then need no traces: names of threads, times on one clock and their bounds, in files such as \
        slices/host=web/day=2026-11-20/part-0.parquet. `isochrone sql DIR` reads them, too, and \
        `isochrone sql s3://BUCKET/PREFIX`. The program isochrone-sql writes them, which is installed \
        separately; docs/parquet.md has the tables.")]
    Index(Index),
    /// Map a piece of traces to a file, for any scheduler: what analyses need of it, or all that a store is made of
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        isochrone map cputop,syscallstats --piece 3/8 web/ db/ -o 3.piece     the third eighth of each host\n  \
        isochrone map cputop --from 12:00 --to 12:05 web/ -o 12-00.piece      five minutes\n  \
        isochrone merge *.piece -o all.piece                                  pieces in any order\n  \
        isochrone analyze cputop all.piece                                    as of the traces\n\n\
        Each process opens all traces of its hosts and reads its piece alone. The tables of all pieces together are those of the \
        traces, to the byte, wherever they were cut. Filters that decide what is kept (--cpu, --min, --begin, …) belong here; \
        those on threads and the form of tables belong to `isochrone analyze`. \
        Periods (--period) are found in chunks that are mapped for spans."
    )]
    Map(Box<Map>),
    /// Merge mapped pieces: files to one, in any order
    #[command(after_help = "Examples:\n  \
        isochrone merge 1.piece 2.piece -o 1-2.piece                          neighbours become one\n  \
        isochrone merge night/*.piece -o night.piece                          and report what is missing\n\n\
        Pieces may be merged in any order and in any number of steps; the last file is the same. Files with the same piece, or that \
        were mapped for other analyses or of other traces, are refused.")]
    Merge(Merge),
    /// Show events while they are recorded: those that an LTTng relay daemon receives
    #[command(after_help = "Examples:\n  \
        isochrone live net://relay                                      the sessions of a relay daemon\n  \
        isochrone live net://relay/host/web1/shop                       one of them, as `isochrone events` shows it\n  \
        isochrone live net://relay/host/web1/shop net://relay/host/db/shop --bounds\n\n\
        Such a session is created with: lttng create shop --live --set-url=net://relay. It is shown from its start to its end. \
        An event is printed when no host can send an earlier one any more, about two periods of the live timer \
        after it happened. Meanwhile the traces are kept on the disk.\n\n\
        Several hosts are synchronized by the packets received so far, again and again. Bounds are those \
        that these packets prove. What has been printed stays as it is; where later packets move a clock \
        beyond the bounds that it had, a warning is printed.")]
    Live(Live),
    /// Record hosts, over `ssh` or this machine, and collect what was recorded
    #[command(arg_required_else_help = true, after_help = record::AFTER_RECORD)]
    Record(Record),
    /// Send packets between hosts while they are recorded, so that bounds of their clocks are tight
    #[command(after_help = record::AFTER_PROBE)]
    Probe(Probe),
    /// Analyse sessions that are being rotated, chunk by chunk as they are finished, or map the chunks
    #[command(
        arg_required_else_help = true,
        override_usage = "isochrone watch [OPTIONS] <NAME> <DIR>...\n       \
                          isochrone watch [OPTIONS] --map <WHAT> --out <DIR> <DIR>...",
        after_help = "Examples:\n  \
        isochrone watch cputop,syscallstats --state watched/ ~/lttng-traces       until Ctrl-C; continues where it was\n  \
        isochrone watch syscallstats --state watched/ --listen 127.0.0.1:9100 /relay   metrics for Prometheus\n  \
        isochrone watch cputop --once ~/lttng-traces                              the existing chunks\n  \
        isochrone watch --map spans --out pieces/ --exec 'rsync {} collector:/pieces/' --nice 19 /traces\n\n\
        Sessions are rotated by: lttng enable-rotation --timer 30s. A chunk is mapped when the next one exists, because CPUs change to a \
        new chunk one after the other. With --state, a process that is killed loses nothing, and reads nothing twice. The \
        last tables are those of `isochrone analyze` of all chunks.\n\n\
        With --map, chunks are mapped on the host that records them, each alone as soon as it is \
        finished, and --exec sends the pieces, some 3 to 12 % of the bytes, to where `isochrone merge` \
        puts those of all hosts together. A command that fails is run again; a process that is killed \
        goes on where it was. A piece may be handed over twice."
    )]
    Watch(Box<Watch>),
    /// Show traces in the browser: all hosts on one clock, with messages, critical paths and tables
    #[command(after_help = "Examples:\n  \
        isochrone view web/ app/ db/                   opens the browser\n  \
        isochrone view --no-open web/ app/ db/         only prints the address\n  \
        isochrone view --listen 0.0.0.0:8191 web/      for other machines, which need the token in the address\n\n\
        The first time, a store of the traces is built (`isochrone index`); the page shows its progress.")]
    View(View),
    /// Serve traces to viewers by the Trace Server Protocol: those of VS Code and Theia
    #[command(after_help = "Examples:\n  \
        isochrone serve web/ app/ db/                  one experiment of three hosts, at the address that viewers use\n  \
        isochrone serve --root /traces                 viewers open any traces below /traces\n\n\
        Trace Compass's extension for VS Code and Theia's trace viewer find a server at 127.0.0.1:8080. All experiments are on one clock.")]
    Serve(Serve),
    /// Write traces for other tools: Perfetto, Chrome, Prometheus, OpenTelemetry
    #[command(after_help = "Examples:\n  \
        isochrone export --to perfetto -o shop.pftrace web/ app/ db/    for ui.perfetto.dev\n  \
        isochrone export --to chrome -o shop.json shop.store            for readers of Chrome's JSON\n  \
        isochrone export --to perfetto --begin 12:30:01 --end 12:30:02 -o second.pftrace web/ app/\n  \
        isochrone export --to openmetrics --every 1s -o shop.om web/ app/ db/    for promtool\n  \
        isochrone export --to otlp -o shop.jsonl web/ app/ db/    for Jaeger, Tempo, collectors\n\n\
        States and system calls of threads, what CPUs ran, interrupts, disks, phases of programs, and counters, all on one clock; wake-ups and messages \
        between hosts are flows. A message has its latency, and the uncertainty of the clocks. Processes of the second host have \
        their pid + 10,000,000, those of the third + 20,000,000, and so on: these tools have one set of pids for all hosts. docs/perfetto.md has queries.\n\n\
        Time series are counters of the usage of CPUs, processes, disks and network interfaces up to the end of each step, as in \
        `isochrone analyze usage`, in OpenMetrics' text with Unix times; docs/openmetrics.md has queries.\n\n\
        Reports of analyses in LAMI are written by `isochrone analyze NAME --format lami`.")]
    Export(Box<Export>),
    /// Write a page about traces: usage of CPUs, disks, networks and memory, slow requests, bounds of the clocks, missing events
    #[command(after_help = "Examples:\n  \
        isochrone summary web/ app/ db/ -o shop.html                  a page for any browser, and for printing\n  \
        isochrone summary --begin 12:30 --end 12:31 web/ -o min.html  of a minute\n\n\
        The page is a single file. Below each section is the command that shows the same as text.")]
    Summary(Box<Summary>),
    /// Compare two runs: which requests became slower, and what of them; or tables of analyses
    #[command(after_help = "Examples:\n  \
        isochrone diff monday/ tuesday/                          requests of all services\n  \
        isochrone diff --service 8080 monday/ tuesday/           of one\n  \
        isochrone diff --phase thumbnail monday/ tuesday/        phases of a program\n  \
        isochrone diff monday/ tuesday/ syscallstats,messages    system calls and messages\n  \
        isochrone diff --format json monday/ tuesday/ | jq '.tables[]'\n\n\
        Each run is a directory with the traces of all its hosts, or a store. Hosts, programs and \
        ports are compared by their names. `causes` has what a request spent its time on, at the mean \
        of each run: its changes add up to that of the mean. A change is `slower` or `faster` where \
        chance alone makes as large a one in less than 1 % of pairs of runs (rank test of Mann and \
        Whitney, `p`), of at least 8 requests each; else it is `the same`. Means of calls, waits and \
        interrupts are compared by the test of Welch; sums per second, without a test. \
        Record on every host what `isochrone critical-path` needs.")]
    Diff(Box<Diff>),
    /// Hold figures of requests against limits, for tests: exit status 1 where one is exceeded
    #[command(after_help = "Examples:\n  \
        isochrone check --max 'p99(request) < 50ms' web/ app/ db/\n  \
        isochrone check --service 8080 --max 'median(request) < 10ms' --min 'count(request) >= 100' web/ db/\n\n\
        Exit status: 0 all limits hold; 1 one does not; 2 a figure is unknown, as there are no requests, \
        or wrong usage. \
        Record on every host what `isochrone critical-path` needs.")]
    Check(Box<Check>),
    /// Query in SQL: runs the program `isochrone-sql`, which is installed separately
    #[command(
        disable_help_flag = true,
        after_help = "Examples:\n  \
        isochrone sql web/ app/ db/                                      a prompt\n  \
        isochrone sql -c 'SELECT * FROM hosts' web/ app/ db/             one query\n  \
        isochrone sql --help                                             its options"
    )]
    Sql(Sql),
    /// Convert times of one host into times of the reference or of another host, with bounds
    #[command(after_help = "Examples:\n  \
        isochrone convert --sync sync.json --from app 1795154041.823216897\n  \
        isochrone convert --sync sync.json --from app --to db 2026-11-20T05:54:01.823216897Z\n  \
        isochrone convert --from app --to db 05:54:01.8 --traces app/ db/\n  \
        isochrone convert --sync sync.json --from app --raw 8214000000")]
    Convert(Convert),
    /// Decide which of two instants of two hosts was first: proven, likely, or open
    #[command(
        override_usage = "isochrone order [OPTIONS] <HOST> <TIME> <HOST> <TIME> --traces <TRACE>...\n       \
                          isochrone order [OPTIONS] --event <HOST:WHICH> --event <HOST:WHICH> --traces <TRACE>...",
        after_help = "Examples:\n  \
        isochrone order app 05:54:01.8232 db 05:54:01.8239 --traces app/ db/          times as `events` prints them\n  \
        isochrone order app 05:54:01.8232 db 05:54:01.8239 --sync sync.json           by corrections in a file\n  \
        isochrone order --own app 05:53:02.1 db 05:55:07.4 --sync sync.json           times of the hosts' log files\n  \
        isochrone order --event app:net_dev_xmit@05:54:01.823216897 --event 'db:$event == \"syscall_entry_openat\" && tid == 212' --traces app/ db/\n  \
        isochrone order 0 12.5 1 12.7 --messages list.txt                             times as the list has them\n\n\
        The answer is one of three. Proven: under the assumptions about the clocks (in the report of `isochrone sync`), and whatever the \
        delays of messages were, the other order is impossible. Likely: the other order is possible; by the likely error (e95), this \
        order has a probability of 0.9 or more, which is printed. Open: either may have been first; the \
        distance that would be a proof is printed. An instant of one host is bounded on the other's clock by the messages between the \
        two and by those of all links together, whichever is tighter. Instants of one host are ordered by its own clock, events of equal times by their stream.\n\n\
        Exit status: 0 where something is guaranteed, even if the order is open; 1 where nothing is, and the reason is printed: no messages tie the hosts, messages \
        contradict each other, or an instant lies outside the traces."
    )]
    Order(Box<Order>),
    /// Write the events of a time range, or some of them, as traces (CTF) that any reader opens
    #[command(after_help = "Examples:\n  \
        isochrone cut traces/ -o slow --begin 06:11:25 --end 06:11:26      all hosts, a second of the common clock\n  \
        isochrone cut web1/ -o head --end +5s                              the first five seconds\n  \
        isochrone cut web1/ -o small --event 'sched_*,syscall_*'           only some events\n\n\
        Each trace is written below -o, with the name of its argument and `_`. Times, contexts and counters of lost events stay as they \
        are; packets begin and end with the time range. Where events were chosen otherwise than by time, the traces say so, and each \
        command that reads them prints it: an analysis of them knows less than one of the whole.")]
    Cut(Box<Cut>),
    /// Flame graphs: what threads waited for, across hosts, or how long functions of programs took
    #[command(after_help = "Examples:\n  \
        isochrone flame web/ app/ db/ -o waits.svg                 a picture of all waits, for a browser\n  \
        isochrone flame --procname nginx web/ app/ -o waits.svg    of one program, and whom it waited for\n  \
        isochrone flame web/ > stacks.txt                          collapsed stacks, for other tools\n  \
        isochrone flame --symbols <(nm -S ./program) trace/ -o calls.svg    functions, by their names\n\n\
        A frame of waits is what a program waited for; above it is what the program that ended the wait \
        did meanwhile, on its host. Frames of functions are those that programs recorded as they called \
        them: compile with -finstrument-functions, run with \
        LD_PRELOAD=liblttng-ust-cyg-profile.so, and record:\n  \
        lttng enable-event --userspace 'lttng_ust_cyg_profile*','lttng_ust_statedump*'\n  \
        lttng add-context --userspace --type vtid --type vpid --type procname\n\n\
        Times of threads that waited at one time add up. The order of frames is that of their names.")]
    Flame(Box<Flame>),
    /// Show the indexes of traces that are kept between commands, and remove them
    #[command(after_help = "Examples:\n  \
        isochrone cache                 what there is, of which traces, and what it takes\n  \
        isochrone cache clean           remove what is of no use any more\n  \
        isochrone cache clean --all     remove all: indexes are made again when they are needed\n\n\
        They lie in $XDG_CACHE_HOME/isochrone, else ~/.cache/isochrone.")]
    Cache(Cache),
    /// Write the whole content of one trace as canonical JSON lines (ctf-dump v1), to compare readers
    #[command(hide = true)]
    Dump(Dump),
    /// Print the completions of a shell
    #[command(after_help = "Examples:\n  \
        isochrone completions bash > ~/.local/share/bash-completion/completions/isochrone\n  \
        isochrone completions zsh > ~/.zfunc/_isochrone\n  \
        isochrone completions fish > ~/.config/fish/completions/isochrone.fish\n\n\
        The shell then runs isochrone for each word that is to be completed: it knows commands, \
        options, analyses, their tables and columns, and of traces on the line their hosts and, once \
        they are indexed, their threads and programs.")]
    Completions(Completions),
    /// Write the manual pages of all commands to a directory
    #[command(after_help = "Example:\n  isochrone man ~/.local/share/man/man1 && man isochrone-events")]
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory, which is created if it is missing
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// `isochrone sql`.
#[derive(Debug, Args)]
pub(crate) struct Sql {
    /// Arguments of `isochrone-sql`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Index {
    /// Traces, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The directory of the store, which replaces an existing store and nothing else [default: in the cache]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the tables of `isochrone sql` as Parquet, by host and day, to this directory; it replaces what
    /// was written so, and nothing else
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Parquet")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write the table `events` as well, which takes many times the room of all others
    #[arg(long, requires = "parquet", help_heading = "Parquet")]
    pub(crate) events: bool,
    /// Use the corrections in this file, written by `isochrone sync -o` [default: several hosts are
    /// synchronized]
    #[arg(
        long,
        value_name = "FILE",
        requires = "parquet",
        conflicts_with = "no_sync",
        help_heading = "Parquet"
    )]
    pub(crate) sync: Option<PathBuf>,
    /// Leave each host on its own clock
    #[arg(long, requires = "parquet", help_heading = "Parquet")]
    pub(crate) no_sync: bool,
    /// Number of cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = common::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
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
    #[arg(long, value_name = "FILE", conflicts_with = "traces")]
    pub(crate) sync: Option<PathBuf>,
    /// Traces of the hosts, which are synchronized, instead of --sync
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub(crate) traces: Vec<PathBuf>,
    /// The host of the given times
    #[arg(long, value_name = "HOST")]
    pub(crate) from: String,
    /// The host of the converted times [default: the reference]
    #[arg(long, value_name = "HOST")]
    pub(crate) to: Option<String>,
    /// Times are, and are printed as, raw values of the hosts' own clocks in ns (time since boot), without offsets
    #[arg(long)]
    pub(crate) raw: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Times, in any form in which times are printed: 06:11:25.5, 2026-11-20 06:11:25.5, Unix seconds with a decimal point,
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
            Self::Cut(cut) => Some(&cut.zone),
            Self::Export(export) => Some(&export.sources.zone),
            Self::Summary(summary) => Some(&summary.sources.zone),
            Self::Overview(overview) => Some(&overview.sources.zone),
            Self::Check(check) => Some(&check.sources.zone),
            Self::Flame(flame) => Some(&flame.sources.zone),
            Self::CrossHost(analysis) => Some(&analysis.common().sources.zone),
            Self::Analyze(named) => Some(&named.analyze.zone),
            Self::Short(short) => Some(&short.analyze().zone),
            Self::Map(map) => Some(&map.analyze.zone),
            Self::Live(live) => Some(&live.zone),
            Self::Watch(watch) => Some(&watch.analyze.zone),
            Self::Index(_)
            | Self::Diff(_)
            | Self::Merge(_)
            | Self::Record(_)
            | Self::Probe(_)
            | Self::View(_)
            | Self::Serve(_)
            | Self::Cache(_)
            | Self::Dump(_)
            | Self::Sql(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
}

#[cfg(test)]
mod tests {
    #[test]
    fn definitions_are_consistent() {
        super::Arguments::command_line().debug_assert();
    }
}
