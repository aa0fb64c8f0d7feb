//! The report of a synchronization for people: verdict, its conditions, hosts, links, and breaks ([`super::breaks`]). The assumptions about each
//! clock are in [`super::assumptions`].

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use isochrone_corrections::artefact::RefusedKind;
use isochrone_corrections::artefact::{
    Artefact, ClockEntry, Formula, IslandEntry, LinkEntry, Method, Quality, ResolutionEntry,
    ResolutionSource, SlowEntry,
};
use isochrone_corrections::{Clock, Clocks};
use isochrone_matching::stamps::REPORTED_TICK_NS;

use super::error_summary::Errors;
use super::plain::plain;
use super::table::Table;
use super::{assumptions, breaks, figures, methods};

/// Pairs of hosts without messages are listed up to this many, then counted.
const MAX_ABSENT: usize = 3;

/// Hosts that are named; the rest is counted.
const MAX_NAMED: usize = 5;

/// Pairs of hosts that saw the same packets, and have no messages, are explained up to this many, then counted.
const MAX_UNMATCHED: usize = 8;

/// Pairs of hosts whose rates changed are listed up to this many, then counted.
const MAX_RAISED: usize = 3;

/// Hosts with coarse stamps are named up to this many, then counted.
const MAX_COARSE: usize = 8;

/// Pairs of hosts whose messages were slow for a while are listed up to this many, then counted.
const MAX_SLOW: usize = 3;

/// Prints the report.
pub(crate) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    for paragraph in verdicts(artefact, clocks) {
        writeln!(out, "{paragraph}")?;
    }
    // A host alone has nothing to compare.
    if artefact.clocks.len() > 1 {
        writeln!(out)?;
        clocks_table(clocks).print(out)?;
    }
    let present: Vec<&LinkEntry> = artefact.links.iter().filter(|link| !is_absent(link)).collect();
    if !present.is_empty() {
        writeln!(out)?;
        links_table(&present).print(out)?;
    }
    print_absent(artefact, out)?;
    methods::print(artefact, clocks, out)?;
    assumptions::print(artefact, clocks, out)?;
    breaks::print(artefact, clocks, out)
}

/// How far off all clocks are at most, half of the time, ns: where all are on one, and proven.
pub(crate) fn usually_within(artefact: &Artefact, clocks: &Clocks) -> Option<i64> {
    let is_whole = artefact.islands.len() == 1 && clocks.iter().all(|clock| clock.proven);
    clocks.iter().map(|clock| Errors::of(clock, clocks).usual).max().filter(|_| is_whole)
}

/// The quality in words, and its conditions; a paragraph each.
pub(crate) fn verdicts(artefact: &Artefact, clocks: &Clocks) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if artefact.islands.len() > 1 {
        paragraphs.push(format!(
            "The hosts fall into {} islands that no usable chain of messages ties together; times of different islands \
             cannot be compared.",
            artefact.islands.len()
        ));
    }
    paragraphs.extend(artefact.islands.iter().map(|island| verdict(artefact, clocks, island)));
    if artefact.islands.iter().any(|island| island.hosts.len() > 1) {
        paragraphs.push(condition(artefact));
        paragraphs.extend(assumptions::unseen_steps(clocks));
    }
    paragraphs.extend(slow(artefact));
    paragraphs
}

