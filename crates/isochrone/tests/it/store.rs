//! Stores and what is read from them: `isochrone index` and `isochrone analyze states`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use isochrone_store::Manifest;
use isochrone_testkit::LttngTrace;
use serde_json::Value;

use crate::common::shared;

/// Runs the binary with a cache of its own.
fn isochrone(cache: &Path, arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(arguments).args(paths).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The rows of a table, as JSON.
fn rows(cache: &Path, arguments: &[&str], paths: &[&Path]) -> Vec<Vec<Value>> {
    let output = isochrone(cache, &[&["analyze"], arguments, &["--format", "json"]].concat(), paths);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line: Value =
        serde_json::from_slice(output.stdout.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    let rows = line["tables"][0]["rows"].as_array().unwrap();
    rows.iter().map(|row| row.as_array().unwrap().clone()).collect()
}

/// A small trace of one CPU: thread 9 runs every other millisecond, so that it has a state between each event and the next.
fn small(directory: &Path, events: u64) {
    let mut trace = LttngTrace::kernel("h1");
    for at in 0..events {
        let (prev, next, state) = if at % 2 == 0 { (0, 9, 0) } else { (9, 0, 1) };
        let fields = [
            ("prev_comm", "a".into()),
            ("prev_tid", prev.into()),
            ("prev_prio", 20.into()),
            ("prev_state", state.into()),
            ("next_comm", "a".into()),
            ("next_tid", next.into()),
            ("next_prio", 20.into()),
        ];
        trace.event(0, (1000 + at) * 1_000_000, "sched_switch", &fields);
    }
    trace.write(directory).unwrap();
}

/// Analyses that need no more than the index has are answered from it: also where events of the traces are
/// others meanwhile, which shows in no size and no time.
#[test]
fn analyses_are_answered_from_the_index() {
    let (cache, empty, root) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trace = root.path().join("trace");
    small(&trace, 2000);
    let asked: [&[&str]; 4] = [
        &["analyze", "cputop"],
        &["analyze", "cputop", "schedstats", "--begin", "+100ms", "--end", "-50ms"],
        &["analyze", "usage", "irqstats", "--format", "json"],
        &["analyze", "iolatencystats", "syscallstats", "--format", "csv"],
    ];
    let ask = |cache: &Path| asked.map(|arguments| isochrone(cache, arguments, &[&trace]));
    let before = ask(empty.path());
    assert!(isochrone(cache.path(), &["index", "-q"], &[&trace]).status.success());
    for file in fs::read_dir(&trace).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_dir() || file.file_name().is_some_and(|name| name == "metadata") {
            continue;
        }
        let changed = fs::metadata(&file).unwrap().modified().unwrap();
        let mut bytes = fs::read(&file).unwrap();
        // Thread 9 has another number.
        let from = bytes.len() / 2;
        bytes[from..].iter_mut().filter(|byte| **byte == 9).for_each(|byte| *byte = 8);
        fs::write(&file, &bytes).unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(changed).unwrap();
    }
    for (before, after) in before.iter().zip(ask(cache.path())) {
        assert_eq!((text(&after.stdout), text(&after.stderr)), (text(&before.stdout), text(&before.stderr)));
    }
    let read = ask(empty.path());
    assert_ne!(text(&read[0].stdout), text(&before[0].stdout));
}

/// What could not be decoded is reported, whether there is an index or not.
#[test]
fn broken_packets_are_reported_with_an_index_too() {
    let (cache, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trace = root.path().join("trace");
    small(&trace, 2000);
    let is_stream = |path: &PathBuf| path.is_file() && !path.ends_with("metadata");
    for file in fs::read_dir(&trace).unwrap().map(|entry| entry.unwrap().path()).filter(is_stream) {
        let mut bytes = fs::read(&file).unwrap();
        let from = bytes.len() / 2;
        bytes[from..from + 200].fill(0xff);
        fs::write(&file, &bytes).unwrap();
    }
    let ask = || isochrone(cache.path(), &["analyze", "cputop"], &[&trace]);
    let before = ask();
    assert_eq!(before.status.code(), Some(1));
    assert!(text(&before.stderr).contains("the rest of the packet is skipped"), "{}", text(&before.stderr));
    isochrone(cache.path(), &["index", "-q"], &[&trace]);
    let after = ask();
    assert_eq!(after.status.code(), Some(1));
    assert_eq!((text(&after.stdout), text(&after.stderr)), (text(&before.stdout), text(&before.stderr)));
}

/// Times on CPUs by host and thread, from the table of states: rows must follow each other without holes.
fn on_cpu(rows: &[Vec<Value>]) -> BTreeMap<(String, i64), i64> {
    let (mut times, mut ends) = (BTreeMap::new(), BTreeMap::<(String, i64), i64>::new());
    for row in rows {
        let thread = (row[0].as_str().unwrap().to_owned(), row[2].as_i64().unwrap());
        let (begin, end) = (row[5].as_i64().unwrap(), row[6].as_i64().unwrap());
        let last = ends.insert(thread.clone(), end);
        assert!(begin < end && last.is_none_or(|last| last == begin), "{row:?} after {last:?}");
        if ["usermode", "syscall", "interrupted"].contains(&row[4].as_str().unwrap()) {
            *times.entry(thread).or_default() += end - begin;
        }
    }
    times
}

/// Hosts of which there is a store are not synchronized again: what is said is the same, and it is the store that says it.
#[test]
fn corrections_come_from_the_store() {
    let (cache, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let asked: [&[&str]; 3] =
        [&["events", "--limit", "40"], &["events", "--bounds", "--limit", "40"], &["analyze", "cputop"]];
    let ask = || asked.map(|arguments| isochrone(cache.path(), arguments, &[&shop]));
    let before = ask();
    let store = elsewhere.path().join("store");
    let indexed = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["index", "-q", "-o"])
        .arg(&store)
        .arg(&shop)
        .output();
    assert!(indexed.unwrap().status.success());
    assert!(isochrone(cache.path(), &["index", "-q"], &[&shop]).status.success());
    for (before, after) in before.iter().zip(ask()) {
        assert_eq!((text(&after.stdout), text(&after.stderr)), (text(&before.stdout), text(&before.stderr)));
    }
    // With another reference in the store, times are on that one's clock.
    let kept = elsewhere.path().join("other.json");
    let other = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["sync", "-q", "--reference", "h1", "-o"])
        .args([&kept, &shop])
        .output();
    assert!(other.unwrap().status.success());
    let said_with = |json: &[u8]| {
        fs::write(store.join("sync.json"), json).unwrap();
        // What is not described as it is counts as damaged.
        let path = store.join("store.json");
        let mut manifest: Manifest = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let clocks = manifest.clocks.as_mut().unwrap();
        (clocks.bytes, clocks.crc32) = (json.len() as u64, format!("{:08x}", crc32fast::hash(json)));
        manifest.crc32 = "00000000".to_owned();
        let sum = crc32fast::hash(&serde_json::to_vec(&manifest).unwrap());
        manifest.crc32 = format!("{sum:08x}");
        fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        let said = isochrone(cache.path(), &["analyze", "states", "--limit", "1"], &[&store]);
        assert!(said.status.success(), "{}", text(&said.stderr));
        text(&said.stderr)
    };
    let said = said_with(&fs::read(&kept).unwrap());
    assert!(said.contains("synchronized to the clock of h1"), "{said}");
    // What is no `sync.json` is made again.
    let said = said_with(b"{}");
    assert!(said.contains("synchronized to the clock of h2"), "{said}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn states_sum_to_cputop() {
    let cache = tempfile::tempdir().unwrap();
    for part in ["vm/chain3", "vm/web2", "vm/rot2"] {
        let path = shared().join("data").join(part);
        let states = on_cpu(&rows(cache.path(), &["states", "--no-sync"], &[&path]));
        let top = rows(cache.path(), &["cputop", "--table", "processes"], &[&path]);
        let mut expect: BTreeMap<(String, i64), i64> = BTreeMap::new();
        for row in top.iter().filter(|row| row[2].as_i64() > Some(0) && row[4].as_i64() > Some(0)) {
            let thread = (row[0].as_str().unwrap().to_owned(), row[2].as_i64().unwrap());
            *expect.entry(thread).or_default() += row[4].as_i64().unwrap();
        }
        assert!(expect.len() > 20);
        assert_eq!(states, expect, "{part}");
    }
}

#[test]
fn a_store_is_made_once_and_again_when_a_trace_changes() {
    let root = tempfile::tempdir().unwrap();
    let (cache, trace) = (root.path().join("cache"), root.path().join("trace"));
    small(&trace, 20);
    let states = || rows(&cache, &["states", "--tid", "9"], &[&trace]);
    let stores = || -> Vec<PathBuf> {
        let all = fs::read_dir(cache.join("isochrone")).unwrap();
        all.map(|entry| entry.unwrap().path()).collect()
    };
    let first = states();
    assert_eq!(first.len(), 19);
    let [store] = &stores()[..] else { panic!("{:?}", stores()) };
    let made = fs::metadata(store.join("store.json")).unwrap().modified().unwrap();
    assert_eq!(states(), first);
    assert_eq!(fs::metadata(store.join("store.json")).unwrap().modified().unwrap(), made, "made again");
    // The trace has changed.
    fs::remove_dir_all(&trace).unwrap();
    small(&trace, 31);
    assert_eq!(states().len(), 30);
    // The store is damaged, or of another version.
    let host = store.join("0-h1/slices.arrow");
    let bytes = fs::read(&host).unwrap();
    fs::write(&host, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(states().len(), 30);
    fs::write(store.join("store.json"), r#"{"version": 0}"#).unwrap();
    assert_eq!(states().len(), 30);
    assert_eq!(stores().len(), 1);
}

/// A store has all hosts, whatever corrections were asked for when it was made.
#[test]
fn a_store_does_not_depend_on_corrections() {
    let root = tempfile::tempdir().unwrap();
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let sync = root.path().join("sync.json");
    let two = [shop.join("client"), shop.join("app")];
    let output = isochrone(
        root.path(),
        &["sync", "-q", "-o", sync.to_str().unwrap()],
        &two.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let hosts = |arguments: &[&str]| -> Vec<String> {
        let output = isochrone(
            root.path(),
            &[&["analyze", "-q", "states", "--format", "csv"], arguments].concat(),
            &[&shop],
        );
        let lines = text(&output.stdout);
        let mut hosts: Vec<String> =
            lines.lines().skip(1).filter_map(|line| Some(line.split(',').next()?.to_owned())).collect();
        hosts.dedup();
        hosts
    };
    assert_eq!(hosts(&["--sync", sync.to_str().unwrap()]), ["h1", "h2"]);
    assert_eq!(hosts(&[]), ["h1", "h2", "h3"]);
}

#[test]
fn stores_of_their_own() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    let (cache, trace, other, store) = (path("cache"), path("trace"), path("other"), path("a.store"));
    small(&trace, 20);
    small(&other, 30);
    let store_text = store.to_str().unwrap();
    let output = isochrone(&cache, &["index", "-o", store_text], &[&trace]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("h1: 2 threads, "), "{}", text(&output.stdout));
    assert!(!cache.exists());
    assert_eq!(rows(&cache, &["states", "--tid", "9", "--store", store_text], &[&trace]).len(), 19);
    // Of other traces, none at all, and what is no store stays.
    let output = isochrone(&cache, &["analyze", "states", "--store", store_text], &[&other]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("not a store of these traces as they are now"));
    let output = isochrone(&cache, &["analyze", "states", "--store", "no.store"], &[&trace]);
    assert_eq!(output.status.code(), Some(2));
    let metadata = fs::read(trace.join("metadata")).unwrap();
    let output = isochrone(&cache, &["index", "-o", trace.to_str().unwrap()], &[&trace]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("exists and is not a store"));
    assert_eq!(fs::read(trace.join("metadata")).unwrap(), metadata);
}

/// A store stands for the traces that it was made of, wherever a trace is named.
#[test]
fn a_store_is_named_like_a_trace() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    let (cache, session, store) = (path("cache"), path("session"), path("a.store"));
    small(&session.join("one"), 20);
    small(&session.join("other"), 30);
    let output = isochrone(&cache, &["index", "-q", "-o", store.to_str().unwrap()], &[&session]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for arguments in [
        &["events"][..],
        &["events", "--format", "json"],
        &["info", "--format", "json"],
        &["analyze", "cputop"],
        &["analyze", "states"],
        &["analyze", "processes", "--at", "1.01"],
    ] {
        let of = |path: &Path| isochrone(&cache, arguments, &[path]);
        let (from_store, from_traces) = (of(&store), of(&session));
        assert!(!from_store.stdout.is_empty(), "{arguments:?}: {}", text(&from_store.stderr));
        // Paths are shown as a store has them.
        let absolute = text(&from_store.stdout).replace(store.to_str().unwrap(), session.to_str().unwrap());
        assert_eq!(absolute, text(&from_traces.stdout), "{arguments:?}");
        assert_eq!(from_store.status.code(), from_traces.status.code(), "{arguments:?}");
    }
    // States of a store that was named come from it: nothing is made for them.
    fs::remove_dir_all(&cache).unwrap();
    assert_eq!(rows(&cache, &["states", "--pid", "9"], &[&store]).len(), 0);
    assert!(!rows(&cache, &["states", "--tid", "9"], &[&store]).is_empty());
    assert!(!cache.exists());
    fs::remove_dir_all(session.join("other")).unwrap();
    let output = isochrone(&cache, &["events"], &[&store]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("which no longer exists"), "{}", text(&output.stderr));
}

#[test]
fn options_that_states_do_not_use_are_errors() {
    let root = tempfile::tempdir().unwrap();
    small(root.path(), 4);
    let output = isochrone(root.path(), &["analyze", "states", "--min", "1ms", "--cpu", "0"], &[root.path()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--cpu does not apply to states"), "{}", text(&output.stderr));
    let output = isochrone(root.path(), &["analyze", "states,cputop"], &[root.path()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn pixels_are_at_most_as_many_rows() {
    let root = tempfile::tempdir().unwrap();
    let (cache, trace) = (root.path().join("cache"), root.path().join("trace"));
    small(&trace, 2000);
    let of = |pixels: &str| rows(&cache, &["states", "--tid", "9", "--pixels", pixels], &[&trace]).len();
    assert!(of("10") <= 20, "{}", of("10"));
    assert_eq!(of("100000"), 1999);
}

/// Several processes that need a store of the same traces at once make one, and all of them read that.
#[test]
fn several_processes_make_one_store() {
    let root = tempfile::tempdir().unwrap();
    let (cache, trace) = (root.path().join("cache"), root.path().join("trace"));
    small(&trace, 60_000);
    let spawn = |_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.env("XDG_CACHE_HOME", &cache).args(["analyze", "states", "--tid", "9", "--pixels", "50"]);
        command.arg(&trace).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = (0..6).map(spawn).collect();
    let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    let waits = |output: &&Output| String::from_utf8_lossy(&output.stderr).contains("waiting for it");
    assert!(outputs.iter().filter(waits).count() < outputs.len());
    assert_eq!(fs::read_dir(cache.join("isochrone")).unwrap().count(), 1);
}

/// What is wrong with a store is said once.
#[test]
fn a_missing_table_is_named() {
    let root = tempfile::tempdir().unwrap();
    let (trace, store) = (root.path().join("trace"), root.path().join("a.store"));
    small(&trace, 100);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let cache = root.path().join("cache");
    assert!(isochrone(&cache, &["index", "-o", &text(&store)], &[&trace]).status.success());
    let host = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let gone = host.unwrap().join("slices.arrow");
    fs::remove_file(&gone).unwrap();
    let said = isochrone(&cache, &["states", "--store", &text(&store)], &[&trace]);
    let expect = format!("isochrone: {}: No such file or directory\n", gone.display());
    assert_eq!(String::from_utf8(said.stderr).unwrap(), expect);
}

/// Killed at any instant, `index` leaves the store that was there, a complete new one, or none.
#[test]
fn a_store_is_there_as_a_whole_or_not_at_all() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    let (cache, trace, store) = (path("cache"), path("trace"), path("a.store"));
    small(&trace, 60_000);
    let states = |store: &Path| {
        let store = store.to_str().unwrap();
        rows(&cache, &["states", "--tid", "9", "--store", store, "--pixels", "50"], &[&trace])
    };
    let index = |store: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(["index", "-o"]).arg(store).arg(&trace).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let whole = path("whole.store");
    let begun = std::time::Instant::now();
    assert!(index(&whole).wait().unwrap().success());
    let took = begun.elapsed();
    let expect = states(&whole);
    let mut complete = 0;
    // Where the machine has become slower meanwhile, later instants are tried, too.
    for turn in 0..250 {
        if turn >= 50 && complete > 0 {
            break;
        }
        let mut child = index(&store);
        std::thread::sleep(took * turn / 45 + Duration::from_micros(u64::from(turn) * 37 % 200));
        let _ = child.kill();
        child.wait().unwrap();
        if store.exists() {
            complete += 1;
            assert_eq!(states(&store), expect, "turn {turn}");
        }
    }
    assert!(complete > 0);
    // What killed ones left beside it is no store, and is not taken for one.
    assert!(fs::read_dir(root.path()).unwrap().all(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        ["cache", "trace", "a.store", "whole.store"].contains(&name.as_str()) || name.starts_with(".a.store.")
    }));
}
