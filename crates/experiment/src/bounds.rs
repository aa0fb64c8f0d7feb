//! How sure the times of tables are: the bounds of each, beside it.

use std::collections::HashMap;

use isochrone_analysis::{Cell, Report};
use isochrone_time::UnixNs;
use isochrone_timing::{TimedHost, Timing};

/// Puts its bounds beside each time of a report's tables: see [`isochrone_analysis::Table::add_bounds`]. The
/// hosts are those that the report is of.
pub fn add_bounds(report: &mut Report, hosts: &[&TimedHost<'_>]) {
    add_bounds_of(report, hosts.iter().filter_map(|host| Some((host.name(), host.timing?))));
}

/// The same, of hosts by their names.
pub fn add_bounds_of<'n>(report: &mut Report, hosts: impl IntoIterator<Item = (&'n str, Timing<'n>)>) {
    let timings: HashMap<&str, Timing<'_>> = hosts.into_iter().collect();
    for table in &mut report.tables {
        let Some(host) = table.column("host") else { continue };
        table.add_bounds(|row, unix| match &row[host] {
            Cell::Text(name) => timings.get(&**name).map_or((None, None), |timing| of(*timing, unix)),
            _ => (None, None),
        });
    }
}

/// The bounds of an instant that is known as it is shown: of all raw times that are shown so.
fn of(timing: Timing<'_>, unix: UnixNs) -> (Option<UnixNs>, Option<UnixNs>) {
    let (first, last) = (timing.raw(unix - 1).saturating_add(1), timing.raw(unix));
    (timing.stamp(first.min(last)).lo, timing.stamp(last).hi)
}
