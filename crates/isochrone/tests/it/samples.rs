//! Flame graphs of samples: held against what `perf script` prints of a small recording of
//! `data/samples/turns.c`, whose program was linked by lld; and of events of LTTng with stacks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isochrone_testkit::{FieldValue, LttngTrace};
use serde_json::Value;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/samples").join(name);
    path.to_str().unwrap().to_owned()
}

fn isochrone(arguments: &[&str], traces: &[PathBuf]) -> Output {
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache.path()).args(arguments).args(traces).output().unwrap()
}

fn recording() -> [PathBuf; 1] {
    [data("perf.data").into()]
}

/// Collapsed stacks, and what was said.
fn flame(arguments: &[&str]) -> (Vec<String>, String) {
    let said = isochrone(&[&["flame"], arguments].concat(), &recording());
    let [out, err] = [said.stdout, said.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(said.status.success(), "{err}");
    (out.lines().map(str::to_owned).collect(), err)
}

/// The number of samples of some lines.
fn total(lines: &[String]) -> u64 {
    lines.iter().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn stacks_are_those_of_perf() {
    let kernel = format!("[kernel]={}", data("kallsyms.txt"));
    let (drawn, notes) = flame(&["--symbols", &data("turns"), "--symbols", &kernel]);
    let expect = std::fs::read_to_string(data("stacks.txt")).unwrap();
    let mut expect: Vec<&str> = expect.lines().collect();
    let mut found: Vec<&str> = drawn.iter().map(String::as_str).collect();
    expect.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expect);
    // A function that a child called which executed no program of its own is found in what its parent
    // mapped, and one that executed a program in what that mapped.
    assert!(found.iter().any(|line| line.starts_with("vm turns;libc.so.6;main;child;spin ")));
    assert!(
        notes.contains("functions of libc.so.6 have no names, in 105 of 105 events: see --symbols"),
        "{notes}"
    );
    assert!(!notes.contains("functions of [kernel]"), "{notes}");
}

#[test]
fn without_names_files_are_drawn() {
    let (drawn, notes) = flame(&[]);
    assert!(drawn.iter().any(|line| line.starts_with("vm turns;libc.so.6;turns;turns;turns ")), "{drawn:?}");
    assert!(drawn.iter().any(|line| line.contains(";libc.so.6;[kernel];[kernel]")), "{drawn:?}");
    assert_eq!(total(&drawn), 105);
    for file in ["turns", "[kernel]", "libc.so.6"] {
        assert!(notes.contains(&format!("functions of {file} have no names, in ")), "{file}: {notes}");
    }
}

#[test]
fn windows_and_threads_are_those_of_events() {
    let count = |options: &[&str]| total(&flame(&[&["-q"], options].concat()).0);
    assert_eq!(count(&["--begin", "+1s"]) + count(&["--end", "+1s"]), 105);
    assert_eq!((count(&["--procname", "turns"]), count(&["--procname", "other"])), (105, 0));
    assert_eq!((count(&["--event", "cpu*"]), count(&["--event", "cycles"])), (105, 0));
    let events = isochrone(
        &["events", "-q", "--count", "--by", "pid", "--event", "cpu-clock", "--format", "json"],
        &recording(),
    );
    let events = String::from_utf8(events.stdout).unwrap();
    let rows: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3, "{events}");
    for row in rows {
        assert_eq!(Value::from(count(&["--pid", &row["pid"].to_string()])), row["count"], "{events}");
    }
}

/// A part of a recording is a trace with the events of that time; what was mapped before is not in it.
#[test]
fn a_cut_of_a_recording_has_its_events() {
    let window = ["--begin", "+500ms", "--end", "+1s"];
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("part");
    let cut = isochrone(&[&["cut", "-q", "-o", to.to_str().unwrap()][..], &window].concat(), &recording());
    assert!(cut.status.success(), "{}", String::from_utf8_lossy(&cut.stderr));
    let events = |options: &[&str], traces: &[PathBuf]| {
        let said = isochrone(&[&["events", "-q", "--format", "json"], options].concat(), traces);
        String::from_utf8(said.stdout).unwrap()
    };
    let (whole, part) = (events(&window, &recording()), events(&[], std::slice::from_ref(&to)));
    assert_eq!(whole.lines().count(), 37);
    assert_eq!(whole, part);
    let drawn = isochrone(&["flame"], &[to]);
    assert!(String::from_utf8(drawn.stderr).unwrap().contains("functions of [unknown] have no names"));
}

#[test]
fn a_picture_has_numbers_of_events() {
    let said = isochrone(&["flame", "-q", "--format", "svg"], &recording());
    let svg = String::from_utf8(said.stdout).unwrap();
    assert!(svg.contains("Number of events by the calls in which they were recorded"), "{svg}");
    assert!(svg.contains("<title>vm turns: 105 events"), "{svg}");
}

