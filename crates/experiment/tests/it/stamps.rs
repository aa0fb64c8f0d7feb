//! Stamps of hosts with known clocks: the truth is inside the bounds, and the way back leads to where it
//! began.

use std::path::{Path, PathBuf};

use isochrone_experiment::{
    Experiment, Inputs, ModelError, Opened, Spread, TimeBase, Wanted, model, read_clocks,
};
use isochrone_sync::Options;
use isochrone_testkit::{Cluster, Family};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{Conversion, Converted, Scale, Stamp, TimedHost, Timing};
use serde_json::Value;

/// What the reference's clock shows at a raw time of a host; `None` where that is not known.
type Truth<'t> = &'t dyn Fn(&TimedHost<'_>, RawNs) -> Option<i64>;

fn synchronized(paths: &[PathBuf], reference: Option<&str>) -> Opened {
    let options = Options { reference: reference.map(str::to_owned), ..Options::default() };
    let base = TimeBase::Synchronize(Box::new(options));
    Opened::new(Inputs::open(paths), base, &|_| ()).unwrap()
}

/// Holds stamps of a host, and their inverse, against the truth, which is right within `slack` ns. Says how
/// many had bounds.
fn check(host: &TimedHost<'_>, raws: impl IntoIterator<Item = RawNs>, truth: Truth<'_>, slack: i64) -> usize {
    let timing = host.timing.unwrap();
    let zero = i128::from(timing.clock().unwrap().reference_offset_ns);
    let mut bounded = 0;
    for raw in raws {
        let Some(truth) = truth(host, raw) else { continue };
        let (early, late) =
            (UnixNs(i128::from(truth - slack) + zero), UnixNs(i128::from(truth + slack) + zero));
        let name = host.name();
        let stamp = host.stamp(raw).unwrap();
        assert_eq!(stamp.unix, timing.unix(raw), "{name} {raw}");
        assert_eq!(stamp.lo.is_some(), timing.covers(raw), "{name} {raw}");
        if let (Some(lo), Some(hi), Some(e95)) = (stamp.lo, stamp.hi, stamp.e95) {
            bounded += 1;
            assert!(lo <= late && early <= hi, "{name} {raw}: {truth} is not in {stamp:?}");
            assert!(lo <= stamp.unix && stamp.unix <= hi && e95 >= 0, "{name} {raw}: {stamp:?}");
        }
        // There and back: the same instant, and of all raw times that are shown as it the last one.
        let back = host.raw(stamp.unix).unwrap();
        assert!(back >= raw && timing.unix(back) == stamp.unix, "{name} {raw}: {back}");
        // What the host showed at the true instant is inside of what it can have shown.
        let (first, last) = (timing.raw_stamp(early), timing.raw_stamp(late));
        assert!(first.lo.is_none_or(|lo| lo <= raw), "{name} {raw}: {first:?}");
        assert!(last.hi.is_none_or(|hi| raw <= hi), "{name} {raw}: {last:?}");
    }
    bounded
}

/// Raw times over all of a host's traces, and beyond.
fn raws(host: &TimedHost<'_>) -> impl Iterator<Item = RawNs> + use<> {
    let (begin, end) = host.traced.extent().unwrap();
    let step = (end - begin) / 50;
    (-3..=53).map(move |n| begin + step * n)
}

#[test]
fn simulated_clusters() {
    for seed in 0..4 {
        for cluster in [Cluster::chain(3), Cluster::mesh(4)] {
            let cluster = cluster.seeded(seed).seconds(20).messages(60);
            let directory = tempfile::tempdir().unwrap();
            cluster.write(directory.path(), Family::IPV4).unwrap();
            let opened = synchronized(&[directory.path().to_owned()], None);
            let experiment = opened.experiment();
            let number = |name: &str| cluster.hosts.iter().position(|host| host.name == name).unwrap();
            let truth = |host: &TimedHost<'_>, raw: RawNs| {
                let reference = &host.timing?.clock()?.reference;
                Some(cluster.truth(number(host.name()), number(reference)).unwrap()(raw.0))
            };
            assert_eq!(experiment.hosts().len(), cluster.hosts.len());
            for host in experiment.hosts() {
                // The simulated clocks are rounded down to whole ns, twice on the way.
                assert!(check(host, raws(host), &truth, 2) >= 50, "{}", host.name());
                assert_eq!(host.stamp(RawNs(0)).unwrap().island, Some(0));
            }
        }
    }
}

