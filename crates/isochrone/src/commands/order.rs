//! `isochrone order`: which of two instants was first, and how sure that is. Events are found by [`super::named_events`].

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::Path;

use isochrone_experiment::{
    ConversionError, Instant, Order, TimeBase, TimesOf, Unknown, Verdict, order, read_clocks,
};
use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::{Options, Outcome, synchronize_messages};
use serde::Serialize;

use super::{convert, named_events, open};
use crate::ExitStatus;
use crate::arguments::time::{self as given, Given};
use crate::arguments::{Order as Asked, ReportFormat};
use crate::output;
use crate::progress::Progress;
use crate::render::plain::plain;
use crate::render::{complaints, figures, time};

pub(crate) fn run(asked: &Asked, quiet: bool) -> anyhow::Result<ExitStatus> {
    let instants = asked.instants.chunks_exact(2);
    anyhow::ensure!(
        instants.remainder().is_empty() && instants.len() + asked.events.len() == 2,
        "two instants are compared: HOST TIME HOST TIME, where `--event HOST:WHICH` may stand for a HOST and a TIME"
    );
    if let Some(path) = &asked.messages {
        let outcome = of_list(path, quiet)?;
        return compare(asked, &outcome.clocks, Vec::new());
    }
    let kept = asked.sync.as_ref();
    if asked.traces.is_empty() {
        return match kept {
            Some(path) => compare(asked, &read_clocks(path)?, Vec::new()),
            // Arguments are checked before.
            None => anyhow::bail!("--traces or --sync is missing"),
        };
    }
    let base = match kept {
        Some(path) => TimeBase::read(path)?,
        None => TimeBase::Synchronize(Box::default()),
    };
    let (opened, ending) = open(&asked.traces, base, quiet)?;
    let Some(clocks) = opened.clocks() else { return Ok(ending) };
    let (events, lost) = named_events::find(&opened, &asked.events)?;
    let ending = ending.max(complaints::show(&lost, quiet));
    Ok(ending.max(compare(asked, clocks, events)?))
}

/// Puts the hosts of a list of messages on one clock.
fn of_list(path: &Path, quiet: bool) -> anyhow::Result<Outcome> {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = Progress::over(bytes, "reading messages", quiet);
    let outcome = synchronize_messages(path, &Options::default(), &|bytes| bar.add(bytes))?;
    bar.finish();
    complaints::show_refused(&outcome.refused, "warning");
    Ok(outcome)
}

/// An instant, and how it is shown.
struct Shown<'c> {
    instant: Instant<'c>,
    /// As it was given: the name of the host, and what else is to be said.
    host: &'c str,
    /// What its time is of.
    of: TimesOf,
    /// The name of the event.
    event: Option<String>,
}

fn compare<'c>(
    asked: &'c Asked,
    clocks: &'c Clocks,
    events: Vec<named_events::Found<'c>>,
) -> anyhow::Result<ExitStatus> {
    let of_times = asked.instants.chunks_exact(2).map(|pair| match pair {
        [host, text] => of_time(asked, clocks, host, text),
        _ => Err(anyhow::anyhow!("a HOST has no TIME")),
    });
    let of_events = events.into_iter().map(|found| {
        let event = Some(found.name);
        Ok(Shown { instant: found.instant, host: found.host, of: TimesOf::Common, event })
    });
    let shown = of_times.chain(of_events).collect::<anyhow::Result<Vec<_>>>()?;
    let [first, second] = &shown[..] else { anyhow::bail!("two instants are compared") };
    let found = order(clocks, &first.instant, &second.instant);
    output::print(|stdout| {
        match asked.format {
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut *stdout, &Row::new(first, second, &found))?;
                writeln!(stdout)?;
            }
            ReportFormat::Text => print(first, second, &found, stdout)?,
        }
        Ok(())
    })?;
    Ok(ExitStatus::partly_if(found.unknown.is_some()))
}

/// A host and a time, as they were typed.
fn of_time<'c>(asked: &Asked, clocks: &'c Clocks, host: &'c str, text: &str) -> anyhow::Result<Shown<'c>> {
    let is_listed = clocks.of_host(host).is_some_and(|clock| clock.entry.traces.is_empty());
    let of = match () {
        // A list has no other times than those of its clocks.
        () if asked.raw || is_listed => TimesOf::Raw,
        () if asked.own => TimesOf::Own,
        () => TimesOf::Common,
    };
    let begin = Instant::begin_of(clocks, host, of).map_err(|error| convert::in_words(&error))?;
    let ns = match of {
        TimesOf::Raw => given::raw(text),
        _ => Given::parse(text).and_then(|given| given.unix_ns(begin)),
    };
    let ns = ns.map_err(anyhow::Error::msg)?;
    let instant = Instant::new(clocks, host, ns, of).map_err(|error| match error {
        // As it was typed.
        ConversionError::Beyond { host, .. } => {
            anyhow::anyhow!("`{text}` lies beyond what the clock of {} can show", plain(&host))
        }
        other => convert::in_words(&other),
    })?;
    Ok(Shown { instant, host, of, event: None })
}

