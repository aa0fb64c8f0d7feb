//! A watch over days: what is kept of hundreds of chunks takes no more room than what is kept of some dozens.

use std::fs;
use std::path::Path;
use std::time::Duration;

use isochrone_analysis::{AnalysisKind, Options};
use isochrone_experiment::{Retention, Spread, Watch, Watched};
use isochrone_testkit::LttngTrace;

const CHUNKS: u64 = 300;
const CHUNK_NS: u64 = 20_000_000;
const BEGIN_NS: u64 = 1_000_000_000;

/// A machine on which a process runs in every chunk: always the same one, or one with a number of its own that ends then.
fn session(directory: &Path, has_deaths: bool) {
    let number = "integer { size = 32; align = 8; signed = 1; }";
    let name = "integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }";
    let mut trace = LttngTrace::kernel("web1");
    trace.define("sched_process_exit", &format!("{name} _comm[16]; {number} _tid; {number} _prio;"));
    trace.context(&format!("{number} _tid; {number} _pid;"));
    for chunk in 0..CHUNKS {
        let tid = if has_deaths { 1000 + chunk as i64 } else { 1000 };
        let at = |step: u64| BEGIN_NS + chunk * CHUNK_NS + 1_000_000 + step * 100_000;
        let left = if has_deaths { 16 } else { 1 };
        let state = |from: i64| if from == 0 { 0 } else { left };
        let switch = |from: i64, to: i64| {
            [
                ("prev_comm", "work".into()),
                ("prev_tid", from.into()),
                ("prev_state", state(from).into()),
                ("next_comm", "work".into()),
                ("next_tid", to.into()),
            ]
        };
        let idle = [("context.tid", 0.into()), ("context.pid", 0.into())];
        trace.event(0, at(0), "sched_switch", &[&idle[..], &switch(0, tid)].concat());
        let who = [("context.tid", tid.into()), ("context.pid", tid.into())];
        if has_deaths {
            let exit = [("comm", "work".into()), ("tid", tid.into())];
            trace.event(0, at(7), "sched_process_exit", &[&who[..], &exit].concat());
        }
        trace.event(0, at(8), "sched_switch", &[&who[..], &switch(tid, 0)].concat());
    }
    let cuts: Vec<u64> = (1..CHUNKS).map(|chunk| BEGIN_NS + chunk * CHUNK_NS).collect();
    trace.write_rotated(directory, &cuts).unwrap();
    for chunk in 0..CHUNKS {
        let archives = directory.join("archives");
        fs::rename(archives.join(chunk.to_string()), archives.join(format!("T-T-{chunk}"))).unwrap();
    }
}

/// Bytes of the journal after each chunk.
fn sizes(kinds: &[AnalysisKind], has_deaths: bool) -> Vec<u64> {
    let directory = tempfile::tempdir().unwrap();
    let (state, traces) = (directory.path().join("state"), directory.path().join("traces"));
    session(&traces, has_deaths);
    let options = Options::default();
    let watched = Watched {
        directories: vec![traces.clone()],
        state: Some(state.clone()),
        kinds,
        options: &options,
        pieces: None,
        corrections: None,
        patience: Duration::from_secs(1000),
        retention: Retention { age: None, bytes: Some(0) },
        has_steps: false,
        is_published: false,
        spread: Spread { threads: Some(std::num::NonZeroUsize::MIN), pieces: None },
    };
    let mut watch = Watch::new(watched).unwrap();
    let mut found = Vec::new();
    let mut changes = watch.find(false).unwrap();
    while watch.advance(false, &mut changes).unwrap().is_some() {
        let files = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        found.push(files.sum());
    }
    assert_eq!(found.len() as u64, CHUNKS - 1);
    // All chunks but the last that was mapped and the one after it are deleted.
    watch.find(false).unwrap();
    assert_eq!(fs::read_dir(traces.join("archives")).unwrap().count(), 2);
    let [progress] = watch.progress(false).try_into().unwrap();
    assert_eq!((progress.chunks, progress.losses, progress.waiting), (CHUNKS - 1, 0, 1));
    found
}

fn kinds(names: &[&str]) -> Vec<AnalysisKind> {
    names.iter().map(|name| AnalysisKind::of(name).unwrap()).collect()
}

#[test]
fn days_take_no_more_room() {
    let names = ["cputop", "irqstats", "schedfreq", "schedstats"];
    let sizes = sizes(&kinds(&names), false);
    let (after_50, last) = (sizes[49], sizes[sizes.len() - 1]);
    // Numbers take a byte more where they have become larger.
    assert!(last <= after_50 + 128, "{after_50} bytes after 50 chunks, {last} after {CHUNKS}");
}

/// Of a thread that has ended, its name stays, and its row in tables that have one for each thread that ever was.
#[test]
fn of_ended_threads_names_and_rows_stay() {
    let check = |names: &[&str], most: u64| {
        let sizes = sizes(&kinds(names), true);
        let (after_50, last) = (sizes[49], sizes[sizes.len() - 1]);
        let each = (last - after_50) / (CHUNKS - 50);
        assert!(
            each <= most,
            "{names:?}: {each} bytes for a thread: {after_50} after 50, {last} after {CHUNKS}"
        );
    };
    check(&["irqstats", "schedfreq"], 64);
    check(&["cputop", "schedstats"], 400);
}
