//! `isochrone sync eval`: a synchronization judged by the messages themselves, and
//! `isochrone sync --dry-run`: the result of the matching alone. The tables are in
//! [`crate::render::evaluation`].

use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_corrections::{Clock, Clocks};
use isochrone_ctf::Trace;
use isochrone_experiment::{Spread, read_clocks};
use isochrone_files::Inputs;
use isochrone_hosts::clocks::HostClock;
use isochrone_matching::text_messages::{Line, TextMessages};
use isochrone_matching::{End, Matched, Message};
use isochrone_sync::evaluation::Evaluation;
use isochrone_sync::evaluation::floors::Floors;
use isochrone_sync::{Matching, Options, match_only, synchronize, synchronize_messages};
use isochrone_time::{RawNs, UnixNs};

use super::named;
use super::reports::ReportStyle;
use crate::arguments::{Eval, ReportFormat, Sync, TableFormat};
use crate::output::{Console, note, warn_partial};
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::evaluation::{Evaluated, matched};
use crate::render::plain::Plain;

/// Judges messages of traces or of a list.
pub(super) fn run(arguments: &Eval, console: &Console) -> anyhow::Result<()> {
    let floors = arguments.rtt.as_deref().map(Floors::read).transpose().context("--rtt")?.unwrap_or_default();
    let Judged { kept, traces } = judged(arguments)?;
    let style = ReportStyle {
        format: arguments.format,
        table: arguments.table.as_deref(),
        sort: None,
        has_bounds: false,
        threads: Spread::default().threads(),
    };
    let evaluated = match &arguments.messages {
        Some(path) => of_list(arguments, path, floors, kept, console)?,
        None => of_traces(arguments, &traces, floors, kept, console)?,
    };
    style.print(&[evaluated.report()], None, evaluated.hosts.len(), console)
}

/// Matches packets and reports the result.
pub(super) fn dry_run(arguments: &Sync, console: &Console) -> anyhow::Result<()> {
    let started = std::time::Instant::now();
    let mut inputs = Inputs::open(&named(&arguments.traces)?.traces);
    inputs.split(&arguments.per_interface)?;
    complaints::of_inputs(&inputs, console)?;
    let options = Options { vantage: arguments.captured.clone(), ..Options::default() };
    let mut range = Range::default();
    let matching = read(&inputs, &options, console, &mut |matched| range.add(matched))?;
    let hosts: Vec<String> = matching.clocks.iter().map(|clock| clock.host.clone()).collect();
    let format = match arguments.format {
        ReportFormat::Text => TableFormat::Text,
        ReportFormat::Json => TableFormat::Json,
    };
    let style = ReportStyle {
        format,
        table: None,
        sort: None,
        has_bounds: false,
        threads: Spread::default().threads(),
    };
    let report = matched(&hosts, &matching.packets, &matching.traffic, range.on(&matching.clocks));
    style.print(&[report], None, hosts.len(), console)?;
    note!(console, "read and matched in {:.2} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Reads traces and captures, passes on their messages, and reports problems. Losses of inputs do not make
/// the result partial.
fn read(
    inputs: &Inputs,
    options: &Options,
    console: &Console,
    sink: &mut dyn FnMut(&Matched),
) -> anyhow::Result<Matching> {
    let bar = Progress::over_bytes(inputs, "matching packets", console);
    let matching = match_only(inputs, options, &|bytes| bar.add(bytes), sink)?;
    bar.finish();
    for facts in &matching.facts {
        complaints::show(facts.diagnostics(), &console.apart());
    }
    for facts in &matching.captures {
        complaints::show(&facts.diagnostics, &console.apart());
    }
    complaints::show_refused(&matching.refused, "warning");
    matching.notes.iter().for_each(|text| note!(console, "{}", Plain(text)));
    console.partial_if(matching.partial);
    Ok(matching)
}

/// What is judged, and by what.
struct Judged {
    /// Corrections in a file, if one is named.
    kept: Option<Clocks>,
    /// Traces and captures; empty where messages come from a list.
    traces: Vec<PathBuf>,
}

/// Separates a `sync.json` from traces, among which it may be named; without traces, those are judged from
/// which it was made.
fn judged(arguments: &Eval) -> anyhow::Result<Judged> {
    let is_kept = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) && path.is_file()
    };
    let (kept, mut traces): (Vec<_>, Vec<_>) = arguments.traces.iter().cloned().partition(is_kept);
    let file = match (&arguments.clock.sync, &kept[..]) {
        (Some(file), []) | (None, [file]) => Some(file),
        (None, []) => None,
        (_, [file, ..]) => {
            anyhow::bail!("{}: one sync.json is judged at a time", Plain(file.display()))
        }
    };
    anyhow::ensure!(
        file.is_none() || !arguments.clock.no_sync,
        "--no-sync does not apply to the corrections of a sync.json"
    );
    let kept = file.map(|file| read_clocks(file)).transpose()?;
    if arguments.messages.is_some() {
        anyhow::ensure!(
            traces.is_empty(),
            "--messages: messages are read from a list or from traces, and {} is named",
            Plain(traces[0].display())
        );
    } else if let (Some(file), Some(clocks), []) = (file, &kept, &traces[..]) {
        let paths =
            clocks.iter().flat_map(|clock| &clock.entry.traces).map(|trace| PathBuf::from(&trace.path));
        traces = paths.collect();
        anyhow::ensure!(
            !traces.is_empty(),
            "{}: it was made of a list of messages: name it with --messages",
            Plain(file.display())
        );
    }
    Ok(Judged { kept, traces })
}

