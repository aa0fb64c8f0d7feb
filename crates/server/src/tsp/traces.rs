//! Traces that viewers may make experiments of.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure, Id, Parameters};
use super::json::not_null;
use crate::library::{Library, LibraryTrace, Refusal};
use crate::view::narrow;

/// A trace as the protocol has it. Its events are counted when an experiment is open.
pub(super) fn trace_json(trace: &LibraryTrace) -> Value {
    let (start, end) = trace.range.map_or((0, 0), |range| (narrow(range.start), narrow(range.end)));
    json!({
        "UUID": trace.id, "name": trace.name, "path": trace.path, "start": start, "end": end, "nbEvents": 0,
        "indexingStatus": "CLOSED", "properties": {"hosts": trace.hosts.join(", ")},
    })
}

pub(super) async fn list(State(library): State<Arc<Library>>) -> Json<Vec<Value>> {
    Json(library.traces().iter().map(trace_json).collect())
}

pub(super) async fn one(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let trace = library.trace(id).ok_or_else(|| Failure::missing("There is no such trace"))?;
    Ok(Json(trace_json(&trace)).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct TraceQuery {
    uri: String,
    #[serde(default, deserialize_with = "not_null")]
    name: Option<String>,
    /// A hint at the reader to take: there is one.
    #[serde(default, rename = "typeID", deserialize_with = "not_null")]
    _kind: Option<String>,
}

pub(super) async fn add(
    State(library): State<Arc<Library>>,
    Parameters(query): Parameters<TraceQuery>,
) -> Answer {
    let path = path_of(&query.uri).ok_or_else(|| Failure::missing("The URI is not of a file"))?;
    // Headers of packets are read: other requests are answered meanwhile.
    let added = tokio::task::spawn_blocking(move || library.add_trace(&path, query.name)).await;
    let added = added.map_err(|_| Failure::internal("The program failed on this trace; please report it"))?;
    Ok(Json(trace_json(&added.map_err(refused)?)).into_response())
}

/// The path of a URI: plain, or after `file://`, with `%20` and the like.
fn path_of(uri: &str) -> Option<PathBuf> {
    let Some(rest) = uri.strip_prefix("file://") else {
        return (!uri.is_empty() && !uri.contains('\0')).then(|| PathBuf::from(uri));
    };
    let encoded = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut at = encoded.bytes();
    while let Some(byte) = at.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || at.next().and_then(|digit| char::from(digit).to_digit(16));
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    let path = String::from_utf8(bytes).ok()?;
    (!path.contains('\0')).then(|| PathBuf::from(path))
}

pub(super) async fn remove(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    Ok(Json(trace_json(&library.remove_trace(id).map_err(refused)?)).into_response())
}

/// Why a trace is not added or removed.
fn refused(refusal: Refusal) -> Failure {
    match refusal {
        // The answer does not depend on whether a trace that is not served exists.
        Refusal::Missing | Refusal::NotServed => Failure::missing("There is no such trace")
            .with_detail("only traces that were named on the command line are, and those below --root"),
        Refusal::Unreadable(why) => {
            Failure::new(StatusCode::NOT_ACCEPTABLE, "The trace cannot be read").with_detail(why)
        }
        Refusal::TooMany => Failure::internal("There are too many traces; remove some"),
        Refusal::TraceInTheWay(trace) => {
            Failure::new(StatusCode::CONFLICT, "A trace is in the way, or in use")
                .with("trace", trace_json(&trace))
        }
        Refusal::ExperimentInTheWay(_) => Failure::new(StatusCode::CONFLICT, "An experiment is in the way"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_paths() {
        let check = |uri: &str, expect: Option<&str>| {
            assert_eq!(path_of(uri), expect.map(PathBuf::from), "{uri}");
        };
        check("/traces/web", Some("/traces/web"));
        check("file:///traces/web", Some("/traces/web"));
        check("file://localhost/traces/my%20web", Some("/traces/my web"));
        check("file:///traces/%zz", None);
        check("file:///traces/%2", None);
        check("file:///%00", None);
        check("", None);
    }
}
