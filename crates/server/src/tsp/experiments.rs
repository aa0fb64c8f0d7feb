//! Experiments: traces that are shown together, on one clock.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, Parameters};
use super::traces;
use crate::library::{KnownExperiment, Library, Refusal};
use crate::stage::Stage;

/// An experiment as the protocol shows it. Until it is indexed, its times are those of the headers of packets.
fn shown(experiment: &KnownExperiment) -> Value {
    let session = &experiment.session;
    let status = match session.stage() {
        Stage::Ready => "COMPLETED",
        Stage::Failed(_) => "CLOSED",
        Stage::Opening | Stage::Synchronizing | Stage::Indexing => "RUNNING",
    };
    let (start, end) = session.range().unwrap_or_default();
    let events = session.events_counted();
    let of_trace = |trace| {
        let mut trace = traces::shown(trace);
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
    Json(library.experiments().iter().map(shown).collect())
}

pub(super) async fn one(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let found = library.experiment(id).ok_or_else(|| Failure::missing("There is no such experiment"))?;
    // Viewers ask again, and show the number then.
    found.session.count_events();
    Ok(Json(shown(&found)).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    name: String,
    traces: Vec<Uuid>,
}

pub(super) async fn add(
    State(library): State<Arc<Library>>,
    Parameters(Asked { name, traces }): Parameters<Asked>,
) -> Answer {
    if traces.is_empty() {
        return Err(Failure::missing("An experiment has at least one trace"));
    }
    let added = library.add_experiment(name, &traces).map_err(|refusal| match refusal {
        Refusal::ExperimentInTheWay(other) => {
            Failure::new(StatusCode::CONFLICT, "Another experiment has this name")
                .with("experiment", shown(&other))
        }
        Refusal::TooMany => {
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "Too many experiments are open; close some")
        }
        Refusal::Unreadable(why) => {
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "The experiment cannot be opened").because(why)
        }
        Refusal::Missing | Refusal::NotServed | Refusal::TraceInTheWay(_) => {
            Failure::missing("There is no such trace")
        }
    })?;
    Ok(Json(shown(&added)).into_response())
}

pub(super) async fn remove(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let gone = library.remove_experiment(id);
    let gone = gone.ok_or_else(|| Failure::missing("There is no such experiment"))?;
    Ok(Json(shown(&gone)).into_response())
}
