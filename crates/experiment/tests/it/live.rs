//! Traces that grow while their hosts are synchronized on the way: every event comes once, within bounds that
//! hold for the clocks that are known here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use isochrone_ctf::live::LiveTrace;
use isochrone_ctf::{Error, Trace};
use isochrone_experiment::{LiveBase, LiveEvents, synchronize_growing};
use isochrone_testkit::{Cluster, Family, LttngTrace, Random, SimClock};
use isochrone_time::{RawNs, UnixNs};

/// How far the simulated clocks are from the truth by rounding, ns.
const ROUNDING_NS: i64 = 2;

/// A trace of one stream, of which packets are there up to some index.
struct Growing {
    whole: Trace,
    directory: PathBuf,
    packets: usize,
}

impl Growing {
    fn new(whole: &Path, directory: PathBuf) -> Self {
        fs::create_dir_all(&directory).unwrap();
        fs::copy(whole.join("metadata"), directory.join("metadata")).unwrap();
        let mut all = Self { whole: Trace::open(whole).unwrap(), directory, packets: 0 };
        all.grow(0);
        all
    }

    fn total(&self) -> usize {
        self.whole.streams()[0].packets.len()
    }

    /// Brings the packets up to an index.
    fn grow(&mut self, packets: usize) {
        let stream = &self.whole.streams()[0];
        let bytes = fs::read(self.whole.path().join(&stream.file)).unwrap();
        let end = stream.packets.get(packets).map_or(bytes.len(), |packet| packet.offset as usize);
        fs::write(self.directory.join(&stream.file), &bytes[..end]).unwrap();
        self.packets = packets;
    }

    fn state(&self) -> LiveTrace {
        let next = self.whole.streams()[0].packets.get(self.packets);
        let through = next.and_then(isochrone_ctf::Packet::begin);
        LiveTrace { directory: self.directory.clone(), through, is_over: next.is_none() }
    }
}

/// An event that was shown: its trace, its raw time, its time with bounds, the reference and its zero.
struct Shown {
    trace: usize,
    raw: RawNs,
    unix: UnixNs,
    bounds: (UnixNs, UnixNs),
    reference: String,
    offset_ns: i64,
}

fn read(events: &mut LiveEvents, growing: &[LiveTrace], traces: &[PathBuf]) -> Vec<Shown> {
    let mut shown = Vec::new();
    let result = events.read(growing, true, |sources, _, ready| {
        for (source, unix, event) in ready {
            let source = &sources[source];
            let (stamp, clock) = (source.stamp(&event).unwrap(), source.clock().unwrap());
            assert!(!source.is_outside(&event), "no bounds are known there");
            shown.push(Shown {
                trace: traces.iter().position(|path| path == source.input.path()).unwrap(),
                raw: source.raw(&event).unwrap(),
                unix: unix.unwrap(),
                bounds: (stamp.lo.unwrap(), stamp.hi.unwrap()),
                reference: clock.reference.clone(),
                offset_ns: clock.reference_offset_ns,
            });
        }
        Ok::<(), Error>(())
    });
    result.unwrap();
    shown
}

