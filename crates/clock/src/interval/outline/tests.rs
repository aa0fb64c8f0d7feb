//! Rows against random truths of which a little is known at some instants.

use super::*;
use crate::MAX_ABS_NS;
use crate::geometry::Points;
use crate::geometry::segments::tests::{Truth, UNIT, rates};
use crate::interval::{Interval, IntervalRow};
use proptest::prelude::*;

/// (the segment's rule, its stretches: units and share of the range).
type Legs = Vec<(u8, i64, i64, Vec<(i64, f64)>)>;

/// What the reference shows by the clock's time, and the segments of that.
fn build(all: &Legs) -> (Truth, Vec<Segment>) {
    let (mut stretches, mut segments, mut begin) = (Vec::new(), Vec::new(), 0);
    for (kind, least, more, own) in all {
        let units: i64 = own.iter().map(|s| s.0).sum();
        let along = |from: i64, to: i64, share: f64| from + ((to - from) as f64 * share) as i64;
        let range = rates(*least, least + more);
        let rule = match kind {
            0 => {
                let rate = along(*least, least + more, own[0].1);
                stretches.push((units, rate));
                Rule::Constant { rates: range, wander: Wander::NONE }
            }
            1 => {
                let rate = along(*least, least + more, own[0].1);
                // ± 0.1 %; of rates below 1 so that it is no more of the other clock's time.
                stretches.extend(own.iter().map(|s| (s.0, rate + if s.1 < 0.5 { -50 } else { 50 })));
                Rule::Constant { rates: range, wander: Wander::of_rate(0.001) }
            }
            2 => {
                stretches.extend(own.iter().map(|s| (s.0, along(*least, least + more, s.1))));
                Rule::Within(range)
            }
            _ => {
                let rate = |share: f64| if share < 0.5 { 0 } else { (share.powi(8) * 1e8) as i64 };
                stretches.extend(own.iter().map(|s| (s.0, rate(s.1))));
                Rule::Within(RateRange::ANY)
            }
        };
        segments.push(Segment { x: Span { begin, end: begin + units * UNIT }, rule });
        begin += units * UNIT;
    }
    segments[0].x.begin = -MAX_ABS_NS;
    segments.last_mut().unwrap().x.end = MAX_ABS_NS;
    (Truth::new(&stretches), segments)
}

fn cases() -> impl Strategy<Value = Legs> {
    let share = prop_oneof![Just(0.0f64), Just(1.0f64), 0.0f64..=1.0];
    let stretches = prop::collection::vec((1i64..60, share), 1..4);
    prop::collection::vec((0u8..4, 60_000i64..95_000, 0i64..5_000, stretches), 1..6)
}

/// Shares of the time, errors of what is known then (`None`: nothing is).
fn instants() -> impl Strategy<Value = Vec<(f64, Option<i64>, Option<i64>)>> {
    let error = || prop::option::weighted(0.9, prop_oneof![Just(0i64), 0i64..1000, 0i64..5_000_000]);
    prop::collection::vec((0.0f64..=1.0, error(), error()), 0..30)
}

fn known(truth: &Truth, instants: &[(f64, Option<i64>, Option<i64>)]) -> Vec<KnownAt> {
    let mut known: Vec<KnownAt> = instants
        .iter()
        .map(|&(share, early, late)| {
            // The clock shows x when the reference shows so much, or a nanosecond less or more.
            let x = (share * truth.end as f64) as i64;
            let instant = truth.floor(x);
            KnownAt { instant, earliest: early.map(|e| x - e), latest: late.map(|e| x + e) }
        })
        .collect();
    // What is known of the instant after it is known of it, too; at one instant only once.
    known.sort_unstable_by_key(|k| k.instant);
    known.dedup_by_key(|k| k.instant);
    known
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_hold_the_truth(all in cases(), instants in instants(), cut in (0.0f64..0.4, 0.6f64..1.0)) {
        let (truth, segments) = build(&all);
        let known = known(&truth, &instants);
        let outline = Outline::new(&known, &segments);
        let at = |share: f64| (share * truth.end as f64) as i64;
        let span = Span { begin: at(cut.0), end: at(cut.1).max(at(cut.0) + 1) };
        for (gain, instant) in outline.wanted_instants(span) {
            prop_assert!(gain > 0 && known[0].instant < instant && instant < known[known.len() - 1].instant);
        }
        let rows = outline.rows(span);
        prop_assert!(rows.is_sorted_by(|a, b| a.raw < b.raw && a.lo <= b.lo && a.hi <= b.hi), "{:?}", rows);
        prop_assert_eq!((rows[0].raw, rows[rows.len() - 1].raw), (span.begin, span.end));
        let row = |r: &Row| IntervalRow { raw: r.raw, lo: r.lo, hi: r.hi, e95: 0 };
        let interval = Interval::new(rows.iter().map(row).collect()).unwrap();
        let rows = rows.iter().flat_map(|r| [r.raw - 1, r.raw, r.raw + 1]);
        let borders = segments.iter().flat_map(|l| [l.x.begin, l.x.end]);
        for raw in truth.instants(&Points::default()).into_iter().chain(rows).chain(borders) {
            if let Some((lo, hi, _)) = interval.at(raw).filter(|_| (0..=truth.end).contains(&raw)) {
                // Instants are whole: a nanosecond of rounding either way, and of the chord's.
                let inside = lo <= truth.ceil(raw) && truth.floor(raw) <= hi;
                prop_assert!(inside, "at {raw}: {lo} {} {hi}", truth.floor(raw));
            }
        }
    }

    #[test]
    fn anything_is_sorted_and_nothing_overflows(
        known in prop::collection::vec((-MAX_ABS_NS..=MAX_ABS_NS, any::<Option<i64>>(), any::<Option<i64>>()), 0..20),
        all in cases(), ends in any::<(i64, i64)>(),
    ) {
        let at = |(instant, earliest, latest)| KnownAt { instant, earliest, latest };
        let mut known: Vec<KnownAt> = known.into_iter().map(at).collect();
        known.sort_unstable_by_key(|k| k.instant);
        let segments = build(&all).1;
        let outline = Outline::new(&known, &segments);
        let [a, b] = [ends.0, ends.1].map(|t| t.clamp(-MAX_ABS_NS, MAX_ABS_NS - 1));
        let span = Span { begin: a.min(b), end: a.max(b) + 1 };
        let rows = outline.rows(span);
        prop_assert!(rows.is_sorted_by(|a, b| a.raw < b.raw && a.lo <= b.lo && a.hi <= b.hi));
        outline.wanted_instants(span);
    }
}
