//! `isochrone convert`: single times from one host's clock to another's, with bounds.

use std::io::{self, Write};

use anyhow::Context;
use isochrone_sync::apply::{Clock, Clocks, Converted};
use serde::Serialize;

use super::events::read_clocks;
use crate::Ending;
use crate::arguments::{Convert, ReportFormat};
use crate::render::{figures, time};

pub(crate) fn run(arguments: &Convert) -> anyhow::Result<Ending> {
    let clocks = read_clocks(&arguments.sync)?;
    let from = find(&clocks, &arguments.from)?;
    let to =
        arguments.to.as_deref().map_or_else(|| find(&clocks, &from.reference), |name| find(&clocks, name))?;
    anyhow::ensure!(
        from.entry.island == to.entry.island,
        "no chain of messages ties {} to {}: their times cannot be compared",
        from.entry.host,
        to.entry.host
    );
    let rows = arguments.times.iter().map(|text| convert(arguments.raw, from, to, text));
    let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    let mut stdout = io::stdout().lock();
    match arguments.format {
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut stdout, &rows)?;
            writeln!(stdout)?;
        }
        ReportFormat::Text => {
            for row in &rows {
                row.text(arguments.raw, &mut stdout)?;
            }
        }
    }
    let bounded = rows.iter().all(|row| row.bounds_ns.0.is_some() && row.bounds_ns.1.is_some());
    Ok(if bounded { Ending::Done } else { Ending::Partly })
}

fn find<'c>(clocks: &'c Clocks, name: &str) -> anyhow::Result<&'c Clock> {
    clocks.of_host(name).with_context(|| {
        let known: Vec<&str> = clocks.iter().map(|clock| clock.entry.host.as_str()).collect();
        format!("no host is called `{name}`; there are {}", known.join(", "))
    })
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
}

fn convert<'c>(raw: bool, from: &'c Clock, to: &'c Clock, text: &str) -> anyhow::Result<Row<'c>> {
    let given = time::parse(text).map_err(anyhow::Error::msg)?;
    let offset = |clock: &Clock| if raw { 0 } else { i128::from(clock.entry.clock_offset_ns) };
    let from_raw = i64::try_from(given - offset(from))
        .with_context(|| format!("`{text}` lies beyond what the clock of {} can show", from.entry.host))?;
    let instant = from.to_reference(from_raw);
    let converted = if std::ptr::eq(from, to) {
        Converted { time: from_raw, bounds: (Some(from_raw), Some(from_raw)), e95: Some(0) }
    } else if to.entry.host == to.reference {
        instant
    } else {
        to.from_reference(instant)
    };
    let shown = |raw: i64| i128::from(raw) + offset(to);
    let (lo, hi) = converted.bounds;
    Ok(Row {
        from: &from.entry.host,
        from_ns: given,
        to: &to.entry.host,
        to_ns: shown(converted.time),
        bounds_ns: (lo.map(shown), hi.map(shown)),
        e95_ns: converted.e95,
    })
}

impl Row<'_> {
    fn text(&self, raw: bool, out: &mut impl Write) -> io::Result<()> {
        let shown = |ns: i128| {
            if raw {
                return format!("{ns} ns");
            }
            let sign = if ns < 0 { "-" } else { "" };
            let size = ns.unsigned_abs();
            format!("{sign}{}.{:09} ({})", size / 1_000_000_000, size % 1_000_000_000, time::full(ns))
        };
        writeln!(out, "{} {} = {} {}", self.from, shown(self.from_ns), self.to, shown(self.to_ns))?;
        let distance = |bound: Option<i128>| bound.and_then(|b| i64::try_from(b - self.to_ns).ok());
        match (distance(self.bounds_ns.0), distance(self.bounds_ns.1)) {
            (Some(lo), Some(hi)) => {
                writeln!(
                    out,
                    "  surely between {} and +{} of it",
                    figures::duration(lo),
                    figures::duration(hi)
                )
            }
            (None, None) => writeln!(out, "  no bounds: the time lies outside what was traced"),
            (lo, hi) => writeln!(out, "  surely within {} of it", figures::range(lo, hi, figures::duration)),
        }
    }
}