/// Pairs of which one direction alone may have been slow for a while, those with the largest effect.
fn slow(artefact: &Artefact) -> Option<String> {
    let off = |slow: &SlowEntry| (slow.rtt_ns - slow.usual_rtt_ns) / 2;
    let mut found: Vec<(&LinkEntry, SlowEntry)> =
        artefact.links.iter().filter_map(|link| Some((link, link.slow?))).collect();
    found.sort_by_key(|(_, slow)| std::cmp::Reverse(off(slow)));
    let of = |(link, slow): &(&LinkEntry, SlowEntry)| {
        format!(
            "{} – {}: for {:.0} % of the time the least round trip is {} instead of {}",
            plain(&link.a),
            plain(&link.b),
            (slow.share * 100.0).max(1.0),
            figures::duration(slow.rtt_ns),
            figures::duration(slow.usual_rtt_ns),
        )
    };
    let worst = found.first().map(|(_, slow)| off(slow))?;
    let shown: Vec<String> = found.iter().take(MAX_SLOW).map(of).collect();
    let more = match found.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {}", figures::plural(more, "more pair")),
    };
    Some(format!(
        "Messages were slow for a while between {}{more}. Where only one direction was, which messages do not show, times are off by \
         up to {}; e95 allows for that.",
        shown.join("; "),
        figures::duration(worst),
    ))
}

/// Pairs of hosts without messages, whether they are listed or not.
fn print_absent(artefact: &Artefact, out: &mut impl Write) -> io::Result<()> {
    let unmatched: Vec<&String> = artefact
        .links
        .iter()
        .filter(|link| link.quality == Quality::Absent)
        .filter_map(|link| link.why.as_ref())
        .collect();
    for why in unmatched.iter().take(MAX_UNMATCHED) {
        writeln!(out, "{}.", plain(why))?;
    }
    if unmatched.len() > MAX_UNMATCHED {
        let more = figures::count(unmatched.len() - MAX_UNMATCHED);
        writeln!(
            out,
            "{more} more pairs of hosts saw the same packets, and have no messages; sync.json has the reasons."
        )?;
    }
    let has_none = |link: &&LinkEntry| is_absent(link) && link.why.is_none();
    let seen: Vec<&LinkEntry> = artefact.links.iter().filter(|link| !has_none(link)).collect();
    let usable = artefact.clocks.iter().filter(|clock| why_unusable(artefact, clock).is_none());
    let hosts: Vec<&str> = usable.map(|clock| clock.host.as_str()).collect();
    let pairs = hosts.len() * hosts.len().saturating_sub(1) / 2;
    match pairs.saturating_sub(seen.len()) {
        0 => Ok(()),
        1..=MAX_ABSENT => {
            let is_seen = |a: &str, b: &str| seen.iter().any(|link| link.a == a && link.b == b);
            for (index, a) in hosts.iter().enumerate() {
                for b in hosts.iter().skip(index + 1).filter(|b| !is_seen(a, b) && !is_seen(b, a)) {
                    writeln!(out, "{} and {} exchanged no packet that both traced.", plain(a), plain(b))?;
                }
            }
            Ok(())
        }
        many => {
            let many = figures::count(many);
            writeln!(out, "{many} other pairs of hosts exchanged no packet that both traced.")
        }
    }
}

/// Why nothing that was recorded of a host can be matched, where that is so.
fn why_unusable<'a>(artefact: &'a Artefact, clock: &ClockEntry) -> Option<&'a str> {
    let refused = |path: &str| artefact.refused.iter().find(|refused| refused.name == path);
    let mut reasons = clock.traces.iter().map(|trace| Some(refused(&trace.path)?.why.as_str()));
    let first = reasons.next()?;
    first.filter(|_| reasons.all(|reason| reason.is_some()))
}

/// The conditions of the guarantee.
fn condition(artefact: &Artefact) -> String {
    let usual = artefact.model.wander_ppm;
    let breaks = artefact.clocks.iter().any(|clock| !clock.breaks.is_empty());
    let between = if breaks { ", between breaks" } else { "" };
    let mut raised: Vec<&LinkEntry> = artefact.links.iter().filter(|l| l.wander_ppm > usual).collect();
    // The raised wander of a link is that of its worst stretch.
    raised.sort_by(|a, b| b.wander_ppm.total_cmp(&a.wander_ppm));
    let mut text = format!("This holds {}{between}", assumptions::condition(artefact));
    if !raised.is_empty() {
        let pair = |link: &&LinkEntry| {
            format!("± {} for {} – {}", figures::ppm(link.wander_ppm), plain(&link.a), plain(&link.b))
        };
        let shown: Vec<String> = raised.iter().take(MAX_RAISED).map(pair).collect();
        let more = match raised.len() - shown.len() {
            0 => String::new(),
            more => format!(" and less for {more} more pairs"),
        };
        text +=
            &format!("; where messages show that they changed, bounds allow for {}{more}", shown.join(", "));
    }
    let conditions = stamped(artefact);
    if !conditions.is_empty() {
        text += &format!(", and if {}", conditions.join(", and "));
    }
    text + "." + &ticks(artefact)
}

