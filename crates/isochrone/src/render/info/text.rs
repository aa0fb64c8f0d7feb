//! The content of a trace, for people: its tracer, clocks, totals, then tables of streams, of the worst losses and of the most frequent
//! events. Every list is limited; the JSON has all.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use isochrone_time::UnixNs;

use super::summary::{ClockInfo, Gap, Gaps, Kind, Setting, StreamInfo, TraceInfo};
use super::{duration, line};
use crate::render::figures::{self, plural};
use crate::render::plain::plain;
use crate::render::table::Table;
use crate::render::time;

/// Maximum number of entries of the environment without a line of their own.
const MAX_SETTINGS: usize = 12;
/// Maximum number of clocks.
const MAX_CLOCKS: usize = 8;
/// Maximum number of files without packets that are named.
const MAX_EMPTY_FILES: usize = 8;
/// Maximum number of streams.
const MAX_STREAMS: usize = 16;
/// Maximum number of gaps of each kind.
const MAX_GAPS: usize = 6;
/// Maximum number of event classes.
const MAX_CLASSES: usize = 12;

/// Minimum length of a trace for a rate of events, ns.
const MIN_RATED_NS: i128 = 1_000_000;

/// Where the rest is.
const ALL: &str = "--format json shows all";

/// Entries of the environment with lines of their own.
const WITH_LINE: [&str; 12] = [
    "hostname",
    "domain",
    "tracer_name",
    "tracer_major",
    "tracer_minor",
    "tracer_patch",
    "tracer_patchlevel",
    "sysname",
    "kernel_release",
    "kernel_version",
    "procname",
    "vpid",
];

/// Prints one trace.
pub(crate) fn print(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let host = info.host.map_or(Cow::Borrowed("unknown host"), plain);
    let domain = info.domain.map(|domain| format!(", {}", plain(domain))).unwrap_or_default();
    let chunks = match info.chunks {
        1 => String::new(),
        chunks => format!(", {chunks} chunks of a rotated session (--verbose shows each)"),
    };
    writeln!(out, "{}: {host}{domain}, CTF {}{chunks}", plain(&info.path), info.ctf_version)?;
    environment(info, out)?;
    clocks(info, out)?;
    totals(info, out)?;
    if !info.stream_list.is_empty() {
        streams(info, out)?;
    }
    if info.losses.len() > 0 {
        gaps(info, out)?;
    }
    if !info.event_classes.is_empty() {
        event_classes(info, out)?;
    }
    Ok(())
}

/// The tracer, its system, and the rest of the environment.
fn environment(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let setting = |name: &&str| match info.environment.get(name)? {
        Setting::Integer(number) => Some(Cow::Owned(number.to_string())),
        Setting::Text(text) => Some(plain(text)).filter(|text| !text.is_empty()),
    };
    let joined = |names: &[&str], by| names.iter().filter_map(setting).collect::<Vec<_>>().join(by);
    let version = joined(&["tracer_major", "tracer_minor", "tracer_patchlevel", "tracer_patch"], ".");
    let tracer = joined(&["tracer_name"], "") + if version.is_empty() { "" } else { " " } + &version;
    let system = joined(&["sysname", "kernel_release", "kernel_version"], " ");
    let process = joined(&["procname", "vpid"], ", process ");
    for (label, text) in [("tracer", tracer), ("system", system), ("process", process)] {
        if !text.is_empty() {
            line(out, label, text.trim_start())?;
        }
    }
    let others = info.environment.iter().filter(|(name, _)| !WITH_LINE.contains(*name));
    let others = others.map(|(name, value)| match value {
        Setting::Integer(number) => format!("{} = {number}", plain(name)),
        Setting::Text(text) => format!("{} = \"{}\"", plain(name), plain(text)),
    });
    listed(others, MAX_SETTINGS).map_or(Ok(()), |text| line(out, "environment", &text))
}

/// A list on one line, its end counted; `None` where it is empty.
fn listed(mut items: impl Iterator<Item = String>, max: usize) -> Option<String> {
    let mut shown: Vec<String> = items.by_ref().take(max).collect();
    let all = shown.len() + items.count();
    shown.extend(more(all, max));
    Some(shown.join(", ")).filter(|_| all > 0)
}

