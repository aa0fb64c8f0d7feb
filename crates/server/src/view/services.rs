//! Who asks whom: programs and the services that they ask, with how long that took and how much CPU time the
//! servers used for it.
//!
//! As the report `accounting`, whose requests are added up. Used by: the panel of services.

use std::collections::BTreeMap;
use std::sync::Arc;

use isochrone_analysis::{Cell, Table, nearest_rank};
use isochrone_crosshost::accounting;
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::ExperimentView;
use super::named::Named;
use crate::error::Result;

/// A program on a host; without a name where it was not seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Program {
    host: Option<String>,
    comm: Option<String>,
}

/// The services of a window.
#[derive(Debug, Serialize)]
pub(crate) struct Services {
    /// Those with the most requests first.
    edges: Vec<Edge>,
    command: String,
}

/// The requests of one program to a service of another.
#[derive(Debug, Serialize)]
struct Edge {
    client: Program,
    server: Program,
    service: String,
    count: u64,
    /// From the first byte that was asked to the last one of the answer, ns.
    total_ns: i64,
    median_ns: i64,
    p95_ns: i64,
    max_ns: i64,
    /// CPU time of the server for them; null where it is unknown for some.
    cpu_ns: Option<i64>,
}

#[derive(Debug)]
struct Sums {
    took: Vec<i64>,
    cpu_ns: Option<i64>,
}

impl ExperimentView<'_> {
    /// The services that were asked in a window on the common clock. As the report `accounting`.
    ///
    /// # Errors
    /// The window is empty, or the store cannot be read.
    pub(crate) fn services(&self, window: Window<SinceOrigin>, work: &Arc<Work>) -> Result<Services> {
        let cluster = &self.cluster()?.for_work(work);
        let inside = self.inside(window)?;
        let unix = Window::new(self.unix(inside.start), self.unix(inside.end).saturating_add(1));
        let report = accounting(cluster, Some(unix), self.is_synchronized())?;
        let table: Option<&Table> = report.table("requests");
        let mut edges: BTreeMap<(Program, Program, String), Sums> = BTreeMap::new();
        for row in table.into_iter().flat_map(Named::rows) {
            let program = |end: &str| {
                let host = row.text(&format!("{end}_host"));
                let pid = match row.cell(&format!("{end}_pid")) {
                    Cell::Int(pid) => i32::try_from(pid).ok(),
                    _ => None,
                };
                let index = host.as_deref().and_then(|host| cluster.host_named(host));
                let comm = index.zip(pid).and_then(|(index, pid)| cluster.comm_of_process(index, pid));
                Program { host, comm: comm.map(str::to_owned) }
            };
            let number = |column: &str| match row.cell(column) {
                Cell::Int(value) => i64::try_from(value).ok(),
                _ => None,
            };
            let Some((begin, end)) = number("begin_ns").zip(number("end_ns")) else { continue };
            let service = row.text("service").unwrap_or_default();
            let sums = edges
                .entry((program("client"), program("server"), service))
                .or_insert_with(|| Sums { took: Vec::new(), cpu_ns: Some(0) });
            sums.took.push(end - begin);
            sums.cpu_ns = sums.cpu_ns.zip(number("service_cpu_ns")).map(|(sum, ns)| sum + ns);
        }
        let edge = |((client, server, service), mut sums): ((Program, Program, String), Sums)| {
            sums.took.sort_unstable();
            let rank = |percent| nearest_rank(&sums.took, percent).copied().unwrap_or(0);
            Edge {
                client,
                server,
                service,
                count: sums.took.len() as u64,
                total_ns: sums.took.iter().sum(),
                median_ns: rank(50),
                p95_ns: rank(95),
                max_ns: rank(100),
                cpu_ns: sums.cpu_ns,
            }
        };
        let mut edges: Vec<Edge> = edges.into_iter().map(edge).collect();
        edges.sort_by_key(|edge| std::cmp::Reverse(edge.count));
        Ok(Services { edges, command: self.command_of("accounting --table requests", Some(window)) })
    }
}