/// Hosts whose stamps are coarser than their files declare: a sentence for each tick.
fn ticks(artefact: &Artefact) -> String {
    let mut by_tick: BTreeMap<(u64, bool), (ResolutionEntry, Vec<String>)> = BTreeMap::new();
    let found = artefact.clocks.iter().filter_map(|clock| Some((clock, clock.resolution?)));
    let is_coarse =
        |it: &ResolutionEntry| it.source != ResolutionSource::Declared && it.tick_ns >= REPORTED_TICK_NS;
    for (clock, it) in found.filter(|(_, it)| is_coarse(it)) {
        let is_given = it.source == ResolutionSource::User;
        let known = by_tick.entry((it.tick_ns, is_given)).or_insert_with(|| (it, Vec::new()));
        known.1.push(plain(&clock.host).to_string());
    }
    let sentence = |((_, is_given), (tick, hosts)): ((u64, bool), (ResolutionEntry, Vec<String>))| {
        let named = figures::listed(&hosts, MAX_COARSE);
        let why = if is_given { ", given by --resolution" } else { "" };
        format!(" Stamps of {named} are in steps of {tick}{why}: bounds allow for that.")
    };
    by_tick.into_iter().map(sentence).collect()
}

/// Assumptions about the stamps of captures.
fn stamped(artefact: &Artefact) -> Vec<String> {
    let traces =
        artefact.clocks.iter().flat_map(|clock| clock.traces.iter().map(move |trace| (clock, trace)));
    let mut by_condition: Vec<((bool, i64), Vec<&str>)> = Vec::new();
    for (clock, captured) in traces.filter_map(|(clock, trace)| Some((clock, trace.captured.as_ref()?))) {
        if captured.sent == 0 {
            continue;
        }
        let condition = (captured.inline, captured.late_ns);
        match by_condition.iter_mut().find(|(known, _)| *known == condition) {
            Some((_, hosts)) => hosts.push(clock.host.as_str()),
            None => by_condition.push((condition, vec![clock.host.as_str()])),
        }
    }
    let shown = |((inline, late_ns), hosts): ((bool, i64), Vec<&str>)| {
        let names: Vec<_> = hosts.iter().map(|host| plain(host).to_string()).collect();
        let of = match names.split_last() {
            Some((last, [_, ..])) => format!("{} and {last}", names[..names.len() - 1].join(", ")),
            _ => names.concat(),
        };
        match (inline, late_ns) {
            (false, 0) => format!("sent frames of {of} are stamped before they leave"),
            (false, late) => {
                format!("sent frames of {of} are stamped at most {} after they left", figures::duration(late))
            }
            (true, 0) => format!("frames of {of} are sent on after they are stamped"),
            (true, late) => {
                format!(
                    "frames of {of} are stamped at most {} after they were sent on",
                    figures::duration(late)
                )
            }
        }
    };
    by_condition.into_iter().map(shown).collect()
}

/// Whether two hosts saw nothing of each other, not even packets that could not be paired.
fn is_absent(link: &LinkEntry) -> bool {
    link.quality == Quality::Absent && link.messages.ambiguous == 0 && link.method != Method::Trusted
}