fn check(seed: u64) {
    let mut random = Random::new(seed).part(21);
    let cluster = match seed % 3 {
        0 => Cluster::chain(3),
        1 => Cluster::star(4),
        _ => Cluster::mesh(3),
    };
    let cluster = cluster.seeded(seed).seconds(20).messages(300);
    let directory = tempfile::tempdir().unwrap();
    let (whole, live) = (directory.path().join("whole"), directory.path().join("live"));
    cluster.write_with(&whole, Family::IPV4, |_, trace| _ = trace.packet_size(1024)).unwrap();
    let names: Vec<&str> = cluster.hosts.iter().map(|host| host.name.as_str()).collect();
    let clocks: BTreeMap<&str, &SimClock> =
        cluster.hosts.iter().map(|host| (host.name.as_str(), &host.clock)).collect();
    let mut growing: Vec<Growing> =
        names.iter().map(|name| Growing::new(&whole.join(name).join("kernel"), live.join(name))).collect();
    let directories: Vec<PathBuf> = growing.iter().map(|trace| trace.directory.clone()).collect();
    let steps = 12;
    let mut events = LiveEvents::new(LiveBase::OnTheWay);
    let (mut all, mut reference, mut early) = (Vec::new(), None, 0);
    for step in 1..=steps {
        for trace in &mut growing {
            // Hosts are not received equally far.
            let late = if step == steps { 0 } else { random.below(4) as usize };
            let packets = (trace.total() * step / steps).saturating_sub(late).max(trace.packets);
            trace.grow(packets);
        }
        let states: Vec<LiveTrace> = growing.iter().map(Growing::state).collect();
        // What came after the last corrections waits for the next ones.
        let more = read(&mut events, &states, &directories);
        assert!(more.is_empty(), "seed {seed}: events without corrections");
        let outcome = match synchronize_growing(&states, reference.clone()) {
            Ok(outcome) if outcome.artefact.islands.len() == 1 => outcome,
            _ if step < 5 => continue,
            other => panic!("seed {seed}: {:?}", other.map(|outcome| outcome.artefact.islands)),
        };
        reference.get_or_insert(outcome.artefact.reference.clone());
        for revision in events.correct(Some(outcome.clocks), states.clone()) {
            assert!(!revision.is_beyond, "seed {seed}: {revision:?}");
        }
        let more = read(&mut events, &states, &directories);
        assert!(more.is_sorted_by_key(|shown| shown.unix), "seed {seed}: not in the order of time");
        early += if step < steps { more.len() } else { 0 };
        all.extend(more);
    }
    for shown in &all {
        let Shown { trace, raw, bounds: (lo, hi), ref reference, offset_ns, .. } = *shown;
        let instant = clocks[names[trace]].true_ns(raw.0);
        let truth = UnixNs(i128::from(clocks[reference.as_str()].raw(instant)) + i128::from(offset_ns));
        let slack = i128::from(ROUNDING_NS);
        assert!(
            lo.0 - slack <= truth.0 && truth.0 <= hi.0 + slack,
            "seed {seed}: {} at {raw:?}: {lo:?} {truth:?} {hi:?}",
            names[trace]
        );
    }
    for (number, trace) in growing.iter().enumerate() {
        let mut found: Vec<RawNs> =
            all.iter().filter(|shown| shown.trace == number).map(|shown| shown.raw).collect();
        assert!(found.is_sorted(), "seed {seed}: a host's own order");
        let clock = trace.whole.clock(0).unwrap();
        let expect: Vec<RawNs> =
            trace.whole.events(0).map(|event| RawNs(clock.raw_ns(event.cycles().unwrap()) as i64)).collect();
        found.sort();
        assert_eq!(found, expect, "seed {seed}: events of {}", names[number]);
    }
    assert!(early * 3 > all.len(), "seed {seed}: {early} of {} came before the end", all.len());
}

#[test]
fn hosts_are_synchronized_on_the_way() {
    for seed in 0..24 {
        check(seed);
    }
}

/// A trace without events, of a host of its own, holds nothing up.
#[test]
fn a_host_that_does_nothing_holds_nobody_up() {
    let directory = tempfile::tempdir().unwrap();
    Cluster::chain(2).messages(50).seconds(2).write(directory.path(), Family::IPV4).unwrap();
    LttngTrace::kernel("idle").write(&directory.path().join("idle/kernel")).unwrap();
    let directories =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path().join("kernel"));
    let state = |directory| LiveTrace { directory, through: None, is_over: true };
    let states: Vec<LiveTrace> = directories.map(state).collect();
    assert_eq!(states.len(), 3);
    let mut events = LiveEvents::new(LiveBase::OnTheWay);
    let outcome = synchronize_growing(&states, None).unwrap();
    events.correct(Some(outcome.clocks), states.clone());
    let mut shown = 0;
    let result = events.read(&states, true, |_, _, ready| {
        shown = ready.count();
        Ok::<(), Error>(())
    });
    result.unwrap();
    // Each message is sent and received.
    assert_eq!((shown, events.uncorrected()), (100, Vec::new()));
}

/// Without corrections nothing is shown, unless there are to be none.
#[test]
fn without_corrections_each_host_is_on_its_own_clock() {
    let directory = tempfile::tempdir().unwrap();
    Cluster::chain(2).messages(10).seconds(1).write(directory.path(), Family::IPV4).unwrap();
    let directories =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path().join("kernel"));
    let state = |directory| LiveTrace { directory, through: None, is_over: true };
    let states: Vec<LiveTrace> = directories.map(state).collect();
    let count = |events: &mut LiveEvents| {
        let mut shown = 0;
        let result = events.read(&states, true, |_, _, ready| {
            shown = ready.count();
            Ok::<(), Error>(())
        });
        result.map(|()| shown)
    };
    let mut events = LiveEvents::new(LiveBase::OnTheWay);
    assert_eq!(count(&mut events).unwrap(), 0);
    assert_eq!(events.correct(None, Vec::new()), []);
    assert_eq!(count(&mut events).unwrap(), count(&mut LiveEvents::new(LiveBase::Own)).unwrap());
}