#[test]
fn what_cannot_be_drawn_is_named() {
    let check = |arguments: &[&str], traces: &[PathBuf], expect: &str| {
        let said = isochrone(&[&["flame"], arguments].concat(), traces);
        let text = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expect), "{arguments:?}: {text}");
    };
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // Another build of the program, as its ID says.
    let mut other = std::fs::read(data("turns")).unwrap();
    let id = other.windows(4).position(|it| it == [0xbf, 0x12, 0xf6, 0xfb]).unwrap();
    other[id] ^= 1;
    check(&["--symbols", &write("turns", &other)], &recording(), "is another build than ");
    check(&["--symbols", &write("turns", &other[..100])], &recording(), "turns");
    let names = write("names.txt", b"0000000000001900 T main\n");
    check(&["--symbols", &names], &recording(), "give the program or the library itself");
    let hidden = format!("[kernel]={}", write("hidden.txt", b"0000000000000000 T a\n0000000000000000 T b\n"));
    check(&["--symbols", &hidden], &recording(), "addresses of the kernel's functions are hidden");
    check(&["--store", "s"], &recording(), "--store does not apply to samples");
    let shop = [Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop/db")];
    check(&["--of", "samples"], &shop, "no event was recorded with its stack of calls");
    check(&["--event", "sched*"], &shop, "--event chooses samples");
    let (_, notes) = flame(&["--symbols", &format!("libother.so={}", data("turns"))]);
    assert!(notes.contains("is in the stacks"), "{notes}");
}

/// Events of LTTng: kinds of events are apart, and stacks end where the kernel ended them.
#[test]
fn events_of_lttng_with_stacks() {
    let mut trace = LttngTrace::kernel("web");
    let addresses = |name: &str| {
        format!(
            "integer {{ size = 32; align = 8; }} __{name}_length; \
             integer {{ size = 64; align = 8; base = 16; }} _{name}[__{name}_length]; "
        )
    };
    let names =
        "integer { size = 32; align = 8; signed = true; } _pid; string { encoding = UTF8; } _procname; ";
    trace.context(&(names.to_owned() + &addresses("callstack_kernel")));
    for name in ["sched_switch", "block_rq_issue"] {
        trace.define(name, "");
    }
    let stack = |addresses: &[u64]| FieldValue::Array(addresses.iter().map(|&it| it.into()).collect());
    let mut event = |at: u64, name: &str, addresses: &[u64]| {
        let fields = [
            ("context.pid", 7.into()),
            ("context.procname", "app".into()),
            ("context.callstack_kernel", stack(addresses)),
        ];
        trace.event(0, at, name, &fields);
    };
    event(1_000, "sched_switch", &[0x1100, 0x2000, u64::MAX]);
    event(2_000, "sched_switch", &[0x1100, 0x2000]);
    event(3_000, "block_rq_issue", &[0x3000]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web");
    trace.write(&path).unwrap();
    // Where a call returns to is behind it: the last call of a function returns to the next function.
    let kallsyms = "0000000000001000 T schedule\n0000000000001800 T wait\n0000000000002000 T next\n\
                    0000000000003000 T submit\n0000000000004000 T end\n";
    let names = directory.path().join("kallsyms.txt");
    std::fs::write(&names, kallsyms).unwrap();
    let symbols = format!("[kernel]={}", names.display());
    let drawn = |options: &[&str]| {
        let said =
            isochrone(&[&["flame", "--symbols", &symbols], options].concat(), std::slice::from_ref(&path));
        [said.stdout, said.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [out, notes] = drawn(&[]);
    assert_eq!(
        out, "web app;block_rq_issue;submit_[k] 1\nweb app;sched_switch;wait_[k];schedule_[k] 2\n",
        "{notes}"
    );
    assert!(notes.contains("addresses of programs' stacks were not recorded"), "{notes}");
    assert_eq!(drawn(&["--event", "sched_switch"])[0], "web app;wait_[k];schedule_[k] 2\n");
    // Another host has another kernel.
    let mut other = LttngTrace::kernel("db");
    other.context(&addresses("callstack_kernel")).define("sched_switch", "");
    other.event(0, 1_000, "sched_switch", &[("context.callstack_kernel", stack(&[0x1100]))]);
    let of_other = directory.path().join("db");
    other.write(&of_other).unwrap();
    let refused = isochrone(&["flame", "--symbols", &symbols], &[path.clone(), of_other.clone()]);
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("choose one of db, web with --host"), "{words}");
    let one = isochrone(&["flame", "-q", "--symbols", &symbols, "--host", "db"], &[path.clone(), of_other]);
    assert_eq!(String::from_utf8(one.stdout).unwrap(), "db ?;schedule_[k] 1\n");
}
