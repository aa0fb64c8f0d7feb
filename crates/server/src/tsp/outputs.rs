//! What an experiment shows: the list of outputs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, OfOutput};
use crate::library::Library;

/// How an output is shown.
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

/// What an output shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Threads,
    Resources,
    Requests,
    /// Kinds of `shown/usage.rs`.
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
    pub(super) shows: Shows,
}

/// All outputs.
pub(super) const OUTPUTS: [Output; 12] = [
    Output {
        id: "isochrone.threads",
        name: "Threads",
        description: "States of the threads of all hosts on one clock, and the packets between them",
        kind: OutputKind::TimeGraph,
        shows: Shows::Threads,
    },
    Output {
        id: "isochrone.resources",
        name: "CPUs and disks",
        description: "What the CPUs and the disks of all hosts did",
        kind: OutputKind::TimeGraph,
        shows: Shows::Resources,
    },
    Output {
        id: "isochrone.requests",
        name: "Critical paths of requests",
        description: "Where each request spent its time, across hosts",
        kind: OutputKind::TimeGraph,
        shows: Shows::Requests,
    },
    Output {
        id: "isochrone.usage.cpu",
        name: "CPU usage",
        description: "CPU time of each host, in percent of all its CPUs",
        kind: OutputKind::Xy,
        shows: Shows::Usage(&["cpu"]),
    },
    Output {
        id: "isochrone.usage.disk",
        name: "Disk I/O",
        description: "Bytes per second from and to the disks of each host",
        kind: OutputKind::Xy,
        shows: Shows::Usage(&["disk-read", "disk-write"]),
    },
    Output {
        id: "isochrone.usage.network",
        name: "Network",
        description: "Bytes per second that each host sent and received",
        kind: OutputKind::Xy,
        shows: Shows::Usage(&["net-sent", "net-received"]),
    },
    Output {
        id: "isochrone.usage.memory",
        name: "Memory",
        description: "Memory that each host allocated, since the begin of the range",
        kind: OutputKind::Xy,
        shows: Shows::Usage(&["memory"]),
    },
    Output {
        id: "isochrone.latency",
        name: "Latency of messages",
        description: "How many packets took how long, from host to host",
        kind: OutputKind::GenericXy,
        shows: Shows::Latency,
    },
    Output {
        id: "isochrone.events",
        name: "Events",
        description: "The events of all hosts in the order of time",
        kind: OutputKind::Table,
        shows: Shows::Events,
    },
    Output {
        id: "isochrone.statistics.states",
        name: "Time of threads",
        description: "How long each thread was in which state",
        kind: OutputKind::DataTree,
        shows: Shows::States,
    },
    Output {
        id: "isochrone.statistics.calls",
        name: "System calls",
        description: "How often system calls were made, and how long they took",
        kind: OutputKind::DataTree,
        shows: Shows::Calls,
    },
    Output {
        id: "isochrone.synchronization",
        name: "Synchronization",
        description: "The clocks of the hosts, and the links between them",
        kind: OutputKind::DataTree,
        shows: Shows::Synchronization,
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
    library.session(id).ok_or_else(|| Failure::missing("There is no such experiment"))?;
    let all: Vec<Value> = OUTPUTS.iter().map(Output::json).collect();
    Ok(Json(all).into_response())
}

pub(super) async fn one(of: OfOutput) -> Json<Value> {
    Json(of.named.output.json())
}

pub(super) async fn derive(_: OfOutput) -> Failure {
    Failure::missing("No outputs can be derived from this one")
}

/// What is named where a derived output is removed.
#[derive(Debug, Deserialize)]
pub(super) struct Derived {
    experiment: String,
    output: String,
}

pub(super) async fn underive(
    State(library): State<Arc<Library>>,
    Path(Derived { experiment, output }): Path<Derived>,
) -> Failure {
    let is_there = experiment.parse::<Uuid>().is_ok_and(|id| library.session(id).is_some());
    match is_there && Output::of(&output).is_some() {
        true => Failure::missing("There is no such derived output"),
        false => Failure::missing("There is no such experiment or output"),
    }
}

/// Nothing can be configured.
pub(super) async fn no_types(_: OfOutput) -> Json<Value> {
    Json(json!([]))
}

pub(super) async fn no_type(_: OfOutput) -> Failure {
    Failure::missing("There is no such configuration source type")
}
