//! `isochrone sync eval`: a synchronization judged by the messages themselves, and `isochrone sync --dry-run`: what the matching alone gives. The
//! tables are in [`crate::render::evaluation`].

use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_ctf::Trace;
use isochrone_experiment::{Spread, read_clocks};
use isochrone_hosts::clocks::HostClock;
use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::evaluation::Evaluation;
use isochrone_sync::evaluation::floors::Floors;
use isochrone_sync::matching::{End, Matched, Message};
use isochrone_sync::text_messages::{Line, TextMessages};
use isochrone_sync::{Inputs, Matching, Options, match_only, synchronize, synchronize_messages};

use super::named;
use super::reports::Shown;
use crate::ExitStatus;
use crate::arguments::{Eval, ReportFormat, Sync, TableFormat};
use crate::output::tell;
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::evaluation::{Evaluated, matched};
use crate::render::plain::Plain;

/// Judges messages of traces or of a list.
pub(super) fn run(arguments: &Eval, quiet: bool) -> anyhow::Result<ExitStatus> {
    let floors = arguments.rtt.as_deref().map(Floors::read).transpose().context("--rtt")?.unwrap_or_default();
    let Asked { kept, traces } = asked(arguments)?;
    let shown = Shown {
        format: arguments.format,
        table: arguments.table.as_deref(),
        sort: None,
        has_bounds: false,
        threads: Spread::default().threads(),
    };
    let (evaluated, ending) = match &arguments.messages {
        Some(path) => of_list(arguments, path, floors, kept, quiet)?,
        None => of_traces(arguments, &traces, floors, kept, quiet)?,
    };
    shown.print(&[evaluated.report()], None, evaluated.hosts.len(), quiet)?;
    Ok(ending)
}

/// Matches packets and says what came of it.
pub(super) fn dry_run(arguments: &Sync, quiet: bool) -> anyhow::Result<ExitStatus> {
    let begun = std::time::Instant::now();
    let mut inputs = Inputs::open(&named(&arguments.traces)?.traces);
    inputs.split(&arguments.per_interface)?;
    let opened = complaints::of_inputs(&inputs, quiet)?;
    let options = Options { vantage: arguments.captured.clone(), ..Options::default() };
    let mut range = Range::default();
    let (matching, ending) = read(&inputs, &options, quiet, &mut |matched| range.see(matched))?;
    let hosts: Vec<String> = matching.clocks.iter().map(|clock| clock.host.clone()).collect();
    let format = match arguments.format {
        ReportFormat::Text => TableFormat::Text,
        ReportFormat::Json => TableFormat::Json,
    };
    let shown =
        Shown { format, table: None, sort: None, has_bounds: false, threads: Spread::default().threads() };
    let report = matched(&hosts, &matching.packets, &matching.traffic, range.on(&matching.clocks));
    shown.print(&[report], None, hosts.len(), quiet)?;
    if !quiet {
        tell!("note: read and matched in {:.2} s", begun.elapsed().as_secs_f64());
    }
    Ok(opened.max(ending))
}

/// Reads traces and captures and gives out their messages; says what is wrong with them.
fn read(
    inputs: &Inputs,
    options: &Options,
    quiet: bool,
    sink: &mut dyn FnMut(&Matched),
) -> anyhow::Result<(Matching, ExitStatus)> {
    let bar = Progress::over_bytes(inputs, "matching packets", quiet);
    let matching = match_only(inputs, options, &|bytes| bar.add(bytes), sink)?;
    bar.finish();
    for facts in &matching.facts {
        complaints::show(facts.diagnostics(), quiet);
    }
    for facts in &matching.captures {
        complaints::show(&facts.diagnostics, quiet);
    }
    complaints::show_refused(&matching.refused, "warning");
    for note in matching.notes.iter().filter(|_| !quiet) {
        tell!("note: {}", Plain(note));
    }
    let ending = ExitStatus::partly_if(matching.partial);
    Ok((matching, ending))
}

/// What is judged, and by what.
struct Asked {
    /// Kept corrections, if any are named.
    kept: Option<Clocks>,
    /// Traces and captures; none where messages come from a list.
    traces: Vec<PathBuf>,
}

