//! The requests of the page, as `docs/page-api.md` describes them. Talks to: `session.rs`, where they are answered.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::current::Current;
use crate::error::ApiError;
use crate::http::JsonBody;
use crate::session::Session;
use crate::shown::filter::Filter;
use crate::shown::follow::What;
use crate::shown::state_at::Which;
use crate::shown::states::Window;
use crate::shown::{Clock, Shown, encode, events, overview, tables};
use crate::stage::Stage;

/// Rows and pixels of one request.
const MOST_ROWS: usize = 2000;
const MOST_PIXELS: u32 = 10_000;

/// Threads of statistics.
const MOST_THREADS: usize = 200;

/// Arrows of one request.
const MOST_ARROWS: usize = 20_000;

/// The answer of a request.
type Answer = Result<Response, ApiError>;

/// The session of the page.
type Page = State<Arc<Session>>;

/// All requests of the page, below `/api`.
pub(crate) fn routes() -> Router<Current> {
    Router::new()
        .route("/experiment", get(experiment))
        .route("/overview", get(overview))
        .route("/sample", get(sample))
        .route("/rows", get(rows))
        .route("/states", post(states))
        .route("/matching", get(matching))
        .route("/messages", get(messages))
        .route("/wakeups", get(wakeups))
        .route("/state", get(state))
        .route("/step", get(step))
        .route("/follow", get(follow))
        .route("/requests", get(requests))
        .route("/path", get(path))
        .route("/analyses", get(analyses))
        .route("/table", post(table))
        .route("/statistics", post(statistics))
        .route("/usage", get(usage))
        .route("/events", get(events))
        .route("/sync", get(synchronization))
        .route("/link", get(link))
        .fallback(|| async { ApiError::missing("there is no such request") })
}

/// The name of a clock in a request.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClockName {
    #[default]
    Common,
    Own,
}

impl From<ClockName> for Clock {
    fn from(name: ClockName) -> Self {
        match name {
            ClockName::Common => Self::Common,
            ClockName::Own => Self::Own,
        }
    }
}

