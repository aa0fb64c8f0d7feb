//! `isochrone convert`: single times from one host's clock to another's, with bounds.

use std::io::{self, Write};

use anyhow::Context;
use isochrone_sync::apply::{Clock, Clocks, Converted};
use serde::Serialize;

use super::{choice, read_clocks};
use crate::Ending;
use crate::arguments::{Convert, ReportFormat};
use crate::output::{self, tell};
use crate::render::plain::plain;
use crate::render::{figures, time};

pub(crate) fn run(arguments: &Convert, quiet: bool) -> anyhow::Result<Ending> {
    let clocks = read_clocks(&arguments.sync)?;
    let from = find(&clocks, &arguments.from)?;
    let to =
        arguments.to.as_deref().map_or_else(|| find(&clocks, &from.reference), |name| find(&clocks, name))?;
    anyhow::ensure!(
        from.entry.island == to.entry.island,
        "no chain of messages ties {} to {}: their times cannot be compared",
        plain(&from.entry.host),
        plain(&to.entry.host)
    );
    let rows = arguments.times.iter().map(|text| convert(arguments.raw, from, to, text));
    let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    if !quiet && !arguments.raw {
        note_offsets(from);
    }
    output::print(|stdout| {
        match arguments.format {
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut *stdout, &rows)?;
                writeln!(stdout)?;
            }
            ReportFormat::Text => rows.iter().try_for_each(|row| row.text(arguments.raw, stdout))?,
        }
        Ok(())
    })?;
    let bounded = rows.iter().all(|row| row.bounds_ns.0.is_some() && row.bounds_ns.1.is_some());
    Ok(Ending::partly_if(!bounded))
}

/// A Unix time of the host means another instant in each trace that states another offset.
fn note_offsets(from: &Clock) {
    let (least, greatest) = offsets(from);
    if least != greatest {
        tell!(
            "note: the traces of {} state clock offsets that differ by {} ns; the bounds allow for each of them, --raw \
             does not depend on them",
            plain(&from.entry.host),
            i128::from(greatest) - i128::from(least)
        );
    }
}

/// Least and greatest offset that the traces of a clock state.
fn offsets(clock: &Clock) -> (i64, i64) {
    let own = clock.entry.clock_offset_ns;
    let stated = clock.entry.traces.iter().map(|trace| trace.offset_ns);
    stated.fold((own, own), |(least, greatest), offset| (least.min(offset), greatest.max(offset)))
}

fn find<'c>(clocks: &'c Clocks, name: &str) -> anyhow::Result<&'c Clock> {
    let known = clocks.iter().map(|clock| clock.entry.host.as_str());
    clocks.of_host(name).ok_or_else(|| choice::unknown_host(name, known))
}

/// A converted time. Raw ns where raw values were asked for, else Unix ns.
#[derive(Debug, Serialize)]
struct Row<'c> {
    from: &'c str,
    from_ns: i128,
    to: &'c str,
    to_ns: i128,
    /// What the truth is surely not before and not behind; `null`: not known.
    bounds_ns: (Option<i128>, Option<i128>),
    e95_ns: Option<i64>,
    #[serde(skip)]
    proven: bool,
}

fn convert<'c>(raw: bool, from: &'c Clock, to: &'c Clock, text: &str) -> anyhow::Result<Row<'c>> {
    let parse = if raw { time::parse_number } else { time::parse };
    let given = parse(text).map_err(anyhow::Error::msg)?;
    let raw_by = |offset: i64| {
        let shift = if raw { 0 } else { i128::from(offset) };
        i64::try_from(given - shift).ok().with_context(|| {
            format!("`{text}` lies beyond what the clock of {} can show", plain(&from.entry.host))
        })
    };
    let (least_offset, greatest_offset) = offsets(from);
    let middle = moved(from, to, raw_by(from.entry.clock_offset_ns)?);
    let (first, last) = (moved(from, to, raw_by(greatest_offset)?), moved(from, to, raw_by(least_offset)?));
    let proven = from.proven && to.proven;
    let shown = |raw_ns: i64| i128::from(raw_ns) + if raw { 0 } else { i128::from(to.entry.clock_offset_ns) };
    let bounds = if proven { (first.bounds.0, last.bounds.1) } else { (None, None) };
    Ok(Row {
        from: &from.entry.host,
        from_ns: given,
        to: &to.entry.host,
        to_ns: shown(middle.time),
        bounds_ns: (bounds.0.map(shown), bounds.1.map(shown)),
        e95_ns: middle.e95,
        proven,
    })
}

/// A raw time of one clock on another.
fn moved(from: &Clock, to: &Clock, raw: i64) -> Converted {
    if std::ptr::eq(from, to) {
        return Converted { time: raw, bounds: (Some(raw), Some(raw)), e95: Some(0) };
    }
    let instant = from.to_reference(raw);
    if to.entry.host == to.reference { instant } else { to.from_reference(instant) }
}

impl Row<'_> {
    fn text(&self, raw: bool, out: &mut impl Write) -> io::Result<()> {
        let shown = |ns: i128| {
            if raw {
                return format!("{ns} ns");
            }
            format!("{} ({})", time::seconds(ns), time::full(ns))
        };
        let (from, to) = (plain(self.from), plain(self.to));
        writeln!(out, "{from} {} = {to} {}", shown(self.from_ns), shown(self.to_ns))?;
        let distance = |bound: Option<i128>| bound.and_then(|b| i64::try_from(b - self.to_ns).ok());
        match (distance(self.bounds_ns.0), distance(self.bounds_ns.1)) {
            _ if !self.proven => {
                writeln!(out, "  not proven: the messages between the hosts contradict each other")
            }
            (Some(0), Some(0)) => writeln!(out, "  exactly"),
            (Some(lo), Some(hi)) => {
                writeln!(
                    out,
                    "  surely between {} and +{} of it{}",
                    figures::duration(lo),
                    figures::duration(hi),
                    self.e95_ns.map_or_else(String::new, |e95| {
                        format!(", most likely within ± {}", figures::duration(e95))
                    }),
                )
            }
            (None, None) => writeln!(out, "  no bounds: the time lies outside what was traced"),
            (lo, hi) => writeln!(out, "  surely within {} of it", figures::range(lo, hi, figures::duration)),
        }
    }
}
