//! `isochrone live` against LTTng's own relay daemon: what it shows of sessions while they are recorded is what `isochrone events` shows
//! of them afterwards, to the byte.
//!
//! It needs Debian's lttng-tools and liblttng-ust-dev, and traces programs alone. Ignored where these are not installed; with
//! `ISOCHRONE_REQUIRE_LTTNG` set, as in `.ci/run`, they must be.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A program that records lines, from two threads, until it is told to end.
pub(crate) const PROGRAM: &str = r#"
#include <lttng/tracef.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int rounds;
static void *work(void *name) {
    for (int round = 0; round < rounds; round++) {
        lttng_ust_tracef("%s %d", (const char *) name, round);
        usleep(1000);
    }
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t other;
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    pthread_create(&other, NULL, work, "other");
    work("main");
    pthread_join(other, NULL);
    return 0;
}
"#;

/// What must not take longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Daemons put their things away when they are asked to end.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        for _ in 0..50 {
            if self.0.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    pub(crate) fn status(&mut self) -> Option<i32> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

/// LTTng's daemons, and a program to trace.
struct Lttng {
    directory: tempfile::TempDir,
    port: u16,
    _daemons: [Running; 2],
    /// After the daemons: what is dropped last.
    _alone: MutexGuard<'static, ()>,
}

/// Held while daemons run: those of root share a directory.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

impl Lttng {
    fn start() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("program.c");
        fs::write(&source, PROGRAM).unwrap();
        let compiled = Command::new("cc")
            .arg("-o")
            .arg(directory.path().join("program"))
            .arg(&source)
            .args(["-llttng-ust", "-ldl", "-lpthread"])
            .status()
            .unwrap();
        assert!(compiled.success(), "a program that LTTng traces cannot be compiled");
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (control, data, live) = (port(), port(), port());
        let url = |port: u16| format!("tcp://127.0.0.1:{port}");
        let start = |program: &str, arguments: &[String]| {
            let log = File::create(directory.path().join(format!("{program}.log"))).unwrap();
            let command = Command::new(program)
                .args(arguments)
                .env("LTTNG_HOME", directory.path())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn();
            Running(command.unwrap())
        };
        let relay = [
            format!("--control-port={}", url(control)),
            format!("--data-port={}", url(data)),
            format!("--live-port={}", url(live)),
            format!("--output={}", directory.path().join("relay").display()),
        ];
        let daemons = [start("lttng-relayd", &relay), start("lttng-sessiond", &["--no-kernel".to_owned()])];
        let lttng = Self { directory, port: live, _daemons: daemons, _alone: alone };
        wait_for("the session daemon", || lttng.lttng(&["list"]).status.success());
        wait_for("the relay daemon", || TcpStream::connect(("127.0.0.1", live)).is_ok());
        fs::write(lttng.path("ports"), format!("{control}:{data}")).unwrap();
        lttng
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn lttng(&self, arguments: &[&str]) -> Output {
        Command::new("lttng").args(arguments).env("LTTNG_HOME", self.directory.path()).output().unwrap()
    }

    fn ok(&self, arguments: &[&str]) {
        let output = self.lttng(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Creates a live session and starts it.
    fn create(&self, name: &str) {
        let ports = fs::read_to_string(self.path("ports")).unwrap();
        let (control, data) = ports.split_once(':').unwrap();
        let (control, data) =
            (format!("--ctrl-url=tcp://127.0.0.1:{control}"), format!("--data-url=tcp://127.0.0.1:{data}"));
        self.ok(&["create", name, "--live=200000", &control, &data]);
        self.ok(&[
            "enable-channel",
            "-u",
            "-s",
            name,
            "--buffers-uid",
            "--subbuf-size=4k",
            "--num-subbuf=16",
            "ch0",
        ]);
        self.ok(&["enable-event", "-u", "-s", name, "-c", "ch0", "lttng_ust_tracef:*"]);
        self.ok(&[
            "add-context",
            "-u",
            "-s",
            name,
            "-c",
            "ch0",
            "-t",
            "vpid",
            "-t",
            "vtid",
            "-t",
            "procname",
        ]);
        self.ok(&["start", name]);
    }

    fn program(&self, rounds: u32) -> Running {
        let command = Command::new(self.path("program"))
            .arg(rounds.to_string())
            .env("LTTNG_HOME", self.directory.path())
            .spawn();
        Running(command.unwrap())
    }

    fn session(&self, port: u16, name: &str) -> String {
        let host = String::from_utf8(Command::new("hostname").output().unwrap().stdout).unwrap();
        assert!(self.port > 0);
        format!("net://127.0.0.1:{port}/host/{}/{name}", host.trim_end())
    }
}

/// `isochrone live`, into a file.
fn live(sessions: &[String], options: &[&str], into: &Path) -> Running {
    let command = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .arg("live")
        .args(options)
        .args(sessions)
        .stdout(File::create(into).unwrap())
        .stderr(File::create(into.with_extension("err")).unwrap())
        .spawn();
    Running(command.unwrap())
}

fn events(directories: &[&Path], options: &[&str]) -> Vec<u8> {
    let command = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["events", "-q", "--no-sync"])
        .args(options)
        .args(directories)
        .output();
    command.unwrap().stdout
}

/// Passes bytes on to a port; connections are cut after so many bytes from there, each later than the one before.
fn bad_network(to: u16, mut cut_after: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (Ok(mut near), Ok(mut far)) = (near, TcpStream::connect(("127.0.0.1", to))) else { continue };
            let (mut near_too, mut far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut near_too, &mut far_too));
            let _ = std::io::copy(&mut (&mut far).take(cut_after), &mut near);
            let _ = near.flush();
            let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
            cut_after *= 4;
        }
    });
    port
}

