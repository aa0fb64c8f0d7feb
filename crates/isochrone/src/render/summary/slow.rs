//! The slowest requests, and one of them across its hosts.

use std::cmp::Reverse;

use isochrone_crosshost::{Cause, Cluster, Request};
use isochrone_export::html::{Bar, Carried, Part, RequestPicture, RequestStep, Section};

use super::{Found, ROWS, by_cause, part};
use crate::render::{drawing, figures};

pub(super) fn section(found: &Found<'_, '_>) -> Section {
    if found.requests.is_empty() {
        return Section::default();
    }
    let table = |name: &str| found.critical_path.table(name).filter(|table| !table.rows.is_empty());
    let slowest = table("requests").map(|table| {
        let mut table = table.clone();
        table.sort("total_ns");
        part(&table, ROWS)
    });
    let parts = [
        table("services").map(|table| part(table, ROWS)),
        Some(bars(&found.requests)),
        found.slowest.as_ref().map(|request| across(found.cluster, request)),
        slowest,
        table("breakdown").map(|table| part(table, ROWS)),
    ];
    found.section("Requests", "critical-path", parts)
}

/// What the slowest spent their time on: by cause, the same causes in the same order.
fn bars(requests: &[Request]) -> Part {
    let mut slowest: Vec<&Request> = requests.iter().collect();
    slowest.sort_by_key(|request| (Reverse(request.duration()), request.number));
    slowest.truncate(ROWS);
    let bar = |request: &&Request| {
        let parts = by_cause(request).into_iter().map(|(cause, ns)| (cause.name(), ns)).collect();
        Bar { name: format!("request {}", request.number), parts }
    };
    let says = format!(
        "What the {} of {} requests that took longest spent their time on.",
        slowest.len(),
        figures::count(requests.len())
    );
    Part::Bars(slowest.iter().map(bar).collect(), says)
}

/// A request across its hosts.
fn across(cluster: &Cluster<'_>, request: &Request) -> Part {
    let rows = drawing::rows(request);
    let since = |at: i64| at - request.begin;
    let mut picture = RequestPicture {
        rows: rows.iter().map(|row| drawing::name(cluster, *row)).collect(),
        duration: request.duration(),
        ..RequestPicture::default()
    };
    for (number, (step, detail)) in request.path.iter().enumerate() {
        let span = (since(step.begin), since(step.end));
        if step.cause != Cause::Network {
            let Some(row) = drawing::place(&rows, step) else { continue };
            picture.steps.push(RequestStep {
                row,
                span,
                cause: step.cause.name(),
                title: detail.to_string(),
            });
            continue;
        }
        // From the row before it to the row after it.
        let beside = |place: Option<usize>| drawing::place(&rows, &request.path.get(place?)?.0);
        if let (Some(from), Some(to)) = (beside(number.checked_sub(1)), beside(Some(number + 1))) {
            picture.packets.push(Carried { rows: (from, to), span });
        }
    }
    let says = format!(
        "Request {}, the slowest: {} across its hosts. High is on a CPU, low waits, lines are packets; what is pointed at says more.",
        request.number,
        figures::duration(request.duration())
    );
    Part::Request(picture, says)
}
