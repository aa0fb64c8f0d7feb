//! `isochrone view` and `isochrone serve` as processes: they say where they listen, answer there, keep strangers out, and end when they are asked to.

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
        Self::of(arguments, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop"))
    }

    /// The same, of other traces, and with no more than some hundred open files.
    fn of(arguments: &[&str], traces: &Path) -> Self {
        let cache = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -n 300; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_isochrone")])
            .args(arguments)
            .arg(traces)
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
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// The answer to a whole request.
    fn send(&self, request: &str) -> String {
        String::from_utf8(self.bytes(request)).unwrap()
    }

    /// The same, of answers that are no text.
    fn bytes(&self, request: &str) -> Vec<u8> {
        let port = self.parts().0.rsplit_once(':').unwrap().1;
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
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

/// Two servers of one machine, in one browser: each has a cookie of its own.
#[test]
fn the_cookie_is_that_of_one_server() {
    let server = Server::new(&["view", "--no-open", "--listen", "0.0.0.0:0"]);
    let (host, path) = server.parts();
    let page = server.get(path, host);
    let cookie = page.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let (name, port) = (cookie.split('=').next().unwrap(), host.rsplit_once(':').unwrap().1);
    assert!(name.ends_with(port), "{cookie}");
    let given = cookie.split(';').next().unwrap();
    let ask = |cookie: &str| {
        server.send(&format!(
            "GET /api/experiment HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ))
    };
    assert!(ask(given).starts_with("HTTP/1.1 200"));
    assert!(ask(&given.replace(port, "1")).starts_with("HTTP/1.1 401"));
    // It is no way to anywhere else.
    let connect = server.send(&format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(connect.starts_with("HTTP/1.1 405"), "{connect}");
}

/// Connections that say nothing, or begin and do not go on, keep nobody out.
#[test]
fn who_says_nothing_keeps_nobody_out() {
    // More files for this process: all tests in it may have them, so they are only made more.
    let (soft, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).unwrap();
    let files = soft.max(hard.min(4096));
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, files, hard).unwrap();
    let server = Server::new(&["view", "--no-open", "--listen", "127.0.0.1:0"]);
    let host = server.parts().0.to_owned();
    let head = format!("POST /api/states HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    for begun in [String::new(), head.clone(), format!("{head}Content-Length: 100\r\n\r\n{{")] {
        let begin = |_| {
            let mut stream = TcpStream::connect(&host).unwrap();
            // It may have been closed already.
            let _ = stream.write_all(begun.as_bytes());
            stream
        };
        // More than the server can have open.
        let all: Vec<TcpStream> = (0..700).map(begin).collect();
        for _ in 0..3 {
            let asked = std::time::Instant::now();
            let answer = server.get("/api/experiment", &host);
            assert!(answer.starts_with("HTTP/1.1 200"), "{begun}: {answer}");
            assert!(asked.elapsed() < std::time::Duration::from_secs(5), "{begun}: {:?}", asked.elapsed());
        }
        drop(all);
    }
    assert_eq!(server.end(), Some(0));
}

/// A trace that is cut while it is served costs its answers, and not the server.
#[test]
fn a_trace_that_becomes_shorter_costs_its_answers() {
    let directory = tempfile::tempdir().unwrap();
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let traces = directory.path().join("shop");
    assert!(Command::new("cp").arg("-r").arg(shop).arg(&traces).status().unwrap().success());
    let server = Server::of(&["view", "--no-open", "--listen", "127.0.0.1:0"], &traces);
    let host = server.parts().0.to_owned();
    while server.get("/tsp/api/experiments", &host).contains("RUNNING") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let experiment = server.get("/api/experiment", &host);
    let experiment: serde_json::Value =
        serde_json::from_str(&experiment[experiment.find("\r\n\r\n").unwrap()..]).unwrap();
    let search =
        format!("/api/events?begin={}&end={}&search=nothing", experiment["begin"], experiment["end"]);
    assert!(server.get(&search, &host).starts_with("HTTP/1.1 200"));
    for entry in std::fs::read_dir(traces.join("client/kernel")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("ch_") {
            std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(4096).unwrap();
        }
    }
    let answer = server.get(&search, &host);
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("client/kernel/ch_") && answer.contains("became shorter"), "{answer}");
    assert!(server.get("/api/experiment", &host).contains("became shorter"));
    assert!(server.get("/", &host).starts_with("HTTP/1.1 200"));
    // Something was lost.
    assert_eq!(server.end(), Some(1));
}

/// Starts a command with options on the example, and looks at what it answers once it is ready.
fn ready(command: &str, options: &[&str]) -> Server {
    let server = Server::new(&[&[command, "--listen", "127.0.0.1:0"], options].concat());
    let host = server.parts().0.to_owned();
    while server.get("/tsp/api/experiments", &host).contains("RUNNING") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    server
}

/// Memory that the server has for itself, without files that are mapped, bytes.
#[cfg(target_os = "linux")]
fn memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// A browser that is left open for days asks for other windows all the time: what they were is not kept.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_requests() {
    /// What allocators may keep for themselves.
    const SPARE: u64 = 16 << 20;
    let server = ready("view", &["--no-open"]);
    let host = server.parts().0.to_owned();
    let experiment = server.get("/api/experiment", &host);
    let experiment: serde_json::Value =
        serde_json::from_str(&experiment[experiment.find("\r\n\r\n").unwrap()..]).unwrap();
    let [first, last] = ["begin", "end"].map(|it| experiment[it].as_i64().unwrap());
    let ask = |request: i64| {
        let begin = first + (last - first) * (request * 7 % 97) / 97;
        let end = begin + (last - begin) / (1 + request % 50);
        let window = format!("begin={begin}&end={end}");
        let path = match request % 6 {
            0 => format!("/api/messages?{window}"),
            1 => format!("/api/usage?{window}&points=500"),
            2 => format!("/api/events?{window}&search=sched"),
            3 => format!("/api/wakeups?{window}&rows=5,6,7"),
            4 => format!("/api/overview?bins={}", 100 + request),
            _ => {
                let rows: Vec<i64> = (0..60).collect();
                let body = format!(r#"{{"rows":{rows:?},"begin":{begin},"end":{end},"pixels":2000}}"#);
                let head =
                    format!("POST /api/states HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json");
                let length = body.len();
                let answer = server
                    .bytes(&format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"));
                assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
                return;
            }
        };
        let answer = server.get(&path, &host);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    };
    (0..120).for_each(ask);
    let before = memory(&server);
    (120..1_200).for_each(ask);
    let after = memory(&server);
    assert!(after < before + SPARE, "{before} bytes, {after} after a thousand requests more");
}

/// Each option of both commands does something. `--listen` and `--no-open` are in the tests above; `--threads` and `--quiet` change nothing that is served.
#[test]
fn every_option_does_something() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let isochrone = || Command::new(env!("CARGO_BIN_EXE_isochrone"));
    let mut tried = vec!["--listen", "--no-open", "--threads", "--quiet", "--help"];
    let page = |options: &[&str]| {
        let server = ready("view", &[&["--no-open"], options].concat());
        let host = server.parts().0.to_owned();
        server.get("/api/experiment", &host)
    };
    let usual = page(&[]);
    assert!(usual.contains("\"is_synchronized\":true"), "{usual}");

    tried.push("--no-sync");
    assert!(page(&["--no-sync"]).contains("\"is_synchronized\":false"));

    tried.push("--sync");
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let kept =
        isochrone().args(["-q", "sync", "--reference", "h3", "-o", &path("sync.json")]).arg(shop).output();
    assert!(kept.unwrap().status.success());
    let of_h3 = page(&["--sync", &path("sync.json")]);
    let reference = |answer: &str| {
        let before = answer.find("\"is_reference\":true").unwrap();
        let name = answer[before..].find("\"name\":\"").unwrap() + before + 8;
        answer[name..name + 2].to_owned()
    };
    assert_eq!((reference(&usual), reference(&of_h3)), ("h2".to_owned(), "h3".to_owned()));

    tried.push("--store");
    drop(ready("serve", &["--store", &path("shop.store")]));
    assert!(directory.path().join("shop.store").is_dir());

    tried.extend(["--root", "--no-token"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let outside = root.join("../crates/isochrone/src").canonicalize().unwrap();
    let body = format!("{{\"parameters\":{{\"uri\":\"{}\"}}}}", outside.display());
    let add = |server: &Server| {
        let host = server.parts().0.to_owned();
        server.send(&format!(
            "POST /tsp/api/traces HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ))
    };
    assert!(add(&ready("serve", &[])).starts_with("HTTP/1.1 404"));
    // It may be opened there, but is no trace.
    let below = outside.parent().unwrap().to_string_lossy().into_owned();
    assert!(add(&ready("serve", &["--root", &below, "--no-token"])).starts_with("HTTP/1.1 406"));
    // Who may open more has to know the token.
    let server = Server::new(&["serve", "--listen", "127.0.0.1:0", "--root", &below]);
    assert!(add(&server).starts_with("HTTP/1.1 401"));
    let (host, path) = server.parts();
    assert!(server.get(&format!("{path}/health"), host).starts_with("HTTP/1.1 200"));

    tried.push("--allow-origin");
    let ask = |server: &Server| {
        let host = server.parts().0.to_owned();
        server.send(&format!(
            "GET /tsp/api/health HTTP/1.1\r\nHost: {host}\r\nOrigin: https://traces.example\r\nConnection: close\r\n\r\n"
        ))
    };
    assert!(ask(&ready("serve", &[])).starts_with("HTTP/1.1 403"));
    assert!(ask(&ready("serve", &["--allow-origin", "https://traces.example"])).starts_with("HTTP/1.1 200"));
    let wrong = isochrone().args(["serve", "--allow-origin", "traces.example", "x"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));

    // Of all commands, as `--quiet` is: these have no tables.
    tried.extend(["--wide", "--no-pager"]);
    for command in ["view", "serve"] {
        let help = isochrone().args([command, "--help"]).output().unwrap().stdout;
        let help = String::from_utf8(help).unwrap();
        let listed = help.lines().filter(|line| line.trim_start().starts_with('-'));
        for line in listed.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--"))) {
            assert!(tried.contains(&line), "{command} {line}");
        }
    }
}
