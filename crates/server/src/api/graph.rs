//! Requests of the time graph: rows, their states, arrows, what is at an instant. Used by: the routes.

use axum::extract::Query;
use axum::http::header;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, AskQuery, InstantQuery, MAX_ROWS, Page, WindowQuery, answer, answer_long, numbers};
use crate::error::{ApiError, JsonBody, Result};
use crate::stage::Stage;
use crate::view::filter::Filter;
use crate::view::follow::Followed;
use crate::view::matching::Order;
use crate::view::overview::Overview;
use crate::view::state_at::Which;
use crate::view::states::Viewport;
use crate::view::{Clock, ExperimentView, encode};

/// Pixels of one request.
const MAX_PIXELS: u32 = 10_000;

/// Arrows of one request.
const MAX_ARROWS: usize = 20_000;

pub(super) async fn experiment(Extension(session): Page) -> Json<Value> {
    Json(session.experiment())
}

#[derive(Debug, Deserialize)]
pub(super) struct BinsQuery {
    bins: usize,
}

pub(super) async fn overview(Extension(session): Page, Query(query): Query<BinsQuery>) -> Answer {
    if session.stage() == Stage::Ready {
        return answer(&session, move |view| {
            let overview = Overview::of_hosts(&view.timed_hosts(), view.origin);
            Ok(serde_json::to_value(overview.binned(query.bins, view.breaks()))?)
        })
        .await;
    }
    let overview = session
        .overview
        .get()
        .ok_or_else(|| ApiError::unavailable("headers of packets are being read; try again in a moment"))?;
    Ok(Json(overview.binned(query.bins, Vec::new())).into_response())
}

pub(super) async fn sample(Extension(session): Page) -> Answer {
    match (session.sample.get(), session.stage()) {
        (Some(sample), _) => Ok(Json(sample).into_response()),
        (None, Stage::Opening) => {
            Err(ApiError::unavailable("the sample is being taken; try again in a moment"))
        }
        (None, _) => Err(ApiError::missing("no sample was taken: there was a store")),
    }
}

pub(super) async fn rows(Extension(session): Page) -> Answer {
    answer(&session, |view| Ok(json!({"rows": view.rows.all}))).await
}

#[derive(Debug, Deserialize)]
pub(super) struct StatesQuery {
    rows: Vec<u32>,
    begin: SinceOrigin,
    end: SinceOrigin,
    pixels: u32,
    #[serde(default)]
    clock: Clock,
    /// An expression: states that do not fulfil it are dimmed.
    filter: Option<String>,
}

pub(super) async fn states(Extension(session): Page, JsonBody(query): JsonBody<StatesQuery>) -> Answer {
    let StatesQuery { rows, begin, end, pixels, clock, filter } = query;
    if rows.len() > MAX_ROWS || pixels > MAX_PIXELS {
        return Err(ApiError::wrong(format!("at most {MAX_ROWS} rows and {MAX_PIXELS} pixels")));
    }
    let viewport = Viewport { window: Window::new(begin, end), pixels, clock };
    let filter = filter.as_deref().and_then(Filter::expression);
    let job = move |view: &ExperimentView<'_>| -> Result<Vec<u8>> {
        let shapes = match &filter {
            Some(filter) => view.dimmed_states(&rows, viewport, filter)?,
            None => view.states(&rows, viewport)?,
        };
        Ok(encode::encode(&rows, &shapes))
    };
    let bytes = session.query(job).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct TextQuery {
    text: String,
    /// States that are listed.
    #[serde(default)]
    limit: usize,
    #[serde(default)]
    order: Order,
}

pub(super) async fn matching(
    Extension(session): Page,
    Query(TextQuery { text, limit, order }): Query<TextQuery>,
    Query(query): Query<WindowQuery>,
    Query(AskQuery { ask }): Query<AskQuery>,
) -> Answer {
    answer_long(&session, ask, move |view, work| {
        view.matching(&text, query.window(), query.clock, (order, limit), work)
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct ArrowsQuery {
    limit: Option<usize>,
    /// Ids of rows, with commas between them.
    #[serde(default)]
    rows: String,
    /// Only messages that are received in the window, as the command lists them.
    #[serde(default)]
    received: bool,
}

pub(super) async fn messages(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(ArrowsQuery { limit, received, .. }): Query<ArrowsQuery>,
    Query(AskQuery { ask }): Query<AskQuery>,
) -> Answer {
    answer_long(&session, ask, move |view, _| {
        let limit = limit.unwrap_or(5000).min(MAX_ARROWS);
        let (window, clock) = (query.window(), query.clock);
        let all = view.messages()?;
        let (total, inverted, messages) = view.arrows(&all.all, window, clock, received, limit);
        let (mpi_total, mpi_inverted, mpi) = view.arrows(&all.mpi, window, clock, received, limit);
        let command = view.command_on(clock, "messages", window);
        Ok(json!({
            "total": total, "inverted": inverted + mpi_inverted, "messages": messages,
            "mpi_total": mpi_total, "mpi": mpi, "command": command,
        }))
    })
    .await
}

pub(super) async fn message_counts(Extension(session): Page) -> Answer {
    answer(&session, |view| Ok(json!(view.messages()?.counts))).await
}

pub(super) async fn wakeups(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(ArrowsQuery { limit, rows, .. }): Query<ArrowsQuery>,
) -> Answer {
    let rows: Vec<u32> = numbers(&rows)?;
    answer(&session, move |view| {
        let limit = limit.unwrap_or(2000).min(MAX_ARROWS);
        let (total, wakeups) = view.wakeups(&rows, query.window(), query.clock, limit)?;
        Ok(json!({"total": total, "wakeups": wakeups}))
    })
    .await
}

pub(super) async fn state(Extension(session): Page, Query(query): Query<InstantQuery>) -> Answer {
    answer(&session, move |view| view.state_at(query.row, query.at, query.clock, Which::At)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct RawQuery {
    host: usize,
    raw: i64,
}

pub(super) async fn raw(Extension(session): Page, Query(RawQuery { host, raw }): Query<RawQuery>) -> Answer {
    answer(&session, move |view| {
        if host >= view.hosts.len() {
            return Err(ApiError::missing(format!("there is no host {host}")));
        }
        let at = |clock| view.at(host, RawNs(raw), clock);
        Ok(json!({"common": at(Clock::Common), "own": at(Clock::Own)}))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct StepQuery {
    to: Which,
}

pub(super) async fn step(
    Extension(session): Page,
    Query(query): Query<InstantQuery>,
    Query(StepQuery { to }): Query<StepQuery>,
) -> Answer {
    answer(&session, move |view| view.state_at(query.row, query.at, query.clock, to)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct FollowQuery {
    what: Followed,
}

pub(super) async fn follow(
    Extension(session): Page,
    Query(query): Query<InstantQuery>,
    Query(FollowQuery { what }): Query<FollowQuery>,
) -> Answer {
    answer(&session, move |view| view.follow(query.row, query.at, what, query.clock)).await
}
