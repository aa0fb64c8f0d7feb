//! `isochrone sync` and `isochrone sync eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isochrone_clock::published::{self, MAX_DIGITS};
use isochrone_clock::{ASYMMETRY, MAX_WANDER_PPM, RATE_PRIOR_PPM, WANDER_PPM};
use isochrone_matching::capture::DeclaredVantage;
use isochrone_matching::stamps::MAX_DECLARED_TICK_NS;
use isochrone_sync::ClockChoice;

use super::ReportFormat;
use super::analyze::TableFormat;
use super::common::Clock;
use super::time::{Zone, duration};

/// Maximum of --rate-prior: a clock that is farther off stands still.
const MAX_RATE_PRIOR_PPM: u32 = 999_999;

/// `isochrone sync`.
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
    /// Where the capture NAME was taken, if the note on it is wrong or it is unknown: an Ethernet or IP address of the end host; `way` (at a switch or a
    /// mirror port: a frame there proves that it was received, and no more, since the original may arrive before its copy is stamped); or `inline` (at an inline tap or a software
    /// bridge, which sends each frame on after its stamp). `late:TIME` is the most by which its stamps of sent frames are later than
    /// their departure (late:300us; ns, us, ms or s), which some adapters stamp afterwards. NAME=PLACE,late:TIME combines both. May be repeated
    #[arg(long, value_name = "NAME=PLACE", value_parser = taken, conflicts_with = "messages")]
    pub(crate) captured: Vec<(String, DeclaredVantage)>,
    /// Treat each interface of the capture NAME as a host with a clock of its own, named NAME:0, NAME:1 and so on: for a capture that was
    /// merged from those of several machines; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "messages")]
    pub(crate) per_interface: Vec<String>,
    /// Host whose clock all others are put on [default: the one with the smallest worst bound]
    #[arg(long, value_name = "HOST")]
    pub(crate) reference: Option<String>,
    /// Assumption about the clock of HOST, or about all clocks, instead of what the traces show. `free`: it is not steered, its
    /// rate is constant within --wander. `calls`: its rate is constant between the traced calls of `clock_adjtime` and `adjtimex`, or,
    /// where these are not traced, between the runs of a daemon that works by calls. `steered:PPM`: its rate may change at any
    /// time, by at most PPM from the usual one (without PPM: 500, the kernel's limit for NTP). `unknown`: bounded like
    /// `steered`. May be repeated; HOST=ASSUMPTION takes precedence over ASSUMPTION for all
    #[arg(long, value_name = "[HOST=]ASSUMPTION", value_parser = clock)]
    pub(crate) clock: Vec<(Option<String>, ClockChoice)>,
    /// Resolution of the stamps of HOST, or of all hosts: 1ms, 15.625ms, 10us, or ns without a unit. Instead of the tick that all
    /// stamps of a clock are whole multiples of apart; never finer than its file can state. Bounds allow for it. May be repeated;
    /// HOST=TICK takes precedence over TICK for all
    #[arg(long, value_name = "[HOST=]TICK", value_parser = resolution)]
    pub(crate) resolution: Vec<(Option<String>, u64)>,
    /// How far the rate of a free-running clock may be from constant, in parts per million, unless messages show more:
    /// all bounds are guaranteed under this condition. 0.1 suits computers in rooms of a steady temperature; a greater value gives wider bounds between
    /// messages; 0 treats rates as exactly constant
    #[arg(long, value_name = "PPM", default_value_t = WANDER_PPM, value_parser = wander, allow_negative_numbers = true)]
    pub(crate) wander: f64,
    /// How far apart the rates of two clocks can be, in parts per million, where messages do not show it. Crystals stay within
    /// 100; NTP slews by up to 500
    #[arg(long, value_name = "PPM", default_value_t = RATE_PRIOR_PPM, value_parser = rate_prior, allow_negative_numbers = true)]
    pub(crate) rate_prior: u32,
    /// Share of the round trip by which the least delays of the two directions may differ, for the likely error (e95). No
    /// guarantee depends on it. 0: both directions take equally long; 1: their difference is unknown
    #[arg(long, value_name = "SHARE", default_value_t = ASYMMETRY, value_parser = share, allow_negative_numbers = true)]
    pub(crate) asymmetry: f64,
    /// Hosts that share a clock already, by PTP or because they are one machine: their Unix times are taken to be equal. May be
    /// repeated for several groups; a note has the number of messages that contradict it
    #[arg(long, value_name = "HOST,…", value_parser = group)]
    pub(crate) trust_clock: Vec<Group>,
    /// Method of the estimate: the default, or a published one. Bounds stay those of the messages, so that such an estimate may lie
    /// outside of them; the report shows where, and which known faults of the originals were not reproduced
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = Method::Default, conflicts_with = "trust_clock")]
    pub(crate) method: Method,
    /// Significant digits of the formulas of --method [default: 34]
    #[arg(long, value_name = "N", value_parser = digits)]
    pub(crate) digits: Option<u32>,
    /// Only read and match packets, and report the result: nothing is computed or written
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

/// Hosts that share a clock.
#[derive(Debug, Clone)]
pub(crate) struct Group(pub(crate) Vec<String>);

