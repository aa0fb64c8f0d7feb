//! `isochrone analyze`: questions about hosts. What is asked is in [`crate::arguments`], how tables look in
//! [`crate::render::tables`].

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Context;
use isochrone_analysis::{
    Asked, Calls, Filter, Interrupts, Kind, Options, Report, When, Window, csv, reports,
};
use isochrone_hosts::{Host, Hosts};
use isochrone_pipeline::{Cuts, Plan, ToSpans, map_merge};
use isochrone_sync::Inputs;
use isochrone_sync::apply::{Clock, Clocks};
use wildmatch::WildMatch;

use self::known::Known;
use super::{choice, leave_out_captures, read_clocks};
use crate::Ending;
use crate::arguments::{Analyze, TableFormat};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, tables};

mod known;

/// Each thread has pieces of its own: more than machines have cores would only make pieces that cost more to merge than to read.
const MOST_THREADS: usize = 256;

/// Rows of a text's tables that are sorted by a figure.
const TEXT_ROWS: usize = 10;

pub(crate) fn run(arguments: &Analyze, quiet: bool) -> anyhow::Result<Ending> {
    let clocks = arguments.sync.as_deref().map(read_clocks).transpose()?;
    let inputs = Inputs::open(&arguments.traces);
    let mut ending = complaints::of_inputs(&inputs, quiet)?;
    leave_out_captures(&inputs, quiet)?;
    let options = options(arguments);
    let kinds = &arguments.names.0;
    let grouped = Hosts::group(inputs.traces.iter().map(|input| &input.trace));
    for &place in &grouped.left_out {
        let path = Plain(inputs.traces[place].path().display());
        tell!("warning: {path}: no clock stamps its events; left out");
        ending = Ending::Partly;
    }
    let chosen = select(&grouped, clocks.as_ref(), &arguments.hosts, &mut ending)?;
    choice::warn_of_islands(
        chosen.iter().filter_map(|(_, clock)| *clock),
        ", whose times cannot be compared",
    );

    let times = Times::new(arguments, &chosen)?;
    let bar = Progress::over(chosen.iter().map(|(host, _)| host.bytes()).sum(), "analysing", quiet);
    let mut known = Vec::with_capacity(chosen.len());
    for &(host, clock) in &chosen {
        let (there, missing) = analyse(arguments, kinds, &options, times.on(host, clock), host, clock, &bar)?;
        ending = ending.max(tell_missing(host, &missing, quiet));
        known.push(there);
    }
    bar.finish();

    let hosts: Vec<(&dyn isochrone_analysis::Host, &Asked)> =
        known.iter().map(|known| (known as &dyn isochrone_analysis::Host, &known.model.spans)).collect();
    let reports = reports(&hosts, &options, clocks.is_some());
    print(arguments, &reports, times.at, hosts.len(), quiet)?;
    Ok(ending)
}

/// The hosts to look at, each with its clock if times are to be synchronized.
fn select<'h, 't>(
    hosts: &'h Hosts<'t>,
    clocks: Option<&'h Clocks>,
    names: &[String],
    ending: &mut Ending,
) -> anyhow::Result<Vec<(&'h Host<'t>, Option<&'h Clock>)>> {
    choice::check_hosts(names, hosts.hosts.iter().map(|host| host.name.as_str()))?;
    let mut chosen = Vec::new();
    for host in hosts.hosts.iter().filter(|host| names.is_empty() || names.contains(&host.name)) {
        let Some(clocks) = clocks else {
            chosen.push((host, None));
            continue;
        };
        let clock = host.traces().iter().find_map(|trace| clocks.of_trace(trace));
        if clock.is_some() {
            chosen.push((host, clock));
        } else {
            *ending = (*ending).max(choice::leave_out_unsynchronized(&host.name));
        }
    }
    anyhow::ensure!(!chosen.is_empty(), choice::OTHER_CLOCKS);
    Ok(chosen)
}

/// One pass over a host's trace.
fn analyse<'h>(
    arguments: &Analyze,
    kinds: &[Kind],
    options: &Options,
    when: When,
    host: &Host<'_>,
    clock: Option<&'h Clock>,
    bar: &Progress,
) -> anyhow::Result<(Known<'h>, isochrone_hosts::Report)> {
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, std::num::NonZeroUsize::get).min(MOST_THREADS);
    let plan = match arguments.chunks {
        Some(chunks) => Plan::new(host, &Cuts::Times(chunks.get())),
        None => Plan::for_threads(host, threads),
    };
    let mapper = ToSpans::new(|| Asked::new(kinds, options, when)).lines(kinds.contains(&Kind::Syscalls));
    let part = map_merge(host, &plan, threads, &mapper, Some(&|bytes| bar.add(bytes)))
        .with_context(|| format!("{}: the pieces of its trace do not fit", plain(&host.name)))?;
    Ok((Known::new(host, clock, part.model.finish()), part.report))
}

