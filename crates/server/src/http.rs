//! The server: which requests there are, their limits, and how it ends.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;

use crate::connections::{self, Connection};
use crate::current::Current;
use crate::door::{self, Door};
use crate::error::ApiError;
use crate::library::Library;
use crate::{api, page, tsp};

/// Bytes of a request.
const MOST_BYTES: usize = 1 << 20;

/// Requests that are worked on at once.
const MOST_REQUESTS: usize = 128;

/// How long a request may take to come, and to be answered.
const COMES: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_secs(120);

/// How the server is reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes one that is free.
    pub listen: SocketAddr,
    /// Origins of viewers that may use the Trace Server Protocol, beside those of this machine: `https://traces.example`.
    pub origins: Vec<String>,
    /// Whether this machine's own programs need the token, too; all others always do.
    pub needs_token: bool,
}

/// What a server is reached at, with the token where one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The page.
    pub page: String,
    /// The Trace Server Protocol.
    pub protocol: String,
}

/// A body of JSON. What is wrong with it is said as all errors are.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(ApiError { status: rejection.status(), why: rejection.body_text() }),
        }
    }
}

/// Serves a library until Ctrl-C: by the Trace Server Protocol, and one of its experiments as a page, if it is given. `listening` gets the addresses.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve(
    settings: &Settings,
    library: Arc<Library>,
    page: Option<Current>,
    listening: impl FnOnce(&Addresses),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let door = Arc::new(Door::new(address, settings.origins.clone(), settings.needs_token));
        listening(&addresses(address, door.token()));
        let app = router(door, library, page);
        let end = async {
            // Without signals there is no other end than the process's.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        connections::serve(listener, app, end).await;
        Ok(())
    })
}

fn addresses(address: SocketAddr, token: Option<&str>) -> Addresses {
    let name = match address {
        _ if address.ip().is_unspecified() => "localhost".to_owned(),
        SocketAddr::V4(_) => address.ip().to_string(),
        SocketAddr::V6(_) => format!("[{}]", address.ip()),
    };
    let server = format!("http://{name}:{}", address.port());
    match token {
        Some(token) => Addresses {
            page: format!("{server}/?token={token}"),
            protocol: format!("{server}/{token}/tsp/api"),
        },
        None => Addresses { page: format!("{server}/"), protocol: format!("{server}/tsp/api") },
    }
}

/// All requests. Open for tests, which need no network.
pub(crate) fn router(door: Arc<Door>, library: Arc<Library>, page: Option<Current>) -> Router {
    let protocol = tsp::routes().with_state(library);
    let mut all = Router::new().nest("/tsp/api", protocol.clone());
    if let Some(token) = door.token() {
        all = all.nest(&format!("/{token}/tsp/api"), protocol);
    }
    let all = match page {
        Some(current) => all.nest("/api", api::routes().with_state(current)).fallback(page::file),
        None => all.fallback(|| async {
            ApiError::missing("only the Trace Server Protocol is served, below /tsp/api")
        }),
    };
    guarded(all.layer(CompressionLayer::new()), door)
}

/// Lets nothing in that is not let in by the door, and not more than there is room for.
pub(crate) fn guarded(app: Router, door: Arc<Door>) -> Router {
    let limits = Limits { slots: Semaphore::new(MOST_REQUESTS), comes: COMES, longest: LONGEST };
    app.layer(middleware::from_fn_with_state(Arc::new(limits), limit))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(middleware::from_fn_with_state(door, door::check))
}

/// How many requests are worked on at once, and how long each may take.
#[derive(Debug)]
struct Limits {
    slots: Semaphore,
    comes: Duration,
    longest: Duration,
}

/// Limits the number of requests, and their time. Who has not sent all of a request keeps nobody else from being answered.
async fn limit(
    State(limits): State<Arc<Limits>>,
    connection: Option<Extension<Arc<Connection>>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let whole = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    let body = match tokio::time::timeout(limits.comes, whole).await {
        Ok(Ok(body)) => body,
        Ok(Err(wrong)) => {
            return ApiError { status: wrong.status(), why: wrong.body_text() }.into_response();
        }
        Err(_) => {
            let why = "the request did not come as a whole in time".to_owned();
            return ApiError { status: StatusCode::REQUEST_TIMEOUT, why }.into_response();
        }
    };
    if let Some(Extension(connection)) = connection {
        connection.is_asked();
    }
    let Ok(_slot) = limits.slots.try_acquire() else { return ApiError::busy().into_response() };
    match tokio::time::timeout(limits.longest, next.run(Request::from_parts(parts, Body::from(body)))).await {
        Ok(response) => response,
        Err(_) => {
            let why = "it took too long; ask for less, or type the command".to_owned();
            ApiError { status: StatusCode::GATEWAY_TIMEOUT, why }.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    /// What a slow request is answered where so many are let in, for so long.
    async fn ask(slots: usize, longest: Duration) -> (StatusCode, String) {
        let (slots, comes) = (Semaphore::new(slots), COMES);
        let limits = Arc::new(Limits { slots, comes, longest });
        let slow = get(|| async { tokio::time::sleep(Duration::from_millis(200)).await });
        let app = Router::new().route("/", slow).layer(middleware::from_fn_with_state(limits, limit));
        let response = app.oneshot(Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap())
    }

    #[test]
    fn requests_are_limited_in_number_and_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let check = |slots, longest, expect, words: &str| {
            let (status, body) = runtime.block_on(ask(slots, longest));
            assert_eq!(status, expect);
            assert!(body.contains(words), "{body}");
        };
        check(1, Duration::from_secs(60), StatusCode::OK, "");
        check(0, Duration::from_secs(60), StatusCode::TOO_MANY_REQUESTS, "too many questions at once");
        check(1, Duration::from_millis(1), StatusCode::GATEWAY_TIMEOUT, "it took too long");
    }
}
