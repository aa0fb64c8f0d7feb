//! Synchronized copies: every time where the correction puts it, everything else as it was.

use std::path::{Path, PathBuf};

use isochrone_corrections::Clocks;
use isochrone_ctf::schema::{ClockClass, ClockOrigin, Schema, Scope};
use isochrone_ctf::write::{rewrite_trace_as, to_ctf_2};
use isochrone_ctf::{Trace, Value, ValueVisitor, find_traces};
use isochrone_files::Inputs;
use isochrone_sync::copies::{self, Copied};
use isochrone_sync::{Options, Outcome, synchronize};
use isochrone_testkit::{Cluster, EventHeader, Family, LttngTrace, SimClock};
use isochrone_time::RawNs;

const S: i64 = 1_000_000_000;

/// Two hosts that talk for ten seconds; the second one's clock as given.
fn pair(second: SimClock) -> Cluster {
    Cluster::chain(2).seconds(10).messages(400).clock(0, SimClock::new(20 * S, 0)).clock(1, second)
}

/// Synchronizes the given directories on the clock of host 0 and writes copies.
fn copy(root: &Path, cluster: &Cluster) -> (Inputs, Outcome, Vec<Copied>) {
    let arguments: Vec<PathBuf> = cluster.hosts.iter().map(|host| root.join(&host.name)).collect();
    let inputs = Inputs::open(&arguments);
    assert_eq!(inputs.refused, []);
    let options = Options { reference: Some(cluster.hosts[0].name.clone()), ..Options::default() };
    let outcome = synchronize(&inputs, &options, &|_| {}).unwrap();
    assert!(!outcome.partial);
    let clocks = Clocks::new(&outcome.artefact).unwrap();
    let copied = copies::write(&inputs, &clocks, &root.join("copies")).unwrap();
    (inputs, outcome, copied)
}

/// All events of a trace in stream order: Unix time, name, context and payload.
fn events(trace: &Trace) -> Vec<(i128, String, Option<Value>, Option<Value>)> {
    assert_eq!(trace.diagnostics(), []);
    let mut all = Vec::new();
    for stream in 0..trace.streams().len() {
        let clock = trace.clock(stream).unwrap();
        let mut events = trace.events(stream);
        for event in events.by_ref() {
            let [common, payload] = [Scope::CommonContext, Scope::Payload].map(|scope| {
                let mut visitor = ValueVisitor::default();
                event.visit(scope, &mut visitor).unwrap();
                visitor.into_value()
            });
            let time = clock.ns_from_origin(event.cycles().unwrap());
            all.push((time, event.name().unwrap().to_owned(), common, payload));
        }
        assert_eq!(events.diagnostics(), []);
    }
    all
}

/// Holds every copy against its original.
fn check(inputs: &Inputs, outcome: &Outcome, copied: &[Copied]) {
    let clocks = Clocks::new(&outcome.artefact).unwrap();
    assert_eq!(copied.len(), inputs.traces.len());
    for (input, copied) in inputs.traces.iter().zip(copied) {
        let copy = Trace::open(&copied.target).unwrap();
        let clock = clocks.of_trace(&input.trace).unwrap();
        let own_offset = input.trace.schema().single_clock().unwrap().offset_ns();
        let moved = |unix: i128| clock.unix(RawNs(i64::try_from(unix - own_offset).unwrap())).0;
        let expected: Vec<_> =
            events(&input.trace).into_iter().map(|e| (moved(e.0), e.1, e.2, e.3)).collect();
        assert_eq!(events(&copy), expected, "{}", copied.target.display());
        // Losses and packets are still there, and every packet's own times hold its events.
        for (stream, of) in copy.streams().iter().enumerate() {
            assert_eq!(copy.losses(stream).len(), input.trace.losses(stream).len());
            for (number, packet) in of.packets.iter().enumerate() {
                for event in copy.packet(stream, number) {
                    let time = event.cycles().unwrap();
                    assert!(packet.begin().unwrap() <= time && time <= packet.end().unwrap());
                }
            }
        }
    }
}