/// What `isochrone sync` does besides synchronizing.
#[derive(Debug, Subcommand)]
pub(crate) enum SyncCommand {
    /// Judge a synchronization by the messages themselves: inversions, messages that are too fast, latencies, round trips
    #[command(
        override_usage = "isochrone sync eval [OPTIONS] <TRACE>...\n       isochrone sync eval [OPTIONS] <SYNC.JSON> [TRACE]...\n       isochrone sync eval [OPTIONS] [SYNC.JSON] --messages <FILE>",
        after_help = "Examples:\n  \
        isochrone sync eval web/ app/ db/                    with the corrections of `isochrone sync`\n  \
        isochrone sync eval --no-sync web/ app/ db/          each host on its own clock\n  \
        isochrone sync eval sync.json                        with these corrections, by the traces from which they were made\n  \
        isochrone sync eval sync.json --messages list.txt    the same, by a list of messages\n  \
        isochrone sync eval --sync sync.json web2/ app2/     by other traces of these hosts\n  \
        isochrone sync eval --rtt pings.txt web/ app/        which messages are faster than the network\n  \
        isochrone sync eval --table histogram web/ app/      latencies each way\n\n\
        A directory named `eval` is given as ./eval."
    )]
    Eval(Eval),
}

/// `isochrone sync eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Traces or captures of two or more hosts. A `sync.json` among them is the same as with --sync; without a trace, those are read from
    /// which it was made
    #[arg(required_unless_present_any = ["messages", "sync"], value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Read messages from this text instead of traces, as `isochrone sync --messages` does
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Least round trips that were measured: a line `FROM TO MS` for each, hosts by name or address, `#` starts a comment. A message
    /// that takes less than half of one is too fast. A pair with only the opposite direction is judged by that
    #[arg(long, value_name = "FILE")]
    pub(crate) rtt: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all tables and columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
}

/// The method of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// By all messages of all links together: docs/SYNC.md
    Default,
    /// The line of greatest margin of each pair of hosts
    Margin,
    /// LTTV's convex hulls: the bisector of the extreme lines of each pair
    Hull,
    /// Trace Compass's algorithm: the mean of the extreme lines of each pair
    Tracecompass,
    /// LTTV's linear regression: least squares over exchanges of each pair
    Linreg,
}

impl Method {
    /// The published method, if it is one.
    pub(crate) fn published(self) -> Option<published::Method> {
        Some(match self {
            Self::Default => return None,
            Self::Margin => published::Method::Margin,
            Self::Hull => published::Method::Hull,
            Self::Tracecompass => published::Method::TraceCompass,
            Self::Linreg => published::Method::Linreg,
        })
    }
}

/// Parses the name of a capture and where it was taken.
fn taken(text: &str) -> Result<(String, DeclaredVantage), String> {
    let (name, place) = text.rsplit_once('=').ok_or("not of the form NAME=PLACE")?;
    Ok((name.to_owned(), place.parse()?))
}

/// Parses an assumption about the clock of a host, or about all.
fn clock(text: &str) -> Result<(Option<String>, ClockChoice), String> {
    match text.rsplit_once('=') {
        Some((host, choice)) => Ok((Some(host.to_owned()), choice.parse()?)),
        None => Ok((None, text.parse()?)),
    }
}

/// Parses the resolution of the stamps of a host, or of all, ns.
fn resolution(text: &str) -> Result<(Option<String>, u64), String> {
    let (host, tick) = match text.rsplit_once('=') {
        Some((host, tick)) => (Some(host.to_owned()), tick),
        None => (None, text),
    };
    match duration(tick)? {
        ns @ 1..=MAX_DECLARED_TICK_NS => Ok((host, ns)),
        _ => Err("not from 1ns to 1s".to_owned()),
    }
}

/// Parses a number of ppm.
fn wander(text: &str) -> Result<f64, String> {
    number(text, MAX_WANDER_PPM).ok_or_else(|| format!("not a number of ppm from 0 to {MAX_WANDER_PPM}"))
}

/// Parses a share of a whole.
fn share(text: &str) -> Result<f64, String> {
    number(text, 1.0).ok_or_else(|| "not a share: give a number from 0 to 1".to_owned())
}

fn number(text: &str, max: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (0.0..=max).contains(number))
}

/// Parses a whole number of ppm.
fn rate_prior(text: &str) -> Result<u32, String> {
    let known = text.parse().ok().filter(|ppm| (1..=MAX_RATE_PRIOR_PPM).contains(ppm));
    known.ok_or_else(|| format!("not a whole number of ppm from 1 to {MAX_RATE_PRIOR_PPM}"))
}

/// Parses a number of digits.
fn digits(text: &str) -> Result<u32, String> {
    let known = text.parse().ok().filter(|digits| (1..=MAX_DIGITS).contains(digits));
    known.ok_or_else(|| format!("not a number of digits from 1 to {MAX_DIGITS}"))
}

/// Parses names separated by commas.
fn group(text: &str) -> Result<Group, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().any(String::is_empty) || names.len() < 2 {
        true => Err("name two hosts or more, with commas between them: app,db".to_owned()),
        false => Ok(Group(names)),
    }
}
