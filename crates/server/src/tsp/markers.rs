//! Annotations: where events are missing, and where clocks were set.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure, Id, OfOutput, Parameters, TimeRange, completed};
use super::json::{Object, Whole32, there};
use super::outputs::{OutputKind, Shows};
use crate::library::Library;
use crate::shown::{Shown, overview};

/// What is annotated.
const LOSSES: &str = "Lost events";
const BREAKS: &str = "Clocks that were set";

pub(super) async fn sets(State(library): State<Arc<Library>>, Id(id): Id) -> Result<Response, Failure> {
    library.session(id).ok_or_else(|| Failure::missing("There is no such experiment"))?;
    // All that is marked is annotated at once: there are no sets to choose from.
    Ok(completed(&json!([])))
}

pub(super) async fn categories(of: OfOutput) -> Response {
    let all: &[&str] = if of.named.output.kind == OutputKind::TimeGraph { &[LOSSES, BREAKS] } else { &[] };
    completed(&json!({"annotationCategories": all}))
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    requested_timerange: Object<TimeRange>,
    #[serde(default, deserialize_with = "there")]
    requested_items: Option<Vec<Whole32>>,
    #[serde(default, deserialize_with = "there", rename = "requested_marker_set")]
    _set: Option<String>,
    #[serde(default, deserialize_with = "there")]
    requested_marker_categories: Option<Vec<String>>,
}

pub(super) async fn annotations(of: OfOutput, Parameters(asked): Parameters<Asked>) -> Answer {
    if of.named.output.kind != OutputKind::TimeGraph {
        return Ok(completed(&json!({"annotations": {}})));
    }
    let shows = of.named.output.shows;
    of.model(move |shown| {
        let window = asked.requested_timerange.0.window(shown);
        let is_asked = |category: &str| {
            let asked = asked.requested_marker_categories.as_ref();
            asked.is_none_or(|all| all.iter().any(|it| it == category))
        };
        let mut annotations = serde_json::Map::new();
        if is_asked(LOSSES) {
            annotations.insert(LOSSES.to_owned(), losses(shown, shows, &asked, window));
        }
        if is_asked(BREAKS) {
            annotations.insert(BREAKS.to_owned(), breaks(shown, window));
        }
        Ok(json!({"annotations": annotations}))
    })
    .await
}

fn annotation(shown: &Shown<'_>, row: i64, (begin, end): (i64, i64), label: &str, colour: &str) -> Value {
    json!({
        "entryId": row, "type": "CHART", "time": shown.unix(begin), "duration": end.saturating_sub(begin), "label": label,
        "style": {"values": {"color": colour, "opacity": 0.4}},
    })
}

fn losses(shown: &Shown<'_>, shows: Shows, asked: &Asked, window: (i64, i64)) -> Value {
    let hosts: Vec<_> = shown.hosts.iter().map(|host| host.timed).collect();
    let items: Option<BTreeSet<i64>> =
        asked.requested_items.as_ref().map(|items| items.iter().map(|it| it.0).collect());
    let all = overview::losses_of(&hosts, shown.origin);
    let here = all.iter().filter(|loss| loss.begin < window.1 && loss.end >= window.0);
    let annotations: Vec<Value> = here
        .filter_map(|loss| {
            let of_cpu = shows == Shows::Resources;
            let row = match of_cpu {
                true => shown.rows.of_cpu(loss.host, loss.cpu),
                false => shown.rows.of_host(loss.host)?,
            };
            let row = i64::from(row);
            if items.as_ref().is_some_and(|items| !items.contains(&row)) {
                return None;
            }
            let count = loss.count.map(|count| format!("{count} ")).unwrap_or_default();
            let label = format!("{count}{} lost", loss.what);
            Some(annotation(shown, row, (loss.begin, loss.end), &label, "#d62828"))
        })
        .collect();
    Value::Array(annotations)
}

fn breaks(shown: &Shown<'_>, window: (i64, i64)) -> Value {
    let here = shown.breaks().into_iter().filter(|it| window.0 <= it.at && it.at <= window.1);
    here.map(|it| annotation(shown, -1, (it.at, it.at), &it.text, "#b06000")).collect()
}