/// The number of entries of a list that are not shown.
fn more(all: usize, shown: usize) -> Option<String> {
    let more = all.checked_sub(shown).filter(|&more| more > 0)?;
    Some(format!("… and {} more", figures::count(more)))
}

/// As a line of its own, below a list.
fn line_of_more(all: usize, shown: usize, what: &str, out: &mut impl Write) -> io::Result<()> {
    match more(all, shown) {
        Some(more) => writeln!(out, "  {more} {what} ({ALL})"),
        None => Ok(()),
    }
}

fn clocks(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    if info.clocks.is_empty() {
        return line(out, "clock", "none");
    }
    for (index, clock) in info.clocks.iter().take(MAX_CLOCKS).enumerate() {
        line(out, if index == 0 { "clock" } else { "" }, &shown_clock(clock))?;
    }
    line_of_more(info.clocks.len(), MAX_CLOCKS, "clocks", out)
}

fn shown_clock(clock: &ClockInfo<'_>) -> String {
    let id = clock.id.as_deref().map_or(Cow::Borrowed("no uuid"), plain);
    let precision = match clock.precision {
        0 => String::new(),
        cycles => format!(", ± {} cycles", figures::count(cycles)),
    };
    let zero = match (clock.offset_s, clock.offset_cycles) {
        (0, 0) => "no offset".to_owned(),
        _ => format!("0 is {}", time::full(UnixNs(clock.offset_ns))),
    };
    let frequency = figures::count(clock.frequency_hz);
    format!("{} ({id}), {frequency} Hz{precision}, {zero}", plain(clock.name))
}

fn totals(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut rate = String::new();
    if let Some((begin, end)) = info.totals.begin_ns.zip(info.totals.end_ns) {
        let length = end - begin;
        let text = format!("{} … {} ({})", time::full(begin), time::full(end), duration(length));
        line(out, "time", &text)?;
        if length >= MIN_RATED_NS {
            let a_second = u128::from(info.totals.events) * 1_000_000_000 / length.unsigned_abs();
            rate = format!(" ({} a second)", figures::count(a_second));
        }
    }
    let (packets, streams) = (plural(info.totals.packets, "packet"), plural(info.streams, "stream"));
    let events = plural(info.totals.events, "event");
    line(
        out,
        "holds",
        &format!("{events}{rate} in {packets} of {streams}, {} bytes", figures::count(info.totals.bytes)),
    )?;
    let empty_files = info.empty_files.iter().map(|name| plain(name).into_owned());
    if let Some(names) = listed(empty_files, MAX_EMPTY_FILES) {
        line(out, "no packets in", &names)?;
    }
    if info.losses.len() > 0 {
        let lost = [(info.totals.discarded_events, "event"), (info.totals.discarded_packets, "packet")];
        let lost: Vec<String> =
            lost.iter().filter(|(number, _)| *number > 0).map(|(number, one)| plural(*number, one)).collect();
        let gaps = plural(info.losses.len(), "gap");
        line(out, "lost", &format!("{} in {gaps}: the tracer could not write them", lost.join(" and ")))?;
    }
    let containers = info.pid_namespaces.iter().map(u64::to_string);
    if let Some(containers) = listed(containers, MAX_SETTINGS) {
        let has = if info.pid_namespaces.len() == 1 { "pid namespace" } else { "pid namespaces" };
        line(out, "containers", &format!("{has} {containers}"))?;
    }
    let network = match info.network {
        (0, 0) => "nothing: no network packet was traced with its headers".to_owned(),
        (sent, received) => format!(
            "network packets with headers, {} sent, {} received; those of TCP can be matched",
            figures::count(sent),
            figures::count(received)
        ),
    };
    line(out, "for sync", &network)
}

