//! `isochrone watch` where something is odd: nothing to watch, two that watch, damaged, forbidden and copied chunks, hosts that come late.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use super::{Sessions, corpus, isochrone, ok, session, session_of, text, wait_for};

/// Waits until a process has said something, and ends it. What it has said.
fn said_at_once(mut child: Child, expect: &str) -> String {
    let mut stderr = child.stderr.take().unwrap();
    let (mut said, mut part) = (String::new(), [0; 4096]);
    while !said.contains(expect) {
        let read = stderr.read(&mut part).unwrap();
        assert!(read > 0, "{said}");
        said += &String::from_utf8_lossy(&part[..read]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_it_waits_for_is_said_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let command = |directory: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(["watch", "cputop"]).arg(directory).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let said = said_at_once(command(directory.path()), "enable-rotation");
    assert!(
        said.contains("note: no chunk of a rotated session is below") && said.contains("analyze"),
        "{said}"
    );
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    said_at_once(command(&shop), "enable-rotation");
}

#[test]
fn one_process_has_a_journal() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 3));
    (0..3).for_each(|chunk| sessions.bring(chunk));
    let (state, file) = (sessions.path("state"), sessions.path("figures"));
    let mut first = sessions.start("cputop", &["--metrics-file", text(&file)]);
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1\"} 2\n");
    let second = sessions.watch("cputop", &["--state", text(&state)]);
    assert_eq!(second.status.code(), Some(2));
    assert!(said(&second).contains("another process watches with it"), "{}", said(&second));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(sessions.watch("cputop", &["--state", text(&state)]).status.success());
}

/// What of a chunk cannot be read is said, as `analyze` says it.
#[test]
fn a_chunk_with_a_cut_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 3));
    (0..3).for_each(|chunk| sessions.bring(chunk));
    let file = sessions.path("watched").join(&sessions.chunks[1]).join("kernel");
    let files = fs::read_dir(&file).unwrap().map(|entry| entry.unwrap().path());
    let mut streams: Vec<PathBuf> =
        files.filter(|path| path.is_file() && !path.ends_with("metadata")).collect();
    streams.sort();
    let stream = fs::OpenOptions::new().write(true).open(&streams[0]).unwrap();
    stream.set_len(stream.metadata().unwrap().len() / 2).unwrap();
    let analyzed = isochrone(&["analyze", "cputop", "--no-sync", text(&sessions.path("watched"))]);
    let watched = sessions.watch("cputop", &[]);
    assert_eq!((analyzed.status.code(), watched.status.code()), (Some(1), Some(1)));
    let of_file = |output: &Output| {
        let said = said(output);
        let lines = said.lines().filter(|line| line.contains(text(&streams[0]))).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    // Their paths are named in full here, and as they were given there.
    assert!(!of_file(&watched).is_empty() && of_file(&watched) == of_file(&analyzed), "{}", said(&watched));
}

/// A directory that may not be listed is not one without chunks.
#[test]
#[cfg(unix)]
fn directories_that_cannot_be_listed_are_named() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 3));
    (0..3).for_each(|chunk| sessions.bring(chunk));
    let archives = sessions.path("watched").join("archives");
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(sessions.directory.path(), 0o755);
    allow(&archives, 0o000);
    let as_root = fs::metadata(sessions.directory.path()).unwrap().uid() == 0;
    let mut program = PathBuf::from(env!("CARGO_BIN_EXE_isochrone"));
    // Nothing is forbidden to root, and another user may be forbidden to enter the directory of what was built.
    if as_root {
        let copy = sessions.path("isochrone");
        fs::copy(&program, &copy).unwrap();
        program = copy;
    }
    let mut command = Command::new(program);
    command.args(["watch", "cputop", "--once"]).arg(sessions.path("watched"));
    if as_root {
        command.uid(65_534);
    }
    let output = command.output().unwrap();
    allow(&archives, 0o755);
    let expect = format!("warning: {}: Permission denied", archives.canonicalize().unwrap().display());
    assert!(said(&output).contains(&expect), "{}", said(&output));
    assert_eq!(output.status.code(), Some(1));
}

/// A chunk that somebody has copied under a later number is no other chunk, whenever it comes.
#[test]
fn a_copy_of_a_chunk_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 4));
    let (state, watched) = (sessions.path("state"), sessions.path("watched"));
    (0..4).for_each(|chunk| sessions.bring(chunk));
    let whole = sessions.whole("cputop,schedlog");
    let copy = |number: u64| {
        let to = watched.join(format!("archives/20261120T053809+0000-20261120T053810+0000-{number}"));
        let from = watched.join(&sessions.chunks[1]);
        assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
    };
    let check = |output: &Output| {
        let said = said(output);
        assert!(said.contains("it has what ") && !said.contains("missing"), "{said}");
        assert!(output.status.code() == Some(1) && output.stdout == whole, "{said}");
    };
    assert!(sessions.watch("cputop,schedlog", &["--state", text(&state)]).stdout == whole);
    // Once it has been mapped, and before.
    copy(8);
    check(&sessions.watch("cputop,schedlog", &["--state", text(&state)]));
    check(&sessions.watch("cputop,schedlog", &[]));
}