fn of_traces(
    arguments: &Eval,
    named_traces: &[PathBuf],
    floors: Floors,
    kept: Option<Clocks>,
    console: &Console,
) -> anyhow::Result<Evaluated> {
    let inputs = Inputs::open(&named(named_traces)?.traces);
    complaints::of_inputs(&inputs, console)?;
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let clocks = match (kept, arguments.clock.no_sync) {
        (Some(clocks), _) => Some(clocks),
        (None, true) => None,
        (None, false) => {
            let bar = Progress::over_bytes(&inputs, "synchronizing", console);
            let outcome = synchronize(&inputs, &Options::default(), &|bytes| bar.add(bytes))?;
            bar.finish();
            Some(outcome.clocks)
        }
    };
    let stamped = isochrone_matching::clocks_of(&inputs);
    let hosts: Vec<String> = stamped.iter().map(|clock| clock.host.clone()).collect();
    check(&floors, &hosts, console);
    let times = Times::new(&stamped, clocks.as_ref(), &traces);
    let mut evaluation = Evaluation::new(floors.for_hosts(&hosts));
    let mut range = None;
    let matching = read(&inputs, &Options::default(), console, &mut |matched| {
        let (sent, received) = (times.sent(&matched.sent), times.received(&matched.received));
        cover(&mut range, [sent, received]);
        evaluation.add(matched, latency(sent, received));
    })?;
    times.note_unknown(&hosts, console);
    let (ways, round_trips) = evaluation.finish();
    let packets = Some((matching.packets, matching.traffic));
    Ok(Evaluated { hosts, sync: clocks.is_some(), range, ways, round_trips, packets })
}

fn of_list(
    arguments: &Eval,
    path: &Path,
    floors: Floors,
    kept: Option<Clocks>,
    console: &Console,
) -> anyhow::Result<Evaluated> {
    let clocks = match (kept, arguments.clock.no_sync) {
        (Some(clocks), _) => Some(clocks),
        (None, true) => None,
        (None, false) => Some(synchronize_messages(path, &Options::default(), &|_| {})?.clocks),
    };
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = Progress::over(bytes, "reading messages", console);
    let mut list = TextMessages::open(path)?;
    let names: Vec<String> = (0..list.hosts()).map(|host| host.to_string()).collect();
    let stamped: Vec<HostClock> =
        names.iter().map(|name| HostClock::named(name.clone(), Vec::new())).collect();
    check(&floors, &names, console);
    let times = Times::new(&stamped, clocks.as_ref(), &[]);
    let mut evaluation = Evaluation::new(floors.for_hosts(&names));
    let (mut range, mut beyond, mut reported) = (None, 0_u64, 0);
    while let Some(line) = list.next() {
        match line? {
            Line::Message(message) => {
                let Message { sender, sent, receiver, received } = message;
                let received = times.latest(receiver, received);
                let (sent, received) = (times.at(sender, sent), times.at(receiver, received));
                cover(&mut range, [sent, received]);
                evaluation.add_listed(message, list.numbers(), latency(sent, received));
            }
            Line::Beyond { .. } => beyond += 1,
        }
        if list.position() - reported > 1 << 20 {
            bar.add(list.position() - reported);
            reported = list.position();
        }
    }
    bar.finish();
    if beyond > 0 {
        warn_partial!(
            console,
            "{}: {beyond} messages with times out of range are left out",
            Plain(path.display())
        );
    }
    times.note_unknown(&names, console);
    let (ways, round_trips) = evaluation.finish();
    Ok(Evaluated { hosts: names, sync: clocks.is_some(), range, ways, round_trips, packets: None })
}

