//! Annotations: where events are missing, and where clocks were set.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use isochrone_time::{SinceOrigin, Window};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure, Id, OutputRequest, Parameters, TimeRange, completed, no_experiment};
use super::json::{Int32, Object, not_null};
use super::outputs::{Content, OutputKind};
use crate::library::Library;
use crate::view::{ExperimentView, overview};

/// The categories of annotations.
const LOSSES: &str = "Lost events";
const BREAKS: &str = "Clocks that were set";

pub(super) async fn sets(State(library): State<Arc<Library>>, Id(id): Id) -> Result<Response, Failure> {
    library.session(id).ok_or_else(no_experiment)?;
    // All annotations are given at once: there are no sets to choose from.
    Ok(completed(&json!([])))
}

pub(super) async fn categories(request: OutputRequest) -> Response {
    let all: &[&str] = if request.output.kind == OutputKind::TimeGraph { &[LOSSES, BREAKS] } else { &[] };
    completed(&json!({"annotationCategories": all}))
}

#[derive(Debug, Deserialize)]
pub(super) struct AnnotationsQuery {
    requested_timerange: Object<TimeRange>,
    #[serde(default, deserialize_with = "not_null")]
    requested_items: Option<Vec<Int32>>,
    #[serde(default, deserialize_with = "not_null", rename = "requested_marker_set")]
    _set: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    requested_marker_categories: Option<Vec<String>>,
}

pub(super) async fn annotations(
    request: OutputRequest,
    Parameters(query): Parameters<AnnotationsQuery>,
) -> Answer {
    if request.output.kind != OutputKind::TimeGraph {
        return Ok(completed(&json!({"annotations": {}})));
    }
    let content = request.output.content;
    let job = move |view: &ExperimentView<'_>| {
        let window = query.requested_timerange.0.window(view);
        let categories = query.requested_marker_categories.as_ref();
        let is_requested = |category: &str| categories.is_none_or(|all| all.iter().any(|it| it == category));
        let mut annotations = Map::new();
        if is_requested(LOSSES) {
            let losses = losses(view, content, query.requested_items.as_deref(), window);
            annotations.insert(LOSSES.to_owned(), losses.into());
        }
        if is_requested(BREAKS) {
            let breaks = view.breaks().into_iter().filter(|it| window.start <= it.at && it.at <= window.end);
            let breaks = breaks.map(|it| annotation(view, -1, it.at, it.at, &it.text, "#b06000"));
            annotations.insert(BREAKS.to_owned(), breaks.collect());
        }
        Ok(json!({"annotations": annotations}))
    };
    request.model(OutputKind::TimeGraph, job).await
}

fn annotation(
    view: &ExperimentView<'_>,
    row: i64,
    begin: SinceOrigin,
    end: SinceOrigin,
    label: &str,
    colour: &str,
) -> Value {
    json!({
        "entryId": row, "type": "CHART", "label": label,
        "time": view.unix_i64(begin), "duration": end.saturating_since(begin),
        "style": {"values": {"color": colour, "opacity": 0.4}},
    })
}

/// The losses of a window, on the rows of CPUs or of hosts.
fn losses(
    view: &ExperimentView<'_>,
    content: Content,
    items: Option<&[Int32]>,
    window: Window<SinceOrigin>,
) -> Vec<Value> {
    let items: Option<BTreeSet<i64>> = items.map(|items| items.iter().map(|it| it.0).collect());
    let all = overview::losses_of(&view.timed_hosts(), view.origin).into_iter();
    let annotations =
        all.filter(|loss| loss.begin < window.end && loss.end >= window.start).filter_map(|loss| {
            let row = match content {
                Content::Resources => view.rows.of_cpu(loss.host, loss.cpu),
                _ => view.rows.of_host(loss.host)?,
            };
            if items.as_ref().is_some_and(|items| !items.contains(&row.into())) {
                return None;
            }
            let count = loss.count.map(|count| format!("{count} ")).unwrap_or_default();
            let label = format!("{count}{} lost", loss.what);
            Some(annotation(view, row.into(), loss.begin, loss.end, &label, "#d62828"))
        });
    annotations.collect()
}
