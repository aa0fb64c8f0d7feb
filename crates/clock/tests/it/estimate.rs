//! The estimate of clocks of which nothing is known: it goes on to the last instant of the messages, also
//! where the last of them go one way, and its likely error holds.

use crate::common::Lcg;
use isochrone_clock::{Assumptions, Model, Solution, Steering, Synchronizer};

const SECOND: i64 = 1_000_000_000;

/// A link whose second clock is ahead by what `ahead` says, ns.
struct Simulated {
    solution: Solution,
    /// When the second clock sent or received its first message, and its last.
    span: (i64, i64),
}

impl Simulated {
    /// `count` messages each way over `duration`, over floors of 50 µs with exponential delays of `mean` ns
    /// above them; those from b to a only while `answers` holds.
    fn new(
        ahead: &impl Fn(i64) -> i64,
        (duration, count): (i64, i64),
        mean: f64,
        rng: &mut Lcg,
        answers: impl Fn(i64) -> bool,
    ) -> Self {
        let mut synchronizer = Synchronizer::new(2, Model::default()).unwrap();
        for clock in 0..2 {
            synchronizer.assume(clock, Assumptions::always(Steering::Unknown)).unwrap();
        }
        synchronizer.set_reference(Some(0)).unwrap();
        let delay = |rng: &mut Lcg| {
            let uniform = (rng.below(1 << 40) as f64 + 1.0) / (1_u64 << 40) as f64;
            50_000 + (-mean * uniform.ln()) as i64
        };
        let b = |t: i64| t + ahead(t);
        let mut span = (i64::MAX, i64::MIN);
        for i in 0..count {
            let sent = duration / count * i + rng.below((duration / count) as u64) as i64;
            let arrived = sent + delay(rng);
            synchronizer.message(0, sent, 1, b(arrived)).unwrap();
            span = (span.0.min(arrived), span.1.max(arrived));
            if answers(sent) {
                let answered = arrived + 300_000;
                let back = answered + delay(rng);
                synchronizer.message(1, b(answered), 0, back).unwrap();
                span.1 = span.1.max(answered);
            }
        }
        Self { solution: synchronizer.into_solution().unwrap(), span }
    }

    /// (error of the estimate, likely error, half width) at a true time.
    fn at(&self, ahead: &impl Fn(i64) -> i64, t: i64) -> (i64, i64, i64) {
        let raw = t + ahead(t);
        let (lo, hi, e95) = self.solution.intervals[1].at(raw).unwrap();
        let estimate = self.solution.corrections[1].apply(raw);
        assert!(lo - 1 <= t && t <= hi + 1, "{lo} {t} {hi}");
        // Between rows as well, where the estimate may bend.
        assert!(e95 <= hi - lo + 1);
        ((estimate - t).abs(), e95, (hi - lo) / 2)
    }
}

#[test]
fn it_goes_on_to_the_end_of_the_messages() {
    let mut rng = Lcg(3);
    // Lengths that are no multiples of any power of two, and messages in both directions up to the end.
    for duration in [17, 99, 601, 3_600].map(|s| s * SECOND + 123_456_789) {
        let ahead = |t: i64| 1_000_000 + t / 40_000;
        let link = Simulated::new(&ahead, (duration, 800), 40_000.0, &mut rng, |_| true);
        for t in [link.span.0 + 1, link.span.1 - 1] {
            let (error, e95, _) = link.at(&ahead, t);
            assert!(error < 40_000, "{duration}: off by {error} ns ± {e95} at {t}");
        }
    }
}

#[test]
fn it_goes_on_where_messages_go_one_way() {
    let mut rng = Lcg(4);
    for (first, last) in [(0.0, 0.85), (0.2, 1.0), (0.1, 0.9)] {
        let duration = 2_000 * SECOND + 77;
        let ahead = |t: i64| t / 60_000;
        let within = |t: i64| (first..last).contains(&(t as f64 / duration as f64));
        let link = Simulated::new(&ahead, (duration, 2_000), 40_000.0, &mut rng, within);
        for t in (0..=50).map(|i| link.span.0 + (link.span.1 - link.span.0) / 50 * i) {
            let (error, e95, half) = link.at(&ahead, t);
            assert!(error < 200_000.min(half), "{first}..{last}: off by {error} ns ± {e95} at {t}");
        }
    }
}

/// Straight, steered a little all the time, and slewed for a while; few and many messages, all over the trace
/// or only in its first third.
#[test]
fn the_likely_error_holds() {
    let mut rng = Lcg(11);
    let (mut covered, mut widths) = (Vec::new(), Vec::new());
    for case in 0..48 {
        let duration = [20, 300, 3_000][case % 3] * SECOND;
        let count = [60, 400, 1_500][case / 3 % 3];
        let mean = [10_000.0, 60_000.0, 250_000.0][case / 9 % 3];
        let (slope, phase) = (20_000 + rng.below(80_000) as i64, rng.below(628) as f64 / 100.0);
        let kind = case % 4;
        let ahead = |t: i64| {
            let waves = 8.0 * std::f64::consts::PI * t as f64 / duration as f64 + phase;
            t / slope
                + match kind {
                    0 | 3 => 0,
                    // By up to 5 ppm.
                    1 => (5e-6 * duration as f64 / 8.0 / std::f64::consts::PI * waves.sin()) as i64,
                    // 40 ppm for a tenth of the time.
                    _ => (t - duration / 2).clamp(0, duration / 10) / 25_000,
                }
        };
        let until = if kind == 3 { duration / 3 } else { duration };
        let link = Simulated::new(&ahead, (duration, count), mean, &mut rng, |t| t < until);
        let instants = (0..=200).map(|i| link.span.0 + (link.span.1 - link.span.0) / 200 * i);
        let found: Vec<_> = instants.map(|t| link.at(&ahead, t)).collect();
        covered.push(found.iter().filter(|f| f.0 <= f.1).count() as f64 / found.len() as f64);
        let mut shares: Vec<f64> = found.iter().map(|f| f.1 as f64 / f.2.max(1) as f64).collect();
        shares.sort_by(f64::total_cmp);
        widths.push(shares[shares.len() / 2]);
    }
    let mean = covered.iter().sum::<f64>() / covered.len() as f64;
    widths.sort_by(f64::total_cmp);
    let failing = covered.iter().filter(|&&c| c < 0.9).count();
    assert!(
        mean >= 0.95 && failing <= 3,
        "{mean:.3}, below 0.9: {failing} of {}: {covered:.2?}",
        covered.len()
    );
    // The guarantee grows with what is assumed of the clocks; the likely error does not by as much.
    assert!(widths[widths.len() / 2] < 0.2, "{:.2}", widths[widths.len() / 2]);
}