/// Writes a cluster whose second host has gaps between events around the 27 bits of its headers.
fn with_gaps(root: &Path, cluster: &Cluster, aligned: bool) {
    let simulation = cluster.simulate().unwrap();
    for host in 0..2 {
        let layout = |trace: &mut LttngTrace| {
            trace.header(EventHeader::Compact).aligned(aligned);
        };
        let mut trace = cluster.trace(&simulation, host, Family::IPV4, layout).unwrap();
        let mut time = cluster.hosts[host].clock.raw(0) as u64 + 11 * S as u64;
        for gap in [(1 << 27) - 1, (1 << 27) - 2, (1 << 27) - 500, (1 << 27) - 20_000, 1 << 27, (1 << 28) - 1]
        {
            for _ in 0..3 {
                time += gap;
                trace.event(0, time, "irq_handler_entry", &[("irq", 7.into()), ("name", "timer".into())]);
            }
        }
        trace.write(&root.join(&cluster.hosts[host].name).join("kernel")).unwrap();
    }
}

#[test]
fn gaps_that_outgrow_the_header_get_the_long_one() {
    for aligned in [false, true] {
        // 100 ppm slow: its gaps stretch by some 13 µs.
        let cluster = pair(SimClock::new(30 * S, -100_000));
        let root = tempfile::tempdir().unwrap();
        with_gaps(root.path(), &cluster, aligned);
        let (inputs, outcome, copied) = copy(root.path(), &cluster);
        check(&inputs, &outcome, &copied);
        // Of the second host's late events nine have a gap that fits and stretches beyond; the first of these follows a
        // long pause and had the long header before. The copy is longer by eight of them.
        let content = |trace: &Trace| -> u64 {
            trace.streams().iter().flat_map(|s| &s.packets).map(|p| p.content_bits).sum()
        };
        let grown = content(&Trace::open(&copied[1].target).unwrap()) - content(&inputs.traces[1].trace);
        if !aligned {
            assert_eq!(grown, 8 * 9 * 8, "eight events, each nine bytes longer");
        }
    }
}

#[test]
fn no_time_is_negative_whoever_booted_first() {
    for boot in [-15 * S, 500 * S] {
        let cluster = pair(SimClock::new(20 * S + boot, 40_000));
        let root = tempfile::tempdir().unwrap();
        cluster.write(root.path(), Family::IPV4).unwrap();
        let (inputs, outcome, copied) = copy(root.path(), &cluster);
        check(&inputs, &outcome, &copied);
        let clocks = copied.iter().map(|c| Trace::open(&c.target).unwrap().schema().clocks.clone());
        let clocks: Vec<_> = clocks.collect();
        assert_eq!(clocks[0], clocks[1], "copies share one clock description");
        assert_eq!(clocks[0][0].uuid, inputs.traces[0].trace.schema().clocks[0].uuid);
    }
}

#[test]
fn a_host_that_was_up_longer_reaches_back_before_the_reference_booted() {
    // The second host's trace begins 100 s before the reference's clock does.
    let cluster = pair(SimClock::new(200 * S, 10_000));
    let root = tempfile::tempdir().unwrap();
    let simulation = cluster.simulate().unwrap();
    cluster
        .trace(&simulation, 0, Family::IPV4, |_| {})
        .unwrap()
        .write(&root.path().join(&cluster.hosts[0].name))
        .unwrap();
    let early = cluster.hosts[1].clock.raw(-120 * S) as u64;
    let mut second = cluster
        .trace(&simulation, 1, Family::IPV4, |trace| {
            trace.cpus(2);
        })
        .unwrap();
    second.event(1, early, "irq_handler_entry", &[("irq", 1.into())]);
    second.write(&root.path().join(&cluster.hosts[1].name)).unwrap();
    let (inputs, outcome, copied) = copy(root.path(), &cluster);
    check(&inputs, &outcome, &copied);
    let clock = &Trace::open(&copied[0].target).unwrap().schema().clocks[0].clone();
    let original = &inputs.traces[0].trace.schema().clocks[0];
    assert!(clock.offset_ns() < original.offset_ns(), "the zero had to move");
    assert_eq!((original.offset_ns() - clock.offset_ns()) % i128::from(S), 0, "by whole seconds");
}

