//! `isochrone view` and `isochrone serve` as processes: they say where they listen, answer there, keep strangers out, and end when they are asked to.

#![allow(clippy::unwrap_used)] // A test may panic.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server of the example, on a port that is free.
struct Server {
    child: Child,
    /// What it printed: where it is reached.
    address: String,
    _cache: tempfile::TempDir,
}

impl Server {
    fn new(arguments: &[&str]) -> Self {
        let cache = tempfile::tempdir().unwrap();
        let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
        let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(arguments)
            .arg(shop)
            .env("XDG_CACHE_HOME", cache.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned(), _cache: cache }
    }

    /// Name and port, and what comes after them.
    fn parts(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    /// The answer to a request by a name of the server.
    fn get(&self, path: &str, host: &str) -> String {
        let port = self.parts().0.rsplit_once(':').unwrap().1;
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as Ctrl-C does. Its status.
    fn end(mut self) -> Option<i32> {
        let interrupt = format!("kill -INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves nothing that runs.
        let _ = self.child.kill();
    }
}

#[test]
fn a_page_is_served_until_it_is_ended() {
    let server = Server::new(&["view", "--no-open", "--listen", "127.0.0.1:0"]);
    let host = server.parts().0.to_owned();
    let page = server.get("/", &host);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>"), "{page}");
    assert!(server.get("/api/experiment", &host).contains("\"stage\""));
    assert!(server.get("/tsp/api/health", &host).ends_with("{\"status\":\"UP\"}"));
    assert!(server.get("/api/experiment", "evil.example").starts_with("HTTP/1.1 403"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn viewers_are_served_without_a_page() {
    let server = Server::new(&["serve", "--listen", "127.0.0.1:0"]);
    let (host, path) = server.parts();
    assert_eq!(path, "/tsp/api");
    assert!(server.get("/tsp/api/experiments", host).contains("\"name\":\"shop\""));
    assert!(server.get("/", host).starts_with("HTTP/1.1 404"));
    assert!(server.get("/api/experiment", host).starts_with("HTTP/1.1 404"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn others_need_the_token() {
    let server = Server::new(&["serve", "--listen", "0.0.0.0:0"]);
    let (host, path) = server.parts();
    assert!(server.get("/tsp/api/health", host).starts_with("HTTP/1.1 401"));
    assert!(server.get(&format!("{path}/health"), host).ends_with("{\"status\":\"UP\"}"));
    assert!(server.get(&format!("/{}/tsp/api/health", "0".repeat(32)), host).starts_with("HTTP/1.1 401"));
    assert_eq!(server.end(), Some(0));
}
