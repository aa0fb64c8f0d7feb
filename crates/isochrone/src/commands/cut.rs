//! `isochrone cut`: the events of a time range, or some of them, as traces.

use std::cmp::Ordering;
use std::io::Write;

use isochrone_ctf::Event;
use isochrone_ctf::write::{Selection, cut_trace};
use isochrone_sync::copies;
use wildmatch::WildMatch;

use super::events::{chosen, refuse_chunks};
use super::filter::Filter;
use super::{named, open_named};
use crate::arguments::{Cut, EventFilters, HostNumber, Threads};
use crate::output::{self, Console, note};
use crate::progress::Progress;
use crate::render::plain::plain;
use crate::render::{complaints, figures};

pub(crate) fn run(arguments: &Cut, console: &Console) -> anyhow::Result<()> {
    let Cut { filters, output, .. } = arguments;
    let named = named(&arguments.traces)?;
    let opened = open_named(&named, None, arguments.clock.time_base()?, console)?;
    copies::check(opened.inputs(), output)?;
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let (sources, times) = chosen(&experiment, &opened, filters, console)?;
    let mut filter = Filter::new(filters, &[], times, &sources)?;
    let names: Vec<WildMatch> = filters.names.iter().map(|name| WildMatch::new(name)).collect();
    let has_class = |name: &str| names.is_empty() || names.iter().any(|pattern| pattern.matches(name));
    let words = words(filters);
    let mut lost = Vec::new();
    let (mut events, mut packets) = (0, 0);
    let bar = Progress::over_bytes(opened.inputs(), "writing traces", console);
    let copied = copies::write_each(opened.inputs(), output, |input, target| {
        let Some(index) = sources.iter().position(|source| std::ptr::eq(source.input, input)) else {
            return Ok(None);
        };
        let source = &sources[index];
        let window = |stream: usize, cycles: u64| match source.unix_of(stream, cycles) {
            Some(at) if times.start.is_some_and(|start| at < start) => Ordering::Less,
            Some(at) if times.end.is_some_and(|end| at >= end) => Ordering::Greater,
            _ => Ordering::Equal,
        };
        let keeps = &mut |event: &Event<'_>| filter.keeps(index, &source.host, source.unix(event), event);
        let selection = Selection { window: &window, has_class: &has_class, keeps, words: words.clone() };
        let summary = cut_trace(source.trace(), target, selection)?;
        let packets_of = source.trace().streams().iter().flat_map(|stream| &stream.packets);
        bar.add(packets_of.map(|packet| packet.total_bits / 8).sum());
        events += summary.events;
        packets += summary.packets;
        lost.extend(summary.lost);
        Ok(Some(()))
    })?;
    bar.finish();
    experiment.hosts().iter().for_each(|host| complaints::of_host(host, console));
    complaints::show(&lost, console);
    if events == 0 {
        note!(console, "no event was selected: the traces written are empty");
        filter.note_unmatched(console);
    }
    output::print(|out| {
        for (source, target, ()) in &copied {
            writeln!(
                out,
                "{} -> {}",
                plain(&source.display().to_string()),
                plain(&target.display().to_string())
            )?;
        }
        let (events, packets) = (figures::plural(events, "event"), figures::plural(packets, "packet"));
        Ok(writeln!(out, "{events} in {packets} of {}", figures::plural(copied.len(), "trace"))?)
    })?;
    Ok(())
}

/// The filters by which a cut has not all of a time range, in words.
fn words(filters: &EventFilters) -> Option<String> {
    let EventFilters { names, of: Threads { tids, pids, procnames, .. }, cpus, condition, .. } = filters;
    let numbers =
        |numbers: &[HostNumber]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let all = [
        (!names.is_empty(), "--event", names.join(",")),
        (!tids.is_empty(), "--tid", numbers(tids)),
        (!pids.is_empty(), "--pid", numbers(pids)),
        (!procnames.is_empty(), "--procname", procnames.join(",")),
        (
            !cpus.is_empty(),
            "--cpu",
            cpus.iter()
                .map(|range| format!("{}-{}", range.start(), range.end()))
                .collect::<Vec<_>>()
                .join(","),
        ),
        (condition.is_some(), "--where", "a condition".to_owned()),
    ];
    let given: Vec<String> = all
        .into_iter()
        .filter(|(is_given, ..)| *is_given)
        .map(|(_, option, values)| format!("{option} {values}"))
        .collect();
    (!given.is_empty()).then(|| format!("only the events that were selected by {}", given.join(" ")))
}
