//! Virtual machines whose clocks are known to a fraction of a microsecond: the truth lies inside the stated
//! interval at every sample, alone and with the capture of the switch between them as one more host; how wide
//! intervals and realistic errors are. Prints a line for each host:
//! `cargo test -p isochrone-sync --test it known_clocks:: -- --nocapture`.

#![allow(clippy::print_stdout)] // The figures are wanted.

use std::path::{Path, PathBuf};

use crate::common::{plain, unpacked};
use isochrone_clock::{Corridor, SlopeRange, Wander};
use isochrone_corrections::{Clock, Clocks};
use isochrone_files::Inputs;
use isochrone_sync::{ClockChoice, Options, Outcome, synchronize};
use isochrone_time::RawNs;
use serde_json::Value;

/// Scenarios, and whether all their clocks are straight. Those with a dot are packed.
const SCENARIOS: [(&str, bool); 18] = [
    ("chain3", true),
    ("chrony3.tar.zst", false),
    ("hog2", true),
    ("ipv6_2", true),
    ("lossy2", true),
    ("mpi4", true),
    ("ntp3.tar.zst", false),
    ("ntppll3.tar.zst", false),
    ("pause2", false),
    ("pause3.tar.zst", false),
    ("phases3", true),
    ("ping5", true),
    ("rot2", true),
    ("slew3.tar.zst", false),
    ("step2", false),
    ("udp2", true),
    ("web2", true),
    ("web2gso", true),
];

/// What is known to be possible where clocks are steered, set or stopped, µs: the median of the half widths
/// of the worst host, and the largest error of any, where nothing that lasts is left out.
const LIMITS: [(&str, f64, f64); 7] = [
    ("chrony3.tar.zst", 450.0, 250.0),
    // The error in the fast slew of 83,300 ppm; else it is below 180.
    ("ntp3.tar.zst", 450.0, 300.0),
    ("ntppll3.tar.zst", 800.0, 250.0),
    ("slew3.tar.zst", 300.0, 110.0),
    ("step2", 450.0, 140.0),
    // What a machine that stood still showed meanwhile is unknown.
    ("pause2", 300.0, f64::INFINITY),
    ("pause3.tar.zst", 250.0, f64::INFINITY),
];

/// Samples of one clock against the common one.
struct Truth {
    host: String,
    /// (raw ns of the clock, common ns), by raw.
    samples: Vec<(i64, i64)>,
    /// How far a sample can be wrong, ns.
    uncertainty: f64,
}