/// Asks the session, and sends what it says as JSON.
async fn ask<T: Serialize + Send + 'static>(
    session: &Session,
    job: impl FnOnce(&Shown<'_>) -> Result<T, ApiError> + Send + 'static,
) -> Answer {
    // It is written where it is made: answers may be large, and borrow nothing.
    let bytes = session
        .ask(move |shown| {
            let answer = job(shown)?;
            serde_json::to_vec(&answer).map_err(|error| ApiError::internal(error.to_string()))
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

async fn experiment(State(session): Page) -> Json<Value> {
    Json(session.experiment())
}

#[derive(Debug, Deserialize)]
struct Bins {
    bins: usize,
}

async fn overview(State(session): Page, Query(asked): Query<Bins>) -> Answer {
    if session.stage().name() == "ready" {
        return ask(&session, move |shown| {
            let hosts: Vec<_> = shown.hosts.iter().map(|host| host.timed).collect();
            let overview = overview::of_hosts(&hosts, shown.origin);
            serde_json::to_value(overview.binned(asked.bins, shown.breaks()))
                .map_err(|error| ApiError::internal(error.to_string()))
        })
        .await;
    }
    let overview = session.overview();
    let overview = overview.ok_or_else(|| {
        ApiError::unavailable("headers of packets are being read; try again in a moment".to_owned())
    })?;
    Ok(Json(overview.binned(asked.bins, Vec::new())).into_response())
}

async fn sample(State(session): Page) -> Answer {
    match (session.sample(), session.stage()) {
        (Some(sample), _) => Ok(Json(sample).into_response()),
        (None, Stage::Opening) => {
            Err(ApiError::unavailable("the sample is being taken; try again in a moment".to_owned()))
        }
        (None, _) => Err(ApiError::missing("no sample was taken: a store was there")),
    }
}

async fn rows(State(session): Page) -> Answer {
    ask(&session, |shown| Ok(json!({"rows": shown.rows.all}))).await
}

#[derive(Debug, Deserialize)]
struct AskedStates {
    rows: Vec<u32>,
    begin: i64,
    end: i64,
    pixels: u32,
    #[serde(default)]
    clock: ClockName,
    /// An expression: states for which it does not hold are dimmed.
    filter: Option<String>,
}

async fn states(State(session): Page, JsonBody(asked): JsonBody<AskedStates>) -> Answer {
    if asked.rows.len() > MOST_ROWS || asked.pixels > MOST_PIXELS {
        return Err(ApiError::wrong(format!("at most {MOST_ROWS} rows and {MOST_PIXELS} pixels")));
    }
    let AskedStates { rows, begin, end, pixels, clock, filter } = asked;
    let window = Window { begin, end, pixels, clock: clock.into() };
    let filter = filter.as_deref().and_then(Filter::expression);
    let bytes = session
        .ask(move |shown| {
            let shapes = match &filter {
                Some(filter) => shown.dimmed_states(&rows, window, filter)?,
                None => shown.states(&rows, window)?,
            };
            Ok(encode::encode(&rows, &shapes))
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

#[derive(Debug, Deserialize)]
struct AskedMatching {
    text: String,
    begin: i64,
    end: i64,
    #[serde(default)]
    clock: ClockName,
}

async fn matching(State(session): Page, Query(asked): Query<AskedMatching>) -> Answer {
    ask(&session, move |shown| shown.matching(&asked.text, (asked.begin, asked.end), asked.clock.into()))
        .await
}

#[derive(Debug, Deserialize)]
struct AskedArrows {
    begin: i64,
    end: i64,
    #[serde(default)]
    clock: ClockName,
    limit: Option<usize>,
    /// Numbers of rows, with commas between them.
    #[serde(default)]
    rows: String,
}

async fn messages(State(session): Page, Query(asked): Query<AskedArrows>) -> Answer {
    ask(&session, move |shown| {
        let limit = asked.limit.unwrap_or(5000).min(MOST_ARROWS);
        let (window, clock) = ((asked.begin, asked.end), asked.clock.into());
        let (total, messages) = shown.arrows(&shown.messages.all, window, clock, limit);
        let (mpi_total, mpi) = shown.arrows(&shown.messages.mpi, window, clock, limit);
        let command = shown.command_on(clock, "messages", Some(window));
        Ok(json!({"total": total, "messages": messages, "mpi_total": mpi_total, "mpi": mpi, "command": command}))
    })
    .await
}

async fn wakeups(State(session): Page, Query(asked): Query<AskedArrows>) -> Answer {
    let rows: Vec<u32> = numbers(&asked.rows)?;
    ask(&session, move |shown| {
        let limit = asked.limit.unwrap_or(2000).min(MOST_ARROWS);
        let (total, wakeups) = shown.wakeups(&rows, (asked.begin, asked.end), asked.clock.into(), limit)?;
        Ok(json!({"total": total, "wakeups": wakeups}))
    })
    .await
}

/// Numbers with commas between them.
fn numbers<N: std::str::FromStr>(text: &str) -> Result<Vec<N>, ApiError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty()).take(MOST_ROWS);
    parts.map(|part| part.parse().map_err(|_| ApiError::wrong(format!("`{part}` is no number")))).collect()
}

#[derive(Debug, Deserialize)]
struct AskedState {
    row: u32,
    at: i64,
    #[serde(default)]
    clock: ClockName,
}

async fn state(State(session): Page, Query(asked): Query<AskedState>) -> Answer {
    ask(&session, move |shown| shown.state_at(asked.row, asked.at, asked.clock.into(), Which::At)).await
}

#[derive(Debug, Deserialize)]
struct AskedStep {
    row: u32,
    at: i64,
    to: Neighbour,
    #[serde(default)]
    clock: ClockName,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Neighbour {
    Next,
    Previous,
}

async fn step(State(session): Page, Query(asked): Query<AskedStep>) -> Answer {
    let which = match asked.to {
        Neighbour::Next => Which::Next,
        Neighbour::Previous => Which::Previous,
    };
    ask(&session, move |shown| shown.state_at(asked.row, asked.at, asked.clock.into(), which)).await
}

#[derive(Debug, Deserialize)]
struct AskedFollow {
    row: u32,
    at: i64,
    what: Followed,
    #[serde(default)]
    clock: ClockName,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Followed {
    Message,
    Wakeup,
    Waker,
}

async fn follow(State(session): Page, Query(asked): Query<AskedFollow>) -> Answer {
    let what = match asked.what {
        Followed::Message => What::Message,
        Followed::Wakeup => What::Wakeup,
        Followed::Waker => What::Waker,
    };
    ask(&session, move |shown| shown.follow(asked.row, asked.at, what, asked.clock.into())).await
}

async fn requests(State(session): Page) -> Answer {
    ask(&session, |shown| {
        let requests = shown.listed()?;
        let note = match requests.is_empty() {
            true => {
                "no requests: they are found in the calls of both ends of connections, which need \
                     `lttng enable-event --kernel --syscall --all` and `net_dev_queue,net_if_receive_skb`"
            }
            false => "",
        };
        let command = shown.command_of("critical-path", None);
        Ok(json!({"requests": requests, "note": note, "command": command}))
    })
    .await
}

#[derive(Debug, Deserialize)]
struct AskedPath {
    request: Option<usize>,
    row: Option<u32>,
    begin: Option<i64>,
    end: Option<i64>,
}

async fn path(State(session): Page, Query(asked): Query<AskedPath>) -> Answer {
    ask(&session, move |shown| match asked {
        AskedPath { request: Some(request), .. } => shown.path_of_request(request),
        AskedPath { row: Some(row), begin: Some(begin), end: Some(end), .. } => {
            shown.path_of_thread(row, (begin, end))
        }
        _ => Err(ApiError::wrong("a path is of a request, or of a row from a begin to an end")),
    })
    .await
}

async fn analyses() -> Json<Value> {
    let all: Vec<Value> =
        tables::analyses().into_iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
    Json(json!({"analyses": all}))
}

#[derive(Debug, Deserialize)]
struct AskedTable {
    analysis: String,
    begin: Option<i64>,
    end: Option<i64>,
    limit: usize,
}

async fn table(State(session): Page, JsonBody(asked): JsonBody<AskedTable>) -> Answer {
    ask(&session, move |shown| shown.tables(&asked.analysis, asked.begin.zip(asked.end), asked.limit)).await
}

#[derive(Debug, Deserialize)]
struct AskedStatistics {
    begin: i64,
    end: i64,
    rows: Option<Vec<u32>>,
}

async fn statistics(State(session): Page, JsonBody(asked): JsonBody<AskedStatistics>) -> Answer {
    if asked.rows.as_ref().is_some_and(|rows| rows.len() > MOST_ROWS) {
        return Err(ApiError::wrong(format!("at most {MOST_ROWS} rows")));
    }
    ask(&session, move |shown| {
        let mut sums = shown.statistics(asked.rows.as_deref(), (asked.begin, asked.end))?;
        sums.threads.truncate(MOST_THREADS);
        Ok(sums)
    })
    .await
}

#[derive(Debug, Deserialize)]
struct AskedUsage {
    begin: i64,
    end: i64,
    points: usize,
}

async fn usage(State(session): Page, Query(asked): Query<AskedUsage>) -> Answer {
    ask(&session, move |shown| {
        let window = (asked.begin, asked.end);
        let series = shown.usage(window, asked.points)?;
        Ok(json!({"series": series, "command": shown.command_of("analyze usage", Some(window))}))
    })
    .await
}

#[derive(Debug, Deserialize)]
struct AskedEvents {
    begin: i64,
    end: i64,
    limit: Option<usize>,
    #[serde(default)]
    search: String,
    #[serde(default)]
    hosts: String,
    /// `next` of an answer.
    after: Option<String>,
}

async fn events(State(session): Page, Query(asked): Query<AskedEvents>) -> Answer {
    let hosts = numbers(&asked.hosts)?;
    let AskedEvents { begin, end, limit, search, after, .. } = asked;
    let after = after.map_or(Ok(events::Place::FIRST), |after| after.parse())?;
    let asked = events::Asked { window: (begin, end), limit: limit.unwrap_or(200), search, hosts, after };
    ask(&session, move |shown| shown.events(&asked)).await
}

async fn synchronization(State(session): Page) -> Answer {
    // A path to the method is not general enough over lifetimes.
    #[allow(clippy::redundant_closure_for_method_calls)]
    ask(&session, |shown| shown.synchronization()).await
}

#[derive(Debug, Deserialize)]
struct AskedLink {
    a: String,
    b: String,
    points: Option<usize>,
}

async fn link(State(session): Page, Query(asked): Query<AskedLink>) -> Answer {
    ask(&session, move |shown| shown.picture(&asked.a, &asked.b, asked.points.unwrap_or(4000))).await
}
