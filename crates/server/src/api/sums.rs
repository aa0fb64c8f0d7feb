//! Requests for what is added up over a time: analyses, and sums of an area of rows and time. Used by: the
//! routes.
// Paths of methods are not general enough in their lifetimes.
#![allow(clippy::redundant_closure_for_method_calls)]

use std::sync::Arc;

use axum::extract::Query;
use axum::{Extension, Json};
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, AskQuery, MAX_ROWS, Page, WindowQuery, answer_long};
use crate::error::{ApiError, JsonBody, Result};
use crate::session::Session;
use crate::view::{Clock, ExperimentView, tables};

/// Threads of statistics.
const MAX_THREADS: usize = 1000;

pub(super) async fn analyses() -> Json<Value> {
    let all: Vec<Value> =
        tables::analyses().map(|(name, about)| json!({"name": name, "about": about})).collect();
    Json(json!({"analyses": all}))
}

#[derive(Debug, Deserialize)]
pub(super) struct ProgressQuery {
    ask: String,
}

pub(super) async fn progress(Extension(session): Page, Query(query): Query<ProgressQuery>) -> Json<Value> {
    Json(json!({"progress": session.works.progress(&query.ask)}))
}

#[derive(Debug, Deserialize)]
pub(super) struct TableQuery {
    analysis: String,
    begin: Option<SinceOrigin>,
    end: Option<SinceOrigin>,
    limit: usize,
    ask: Option<String>,
}

pub(super) async fn table(Extension(session): Page, JsonBody(query): JsonBody<TableQuery>) -> Answer {
    let TableQuery { analysis, begin, end, limit, ask } = query;
    let window = begin.zip(end).map(|(begin, end)| Window::new(begin, end));
    answer_long(&session, ask, move |view, work| view.tables(&analysis, window, limit, work)).await
}

/// An area of time and rows; without rows, all.
#[derive(Debug, Deserialize)]
pub(super) struct AreaQuery {
    begin: SinceOrigin,
    end: SinceOrigin,
    rows: Option<Vec<u32>>,
    ask: Option<String>,
}

/// Answers what is asked of an area: `add_up` gets its rows, if not all are, and its window.
async fn of_area<T: Serialize + Send + 'static>(
    session: &Session,
    AreaQuery { begin, end, rows, ask, .. }: AreaQuery,
    add_up: impl FnOnce(&ExperimentView<'_>, Option<&[u32]>, Window<SinceOrigin>, &Arc<Work>) -> Result<T>
    + Send
    + 'static,
) -> Answer {
    if rows.as_ref().is_some_and(|rows| rows.len() > MAX_ROWS) {
        return Err(ApiError::wrong(format!("at most {MAX_ROWS} rows")));
    }
    let window = Window::new(begin, end);
    answer_long(session, ask, move |view, work| add_up(view, rows.as_deref(), window, work)).await
}

pub(super) async fn statistics(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, work| {
        let mut sums = view.statistics(rows, window, work)?;
        sums.threads.truncate(MAX_THREADS);
        Ok(sums)
    })
    .await
}

pub(super) async fn instead(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, work| view.instead(rows, window, work)).await
}

pub(super) async fn phases(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, work| view.phases_of(rows, window, work)).await
}

pub(super) async fn files(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, work| view.files_of(rows, window, work)).await
}

pub(super) async fn exchanged(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, _| view.exchanged(rows, window)).await
}

pub(super) async fn causes(Extension(session): Page, JsonBody(query): JsonBody<AreaQuery>) -> Answer {
    of_area(&session, query, |view, rows, window, work| view.causes(rows, window, work)).await
}

pub(super) async fn activity(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(AskQuery { ask }): Query<AskQuery>,
) -> Answer {
    answer_long(&session, ask, move |view, work| {
        let messages = view.messages_of_rows(query.window())?;
        Ok(json!({"threads": view.activity(query.window(), work)?, "messages": messages}))
    })
    .await
}

/// Some rows, a time on a clock, and how many flows are listed.
#[derive(Debug, Deserialize)]
pub(super) struct FlowsQuery {
    rows: Vec<u32>,
    begin: SinceOrigin,
    end: SinceOrigin,
    #[serde(default)]
    clock: Clock,
    limit: usize,
    ask: Option<String>,
}

pub(super) async fn flows(Extension(session): Page, JsonBody(query): JsonBody<FlowsQuery>) -> Answer {
    let FlowsQuery { rows, begin, end, clock, limit, ask } = query;
    if rows.len() > MAX_ROWS {
        return Err(ApiError::wrong(format!("at most {MAX_ROWS} rows")));
    }
    let window = Window::new(begin, end);
    answer_long(&session, ask, move |view, work| view.flows(&rows, window, clock, limit, work)).await
}
