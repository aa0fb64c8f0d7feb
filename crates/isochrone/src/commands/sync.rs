//! `isochrone sync`: the main job.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use isochrone_sync::apply::Clocks;
use isochrone_sync::artefact::{Artefact, ClockEntry, Formula, IslandEntry, LinkEntry, Quality};
use isochrone_sync::{Inputs, Options, Outcome, copies, synchronize};

use crate::Ending;
use crate::arguments::{ReportFormat, Sync};
use crate::progress;
use crate::render::{complaints, figures};

/// Pairs of hosts without messages are listed up to this many, then counted.
const MAX_ABSENT: usize = 3;

pub(crate) fn run(arguments: &Sync, quiet: bool) -> anyhow::Result<Ending> {
    let inputs = Inputs::open(&arguments.traces);
    let mut ending = complaints::of_inputs(&inputs, true)?;
    if let Some(directory) = &arguments.write {
        copies::check(&inputs, directory)?;
    }
    let options = Options { reference: arguments.reference.clone(), ..Options::default() };
    let bar = progress::over_bytes(&inputs, "matching packets", quiet);
    let outcome = synchronize(&inputs, &options, &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    show_complaints(&outcome, quiet);
    if outcome.partial {
        ending = Ending::Partly;
    }
    let json = outcome.artefact.to_json()?;
    if let Some(path) = &arguments.output {
        std::fs::write(path, &json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut stdout = io::stdout().lock();
    match arguments.format {
        ReportFormat::Json => stdout.write_all(json.as_bytes())?,
        ReportFormat::Text => report(&outcome.artefact, &mut stdout)?,
    }
    if let Some(directory) = &arguments.write
        && write_copies(&inputs, &outcome.artefact, directory, quiet)? == Ending::Partly
    {
        ending = Ending::Partly;
    }
    Ok(ending)
}

/// What was lost, refused, odd or missing: on stderr, before the result.
fn show_complaints(outcome: &Outcome, quiet: bool) {
    for facts in &outcome.facts {
        complaints::show(&facts.diagnostics, quiet);
    }
    for refused in outcome.artefact.refused.iter().filter(|r| r.what != "trace") {
        eprintln!("warning: {} {} refused: {}", refused.what, refused.name, refused.why);
    }
    if quiet {
        return;
    }
    for note in &outcome.notes {
        eprintln!("note: {note}");
    }
    for advice in &outcome.advice {
        eprintln!("note: {}: {}", advice.host, advice.missing);
        if !advice.commands.is_empty() {
            eprintln!("      before the next recording, type on {}:", advice.host);
            for command in &advice.commands {
                eprintln!("        {command}");
            }
        }
    }
}

fn write_copies(
    inputs: &Inputs,
    artefact: &Artefact,
    directory: &Path,
    quiet: bool,
) -> anyhow::Result<Ending> {
    let copied = copies::write(inputs, &Clocks::new(artefact)?, directory)?;
    let mut ending = Ending::Done;
    for copy in &copied {
        if complaints::show(&copy.summary.lost, true) == Ending::Partly {
            ending = Ending::Partly;
        }
    }
    if !quiet {
        let events = copied.iter().map(|copy| copy.summary.events).sum();
        let (traces, events) = (figures::plural(copied.len(), "trace"), figures::count(events));
        eprintln!("{traces} with {events} events written below {}", directory.display());
    }
    Ok(ending)
}

/// The report: verdict, hosts, links.
fn report(artefact: &Artefact, out: &mut impl Write) -> io::Result<()> {
    if artefact.islands.len() > 1 {
        writeln!(
            out,
            "The hosts fall into {} islands that no chain of messages ties together; times of different islands cannot be \
             compared.",
            artefact.islands.len()
        )?;
    }
    for island in &artefact.islands {
        writeln!(out, "{}", verdict(artefact, island))?;
    }
    writeln!(out, "\n{}", clocks_table(artefact).trim_fmt())?;
    let present: Vec<&LinkEntry> = artefact.links.iter().filter(|l| l.quality != Quality::Absent).collect();
    if !present.is_empty() {
        writeln!(out, "\n{}", links_table(&present).trim_fmt())?;
    }
    let absent: Vec<&LinkEntry> = artefact.links.iter().filter(|l| l.quality == Quality::Absent).collect();
    match absent.len() {
        0 => {}
        1..=MAX_ABSENT => {
            for link in absent {
                writeln!(out, "{} and {} exchanged no packet that both traced.", link.a, link.b)?;
            }
        }
        many => writeln!(out, "{many} other pairs of hosts exchanged no packet that both traced.")?,
    }
    Ok(())
}

/// How good it is, in plain words.
fn verdict(artefact: &Artefact, island: &IslandEntry) -> String {
    let IslandEntry { reference, hosts, .. } = island;
    if hosts.len() == 1 {
        let alone = if artefact.clocks.len() == 1 { "is the only host" } else { "is tied to no other host" };
        return format!("{reference} {alone}: it keeps its own time.");
    }
    let members: Vec<&ClockEntry> = artefact.clocks.iter().filter(|c| c.island == island.id).collect();
    let inside = |link: &&LinkEntry| hosts.contains(&link.a) && hosts.contains(&link.b);
    let links: Vec<&LinkEntry> = artefact.links.iter().filter(inside).collect();
    let (worst, at) = members.iter().map(|c| (half_widths(c).1, c.host.as_str())).max().unwrap_or_default();
    let messages: u64 = links.iter().map(|l| l.messages.a_to_b + l.messages.b_to_a).sum();
    let inversions: u64 = links.iter().map(|l| l.inversions).sum();
    let approximate = links.iter().filter(|l| l.quality == Quality::Approximate).count();
    let order = match inversions {
        0 => "none of them arrives before it was sent".to_owned(),
        n => format!("{} of them still arrive before they were sent", figures::count(n)),
    };
    let mut text = format!(
        "{} are on one clock, that of {reference}: {} prove that no time is off by more than ± {} (on {at}), and {order}.",
        figures::plural(hosts.len(), "host"),
        figures::plural(messages as usize, "message"),
        figures::duration(worst),
    );
    if approximate > 0 {
        text += " Of some links too few messages contradict each other: see `approximate` below, bounds there are no proof.";
    }
    text
}

/// Least and greatest half width of a clock's interval.
fn half_widths(clock: &ClockEntry) -> (i64, i64) {
    let half = |&(_, lo, hi, _): &(i64, i64, i64, i64)| hi.saturating_sub(lo).saturating_add(1) / 2;
    let widths = clock.interval.iter().map(half);
    (widths.clone().min().unwrap_or(0), widths.max().unwrap_or(0))
}

fn clocks_table(artefact: &Artefact) -> Table {
    let mut table = new_table(&[
        "host",
        "reference time = rate · own time + offset",
        "off by at most",
        "at best",
        "wall clock set",
    ]);
    for clock in &artefact.clocks {
        let island = artefact.islands.iter().find(|i| i.id == clock.island);
        let reference = island.and_then(|i| artefact.clocks.iter().find(|c| c.host == i.reference));
        let (best, worst) = half_widths(clock);
        let row = match reference.filter(|reference| reference.host != clock.host) {
            None => {
                [clock.host.clone(), "the reference".to_owned(), String::new(), String::new(), String::new()]
            }
            Some(reference) => [
                clock.host.clone(),
                formula(clock),
                format!("± {}", figures::duration(worst)),
                format!("± {}", figures::duration(best)),
                wall_clock(clock, reference),
            ],
        };
        table.add_row(row);
    }
    right_from(&mut table, 2);
    table
}

/// The line, its offset to three places: enough for ns.
fn formula(clock: &ClockEntry) -> String {
    let Formula { slope, offset_ns } = &clock.formula;
    let (sign, size) = offset_ns.strip_prefix('-').map_or(('+', offset_ns.as_str()), |size| ('−', size));
    let shown = size.find('.').and_then(|point| size.get(..point + 4)).unwrap_or(size);
    format!("{slope} · t {sign} {shown} ns")
}

/// How far the host's wall clock was from that of the reference, at the first instant.
fn wall_clock(clock: &ClockEntry, reference: &ClockEntry) -> String {
    let (raw, reference_raw) = clock.knots.first().copied().unwrap_or_default();
    let own = raw.saturating_add(clock.clock_offset_ns);
    let difference = own.saturating_sub(reference_raw.saturating_add(reference.clock_offset_ns));
    let way = if difference < 0 { "behind" } else { "ahead" };
    format!("{} {way}", figures::duration(difference.saturating_abs()))
}

fn links_table(links: &[&LinkEntry]) -> Table {
    let header = [
        "link",
        "quality",
        "→",
        "←",
        "rate of b against a, ppm",
        "b − a at the middle",
        "least round trip",
        "unsure",
    ];
    let mut table = new_table(&header);
    for link in links {
        let (lo, hi) = link.offset_at_middle_ns;
        let unsure = match (link.messages.ambiguous, link.inversions) {
            (0, 0) => String::new(),
            (ambiguous, 0) => format!("{ambiguous} ambiguous"),
            (ambiguous, inversions) => format!("{ambiguous} ambiguous, {inversions} inverted"),
        };
        table.add_row([
            format!("{} – {}", link.a, link.b),
            quality(link.quality).to_owned(),
            figures::count(link.messages.a_to_b),
            figures::count(link.messages.b_to_a),
            figures::range(link.rate_ppm.0, link.rate_ppm.1, |ppm| format!("{ppm:+.2}")),
            figures::range(lo, hi, |ns| format!("{ns} ns")),
            link.min_rtt_ns.map_or_else(|| "?".to_owned(), figures::duration),
            unsure,
        ]);
    }
    right_from(&mut table, 2);
    table
}

fn quality(quality: Quality) -> &'static str {
    match quality {
        Quality::Accurate => "accurate",
        Quality::Approximate => "approximate",
        Quality::Incomplete => "incomplete",
        Quality::Absent => "absent",
        Quality::Refused => "refused",
    }
}

/// A plain table, as wide as its content: numbers that belong together stay on one line.
fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    table
}

fn right_from(table: &mut Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
