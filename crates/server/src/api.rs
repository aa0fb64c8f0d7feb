//! The requests of the page, as `docs/page-api.md` describes them, answered from a session.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use isochrone_time::{SinceOrigin, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{ApiError, JsonBody, Result};
use crate::session::{Current, Session};
use crate::stage::Stage;
use crate::view::events::{EventCursor, EventQuery};
use crate::view::filter::Filter;
use crate::view::follow::Followed;
use crate::view::matching::Order;
use crate::view::overview::Overview;
use crate::view::state_at::Which;
use crate::view::states::Viewport;
use crate::view::{Clock, ExperimentView, encode, tables};

/// Rows and pixels of one request.
const MAX_ROWS: usize = 2000;
const MAX_PIXELS: u32 = 10_000;

/// Threads of statistics.
const MAX_THREADS: usize = 1000;

/// Arrows of one request.
const MAX_ARROWS: usize = 20_000;

/// The answer to a request.
type Answer = Result<Response>;

/// The session of the page.
type Page = Extension<Arc<Session>>;

/// The header of answers that names what they are of, as `store` of `/api/experiment` does.
const STORE: &str = "isochrone-store";

/// All requests of the page, below `/api`.
pub(crate) fn routes(current: Current) -> Router {
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
        .route("/instead", post(instead))
        .route("/phases", post(phases))
        .route("/activity", get(activity))
        .route("/usage", get(usage))
        .route("/resources", get(resources))
        .route("/lives", get(lives))
        .route("/accesses", get(accesses))
        .route("/events", get(events))
        .route("/sync", get(synchronization))
        .route("/link", get(link))
        .fallback(|| async { ApiError::missing("there is no such request") })
        .layer(middleware::from_fn_with_state(current, with_session))
}

/// Lets one session answer a request, and names it: another one may be shown meanwhile.
async fn with_session(State(current): State<Current>, mut request: Request, next: Next) -> Response {
    let session = current.session();
    request.extensions_mut().insert(Arc::clone(&session));
    let mut response = next.run(request).await;
    let identity = session.identity.get().and_then(|identity| HeaderValue::from_str(identity).ok());
    if let Some(identity) = identity {
        response.headers_mut().insert(STORE, identity);
    }
    response
}