/// The quality of an island in words.
fn verdict(artefact: &Artefact, clocks: &Clocks, island: &IslandEntry) -> String {
    let IslandEntry { reference, hosts, .. } = island;
    if hosts.len() == 1 {
        let clock = artefact.clocks.iter().find(|clock| clock.host == *reference);
        if let Some(why) = clock.and_then(|clock| why_unusable(artefact, clock)) {
            let (host, why) = (plain(reference), plain(why));
            return format!("{host} is tied to no other host and keeps its own time: {why}");
        }
        return format!("{} {}: it keeps its own time", plain(reference), alone(artefact, reference));
    }
    let members: Vec<&Clock> = clocks.iter().filter(|clock| clock.entry.island == island.id).collect();
    let names: HashSet<&String> = hosts.iter().collect();
    let inside = |link: &&LinkEntry| names.contains(&link.a) && names.contains(&link.b);
    let links: Vec<&LinkEntry> = artefact.links.iter().filter(inside).collect();
    let messages: u64 = links.iter().map(|l| l.messages.a_to_b + l.messages.b_to_a).sum();
    let inversions: u64 = links.iter().map(|l| l.inversions).sum();
    let (unproven, proven): (Vec<&Clock>, Vec<&Clock>) = members.into_iter().partition(|clock| !clock.proven);
    let unverified: u64 = links.iter().map(|l| l.unverified).sum();
    let suspects: u64 = links.iter().map(|l| l.messages.suspect).sum();
    let mut order = match (inversions, unverified) {
        (0, 0) => "no message arrives before it was sent".to_owned(),
        (0, n) => format!(
            "of {} messages it is not known whether they arrive before they were sent",
            figures::count(n)
        ),
        (1, _) => "1 message still arrives before it was sent".to_owned(),
        (n, _) => format!("{} messages still arrive before they were sent", figures::count(n)),
    };
    if suspects > 0 {
        order += &format!(" ({} excluded)", figures::count(suspects));
    }
    let mut text = String::new();
    if !unproven.is_empty() {
        let names: Vec<_> = unproven.iter().map(|clock| plain(&clock.entry.host)).collect();
        let doubt = unproven.iter().find_map(|clock| clock.entry.doubt.as_deref());
        let reason = match doubt {
            Some(doubt) if unproven.len() == 1 => doubt,
            Some(_) => {
                "messages contradict what is assumed of these hosts, or of hosts on their way to the reference"
            }
            None => "messages contradict each other, or a clock that was trusted",
        };
        text += &format!("Not proven for {}: {}.\n", names.join(", "), plain(reason));
    }
    text += &format!(
        "{} on the clock of {}, by {} messages; {order}",
        figures::plural(hosts.len(), "host"),
        plain(reference),
        figures::count(messages),
    );
    let errors: Vec<(Errors, &str)> =
        proven.iter().map(|clock| (Errors::of(clock, clocks), clock.entry.host.as_str())).collect();
    let worst = errors.iter().map(|(errors, host)| (errors.worst, *host)).max();
    let usual = errors.iter().map(|(errors, host)| (errors.usual, *host)).max();
    let likely = errors.iter().map(|(errors, _)| errors.usually_likely).max().unwrap_or(0);
    let around_steps = match errors.iter().any(|(errors, _)| errors.at_steps.is_some()) {
        true => ", except around steps of a clock",
        false => "",
    };
    if let Some(((usual, host), (worst, worst_host))) = usual.zip(worst).filter(|_| proven.len() > 1) {
        let at_worst = match host == worst_host {
            true => String::new(),
            false => format!(" of {}", plain(worst_host)),
        };
        text += &format!(
            "\n  guaranteed usually within {} ({}), at worst {}{at_worst}{around_steps}\n  likely usually within {} (e95)",
            figures::duration(usual),
            plain(host),
            figures::duration(worst),
            figures::duration(likely),
        );
    }
    text
}

