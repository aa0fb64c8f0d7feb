//! Traces of real hosts: rotated kernels and programs, CPUs that rotate one after the other, times that step back.

use crate::common::{open, same_for_all_cuts, shared};
use isochrone_hosts::{Hosts, Note};
use isochrone_pipeline::{Cuts, Plan};

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cuts_change_nothing() {
    // Part of the data, and for each host: archives, events.
    let all: [(&str, &[(usize, u64)]); 6] = [
        ("vm/rot2", &[(6, 81_553), (3, 93_971)]),
        ("vm/phases3", &[(0, 26_679), (5, 128_075), (0, 25_777)]),
        ("ust/rotated/single_host", &[(6, 6_430)]),
        // Two sessions of one machine, which has one clock.
        ("ust/rotated/two_hosts", &[(6, 0)]),
        ("scp/scp_src", &[(0, 110_771)]),
        ("scp/scp_dest", &[(0, 85_729)]),
    ];
    for (part, expect) in all {
        let path = shared(part);
        let traces = open(&path);
        let hosts = Hosts::group(&traces);
        assert_eq!((hosts.hosts.len(), hosts.left_out.len()), (expect.len(), 0), "{part}");
        for (host, &(archives, events)) in hosts.hosts.iter().zip(expect) {
            let report = same_for_all_cuts(host).report;
            assert_eq!(host.archives().len(), archives, "{part}: {}", host.name);
            assert!(
                events == 0 || report.events == events,
                "{part}: {}: {} events",
                host.name,
                report.events
            );
            assert!(host.archives().is_sorted_by_key(|archive| archive.switched));
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn two_chunks_are_enough_for_an_effective_archive() {
    let path = shared("vm/phases3/h2");
    let traces = open(&path);
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let plan = Plan::new(host, &Cuts::Archives);
    assert_eq!(plan.steps().len(), 5);
    for (number, step) in plan.steps().iter().enumerate() {
        let near = host.archives().iter().skip(number).take(2);
        let pair: Vec<_> = near.flat_map(|archive| &archive.traces).map(|&n| host.traces()[n]).collect();
        let alone = Hosts::group(pair);
        let times = |events: isochrone_hosts::HostEvents<'_, '_>| {
            let items = events.filter_map(|item| match item {
                isochrone_hosts::Item::Event { time, event, .. } => Some((time, event.class().id)),
                isochrone_hosts::Item::Loss(_) | isochrone_hosts::Item::LossBegin(_) => None,
            });
            items.collect::<Vec<_>>()
        };
        let whole = times(host.read(step.piece.window()));
        assert!(whole.len() > 1000, "{}", whole.len());
        assert!(whole == times(alone.hosts[0].read(step.piece.window())), "piece {number}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_missing_chunk_is_found() {
    let path = shared("vm/rot2/h1");
    let mut traces = open(&path);
    let count = traces.len();
    traces.remove(count / 2);
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    same_for_all_cuts(host);
    assert_eq!(host.gaps().len(), 1);
    assert!(matches!(host.notes()[..], [Note::MissingChunk { .. }, Note::Lost { .. }]), "{:?}", host.notes());
    let gap = host.gaps()[0];
    assert!(gap.end - gap.start > 1_000_000_000, "{gap:?}");
}
