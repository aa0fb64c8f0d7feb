//! `isochrone convert`: single times from one host's clock to another's, with bounds.

use std::io::{self, Write};

use isochrone_experiment::{Conversion, ConversionError, Converted, Scale, TimeBase, read_clocks};
use isochrone_sync::apply::Clocks;
use serde::Serialize;

use super::{host_selection, open};
use crate::ExitStatus;
use crate::arguments::time::{self as given, Given};
use crate::arguments::{Convert, ReportFormat};
use crate::output::{self, tell};
use crate::render::plain::plain;
use crate::render::{figures, time};

pub(crate) fn run(arguments: &Convert, quiet: bool) -> anyhow::Result<ExitStatus> {
    let Some(path) = &arguments.sync else {
        let (opened, ending) = open(&arguments.traces, TimeBase::Synchronize(Box::default()), quiet)?;
        let Some(clocks) = opened.clocks() else { return Ok(ending) };
        // What the result is worth is said with each time.
        return Ok(ending.max(convert(arguments, clocks, quiet)?));
    };
    convert(arguments, &read_clocks(path)?, quiet)
}

fn convert(arguments: &Convert, clocks: &Clocks, quiet: bool) -> anyhow::Result<ExitStatus> {
    let conversion = Conversion::new(clocks, &arguments.from, arguments.to.as_deref());
    let conversion = conversion.map_err(|error| in_words(&error))?;
    let rows = arguments.times.iter().map(|text| Row::new(arguments.raw, conversion, text));
    let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    if !quiet && !arguments.raw {
        note_offsets(conversion);
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
    Ok(ExitStatus::partly_if(!bounded))
}

/// A Unix time of the host means another instant in each trace that states another offset.
fn note_offsets(conversion: Conversion<'_>) {
    let (least, greatest) = conversion.offsets();
    if least != greatest {
        tell!(
            "note: the traces of {} state clock offsets that differ by {} ns; the bounds allow for each of them, --raw \
             does not depend on them",
            plain(conversion.from()),
            i128::from(greatest) - i128::from(least)
        );
    }
}

/// Names of hosts come from traces.
pub(super) fn in_words(error: &ConversionError) -> anyhow::Error {
    match error {
        ConversionError::Unknown(unknown) => host_selection::unknown_host(unknown),
        ConversionError::Apart { from, to } => anyhow::anyhow!(
            "no chain of messages ties {} to {}: their times cannot be compared",
            plain(from),
            plain(to)
        ),
        ConversionError::Beyond { .. } => anyhow::anyhow!("{}", plain(&error.to_string())),
    }
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

impl<'c> Row<'c> {
    fn new(raw: bool, conversion: Conversion<'c>, text: &str) -> anyhow::Result<Self> {
        let (given, scale) = match raw {
            true => (given::raw(text), Scale::Raw),
            false => (Given::parse(text).and_then(|given| given.unix_ns(conversion.begin())), Scale::Unix),
        };
        let from_ns = given.map_err(anyhow::Error::msg)?;
        let Converted { ns, lo, hi, e95, proven } =
            conversion.convert(from_ns, scale).map_err(|error| match error {
                // As it was typed.
                ConversionError::Beyond { host, .. } => {
                    anyhow::anyhow!("`{text}` lies beyond what the clock of {} can show", plain(&host))
                }
                other => in_words(&other),
            })?;
        let (from, to) = (conversion.from(), conversion.to());
        Ok(Self { from, from_ns, to, to_ns: ns, bounds_ns: (lo, hi), e95_ns: e95, proven })
    }

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
                    "  guaranteed {}{}",
                    figures::bounds(lo, hi),
                    self.e95_ns.map_or_else(String::new, |e95| {
                        format!(", likely (e95) ± {}", figures::duration(e95))
                    }),
                )
            }
            (None, None) => writeln!(out, "  no bounds: the time lies outside what was traced"),
            (lo, hi) => writeln!(out, "  guaranteed {}", figures::range(lo, hi, figures::duration)),
        }
    }
}
