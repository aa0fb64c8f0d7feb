//! The events of all hosts in the order of time, as a table that viewers request in parts.

use std::collections::BTreeMap;

use isochrone_time::UnixNs;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, AnyParameters, OutputRequest, Parameters};
use super::json::{Int32, Int64, not_null};
use super::outputs::OutputKind;
use crate::view::ExperimentView;
use crate::view::events::TimedEvent;
use crate::view::filter::pattern;
use crate::view::state_at::instant;

/// Lines of one answer.
const MAX_LINES: i64 = 10_000;

/// The tag of a line that a search finds, in the protocol's bits.
const HIGHLIGHT: i32 = 8;

/// Name, tooltip, kind of data. The numbers of columns are indices of this list.
const COLUMNS: [(&str, &str, &str); 5] = [
    ("Time", "Common clock, UTC", "TIMESTAMP"),
    ("Host", "", "STRING"),
    ("CPU", "", "NUMBER"),
    ("Event", "", "STRING"),
    ("Contents", "Contexts and fields", "STRING"),
];

pub(super) async fn columns(
    request: OutputRequest,
    Parameters(AnyParameters {}): Parameters<AnyParameters>,
) -> Answer {
    let columns = COLUMNS.iter().enumerate().map(|(id, (name, description, kind))| {
        json!({"id": id, "name": name, "description": description, "type": kind})
    });
    let model: Value = columns.collect();
    request.model(OutputKind::Table, move |_| Ok(model)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct LinesQuery {
    #[serde(default, deserialize_with = "not_null")]
    requested_table_index: Option<Int64>,
    #[serde(default, deserialize_with = "not_null")]
    requested_times: Option<Vec<Int64>>,
    requested_table_count: Int32,
    #[serde(default, deserialize_with = "not_null")]
    requested_table_column_ids: Option<Vec<Int64>>,
    #[serde(default)]
    table_search_expressions: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "not_null")]
    table_search_direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Direction {
    Next,
    Previous,
}

/// Patterns for the texts of columns, by number.
struct Search(Vec<(usize, Regex)>);

impl Search {
    fn of(expressions: &BTreeMap<String, String>) -> Self {
        let column = |id: &String| id.parse::<usize>().ok().filter(|id| *id < COLUMNS.len());
        Self(expressions.iter().filter_map(|(id, text)| Some((column(id)?, pattern(text)?))).collect())
    }

    /// Whether all columns with a pattern match it.
    fn matches(&self, view: &ExperimentView<'_>, event: &TimedEvent<'_, '_>) -> bool {
        self.0.iter().all(|(column, pattern)| pattern.is_match(&cell(view, event, *column)))
    }
}

/// The text of a column.
fn cell(view: &ExperimentView<'_>, event: &TimedEvent<'_, '_>, column: usize) -> String {
    match column {
        0 => instant(event.unix),
        1 => view.hosts[event.host].name.clone(),
        2 => event.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
        3 => event.name().to_owned(),
        _ => event.contents(),
    }
}

pub(super) async fn lines(request: OutputRequest, Parameters(query): Parameters<LinesQuery>) -> Answer {
    let count = query.requested_table_count.0.clamp(0, MAX_LINES) as usize;
    let ids: Vec<usize> = match &query.requested_table_column_ids {
        None => (0..COLUMNS.len()).collect(),
        Some(ids) => {
            ids.iter().filter_map(|id| usize::try_from(id.0).ok()).filter(|id| *id < COLUMNS.len()).collect()
        }
    };
    let job = move |view: &ExperimentView<'_>| {
        view.refuse_chunks()?;
        let total = view.event_index().total;
        let time = query.requested_times.as_ref().and_then(|times| times.first());
        let start = match (query.requested_table_index, time) {
            (None, Some(time)) => view.event_since(UnixNs(time.0.into())),
            (index, _) => index.map_or(0, |index| index.0.max(0) as u64),
        };
        let search = Search::of(&query.table_search_expressions);
        let matches = |event: &TimedEvent<'_, '_>| search.matches(view, event);
        let first = match query.table_search_direction.filter(|_| !search.0.is_empty()) {
            None => Some(start),
            Some(Direction::Next) => view.next_event(start, &matches),
            Some(Direction::Previous) => view.last_event(start, &matches),
        };
        let mut lines = Vec::new();
        if let Some(first) = first.filter(|_| count > 0) {
            view.each_numbered(first, |number, event| {
                let cells = ids.iter().map(|&id| json!({"content": cell(view, event, id)}));
                let mut line = json!({"index": number, "cells": cells.collect::<Vec<_>>()});
                if !search.0.is_empty() && matches(event) {
                    line["tags"] = json!(HIGHLIGHT);
                }
                lines.push(line);
                lines.len() < count
            });
        }
        let low =
            lines.first().map_or(first.unwrap_or(start), |line: &Value| line["index"].as_u64().unwrap_or(0));
        Ok(json!({"lowIndex": low, "columnIds": ids, "lines": lines, "size": total}))
    };
    request.model(OutputKind::Table, job).await
}
