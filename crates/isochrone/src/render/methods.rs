//! The results of a published method, as part of [`super::report`]: its factors for each pair, how far its lines are outside of what is proven, and
//! which faults of its original were left out.

use std::io::{self, Write};

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, FactorsEntry, Formula, OutcomeEntry};

use super::figures;
use super::plain::plain;
use super::table::Table;

/// Prints it, if there was one.
pub(crate) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    let Some(method) = &artefact.method else { return Ok(()) };
    writeln!(out, "\nThe estimate is {}.", plain(&method.title))?;
    let factors: Vec<&FactorsEntry> =
        artefact.links.iter().filter_map(|link| link.factors.as_ref()).collect();
    if !factors.is_empty() {
        let header = &[
            "pair x → y",
            "says",
            "y by x: slope",
            "offset, ns",
            "least slope",
            "greatest slope",
            "hull points",
            "exchanges",
        ];
        let mut table = Table::new(header).right_from(2).spare(&[4, 5, 7, 6]);
        for found in factors {
            let slope = |line: &Option<Formula>| line.as_ref().map_or_else(none, |line| short(&line.slope));
            table.add_row([
                format!("{} → {}", found.x, found.y),
                outcome(found.outcome).to_owned(),
                slope(&found.line),
                found.line.as_ref().map_or_else(none, |line| short(&line.offset_ns)),
                slope(&found.min),
                slope(&found.max),
                format!("{} / {}", found.hull_points.0, found.hull_points.1),
                format!("{} / {}", found.exchanges.0, found.exchanges.1),
            ]);
        }
        table.print(out)?;
    }
    outside(clocks, out)?;
    if !method.left_out.is_empty() {
        writeln!(out, "Known faults of the original that were not reproduced:")?;
        for fault in &method.left_out {
            writeln!(out, "  {}", plain(fault))?;
        }
    }
    Ok(())
}

/// Where the lines leave what is proven.
fn outside(clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    for clock in clocks.iter() {
        let rows = clock.interval.rows();
        let by = |row: &&isochrone_clock::IntervalRow| {
            let at = clock.correction.apply(row.raw);
            row.lo.saturating_sub(at).max(at.saturating_sub(row.hi))
        };
        let wrong = rows.iter().map(|row| by(&row)).filter(|&by| by > 0);
        let (count, worst) = (wrong.clone().count(), wrong.max().unwrap_or(0));
        if count > 0 {
            writeln!(
                out,
                "{}: its line is outside of what the messages prove at {} of {} instants, by up to {}.",
                plain(&clock.entry.host),
                figures::count(count),
                figures::count(rows.len()),
                figures::duration(worst)
            )?;
        }
    }
    Ok(())
}

fn none() -> String {
    "-".to_owned()
}

/// A decimal to some places: all of them are in the file.
fn short(decimal: &str) -> String {
    const PLACES: usize = 12;
    match decimal.split_once('.') {
        Some((whole, fraction)) => {
            format!("{whole}.{}", &fraction[..fraction.len().min(if whole.len() > 3 { 1 } else { PLACES })])
        }
        None => decimal.to_owned(),
    }
}

fn outcome(outcome: OutcomeEntry) -> &'static str {
    match outcome {
        OutcomeEntry::Accurate => "accurate",
        OutcomeEntry::Approximate => "approximate",
        OutcomeEntry::Incomplete => "incomplete",
        OutcomeEntry::Failed => "fail",
        OutcomeEntry::Absent => "absent",
    }
}
