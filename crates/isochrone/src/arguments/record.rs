//! `isochrone record` and `isochrone probe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use isochrone_record::recipe::Purpose;
use isochrone_record::script::{Kept, MAX_BUFFER, MIN_BUFFER, Tracer};

use super::analyze::size;
use super::live::wait;

/// The end of the help of `isochrone record`.
pub(super) const AFTER_RECORD: &str = "Examples:\n  \
    isochrone record web1 app1 db1 --for 30s -o run7         three hosts, with LTTng or ftrace\n  \
    isochrone record root@web1 root@db1 --request -o run8    until Ctrl-C, which stops and collects\n  \
    isochrone record . --user-space -o run9                  programs of this machine, without root\n  \
    isochrone record web1 db1 --snapshot -o run10            at Ctrl-C, what was just before\n  \
    isochrone record --check web1 app1 db1                   what is missing, and what mends it\n  \
    isochrone record --print --for 30s > record.sh           the script, to be run by hand\n\n\
    Hosts are logged into by the system's own `ssh`, with keys that need no password (BatchMode). The \
    kernel is recorded as root: by a root login, or by `sudo -n`. Nothing is installed there, and nothing \
    stays: sessions, daemons, events and files are removed when the recording has been collected, and \
    where the connection is lost. docs/record.md has the whole way from nothing to a picture.\n\n\
    Exit status: 0 all was recorded; 1 events were lost, or a host or a part of its recording is missing; \
    2 wrong usage, a host is not ready, or nothing was recorded.";

/// The end of the help of `isochrone probe`.
pub(super) const AFTER_PROBE: &str = "Examples:\n  \
    isochrone probe web1 app1 db1                  100 round trips of each pair of hosts\n  \
    isochrone probe --trips 1000 web1 db1\n\n\
    A round trip is a UDP packet of 32 bytes there and back, of which the tracers of both hosts record \
    that it was sent and received. `isochrone record` does this by itself; this is for recordings that \
    were started otherwise. Hosts need python3 or perl.";

/// `isochrone record`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of the command line.
pub(crate) struct Record {
    /// Hosts, as `ssh` knows them; `localhost` or `.` is this machine, without `ssh`
    #[arg(required_unless_present = "print", value_name = "[USER@]HOST")]
    pub(crate) hosts: Vec<String>,
    /// The directory of the recording, which must be empty or new: a directory in it for each host
    #[arg(long, short, value_name = "DIR", required_unless_present_any = ["print", "check"])]
    pub(crate) output: Option<PathBuf>,
    /// End after this time [default: record until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = wait)]
    pub(crate) time: Option<Duration>,
    /// Record in chunks of this time each, which `watch`, `map` and all others read as one trace
    #[arg(long, value_name = "DURATION", value_parser = chunk, conflicts_with = "snapshot")]
    rotate: Option<Duration>,
    /// Record in memory alone, and collect at the end what the buffers hold: the last moments before it
    #[arg(long)]
    snapshot: bool,
    #[command(flatten)]
    pub(crate) what: What,
    /// The tracer [default: LTTng where a host has it, else the kernel's own]
    #[arg(long, value_enum, value_name = "TRACER")]
    pub(crate) tracer: Option<TracerName>,
    /// The buffer of each CPU, for events that are not yet on the disk, or are never: a power of two
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = buffer)]
    pub(crate) buffer: u64,
    /// Send no packets between hosts
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Record the others where this host is not ready
    #[arg(long, value_name = "HOST")]
    pub(crate) skip: Vec<String>,
    #[command(flatten)]
    pub(crate) way: WayOptions,
    /// Only say what is there and what is missing on each host
    #[arg(long, conflicts_with_all = ["time", "print", "output"])]
    pub(crate) check: bool,
    /// Print the script that does it, to be run by hand on each host
    #[arg(long, conflicts_with_all = ["output", "no_probe", "skip", "ssh", "on_host"])]
    pub(crate) print: bool,
}

impl Record {
    /// What hosts keep until it is collected.
    pub(crate) fn kept(&self) -> Kept {
        match self.rotate {
            Some(time) => Kept::InChunks(time),
            None if self.snapshot => Kept::Last,
            None => Kept::All,
        }
    }
}

/// What is recorded: one of these, or all.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of the command line.
pub(crate) struct What {
    /// Record what shows where the time of requests went: no memory pages, no page faults
    #[arg(long, help_heading = "Less than all")]
    request: bool,
    /// Record who ran, and why: no system calls, no disks, no memory
    #[arg(long, help_heading = "Less than all")]
    cpu: bool,
    /// Record requests to disks, and system calls
    #[arg(long, help_heading = "Less than all")]
    disk: bool,
    /// Record the tracepoints of programs alone, with LTTng, as the user of the login: no kernel, no root
    #[arg(long, conflicts_with = "tracer", help_heading = "Less than all")]
    user_space: bool,
}

impl What {
    /// What the recording is for.
    pub(crate) fn purpose(&self) -> Purpose {
        match self {
            Self { request: true, .. } => Purpose::Request,
            Self { cpu: true, .. } => Purpose::Cpu,
            Self { disk: true, .. } => Purpose::Disk,
            Self { user_space: true, .. } => Purpose::UserSpace,
            _ => Purpose::All,
        }
    }
}

/// How hosts are reached.
#[derive(Debug, Args)]
pub(crate) struct WayOptions {
    /// The command that connects to a host: `ssh -F FILE`, `ssh -p 2222`
    #[arg(long, value_name = "COMMAND", default_value = "ssh", value_parser = words, help_heading = "Hosts")]
    pub(crate) ssh: Command,
    /// Where hosts keep what is recorded until it is collected [default: their TMPDIR, or /var/tmp]
    #[arg(long, value_name = "DIR", help_heading = "Hosts")]
    pub(crate) on_host: Option<String>,
}

/// A program and its first arguments.
#[derive(Debug, Clone)]
pub(crate) struct Command(pub(crate) Vec<String>);

/// `isochrone probe`.
#[derive(Debug, Args)]
pub(crate) struct Probe {
    /// Two hosts or more, as `ssh` knows them; `localhost` or `.` is this machine, without `ssh`
    #[arg(required = true, num_args = 2.., value_name = "[USER@]HOST")]
    pub(crate) hosts: Vec<String>,
    /// Round trips of each pair of hosts
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = trips)]
    pub(crate) trips: u32,
    #[command(flatten)]
    pub(crate) way: WayOptions,
}

/// A tracer, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TracerName {
    /// LTTng: its kernel modules, and programs with its tracepoints
    Lttng,
    /// The kernel's own tracer, with trace-cmd or without: needs no modules
    Ftrace,
}

impl From<TracerName> for Tracer {
    fn from(name: TracerName) -> Self {
        match name {
            TracerName::Lttng => Self::Lttng,
            TracerName::Ftrace => Self::Ftrace,
        }
    }
}

fn chunk(text: &str) -> Result<Duration, String> {
    let time = wait(text)?;
    (time >= Duration::from_secs(1)).then_some(time).ok_or_else(|| "less than 1 s".to_owned())
}

fn buffer(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    let is_good = bytes.is_power_of_two() && (MIN_BUFFER..=MAX_BUFFER).contains(&bytes);
    is_good.then_some(bytes).ok_or_else(|| "not a power of two from 64KiB to 1GiB".to_owned())
}

fn words(text: &str) -> Result<Command, String> {
    let words = shlex::split(text).filter(|words| !words.is_empty());
    words.map(Command).ok_or_else(|| "not a command".to_owned())
}

fn trips(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "not a number from 1 to 10000".to_owned())
}
