//! What can be typed, and the help that teaches it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use isochrone_sync::capture::Taken;

/// Puts the traces of many Linux hosts on one clock, with proven error bounds.
#[derive(Debug, Parser)]
#[command(
    name = "isochrone",
    version,
    max_term_width = 100,
    after_help = "A TRACE is a CTF trace directory (one with a `metadata` file), or a directory that holds some: LTTng \
                  session directories, rotation archives, a directory per host. For `sync` and `info` it may also be a packet \
                  capture (pcap, pcapng).\n\n\
                  Exit status: 0 done; 1 done in part (something was refused, or hosts fall into islands); 2 wrong \
                  usage, or nothing could be read."
)]
pub(crate) struct Arguments {
    /// Print results only: no notes, no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put the clocks of all hosts on one: match packets, solve, report
    #[command(after_help = "Examples:\n  \
        isochrone sync web/ app/ db/                     report on the terminal\n  \
        isochrone sync web/ app/ db/ -o sync.json        and keep the corrections for other commands\n  \
        isochrone sync web/ app/ db/ --write together/   and write copies that any CTF viewer shows on one clock\n  \
        isochrone sync web/ app/ switch.pcap             with what a switch between them saw\n  \
        isochrone sync web1.pcap web2.pcapng             from captures alone\n  \
        isochrone sync --messages list.txt               from a list of messages\n\n\
        Hosts are tied together by TCP packets that both of them traced. Record on every host:\n  \
        lttng enable-event --kernel net_dev_queue,net_if_receive_skb\n\n\
        A capture (pcap, pcapng; not compressed) is a host of its own, called like the file without its extension, and \
        stamped by the wall clock of where it was taken: `web1.pcap` beside an LTTng trace of web1 is the clock `web1#2`. \
        Packet types, directions and addresses in it tell whether it was taken on an end host or on the way (a switch, a \
        mirror port); a note says which, and --captured corrects it. The first 96 bytes of each packet are enough: tcpdump -s 96 -w web1.pcap. \
        Below a directory, files called *.pcap, *.pcapng and *.cap are found.")]
    Sync(Sync),
    /// Show events of one or more traces in the order of time
    #[command(after_help = "Examples:\n  \
        isochrone events web/                                    like babeltrace2\n  \
        isochrone events --sync sync.json web/ app/ db/          all hosts on the reference clock\n  \
        isochrone events --event 'sched_*' --format json web/    as JSON lines, for programs")]
    Events(Events),
    /// Tell what is in traces: hosts, clocks, streams, events, losses
    #[command(after_help = "Examples:\n  \
        isochrone info web/                                           an overview of each trace\n  \
        isochrone info --format json web/ | jq '.traces[].losses'     all gaps, for programs")]
    Info(Info),
    /// Turn times of one host into times of the reference or of another host, with bounds
    #[command(after_help = "Examples:\n  \
        isochrone convert --sync sync.json --from app 1795154041.823216897\n  \
        isochrone convert --sync sync.json --from app --to db 2026-11-20T05:54:01.823216897Z\n  \
        isochrone convert --sync sync.json --from app --raw 8214000000")]
    Convert(Convert),
    /// Write everything a reader understands of one trace as canonical JSON lines (ctf-dump v1), to compare readers
    Dump(Dump),
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Traces or captures of two or more hosts
    #[arg(required_unless_present = "messages", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Read messages from this text instead of traces: first the number of hosts, then a line for each message, `sender
    /// receiver send_time recv_time`. Hosts are numbered from 0; times are seconds with a decimal point, ns without;
    /// further columns and `#` comments are passed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["traces", "write"])]
    pub(crate) messages: Option<PathBuf>,
    /// Write the corrections to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write synchronized copies of the traces below this directory: each argument's last path component followed by `_`
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Where the capture NAME was taken, if the note on it is wrong: `way` (at a switch or a mirror port), or an Ethernet or
    /// IP address of the end host; may be repeated
    #[arg(long, value_name = "NAME=PLACE", value_parser = taken, conflicts_with = "messages")]
    pub(crate) captured: Vec<(String, Taken)>,
    /// Host whose clock all others are put on [default: the one that keeps the worst uncertainty least]
    #[arg(long, value_name = "HOST")]
    pub(crate) reference: Option<String>,
    /// What to print: a report for people, or the corrections themselves
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Traces, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Show all times on the reference clock of this file, which `isochrone sync -o` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) sync: Option<PathBuf>,
    /// How to print events
    #[arg(long, value_enum, default_value_t = EventFormat::Text)]
    pub(crate) format: EventFormat,
    /// Only events at or after this time: Unix seconds with a decimal point, Unix nanoseconds without, or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = crate::render::time::parse)]
    pub(crate) begin: Option<i128>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = crate::render::time::parse)]
    pub(crate) end: Option<i128>,
    /// Only events of this name; `*` stands for anything; may be repeated
    #[arg(long = "event", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only events of this host; may be repeated
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Print dates too, not only times of day
    #[arg(long)]
    pub(crate) date: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Traces and captures, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// One trace directory
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The corrections, as `isochrone sync -o` wrote them
    #[arg(long, value_name = "FILE")]
    pub(crate) sync: PathBuf,
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
    /// Times: Unix seconds with a decimal point, Unix nanoseconds without, or RFC 3339
    #[arg(required = true, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) times: Vec<String>,
}

/// The name of a capture and where it was taken.
fn taken(text: &str) -> Result<(String, Taken), String> {
    let (name, place) = text.rsplit_once('=').ok_or("it is no NAME=PLACE")?;
    Ok((name.to_owned(), place.parse()?))
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
    /// One JSON object a line
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn definitions_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