/// Samples of the clocks of hosts, (common, raw), and how far each can be off.
fn samples(directory: &Path, host: &str) -> (Vec<(i64, i64)>, i64) {
    let text = std::fs::read_to_string(directory.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let host = &truth["hosts"][host];
    let number = |value: &Value| value.as_i64().unwrap();
    let sample = |row: &Value| (i64::midpoint(number(&row[0]), number(&row[2])), number(&row[1]));
    (host["samples"].as_array().unwrap().iter().map(sample).collect(), number(&host["uncertainty_ns"]))
}

#[test]
fn the_bundled_example() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let paths = ["client", "app", "db"].map(|host| shop.join(host));
    let opened = synchronized(&paths, None);
    let experiment = opened.experiment();
    for host in experiment.hosts() {
        let reference = &host.timing.and_then(Timing::clock).unwrap().reference;
        let ((own, slack), (common, more)) = (samples(&shop, host.name()), samples(&shop, reference));
        let truth = |_: &TimedHost<'_>, raw: RawNs| {
            let at = own.iter().find(|sample| sample.1 == raw.0)?.0;
            let right = common.partition_point(|sample| sample.0 <= at);
            let (from, to) = (common.get(right.checked_sub(1)?)?, common.get(right)?);
            let run = i128::from(at - from.0) * i128::from(to.1 - from.1);
            Some(from.1 + i64::try_from(run / i128::from(to.0 - from.0)).unwrap())
        };
        let all = own.iter().map(|sample| RawNs(sample.1));
        let bounded = check(host, all, &truth, slack + more);
        assert!(bounded > 50, "{}: {bounded} samples", host.name());
    }
    // Kept and read again, it is the same.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sync.json");
    std::fs::write(&file, opened.synchronized().unwrap().artefact.to_json().unwrap()).unwrap();
    let kept = Opened::new(Inputs::open(&paths), TimeBase::read(&file).unwrap(), &|_| ()).unwrap();
    let kept = kept.experiment();
    for (kept, made) in kept.hosts().iter().zip(experiment.hosts()) {
        assert!(raws(made).all(|raw| kept.stamp(raw) == made.stamp(raw)), "{}", made.name());
    }
    // On their own clocks, hosts have what they took for the time, and no bounds.
    let own = Opened::unsynchronized(Inputs::open(&paths));
    for host in own.experiment().hosts() {
        for raw in raws(host) {
            let unix = UnixNs(i128::from(raw.0) + i128::from(host.traced.offset_ns));
            let expect = Stamp::unbounded(unix);
            assert_eq!((host.stamp(raw), host.raw(unix)), (Some(expect), Some(raw)), "{}", host.name());
        }
    }
}

#[test]
fn hosts_of_other_clocks_have_no_stamps() {
    let directory = tempfile::tempdir().unwrap();
    let (known, other) = (directory.path().join("known"), directory.path().join("other"));
    let cluster = Cluster::chain(2).seconds(5).messages(100);
    cluster.write(&known, Family::IPV4).unwrap();
    let mut strangers = cluster.seeded(9);
    strangers.hosts.iter_mut().for_each(|host| host.name.insert(0, 'x'));
    strangers.write(&other, Family::IPV4).unwrap();
    let file = directory.path().join("sync.json");
    let made = synchronized(std::slice::from_ref(&known), None);
    std::fs::write(&file, made.synchronized().unwrap().artefact.to_json().unwrap()).unwrap();
    let counts = |path: &Path| {
        let base = TimeBase::Kept(read_clocks(&file).unwrap());
        let opened = Opened::new(Inputs::open(&[path.to_owned()]), base, &|_| ()).unwrap();
        let experiment: Experiment<'_> = opened.experiment();
        let selected = experiment.select(&[]).unwrap();
        assert!(
            selected
                .uncorrected
                .iter()
                .all(|host| host.stamp(RawNs(0)).is_none() && host.raw(UnixNs(0)).is_none())
        );
        let unread = model(&selected.uncorrected, Spread::default(), &Wanted::default(), |_, _| || (), None);
        assert_eq!(unread.len(), selected.uncorrected.len());
        assert!(unread.iter().all(|host| matches!(host, Err(ModelError::Uncorrected(_)))));
        let traces = experiment.traces();
        assert_eq!(selected.hosts.len(), traces.traces.len());
        (selected.hosts.len(), selected.uncorrected.len(), traces.uncorrected.len())
    };
    assert_eq!(counts(&known), (2, 0, 0));
    assert_eq!(counts(&other), (0, 2, 2));
}

#[test]
fn conversions_agree_with_stamps() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let opened = synchronized(&["client", "app", "db"].map(|host| shop.join(host)), Some("h2"));
    let (experiment, clocks) = (opened.experiment(), opened.clocks().unwrap());
    for host in experiment.hosts() {
        let timing = host.timing.unwrap();
        let zero = i128::from(timing.clock().unwrap().reference_offset_ns);
        let there = Conversion::new(clocks, host.name(), None).unwrap();
        assert_eq!((there.from(), there.to()), (host.name(), "h2"));
        for raw in raws(host).filter(|&raw| timing.covers(raw)) {
            let Converted { ns, lo, hi, e95, proven } = there.convert(raw.0.into(), Scale::Raw).unwrap();
            let shift = |ns: i128| UnixNs(ns + zero);
            let stamp = host.stamp(raw).unwrap();
            assert_eq!((shift(ns), lo.map(shift), hi.map(shift)), (stamp.unix, stamp.lo, stamp.hi));
            assert_eq!((e95, proven), (stamp.e95, true));
            // The same instant in Unix time of both hosts, whose bounds allow for what the traces say of its
            // zero.
            let own = i128::from(raw.0) + i128::from(timing.clock().unwrap().entry.clock_offset_ns);
            let unix = there.convert(own, Scale::Unix).unwrap();
            assert_eq!(UnixNs(unix.ns), stamp.unix, "{} {raw}", host.name());
            assert!(unix.lo.zip(stamp.lo).is_none_or(|(wide, lo)| wide <= lo.0));
            assert!(unix.hi.zip(stamp.hi).is_none_or(|(wide, hi)| hi.0 <= wide));
        }
    }
    let check = |from: &str, to: Option<&str>, ns: i128, expect: &str| {
        let converted = Conversion::new(clocks, from, to).and_then(|there| there.convert(ns, Scale::Unix));
        assert_eq!(converted.unwrap_err().to_string(), expect, "{from} {to:?} {ns}");
    };
    check("nobody", None, 0, "no host is called `nobody`; there are h1, h2, h3");
    check("h2", Some("nobody"), 0, "no host is called `nobody`; there are h1, h2, h3");
    check("h3", None, i128::MAX, &format!("{} lies beyond what the clock of h3 can show", i128::MAX));
    check("h3", None, i128::MIN, &format!("{} lies beyond what the clock of h3 can show", i128::MIN));
}