fn lines(path: &Path) -> usize {
    String::from_utf8(fs::read(path).unwrap()).unwrap().lines().count()
}

#[test]
#[cfg_attr(not(lttng), ignore = "needs lttng-tools, liblttng-ust-dev and a C compiler")]
fn live_is_what_was_recorded() {
    let lttng = Lttng::start();
    // The relay daemon lets one viewer have a session at a time.
    let names = ["first", "second", "third", "fourth"];
    for name in names {
        lttng.create(name);
    }
    let mut program = lttng.program(1500);
    let sessions = names.map(|name| lttng.session(lttng.port, name));
    let (both, json, cut) = (lttng.path("both"), lttng.path("json"), lttng.path("cut"));
    let mut following = [
        live(&sessions[..2], &[], &both),
        live(&sessions[2..3], &["--format", "json"], &json),
        live(&[lttng.session(bad_network(lttng.port, 30_000), "fourth")], &[], &cut),
    ];
    // Events come while they are recorded.
    wait_for("no event comes while the session is recorded", || lines(&both) > 100 && lines(&json) > 100);
    assert!(following[0].0.try_wait().unwrap().is_none());
    // A program that comes later has streams of its own.
    let mut later = lttng.program(300);
    assert_eq!((program.status(), later.status()), (Some(0), Some(0)));
    let listed = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["live", &format!("net://127.0.0.1:{}", lttng.port)])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(sessions.iter().all(|session| listed.contains(&format!("{session}  ("))), "{listed}");
    let unknown = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["live", &lttng.session(lttng.port, "fifth")])
        .output()
        .unwrap();
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        unknown.status.code() == Some(2) && said.contains("/fifth; there are ") && said.contains("/first"),
        "{said}"
    );
    for name in names {
        lttng.ok(&["destroy", "--no-wait", name]);
    }
    let ended = following.each_mut().map(Running::status);
    let said = fs::read_to_string(cut.with_extension("err")).unwrap();
    assert_eq!(ended, [Some(0); 3], "{said}");
    assert!(said.contains("connecting again"), "the connection was never lost: {said}");
    let relay = lttng.path("relay");
    let recorded = |name: &str| {
        let host = fs::read_dir(&relay).unwrap().next().unwrap().unwrap().path();
        let sessions = fs::read_dir(host).unwrap().map(|entry| entry.unwrap().path());
        let mut found = sessions.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name));
        found.next().unwrap()
    };
    let of_both = [recorded("first"), recorded("second")];
    let expect = events(&[&of_both[0], &of_both[1]], &[]);
    assert_eq!(lines(&both), 2 * 2 * (1500 + 300));
    assert!(fs::read(&both).unwrap() == expect, "both sessions");
    assert!(fs::read(&json).unwrap() == events(&[&recorded("third")], &["--format", "json"]), "as JSON");
    assert!(fs::read(&cut).unwrap() == events(&[&recorded("fourth")], &[]), "over a bad network");
}

/// What a server of the page answers.
fn get(address: &str, path: &str) -> Option<serde_json::Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    // Without pieces, as HTTP 1.0 has none.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.contains(" 200 ").then(|| serde_json::from_str(body).unwrap())
}

