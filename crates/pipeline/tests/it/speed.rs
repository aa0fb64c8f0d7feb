//! How fast events come out of a host: to be run by hand, with optimization.

#![allow(clippy::print_stderr)] // A measurement prints its result.

use std::time::Instant;

use crate::common::open;
use isochrone_hosts::{Hosts, Item};
use isochrone_pipeline::{Cuts, Piece, Plan};
use isochrone_testkit::Bulk;

#[test]
#[ignore = "a measurement: cargo test --release -p isochrone-pipeline --test it speed:: -- --ignored --nocapture"]
fn events_of_one_core() {
    let directory = tempfile::tempdir().unwrap();
    let events = 10_000_000;
    Bulk { events, cpus: 8, ..Bulk::default() }.write(directory.path()).unwrap();
    let traces = open(directory.path());
    let host = &Hosts::group(&traces).hosts[0];
    let measure = |name: &str, pieces: &mut dyn Iterator<Item = Piece>| {
        let (begin, mut count, mut sum) = (Instant::now(), 0_u64, 0_i64);
        for piece in pieces {
            for item in host.read(piece.window()) {
                if let Item::Event { time, .. } = item {
                    count += 1;
                    sum ^= time.ns();
                }
            }
        }
        assert_eq!(count, events, "{sum}");
        eprintln!("{name}: {:.1} M events/s", count as f64 / begin.elapsed().as_secs_f64() / 1e6);
    };
    for _ in 0..2 {
        measure("whole", &mut [Piece::WHOLE].into_iter());
        let plan = Plan::new(host, &Cuts::Bytes(16));
        measure("16 pieces", &mut plan.steps().iter().map(|step| step.piece));
        let streams = 0..traces[0].streams().len();
        let merge =
            isochrone_ctf::merge::Merge::new(streams.map(|n| (n, traces[0].events(n))), |_, event| {
                event.cycles()
            });
        let (begin, mut sum) = (Instant::now(), 0);
        let count = merge.inspect(|&(_, time, _)| sum ^= time.unwrap_or(0)).count();
        eprintln!(
            "the reader's merge: {:.1} M events/s ({sum})",
            count as f64 / begin.elapsed().as_secs_f64() / 1e6
        );
    }
}