/// Why a host is on its own.
fn alone(artefact: &Artefact, host: &str) -> String {
    if artefact.clocks.len() == 1 {
        return "is the only host".to_owned();
    }
    let refused = artefact.links.iter().filter(|link| link.quality == Quality::Refused);
    let others: Vec<(&str, Option<&str>)> = refused
        .filter(|link| link.a == host || link.b == host)
        .map(|link| (if link.a == host { &*link.b } else { &*link.a }, why_refused(artefact, link)))
        .collect();
    let Some(&(_, why)) = others.first() else { return untied(artefact, host) };
    let names: Vec<String> = others.iter().map(|(other, _)| plain(other).into_owned()).collect();
    let names = figures::listed(&names, MAX_NAMED);
    match why.filter(|_| others.iter().all(|(_, other)| *other == why)) {
        Some(why) => {
            format!("is tied to no other host, since its messages with {names} are not used ({})", plain(why))
        }
        None => format!("is tied to no other host, since its messages with {names} are not used"),
    }
}

/// Why a host without a link that was refused is tied to no other.
fn untied(artefact: &Artefact, host: &str) -> String {
    let is_one_way = |link: &&LinkEntry| (link.messages.a_to_b == 0) != (link.messages.b_to_a == 0);
    let other = |link: &LinkEntry| match host {
        _ if link.a == host => Some(plain(&link.b).to_string()),
        _ if link.b == host => Some(plain(&link.a).to_string()),
        _ => None,
    };
    let others: Vec<String> = artefact.links.iter().filter(is_one_way).filter_map(other).collect();
    if others.is_empty() {
        return "is tied to no other host".to_owned();
    }
    let names = figures::listed(&others, MAX_NAMED);
    format!("is tied to no other host, since all messages with {names} go one way")
}

/// Why a link was not used, as in the file and the warnings, without the messages that are the evidence.
fn why_refused<'a>(artefact: &'a Artefact, link: &LinkEntry) -> Option<&'a str> {
    let name = format!("{} – {}", link.a, link.b);
    let found = artefact.refused.iter().find(|entry| entry.what == RefusedKind::Link && entry.name == name);
    // The messages in question are left to the warning.
    found.and_then(|entry| entry.why.split(" (").next())
}

/// Columns of the table of hosts.
const CLOCK_COLUMNS: [&str; 8] = [
    "host",
    "reference time from own time t, ns since boot",
    "guaranteed (usually)",
    "(worst)",
    "(best)",
    "likely (e95)",
    "its wall clock is",
    "traced in",
];

/// The same where formulas are on Unix times.
const CLOCK_COLUMNS_OF_UNIX: [&str; 8] = {
    let mut columns = CLOCK_COLUMNS;
    columns[1] = "reference time from own time t, Unix ns";
    columns
};

pub(super) fn clocks_table(clocks: &Clocks) -> Table<'static> {
    // A method of others states its formulas on Unix times.
    let header = match clocks.iter().any(|clock| clock.entry.stated.is_some()) {
        true => &CLOCK_COLUMNS_OF_UNIX,
        false => &CLOCK_COLUMNS,
    };
    let mut table = Table::new(header).right_from(2).left(&[7]).spare(&[1, 7, 4, 6, 3]);
    for clock in clocks.iter() {
        let host = clock.entry.host.clone();
        let Some(reference) = clocks.of_host(&clock.reference).filter(|_| host != clock.reference) else {
            let none = || "-".to_owned();
            let cells =
                [host, "the reference".to_owned(), none(), none(), none(), none(), none(), path(clock)];
            table.add_row(cells);
            continue;
        };
        let Errors { usual, usually_likely, best, worst, .. } = Errors::of(clock, clocks);
        let shown = |error: i64| match clock.proven {
            true => format!("± {}", figures::duration(error)),
            false => "not proven".to_owned(),
        };
        table.add_row([
            host,
            formula(&clock.entry),
            shown(usual),
            shown(worst),
            shown(best),
            format!("± {}", figures::duration(usually_likely)),
            wall_clock(clock, reference),
            path(clock),
        ]);
    }
    table
}

