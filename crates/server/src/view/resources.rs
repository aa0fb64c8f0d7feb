//! What the resources of hosts did over time, and which of them is the bottleneck of each host: the report
//! `bottleneck` as series.

use std::sync::Arc;

use isochrone_analysis::Cell;
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;
use serde_json::Value;

use super::named::Named;
use super::rows::RowKind;
use super::{Clock, ExperimentView};
use crate::error::Result;

/// Steps of one answer.
const MAX_STEPS: u64 = 1000;

/// The resources of all hosts.
#[derive(Debug, Serialize)]
pub(crate) struct Bottlenecks {
    verdicts: Vec<OfHost>,
    resources: Vec<ResourceSeries>,
    notes: Vec<String>,
    command: String,
}

/// The bottleneck of a host.
#[derive(Debug, Serialize)]
struct OfHost {
    host: usize,
    /// `saturated`, `requests`, `nothing`, `unknown`.
    because: String,
    /// Its kind and name, if there is one.
    resource: Option<String>,
    of: Option<String>,
    verdict: String,
}

/// A resource: each of its values is null where it is unknown, and absent where it has no such thing.
#[derive(Debug, Serialize)]
struct ResourceSeries {
    host: usize,
    row: Option<u32>,
    /// Its kind.
    resource: String,
    /// Which one of its kind.
    of: Option<String>,
    #[serde(flatten)]
    whole: serde_json::Map<String, Value>,
    /// Its steps: where they start and end, and the parts of them, in percent.
    begin: Vec<SinceOrigin>,
    end: Vec<SinceOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    busy: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited: Option<Vec<Option<f64>>>,
    unknown: Vec<Option<f64>>,
}

/// What a row is about.
fn key(row: &Named<'_>) -> [Option<String>; 3] {
    ["host", "resource", "of"].map(|column| row.text(column))
}

/// Hundredths of a percent are as much as anybody sees.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// A part of a time in percent, if it is known.
fn share(cell: &Cell, whole: f64) -> Option<f64> {
    match cell {
        Cell::Int(ns) => Some(rounded(*ns as f64 * 100.0 / whole.max(1.0))),
        _ => None,
    }
}

impl ExperimentView<'_> {
    /// What resources did in a window on the common clock, in `steps` steps at most.
    ///
    /// # Errors
    /// The window is empty, the store cannot be read, or the work was stopped.
    pub(crate) fn resources(
        &self,
        window: Window<SinceOrigin>,
        steps: u64,
        work: &Arc<Work>,
    ) -> Result<Bottlenecks> {
        let window = self.inside(window)?;
        let (report, notes) = self.bottlenecks(Some(window), steps.clamp(1, MAX_STEPS), work)?;
        let table = |name| report.table(name).into_iter().flat_map(Named::rows);
        let host = |name: Option<String>| name.and_then(|name| self.host_index(&name)).unwrap_or_default();
        let verdict = |row: Named<'_>| OfHost {
            host: host(row.text("host")),
            because: row.text("because").unwrap_or_default(),
            resource: row.text("resource"),
            of: row.text("of"),
            verdict: row.text("verdict").unwrap_or_default(),
        };
        let mut resources: Vec<ResourceSeries> = Vec::new();
        let mut steps = table("steps").peekable();
        for row in table("resources") {
            let key = key(&row);
            let [name, kind, of] = key.clone();
            let mut resource = self.resource(host(name), kind.unwrap_or_default(), of);
            for column in ["busy_percent", "waited_percent", "mean_queue", "errors", "unknown_ns"] {
                let value = match row.cell(column) {
                    Cell::NotApplicable => continue,
                    Cell::Int(value) => i64::try_from(value).ok().into(),
                    Cell::Float(value) => value.into(),
                    _ => Value::Null,
                };
                resource.whole.insert(column.to_owned(), value);
            }
            while let Some(step) = steps.next_if(|step| self::key(step) == key) {
                self.add_step(&mut resource, &step, window);
            }
            resources.push(resource);
        }
        Ok(Bottlenecks {
            verdicts: table("verdicts").map(verdict).collect(),
            resources,
            notes,
            command: self.command_of("bottleneck", Some(window)),
        })
    }

    fn resource(&self, host: usize, resource: String, of: Option<String>) -> ResourceSeries {
        let is_its = |row: &&super::rows::GraphRow| {
            let device = row.device.filter(|_| row.kind == RowKind::Disk && row.host == host);
            let name = device.map(|device| self.hosts[host].store.entry().disk_name(device));
            resource == "disk" && name.is_some() && name.as_deref() == of.as_deref()
        };
        let row = self.rows.all.iter().find(is_its).map(|row| row.id).or_else(|| self.rows.of_host(host));
        let (whole, begin, end) = (serde_json::Map::new(), Vec::new(), Vec::new());
        let (busy, waited, unknown) = (None, None, Vec::new());
        ResourceSeries { host, row, resource, of, whole, begin, end, busy, waited, unknown }
    }

    /// Adds a row of `steps`: its times are cut to the window, and to those of the host.
    fn add_step(&self, to: &mut ResourceSeries, step: &Named<'_>, window: Window<SinceOrigin>) {
        let Some(host) = self.hosts.get(to.host) else { return };
        let instant = |column| match step.cell(column) {
            Cell::Int(at) => self.since(isochrone_time::UnixNs(at)),
            _ => SinceOrigin::default(),
        };
        let recorded = [host.range.start, host.range.end].map(|at| self.at(to.host, at, Clock::Common));
        let part = Window::new(instant("begin_ns"), instant("end_ns"));
        let part = part.clip(window).clip(Window::new(recorded[0], recorded[1]));
        let length = (part.end - part.start) as f64;
        let units = if to.resource == "CPU" { host.store.entry().cpus.len().max(1) } else { 1 } as f64;
        to.begin.push(part.start);
        to.end.push(part.end);
        for (series, column, whole) in
            [(&mut to.busy, "busy_ns", length * units), (&mut to.waited, "waited_ns", length)]
        {
            let cell = step.cell(column);
            if cell != Cell::NotApplicable {
                series.get_or_insert_default().push(share(&cell, whole));
            }
        }
        to.unknown.push(share(&step.cell("unknown_ns"), length * units));
    }
}
