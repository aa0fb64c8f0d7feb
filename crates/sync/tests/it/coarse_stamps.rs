//! Stamps that are coarser than their files declare: the tick is found, bounds allow for it, and nothing is called a contradiction for it.

use std::fmt::Write;
use std::path::Path;

use isochrone_corrections::artefact::{Quality, ResolutionSource};
use isochrone_files::Inputs;
use isochrone_sync::{Options, Outcome, SyncError, synchronize, synchronize_messages};
use proptest::prelude::*;
use tempfile::TempDir;

const SECOND: i64 = 1_000_000_000;
/// When all begins, Unix ns.
const BEGIN: i64 = 1_795_000_000 * SECOND + 123_456_789;

/// A clock as it is read: ahead by so much, at a rate of its own, in ticks from some phase on.
#[derive(Debug, Clone, Copy)]
struct CoarseClock {
    ahead: i64,
    ppm: i64,
    tick: i64,
    phase: i64,
}

impl CoarseClock {
    fn at(self, time: i64) -> i64 {
        time + self.ahead + (time - BEGIN) * self.ppm / 1_000_000
    }

    fn stamp(self, time: i64) -> i64 {
        (self.at(time) - self.phase).div_euclid(self.tick) * self.tick + self.phase
    }
}

fn run(text: &str, options: &Options) -> Result<Outcome, SyncError> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("list.txt");
    std::fs::write(&path, text).unwrap();
    synchronize_messages(&path, options, &|_| {})
}

/// Exchanges of each further host with the first: after so much, with these delays.
fn list(clocks: &[CoarseClock], exchanges: &[(i64, i64, i64)]) -> String {
    let mut text = format!("{}\n", clocks.len());
    for (host, clock) in clocks.iter().enumerate().skip(1) {
        let mut now = BEGIN;
        for &(after, there, back) in exchanges {
            let (sent, received) = (now + after, now + after + there);
            writeln!(text, "0 {host} {} {}", clocks[0].stamp(sent), clock.stamp(received)).unwrap();
            writeln!(text, "{host} 0 {} {}", clock.stamp(received), clocks[0].stamp(received + back))
                .unwrap();
            now = received + back;
        }
    }
    text
}

/// Whether bounds of all hosts by the first hold at many instants, and nothing is refused, stepped or left out.
fn check_sound(outcome: &Outcome, clocks: &[CoarseClock]) -> Result<(), TestCaseError> {
    let artefact = &outcome.artefact;
    prop_assert_eq!(&artefact.reference, "0");
    prop_assert!(artefact.refused.is_empty() && artefact.suspects.is_empty(), "{:?}", artefact.refused);
    prop_assert!(artefact.contradictions.is_empty());
    for link in &artefact.links {
        prop_assert!(matches!(link.quality, Quality::Accurate | Quality::Incomplete), "{:?}", link);
    }
    for entry in &artefact.clocks {
        prop_assert!(entry.breaks.is_empty(), "{:?}", entry.breaks);
        prop_assert!(entry.assumptions.iter().all(|it| !it.contradicted));
        let (clock, reference) = (clocks[entry.host.parse::<usize>().unwrap()], clocks[0]);
        for pair in entry.interval.windows(2) {
            for quarter in 0..4 {
                let share = |from: i64, to: i64| i128::from(to) - i128::from(from);
                let at = |from: i64, to: i64| from + (share(from, to) * quarter / 4) as i64;
                let (raw, lo, hi) =
                    (at(pair[0].0, pair[1].0), at(pair[0].1, pair[1].1), at(pair[0].2, pair[1].2));
                // The true time at which the clock showed that, to a nanosecond or two.
                let apart = i128::from(raw - clock.ahead - BEGIN);
                let time = BEGIN + (apart * 1_000_000 / i128::from(1_000_000 + clock.ppm)) as i64;
                let truth = reference.at(time);
                prop_assert!(
                    lo - 3 <= truth && truth <= hi + 3,
                    "{} at {raw}: {lo} {truth} {hi}",
                    entry.host
                );
            }
        }
    }
    Ok(())
}

fn clock() -> impl Strategy<Value = CoarseClock> {
    let tick = prop_oneof![
        Just(1i64),
        Just(100),
        Just(1_000),
        Just(1_000_000),
        Just(4_000_000),
        Just(10_000_000),
        Just(15_625_000),
        1i64..20_000_000,
    ];
    (tick, -2 * SECOND..2 * SECOND, -100i64..100, any::<prop::sample::Index>()).prop_map(
        |(tick, ahead, ppm, phase)| CoarseClock {
            ahead,
            ppm,
            tick,
            phase: phase.index(tick as usize) as i64,
        },
    )
}

/// Some exchanges; clocks show at least three different stamps.
fn exchanges() -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
    let one = |pause: i64| (25_000_000..pause, 1_000i64..3_000_000, 1_000i64..3_000_000);
    prop_oneof![
        prop::collection::vec(one(2 * SECOND), 3..9),
        prop::collection::vec(one(200_000_000), 40..300),
    ]
}

