//! The server: its requests and their limits, the files of the page, and metrics for Prometheus.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;

use crate::access::{self, Access};
use crate::connections::{self, Connection};
use crate::error::ApiError;
use crate::library::Library;
use crate::session::Current;
use crate::{api, tsp};

/// Bytes of the body of a request.
const MAX_BODY: usize = 1 << 20;

/// Requests that are worked on at once.
const MAX_REQUESTS: usize = 128;

/// Time that a request may take to arrive, and to be answered.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(15);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// What browsers may load for the page: only its own files.
const CONTENT_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; \
                              img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; \
                              form-action 'none'";

/// The files of the page, which are built from `ui/`.
#[derive(RustEmbed)]
#[folder = "page/"]
struct PageFiles;

/// Address and access of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen on; port 0 takes one that is free.
    pub listen: SocketAddr,
    /// Origins of viewers that may use the Trace Server Protocol, besides those of this machine:
    /// `https://traces.example`.
    pub origins: Vec<String>,
    /// Whether this machine's own programs need the token, too; all others always do.
    pub needs_token: bool,
}

/// The addresses of a server, with the token where one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The page.
    pub page: String,
    /// The Trace Server Protocol.
    pub protocol: String,
}

/// Serves a library until Ctrl-C: by the Trace Server Protocol, and one of its experiments as a page, if it
/// is given. `listening` is called with the addresses.
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
        let access = Arc::new(Access::new(address, settings.origins.clone(), settings.needs_token));
        listening(&addresses(address, access.token()));
        let app = router(access, library, page);
        let end = async {
            // Without signals it serves until the process is ended.
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

/// All requests. Tests send theirs without a network.
pub(crate) fn router(access: Arc<Access>, library: Arc<Library>, page: Option<Current>) -> Router {
    let protocol = tsp::routes().with_state(library);
    let mut all = Router::new().nest("/tsp/api", protocol.clone());
    if let Some(token) = access.token() {
        all = all.nest(&format!("/{token}/tsp/api"), protocol);
    }
    let all = match page {
        Some(current) => all.nest("/api", api::routes(current)).fallback(page_file),
        None => all.fallback(|| async {
            ApiError::missing("only the Trace Server Protocol is served, below /tsp/api")
        }),
    };
    guarded(all.layer(CompressionLayer::new()), access)
}

/// Passes on the requests that are allowed, up to a number at once.
fn guarded(app: Router, access: Arc<Access>) -> Router {
    let limits =
        Limits { slots: Semaphore::new(MAX_REQUESTS), arrival: ARRIVAL_TIMEOUT, answer: ANSWER_TIMEOUT };
    app.layer(middleware::from_fn_with_state(Arc::new(limits), limit))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(access, access::check))
}

/// The limits of the number of requests that are worked on at once, and of the time of each.
#[derive(Debug)]
struct Limits {
    slots: Semaphore,
    arrival: Duration,
    answer: Duration,
}

/// Limits the number of requests, and their time. A request counts when it has arrived as a whole.
async fn limit(
    State(limits): State<Arc<Limits>>,
    connection: Option<Extension<Arc<Connection>>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let whole = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    let body = match tokio::time::timeout(limits.arrival, whole).await {
        Ok(Ok(body)) => body,
        Ok(Err(wrong)) => {
            return ApiError::new(wrong.status(), wrong.body_text()).into_response();
        }
        Err(_) => {
            let why = "the request did not arrive as a whole in time";
            return ApiError::new(StatusCode::REQUEST_TIMEOUT, why).into_response();
        }
    };
    if let Some(Extension(connection)) = connection {
        connection.set_busy();
    }
    let Ok(_slot) = limits.slots.try_acquire() else { return ApiError::busy().into_response() };
    match tokio::time::timeout(limits.answer, next.run(Request::from_parts(parts, Body::from(body)))).await {
        Ok(response) => response,
        Err(_) => {
            let why = "it took too long; request less, or run the command";
            ApiError::new(StatusCode::GATEWAY_TIMEOUT, why).into_response()
        }
    }
}

/// A file of the page.
async fn page_file(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let Some(file) = PageFiles::get(path) else {
        return (StatusCode::NOT_FOUND, "there is no such page").into_response();
    };
    let kind = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    ];
    (headers, file.data).into_response()
}

/// Serves metrics for Prometheus at `/metrics`, on a thread of its own, until the process ends: `text` is
/// called for each request. Access is checked as for all servers. Returns the address, with the token where
/// one is needed.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve_metrics(
    listen: SocketAddr,
    content_type: &'static str,
    text: impl Fn() -> String + Send + Sync + 'static,
) -> io::Result<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind(listen))?;
    let address = listener.local_addr()?;
    let access = Arc::new(Access::new(address, Vec::new(), false));
    let token = access.token().map_or_else(String::new, |token| format!("?token={token}"));
    let text = Arc::new(text);
    let answer = move || {
        let text = Arc::clone(&text);
        async move { ([(header::CONTENT_TYPE, content_type)], text()).into_response() }
    };
    let app = guarded(Router::new().route("/metrics", get(answer)), access);
    std::thread::spawn(move || {
        runtime.block_on(connections::serve(listener, app, std::future::pending()));
    });
    Ok(format!("http://{address}/metrics{token}"))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use tower::ServiceExt;

    use super::*;

    /// The answer to a slow request, under limits.
    async fn ask(slots: usize, answer: Duration) -> (StatusCode, String) {
        let slots = Semaphore::new(slots);
        let limits = Arc::new(Limits { slots, arrival: ARRIVAL_TIMEOUT, answer });
        let slow = get(|| async { tokio::time::sleep(Duration::from_millis(200)).await });
        let app = Router::new().route("/", slow).layer(middleware::from_fn_with_state(limits, limit));
        let response = app.oneshot(Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap())
    }

    #[test]
    fn requests_are_limited_in_number_and_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let check = |slots, answer, expect, words: &str| {
            let (status, body) = runtime.block_on(ask(slots, answer));
            assert_eq!(status, expect);
            assert!(body.contains(words), "{body}");
        };
        check(1, Duration::from_secs(60), StatusCode::OK, "");
        check(0, Duration::from_secs(60), StatusCode::TOO_MANY_REQUESTS, "too many requests at once");
        check(1, Duration::from_millis(1), StatusCode::GATEWAY_TIMEOUT, "it took too long");
    }
}