/// The times that are asked for, Unix ns.
struct Times {
    begin: Option<i128>,
    end: Option<i128>,
    at: Option<i128>,
}

impl Times {
    /// Times of day are those of the day on which the first host begins.
    fn new(arguments: &Analyze, hosts: &[(&Host<'_>, Option<&Clock>)]) -> anyhow::Result<Self> {
        let first = hosts.iter().filter_map(|(host, clock)| {
            let (raw, _) = host.extent()?;
            Some(
                clock
                    .map_or_else(|| i128::from(raw) + i128::from(host.offset_ns), |clock| clock.unix_ns(raw)),
            )
        });
        let first = first.min().unwrap_or_default();
        let [begin, end, at] =
            [arguments.begin, arguments.end, arguments.at].map(|time| time.map(|time| time.unix_ns(first)));
        let is_empty = begin.zip(end).is_some_and(|(begin, end)| end <= begin);
        anyhow::ensure!(!is_empty, "--end is not behind --begin");
        Ok(Self { begin, end, at })
    }

    /// The same on the clock of a host.
    fn on(&self, host: &Host<'_>, clock: Option<&Clock>) -> When {
        let raw = |unix_ns: i128| {
            let offset = clock.map_or(host.offset_ns, |clock| clock.reference_offset_ns);
            let time = (unix_ns - i128::from(offset)).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            clock.map_or(time, |clock| clock.correction.invert(time))
        };
        When { window: Window { begin: self.begin.map(raw), end: self.end.map(raw) }, at: self.at.map(raw) }
    }
}

fn options(arguments: &Analyze) -> Options {
    let is_text = arguments.format == TableFormat::Text;
    Options {
        filter: Filter {
            hosts: Vec::new(),
            tids: arguments.tids.clone(),
            names: arguments.procnames.iter().map(|name| WildMatch::new(name)).collect(),
            cpus: arguments.cpus.clone(),
            fds: arguments.fds.clone(),
            min_ns: arguments.min,
            max_ns: arguments.max,
        },
        limit: match arguments.limit {
            Some(0) => None,
            None if is_text => Some(TEXT_ROWS),
            limit => limit,
        },
        by_process: arguments.by_process,
        interrupts: Interrupts { hard: arguments.irq.clone(), soft: arguments.softirq.clone() },
        calls: Calls {
            names: arguments.calls.clone(),
            errors: arguments.errors.clone(),
            around: arguments.around,
        },
        bars: arguments.bars,
        linear: arguments.linear,
    }
}

/// Tells what could not be read of a host. Losses that the tracer recorded are notes; what this program could not read makes the
/// work partial.
fn tell_missing(host: &Host<'_>, report: &isochrone_hosts::Report, quiet: bool) -> Ending {
    const MOST: usize = 10;
    for diagnostic in report.diagnostics.iter().take(MOST) {
        tell!("warning: {}", Plain(diagnostic));
    }
    if report.diagnostics.len() > MOST {
        tell!("… and {} more of {}", report.diagnostics.len() - MOST, plain(&host.name));
    }
    complaints::of_host(host, quiet);
    Ending::partly_if(report.broken_packets > 0)
}

fn print(
    arguments: &Analyze,
    reports: &[Report],
    at: Option<i128>,
    hosts: usize,
    quiet: bool,
) -> anyhow::Result<()> {
    let name = arguments.table.as_deref();
    if let Some(name) = name {
        let known: Vec<&str> =
            reports.iter().flat_map(|report| &report.tables).map(|table| table.name).collect();
        anyhow::ensure!(known.contains(&name), "no table is called `{name}`; there are {}", known.join(", "));
    }
    output::print(|stdout| {
        match arguments.format {
            TableFormat::Text => {
                for (index, report) in reports.iter().enumerate() {
                    if index > 0 {
                        writeln!(stdout)?;
                    }
                    tables::print(report, name, at, hosts, stdout)?;
                }
            }
            TableFormat::Csv => {
                let all = reports.iter().flat_map(|report| &report.tables);
                match name {
                    Some(name) => all
                        .filter(|table| table.name == name)
                        .try_for_each(|table| csv::write(table, stdout))?,
                    None => csv::write_all(all, stdout)?,
                }
            }
            TableFormat::Json => {
                for report in reports {
                    let mut report = report.clone();
                    report.tables.retain(|table| name.is_none_or(|name| table.name == name));
                    serde_json::to_writer(&mut *stdout, &report)?;
                    writeln!(stdout)?;
                }
            }
        }
        Ok(())
    })?;
    if !quiet && arguments.format != TableFormat::Json {
        let mut told = BTreeSet::new();
        for note in reports.iter().flat_map(|report| &report.notes) {
            if told.insert(note) {
                tell!(
                    "note: {}",
                    Plain(note.shown(|ns| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX))))
                );
            }
        }
    }
    Ok(())
}