fn from_the_first() -> Options {
    Options { reference: Some("0".to_owned()), ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_tick_bounds_hold(clocks in prop::collection::vec(clock(), 2..4), exchanges in exchanges()) {
        let outcome = run(&list(&clocks, &exchanges), &from_the_first()).unwrap();
        check_sound(&outcome, &clocks)?;
        for entry in &outcome.artefact.clocks {
            let (tick, found) = (clocks[entry.host.parse::<usize>().unwrap()].tick, entry.resolution.unwrap());
            // No clock ticks more slowly than 20 ms, whatever a few stamps have in common.
            prop_assert!(found.tick_ns % tick as u64 == 0 || found.tick_ns == 20_000_000, "{found:?} {tick}");
        }
    }

    /// Stamps of a nanosecond are what they were: to the nanosecond.
    #[test]
    fn exact_stamps_stay_exact(
        clocks in prop::collection::vec(clock(), 2..4),
        exchanges in prop::collection::vec((25_000_001i64..200_000_000, 1_000i64..3_000_000, 1_000i64..3_000_000), 60..120),
    ) {
        let exact: Vec<_> = clocks.iter().map(|&clock| CoarseClock { tick: 1, phase: 0, ..clock }).collect();
        let text = list(&exact, &exchanges);
        let outcome = run(&text, &from_the_first()).unwrap();
        let said = Options { resolution: vec![(None, 1)], ..from_the_first() };
        prop_assert_eq!(&outcome.artefact, &run(&text, &said).unwrap().artefact);
        prop_assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
        check_sound(&outcome, &exact)?;
    }
}

#[test]
fn what_a_user_says_counts() {
    let clock = |ahead, tick| CoarseClock { ahead, ppm: 0, tick, phase: 0 };
    let clocks = [clock(0, 1), clock(500_700_000, 1_000_000)];
    let exchanges: Vec<_> = (0..200).map(|k| (30_000_000 + k * 7_919, 200_000, 3_000_000)).collect();
    let text = list(&clocks, &exchanges);
    let width = |options: &Options| {
        let outcome = run(&text, options).unwrap();
        let widths = outcome.artefact.clocks[1].interval.iter().map(|row| row.2 - row.1);
        (widths.min().unwrap(), outcome.artefact.clocks[1].resolution.unwrap(), outcome.notes)
    };
    let said = |said: Vec<(Option<String>, u64)>| Options { resolution: said, ..from_the_first() };
    let (found, resolution, notes) = width(&from_the_first());
    assert_eq!((resolution.tick_ns, resolution.source), (1_000_000, ResolutionSource::Stamps));
    assert_eq!(notes, ["stamps of 1 are in steps of 1 ms: bounds allow for that"]);
    let host = |tick| vec![(None, 5), (Some("1".to_owned()), tick)];
    let (coarser, resolution, notes) = width(&said(host(2_000_000)));
    assert_eq!((resolution.tick_ns, resolution.source), (2_000_000, ResolutionSource::User));
    assert!(notes.is_empty() && coarser > found + 900_000, "{found} {coarser}");
    let (finer, resolution, _) = width(&said(vec![(None, 1)]));
    assert_eq!((resolution.tick_ns, resolution.source), (1, ResolutionSource::Declared));
    assert!(finer < found, "{found} {finer}");
    let error = run(&text, &said(vec![(Some("9".to_owned()), 1)])).unwrap_err();
    assert!(error.to_string().contains("no host is called `9`"), "{error}");
}

/// Inputs made after reports: in those whose truth is known here, the second host is 500.7 ms ahead.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn reported_inputs_have_their_truth_inside() {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/reports");
    let check = |outcome: &Outcome, ahead: Option<i64>, tick: u64| {
        let artefact = &outcome.artefact;
        assert!(
            artefact.refused.is_empty() && artefact.links[0].quality == Quality::Accurate,
            "{:?}",
            artefact.refused
        );
        for clock in &artefact.clocks {
            assert!(clock.breaks.is_empty() && clock.resolution.unwrap().tick_ns <= tick);
            let own = clock.host == artefact.reference;
            let known = if own { Some(0) } else { ahead };
            let Some(ahead) = known else { continue };
            assert!(clock.interval.iter().all(|row| row.1 <= row.0 - ahead && row.0 - ahead <= row.2));
        }
        assert!(artefact.clocks.iter().any(|clock| clock.resolution.unwrap().tick_ns == tick));
    };
    let listed = synchronize_messages(&reports.join("coarse-list/list.txt"), &from_the_first(), &|_| {});
    check(&listed.unwrap(), Some(500_700_000), 1_000_000);
    let captured = |a: &str, b: &str| {
        let inputs = Inputs::open(&[reports.join(a), reports.join(b)]);
        let name = |path: &str| Path::new(path).file_stem().unwrap().to_string_lossy().into_owned();
        // Both ends of one wire: who captured is not in the frames.
        let place = |path: &str, mac: &str| (name(path), mac.parse().unwrap());
        let vantage = vec![place(a, "02:00:00:00:00:01"), place(b, "02:00:00:00:00:02")];
        let options = Options { reference: Some(name(a)), vantage, ..Options::default() };
        synchronize(&inputs, &options, &|_| {}).unwrap()
    };
    check(&captured("coarse-pcap/q_a.pcap", "coarse-pcap/q_b.pcap"), Some(500_700_000), 1_000_000);
    check(&captured("coarse-refused/ms_a.pcap", "coarse-refused/ms_b.pcap"), None, 1_000_000);
    check(&captured("coarse-refused/w_a.pcap", "coarse-refused/w_b.pcap"), None, 15_625_000);
}