#[test]
fn rotated_archives_keep_their_tree() {
    let cluster = pair(SimClock::new(31 * S, -60_000));
    let root = tempfile::tempdir().unwrap();
    let simulation = cluster.simulate().unwrap();
    for (host, cuts) in [(0, vec![23, 27]), (1, vec![36])] {
        let cuts: Vec<u64> = cuts.into_iter().map(|s: i64| (s * S) as u64).collect();
        let mut trace = cluster.trace(&simulation, host, Family::IPV4, |_| {}).unwrap();
        trace.write_rotated(&root.path().join(&cluster.hosts[host].name), &cuts).unwrap();
    }
    let (inputs, outcome, copied) = copy(root.path(), &cluster);
    assert_eq!(inputs.traces.len(), 5);
    check(&inputs, &outcome, &copied);
    for host in &cluster.hosts {
        let (original, copy) =
            (root.path().join(&host.name), root.path().join("copies").join(format!("{}_", host.name)));
        let inner = |root: &Path| -> Vec<PathBuf> {
            let found = find_traces(root).unwrap().traces;
            found.iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect()
        };
        assert_eq!(inner(&original), inner(&copy));
    }
}

#[test]
fn copies_of_ctf_2_have_one_origin_and_an_identity_of_their_own() {
    let origin = || Some(ClockOrigin { namespace: None, name: "o".to_owned(), uid: "u".to_owned() });
    // Whether the second host's trace begins before the reference's clock does.
    for (early, absolute) in [(false, false), (true, false), (true, true)] {
        let cluster = pair(SimClock::new(200 * S, 10_000));
        let root = tempfile::tempdir().unwrap();
        let simulation = cluster.simulate().unwrap();
        for (number, host) in cluster.hosts.iter().enumerate() {
            let layout = |trace: &mut LttngTrace| {
                trace.cpus(2);
            };
            let mut trace = cluster.trace(&simulation, number, Family::IPV4, layout).unwrap();
            if early && number == 1 {
                let time = host.clock.raw(-120 * S) as u64;
                trace.event(1, time, "irq_handler_entry", &[("irq", 1.into())]);
            }
            let first = root.path().join("1.8").join(&host.name);
            trace.write(&first).unwrap();
            let trace = Trace::open(&first).unwrap();
            let schema = to_ctf_2(trace.schema()).unwrap();
            let clock = ClockClass {
                uuid: None,
                uid: Some(format!("clock of {}", host.name)),
                accuracy: Some(5),
                absolute,
                origin: origin().filter(|_| !absolute),
                ..schema.clocks[0].clone()
            };
            let schema = Schema { clocks: vec![clock], ..schema };
            rewrite_trace_as(&trace, &schema, &root.path().join(&host.name)).unwrap();
        }
        let (inputs, outcome, copied) = copy(root.path(), &cluster);
        check(&inputs, &outcome, &copied);
        let clocks: Vec<_> =
            copied.iter().map(|copy| Trace::open(&copy.target).unwrap().schema().clocks[0].clone()).collect();
        assert_eq!(clocks[0], clocks[1], "copies share one clock description");
        assert_eq!((clocks[0].absolute, &clocks[0].origin), (true, &None));
        assert_eq!(clocks[0].accuracy, absolute.then_some(5), "it belongs to the origin");
        let original = &inputs.traces[0].trace.schema().clocks[0];
        let moved = clocks[0].offset_ns() != original.offset_ns();
        assert_eq!((moved, clocks[0].uid != original.uid), (early, early), "{:?}", clocks[0].uid);
    }
}
