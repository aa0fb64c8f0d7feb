//! The slowest requests, and one of them across its hosts.

use std::cmp::Reverse;

use isochrone_crosshost::{Cause, Cluster, Request};
use isochrone_export::html::{Bar, Block, Packet, RequestPicture, RequestStep, Section};
use isochrone_time::{SinceOrigin, UnixNs, Window};

use super::{Findings, ROWS, by_cause, part};
use crate::render::{drawing, figures};

pub(super) fn section(findings: &Findings<'_, '_>) -> Section {
    if findings.requests.is_empty() {
        return Section::default();
    }
    let table = |name: &str| findings.critical_path.table(name).filter(|table| !table.rows.is_empty());
    let slowest = table("requests").map(|table| {
        let mut table = table.clone();
        table.sort("total_ns");
        part(&table, ROWS)
    });
    let blocks = [
        table("services").map(|table| part(table, ROWS)),
        Some(bars(&findings.requests)),
        findings.slowest.as_ref().map(|request| across(findings.cluster, request)),
        slowest,
        table("breakdown").map(|table| part(table, ROWS)),
    ];
    findings.section("Requests", "critical-path", blocks)
}

/// What the slowest requests spent their time on, by cause.
fn bars(requests: &[Request]) -> Block {
    let mut slowest: Vec<&Request> = requests.iter().collect();
    slowest.sort_by_key(|request| (Reverse(request.duration()), request.number));
    slowest.truncate(ROWS);
    let bar = |request: &&Request| {
        let segments = by_cause(request).into_iter().map(|(cause, ns)| (cause.name(), ns)).collect();
        Bar { name: format!("request {}", request.number), segments }
    };
    let caption = format!(
        "What the {} of {} requests that took longest spent their time on.",
        slowest.len(),
        figures::count(requests.len())
    );
    Block::Bars(slowest.iter().map(bar).collect(), caption)
}

/// A request across its hosts.
fn across(cluster: &Cluster<'_>, request: &Request) -> Block {
    let rows = drawing::rows(request);
    let since = |at: UnixNs| SinceOrigin(at.saturating_since(request.start));
    let mut picture = RequestPicture {
        rows: rows.iter().map(|row| drawing::name(cluster, *row)).collect(),
        duration_ns: request.duration(),
        ..RequestPicture::default()
    };
    for (number, (step, detail)) in request.path.iter().enumerate() {
        let span = Window::new(since(step.start), since(step.end));
        if step.cause != Cause::Network {
            let Some(row) = drawing::row_of(&rows, step) else { continue };
            picture.steps.push(RequestStep {
                row,
                span,
                cause: step.cause.name(),
                title: detail.to_string(),
            });
            continue;
        }
        // From the row before it to the row after it.
        let neighbour = |index: Option<usize>| drawing::row_of(&rows, &request.path.get(index?)?.0);
        if let (Some(from), Some(to)) = (neighbour(number.checked_sub(1)), neighbour(Some(number + 1))) {
            picture.packets.push(Packet { rows: (from, to), span });
        }
    }
    let caption = format!(
        "Request {}, the slowest: {} across its hosts. High bars are on a CPU, low bars wait, lines are packets; a tooltip has details.",
        request.number,
        figures::duration(request.duration())
    );
    Block::Request(picture, caption)
}