/// Notes names that no host has.
fn check(floors: &Floors, hosts: &[String], console: &Console) {
    for name in floors.unknown(hosts) {
        note!(console, "--rtt: no host is called {}", Plain(name));
    }
}

/// An instant on the judged clock, and its island; `None`: unknown.
type At = Option<(UnixNs, usize)>;

/// The clocks of times.
struct Times<'c> {
    /// By clock of the messages.
    clocks: Vec<HostTimes<'c>>,
}

/// The clock of a host.
enum HostTimes<'c> {
    /// Its own, with its offset.
    Own(i64),
    /// The common one.
    Corrected(&'c Clock),
    /// The corrections do not have it.
    Unknown,
}

impl<'c> Times<'c> {
    fn new(stamped: &[HostClock], corrections: Option<&'c Clocks>, traces: &[&Trace]) -> Self {
        let of = |clock: &HostClock| {
            let Some(corrections) = corrections else { return HostTimes::Own(clock.offset_ns) };
            let by_trace = clock.traces.iter().find_map(|&trace| corrections.of_trace(traces[trace]));
            let by_name = || corrections.of_host(&clock.host).filter(|_| clock.traces.is_empty());
            by_trace.or_else(by_name).map_or(HostTimes::Unknown, HostTimes::Corrected)
        };
        Self { clocks: stamped.iter().map(of).collect() }
    }

    fn sent(&self, end: &End) -> At {
        self.at(end.clock, end.time)
    }

    fn received(&self, end: &End) -> At {
        self.at(end.clock, end.time.max(self.latest(end.clock, end.raw)))
    }

    /// The latest raw time of an arrival with a stamp, by the resolution of its clock in the corrections.
    fn latest(&self, clock: usize, raw: RawNs) -> RawNs {
        let resolution = match &self.clocks[clock] {
            HostTimes::Corrected(clock) => clock.entry.resolution,
            HostTimes::Own(_) | HostTimes::Unknown => None,
        };
        let after = resolution.map_or(0, |it| it.tick_ns.saturating_sub(1));
        RawNs(raw.ns().saturating_add_unsigned(after))
    }

    fn at(&self, clock: usize, raw: RawNs) -> At {
        match &self.clocks[clock] {
            // Clocks without corrections are compared as they are.
            HostTimes::Own(offset) => Some((UnixNs(i128::from(raw.0) + i128::from(*offset)), 0)),
            HostTimes::Corrected(clock) => Some((clock.unix(raw), clock.entry.island)),
            HostTimes::Unknown => None,
        }
    }

    fn note_unknown(&self, hosts: &[String], console: &Console) {
        let unknown = self.clocks.iter().zip(hosts).filter(|(clock, _)| matches!(clock, HostTimes::Unknown));
        for (_, host) in unknown {
            note!(
                console,
                "the corrections do not have {}: its messages are counted, and have no latency",
                Plain(host)
            );
        }
    }
}

/// The latency of a message, ns, where the clocks of its hosts can be compared.
fn latency(sent: At, received: At) -> Option<i64> {
    let ((sent, from), (received, to)) = (sent?, received?);
    (from == to).then(|| received.saturating_since(sent))
}

fn cover(range: &mut Option<[UnixNs; 2]>, times: [At; 2]) {
    for (time, _) in times.into_iter().flatten() {
        let [begin, end] = range.get_or_insert([time, time]);
        (*begin, *end) = ((*begin).min(time), (*end).max(time));
    }
}

/// First and last raw time of messages by clock.
#[derive(Default)]
struct Range {
    clocks: std::collections::BTreeMap<usize, (RawNs, RawNs)>,
}

impl Range {
    fn add(&mut self, matched: &Matched) {
        for end in [&matched.sent, &matched.received] {
            let (begin, last) = self.clocks.entry(end.clock).or_insert((end.time, end.time));
            (*begin, *last) = ((*begin).min(end.time), (*last).max(end.time));
        }
    }

    /// By the clocks of the hosts.
    fn on(&self, clocks: &[HostClock]) -> Option<[UnixNs; 2]> {
        let mut range = None;
        for (&clock, &(begin, end)) in &self.clocks {
            let offset = i128::from(clocks[clock].offset_ns);
            cover(&mut range, [begin, end].map(|raw| Some((UnixNs(i128::from(raw.ns()) + offset), 0))));
        }
        range
    }
}
