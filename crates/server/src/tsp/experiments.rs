//! Experiments: traces that are shown together, on one clock.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, Parameters, no_experiment};
use super::traces;
use crate::library::{Library, LibraryExperiment, Refusal};
use crate::stage::Stage;
use crate::view::narrow;

/// An experiment as the protocol has it. Until it is indexed, its times are those of the headers of packets.
fn experiment_json(experiment: &LibraryExperiment) -> Value {
    let session = &experiment.session;
    let status = match session.stage() {
        Stage::Ready => "COMPLETED",
        Stage::Failed(_) => "CLOSED",
        Stage::Opening | Stage::Synchronizing | Stage::Indexing => "RUNNING",
    };
    let (start, end) = session.range().map_or((0, 0), |range| (narrow(range.start), narrow(range.end)));
    let events = session.events_counted();
    let of_trace = |trace| {
        let mut trace = traces::trace_json(trace);
        trace["indexingStatus"] = json!(status);
        if trace["end"] == 0 {
            trace["start"] = json!(start);
            trace["end"] = json!(end);
        }
        if experiment.traces.len() == 1 {
            trace["nbEvents"] = json!(events);
        }
        trace
    };
    let traces: Vec<Value> = experiment.traces.iter().map(of_trace).collect();
    json!({"UUID": experiment.id, "name": experiment.name, "start": start, "end": end, "nbEvents": events,
           "indexingStatus": status, "traces": traces})
}

pub(super) async fn list(State(library): State<Arc<Library>>) -> Json<Vec<Value>> {
    Json(library.experiments().iter().map(experiment_json).collect())
}

pub(super) async fn one(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let experiment = library.experiment(id).ok_or_else(no_experiment)?;
    // Viewers repeat the request, and show the number then.
    experiment.session.count_events();
    Ok(Json(experiment_json(&experiment)).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct ExperimentQuery {
    name: String,
    traces: Vec<Uuid>,
}

pub(super) async fn add(
    State(library): State<Arc<Library>>,
    Parameters(ExperimentQuery { name, traces }): Parameters<ExperimentQuery>,
) -> Answer {
    if traces.is_empty() {
        return Err(Failure::missing("An experiment has at least one trace"));
    }
    let added = library.add_experiment(name, &traces).map_err(|refusal| match refusal {
        Refusal::ExperimentInTheWay(other) => {
            Failure::new(StatusCode::CONFLICT, "Another experiment has this name")
                .with("experiment", experiment_json(&other))
        }
        Refusal::TooMany => Failure::internal("Too many experiments are open; close some"),
        Refusal::Unreadable(why) => Failure::internal("The experiment cannot be opened").with_detail(why),
        Refusal::Missing | Refusal::NotServed | Refusal::TraceInTheWay(_) => {
            Failure::missing("There is no such trace")
        }
    })?;
    Ok(Json(experiment_json(&added)).into_response())
}

pub(super) async fn remove(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let removed = library.remove_experiment(id).ok_or_else(no_experiment)?;
    Ok(Json(experiment_json(&removed)).into_response())
}
