//! The outputs of an experiment.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, OutputRequest, no_experiment};
use crate::library::Library;

/// The kind of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputKind {
    TimeGraph,
    Xy,
    GenericXy,
    Table,
    DataTree,
}

impl OutputKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::TimeGraph => "TIME_GRAPH",
            Self::Xy => "TREE_TIME_XY",
            Self::GenericXy => "TREE_GENERIC_XY",
            Self::Table => "TABLE",
            Self::DataTree => "DATA_TREE",
        }
    }
}

/// The content of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Threads,
    Resources,
    Requests,
    /// Kinds of `view/usage.rs`.
    Usage(&'static [&'static str]),
    Latency,
    Events,
    States,
    Calls,
    Synchronization,
}

/// An output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    description: &'static str,
    pub(super) kind: OutputKind,
    pub(super) content: Content,
}

/// All outputs.
pub(super) const OUTPUTS: [Output; 12] = [
    Output {
        id: "isochrone.threads",
        name: "Threads",
        description: "States of the threads of all hosts on one clock, and the packets between them",
        kind: OutputKind::TimeGraph,
        content: Content::Threads,
    },
    Output {
        id: "isochrone.resources",
        name: "CPUs and disks",
        description: "What the CPUs and the disks of all hosts did",
        kind: OutputKind::TimeGraph,
        content: Content::Resources,
    },
    Output {
        id: "isochrone.requests",
        name: "Critical paths of requests",
        description: "Where each request spent its time, across hosts",
        kind: OutputKind::TimeGraph,
        content: Content::Requests,
    },
    Output {
        id: "isochrone.usage.cpu",
        name: "CPU usage",
        description: "CPU time of each host, in percent of all its CPUs",
        kind: OutputKind::Xy,
        content: Content::Usage(&["cpu"]),
    },
    Output {
        id: "isochrone.usage.disk",
        name: "Disk I/O",
        description: "Bytes per second from and to the disks of each host",
        kind: OutputKind::Xy,
        content: Content::Usage(&["disk-read", "disk-write"]),
    },
    Output {
        id: "isochrone.usage.network",
        name: "Network",
        description: "Bytes per second that each host sent and received",
        kind: OutputKind::Xy,
        content: Content::Usage(&["net-sent", "net-received"]),
    },
    Output {
        id: "isochrone.usage.memory",
        name: "Memory",
        description: "Memory that each host allocated, since the start of the range",
        kind: OutputKind::Xy,
        content: Content::Usage(&["memory"]),
    },
    Output {
        id: "isochrone.latency",
        name: "Latency of messages",
        description: "How many packets took how long, from host to host",
        kind: OutputKind::GenericXy,
        content: Content::Latency,
    },
    Output {
        id: "isochrone.events",
        name: "Events",
        description: "The events of all hosts in the order of time",
        kind: OutputKind::Table,
        content: Content::Events,
    },
    Output {
        id: "isochrone.statistics.states",
        name: "Time of threads",
        description: "How long each thread was in which state",
        kind: OutputKind::DataTree,
        content: Content::States,
    },
    Output {
        id: "isochrone.statistics.calls",
        name: "System calls",
        description: "How often system calls were made, and how long they took",
        kind: OutputKind::DataTree,
        content: Content::Calls,
    },
    Output {
        id: "isochrone.synchronization",
        name: "Synchronization",
        description: "The clocks of the hosts, and the links between them",
        kind: OutputKind::DataTree,
        content: Content::Synchronization,
    },
];

impl Output {
    pub(super) fn of(id: &str) -> Option<&'static Self> {
        OUTPUTS.iter().find(|output| output.id == id)
    }

    fn json(&self) -> Value {
        json!({"id": self.id, "name": self.name, "description": self.description, "type": self.kind.name(),
               "capabilities": {"canCreate": false, "canDelete": false}})
    }
}

pub(super) async fn list(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    library.session(id).ok_or_else(no_experiment)?;
    let all: Vec<Value> = OUTPUTS.iter().map(Output::json).collect();
    Ok(Json(all).into_response())
}

pub(super) async fn one(request: OutputRequest) -> Json<Value> {
    Json(request.output.json())
}

pub(super) async fn derive(_: OutputRequest) -> Failure {
    Failure::missing("No outputs can be derived from this one")
}

/// The path of a derived output.
#[derive(Debug, Deserialize)]
pub(super) struct DerivedPath {
    experiment: String,
    output: String,
}

pub(super) async fn underive(
    State(library): State<Arc<Library>>,
    Path(DerivedPath { experiment, output }): Path<DerivedPath>,
) -> Failure {
    let exists = experiment.parse::<Uuid>().is_ok_and(|id| library.session(id).is_some());
    match exists && Output::of(&output).is_some() {
        true => Failure::missing("There is no such derived output"),
        false => Failure::missing("There is no such experiment or output"),
    }
}

/// Nothing can be configured.
pub(super) async fn no_types(_: OutputRequest) -> Json<Value> {
    Json(json!([]))
}

pub(super) async fn no_type(_: OutputRequest) -> Failure {
    Failure::missing("There is no such configuration source type")
}