/// Answers a request with the result of a job, as JSON.
async fn answer<T: Serialize + Send + 'static>(
    session: &Session,
    job: impl FnOnce(&ExperimentView<'_>) -> Result<T> + Send + 'static,
) -> Answer {
    // It is written where it is made: answers may be large, and borrow nothing.
    let bytes = session.query(move |view| Ok(serde_json::to_vec(&job(view)?)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// A window on a clock.
#[derive(Debug, Clone, Copy, Deserialize)]
struct WindowQuery {
    begin: SinceOrigin,
    end: SinceOrigin,
    #[serde(default)]
    clock: Clock,
}

impl WindowQuery {
    fn window(self) -> Window<SinceOrigin> {
        Window::new(self.begin, self.end)
    }
}

/// An instant of a row.
#[derive(Debug, Deserialize)]
struct InstantQuery {
    row: u32,
    at: SinceOrigin,
    #[serde(default)]
    clock: Clock,
}

async fn experiment(Extension(session): Page) -> Json<Value> {
    Json(session.experiment())
}

#[derive(Debug, Deserialize)]
struct BinsQuery {
    bins: usize,
}

async fn overview(Extension(session): Page, Query(query): Query<BinsQuery>) -> Answer {
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

async fn sample(Extension(session): Page) -> Answer {
    match (session.sample.get(), session.stage()) {
        (Some(sample), _) => Ok(Json(sample).into_response()),
        (None, Stage::Opening) => {
            Err(ApiError::unavailable("the sample is being taken; try again in a moment"))
        }
        (None, _) => Err(ApiError::missing("no sample was taken: there was a store")),
    }
}

async fn rows(Extension(session): Page) -> Answer {
    answer(&session, |view| Ok(json!({"rows": view.rows.all}))).await
}

#[derive(Debug, Deserialize)]
struct StatesQuery {
    rows: Vec<u32>,
    begin: SinceOrigin,
    end: SinceOrigin,
    pixels: u32,
    #[serde(default)]
    clock: Clock,
    /// An expression: states that do not fulfil it are dimmed.
    filter: Option<String>,
}

async fn states(Extension(session): Page, JsonBody(query): JsonBody<StatesQuery>) -> Answer {
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
struct TextQuery {
    text: String,
    /// States that are listed.
    #[serde(default)]
    limit: usize,
    #[serde(default)]
    order: Order,
}

async fn matching(
    Extension(session): Page,
    Query(TextQuery { text, limit, order }): Query<TextQuery>,
    Query(query): Query<WindowQuery>,
) -> Answer {
    answer(&session, move |view| view.matching(&text, query.window(), query.clock, (order, limit))).await
}

#[derive(Debug, Deserialize)]
struct ArrowsQuery {
    limit: Option<usize>,
    /// Ids of rows, with commas between them.
    #[serde(default)]
    rows: String,
}

async fn messages(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(ArrowsQuery { limit, .. }): Query<ArrowsQuery>,
) -> Answer {
    answer(&session, move |view| {
        let limit = limit.unwrap_or(5000).min(MAX_ARROWS);
        let (window, clock) = (query.window(), query.clock);
        let (total, messages) = view.arrows(&view.messages.all, window, clock, limit);
        let (mpi_total, mpi) = view.arrows(&view.messages.mpi, window, clock, limit);
        let command = view.command_on(clock, "messages", window);
        Ok(json!({
            "total": total, "messages": messages, "mpi_total": mpi_total, "mpi": mpi, "command": command,
        }))
    })
    .await
}

async fn wakeups(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(ArrowsQuery { limit, rows }): Query<ArrowsQuery>,
) -> Answer {
    let rows: Vec<u32> = numbers(&rows)?;
    answer(&session, move |view| {
        let limit = limit.unwrap_or(2000).min(MAX_ARROWS);
        let (total, wakeups) = view.wakeups(&rows, query.window(), query.clock, limit)?;
        Ok(json!({"total": total, "wakeups": wakeups}))
    })
    .await
}

/// Numbers with commas between them.
fn numbers<N: FromStr>(text: &str) -> Result<Vec<N>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty()).take(MAX_ROWS);
    parts.map(|part| part.parse().map_err(|_| ApiError::wrong(format!("`{part}` is not a number")))).collect()
}

async fn state(Extension(session): Page, Query(query): Query<InstantQuery>) -> Answer {
    answer(&session, move |view| view.state_at(query.row, query.at, query.clock, Which::At)).await
}

#[derive(Debug, Deserialize)]
struct StepQuery {
    to: Which,
}

async fn step(
    Extension(session): Page,
    Query(query): Query<InstantQuery>,
    Query(StepQuery { to }): Query<StepQuery>,
) -> Answer {
    answer(&session, move |view| view.state_at(query.row, query.at, query.clock, to)).await
}

#[derive(Debug, Deserialize)]
struct FollowQuery {
    what: Followed,
}

async fn follow(
    Extension(session): Page,
    Query(query): Query<InstantQuery>,
    Query(FollowQuery { what }): Query<FollowQuery>,
) -> Answer {
    answer(&session, move |view| view.follow(query.row, query.at, what, query.clock)).await
}

async fn requests(Extension(session): Page) -> Answer {
    answer(&session, |view| {
        let requests = view.request_list()?;
        let note = match requests.is_empty() {
            true => {
                "no requests: they are found in the calls of both ends of connections, which need \
                     `lttng enable-event --kernel --syscall --all` and `net_dev_queue,net_if_receive_skb`"
            }
            false => "",
        };
        let command = view.command_of("critical-path", None);
        Ok(json!({"requests": requests, "note": note, "command": command}))
    })
    .await
}

#[derive(Debug, Deserialize)]
struct PathQuery {
    request: Option<usize>,
    row: Option<u32>,
    begin: Option<SinceOrigin>,
    end: Option<SinceOrigin>,
}

async fn path(Extension(session): Page, Query(query): Query<PathQuery>) -> Answer {
    answer(&session, move |view| match query {
        PathQuery { request: Some(request), .. } => view.path_of_request(request),
        PathQuery { row: Some(row), begin: Some(begin), end: Some(end), .. } => {
            view.path_of_thread(row, Window::new(begin, end))
        }
        _ => Err(ApiError::wrong("a path needs `request`, or `row`, `begin` and `end`")),
    })
    .await
}

async fn analyses() -> Json<Value> {
    let all: Vec<Value> =
        tables::analyses().map(|(name, about)| json!({"name": name, "about": about})).collect();
    Json(json!({"analyses": all}))
}

#[derive(Debug, Deserialize)]
struct TableQuery {
    analysis: String,
    begin: Option<SinceOrigin>,
    end: Option<SinceOrigin>,
    limit: usize,
}

async fn table(Extension(session): Page, JsonBody(query): JsonBody<TableQuery>) -> Answer {
    let window = query.begin.zip(query.end).map(|(begin, end)| Window::new(begin, end));
    answer(&session, move |view| view.tables(&query.analysis, window, query.limit)).await
}

#[derive(Debug, Deserialize)]
struct StatisticsQuery {
    begin: SinceOrigin,
    end: SinceOrigin,
    rows: Option<Vec<u32>>,
    #[serde(default)]
    is_quick: bool,
}

impl StatisticsQuery {
    /// Whether there are no more rows than are looked for.
    fn check(&self) -> Result<()> {
        match self.rows.as_ref().is_some_and(|rows| rows.len() > MAX_ROWS) {
            true => Err(ApiError::wrong(format!("at most {MAX_ROWS} rows"))),
            false => Ok(()),
        }
    }
}

async fn statistics(Extension(session): Page, JsonBody(query): JsonBody<StatisticsQuery>) -> Answer {
    query.check()?;
    answer(&session, move |view| {
        let window = Window::new(query.begin, query.end);
        let mut sums = view.statistics(query.rows.as_deref(), window, query.is_quick)?;
        sums.threads.truncate(MAX_THREADS);
        Ok(sums)
    })
    .await
}

async fn instead(Extension(session): Page, JsonBody(query): JsonBody<StatisticsQuery>) -> Answer {
    query.check()?;
    answer(&session, move |view| view.instead(query.rows.as_deref(), Window::new(query.begin, query.end)))
        .await
}

async fn phases(Extension(session): Page, JsonBody(query): JsonBody<StatisticsQuery>) -> Answer {
    query.check()?;
    answer(&session, move |view| view.phases_of(query.rows.as_deref(), Window::new(query.begin, query.end)))
        .await
}

async fn activity(Extension(session): Page, Query(query): Query<WindowQuery>) -> Answer {
    answer(&session, move |view| {
        let messages = view.messages_of_rows(query.window());
        Ok(json!({"threads": view.activity(query.window())?, "messages": messages}))
    })
    .await
}

#[derive(Debug, Deserialize)]
struct PointsQuery {
    points: usize,
}

async fn usage(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(PointsQuery { points }): Query<PointsQuery>,
) -> Answer {
    answer(&session, move |view| {
        let series = view.usage(query.window(), points)?;
        Ok(json!({"series": series, "command": view.command_of("analyze usage", Some(query.window()))}))
    })
    .await
}

#[derive(Debug, Deserialize)]
struct StepsQuery {
    steps: Option<u32>,
    limit: Option<usize>,
}

async fn resources(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { steps, .. }): Query<StepsQuery>,
) -> Answer {
    answer(&session, move |view| view.resources(query.window(), steps.unwrap_or(60).into())).await
}

async fn lives(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { steps, limit }): Query<StepsQuery>,
) -> Answer {
    answer(&session, move |view| view.lives(query.window(), steps.unwrap_or(200), limit.unwrap_or(100))).await
}

async fn accesses(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { limit, .. }): Query<StepsQuery>,
) -> Answer {
    answer(&session, move |view| view.accesses(query.window(), limit.unwrap_or(5000))).await
}

#[derive(Debug, Deserialize)]
struct EventsQuery {
    limit: Option<usize>,
    #[serde(default)]
    search: String,
    #[serde(default)]
    hosts: String,
    /// `next` of an answer.
    after: Option<String>,
}

async fn events(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(EventsQuery { limit, search, hosts, after }): Query<EventsQuery>,
) -> Answer {
    let hosts = numbers(&hosts)?;
    let after = after.map_or(Ok(EventCursor::FIRST), |after| after.parse())?;
    let query = EventQuery { window: query.window(), limit: limit.unwrap_or(200), search, hosts, after };
    answer(&session, move |view| view.events(&query)).await
}

async fn synchronization(Extension(session): Page) -> Answer {
    answer(&session, |view| {
        let mut panel = view.synchronization()?;
        panel["command"] = view.command.of("sync").into();
        Ok(panel)
    })
    .await
}

#[derive(Debug, Deserialize)]
struct LinkQuery {
    a: String,
    b: String,
    points: Option<usize>,
}

async fn link(Extension(session): Page, Query(query): Query<LinkQuery>) -> Answer {
    answer(&session, move |view| view.picture(&query.a, &query.b, query.points.unwrap_or(4000))).await
}
