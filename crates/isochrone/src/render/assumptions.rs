//! The assumptions about the clocks, for people. Part of [`super::report`].
//!
//! Where all clocks have the same assumption, a sentence has it; else each clock has its lines. What messages show of one of two clocks, but not
//! of which, is listed with their links.

use std::collections::BTreeSet;
use std::io::{self, Write};

use isochrone_corrections::artefact::{Artefact, AssumptionEntry, BreakEntry, BreakKind, ClockEntry};
use isochrone_corrections::{Clock, Clocks};

use super::plain::plain;
use super::{breaks, figures};

/// Spans of a clock that are listed; the rest is counted. All are in `sync.json`.
const MAX_SPANS: usize = 4;

/// Hosts that one line names; the rest is counted.
const MAX_NAMED: usize = 5;

/// What is assumed of all clocks alike: `None` where they differ.
fn common(artefact: &Artefact) -> Option<&AssumptionEntry> {
    let mut entries = artefact.clocks.iter().map(|clock| match &clock.assumptions[..] {
        [only] if only.changes.unwrap_or(0) == 0 => Some(only),
        _ => None,
    });
    let first = entries.next()??;
    let same = |entry: &AssumptionEntry| {
        (&entry.kind, entry.ppm, &entry.why) == (&first.kind, first.ppm, &first.why)
    };
    entries.all(|entry| entry.is_some_and(same)).then_some(first)
}

/// The clause after "This holds", without a full stop.
pub(super) fn condition(artefact: &Artefact) -> String {
    let constant = match artefact.model.wander_ppm {
        0.0 => "constant".to_owned(),
        ppm => format!("constant within ± {}", figures::ppm(ppm)),
    };
    let Some(entry) = common(artefact) else {
        let known = artefact.clocks.iter().any(|clock| !clock.assumptions.is_empty());
        return match known {
            true => format!(
                "under what is assumed of each clock below, where free-running clocks have rates that are {constant}"
            ),
            false => format!("for clocks whose rates are {constant}"),
        };
    };
    let why = plain(&entry.why);
    match (entry.kind.as_str(), entry.ppm) {
        ("free", _) => format!("for clocks that run free, at rates that are {constant} ({why})"),
        ("stepwise", _) => format!("for clocks whose rates are {constant} ({why})"),
        (_, ppm) => {
            let ppm = figures::ppm(ppm.unwrap_or_default());
            format!("for clocks whose rates stay within ± {ppm} of the usual ones ({why})")
        }
    }
}

/// The largest step that would not be noticed of clocks whose steering is unknown: one without messages around it, within what the limits of the
/// rate allow for in that time.
pub(super) fn unseen_steps(clocks: &Clocks) -> Option<String> {
    let is_unknown = |clock: &Clock| clock.entry.assumptions.iter().any(|entry| entry.kind == "unknown");
    // Where a clock was set, bounds are wide for that.
    let is_set = |clock: &Clock| {
        let of_island = clocks.iter().filter(|other| other.entry.island == clock.entry.island);
        of_island.flat_map(|other| &other.entry.breaks).any(|found| found.kind == BreakKind::Step)
    };
    let silences = clocks.iter().filter_map(|clock| {
        let reference = clocks.of_host(&clock.reference)?;
        let is_meant = clock.number != reference.number && clock.proven && !is_set(clock);
        let (size, silence) =
            widest(clock).filter(|_| is_meant && (is_unknown(clock) || is_unknown(reference)))?;
        Some((size, silence, clock))
    });
    let (size, silence, clock) = silences.max_by_key(|(size, ..)| *size)?;
    Some(format!(
        "Messages need not show a step of less than {} of a clock whose steering is unknown, if it falls into a silence: that of {} is {} \
         long. No bound allows for such a step.",
        figures::duration(size),
        plain(&clock.entry.host),
        figures::long(silence)
    ))
}

