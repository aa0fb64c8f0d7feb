//! How long the page waits: `cargo bench -p isochrone --bench view`.
//!
//! Starts `isochrone view` on a trace as a browser's user does and measures, over HTTP, when the page can draw its first picture (the sample) while the trace is
//! being indexed, when all is there, the same the second time, and how long states of 60 rows on 2,000 pixels take anywhere in it: from all of
//! it down to a millionth, at random places. Fails where the first picture takes longer than 2 s, or states take longer than 20 ms (median, and 95 of 100). The page's own
//! drawing is measured by `npm run bench` in `ui`.
//!
//! `VIEW_EVENTS` sets the size of the trace that is made (three million by default), `VIEW_TRACE` names one to read instead. Switches of the trace that is made do not follow
//! from each other, so that much of what its threads did is unknown: figures that say something come from a real trace.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use isochrone_testkit::Bulk;
use serde_json::{Value, json};

/// Of one request.
const ROWS: usize = 60;
const PIXELS: u32 = 2000;

/// Requests for each width of the window.
const REQUESTS: usize = 40;

/// What 60 rows on 2,000 pixels may take.
const MOST: Duration = Duration::from_millis(20);

/// What the first picture may take, whatever the size of the trace.
const MOST_FIRST: Duration = Duration::from_secs(2);

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let trace = std::env::var_os("VIEW_TRACE").map_or_else(
        || {
            let path = directory.path().join("kernel");
            let events = std::env::var("VIEW_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000_000);
            Bulk { events, ..Bulk::default() }.write(&path).unwrap();
            path
        },
        PathBuf::from,
    );
    let store = directory.path().join("store");
    let first = Server::start(&trace, &store);
    let first_picture = first.opening("first time");
    drop(first);
    let server = Server::start(&trace, &store);
    let second_picture = server.opening("second time");
    let are_states_quick = states(&server);
    println!("memory of the server, without mapped files: {}", server.memory());
    drop(server);
    if !are_states_quick || first_picture.max(second_picture) > MOST_FIRST {
        std::process::exit(1);
    }
}

/// `isochrone view`, from its start on.
struct Server {
    child: Child,
    address: String,
    start: Instant,
}

impl Server {
    fn start(trace: &Path, store: &Path) -> Self {
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["view", "--quiet", "--no-open", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .arg(trace)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address, start }
    }

    /// A request: the status and the body of its answer.
    fn ask(&self, path: &str, body: Option<&Value>) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map(ToString::to_string).unwrap_or_default();
        let head = format!(
            "{method} /api/{path} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (status, answer.split_off(end + 4))
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.ask(path, None).1).unwrap()
    }

    /// Waits until all is there. Gives when there was a picture, which may be that of all, and says it with how far the work was then.
    fn opening(&self, which: &str) -> Duration {
        let mut seen = None;
        loop {
            let stage = self.json("experiment")["stage"]["name"].as_str().unwrap().to_owned();
            assert_ne!(stage, "failed");
            if seen.is_none() && (stage == "ready" || self.ask("sample", None).0 == 200) {
                seen = Some((self.start.elapsed(), stage.clone()));
            }
            if let (Some((when, how_far)), "ready") = (&seen, stage.as_str()) {
                let all = self.start.elapsed();
                println!("{which}: first picture after {when:.2?} ({how_far}), all after {all:.2?}");
                return *when;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it keeps in memory of its own, as Linux says.
    fn memory(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let line = |status: String| {
            status.lines().find_map(|line| line.strip_prefix("RssAnon:")).map(|rest| rest.trim().to_owned())
        };
        status.ok().and_then(line).unwrap_or_else(|| "unknown".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether states come quickly, at all widths of the window.
fn states(server: &Server) -> bool {
    let experiment = server.json("experiment");
    let (begin, end) = (experiment["begin"].as_i64().unwrap(), experiment["end"].as_i64().unwrap());
    let answer = server.json("rows");
    let rows: Vec<u64> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["kind"] != "host" && row["kind"] != "process")
        .map(|row| row["id"].as_u64().unwrap())
        .take(ROWS)
        .collect();
    let mut random = 1_u64;
    let mut next = |below: i64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as i64 % below.max(1)
    };
    let mut is_quick = true;
    println!("states of {} rows on {PIXELS} pixels, over HTTP:", rows.len());
    for share in [1, 3, 10, 100, 1000, 100_000, 1_000_000] {
        let width = ((end - begin) / share).max(1);
        let mut times: Vec<Duration> = Vec::new();
        let mut count = 0;
        for _ in 0..REQUESTS {
            let from = begin + next(end - begin - width + 1);
            let body = json!({"rows": rows, "begin": from, "end": from + width, "pixels": PIXELS});
            let start = Instant::now();
            let (status, bytes) = server.ask("states", Some(&body));
            times.push(start.elapsed());
            assert_eq!(status, 200);
            count += u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        }
        times.sort_unstable();
        let (median, most) = (times[times.len() / 2], times[times.len() * 95 / 100]);
        println!(
            "  1/{share:<9} median {median:>8.2?}  p95 {most:>8.2?}  most {:>8.2?}  {} states",
            times[times.len() - 1],
            count / REQUESTS
        );
        is_quick &= median <= MOST && most <= MOST;
    }
    is_quick
}