/// What came out for one host.
struct Judged {
    samples: u32,
    inside: u32,
    within_e95: u32,
    worst_error: f64,
    worst_half_width: f64,
    middle_e95: f64,
    middle_half_width: f64,
    half_widths: Vec<f64>,
    e95: Vec<f64>,
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_truth_is_inside() {
    let root = crate::common::shared("vm");
    let scratch = tempfile::tempdir().unwrap();
    let (mut samples, mut within, mut ratios) = (0, 0, Vec::new());
    for (name, straight) in SCENARIOS {
        let scenario = unpacked(&root.join(name), scratch.path());
        let truths = truths(&scenario);
        let hosts = hosts(&scenario);
        let outcome = synchronized(&hosts, None);
        assert!(!outcome.partial, "{name}: {:?}", outcome.artefact.refused);
        let clocks = Clocks::new(&outcome.artefact).unwrap();
        let compared = hold_pairs(name, &clocks, &truths);
        assert!(compared > 0, "{name}: no two hosts are compared");
        for (clock, judged) in judge(&clocks, &truths) {
            let link = straight.then(|| direct_half_width(clock, &hosts)).flatten();
            print_line(name, clock, &judged, link);
            assert_eq!(judged.inside, judged.samples, "{name}: {}", clock.entry.host);
            (samples, within) = (samples + judged.samples, within + judged.within_e95);
            held_to_limits(name, &clock.entry.host, &judged);
            if let Some(direct) = link {
                assert!(judged.worst_half_width <= 1.25 * direct, "{name}: {}", clock.entry.host);
                ratios.push(judged.middle_e95 / judged.middle_half_width);
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (share, median) = (f64::from(within) / f64::from(samples), ratios[ratios.len() / 2]);
    println!(
        "e95 covers {:.2} % of {samples} samples; its median is {median:.2} of the half width",
        share * 100.0
    );
    assert!(share >= 0.95 && median <= 0.65, "{share} {median}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_switch_is_one_more_host() {
    let root = crate::common::shared("vm");
    let scratch = tempfile::tempdir().unwrap();
    for (name, _) in SCENARIOS {
        let scenario = unpacked(&root.join(name), scratch.path());
        let capture = scratch.path().join(format!("{name}.switch")).join("switch.pcap");
        std::fs::create_dir_all(capture.parent().unwrap()).unwrap();
        std::fs::write(&capture, plain(&scenario.join("switch.pcap.zst"))).unwrap();
        let mut paths = hosts(&scenario);
        paths.push(capture);
        let outcome = synchronized(&paths, Some("switch"));
        assert!(!outcome.partial, "{name}: {:?}", outcome.artefact.refused);
        let mut truths = truths(&scenario);
        // The capture's stamps are on the clock that the samples are common on.
        let (first, last) = (i64::MIN / 4, i64::MAX / 4);
        let samples = vec![(first, first), (last, last)];
        truths.push(Truth { host: "switch".to_owned(), samples, uncertainty: 0.0 });
        let clocks = Clocks::new(&outcome.artefact).unwrap();
        for (clock, judged) in judge(&clocks, &truths) {
            print_line(name, clock, &judged, None);
            assert_eq!(judged.inside, judged.samples, "{name}: {}", clock.entry.host);
        }
    }
}

/// Scenarios that LTTng and another tracer recorded at once: the ends of the names of its recordings, and
/// what is said of clocks. Without a list of threads, nothing says that none steers them.
const OTHER_TRACERS: [(&str, &str, Option<ClockChoice>); 2] =
    [("ftrace2.tar.zst", "trace.dat", Some(ClockChoice::Free)), ("perf2.tar.zst", "perf.data", None)];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn other_tracers_prove_as_much() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, extension, choice) in OTHER_TRACERS {
        let scenario = unpacked(&crate::common::shared("vm").join(name), scratch.path());
        let clocks = |hosts: [PathBuf; 2]| {
            let clocks = choice.map(|choice| (None, choice)).into_iter().collect();
            let options = Options { reference: Some("h1".to_owned()), clocks, ..Options::default() };
            let outcome = synchronize(&Inputs::open(&hosts), &options, &|_| {}).unwrap();
            assert!(!outcome.partial, "{name}: {:?}", outcome.artefact.refused);
            Clocks::new(&outcome.artefact).unwrap()
        };
        let own = clocks(["h1", "h2"].map(|host| scenario.join(host)));
        let other = clocks(["h1", "h2"].map(|host| scenario.join(format!("{host}.{extension}"))));
        let mut truths = truths(&scenario);
        let judged = judge(&other, &truths);
        let (clock, judged) = &judged[0];
        print_line(name, clock, judged, None);
        assert_eq!(judged.inside, judged.samples, "{name}");
        // Where both recorded.
        for truth in &mut truths {
            truth.samples.retain(|sample| truth.host == "h1" || clock.interval.at(sample.0).is_some());
        }
        let by_lttng = judge(&own, &truths);
        let ratio = median(&judged.half_widths) / median(&by_lttng[0].1.half_widths);
        println!("{name}: its half width is {ratio:.2} of LTTng's, at the median");
        assert!(ratio <= 1.2, "{name}: {ratio}");
    }
}

/// What `isochrone record` collected over ssh, by LTTng and by the kernel's own tracer, one host of it
/// without trace-cmd (data/recorded/README.md): the list of threads that it records says that clocks run
/// free.
#[test]
fn recorded_hosts_are_where_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["lttng2.tar.zst", "ftrace3.tar.zst"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/recorded").join(name);
        let scenario = unpacked(&path, scratch.path());
        let outcome = synchronize(&Inputs::open(&hosts(&scenario)), &Options::default(), &|_| {}).unwrap();
        assert!(!outcome.partial, "{name}: {:?}", outcome.artefact.refused);
        let clocks = Clocks::new(&outcome.artefact).unwrap();
        let judged = judge(&clocks, &truths(&scenario));
        assert_eq!(judged.len(), hosts(&scenario).len() - 1, "{name}");
        for (clock, judged) in judged {
            print_line(name, clock, &judged, None);
            assert!(judged.samples > 50, "{name}: {}", judged.samples);
            assert_eq!(judged.inside, judged.samples, "{name}: {}", clock.entry.host);
            assert!(median(&judged.half_widths) < 700e3, "{name}: {}", median(&judged.half_widths));
        }
    }
}

fn synchronized(paths: &[PathBuf], reference: Option<&str>) -> Outcome {
    let inputs = Inputs::open(paths);
    // The switch stamps each frame before it sends it on.
    let vantage = inputs.captures.iter().map(|capture| (capture.host(), "inline".parse().unwrap())).collect();
    let options = Options { reference: reference.map(str::to_owned), vantage, ..Options::default() };
    synchronize(&inputs, &options, &|_| {}).unwrap()
}

/// Every clock but the references against the truth.
fn judge<'c>(clocks: &'c Clocks, truths: &[Truth]) -> Vec<(&'c Clock, Judged)> {
    let of = |host: &str| truths.iter().find(|truth| truth.host == host).unwrap();
    let others = clocks.iter().filter(|clock| clock.entry.host != clock.reference);
    others.map(|clock| (clock, against(clock, of(&clock.entry.host), of(&clock.reference)))).collect()
}

fn against(clock: &Clock, own: &Truth, reference: &Truth) -> Judged {
    let mut judged = Judged {
        samples: 0,
        inside: 0,
        within_e95: 0,
        worst_error: 0.0,
        worst_half_width: 0.0,
        middle_e95: 0.0,
        middle_half_width: 0.0,
        half_widths: Vec::new(),
        e95: Vec::new(),
    };
    let slack = own.uncertainty + reference.uncertainty;
    for (index, &(raw, common)) in own.samples.iter().enumerate() {
        let Some((lo, hi, e95)) = clock.interval.at(raw) else { continue };
        let Some(truth) = shown(reference, common) else { continue };
        let error = (clock.correction.apply(raw) - truth) as f64;
        judged.samples += 1;
        judged.inside += u32::from(lo as f64 - slack <= truth as f64 && truth as f64 <= hi as f64 + slack);
        judged.within_e95 += u32::from(error.abs() <= e95 as f64 + slack);
        judged.worst_error = judged.worst_error.max(error.abs());
        let half = (hi - lo) as f64 / 2.0;
        judged.worst_half_width = judged.worst_half_width.max(half);
        judged.half_widths.push(half);
        judged.e95.push(e95 as f64);
        if index <= own.samples.len() / 2 {
            (judged.middle_e95, judged.middle_half_width) = (e95 as f64, half);
        }
    }
    assert!(judged.samples > 0, "{}", own.host);
    judged
}

/// Every two hosts against the truth, either way: how many samples were compared.
fn hold_pairs(name: &str, clocks: &Clocks, truths: &[Truth]) -> usize {
    let of = |host: &str| truths.iter().find(|truth| truth.host == host).unwrap();
    let mut compared = 0;
    for from in clocks.iter() {
        for to in clocks.iter().filter(|to| to.number != from.number) {
            let (own, other) = (of(&from.entry.host), of(&to.entry.host));
            let slack = own.uncertainty + other.uncertainty;
            for &(raw, common) in own.samples.iter().filter(|&&(raw, _)| from.covers(RawNs(raw))) {
                let Some(truth) = shown(other, common) else { continue };
                let related = clocks.related(from, to, RawNs(raw)).unwrap();
                assert!(related.proven, "{name}: {} to {}", own.host, other.host);
                let (lo, hi) = related.bounds;
                let is_inside = lo.is_none_or(|lo| lo.0 as f64 - slack <= truth as f64)
                    && hi.is_none_or(|hi| truth as f64 <= hi.0 as f64 + slack);
                assert!(is_inside, "{name}: {} to {} at {raw}: {truth} {related:?}", own.host, other.host);
                compared += 1;
            }
        }
    }
    compared
}

/// What a clock shows at a common instant; `None` outside of its samples, and where it does not run between
/// two of them.
fn shown(truth: &Truth, common: i64) -> Option<i64> {
    let right = truth.samples.partition_point(|sample| sample.1 <= common);
    let (from, to) = (truth.samples.get(right.checked_sub(1)?)?, truth.samples.get(right)?);
    let (run, whole) = (i128::from(common - from.1), i128::from(to.1 - from.1));
    let rise = i128::from(to.0) - i128::from(from.0);
    ((rise - whole).abs() * 200 < whole).then(|| (i128::from(from.0) + rise * run / whole) as i64)
}

/// The largest half width over the span of a clock that its own link with the reference proves for straight
/// clocks; `None` where there is no such link.
fn direct_half_width(clock: &Clock, hosts: &[PathBuf]) -> Option<f64> {
    let (names, messages, _) = crate::common::messages_of(hosts);
    let number = |name: &str| names.iter().position(|host| host == name);
    let (own, reference) = (number(&clock.entry.host)?, number(&clock.reference)?);
    let mut corridor = Corridor::new();
    for message in messages {
        if (message.sender, message.receiver) == (own, reference) {
            corridor.a_to_b(message.sent.ns(), message.received.ns()).unwrap();
        } else if (message.sender, message.receiver) == (reference, own) {
            corridor.b_to_a(message.sent.ns(), message.received.ns()).unwrap();
        }
    }
    let bounded = corridor.within(SlopeRange::prior(500), Wander::NONE).ok()?;
    let rows = clock.interval.rows();
    let half = |raw: i64| Some((bounded.hi(raw)? - bounded.lo(raw)?) as f64 / 2.0);
    Some(half(rows.first()?.raw)?.max(half(rows.last()?.raw)?))
}

/// Where clocks are steered, set or stopped: not wider than is known to be possible, and e95 is worth its
/// name.
fn held_to_limits(name: &str, host: &str, judged: &Judged) {
    let Some(&(_, half_width, error)) = LIMITS.iter().find(|limits| limits.0 == name) else { return };
    let (half, e95) = (median(&judged.half_widths), median(&judged.e95));
    assert!(half <= half_width * 1e3, "{name}, {host}: {half} ns");
    assert!(judged.worst_error <= error * 1e3, "{name}, {host}: {} ns", judged.worst_error);
    assert!(e95 <= 0.6 * half, "{name}, {host}: e95 {e95} ns of {half} ns");
    let share = f64::from(judged.within_e95) / f64::from(judged.samples);
    assert!(share >= 0.9, "{name}, {host}: e95 covers {share}");
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_line(scenario: &str, clock: &Clock, judged: &Judged, direct: Option<f64>) {
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    println!(
        "{scenario:14} {:3} against {:7} error ≤ {:>12}, half width ≤ {:>12} (direct {:>10}), e95 in the middle {:>10}, covers {:.3}",
        clock.entry.host,
        clock.reference,
        us(judged.worst_error),
        us(judged.worst_half_width),
        direct.map_or("–".to_owned(), us),
        us(judged.middle_e95),
        f64::from(judged.within_e95) / f64::from(judged.samples),
    );
}

/// Directories of the hosts, by name.
fn hosts(scenario: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(scenario).unwrap().map(|entry| entry.unwrap().path());
    // Beside them lie the logs of what was done.
    let mut hosts: Vec<PathBuf> = entries.filter(|path| path.is_dir() && !path.ends_with("logs")).collect();
    hosts.sort();
    hosts
}

fn truths(scenario: &Path) -> Vec<Truth> {
    let text = std::fs::read_to_string(scenario.join("truth.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let truth = |(host, of): (&String, &Value)| {
        let run = of["run"].as_array().unwrap().iter().map(|sample| {
            let [before, raw, after] = [0, 1, 2].map(|i| sample[i].as_i64().unwrap());
            (raw, before.midpoint(after), after - before)
        });
        let width = run.clone().map(|sample| sample.2).max().unwrap();
        let mut samples: Vec<(i64, i64)> = run.map(|(raw, common, _)| (raw, common)).collect();
        samples.sort_unstable();
        let uncertainty = of["clock_uncertainty_ns"].as_f64().unwrap() + width as f64 / 2.0 + 1.0;
        Truth { host: host.clone(), samples, uncertainty }
    };
    all["hosts"].as_object().unwrap().iter().map(truth).collect()
}
