//! `isochrone order`: which of two instants was first, and whether that is proven. Events are found by [`super::named_events`].

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::Path;

use isochrone_corrections::{Clock, Clocks};
use isochrone_experiment::{Instant, Order, TimeBase, TimesOf, Unknown, Verdict, order, read_clocks};
use isochrone_sync::{Options, Outcome, synchronize_messages};
use isochrone_time::{RawNs, UnixNs};
use serde::Serialize;

use super::convert::{beyond, conversion_error};
use super::named_events::{self, NamedEvent};
use super::open;
use crate::arguments::time::{self as typed, TimeArg};
use crate::arguments::{Order as Arguments, ReportFormat};
use crate::output::{self, Console};
use crate::progress::Progress;
use crate::render::plain::plain;
use crate::render::{complaints, figures, time};

pub(crate) fn run(arguments: &Arguments, console: &Console) -> anyhow::Result<()> {
    let instants = arguments.instants.chunks_exact(2);
    anyhow::ensure!(
        instants.remainder().is_empty() && instants.len() + arguments.events.len() == 2,
        "two instants are compared: HOST TIME HOST TIME, where `--event HOST:WHICH` may replace a HOST and a TIME"
    );
    if let Some(path) = &arguments.messages {
        let outcome = of_list(path, console)?;
        return compare(arguments, &outcome.clocks, Vec::new(), console);
    }
    let base = match &arguments.sync {
        Some(path) if arguments.traces.is_empty() => {
            return compare(arguments, &read_clocks(path)?, Vec::new(), console);
        }
        Some(path) => TimeBase::read(path)?,
        None => TimeBase::Synchronize(Box::default()),
    };
    let opened = open(&arguments.traces, base, console)?;
    let Some(clocks) = opened.clocks() else { return Ok(()) };
    let (events, lost) = named_events::find(&opened, &arguments.events)?;
    complaints::show(&lost, console);
    compare(arguments, clocks, events, console)
}

/// Puts the hosts of a list of messages on one clock.
fn of_list(path: &Path, console: &Console) -> anyhow::Result<Outcome> {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = Progress::over(bytes, "reading messages", console);
    let outcome = synchronize_messages(path, &Options::default(), &|bytes| bar.add(bytes))?;
    bar.finish();
    complaints::show_refused(&outcome.refused, "warning");
    Ok(outcome)
}

/// An instant, and how it is shown.
struct ShownInstant<'c> {
    instant: Instant<'c>,
    /// The name of the host, as it was given.
    host: &'c str,
    /// The clock of its time.
    of: TimesOf,
    /// The name of the event.
    event: Option<String>,
}

fn compare<'c>(
    arguments: &'c Arguments,
    clocks: &'c Clocks,
    events: Vec<NamedEvent<'c>>,
    console: &Console,
) -> anyhow::Result<()> {
    let of_times = arguments.instants.chunks_exact(2).map(|pair| match pair {
        [host, text] => of_time(arguments, clocks, host, text),
        _ => Err(anyhow::anyhow!("a HOST has no TIME")),
    });
    let of_events = events.into_iter().map(|event| {
        let (instant, host) = (event.instant, event.host);
        Ok(ShownInstant { instant, host, of: TimesOf::Common, event: Some(event.name) })
    });
    let shown = of_times.chain(of_events).collect::<anyhow::Result<Vec<_>>>()?;
    let [first, second] = &shown[..] else { anyhow::bail!("two instants are compared") };
    let found = order(clocks, &first.instant, &second.instant);
    output::print(|stdout| match arguments.format {
        ReportFormat::Json => output::json(&Row::new(first, second, &found), stdout),
        ReportFormat::Text => Ok(print(first, second, &found, stdout)?),
    })?;
    console.partial_if(found.unknown.is_some());
    Ok(())
}

/// A host and a time, as they were typed.
fn of_time<'c>(
    arguments: &Arguments,
    clocks: &'c Clocks,
    host: &'c str,
    text: &str,
) -> anyhow::Result<ShownInstant<'c>> {
    let is_listed = clocks.of_host(host).is_some_and(|clock| clock.entry.traces.is_empty());
    let of = match () {
        // A list has only the times of its clocks.
        () if arguments.raw || is_listed => TimesOf::Raw,
        () if arguments.own => TimesOf::Own,
        () => TimesOf::Common,
    };
    let begin = Instant::begin_of(clocks, host, of).map_err(|error| conversion_error(&error))?;
    let ns = match of {
        TimesOf::Raw => typed::raw(text),
        _ => TimeArg::parse(text).and_then(|given| given.absolute(begin.map(UnixNs))).map(|at| at.0),
    };
    let ns = ns.map_err(anyhow::Error::msg)?;
    let instant = Instant::new(clocks, host, ns, of).map_err(|error| beyond(error, text))?;
    Ok(ShownInstant { instant, host, of, event: None })
}

