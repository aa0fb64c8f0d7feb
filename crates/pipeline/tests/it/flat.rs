//! The model of a host does not grow with its trace: what has ended is forgotten once it was emitted. So a host can be watched for days.

use isochrone_ctf::{Trace, find_traces};
use isochrone_hosts::Hosts;
use isochrone_kernel::PartialState;
use isochrone_pipeline::{Cuts, Plan, SpanMapper, map_piece};
use isochrone_testkit::{Generation, KernelScript};

/// Bytes of the model of a host after each so many pieces, merged one after the other as chunks of a rotated session are.
fn sizes(host: &KernelScript, pieces: usize, every: usize) -> Vec<usize> {
    let directory = tempfile::tempdir().unwrap();
    host.write(directory.path()).unwrap();
    let found = find_traces(directory.path()).unwrap().traces;
    let traces: Vec<Trace> = found.iter().map(|path| Trace::open(path).unwrap()).collect();
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let mapper = SpanMapper::new(|| ());
    let mut whole: Option<PartialState<()>> = None;
    let mut sizes = Vec::new();
    for (number, step) in (1..).zip(Plan::new(host, &Cuts::Times(pieces)).steps()) {
        let piece = map_piece(host, *step, &mapper, None).model;
        let merged = match whole.take() {
            Some(before) => PartialState::merge(before, piece).unwrap(),
            None => piece,
        };
        if number % every == 0 {
            sizes.push(postcard::to_stdvec(&merged).unwrap().len());
        }
        whole = Some(merged);
    }
    sizes
}

/// A host that does the same again and again: `act` gets the number of the turn, and when it begins, 1000 ns before the next one.
fn check(what: &str, act: impl Fn(&mut KernelScript, u64, u64)) {
    const TURNS: u64 = 4000;
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2);
    host.process(10, "sh").process(11, "cat").at(1).switch(0, 10);
    for turn in 0..TURNS {
        act(&mut host, turn, 1000 * (turn + 1));
    }
    host.at(1000 * (TURNS + 2)).irq_entry(1, "timer").irq_exit(1);
    let sizes = sizes(&host, 80, 8);
    let (early, late) = (sizes[1], sizes[sizes.len() - 1]);
    // A few numbers have more digits at the end.
    assert!(late <= early + early / 10 + 64, "{what}: {sizes:?} bytes");
}

#[test]
fn files_that_are_closed_are_forgotten() {
    check("one thread", |host, turn, at| {
        let path = format!("/var/lib/{turn}");
        let fields = [("dfd", (-100).into()), ("filename", path.as_str().into()), ("flags", 0.into())];
        host.at(at).enter("openat", &fields).after(10).exit("openat", 3);
        host.at(at + 100).enter("read", &[("fd", 3.into()), ("count", 10.into())]).after(10).exit("read", 10);
        host.at(at + 200).enter("close", &[("fd", 3.into())]).after(10).exit("close", 0);
    });
    check("two processes", |host, turn, at| {
        let (prev, next) = if turn % 2 == 0 { (10, 11) } else { (11, 10) };
        let path = format!("/var/lib/{turn}");
        let fields = [("dfd", (-100).into()), ("filename", path.as_str().into()), ("flags", 0.into())];
        host.at(at).switch(prev, next);
        host.at(at + 50).enter("openat", &fields).after(10).exit("openat", 3 + (turn % 7) as i64);
        let fd = 3 + (turn % 7) as i32;
        host.at(at + 100)
            .enter("read", &[("fd", fd.into()), ("count", 10.into())])
            .after(10)
            .exit("read", 10);
        host.at(at + 200).enter("close", &[("fd", fd.into())]).after(10).exit("close", 0);
    });
}

#[test]
fn threads_that_have_ended_are_forgotten() {
    check("forks", |host, turn, at| {
        // Numbers are given again, as Linux does.
        let tid = 100 + (turn % 300) as i32;
        host.at(at).fork(10, tid, tid);
        host.at(at + 100).switch(10, tid);
        host.at(at + 200).enter("read", &[("fd", 0.into()), ("count", 10.into())]).after(10).exit("read", 10);
        host.at(at + 300).process_exit();
        host.at(at + 400).switch_dead(tid, 10);
        host.at(at + 500).process_free(tid);
    });
}

#[test]
fn requests_that_are_done_are_forgotten() {
    check("disks", |host, turn, at| {
        host.at(at).block_insert(8, 100 * turn, 8).after(10).block_issue(8, 100 * turn, 8);
        host.at(at + 500).block_complete(8, 100 * turn, 8);
    });
}
