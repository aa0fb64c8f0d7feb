//! Connections: how many there are at once, how long each may take to say what it wants, and which one goes when there are too many.
//!
//! Whoever can connect can do so often, and say nothing. So a connection counts as waiting until a request of it has been let in and
//! is there as a whole, and again when it has been answered; where there are too many, the one goes that waits longest, those first of which no request was
//! ever let in. A browser connects again when it needs to.

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
const MOST_CONNECTIONS: usize = 512;

/// How long a connection may wait for a request, or for the rest of its head.
const HEAD: Duration = Duration::from_secs(15);

/// Bytes of a head. It takes an address of some thousand rows.
const MOST_HEAD: usize = 1 << 16;

/// How long requests may go on when the server is to end.
const LAST: Duration = Duration::from_secs(5);

/// How long to wait where the system has no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(10);

/// What is known of a connection; requests have it as an extension.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// The number of the turn since which it waits; 0: it is being answered.
    waits_since: AtomicU64,
    /// Whether a request of it was let in.
    is_known: AtomicBool,
}

/// All connections. They take turns: whoever begins to wait later has a greater number.
#[derive(Debug, Default)]
struct Connections {
    all: Mutex<HashMap<u64, (Arc<Connection>, AbortHandle)>>,
    turns: AtomicU64,
    /// So many at once.
    most: usize,
}

impl Connection {
    /// A request of it was let in, and is there as a whole: it is not closed until that is answered.
    pub(crate) fn is_asked(&self) {
        self.is_known.store(true, Ordering::Relaxed);
        self.waits_since.store(0, Ordering::Relaxed);
    }
}

impl Connections {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, AbortHandle)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Closes the connection that can best be spared. Whether there was one.
    fn spare_one(&self) -> bool {
        let mut all = self.all();
        let waiting = all.iter().filter_map(|(&number, (connection, _))| {
            let since = connection.waits_since.load(Ordering::Relaxed);
            (since > 0).then(|| (connection.is_known.load(Ordering::Relaxed), since, number))
        });
        let Some((.., number)) = waiting.min() else { return false };
        if let Some((_, task)) = all.remove(&number) {
            task.abort();
        }
        true
    }
}

/// How many connections there may be: half of the files that the process can have open are left to traces and stores.
fn most_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = files.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    files.map_or(MOST_CONNECTIONS, |files| (files / 2).clamp(1, MOST_CONNECTIONS))
}

/// Serves whoever connects, until `end`. What goes wrong with a connection is its own matter.
pub(crate) async fn serve(listener: TcpListener, app: Router, end: impl Future<Output = ()>) {
    let connections = Arc::new(Connections { most: most_connections(), ..Connections::default() });
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
            // No file is left for it, in this process or in all: the next one that is closed makes room.
            Err(_) => {
                connections.spare_one();
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
    drop(listener);
    // Whoever is still answered then is left alone.
    let _ = tokio::time::timeout(LAST, graceful.shutdown()).await;
}

/// Serves a connection, if there is room for it.
fn take(connections: &Arc<Connections>, graceful: &GracefulShutdown, stream: TcpStream, app: Router) {
    if connections.all().len() >= connections.most && !connections.spare_one() {
        return;
    }
    let number = connections.turn();
    let connection = Arc::new(Connection { waits_since: AtomicU64::new(number), ..Connection::default() });
    let (known, inside) = (Arc::clone(connections), Arc::clone(&connection));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let (app, known, connection) = (app.clone(), Arc::clone(&known), Arc::clone(&inside));
        request.extensions_mut().insert(Arc::clone(&connection));
        async move {
            let answer: Result<Response<Body>, Infallible> = app.oneshot(request).await;
            connection.waits_since.store(known.turn(), Ordering::Relaxed);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MOST_HEAD);
    let served = graceful.watch(builder.serve_connection(TokioIo::new(stream), answer));
    // Nobody ends the task before it is in the list.
    let mut all = connections.all();
    let known = Arc::clone(connections);
    let task = tokio::spawn(async move {
        // It was lost, or took too long: who asked sees that.
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
    fn strangers_that_wait_longest_go_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _inside = runtime.enter();
        let connections = Connections::default();
        // By number: since when it waits, and whether it is known.
        for (number, since, is_known) in [(1, 1, true), (2, 0, true), (3, 5, false), (4, 4, false)] {
            let (waits_since, is_known) = (AtomicU64::new(since), AtomicBool::new(is_known));
            let task = runtime.spawn(std::future::pending::<()>()).abort_handle();
            let connection = Arc::new(Connection { waits_since, is_known });
            connections.all().insert(number, (connection, task));
        }
        let gone = |number: u64| connections.spare_one() && !connections.all().contains_key(&number);
        assert!([4, 3, 1].into_iter().all(gone));
        assert!(!connections.spare_one() && connections.all().len() == 1);
    }
}