/// Where the bounds of a clock are widest: how wide they are there, and for how long they are wider than before and after, ns.
fn widest(clock: &Clock) -> Option<(i64, i64)> {
    let rows = clock.interval.rows();
    let width = |index: usize| rows.get(index).map(|row| row.hi.saturating_sub(row.lo));
    let widest = (0..rows.len()).max_by_key(|&index| width(index))?;
    // Down on both sides, to the messages that narrow the bounds.
    let before =
        (1..=widest).rev().take_while(|&at| width(at - 1) < width(at)).last().map_or(widest, |at| at - 1);
    let after = (widest + 1..rows.len()).take_while(|&at| width(at) < width(at - 1)).last().unwrap_or(widest);
    let silence = rows[after].raw.saturating_sub(rows[before].raw);
    Some((width(widest)?, silence)).filter(|_| silence > 0)
}

/// What is assumed of each clock; nothing where it is the same for all.
pub(super) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    if common(artefact).is_some() || artefact.clocks.iter().all(|clock| clock.assumptions.is_empty()) {
        return Ok(());
    }
    writeln!(out, "\nWhat is assumed of the clocks:")?;
    for clock in clocks.iter() {
        let entries = own(&clock.entry);
        for (index, entry) in entries.iter().enumerate().take(MAX_SPANS) {
            let line = line(clock, entry, index + 1 == entries.len());
            writeln!(out, " {}: {line}", plain(&clock.entry.host))?;
        }
        if entries.len() > MAX_SPANS {
            let more = figures::plural(entries.len() - MAX_SPANS, "more span");
            writeln!(out, " {}: … and {more}, all of them in sync.json", plain(&clock.entry.host))?;
        }
    }
    let unclear = of_links(clocks);
    for unclear in unclear.iter().take(MAX_SPANS) {
        writeln!(out, " {}", unclear.line(clocks))?;
    }
    if unclear.len() > MAX_SPANS {
        let more = figures::plural(unclear.len() - MAX_SPANS, "more span");
        writeln!(out, " … and {more} in which links allow for more, all of them in sync.json")?;
    }
    Ok(())
}

/// The assumptions about a clock itself. Where its links allow for more only because one of two clocks was set or slewed, that is listed with
/// the links.
fn own(clock: &ClockEntry) -> Vec<AssumptionEntry> {
    let entries = &clock.assumptions;
    let mut own: Vec<AssumptionEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        // What is assumed where nothing was seen, of the same evidence.
        let usual = entries.iter().find(|other| !other.contradicted && other.why == entry.why);
        let new = match usual.filter(|_| is_of_links(clock, entry)) {
            Some(usual) => AssumptionEntry { raw_ns: entry.raw_ns, ..usual.clone() },
            None => entry.clone(),
        };
        let is_alike =
            |last: &&mut AssumptionEntry| AssumptionEntry { raw_ns: new.raw_ns, ..(**last).clone() } == new;
        match own.last_mut().filter(is_alike) {
            Some(last) => last.raw_ns.1 = new.raw_ns.1,
            None => own.push(new),
        }
    }
    own
}

/// Whether a span is of the links of a clock: messages contradict what is assumed, and nothing in it is put down to the clock itself.
fn is_of_links(clock: &ClockEntry, entry: &AssumptionEntry) -> bool {
    let (begin, end) = entry.raw_ns;
    let is_known = clock.assumptions.iter().any(|other| !other.contradicted && other.why == entry.why);
    let is_within = |found: &BreakEntry| found.raw_range_ns.0 <= end && begin <= found.raw_range_ns.1;
    entry.contradicted && is_known && !clock.breaks.iter().any(is_within)
}

/// A span of the common clock in which the links of some clocks allow for more than is assumed.
struct Unclear {
    /// The reference's raw time.
    span: (i64, i64),
    island: usize,
    /// How far rates may leave the usual one there, ppm; `None`: clocks may have been set.
    ppm: Option<f64>,
    /// By number.
    clocks: BTreeSet<usize>,
}

