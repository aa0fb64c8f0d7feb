//! The requests of the page, as `docs/page-api.md` describes them, answered from a session.

mod graph;
mod pictures;
mod requests;
mod sql;
mod sums;

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, Result};
use crate::session::{Current, Session};
use crate::view::{Clock, ExperimentView};

/// Rows of one request.
const MAX_ROWS: usize = 2000;

/// The answer to a request.
type Answer = Result<Response>;

/// The session of the page.
type Page = Extension<Arc<Session>>;

/// The header of answers that names what they are of, as `store` of `/api/experiment` does.
const STORE: &str = "isochrone-store";

/// All requests of the page, below `/api`.
pub(crate) fn routes(current: Current) -> Router {
    Router::new()
        .route("/experiment", get(graph::experiment))
        .route("/overview", get(graph::overview))
        .route("/sample", get(graph::sample))
        .route("/rows", get(graph::rows))
        .route("/states", post(graph::states))
        .route("/matching", get(graph::matching))
        .route("/messages", get(graph::messages))
        .route("/message-counts", get(graph::message_counts))
        .route("/wakeups", get(graph::wakeups))
        .route("/state", get(graph::state))
        .route("/step", get(graph::step))
        .route("/raw", get(graph::raw))
        .route("/follow", get(graph::follow))
        .route("/requests", get(requests::requests))
        .route("/path", get(requests::path))
        .route("/compared", post(requests::compared))
        .route("/services", post(requests::services))
        .route("/sql", post(sql::sql))
        .route("/analyses", get(sums::analyses))
        .route("/table", post(sums::table))
        .route("/progress", get(sums::progress))
        .route("/statistics", post(sums::statistics))
        .route("/instead", post(sums::instead))
        .route("/phases", post(sums::phases))
        .route("/files", post(sums::files))
        .route("/exchanged", post(sums::exchanged))
        .route("/causes", post(sums::causes))
        .route("/flows", post(sums::flows))
        .route("/activity", get(sums::activity))
        .route("/usage", get(pictures::usage))
        .route("/resources", get(pictures::resources))
        .route("/lives", get(pictures::lives))
        .route("/accesses", get(pictures::accesses))
        .route("/events", get(pictures::events))
        .route("/sync", get(pictures::synchronization))
        .route("/link", get(pictures::link))
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

/// As [`answer`], with the result of a job that may take long and is stopped when nobody waits for it: `ask`
/// is the name by which it can be asked how far it is.
async fn answer_long<T: Serialize + Send + 'static>(
    session: &Session,
    ask: Option<String>,
    job: impl FnOnce(&ExperimentView<'_>, &Arc<Work>) -> Result<T> + Send + 'static,
) -> Answer {
    let bytes = session.query_long(ask, move |view, work| Ok(serde_json::to_vec(&job(view, work)?)?)).await?;
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

/// The name by which it can be asked how far an answer is.
#[derive(Debug, Deserialize)]
struct AskQuery {
    ask: Option<String>,
}

/// An instant of a row.
#[derive(Debug, Deserialize)]
struct InstantQuery {
    row: u32,
    at: SinceOrigin,
    #[serde(default)]
    clock: Clock,
}

/// Numbers with commas between them.
fn numbers<N: FromStr>(text: &str) -> Result<Vec<N>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty()).take(MAX_ROWS);
    parts.map(|part| part.parse().map_err(|_| ApiError::wrong(format!("`{part}` is not a number")))).collect()
}
