//! `isochrone convert`: single times from one host's clock to another's, with bounds.

use std::io::{self, Write};

use isochrone_corrections::Clocks;
use isochrone_experiment::{TimeBase, read_clocks};
use isochrone_time::UnixNs;
use isochrone_timing::{Conversion, ConversionError, Converted, Scale};
use serde::Serialize;

use super::{host_selection, open};
use crate::arguments::time::{self as typed, TimeArg};
use crate::arguments::{Convert, ReportFormat};
use crate::output::{self, Console, note};
use crate::render::plain::plain;
use crate::render::{figures, time};

pub(crate) fn run(arguments: &Convert, console: &Console) -> anyhow::Result<()> {
    let Some(path) = &arguments.sync else {
        anyhow::ensure!(
            !arguments.traces.is_empty(),
            "the clocks are not known: name the traces of the hosts with --traces, or with --sync the file \
             that `isochrone sync -o` wrote"
        );
        let opened = open(&arguments.traces, TimeBase::Synchronize(Box::default()), console)?;
        // The bounds of the corrections are printed with each time.
        return opened.clocks().map_or(Ok(()), |clocks| convert(arguments, clocks, console));
    };
    convert(arguments, &read_clocks(path)?, console)
}

fn convert(arguments: &Convert, clocks: &Clocks, console: &Console) -> anyhow::Result<()> {
    let conversion = Conversion::new(clocks, &arguments.from, arguments.to.as_deref());
    let conversion = conversion.map_err(|error| conversion_error(&error))?;
    let rows = arguments.times.iter().map(|text| Row::new(arguments.raw, conversion, text));
    let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    if !arguments.raw {
        note_offsets(conversion, console);
    }
    output::print(|stdout| match arguments.format {
        ReportFormat::Json => output::json(&rows, stdout),
        ReportFormat::Text => Ok(rows.iter().try_for_each(|row| row.text(arguments.raw, stdout))?),
    })?;
    let is_bounded = |row: &Row<'_>| row.bounds_ns.0.is_some() && row.bounds_ns.1.is_some();
    console.partial_if(!rows.iter().all(is_bounded));
    Ok(())
}

/// Notes that a Unix time of the host is another instant in each trace that declares another offset.
fn note_offsets(conversion: Conversion<'_>, console: &Console) {
    let (least, greatest) = conversion.offsets();
    if least != greatest {
        note!(
            console,
            "the traces of {} declare clock offsets that differ by {} ns; the bounds allow for each of them, --raw \
             does not depend on them",
            plain(conversion.from()),
            i128::from(greatest) - i128::from(least)
        );
    }
}

/// An error with the names of hosts, which come from traces, escaped.
pub(super) fn conversion_error(error: &ConversionError) -> anyhow::Error {
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

/// The same error of a time as it was typed.
pub(super) fn beyond(error: ConversionError, text: &str) -> anyhow::Error {
    match error {
        ConversionError::Beyond { host, .. } => {
            anyhow::anyhow!("`{text}` lies beyond what the clock of {} can show", plain(&host))
        }
        other => conversion_error(&other),
    }
}

/// A converted time: raw ns with --raw, else Unix ns.
#[derive(Debug, Serialize)]
struct Row<'c> {
    from: &'c str,
    from_ns: i128,
    to: &'c str,
    to_ns: i128,
    /// The bounds of the converted time; `null`: unknown.
    bounds_ns: (Option<i128>, Option<i128>),
    e95_ns: Option<i64>,
    #[serde(skip)]
    proven: bool,
}

impl<'c> Row<'c> {
    fn new(raw: bool, conversion: Conversion<'c>, text: &str) -> anyhow::Result<Self> {
        let (given, scale) = match raw {
            true => (typed::raw(text), Scale::Raw),
            false => {
                let given = TimeArg::parse(text).and_then(|given| given.absolute(conversion.start()));
                (given.map(|at| at.0), Scale::Unix)
            }
        };
        let from_ns = given.map_err(anyhow::Error::msg)?;
        let Converted { ns, lo, hi, e95, proven } =
            conversion.convert(from_ns, scale).map_err(|error| beyond(error, text))?;
        let (from, to) = (conversion.from(), conversion.to());
        Ok(Self { from, from_ns, to, to_ns: ns, bounds_ns: (lo, hi), e95_ns: e95, proven })
    }

    fn text(&self, raw: bool, out: &mut impl Write) -> io::Result<()> {
        let shown = |ns: i128| {
            if raw {
                return format!("{ns} ns");
            }
            format!("{} ({})", time::seconds(ns), time::full(UnixNs(ns)))
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