impl Shown<'_> {
    /// `h1 06:11:30.650300000`, or what else its time is of; with the date where that is needed.
    fn text(&self, date: bool) -> String {
        let host = plain(self.host);
        let of_day = |unix_ns: i128| {
            let mut shown = Vec::new();
            time::put(&mut shown, unix_ns, date);
            String::from_utf8_lossy(&shown).into_owned()
        };
        match (&self.event, self.of) {
            (Some(event), _) => format!("{host} {} at {}", plain(event), of_day(self.instant.unix_ns())),
            (None, TimesOf::Common) => format!("{host} {}", of_day(self.instant.unix_ns())),
            (None, TimesOf::Own) => format!("{host} {} (its own clock)", of_day(self.instant.own_ns())),
            (None, TimesOf::Raw) => format!("{host} {} s", time::seconds(i128::from(self.instant.raw()))),
        }
    }

    /// The day on which it is, for comparing.
    fn day(&self) -> i128 {
        let unix_ns = if self.of == TimesOf::Own { self.instant.own_ns() } else { self.instant.unix_ns() };
        unix_ns.div_euclid(86_400_000_000_000)
    }

    /// Where the traces of the host are, on the clock that times are of.
    fn extent(&self) -> Option<String> {
        let clock = self.instant.clock();
        let rows = clock.interval.rows();
        let shown = |raw: i64| match self.of {
            TimesOf::Common => time::full(clock.unix_ns(raw)),
            TimesOf::Own => time::full(i128::from(raw) + i128::from(clock.entry.clock_offset_ns)),
            TimesOf::Raw => format!("{} s", time::seconds(i128::from(raw))),
        };
        Some(format!("from {} to {}", shown(rows.first()?.raw), shown(rows.last()?.raw)))
    }
}

/// A distance as people say it.
fn distance(ns: i128) -> String {
    figures::long(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }))
}

/// A distance with its sign.
fn signed(ns: i128) -> String {
    format!("{}{}", if ns < 0 { '−' } else { '+' }, distance(ns.saturating_abs()))
}

fn print(first: &Shown<'_>, second: &Shown<'_>, found: &Order<'_>, out: &mut impl Write) -> io::Result<()> {
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
    // In the order that is said.
    let gap = found.gap.map(|gap| if is_reversed { -gap } else { gap });
    let bounds = match is_reversed {
        true => (found.bounds.1.map(|most| -most), found.bounds.0.map(|least| -least)),
        false => found.bounds,
    };
    if first.instant.clock().number == second.instant.clock().number {
        match (found.verdict, gap) {
            (Verdict::Proven, Some(0)) => writeln!(out, "  in this order in one stream, at the same time")?,
            (Verdict::Proven, Some(gap)) => writeln!(out, "  by {}, by its own clock", distance(gap))?,
            _ if found.unknown.is_none() => writeln!(out, "  its own clock does not tell them apart")?,
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

/// By how much, and how sure that is.
fn measured(early: &Shown<'_>, found: &Order<'_>, gap: i128, bounds: (Option<i128>, Option<i128>)) -> String {
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
fn reason(first: &Shown<'_>, second: &Shown<'_>, unknown: Unknown<'_>) -> String {
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
            let hint =
                match of.of == TimesOf::Common && is_inside_by_its_own_clock(clock, of.instant.unix_ns()) {
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
fn is_inside_by_its_own_clock(clock: &Clock, unix_ns: i128) -> bool {
    let raw = i64::try_from(unix_ns - i128::from(clock.entry.clock_offset_ns));
    raw.is_ok_and(|raw| clock.covers(raw))
}

/// The answer for programs.
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
    time_ns: i128,
    own_time_ns: i128,
    raw_ns: (i64, i64),
}

impl<'r> Row<'r> {
    fn new(first: &'r Shown<'_>, second: &'r Shown<'_>, found: &Order<'_>) -> Self {
        let side = |shown: &'r Shown<'_>| Side {
            host: shown.host,
            event: shown.event.as_deref(),
            time_ns: shown.instant.unix_ns(),
            own_time_ns: shown.instant.own_ns(),
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