/// Tells a `sync.json` from traces: it may be named like one of them, and names those that it was made of.
fn asked(arguments: &Eval) -> anyhow::Result<Asked> {
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
        "--no-sync: nothing is corrected then, and a sync.json is named"
    );
    let kept = file.map(|file| read_clocks(file)).transpose()?;
    if arguments.messages.is_some() {
        anyhow::ensure!(
            traces.is_empty(),
            "--messages: messages are those of a list or those of traces, and {} is named",
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
    Ok(Asked { kept, traces })
}

fn of_traces(
    arguments: &Eval,
    named_traces: &[PathBuf],
    floors: Floors,
    kept: Option<Clocks>,
    quiet: bool,
) -> anyhow::Result<(Evaluated, ExitStatus)> {
    let inputs = Inputs::open(&named(named_traces)?.traces);
    let opened = complaints::of_inputs(&inputs, quiet)?;
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let clocks = match (kept, arguments.clock.no_sync) {
        (Some(clocks), _) => Some(clocks),
        (None, true) => None,
        (None, false) => {
            let bar = Progress::over_bytes(&inputs, "synchronizing", quiet);
            let outcome = synchronize(&inputs, &Options::default(), &|bytes| bar.add(bytes))?;
            bar.finish();
            Some(outcome.clocks)
        }
    };
    let stamped = isochrone_sync::clocks_of(&inputs);
    let hosts: Vec<String> = stamped.iter().map(|clock| clock.host.clone()).collect();
    check(&floors, &hosts, quiet);
    let times = Times::new(&stamped, clocks.as_ref(), &traces);
    let mut evaluation = Evaluation::new(floors.for_hosts(&hosts));
    let mut range = None;
    let (matching, ending) = read(&inputs, &Options::default(), quiet, &mut |matched| {
        let (sent, received) = (times.sent(&matched.sent), times.received(&matched.received));
        cover(&mut range, [sent, received]);
        evaluation.add(matched, latency(sent, received));
    })?;
    times.tell_unknown(&hosts, quiet);
    let (ways, round_trips) = evaluation.finish();
    let packets = Some((matching.packets, matching.traffic));
    let evaluated = Evaluated { hosts, sync: clocks.is_some(), range, ways, round_trips, packets };
    Ok((evaluated, opened.max(ending)))
}

fn of_list(
    arguments: &Eval,
    path: &Path,
    floors: Floors,
    kept: Option<Clocks>,
    quiet: bool,
) -> anyhow::Result<(Evaluated, ExitStatus)> {
    let clocks = match (kept, arguments.clock.no_sync) {
        (Some(clocks), _) => Some(clocks),
        (None, true) => None,
        (None, false) => Some(synchronize_messages(path, &Options::default(), &|_| {})?.clocks),
    };
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = Progress::over(bytes, "reading messages", quiet);
    let mut list = TextMessages::open(path)?;
    let names: Vec<String> = (0..list.hosts()).map(|host| host.to_string()).collect();
    let stamped: Vec<HostClock> =
        names.iter().map(|name| HostClock::named(name.clone(), Vec::new())).collect();
    check(&floors, &names, quiet);
    let times = Times::new(&stamped, clocks.as_ref(), &[]);
    let mut evaluation = Evaluation::new(floors.for_hosts(&names));
    let (mut range, mut beyond, mut told) = (None, 0_u64, 0);
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
        if list.position() - told > 1 << 20 {
            bar.add(list.position() - told);
            told = list.position();
        }
    }
    bar.finish();
    if beyond > 0 {
        tell!("warning: {}: {beyond} messages are left out for their times", Plain(path.display()));
    }
    times.tell_unknown(&names, quiet);
    let (ways, round_trips) = evaluation.finish();
    let evaluated =
        Evaluated { hosts: names, sync: clocks.is_some(), range, ways, round_trips, packets: None };
    Ok((evaluated, ExitStatus::partly_if(beyond > 0)))
}

/// A name that no host has is a mistake that costs its line.
fn check(floors: &Floors, hosts: &[String], quiet: bool) {
    for name in floors.unknown(hosts).iter().filter(|_| !quiet) {
        tell!("note: --rtt: no host is called {}", Plain(name));
    }
}

/// What shows an instant, Unix ns on the clock that is asked about; and of which island.
type At = Option<(i128, usize)>;

/// On which clock times are.
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
    /// The corrections say nothing of it.
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

    /// The latest raw time that the stamp of an arrival can mean, by the resolution that the corrections know of its clock.
    fn latest(&self, clock: usize, raw: i64) -> i64 {
        let resolution = match &self.clocks[clock] {
            HostTimes::Corrected(clock) => clock.entry.resolution,
            HostTimes::Own(_) | HostTimes::Unknown => None,
        };
        let after = resolution.map_or(0, |it| it.tick_ns.saturating_sub(1));
        raw.saturating_add_unsigned(after)
    }

    fn at(&self, clock: usize, raw: i64) -> At {
        match &self.clocks[clock] {
            // All clocks that nothing corrects are compared as they are.
            HostTimes::Own(offset) => Some((i128::from(raw) + i128::from(*offset), 0)),
            HostTimes::Corrected(clock) => Some((clock.unix_ns(raw), clock.entry.island)),
            HostTimes::Unknown => None,
        }
    }

    fn tell_unknown(&self, hosts: &[String], quiet: bool) {
        let unknown = self.clocks.iter().zip(hosts).filter(|(clock, _)| matches!(clock, HostTimes::Unknown));
        for (_, host) in unknown.filter(|_| !quiet) {
            tell!(
                "note: the corrections say nothing of {}: its messages are counted, and have no latency",
                Plain(host)
            );
        }
    }
}

/// How long a message took, where the clocks of its hosts can be compared.
fn latency(sent: At, received: At) -> Option<i64> {
    let ((sent, from), (received, to)) = (sent?, received?);
    (from == to).then(|| (received - sent).clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

fn cover(range: &mut Option<[i128; 2]>, times: [At; 2]) {
    for (time, _) in times.into_iter().flatten() {
        let [begin, end] = range.get_or_insert([time, time]);
        (*begin, *end) = ((*begin).min(time), (*end).max(time));
    }
}

/// First and last time of messages by clock, raw ns.
#[derive(Default)]
struct Range {
    clocks: std::collections::BTreeMap<usize, (i64, i64)>,
}

impl Range {
    fn see(&mut self, matched: &Matched) {
        for end in [&matched.sent, &matched.received] {
            let (begin, last) = self.clocks.entry(end.clock).or_insert((end.time, end.time));
            (*begin, *last) = ((*begin).min(end.time), (*last).max(end.time));
        }
    }

    /// By the clocks of the hosts, Unix ns.
    fn on(&self, clocks: &[HostClock]) -> Option<[i128; 2]> {
        let mut range = None;
        for (&clock, &(begin, end)) in &self.clocks {
            let offset = i128::from(clocks[clock].offset_ns);
            cover(&mut range, [begin, end].map(|raw| Some((i128::from(raw) + offset, 0))));
        }
        range
    }
}
