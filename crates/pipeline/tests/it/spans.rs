//! The model of a host is the same, byte for byte, for any cuts and any number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{open, shared};
use isochrone_ctf::Trace;
use isochrone_hosts::{Host, Hosts};
use isochrone_pipeline::{Cuts, Plan, run};
use isochrone_testkit::LttngTrace;

fn model(host: &Host<'_>, cuts: &Cuts, threads: usize) -> Vec<u8> {
    let part = run(host, &Plan::new(host, cuts), threads, || (), None).unwrap();
    postcard::to_stdvec(&(part.report, part.model)).unwrap()
}

fn same_for_all_cuts(what: &str, traces: &[Trace]) {
    for host in &Hosts::group(traces).hosts {
        let whole = model(host, &Cuts::Whole, 1);
        for (cuts, threads) in [
            (Cuts::Times(2), 1),
            (Cuts::Times(9), 2),
            (Cuts::Bytes(16), 3),
            (Cuts::Packets(23), 2),
            (Cuts::Archives, 2),
        ] {
            assert!(model(host, &cuts, threads) == whole, "{what}: {}: {cuts:?}", host.name);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cuts_change_nothing() {
    for part in ["vm/rot2", "vm/phases3", "ust/rotated/single_host", "scp/scp_src"] {
        let path = shared(part);
        same_for_all_cuts(part, &open(&path));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn nor_with_a_chunk_missing() {
    let path = shared("vm/rot2/h1");
    for missing in [1, 3] {
        let mut traces = open(&path);
        traces.remove(missing);
        same_for_all_cuts(&format!("chunk {missing}"), &traces);
    }
}

#[test]
fn nor_with_losses() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("web");
    host.cpus(3);
    for n in 0..600_u64 {
        let (cpu, time) = ((n * 7 % 5 % 3) as u32, 1_000 + n * 10);
        let (prev, next) = ((n * 3 % 7) as i32, ((n + 1) * 3 % 7) as i32);
        let tids = [("prev_tid", prev.into()), ("prev_state", 1.into()), ("next_tid", next.into())];
        host.event(cpu, time, "sched_switch", &tids);
        if n % 11 == 0 {
            host.discard(cpu, n % 3);
        }
        if n % 17 == 0 {
            host.end_packet((n % 3) as u32);
        }
    }
    host.write_rotated(directory.path(), &[2_000, 3_000, 5_005]).unwrap();
    same_for_all_cuts("discarded", &open(directory.path()));
    std::fs::remove_dir_all(directory.path().join("archives/1")).unwrap();
    let traces = open(directory.path());
    assert_eq!(Hosts::group(&traces).hosts[0].gaps().len(), 1);
    same_for_all_cuts("discarded, and a chunk missing", &traces);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn progress_counts_all_bytes() {
    let path = shared("vm/rot2/h2");
    let traces = open(&path);
    let host = &Hosts::group(&traces).hosts[0];
    let seen = AtomicU64::new(0);
    let count = |bytes| {
        seen.fetch_add(bytes, Ordering::Relaxed);
    };
    run(host, &Plan::for_threads(host, 2), 2, || (), Some(&count)).unwrap();
    let events = |trace: &Trace, stream| trace.events(stream).map(|event| event.size()).sum::<u64>();
    let all = |trace: &Trace| (0..trace.streams().len()).map(|stream| events(trace, stream)).sum::<u64>();
    assert_eq!(seen.into_inner(), traces.iter().map(all).sum::<u64>());
}
