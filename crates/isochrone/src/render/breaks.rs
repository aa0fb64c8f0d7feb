//! Further results of a synchronization, for people: clocks that were set or slewed, messages that look wrong,
//! loops that contradict each other. Part of [`super::report`].

use std::io::{self, Write};

use isochrone_corrections::artefact::{Artefact, BreakEntry, BreakKind, SuspectEntry};
use isochrone_corrections::{Clock, Clocks};
use isochrone_time::UnixNs;

use super::error_summary::Errors;
use super::plain::plain;
use super::{figures, time};

/// Steps of a clock that are listed; the rest is counted. All are in `sync.json`.
const MAX_STEPS: usize = 5;
/// Changes of a clock's rate that are listed, the largest.
const MAX_SLEWS: usize = 3;
/// Suspect messages that are listed.
const MAX_SUSPECTS: usize = 3;
/// Loops that are listed.
const MAX_LOOPS: usize = 3;

/// Prints them; without any, nothing.
pub(crate) fn print(artefact: &Artefact, clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    let is_alone = |clock: &Clock, found: &BreakEntry| either(clocks, clock, found).is_none();
    if clocks.iter().any(|clock| clock.entry.breaks.iter().any(|found| is_alone(clock, found))) {
        writeln!(out, "\nClocks that were set, stopped or slewed:")?;
    }
    for clock in clocks.iter() {
        let own = clock.entry.breaks.iter().filter(|found| is_alone(clock, found));
        let (steps, slews): (Vec<&BreakEntry>, Vec<&BreakEntry>) =
            own.partition(|found| found.kind == BreakKind::Step);
        for step in steps.iter().take(MAX_STEPS) {
            writeln!(out, " {}", step_of(clock, step))?;
        }
        if let Some(error) = Errors::of(clock, clocks).at_steps.filter(|_| clock.proven && !steps.is_empty())
        {
            let (host, error) = (plain(&clock.entry.host), figures::duration(error));
            writeln!(out, " {host}: off by up to ± {error} around its steps")?;
        }
        if steps.len() > MAX_STEPS {
            let more = figures::plural(steps.len() - MAX_STEPS, "more step");
            writeln!(out, " {}: {more}", plain(&clock.entry.host))?;
        }
        slews_of(clock, slews, out)?;
    }
    print_unclear(clocks, out)?;
    if !artefact.suspects.is_empty() {
        let count = figures::plural(artefact.suspects.len(), "message");
        writeln!(out, "\nExcluded as implausible, {count}:")?;
        for suspect in artefact.suspects.iter().take(MAX_SUSPECTS) {
            writeln!(out, " {}", suspect_of(clocks, suspect))?;
        }
        more(artefact.suspects.len(), MAX_SUSPECTS, out)?;
    }
    if !artefact.contradictions.is_empty() {
        writeln!(
            out,
            "\nLinks that contradict each other around a loop; those that explain most of it were refused:"
        )?;
        for hosts in artefact.contradictions.iter().take(MAX_LOOPS) {
            writeln!(out, " {}", plain(&hosts.join(" – ")))?;
        }
        more(artefact.contradictions.len(), MAX_LOOPS, out)?;
    }
    Ok(())
}

/// The clock with a break at the same instant and of the opposite size: the link of the two shows the break, but not which of them it belongs to.
fn either<'c>(clocks: &'c Clocks, clock: &Clock, found: &BreakEntry) -> Option<&'c Clock> {
    let span = |clock: &Clock, (begin, end): (i64, i64)| {
        (clock.correction.apply(begin), clock.correction.apply(end))
    };
    let (begin, end) = span(clock, found.raw_range_ns);
    let is_mirrored = |other: &&Clock| {
        let alike = other.entry.breaks.iter().filter(|other| {
            let sizes = (other.size_ns, other.size_ppm);
            other.kind == found.kind && sizes == (-found.size_ns, -found.size_ppm)
        });
        let mut spans = alike.map(|alike| span(other, alike.raw_range_ns));
        spans.any(|other| other.0 <= end && begin <= other.1)
    };
    let others = clocks.iter().filter(|other| other.number != clock.number);
    others.filter(|other| other.entry.island == clock.entry.island).find(is_mirrored)
}