/// A host that comes when steps of its time have been published is named, and counted; steps are counted from the begin, and go on after a restart.
#[test]
fn a_host_that_comes_late_is_named() {
    let directory = tempfile::tempdir().unwrap();
    session_of("web1", &directory.path().join("web1"), 5, Some((1, 0)));
    let web2 = directory.path().join("web2");
    session_of("web2", &web2, 5, Some((2, 0)));
    let sessions = Sessions::new(directory.path());
    let (file, watched) = (sessions.path("figures"), sessions.path("watched"));
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(["watch", "-q", "accounting", "--poll", "50ms", "--wait-missing", "1000s"]);
        command.args(["--state", text(&sessions.path("state")), "--metrics-file", text(&file)]);
        command.arg(&watched).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut watching = start();
    (0..2).for_each(|chunk| sessions.bring(chunk));
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1\"} 1\n");
    // Another host may come as soon as this one has rotated once more.
    assert!(fs::read_to_string(&file).unwrap().contains("isochrone_watch_steps_total 0\n"));
    (2..4).for_each(|chunk| sessions.bring(chunk));
    wait_for(&file, "isochrone_watch_steps_total 2\n");
    watching.kill().unwrap();
    watching.wait().unwrap();
    fs::remove_file(&file).unwrap();
    // A restart loses no count.
    let watching = start();
    wait_for(&file, "isochrone_watch_steps_total 2\n");
    assert!(fs::read_to_string(&file).unwrap().contains("isochrone_watch_step_end_seconds "));
    (5..10).for_each(|chunk| sessions.bring(chunk));
    sessions.bring(4);
    // From the begin of both to the end of the last step.
    wait_for(&file, "isochrone_watch_late_seconds_total{host=\"web2\"} 0.060001000\n");
    let said = said_at_once(watching, "in none of them");
    assert!(said.contains("warning: web2: ") && said.contains("had been published"), "{said}");
}

/// Chunks of two machines by time, each of one when the other has two: no message is lost.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_machines_that_come_one_after_the_other() {
    let sessions = Sessions::new(&corpus("vm/rot2"));
    let (state, file) = (sessions.path("state"), sessions.path("figures"));
    let messages = |options: &[&str]| {
        let output = sessions.watch("messages", &[options, &["--metrics-file", text(&file)]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let figures = fs::read_to_string(&file).unwrap();
        let of_link = figures.lines().filter(|line| line.starts_with("isochrone_link_messages_total{"));
        of_link.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    let mut by_time: Vec<usize> = (0..sessions.chunks.len()).collect();
    by_time.sort_by_key(|&chunk| sessions.chunks[chunk].file_name().map(ToOwned::to_owned));
    // Two of the first machine before any of the second.
    let is_of_first = |chunk: usize| sessions.chunks[chunk].starts_with("h1");
    let first: Vec<usize> = by_time.iter().copied().filter(|&chunk| is_of_first(chunk)).take(2).collect();
    by_time.retain(|chunk| !first.contains(chunk));
    let mut watching = sessions.start("messages", &["--wait-missing", "100s"]);
    for chunk in first.into_iter().chain(by_time) {
        sessions.bring(chunk);
        thread::sleep(Duration::from_millis(300));
    }
    watching.kill().unwrap();
    watching.wait().unwrap();
    let on_the_way = messages(&["--state", text(&state)]);
    assert_eq!(on_the_way, messages(&[]));
    // What all of it has.
    let whole = ok(&["messages", "-q", "--format", "json", text(&sessions.from)]);
    let whole: serde_json::Value = serde_json::from_slice(&whole).unwrap();
    let tables = whole["tables"].as_array().unwrap();
    let links = tables.iter().find(|table| table["name"] == "links").unwrap();
    let columns = links["columns"].as_array().unwrap();
    let count = columns.iter().position(|column| column["name"] == "count").unwrap();
    let rows = links["rows"].as_array().unwrap();
    assert_eq!(on_the_way, rows.iter().map(|row| row[count].as_u64().unwrap()).sum::<u64>());
}

/// As long as nothing comes, nothing is done.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_done_while_nothing_comes() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(&session(directory.path(), 3));
    let file = sessions.path("figures");
    (0..3).for_each(|chunk| sessions.bring(chunk));
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(["watch", "-q", "cputop", "--poll", "100s", "--metrics-file", text(&file)]);
    let mut watching = command.arg(sessions.path("watched")).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&file, "isochrone_watch_chunks_total{host=\"web1\"} 2\n");
    let stat = format!("/proc/{}/stat", watching.id());
    let ticks = || {
        let stat = fs::read_to_string(&stat).unwrap();
        let fields: Vec<i64> =
            stat.rsplit(')').next().unwrap().split(' ').filter_map(|it| it.parse().ok()).collect();
        // Hundredths of a second as itself and in the system.
        fields[10] + fields[11]
    };
    thread::sleep(Duration::from_secs(1));
    let before = ticks();
    thread::sleep(Duration::from_secs(2));
    let used = ticks() - before;
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert!(used < 20, "{used} hundredths of a second in two");
}