/// The spans that are of links, by time; those that overlap are one.
fn of_links(clocks: &Clocks) -> Vec<Unclear> {
    let mut all: Vec<Unclear> = Vec::new();
    for clock in clocks.iter() {
        for entry in clock.entry.assumptions.iter().filter(|entry| is_of_links(&clock.entry, entry)) {
            let (begin, end) = entry.raw_ns;
            let span = (clock.correction.apply(begin), clock.correction.apply(end));
            let (island, ppm) = (clock.entry.island, entry.ppm);
            all.push(Unclear { span, island, ppm, clocks: BTreeSet::from([clock.number]) });
        }
    }
    all.sort_by_key(|unclear| (unclear.island, unclear.ppm.is_some(), unclear.span));
    let mut merged: Vec<Unclear> = Vec::new();
    for next in all {
        let is_one = |last: &&mut Unclear| {
            let is_alike = (last.island, last.ppm.is_some()) == (next.island, next.ppm.is_some());
            is_alike && next.span.0 <= last.span.1
        };
        match merged.last_mut().filter(is_one) {
            Some(last) => {
                last.span.1 = last.span.1.max(next.span.1);
                last.ppm = last.ppm.zip(next.ppm).map(|(a, b)| a.max(b));
                last.clocks.extend(next.clocks);
            }
            None => merged.push(next),
        }
    }
    merged.sort_by_key(|unclear| (unclear.island, unclear.span));
    merged
}

impl Unclear {
    /// `links of 0, 2 and 3 more allow for any rate between 05:34:30.193 and 05:57:55.919: messages show …`
    fn line(&self, clocks: &Clocks) -> String {
        let name = |number: &usize| clocks.get(*number).map(|clock| plain(&clock.entry.host).into_owned());
        let listed = |numbers: &BTreeSet<usize>| {
            let names: Vec<String> = numbers.iter().filter_map(name).collect();
            figures::listed(&names, MAX_NAMED)
        };
        let (begin, end) = self.span;
        let suspects: BTreeSet<usize> = clocks
            .iter()
            .filter(|clock| clock.entry.island == self.island)
            .filter(|clock| {
                let at = |raw| clock.correction.apply(raw);
                let mut ranges = clock.entry.breaks.iter().map(|found| found.raw_range_ns);
                ranges.any(|range| at(range.0) <= end && begin <= at(range.1))
            })
            .map(|clock| clock.number)
            .collect();
        let (rate, what) = match self.ppm {
            Some(ppm) => (format!("rates up to ± {}", figures::ppm(ppm)), "slewed"),
            None => ("any rate".to_owned(), "set, stopped or slewed"),
        };
        let who = match suspects.len() {
            0 => "one of the clocks of each was".to_owned(),
            1 => format!("the clock of {} was", listed(&suspects)),
            _ => format!("clocks of {} were", listed(&suspects)),
        };
        let of_day = |raw: i64| {
            let clock = self.clocks.first().and_then(|&number| clocks.get(number));
            clock.map_or_else(String::new, |clock| breaks::time_of_day_there(clock, raw))
        };
        format!(
            "links of {}: {rate} allowed between about {} and {}, since messages show that {who} {what} then",
            listed(&self.clocks),
            of_day(begin),
            of_day(end),
        )
    }
}

fn line(clock: &Clock, entry: &AssumptionEntry, last: bool) -> String {
    let AssumptionEntry { raw_ns: (_, end), kind, ppm, changes, why, contradicted } = entry;
    let steered = || figures::ppm(ppm.unwrap_or_default());
    let mut text = match (kind.as_str(), *changes) {
        ("free", _) => "free-running".to_owned(),
        ("stepwise", Some(0)) => "constant".to_owned(),
        ("stepwise", Some(changes)) => {
            format!("constant between {}", figures::plural(changes, "possible change"))
        }
        ("steered", _) if ppm.is_some() => format!("steered by at most ± {}", steered()),
        _ if *contradicted && ppm.is_none() => "set, stopped or slewed at any rate".to_owned(),
        _ => format!("unknown, bounded as if steered by ± {}", steered()),
    };
    if !last {
        let at = breaks::time_of_day(clock, *end);
        text += &format!(" until {} on its clock (about {at})", breaks::seconds(*end));
    }
    if *contradicted {
        return format!("{text}, as messages show; otherwise: {}", plain(why));
    }
    format!("{text}: {}", plain(why))
}
