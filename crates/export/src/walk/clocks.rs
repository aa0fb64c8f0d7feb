//! The clocks of hosts: what each showed at instants of the common clock, how far off that can be, and when events are missing.

use std::cmp::Reverse;
use std::io;

use isochrone_store::{Loss, Missing};
use isochrone_time::{RawNs, Window};

use super::ExportError;
use super::host::Host;
use crate::timeline::{Event, Lanes, Timeline, TrackKind, Value};

/// Passes what is known of the clock of a host, and what is missing in its trace.
pub(super) fn emit<T: Timeline>(host: &Host<'_>, to: &mut T) -> Result<(), ExportError> {
    snapshots(host, to)?;
    bounds(host, to)?;
    losses(host, to)
}

/// Where the correction bends, and at both ends of what is exported.
fn snapshots<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let (first, last) = host.ends();
    let knots = host.timing.clock().map_or(&[][..], |clock| clock.correction.knots());
    let within = knots.iter().map(|&(raw, _)| RawNs(raw)).filter(|&raw| first < raw && raw < last);
    let mut all: Vec<RawNs> = std::iter::once(first).chain(within).chain([last]).collect();
    all.dedup();
    all.into_iter().try_for_each(|raw| to.clock(host.index, host.common(raw), raw))
}

/// How far the estimate can be off, where that is proven. Between two instants it is linear.
fn bounds<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let Some(clock) = host.timing.clock().filter(|clock| clock.proven) else { return Ok(()) };
    let (name, unit) = ("clock error at most", "ns");
    let track = to.track(&TrackKind::Counter { parent: host.track, name, unit })?;
    let (first, last) = host.ends();
    for row in clock.interval.rows().iter().filter(|row| (first.0..=last.0).contains(&row.raw)) {
        let time = clock.correction.apply(row.raw);
        let error = row.hi.saturating_sub(time).max(time.saturating_sub(row.lo));
        to.counter(track, host.common(RawNs(row.raw)), error as f64)?;
    }
    Ok(())
}

fn losses<T: Timeline>(host: &Host<'_>, to: &mut T) -> Result<(), ExportError> {
    let (first, last) = host.ends();
    let mut losses = host.store.losses(Window::new(first, last))?;
    losses.sort_by_key(|loss| (loss.start, Reverse(loss.end), loss.cpu, loss.what));
    let mut lanes = Lanes::default();
    for Loss { start, end, cpu, what, count } in losses {
        let span = host.span(start.max(first), end.min(last));
        let mut args = Vec::with_capacity(2);
        args.extend(cpu.map(|cpu| ("cpu", Value::Int(cpu.into()))));
        args.extend(count.map(|count| ("count", Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))));
        let event = Event { args: &args, ..Event::new(Missing::name(what), "missing") };
        lanes.slice(span, &event, TrackKind::Under { parent: host.track, name: "missing" }, to)?;
    }
    lanes.finish(to)?;
    Ok(())
}
