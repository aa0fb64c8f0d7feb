//! Figures for Prometheus: one page of text, let in by the same door as everything else.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::connections;
use crate::door::Door;
use crate::http::guarded;

/// Serves a text at `/metrics` on a thread of its own, as long as the process lives: what `text` gives is asked for with each request. Gives the address,
/// with the token where one is needed.
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
    let door = Arc::new(Door::new(address, Vec::new(), false));
    let token = door.token().map_or_else(String::new, |token| format!("?token={token}"));
    let text = Arc::new(text);
    let answer = move || {
        let text = Arc::clone(&text);
        async move { ([(header::CONTENT_TYPE, content_type)], text()).into_response() }
    };
    let app = guarded(Router::new().route("/metrics", get(answer)), door);
    std::thread::spawn(move || {
        runtime.block_on(connections::serve(listener, app, std::future::pending()));
    });
    Ok(format!("http://{address}/metrics{token}"))
}
