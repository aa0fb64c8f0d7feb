//! The report of a synchronization for people: verdict, hosts, links.

use std::io::{self, Write};

use comfy_table::Table;
use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::artefact::{Artefact, Formula, IslandEntry, LinkEntry, Quality};

use super::{figures, table};

/// Pairs of hosts without messages are listed up to this many, then counted.
const MAX_ABSENT: usize = 3;

/// Prints the report.
pub(crate) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    if artefact.islands.len() > 1 {
        writeln!(
            out,
            "The hosts fall into {} islands that no usable chain of messages ties together; times of different islands \
             cannot be compared.",
            artefact.islands.len()
        )?;
    }
    for island in &artefact.islands {
        writeln!(out, "{}", verdict(artefact, clocks, island))?;
    }
    if artefact.islands.iter().any(|island| island.hosts.len() > 1) {
        writeln!(out, "This holds for clocks that ran at a constant rate while they were traced.")?;
    }
    writeln!(out, "\n{}", clocks_table(clocks).trim_fmt())?;
    let (absent, present): (Vec<&LinkEntry>, Vec<&LinkEntry>) =
        artefact.links.iter().partition(|link| is_absent(link));
    if !present.is_empty() {
        writeln!(out, "\n{}", links_table(&present).trim_fmt())?;
    }
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

/// Whether two hosts saw nothing of each other, not even packets that could not be paired.
fn is_absent(link: &LinkEntry) -> bool {
    link.quality == Quality::Absent && link.messages.ambiguous == 0
}

/// How good it is, in plain words.
fn verdict(artefact: &Artefact, clocks: &Clocks, island: &IslandEntry) -> String {
    let IslandEntry { reference, hosts, .. } = island;
    if hosts.len() == 1 {
        return format!("{reference} {}: it keeps its own time.", alone(artefact, reference));
    }
    let members: Vec<&Clock> = clocks.iter().filter(|clock| clock.entry.island == island.id).collect();
    let inside = |link: &&LinkEntry| hosts.contains(&link.a) && hosts.contains(&link.b);
    let links: Vec<&LinkEntry> = artefact.links.iter().filter(inside).collect();
    let messages: u64 = links.iter().map(|l| l.messages.a_to_b + l.messages.b_to_a).sum();
    let inversions: u64 = links.iter().map(|l| l.inversions).sum();
    let on_one_clock =
        format!("{} are on one clock, that of {reference}", figures::plural(hosts.len(), "host"));
    let order = match inversions {
        0 => "none of them arrives before it was sent".to_owned(),
        n => format!("{} of them still arrive before they were sent", figures::count(n)),
    };
    let (unproven, proven): (Vec<&Clock>, Vec<&Clock>) = members.into_iter().partition(|clock| !clock.proven);
    let messages = format!("{} messages", figures::count(messages));
    let worst = proven.iter().map(|clock| (clock.error_range().1, clock.entry.host.as_str())).max();
    let mut text = match worst.filter(|_| proven.len() > 1) {
        Some((worst, host)) => format!(
            "{on_one_clock}: {messages} prove that no time is off by more than ± {} (on {host}), and {order}.",
            figures::duration(worst)
        ),
        None => format!("{on_one_clock}, by {messages}; {order}."),
    };
    if !unproven.is_empty() {
        let names: Vec<&str> = unproven.iter().map(|clock| clock.entry.host.as_str()).collect();
        text += &format!(
            " Nothing is proven of {}: the few messages on the way to the reference contradict each other.",
            names.join(", ")
        );
    }
    text
}

/// Why a host is on its own.
fn alone(artefact: &Artefact, host: &str) -> String {
    if artefact.clocks.len() == 1 {
        return "is the only host".to_owned();
    }
    let refused: Vec<&str> = artefact
        .links
        .iter()
        .filter(|link| link.quality == Quality::Refused)
        .filter_map(|link| match host {
            _ if link.a == host => Some(link.b.as_str()),
            _ if link.b == host => Some(link.a.as_str()),
            _ => None,
        })
        .collect();
    match refused.as_slice() {
        [] => "is tied to no other host".to_owned(),
        others => format!(
            "is tied to no other host, since its messages with {} contradict each other",
            others.join(", ")
        ),
    }
}

fn clocks_table(clocks: &Clocks) -> Table {
    let header = [
        "host",
        "reference time = rate · own time + offset",
        "off by at most",
        "at best",
        "its wall clock is",
    ];
    let mut table = table::new(&header);
    for clock in clocks.iter() {
        let host = clock.entry.host.clone();
        let Some(reference) = clocks.of_host(&clock.reference).filter(|_| host != clock.reference) else {
            table.add_row([host, "the reference".to_owned()]);
            continue;
        };
        let (best, worst) = clock.error_range();
        let shown = |error: i64| match clock.proven {
            true => format!("± {}", figures::duration(error)),
            false => "not proven".to_owned(),
        };
        table.add_row([
            host,
            formula(&clock.entry.formula),
            shown(worst),
            shown(best),
            wall_clock(clock, reference),
        ]);
    }
    table::right_from(&mut table, 2);
    table
}

/// The line, its offset to three places: enough for ns.
fn formula(Formula { slope, offset_ns }: &Formula) -> String {
    let (sign, size) = offset_ns.strip_prefix('-').map_or(('+', offset_ns.as_str()), |size| ('−', size));
    let shown = size.find('.').and_then(|point| size.get(..point + 4)).unwrap_or(size);
    format!("{slope} · t {sign} {shown} ns")
}

/// How far the host's wall clock was from that of the reference, at the first instant.
fn wall_clock(clock: &Clock, reference: &Clock) -> String {
    let (raw, reference_raw) = clock.entry.knots.first().copied().unwrap_or_default();
    let own = raw.saturating_add(clock.entry.clock_offset_ns);
    let difference = own.saturating_sub(reference_raw.saturating_add(reference.entry.clock_offset_ns));
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
    let mut table = table::new(&header);
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
    table::right_from(&mut table, 2);
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