/// The streams, without columns that are the same for all.
fn streams(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    type Column<'c> = (&'static str, bool, Box<dyn Fn(&StreamInfo<'_>) -> String + 'c>);
    let all = &info.stream_list;
    let of_one_class = all.iter().all(|stream| stream.class_id == all[0].class_id);
    let files: BTreeSet<&str> = all.iter().map(|stream| stream.file).collect();
    let of_own_files = files.len() == all.len();
    let since_begin =
        |ns: Option<UnixNs>| ns.zip(info.totals.begin_ns).map(|(ns, begin)| duration(ns - begin));
    let clock =
        |index: Option<usize>| index.map_or(Cow::Borrowed("none"), |index| plain(info.clocks[index].name));
    let columns: [Column<'_>; 10] = [
        ("class", !of_one_class, Box::new(|s| s.class_id.to_string())),
        ("id", !of_own_files, Box::new(|s| s.stream_id.map(|id| id.to_string()).unwrap_or_default())),
        ("clock", info.clocks.len() > 1, Box::new(|s| clock(s.clock).into_owned())),
        ("packets", true, Box::new(|s| figures::count(s.totals.packets))),
        ("events", true, Box::new(|s| figures::count(s.totals.events))),
        ("bytes", true, Box::new(|s| figures::count(s.totals.bytes))),
        (
            "from",
            info.totals.begin_ns.is_some(),
            Box::new(|s| since_begin(s.totals.begin_ns).unwrap_or_default()),
        ),
        (
            "to",
            info.totals.begin_ns.is_some(),
            Box::new(|s| since_begin(s.totals.end_ns).unwrap_or_default()),
        ),
        (
            "lost events",
            info.totals.discarded_events > 0,
            Box::new(|s| figures::count(s.totals.discarded_events)),
        ),
        (
            "lost packets",
            info.totals.discarded_packets > 0,
            Box::new(|s| figures::count(s.totals.discarded_packets)),
        ),
    ];
    let columns: Vec<_> = columns.iter().filter(|(_, is_shown, _)| *is_shown).collect();
    let header: Vec<&str> = ["stream"].into_iter().chain(columns.iter().map(|(name, ..)| *name)).collect();
    let mut table = Table::new(&header).right_from(1);
    for stream in all.iter().take(MAX_STREAMS) {
        let file = plain(stream.file).into_owned();
        table.add_row([file].into_iter().chain(columns.iter().map(|(_, _, show)| show(stream))));
    }
    writeln!(out)?;
    table.print_indented(out)?;
    line_of_more(all.len(), MAX_STREAMS, "streams", out)
}

/// The largest gaps of a kind, the largest first; of equals the first.
fn worst<'t>(gaps: &Gaps<'t>, kind: Kind) -> Vec<Gap<'t>> {
    let mut worst: Vec<Gap<'t>> = Vec::new();
    for gap in gaps.iter().filter(|gap| gap.kind == kind) {
        let index = worst.partition_point(|other| other.count >= gap.count);
        if index < MAX_GAPS {
            worst.truncate(MAX_GAPS - 1);
            worst.insert(index, gap);
        }
    }
    worst
}

/// The worst gaps: lost packets, which may have held many events, then lost events.
fn gaps(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut shown = worst(&info.losses, Kind::Packets);
    shown.extend(worst(&info.losses, Kind::Events));
    let mut table =
        Table::new(&["worst losses in", "lost", "at packet", "from", "until", "within"]).right_from(1);
    for gap in &shown {
        let lost = match gap.kind {
            Kind::Events => plural(gap.count, "event"),
            Kind::Packets => plural(gap.count, "packet"),
        };
        let length = gap.begin_ns.zip(gap.end_ns).map(|(begin, end)| end - begin);
        // Packets may overlap in time.
        let length = length.filter(|&length| length >= 0).map(duration);
        let at = |at: Option<UnixNs>| at.map_or_else(|| "?".to_owned(), time::full);
        table.add_row([
            plain(gap.file).into_owned(),
            lost,
            figures::count(gap.packet),
            at(gap.begin_ns),
            at(gap.end_ns),
            length.unwrap_or_else(|| "?".to_owned()),
        ]);
    }
    writeln!(out)?;
    table.print_indented(out)?;
    line_of_more(info.losses.len(), shown.len(), "gaps", out)
}

fn event_classes(info: &TraceInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let bytes = info.event_classes.iter().map(|class| class.bytes).sum();
    let mut table = Table::new(&["events of class", "count", "share", "bytes", "share"]).right_from(1);
    for class in info.event_classes.iter().take(MAX_CLASSES) {
        table.add_row([
            class.name.map_or_else(|| format!("(unnamed, id {})", class.id), |name| plain(name).into_owned()),
            figures::count(class.count),
            figures::share(class.count, info.totals.events),
            figures::count(class.bytes),
            figures::share(class.bytes, bytes),
        ]);
    }
    writeln!(out)?;
    table.print_indented(out)?;
    line_of_more(info.event_classes.len(), MAX_CLASSES, "classes", out)
}