impl ShownInstant<'_> {
    /// `h1 06:11:30.650300000`, with the clock of its time, and with the date if needed.
    fn text(&self, date: bool) -> String {
        let host = plain(self.host);
        let of_day = |unix: UnixNs| {
            let mut shown = Vec::new();
            time::put(&mut shown, unix, date);
            String::from_utf8_lossy(&shown).into_owned()
        };
        match (&self.event, self.of) {
            (Some(event), _) => format!("{host} {} at {}", plain(event), of_day(self.instant.unix())),
            (None, TimesOf::Common) => format!("{host} {}", of_day(self.instant.unix())),
            (None, TimesOf::Own) => format!("{host} {} (its own clock)", of_day(self.instant.own())),
            (None, TimesOf::Raw) => format!("{host} {} s", time::seconds(i128::from(self.instant.raw().0))),
        }
    }

    /// The day on which it is, for comparing.
    fn day(&self) -> i128 {
        let unix = if self.of == TimesOf::Own { self.instant.own() } else { self.instant.unix() };
        unix.0.div_euclid(86_400_000_000_000)
    }

    /// The extent of the traces of the host, on the clock of its time.
    fn extent(&self) -> Option<String> {
        let clock = self.instant.clock();
        let rows = clock.interval.rows();
        let shown = |raw: i64| match self.of {
            TimesOf::Common => time::full(clock.unix(RawNs(raw))),
            TimesOf::Own => time::full(UnixNs(i128::from(raw) + i128::from(clock.entry.clock_offset_ns))),
            TimesOf::Raw => format!("{} s", time::seconds(i128::from(raw))),
        };
        Some(format!("from {} to {}", shown(rows.first()?.raw), shown(rows.last()?.raw)))
    }
}

/// A distance for people.
fn distance(ns: i128) -> String {
    figures::long(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }))
}

/// A distance with its sign.
fn signed(ns: i128) -> String {
    format!("{}{}", if ns < 0 { '−' } else { '+' }, distance(ns.saturating_abs()))
}

fn print(
    first: &ShownInstant<'_>,
    second: &ShownInstant<'_>,
    found: &Order<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let date = first.day() != second.day();
    let is_reversed = found.ordering == Some(Ordering::Greater);
    let (early, late) = if is_reversed { (second, first) } else { (first, second) };
    let (early_text, late_text) = (early.text(date), late.text(date));
    match found.verdict {
        Verdict::Proven => writeln!(out, "proven: {early_text} was before {late_text}")?,
        Verdict::Likely => {
            writeln!(out, "likely: {early_text} was before {late_text}, with {}", chance(found))?;
        }
        Verdict::Open => writeln!(out, "open: either of {early_text} and {late_text} may have been first")?,
    }
    // In the order of the first line.
    let gap = found.gap.map(|gap| if is_reversed { -gap } else { gap });
    let bounds = match is_reversed {
        true => (found.bounds.1.map(|most| -most), found.bounds.0.map(|least| -least)),
        false => found.bounds,
    };
    if first.instant.clock().number == second.instant.clock().number {
        match (found.verdict, gap) {
            (Verdict::Proven, Some(0)) => writeln!(out, "  in this order in one stream, at the same time")?,
            (Verdict::Proven, Some(gap)) => writeln!(out, "  by {}, by its own clock", distance(gap))?,
            _ if found.unknown.is_none() => writeln!(out, "  its own clock does not distinguish them")?,
            _ => {}
        }
    } else if let Some(gap) = gap {
        writeln!(out, "  {}", measured(early, found, gap, bounds))?;
    }
    if let (None, Some(beyond), false) =
        (found.unknown, found.proven_beyond, found.verdict == Verdict::Proven)
        && first.instant.clock().number != second.instant.clock().number
    {
        writeln!(out, "  a proof would need more than {} between them", distance(beyond))?;
    }
    match found.unknown {
        Some(unknown) => writeln!(out, "  {}", reason(first, second, unknown)),
        None => Ok(()),
    }
}

