//! What is assumed of the clocks, for people. Part of [`super::report`].
//!
//! Where the same is assumed of all clocks, a sentence says so; else each clock has its lines.

use std::io::{self, Write};

use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::artefact::{Artefact, AssumptionEntry};

use super::plain::plain;
use super::{breaks, figures};

/// Spans of a clock that are listed; the rest is counted. All are in `sync.json`.
const MAX_SPANS: usize = 4;

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

/// What is assumed of each clock; nothing where it is the same for all.
pub(super) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    if common(artefact).is_some() || artefact.clocks.iter().all(|clock| clock.assumptions.is_empty()) {
        return Ok(());
    }
    writeln!(out, "\nWhat is assumed of the clocks:")?;
    for clock in clocks.iter() {
        let entries = &clock.entry.assumptions;
        for (index, entry) in entries.iter().enumerate().take(MAX_SPANS) {
            let line = line(clock, entry, index + 1 == entries.len());
            writeln!(out, " {}: {line}", plain(&clock.entry.host))?;
        }
        if entries.len() > MAX_SPANS {
            let more = figures::plural(entries.len() - MAX_SPANS, "more span");
            writeln!(out, " {}: … and {more}, all of them in sync.json", plain(&clock.entry.host))?;
        }
    }
    Ok(())
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
