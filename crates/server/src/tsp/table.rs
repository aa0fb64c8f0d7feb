//! The events of all hosts in the order of time, as a table of which viewers ask parts.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Anything, OfOutput, Parameters};
use super::json::{Whole, Whole32, there};
use super::outputs::OutputKind;
use crate::shown::event_lines::Line;
use crate::shown::filter::pattern;
use crate::shown::state_at::instant;

/// Lines of one answer.
const MOST_LINES: i64 = 10_000;

/// A line that is looked for, in the protocol's bits.
const HIGHLIGHT: i32 = 8;

/// Name, tooltip, kind of data. Numbers of columns are places here.
const COLUMNS: [(&str, &str, &str); 5] = [
    ("Time", "Common clock, UTC", "TIMESTAMP"),
    ("Host", "", "STRING"),
    ("CPU", "", "NUMBER"),
    ("Event", "", "STRING"),
    ("Contents", "Contexts and fields", "STRING"),
];

pub(super) async fn columns(of: OfOutput, Parameters(Anything {}): Parameters<Anything>) -> Answer {
    of.must_be(&[OutputKind::Table])?;
    of.model(|_| {
        let all = COLUMNS.iter().enumerate();
        Ok(all
            .map(|(id, (name, description, kind))| {
                json!({"id": id, "name": name, "description": description, "type": kind})
            })
            .collect())
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default, deserialize_with = "there")]
    requested_table_index: Option<Whole>,
    #[serde(default, deserialize_with = "there")]
    requested_times: Option<Vec<Whole>>,
    requested_table_count: Whole32,
    #[serde(default, deserialize_with = "there")]
    requested_table_column_ids: Option<Vec<Whole>>,
    #[serde(default)]
    table_search_expressions: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "there")]
    table_search_direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Direction {
    Next,
    Previous,
}

/// What columns have to look like, by number.
struct Searched(Vec<(usize, Regex)>);

impl Searched {
    fn of(asked: &BTreeMap<String, String>) -> Self {
        let column = |id: &String| id.parse::<usize>().ok().filter(|id| *id < COLUMNS.len());
        Self(asked.iter().filter_map(|(id, text)| Some((column(id)?, pattern(text)?))).collect())
    }

    /// Whether all columns that are looked at look so.
    fn fits(&self, line: &mut Line<'_, '_>) -> bool {
        self.0.iter().all(|(column, pattern)| pattern.is_match(&cell(line, *column)))
    }
}

/// The text of a column.
fn cell(line: &mut Line<'_, '_>, column: usize) -> String {
    match column {
        0 => instant(line.unix),
        1 => line.host_name().to_owned(),
        2 => line.cpu().map(|cpu| cpu.to_string()).unwrap_or_default(),
        3 => line.name().to_owned(),
        _ => line.contents().to_owned(),
    }
}

pub(super) async fn lines(of: OfOutput, Parameters(asked): Parameters<Asked>) -> Answer {
    of.must_be(&[OutputKind::Table])?;
    let count = asked.requested_table_count.0.clamp(0, MOST_LINES) as usize;
    let ids: Vec<usize> = match &asked.requested_table_column_ids {
        None => (0..COLUMNS.len()).collect(),
        Some(ids) => {
            ids.iter().filter_map(|id| usize::try_from(id.0).ok()).filter(|id| *id < COLUMNS.len()).collect()
        }
    };
    of.model(move |shown| {
        let numbers = shown.event_numbers();
        let time = asked.requested_times.as_ref().and_then(|times| times.first());
        let start = match (asked.requested_table_index, time) {
            (None, Some(time)) => shown.event_since(i128::from(time.0)),
            (index, _) => index.map_or(0, |index| index.0.max(0) as u64),
        };
        let searched = Searched::of(&asked.table_search_expressions);
        let first = match (searched.0.is_empty(), asked.table_search_direction) {
            (true, _) | (_, None) => Some(start),
            (false, Some(Direction::Next)) => shown.next_event(start, |mut line| searched.fits(&mut line)),
            (false, Some(Direction::Previous)) => {
                shown.previous_event(start, |mut line| searched.fits(&mut line))
            }
        };
        let mut lines = Vec::new();
        if let Some(first) = first {
            shown.each_line(first, |mut line| {
                if lines.len() == count {
                    return false;
                }
                let cells: Vec<Value> =
                    ids.iter().map(|&id| json!({"content": cell(&mut line, id)})).collect();
                let mut shown = json!({"index": line.number, "cells": cells});
                if !searched.0.is_empty() && searched.fits(&mut line) {
                    shown["tags"] = json!(HIGHLIGHT);
                }
                lines.push(shown);
                lines.len() < count
            });
        }
        let low =
            lines.first().map_or(first.unwrap_or(start), |line: &Value| line["index"].as_u64().unwrap_or(0));
        Ok(json!({"lowIndex": low, "columnIds": ids, "lines": lines, "size": numbers.total}))
    })
    .await
}