/// Prints breaks of one of two clocks, once for both.
fn print_unclear(clocks: &Clocks, out: &mut impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for clock in clocks.iter() {
        for found in &clock.entry.breaks {
            let Some(other) = either(clocks, clock, found).filter(|other| clock.number < other.number) else {
                continue;
            };
            let (a, b) = (plain(&clock.entry.host), plain(&other.entry.host));
            let size = match found.kind {
                BreakKind::Step => format!("{} of {a} against {b}", figures::signed(found.size_ns)),
                BreakKind::Slew => format!("slew of {} of {a} against {b}", signed_ppm(found.size_ppm)),
            };
            let range = found.raw_range_ns;
            let (begin, end) = (time_of_day(clock, range.0), time_of_day(clock, range.1));
            lines.push(format!(" {a} or {b}: {size} between about {begin} and {end}"));
        }
    }
    if !lines.is_empty() {
        writeln!(out, "\nOne of two clocks was set, stopped or slewed; messages do not show which:")?;
        lines.iter().take(MAX_STEPS).try_for_each(|line| writeln!(out, "{line}"))?;
        more(lines.len(), MAX_STEPS, out)?;
    }
    Ok(())
}

fn more(all: usize, shown: usize, out: &mut impl Write) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, " … and {} more, all of them in sync.json", figures::count(more)),
    }
}

fn step_of(clock: &Clock, step: &BreakEntry) -> String {
    let (begin, end) = step.raw_range_ns;
    format!(
        "{}: step of {} between {} and {} on its clock (about {})",
        plain(&clock.entry.host),
        figures::signed(step.size_ns),
        seconds(begin),
        seconds(end),
        time_of_day(clock, step.raw_ns),
    )
}

/// The largest changes of a clock's rate, in the order of time.
fn slews_of(clock: &Clock, mut slews: Vec<&BreakEntry>, out: &mut impl Write) -> io::Result<()> {
    let count = slews.len();
    slews.sort_by(|a, b| b.size_ppm.abs().total_cmp(&a.size_ppm.abs()));
    slews.truncate(MAX_SLEWS);
    slews.sort_by_key(|slew| slew.raw_ns);
    let host = plain(&clock.entry.host);
    for slew in &slews {
        let (at, of_day) = (seconds(slew.raw_ns), time_of_day(clock, slew.raw_ns));
        let size = signed_ppm(slew.size_ppm);
        writeln!(out, " {host}: slew of {size} near {at} on its clock (about {of_day})")?;
    }
    if count > slews.len() {
        let more = figures::plural(count - slews.len(), "smaller slew");
        writeln!(out, " {host}: … and {more}")?;
    }
    Ok(())
}

/// A change of rate with its sign.
fn signed_ppm(ppm: f64) -> String {
    format!("{}{}", if ppm < 0.0 { '−' } else { '+' }, figures::ppm(ppm.abs()))
}

fn suspect_of(clocks: &Clocks, suspect: &SuspectEntry) -> String {
    let SuspectEntry { link: (sender, receiver), sent_raw_ns, received_raw_ns, why } = suspect;
    let about = clocks.of_host(sender).map(|clock| format!(" (about {})", time_of_day(clock, *sent_raw_ns)));
    format!(
        "{} → {}: sent at {}{}, received at {}: {}",
        plain(sender),
        plain(receiver),
        seconds(*sent_raw_ns),
        about.unwrap_or_default(),
        seconds(*received_raw_ns),
        plain(why)
    )
}

/// A clock's own value, in seconds.
pub(super) fn seconds(raw: i64) -> String {
    let sign = if raw < 0 { "-" } else { "" };
    let size = raw.unsigned_abs();
    format!("{sign}{}.{:06} s", size / 1_000_000_000, size / 1_000 % 1_000_000)
}

/// The common clock's time of day to a millisecond.
pub(super) fn time_of_day(clock: &Clock, raw: i64) -> String {
    time_of_day_there(clock, clock.correction.apply(raw))
}

/// The same of a raw time of the reference of a clock.
pub(super) fn time_of_day_there(clock: &Clock, reference_raw: i64) -> String {
    let mut shown = Vec::new();
    let unix_ns = i128::from(reference_raw) + i128::from(clock.reference_offset_ns);
    time::put(&mut shown, UnixNs(unix_ns), false);
    shown.truncate("00:00:00.000".len());
    String::from_utf8_lossy(&shown).into_owned()
}