/// One connection, and several readers: what is printed, and pages, while the session is recorded and after.
#[test]
#[cfg_attr(not(lttng), ignore = "needs lttng-tools, liblttng-ust-dev and a C compiler")]
fn a_page_of_what_has_come() {
    let lttng = Lttng::start();
    lttng.create("shown");
    let printed = lttng.path("printed");
    let sessions = [lttng.session(lttng.port, "shown")];
    let mut following = live(&sessions, &["-q", "--listen", "127.0.0.1:0"], &printed);
    let said = || fs::read_to_string(printed.with_extension("err")).unwrap();
    wait_for("the page", || said().contains("a page of what has been received is at "));
    let said = said();
    let (_, address) = said.split_once(" is at http://").unwrap();
    let address = address.split('/').next().unwrap().to_owned();
    let experiment = || get(&address, "/api/experiment").unwrap();
    assert_eq!((&experiment()["grows"], experiment()["hosts"].as_array().unwrap().len()), (&true.into(), 0));
    let mut program = lttng.program(4000);
    let is_ready =
        |it: &serde_json::Value| it["stage"]["name"] == "ready" && it["hosts"][0]["name"].is_string();
    wait_for("a first look", || is_ready(&experiment()));
    let first = experiment();
    wait_for("more looks", || experiment()["look"].as_u64() > first["look"].as_u64());
    let second = experiment();
    assert!(is_ready(&second) && second["grows"] == true, "{second}");
    assert!(second["end"].as_i64() > first["end"].as_i64(), "{first} {second}");
    // Several readers at once.
    let count = |_| {
        let answer = get(&address, "/api/events?begin=0&end=9000000000000&limit=1000");
        answer.map_or(0, |answer| answer["events"].as_array().unwrap().len())
    };
    let counts: Vec<usize> = thread::scope(|scope| {
        let readers: Vec<_> = (0..8).map(|number| scope.spawn(move || count(number))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    assert_eq!(program.status(), Some(0));
    lttng.ok(&["destroy", "--no-wait", "shown"]);
    wait_for("the last look", || experiment()["grows"] == false);
    // All of it is there, for the page as for who reads what is printed.
    let (mut shown, mut after) = (0, String::new());
    loop {
        let path = format!("/api/events?begin=0&end=9000000000000&limit=1000{after}");
        let answer = get(&address, &path).unwrap();
        shown += answer["events"].as_array().unwrap().len();
        let Some(next) = answer["next"].as_str() else { break };
        after = format!("&after={}", next.replace(',', "%2C"));
    }
    assert_eq!(shown, 2 * 4000);
    let host = fs::read_dir(lttng.path("relay")).unwrap().next().unwrap().unwrap().path();
    let recorded = fs::read_dir(host).unwrap().next().unwrap().unwrap().path();
    assert!(fs::read(&printed).unwrap() == events(&[&recorded], &[]));
    // The page stays until somebody ends it.
    assert!(following.0.try_wait().unwrap().is_none());
    let interrupted = Command::new("kill").args(["-INT", &following.0.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(following.status(), Some(0));
}

/// What is given, and whether what comes of it is right.
type Tried<'t> = (&'t str, &'t [&'t str], &'t dyn Fn(&str) -> bool);

/// Each option that the help lists changes what is printed, or is an error.
#[test]
#[cfg_attr(not(lttng), ignore = "needs lttng-tools, liblttng-ust-dev and a C compiler")]
fn options_of_live() {
    let lttng = Lttng::start();
    lttng.create("options");
    let mut program = lttng.program(200);
    let session = lttng.session(lttng.port, "options");
    assert_eq!(program.status(), Some(0));
    let run = |options: &[&str]| {
        let live =
            Command::new(env!("CARGO_BIN_EXE_isochrone")).arg("live").args(options).arg(&session).output();
        let Output { stdout, stderr, status } = live.unwrap();
        let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (status.code(), out, err)
    };
    let few = ["-q", "--limit", "5"];
    let (code, plain, said) = run(&few);
    assert!(code == Some(0) && plain.lines().count() == 5, "{said}");
    let keep = lttng.path("kept");
    let tried: [Tried<'_>; 6] = [
        ("--date", &["--date"], &|out| out.lines().all(|line| line.starts_with("[20"))),
        ("--timezone", &["--timezone", "Asia/Tokyo"], &|out| out != plain),
        ("--gmt", &["--gmt", "--date"], &|out| out.lines().all(|line| line.starts_with("[20"))),
        ("--format", &["--format", "json"], &|out| {
            out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
        }),
        ("--no-sync", &["--no-sync"], &|out| out == plain),
        ("--keep", &["--keep", keep.to_str().unwrap()], &|_| fs::read_dir(&keep).unwrap().count() > 0),
    ];
    for (option, arguments, expect) in tried {
        let (code, out, said) = run(&[&few, arguments].concat());
        assert!(code == Some(0) && out.lines().count() == 5 && expect(&out), "{option}: {out}{said}");
    }
    let wrong = [
        ("--sync", "/no/such/sync.json"),
        ("--wait-sync", "soon"),
        ("--bounds", "-q"),
        ("--reconnect", "soon"),
        ("--limit", "0"),
        ("--keep-at-most", "much"),
        ("--listen", "nowhere"),
    ];
    for (option, value) in wrong {
        let (code, out, said) = run(&[option, value]);
        assert!(
            code == Some(2) && out.is_empty() && (said.contains(value) || said.contains(option)),
            "{option}: {said}"
        );
    }
    let help =
        Command::new(env!("CARGO_BIN_EXE_isochrone")).args(["live", "--help"]).output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let listed = help.lines().filter_map(|line| {
        let option = line.trim_start().trim_start_matches("-q, ").trim_start_matches("-h, ");
        option.starts_with("--").then(|| option.split(' ').next().unwrap().to_owned())
    });
    let known: Vec<&str> =
        tried.iter().map(|(option, ..)| *option).chain(wrong.map(|(option, _)| option)).collect();
    for option in
        listed.filter(|option| !["--help", "--quiet", "--wide", "--no-pager"].contains(&option.as_str()))
    {
        assert!(known.contains(&option.as_str()), "{option} is not tried here");
    }
    lttng.ok(&["destroy", "--no-wait", "options"]);
}