/// By how much, with bounds.
fn measured(
    early: &ShownInstant<'_>,
    found: &Order<'_>,
    gap: i128,
    bounds: (Option<i128>, Option<i128>),
) -> String {
    let mut parts = vec![match (found.verdict, gap) {
        (Verdict::Open, 0) => "by the estimate at the same time".to_owned(),
        (Verdict::Open, gap) => {
            let chance = found.probability.map_or_else(String::new, |_| format!(", with {}", chance(found)));
            format!("by the estimate {} was first, by {}{chance}", plain(early.host), distance(gap))
        }
        (_, gap) => format!("by {}", distance(gap)),
    }];
    if let Some(e95) = found.e95 {
        parts.push(format!("likely (e95) ± {}", figures::duration(e95)));
    }
    if bounds != (None, None) {
        parts.push(format!("guaranteed {}", figures::range(bounds.0, bounds.1, signed)));
    }
    parts.join("; ")
}

/// `a probability of 0.98`, rounded down.
fn chance(found: &Order<'_>) -> String {
    let thousandths = (found.probability.unwrap_or_default() * 1000.0).floor() / 1000.0;
    let more = if thousandths >= isochrone_experiment::MOST_PROBABLE { "more than " } else { "" };
    format!("a probability of {more}{thousandths}")
}

/// Why nothing is guaranteed.
fn reason(first: &ShownInstant<'_>, second: &ShownInstant<'_>, unknown: Unknown<'_>) -> String {
    let (a, b) = (plain(first.host), plain(second.host));
    match unknown {
        Unknown::Apart => format!("no chain of messages ties {a} to {b}: their times cannot be compared"),
        Unknown::Contradicted => {
            format!(
                "nothing is guaranteed: messages on the way between {a} and {b} contradict each other, or a clock that was trusted"
            )
        }
        Unknown::Outside(host) => {
            let of = if first.instant.clock().entry.host == host { first } else { second };
            let clock = of.instant.clock();
            let extent = of.extent().map_or_else(String::new, |extent| format!(", {extent}"));
            let hint = match of.of == TimesOf::Common && is_inside_by_its_own_clock(clock, of.instant.unix())
            {
                true => "; as a time of the host's own clock (--own) it would lie inside",
                false => "",
            };
            format!(
                "nothing is known: the time of {} lies outside what was traced{extent}{hint}",
                plain(of.host)
            )
        }
        Unknown::Unbounded => {
            format!("nothing is guaranteed: messages do not bound the clocks of {a} and {b} then")
        }
        Unknown::SetBack => {
            format!(
                "nothing is guaranteed: the clock of {a} was set back about then, and showed the same times twice"
            )
        }
    }
}

/// Whether a time would lie inside the traces if it were one of the host's own wall clock.
fn is_inside_by_its_own_clock(clock: &Clock, unix: UnixNs) -> bool {
    let raw = i64::try_from(unix.0 - i128::from(clock.entry.clock_offset_ns));
    raw.is_ok_and(|raw| clock.covers(RawNs(raw)))
}

/// The result for programs.
#[derive(Debug, Serialize)]
struct Row<'r> {
    first: Side<'r>,
    second: Side<'r>,
    verdict: &'static str,
    earlier: Option<&'static str>,
    gap_ns: Option<i128>,
    gap_bounds_ns: (Option<i128>, Option<i128>),
    e95_ns: Option<i64>,
    probability: Option<f64>,
    proven_beyond_ns: Option<i128>,
    reason: Option<String>,
}

/// One of the instants.
#[derive(Debug, Serialize)]
struct Side<'r> {
    host: &'r str,
    event: Option<&'r str>,
    time_ns: UnixNs,
    own_time_ns: UnixNs,
    raw_ns: (RawNs, RawNs),
}

impl<'r> Row<'r> {
    fn new(first: &'r ShownInstant<'_>, second: &'r ShownInstant<'_>, found: &Order<'_>) -> Self {
        let side = |shown: &'r ShownInstant<'_>| Side {
            host: shown.host,
            event: shown.event.as_deref(),
            time_ns: shown.instant.unix(),
            own_time_ns: shown.instant.own(),
            raw_ns: shown.instant.raw_range(),
        };
        Self {
            first: side(first),
            second: side(second),
            verdict: match found.verdict {
                Verdict::Proven => "proven",
                Verdict::Likely => "likely",
                Verdict::Open => "open",
            },
            earlier: match found.ordering {
                Some(Ordering::Less) => Some("first"),
                Some(Ordering::Greater) => Some("second"),
                _ => None,
            },
            gap_ns: found.gap,
            gap_bounds_ns: found.bounds,
            e95_ns: found.e95,
            probability: found.probability,
            proven_beyond_ns: found.proven_beyond,
            reason: found.unknown.map(|unknown| reason(first, second, unknown)),
        }
    }
}
