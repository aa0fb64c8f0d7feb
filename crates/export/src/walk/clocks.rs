//! The clocks of hosts: what each showed at instants of the common clock, how far off that can be, and when events are missing.

use std::io;

use isochrone_store::{Loss, Missing};

use super::ExportError;
use super::host::Host;
use crate::timeline::{Place, Shown, Timeline, Value};

/// Passes what is known of the clock of a host, and of what is missing of its trace.
pub(super) fn emit<T: Timeline>(host: &Host<'_>, to: &mut T) -> Result<(), ExportError> {
    snapshots(host, to)?;
    bounds(host, to)?;
    losses(host, to)
}

/// Where the correction bends, and at both ends of what is exported.
fn snapshots<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let (first, last) = (host.window.0, host.window.1 - 1);
    let knots = host.timing.clock().map_or(&[][..], |clock| clock.correction.knots());
    let within = knots.iter().map(|&(raw, _)| raw).filter(|&raw| first < raw && raw < last);
    let mut all: Vec<i64> = std::iter::once(first).chain(within).chain([last]).collect();
    all.dedup();
    for raw in all {
        to.clock((host.place, &host.name), host.common(raw), raw)?;
    }
    Ok(())
}

/// How far the estimate can be off, where that is proven. Between two instants it is linear.
fn bounds<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let Some(clock) = host.timing.clock().filter(|clock| clock.proven) else { return Ok(()) };
    let (name, unit) = ("clock error at most", "ns");
    let row = to.row(&Place::Counter { parent: host.row, name, unit })?;
    let (first, last) = (host.window.0, host.window.1 - 1);
    for it in clock.interval.rows().iter().filter(|it| (first..=last).contains(&it.raw)) {
        let time = clock.correction.apply(it.raw);
        let error = it.hi.saturating_sub(time).max(time.saturating_sub(it.lo));
        to.counter(row, host.common(it.raw), error as f64)?;
    }
    Ok(())
}

fn losses<T: Timeline>(host: &Host<'_>, to: &mut T) -> Result<(), ExportError> {
    let (first, last) = (host.window.0, host.window.1 - 1);
    let mut losses = host.store.losses((first, last))?;
    losses.sort_by_key(|loss| (loss.begin, std::cmp::Reverse(loss.end), loss.cpu, loss.what));
    let mut lanes = crate::timeline::Lanes::default();
    for loss in losses {
        let Loss { begin, end, cpu, what, count } = loss;
        let (begin, end) = (host.common(begin.max(first)), host.common(end.min(last)));
        let row = lanes
            .place((begin, end), to, |to| to.row(&Place::Under { parent: host.row, name: "missing" }))?;
        let mut details = Vec::with_capacity(2);
        details.extend(cpu.map(|cpu| ("cpu", Value::Int(cpu.into()))));
        details.extend(count.map(|count| ("count", Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))));
        let shown = Shown { name: Missing::name(what), category: "missing", details: &details, flow: None };
        to.begin(row, begin, &shown)?;
    }
    lanes.finish(to)?;
    Ok(())
}
