//! Connections: the limit of their number, the time that each may take to send a request, and which one is
//! closed when there are too many.
//!
//! Any client can connect often, and send nothing. So a connection counts as idle until a request of it is
//! allowed and has arrived as a whole, and again when that has been answered; where there are too many, the
//! one that is idle longest is closed, those first that have never had an allowed request. A browser connects
//! again when it needs to.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tower::ServiceExt;

/// Connections at once, at most: half of the files that a process may usually have open.
const MAX_CONNECTIONS: usize = 512;

/// Time that a connection may wait for a request, or for the rest of its head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// Bytes of a head: enough for an address with some thousand rows.
const MAX_HEAD: usize = 1 << 16;

/// Time that requests may take when the server is to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause where the system has no file left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The state of a connection; requests have it as an extension.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// The turn since which it is idle; 0: a request is being answered.
    idle_since: AtomicU64,
    /// Whether it has had an allowed request.
    is_known: AtomicBool,
}

/// All connections. Turns order them: a connection that becomes idle later has a greater one.
#[derive(Debug, Default)]
struct Connections {
    all: Mutex<HashMap<u64, (Arc<Connection>, AbortHandle)>>,
    turns: AtomicU64,
    /// Limit of their number.
    max: usize,
}

impl Connection {
    /// An allowed request has arrived as a whole: the connection is not closed until that is answered.
    pub(crate) fn set_busy(&self) {
        self.is_known.store(true, Ordering::Relaxed);
        self.idle_since.store(0, Ordering::Relaxed);
    }
}

impl Connections {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, AbortHandle)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Closes an idle connection. Returns whether there was one.
    fn close_one(&self) -> bool {
        let mut all = self.all();
        let idle = all.iter().filter_map(|(&number, (connection, _))| {
            let since = connection.idle_since.load(Ordering::Relaxed);
            (since > 0).then(|| (connection.is_known.load(Ordering::Relaxed), since, number))
        });
        let Some((.., number)) = idle.min() else { return false };
        if let Some((_, task)) = all.remove(&number) {
            task.abort();
        }
        true
    }
}

/// Limit of the number of connections: half of the files that the process can have open are left to traces
/// and stores.
fn max_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = files.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    files.map_or(MAX_CONNECTIONS, |files| (files / 2).clamp(1, MAX_CONNECTIONS))
}

/// Serves all clients until `end`. Errors of a connection close that connection alone.
pub(crate) async fn serve(listener: TcpListener, app: Router, end: impl Future<Output = ()>) {
    let connections = Arc::new(Connections { max: max_connections(), ..Connections::default() });
    let graceful = GracefulShutdown::new();
    let mut end = pin!(end);
    loop {
        let accepted = tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => take(&connections, &graceful, stream, app.clone()),
            Err(error) if is_of_connection(&error) => {}
            // No file is left for it, in this process or in all: a connection that is closed frees one.
            Err(_) => {
                connections.close_one();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // Requests that are still being answered then are dropped.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
}

/// Serves a connection, if there is room for it.
fn take(connections: &Arc<Connections>, graceful: &GracefulShutdown, stream: TcpStream, app: Router) {
    if connections.all().len() >= connections.max && !connections.close_one() {
        return;
    }
    let number = connections.turn();
    let connection = Arc::new(Connection { idle_since: AtomicU64::new(number), ..Connection::default() });
    let (known, inside) = (Arc::clone(connections), Arc::clone(&connection));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let (app, known, connection) = (app.clone(), Arc::clone(&known), Arc::clone(&inside));
        request.extensions_mut().insert(Arc::clone(&connection));
        async move {
            let answer: Result<Response<Body>, Infallible> = app.oneshot(request).await;
            connection.idle_since.store(known.turn(), Ordering::Relaxed);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD);
    let served = graceful.watch(builder.serve_connection(TokioIo::new(stream), answer));
    // Held until the task is in the list: it cannot end before.
    let mut all = connections.all();
    let known = Arc::clone(connections);
    let task = tokio::spawn(async move {
        // It was lost, or took too long: the client sees that.
        let _ = served.await;
        known.all().remove(&number);
    });
    all.insert(number, (connection, task.abort_handle()));
}

/// Whether an error of `accept` is about the connection that was to come, and not about the server.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_connections_that_are_idle_longest_are_closed_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _inside = runtime.enter();
        let connections = Connections::default();
        // By number: since when it is idle, and whether it is known.
        for (number, since, is_known) in [(1, 1, true), (2, 0, true), (3, 5, false), (4, 4, false)] {
            let (idle_since, is_known) = (AtomicU64::new(since), AtomicBool::new(is_known));
            let task = runtime.spawn(std::future::pending::<()>()).abort_handle();
            let connection = Arc::new(Connection { idle_since, is_known });
            connections.all().insert(number, (connection, task));
        }
        let gone = |number: u64| connections.close_one() && !connections.all().contains_key(&number);
        assert!([4, 3, 1].into_iter().all(gone));
        assert!(!connections.close_one() && connections.all().len() == 1);
    }
}