/// Where the host was traced: what all of its traces' paths have in common.
fn path(clock: &Clock) -> String {
    let mut paths = clock.entry.traces.iter().map(|trace| Path::new(&trace.path));
    let Some(first) = paths.next() else { return "-".to_owned() };
    let common = paths.fold(first.to_owned(), |common, path| {
        common.components().zip(path.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    });
    common.display().to_string()
}

/// The line, or the first of several, its offset to three places: enough for ns.
fn formula(entry: &ClockEntry) -> String {
    /// Characters of a slope: those of the exact decimals that corrections have.
    const SLOPE: usize = 17;
    let Formula { slope, offset_ns, .. } = entry.formula();
    let slope = slope.get(..SLOPE).unwrap_or(&slope);
    let (sign, size) = offset_ns.strip_prefix('-').map_or(('+', offset_ns.as_str()), |size| ('−', size));
    let shown = size.find('.').and_then(|point| size.get(..point + 4)).unwrap_or(size);
    let more = match entry.knots.len() {
        0..=2 => "",
        _ => " at first",
    };
    format!("{slope} · t {sign} {shown} ns{more}")
}

/// How far the host's wall clock was from that of the reference, at the first instant.
fn wall_clock(clock: &Clock, reference: &Clock) -> String {
    let (raw, reference_raw) = clock.entry.knots.first().copied().unwrap_or_default();
    let own = raw.saturating_add(clock.entry.clock_offset_ns);
    let difference = own.saturating_sub(reference_raw.saturating_add(reference.entry.clock_offset_ns));
    let way = if difference < 0 { "behind" } else { "ahead" };
    format!("{} {way}", figures::long(difference.saturating_abs()))
}

pub(super) fn links_table(links: &[&LinkEntry]) -> Table<'static> {
    let header = &[
        "link",
        "quality",
        "→",
        "←",
        "b − a at the middle",
        "rate of b, ppm of a",
        "least round trip",
        "notes",
    ];
    let mut table = Table::new(header).right_from(2).left(&[7]).spare(&[5, 6, 7]);
    for link in links {
        let (lo, hi) = link.offset_at_middle_ns;
        table.add_row([
            format!("{} – {}", link.a, link.b),
            quality(link).to_owned(),
            figures::count(link.messages.a_to_b),
            figures::count(link.messages.b_to_a),
            offset(lo, hi),
            match link.rate_ppm {
                (None, None) => "-".to_owned(),
                (lo, hi) => figures::range(lo, hi, |ppm| format!("{ppm:+.2}")),
            },
            link.min_rtt_ns.map_or_else(|| "-".to_owned(), figures::duration),
            besides(link),
        ]);
    }
    table
}

/// An offset between two bounds, ns: `59.728003 s ± 199.5 µs`.
fn offset(lo: Option<i64>, hi: Option<i64>) -> String {
    let (Some(lo), Some(hi)) = (lo, hi) else {
        return match (lo, hi) {
            (None, None) => "-".to_owned(),
            (lo, hi) => figures::range(lo, hi, figures::signed),
        };
    };
    let half = i64::try_from((i128::from(hi) - i128::from(lo) + 1) / 2).unwrap_or(i64::MAX);
    let middle = i64::midpoint(lo, hi);
    format!("{} ± {}", figures::signed(middle), figures::duration(half))
}

/// Numbers of messages that need a note; empty without any.
fn besides(link: &LinkEntry) -> String {
    let messages = &link.messages;
    let counts = [
        (messages.offloaded, "offloaded"),
        (messages.translated, "translated"),
        (messages.ambiguous, "ambiguous"),
        (messages.suspect, "excluded"),
        (messages.dropped, "dropped"),
        (link.inversions, "inverted"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, what)| format!("{} {what}", figures::count(*count))).collect::<Vec<_>>().join(", ")
}

pub(super) fn quality(link: &LinkEntry) -> &'static str {
    match link.quality {
        Quality::Accurate if link.method == Method::Trusted => "trusted",
        Quality::Accurate => "accurate",
        Quality::Approximate => "approximate",
        Quality::Incomplete => "incomplete",
        Quality::Absent => "absent",
        Quality::Refused => "refused",
    }
}
