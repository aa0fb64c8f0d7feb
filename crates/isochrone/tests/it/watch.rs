//! `isochrone watch`: chunks of rotated sessions that come one by one, in any order, to a process that is killed at any time, give what
//! the whole sessions give, to the byte.

mod bucket;
mod in_place;
mod odd;
mod pieces;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use isochrone_testkit::LttngTrace;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::shared;

const ANALYSES: &str = "cputop,syscallstats,schedlog,irqstats,iousagetop,fds,periodstats,processes";

/// How often a process is killed; a number in this variable asks for more.
const KILLS: &str = "ISOCHRONE_KILLS";

/// What must not take longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn isochrone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap()
}

fn ok(arguments: &[&str]) -> Vec<u8> {
    let output = isochrone(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Sessions whose chunks come to where they are watched.
struct Sessions {
    /// Where they come from.
    from: PathBuf,
    /// By path below that, sorted.
    chunks: Vec<PathBuf>,
    directory: tempfile::TempDir,
}

impl Sessions {
    fn new(from: &Path) -> Self {
        let mut chunks = Vec::new();
        find(from, from, &mut chunks);
        chunks.sort();
        assert!(!chunks.is_empty(), "{}", from.display());
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("watched")).unwrap();
        Self { from: from.to_owned(), chunks, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A chunk comes as a tracer moves it: whole, by one rename.
    fn bring(&self, chunk: usize) {
        let chunk = &self.chunks[chunk];
        let (to, moving) = (self.path("watched").join(chunk), self.path("moving"));
        let copied = Command::new("cp").arg("-r").arg(self.from.join(chunk)).arg(&moving).status().unwrap();
        assert!(copied.success());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(moving, to).unwrap();
    }

    fn whole(&self, analyses: &str) -> Vec<u8> {
        ok(&["analyze", "-q", analyses, "--no-sync", "--format", "json", text(&self.from)])
    }

    /// What `watch` says of what has come, with its journal or without.
    fn watch(&self, analyses: &str, options: &[&str]) -> Output {
        let watched = self.path("watched");
        isochrone(
            &[&["watch", "-q", analyses, "--once", "--format", "json"], options, &[text(&watched)]].concat(),
        )
    }

    /// `watch` that goes on.
    fn start(&self, analyses: &str, options: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["watch", "-q", analyses, "--poll", "50ms", "--state", text(&self.path("state"))])
            .args(options)
            .arg(self.path("watched"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

fn find(root: &Path, directory: &Path, chunks: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if directory.file_name().unwrap() == "archives" {
            chunks.push(path.strip_prefix(root).unwrap().to_owned());
        } else if path.is_dir() {
            find(root, &path, chunks);
        }
    }
}

fn corpus(part: &str) -> PathBuf {
    shared().join("data").join(part)
}

/// A small session of one host in so many chunks.
fn session(directory: &Path, chunks: u64) -> PathBuf {
    session_of_boot(&directory.join("session"), chunks, None)
}

/// The same, of a boot: with a clock of its own, whose zero is so many seconds later.
fn session_of_boot(path: &Path, chunks: u64, boot: Option<u8>) -> PathBuf {
    session_of("web1", path, chunks, boot.map(|boot| (boot, i64::from(boot) * 100)))
}

/// The same, of a machine, with a clock of that number and zero, s.
fn session_of(name: &str, path: &Path, chunks: u64, clock: Option<(u8, i64)>) -> PathBuf {
    session_of_events(name, path, (chunks, 20), clock)
}

/// The same, with so many events of each CPU in each chunk.
fn session_of_events(
    name: &str,
    path: &Path,
    (chunks, events): (u64, u64),
    clock: Option<(u8, i64)>,
) -> PathBuf {
    let mut trace = LttngTrace::kernel(name);
    trace.cpus(2);
    if let Some((number, zero)) = clock {
        let clock = trace.clock_spec();
        let offset_ns = clock.offset_ns + zero * 1_000_000_000;
        let uuid = Some(uuid::Uuid::from_bytes([number; 16]));
        trace.clock(isochrone_testkit::ClockSpec { uuid, offset_ns, ..clock });
    }
    for at in 0..chunks * events {
        let (prev, next) = if at % 2 == 0 { (0, 9) } else { (9, 0) };
        let fields = [
            ("prev_comm", "a".into()),
            ("prev_tid", prev.into()),
            ("prev_prio", 20.into()),
            ("prev_state", 1.into()),
            ("next_comm", "a".into()),
            ("next_tid", next.into()),
            ("next_prio", 20.into()),
        ];
        for cpu in 0..2 {
            trace.event(cpu, 1_000_000_000 + at * 1_000_000 + u64::from(cpu) * 1000, "sched_switch", &fields);
        }
    }
    let cuts: Vec<u64> = (1..chunks).map(|chunk| 1_000_000_000 + chunk * events * 1_000_000).collect();
    let path = path.to_owned();
    trace.write_rotated(&path, &cuts).unwrap();
    // As LTTng calls them.
    for chunk in 0..chunks {
        let time =
            |chunk: u64| format!("20261120T{:02}{:02}{:02}", 5 + chunk / 3600, chunk / 60 % 60, chunk % 60);
        let name = format!("{}+0000-{}+0000-{chunk}", time(chunk), time(chunk + 1));
        fs::rename(path.join("archives").join(chunk.to_string()), path.join("archives").join(name)).unwrap();
    }
    path
}

/// Chunks in some order, a look after some of them.
fn check_order(from: &Path, analyses: &str, order: &[usize], looks: &[bool], expect: &[u8]) {
    let sessions = Sessions::new(from);
    let state = sessions.path("state");
    let options = ["--state", text(&state), "--wait-missing", "1000s"];
    let mut left: Vec<usize> = (0..sessions.chunks.len()).collect();
    for (place, choice) in order.iter().cycle().take(sessions.chunks.len()).enumerate() {
        sessions.bring(left.remove(choice % left.len()));
        // A look that waits for what is missing, and goes on where the last one was.
        if looks[place % looks.len()] {
            let mut looking = sessions.start(analyses, &["--wait-missing", "1000s"]);
            thread::sleep(Duration::from_millis(300));
            looking.kill().unwrap();
            looking.wait().unwrap();
        }
    }
    let output = sessions.watch(analyses, &options);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == expect, "{order:?}: {said}");
    // The journal is enough for all but the last chunk, and the end is not in it.
    assert!(sessions.watch(analyses, &options).stdout == expect, "{order:?}, once more");
    assert!(sessions.watch(analyses, &[]).stdout == expect, "{order:?}, without a journal");
}

fn check_orders(from: &Path, analyses: &str, cases: u32) {
    let expect = ok(&["analyze", "-q", analyses, "--no-sync", "--format", "json", text(from)]);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let cases = (prop::collection::vec(0_usize..100, 1..9), prop::collection::vec(any::<bool>(), 1..5));
    TestRunner::new(config)
        .run(&cases, |(order, looks)| {
            check_order(from, analyses, &order, &looks, &expect);
            Ok(())
        })
        .unwrap();
}

#[test]
fn of_a_small_session() {
    let directory = tempfile::tempdir().unwrap();
    check_orders(&session(directory.path(), 6), "cputop,schedlog,processes", 3);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_two_machines() {
    check_orders(&corpus("vm/rot2"), ANALYSES, 2);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_kernel_and_programs() {
    check_orders(&corpus("vm/phases3/h2"), ANALYSES, 1);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_programs_alone() {
    check_orders(&corpus("ust/rotated/single_host"), "periodstats,processes", 2);
    // The output of a relay daemon. Its two hosts are containers on one clock, which is one host: each by itself.
    for node in ["nodeA", "nodeB"] {
        check_orders(&corpus("ust/rotated/two_hosts").join(node), "periodstats,processes", 1);
    }
}

/// The kernel and the programs of a machine in two sessions that are rotated each by itself, which is what both in one session are.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_two_sessions_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let whole = corpus("vm/phases3/h2");
    let mut chunks = Vec::new();
    find(&whole, &whole, &mut chunks);
    chunks.sort();
    for domain in ["kernel", "ust"] {
        for chunk in &chunks {
            let to = directory.path().join(domain).join(chunk);
            fs::create_dir_all(&to).unwrap();
            let copied = Command::new("cp").arg("-r").arg(whole.join(chunk).join(domain)).arg(&to).status();
            assert!(copied.unwrap().success());
        }
    }
    let sessions = Sessions::new(directory.path());
    let expect = sessions.whole(ANALYSES);
    let state = sessions.path("state");
    let options = ["--state", text(&state), "--wait-missing", "1000s"];
    let count = sessions.chunks.len() / 2;
    for nth in 0..count {
        // Those of the kernel come first, or those of the programs.
        let both = if nth % 2 == 0 { [nth, count + nth] } else { [count + nth, nth] };
        for chunk in both {
            sessions.bring(chunk);
        }
        let mut looking = sessions.start(ANALYSES, &["--wait-missing", "1000s"]);
        thread::sleep(Duration::from_millis(300));
        looking.kill().unwrap();
        looking.wait().unwrap();
    }
    let output = sessions.watch(ANALYSES, &options);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == expect, "{said}");
    assert!(sessions.watch(ANALYSES, &[]).stdout == expect, "without a journal");
}

/// A machine that is started again has another clock: what was left of its last session is mapped then, and tables have both boots, as
/// those of the whole traces have.
#[test]
fn of_a_machine_that_is_started_again() {
    let directory = tempfile::tempdir().unwrap();
    for boot in [1, 2] {
        session_of_boot(&directory.path().join(format!("boot{boot}")), 3, Some(boot));
    }
    let sessions = Sessions::new(directory.path());
    let file = sessions.path("figures");
    (0..3).for_each(|chunk| sessions.bring(chunk));
    let mut watching =
        sessions.start("cputop,schedlog", &["--metrics-file", text(&file), "--wait-missing", "1s"]);
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1\"} 2\n");
    (3..6).for_each(|chunk| sessions.bring(chunk));
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1#2\"} 2\n");
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1\"} 3\n");
    watching.kill().unwrap();
    watching.wait().unwrap();
    let state = sessions.path("state");
    let output = sessions.watch("cputop,schedlog", &["--state", text(&state)]);
    assert!(
        output.stdout == sessions.whole("cputop,schedlog"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Killed at any instant, a process has either mapped a chunk or not.
fn check_kills(from: &Path, analyses: &str, kills: u64) {
    let sessions = Sessions::new(from);
    let expect = sessions.whole(analyses);
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(kills);
    let state = sessions.path("state");
    // Not at equal distances, so that all instants have their turn.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let chunks = sessions.chunks.len() as u64;
    for kill in 0..kills {
        let due = (kill + 1) * chunks / kills;
        (kill * chunks / kills..due).for_each(|chunk| sessions.bring(chunk as usize));
        let mut watching = sessions.start(analyses, &["--wait-missing", "1000s"]);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis((random >> 33) % 400));
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    let output = sessions.watch(analyses, &["--state", text(&state)]);
    assert!(output.stdout == expect, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn killed_at_any_instant() {
    let directory = tempfile::tempdir().unwrap();
    check_kills(&session(directory.path(), 10), "cputop,schedlog,processes", 12);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn killed_with_two_machines() {
    check_kills(&corpus("vm/rot2"), ANALYSES, 12);
}

/// A chunk that never comes is told, its time is unknown, and it is left out when it comes late.
#[test]
fn missing_late_and_foreign_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 5));
    let state = sessions.path("state");
    let options = ["--state", text(&state)];
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    for chunk in [0, 1, 3, 4] {
        sessions.bring(chunk);
    }
    let without = sessions.watch("cputop", &options);
    assert!(said(&without).contains("chunk 2 is missing: that time is unknown"), "{}", said(&without));
    let watched = sessions.path("watched");
    let whole = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", text(&watched)]);
    assert!(without.stdout == whole);
    sessions.bring(2);
    let late = sessions.watch("cputop", &options);
    assert!(said(&late).contains("appeared when it had been declared missing; left out"), "{}", said(&late));
    assert_eq!(late.status.code(), Some(1));
    assert!(late.stdout == whole);
    // Another question has another journal.
    let other = sessions.watch("schedlog", &options);
    assert_eq!(other.status.code(), Some(2));
    assert!(said(&other).contains("was kept for other analyses"), "{}", said(&other));
    let broken = watched.join("archives/20261120T053806+0000-20261120T053808+0000-9");
    fs::create_dir_all(&broken).unwrap();
    let said = said(&sessions.watch("cputop", &options));
    assert!(said.contains("-9: no CTF trace found") && said.contains("left out"), "{said}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let here = text(directory.path());
    let check = |arguments: &[&str], expect: &str| {
        let output = isochrone(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(expect), "{arguments:?}: {said}");
    };
    check(&["watch", "usage", "--once", here], "usage divides the time");
    check(&["watch", "states", "--once", here], "cannot be watched");
    check(&["watch", "cputop", "--once", "--begin", "12:00", here], "--begin does not apply to watch");
    check(&["watch", "cputop", "--once", "/no/such"], "cannot read /no/such");
    check(&["watch", "cputop", "--once", "--listen", "192.0.2.1:1", here], "cannot listen on 192.0.2.1:1");
    check(&["watch", "cputop", "--delete-after", "1s", here], "--state");
    let nothing = isochrone(&["watch", "cputop", "--once", here]);
    assert!(nothing.status.success() && nothing.stdout.is_empty());
    assert!(String::from_utf8(nothing.stderr).unwrap().contains("no chunk has been mapped yet"));
}

/// What a server at an address says.
fn get(address: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// Waits until a file has a text.
fn wait_for(file: &Path, expect: &str) {
    let begin = Instant::now();
    while !fs::read_to_string(file).is_ok_and(|text| text.contains(expect)) {
        assert!(begin.elapsed() < PATIENCE, "{expect} is not in: {:?}", fs::read_to_string(file));
        thread::sleep(Duration::from_millis(20));
    }
}

/// Of chunks that were mapped, the oldest go while they take more than they may.
#[test]
fn chunks_go_for_their_size() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 6));
    let state = sessions.path("state");
    (0..6).for_each(|chunk| sessions.bring(chunk));
    let left = |most: &str| {
        // Chunks are deleted by a look after the one that has mapped them.
        for _ in 0..2 {
            sessions.watch("cputop", &["--state", text(&state), "--delete-above", most]);
        }
        let archives = sessions.path("watched").join(sessions.chunks[0].parent().unwrap());
        let mut names: Vec<String> = fs::read_dir(archives)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.iter().map(|name| name.rsplit('-').next().unwrap().parse().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(left("1GiB"), [0, 1, 2, 3, 4, 5]);
    let chunk = sessions.path("watched").join(&sessions.chunks[0]).join("kernel");
    let files = |path: &Path| -> u64 {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
        entries.filter(fs::Metadata::is_file).map(|it| it.len()).sum()
    };
    let each = files(&chunk) + files(&chunk.join("index"));
    // Of the four that are not needed any more, two.
    assert_eq!(left(&format!("{}", each * 2 + each / 2)), [2, 3, 4, 5]);
    assert_eq!(left("0"), [4, 5]);
    assert_eq!(sessions.watch("cputop", &["--state", text(&state)]).stdout, sessions.whole("cputop"));
}

/// Figures of each chunk stay in files of their own, also when the process was killed meanwhile.
#[test]
fn figures_of_the_past() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 4));
    let (state, kept) = (sessions.path("state"), sessions.path("kept"));
    (0..4).for_each(|chunk| sessions.bring(chunk));
    let options = ["--state", text(&state), "--backfill", text(&kept)];
    assert!(sessions.watch("cputop", &options).status.success());
    let read = || {
        let mut files: Vec<(PathBuf, String)> = fs::read_dir(&kept)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let files = read();
    let chunks: Vec<bool> = (1..=3)
        .map(|n| files[n - 1].1.contains(&format!("isochrone_watch_chunks_total{{host=\"web1\"}} {n} ")))
        .collect();
    assert_eq!((files.len(), chunks), (4, vec![true; 3]), "{files:?}");
    // Figures are of the instant that their file is named by.
    for (path, text) in &files {
        let ns: u128 =
            path.file_name().unwrap().to_str().unwrap().split('-').next().unwrap().parse().unwrap();
        let at = format!(" {}.{:03}", ns / 1_000_000_000, ns / 1_000_000 % 1000);
        assert!(text.lines().filter(|line| !line.starts_with('#')).all(|line| line.ends_with(&at)), "{text}");
    }
    // What was not written when the process ended is written when it goes on.
    fs::remove_file(&files[2].0).unwrap();
    assert!(sessions.watch("cputop", &options).status.success());
    assert_eq!(read(), files);
}

/// Figures come as chunks come, and old chunks go.
#[test]
fn figures_and_retention() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 4));
    let file = sessions.path("figures");
    // A free port: Linux does not choose the same again soon.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let options = ["--listen", &address, "--metrics-file", text(&file), "--delete-after", "0s"];
    let mut watching = sessions.start("cputop", &options);
    let wait_for = |expect: &str| wait_for(&file, expect);
    sessions.bring(0);
    sessions.bring(1);
    wait_for("isochrone_watch_chunks_total{host=\"web1\"} 1\n");
    sessions.bring(2);
    sessions.bring(3);
    wait_for("isochrone_watch_chunks_total{host=\"web1\"} 3\n");
    let figures = fs::read_to_string(&file).unwrap();
    assert!(figures.ends_with("# EOF\n"), "{figures}");
    // Sixty milliseconds of two CPUs, in half of which thread 9 ran.
    assert!(
        figures.contains("isochrone_cputop_processes_cpu_seconds{host=\"web1\",pid=\"9\"")
            || figures.contains("tid=\"9\""),
        "{figures}"
    );
    let served = get(&address, &address);
    assert!(served.starts_with("HTTP/1.1 200") && served.ends_with(&figures), "{served}");
    assert!(served.contains("application/openmetrics-text"), "{served}");
    assert!(get(&address, "attacker.example").starts_with("HTTP/1.1 403"));
    // Of chunks that were mapped, only the last one is still needed.
    let archives = sessions.path("watched").join(sessions.chunks[0].parent().unwrap());
    let begin = Instant::now();
    while fs::read_dir(&archives).unwrap().count() > 2 {
        assert!(begin.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(20));
    }
    // It ends when it is asked to.
    assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
    assert!(watching.wait().unwrap().success());
    let state = sessions.path("state");
    assert!(sessions.watch("cputop", &["--state", text(&state)]).stdout == sessions.whole("cputop"));
}
