//! Messages that can hardly be what they seem: wrong matches and wrong stamps.
//!
//! One wrong pair of events can put the truth outside of every "guaranteed" interval, and most such pairs do
//! not even contradict the others. Two rules find them, both among the few messages that the margin line
//! touches:
//!
//! 1. while no line satisfies the messages, the one goes without which there is most room;
//! 2. then the one goes whose absence makes the corridor wider by far more than the spread of delays near the
//!    floor explains.
//!
//! Taking away a true message only widens bounds, so the rules are safe; what they take is reported. A link
//! on which rule 1 would take too many does not lack a match, its clocks are not straight.
//! Runs before [`crate::estimate::folds`] and before the guarantee.

use thiserror::Error;

use crate::estimate::sample::{DirectionSample, RetainedPoint};
use crate::estimate::{frame::Frame, posterior::near_floor_rate};
use crate::geometry::{Margin, Point, Side, SlopeBand, chain, extend};

/// With at least this many messages in both directions, a contradiction is no accident: the link is refused.
/// With fewer, the line of least violation is used, and marked as such.
pub const MIN_MESSAGES_TO_REFUSE: u64 = 8;

/// Factor of the spread near the floor by which a message must narrow the corridor to be suspect.
///
/// On simulated and real links with one injected wrong match, 9 to 16 serve equally; 6 drops too many good
/// messages and 24 misses wrong ones.
pub const SUSPECT_Z: f64 = 12.0;

/// Most messages that rule 2 takes: with more, the spread of delays is not what it is believed to be.
pub const MAX_SUSPECTS: usize = 2;

/// Fewest messages in either direction for rule 2: with fewer, gaps between neighbours are no outliers.
pub const MIN_MESSAGES_TO_SUSPECT: u64 = 8;

/// Contradicting messages that any link may have before its clocks are held not to be straight.
pub const MAX_CONTRADICTIONS: u64 = 3;

/// … or one in this number of all its messages, if that is more: 0.1 %.
pub const MESSAGES_PER_CONTRADICTION: u64 = 1000;

/// Why a message was taken away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SuspectReason {
    /// No line satisfied the messages while it was among them.
    Contradicts {
        /// Violation by the line of least violation, ns.
        violation_ns: f64,
    },
    /// It came earlier than the spread of delays explains.
    TooEarly {
        /// Width by which it narrowed the corridor, in units of the spread of its direction near the floor.
        z: f64,
    },
}

/// A message that was taken away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect {
    /// Upper: from a to b; lower: from b to a.
    pub side: Side,
    /// Time on a's clock, time on b's clock.
    pub point: Point,
    /// The rule that took it.
    pub reason: SuspectReason,
}

/// The messages of a link without suspects, and the suspects.
#[derive(Debug, Clone, PartialEq)]
pub struct Cleaned<'a> {
    /// The messages from a to b that are left.
    pub upper: DirectionSample<'a>,
    /// The messages from b to a that are left.
    pub lower: DirectionSample<'a>,
    /// Suspects in the order of their removal.
    pub suspects: Vec<Suspect>,
}

/// No line satisfies the messages, and taking a few away does not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("without {taken} messages the others still contradict each other: the clocks are not affine")]
pub struct NotAffine {
    /// Number of messages that were removed in vain.
    pub taken: u64,
}

/// Takes the suspect messages of a link away; a link with messages in one direction only has none.
///
/// A message that hides behind a suspect comes to light only if it was kept: what is left is as good as the
/// floors' choice of points. Deterministic: of equal choices the first, upper before lower. O(n + r·(h + n))
/// for n messages kept, h vertices and r messages taken.
///
/// # Errors
/// [`NotAffine`] when rule 1 would take more than `MAX_CONTRADICTIONS` messages and more than one in
/// `MESSAGES_PER_CONTRADICTION`, or the last one of a direction.
///
/// ```
/// use isochrone_clock::DirectionSample;
/// use isochrone_clock::clean;
/// use isochrone_clock::{Point, SlopeRange};
/// let second = 1_000_000_000;
/// let message = |i: i64, delay: i64| Point::new(i * second, i * second + delay);
/// let forth = (0..9).map(|i| message(i, 90 + i * 7 % 5)).collect::<Result<Vec<_>, _>>()?;
/// let back = (0..9).map(|i| message(i, -90 - i * 7 % 4)).collect::<Result<Vec<_>, _>>()?;
/// let wrong = Point::new(5 * second, 5 * second - 9_000)?; // received long before it was sent
/// let band = SlopeRange::prior(500).closed().ok_or("not empty")?;
/// let forth = DirectionSample::of_all(forth.into_iter().chain([wrong]));
/// let left = clean(forth, DirectionSample::of_all(back), band)?;
/// assert_eq!((left.suspects[0].point, left.upper.count()), (wrong, 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn clean<'a>(
    upper: DirectionSample<'a>,
    lower: DirectionSample<'a>,
    band: SlopeBand,
) -> Result<Cleaned<'a>, NotAffine> {
    let sides = [SideData::new(&upper, Side::Upper), SideData::new(&lower, Side::Lower)];
    let mut cleaned = Cleaned { upper, lower, suspects: Vec::new() };
    if let Some(margin) = Margin::of([&sides[0].chain, &sides[1].chain], band) {
        let mut search = Search { sides, margin, band, suspects: Vec::new() };
        search.remove_contradictions()?;
        search.remove_outliers();
        cleaned.suspects = search.suspects;
    }
    for suspect in &cleaned.suspects {
        match suspect.side {
            Side::Upper => cleaned.upper.remove(suspect.point),
            Side::Lower => cleaned.lower.remove(suspect.point),
        }
    }
    Ok(cleaned)
}

/// One direction, turned.
struct SideData {
    side: Side,
    kept: Vec<RetainedPoint>,
    chain: Vec<Point>,
    /// All messages that are left, those not kept included.
    count: u64,
}

impl SideData {
    fn new(floor: &DirectionSample<'_>, side: Side) -> Self {
        let kept = floor.turned(side);
        let chain = chain(kept.iter().map(|k| k.point));
        Self { side, kept, chain, count: floor.count() }
    }

    /// Number of messages times the rate of their delays near the floor, without the kept message `gone`,
    /// along `margin`.
    fn rate(&self, frame: &Frame, gone: usize, margin: &Margin) -> f64 {
        let tilt = frame.tilt(margin.slope);
        let others = self.kept.iter().enumerate().filter(|&(index, _)| index != gone);
        let slacks = others.map(|(_, k)| frame.spot(self.side, k.point).slack(tilt));
        near_floor_rate(slacks, self.count as f64 - 1.0, margin.gap())
    }
}

/// The rest without a vertex.
struct Without {
    /// Index of the side.
    side: usize,
    point: Point,
    chain: Vec<Point>,
    margin: Margin,
}

/// Messages left so far, and suspects removed.
struct Search {
    sides: [SideData; 2],
    /// Of what is left.
    margin: Margin,
    band: SlopeBand,
    suspects: Vec<Suspect>,
}

impl Search {
    /// Takes a message away.
    fn take(&mut self, without: Without, reason: SuspectReason) {
        let own = &mut self.sides[without.side];
        own.kept.remove(position(&own.kept, without.point));
        own.chain = without.chain;
        own.count -= 1;
        self.margin = without.margin;
        let point = if own.side == Side::Upper { without.point } else { without.point.reflected() };
        self.suspects.push(Suspect { side: own.side, point, reason });
    }

    /// Per message that the margin line touches (four at most), what would be left without it. A direction's
    /// last message is not a candidate.
    fn candidates(&self) -> impl Iterator<Item = Without> + '_ {
        let touched = self.margin.touched;
        let vertices =
            [0, 1].into_iter().flat_map(move |s| (touched[s].0..=touched[s].1).map(move |v| (s, v)));
        vertices.filter_map(|(side, vertex)| {
            let own = &self.sides[side];
            let chain = chain_without(&own.kept, &own.chain, vertex);
            let other = &self.sides[1 - side].chain[..];
            let margin = Margin::of(if side == 0 { [&chain, other] } else { [other, &chain] }, self.band)?;
            Some(Without { side, point: own.chain[vertex], chain, margin })
        })
    }

    /// Rule 1.
    fn remove_contradictions(&mut self) -> Result<(), NotAffine> {
        let messages = self.sides[0].count.saturating_add(self.sides[1].count);
        let most = MAX_CONTRADICTIONS.max(messages / MESSAGES_PER_CONTRADICTION);
        while self.margin.is_contradictory() {
            let taken = self.suspects.len() as u64;
            let best = greatest(self.candidates(), |w| w.margin.gap());
            let Some((best, _)) = best.filter(|_| taken < most) else { return Err(NotAffine { taken }) };
            let violation_ns = -self.margin.gap() / 2.0;
            self.take(best, SuspectReason::Contradicts { violation_ns });
        }
        Ok(())
    }

    /// Rule 2.
    fn remove_outliers(&mut self) {
        let chains = [&self.sides[0].chain[..], &self.sides[1].chain];
        let Some(frame) = Frame::of(&self.margin, chains) else { return };
        for _ in 0..MAX_SUSPECTS {
            if self.sides.iter().any(|side| side.count < MIN_MESSAGES_TO_SUSPECT) {
                return;
            }
            let z = |w: &Without| {
                let (widened, own) = (w.margin.gap() - self.margin.gap(), &self.sides[w.side]);
                widened * own.rate(&frame, position(&own.kept, w.point), &w.margin)
            };
            let worst = greatest(self.candidates(), z);
            let Some((worst, z)) = worst.filter(|&(_, z)| z > SUSPECT_Z) else { return };
            self.take(worst, SuspectReason::TooEarly { z });
        }
    }
}

/// The candidate of greatest value, of equal ones the first.
fn greatest(all: impl Iterator<Item = Without>, value: impl Fn(&Without) -> f64) -> Option<(Without, f64)> {
    let valued = all.map(|candidate| {
        let value = value(&candidate);
        (candidate, value)
    });
    valued.reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// The chain of all points but one vertex: only what lies between the vertex's neighbours can come to light.
///
/// `kept` are the points of the chain, sorted. O(h) and the points between the neighbours.
pub(super) fn chain_without(kept: &[RetainedPoint], chain: &[Point], vertex: usize) -> Vec<Point> {
    let mut rest = chain[..vertex].to_vec();
    let from = rest.last().map_or(0, |left| kept.partition_point(|k| k.point.x <= left.x));
    let to = chain.get(vertex + 1).map_or(kept.len(), |right| kept.partition_point(|k| k.point.x < right.x));
    let gone = position(kept, chain[vertex]);
    for (index, k) in kept.iter().enumerate().take(to).skip(from) {
        if index != gone {
            extend(&mut rest, k.point);
        }
    }
    chain[vertex + 1..].iter().for_each(|&p| extend(&mut rest, p));
    rest
}

/// Index of the first of the points at `point` among sorted ones.
pub(super) fn position(kept: &[RetainedPoint], point: Point) -> usize {
    kept.partition_point(|k| k.point < point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;
    use crate::geometry::Side::{Lower, Upper};
    use crate::geometry::SlopeRange;
    use proptest::prelude::*;

    type Messages = Vec<(i64, i64)>;

    fn band() -> SlopeBand {
        SlopeRange::prior(500).closed().unwrap()
    }

    fn floor(all: &[(i64, i64)]) -> DirectionSample<'static> {
        DirectionSample::of_all(all.iter().map(|&(x, y)| Point::new(x, y).unwrap()))
    }

    /// `n` exchanges, one a second, with delays from 100 to 130 µs.
    fn exchanges(n: i64, sign: i64) -> Messages {
        (0..n)
            .map(|i| (i * 1_000_000_000, i * 1_000_000_000 + sign * (100_000 + i * 17 % 31 * 1000)))
            .collect()
    }

    /// The messages of `exchanges`, and wrong ones: (second, delay).
    fn with(n: i64, sign: i64, wrong: &[(i64, i64)]) -> Messages {
        let wrong = wrong.iter().map(|&(s, delay)| (s * 1_000_000_000, s * 1_000_000_000 + sign * delay));
        exchanges(n, sign).into_iter().chain(wrong).collect()
    }

    #[test]
    fn finds_what_is_wrong() {
        // Expected: (side, second, whether it contradicted the others).
        let check = |n, forth: &[(i64, i64)], back: &[(i64, i64)], expect: &[(Side, i64, bool)]| {
            let (upper, lower) = (floor(&with(n, 1, forth)), floor(&with(n, -1, back)));
            let cleaned = clean(upper.clone(), lower.clone(), band()).unwrap();
            let found: Vec<_> = (cleaned.suspects.iter())
                .map(|s| {
                    let contradicts =
                        matches!(s.reason, SuspectReason::Contradicts { violation_ns } if violation_ns > 0.0);
                    let early = matches!(s.reason, SuspectReason::TooEarly { z } if z > SUSPECT_Z);
                    assert!(contradicts != early, "{s:?}");
                    (s.side, s.point.x() / 1_000_000_000, contradicts)
                })
                .collect();
            assert_eq!(found, expect);
            let left = cleaned.upper.count() + cleaned.lower.count();
            assert_eq!(left + expect.len() as u64, upper.count() + lower.count());
            for suspect in &cleaned.suspects {
                let of = if suspect.side == Side::Upper { &cleaned.upper } else { &cleaned.lower };
                assert!(of.kept().iter().all(|k| k.point != suspect.point));
            }
        };
        check(60, &[], &[], &[]);
        check(60, &[(20, -10_000_000)], &[], &[(Upper, 20, true)]);
        check(60, &[], &[(20, -1_000_000)], &[(Lower, 20, true)]);
        check(60, &[(0, -1_000_000)], &[], &[(Upper, 0, true)]);
        check(60, &[(59, -1_000_000)], &[], &[(Upper, 59, true)]);
        check(60, &[(20, -50_000)], &[], &[(Upper, 20, false)]);
        check(60, &[], &[(31, 10_000)], &[(Lower, 31, false)]);
        check(60, &[(9, -9_000_000)], &[(40, -5_000_000)], &[(Upper, 9, true), (Lower, 40, true)]);
        check(60, &[(9, -9_000_000), (40, 0)], &[], &[(Upper, 9, true), (Upper, 40, false)]);
        // The second rule takes two at most, and none from a direction of few messages.
        check(60, &[(9, 0), (30, 0), (50, 0)], &[], &[]);
        check(6, &[(3, 0)], &[], &[]);
        check(8, &[(3, -5_000)], &[], &[(Upper, 3, false)]);
        check(3, &[(1, -9_000_000)], &[], &[(Upper, 1, true)]);
    }

    #[test]
    fn two_suspects_at_most() {
        // Each hides behind the one before.
        let wrong = [(30, 90_000), (30, 50_000), (30, -90_000)];
        let cleaned = clean(floor(&with(60, 1, &wrong)), floor(&exchanges(60, -1)), band()).unwrap();
        let taken: Vec<_> = cleaned.suspects.iter().map(|s| s.point.y() - s.point.x()).collect();
        assert_eq!(taken, [-90_000, 50_000]);
        let again = clean(cleaned.upper, cleaned.lower, band()).unwrap();
        assert_eq!(again.suspects.len(), 1, "the third was no less suspect");
    }

    #[test]
    fn too_many_contradictions_are_not_wrong_matches() {
        let wrong = |n: i64| (0..n).map(|i| (7 * i + 3, -1_000_000 * (i + 5))).collect::<Vec<_>>();
        let check = |n, contradictions, expect: Result<usize, u64>| {
            let found = clean(floor(&with(n, 1, &wrong(contradictions))), floor(&exchanges(n, -1)), band());
            assert_eq!(found.map(|c| c.suspects.len()).map_err(|e| e.taken), expect);
        };
        check(60, 3, Ok(3));
        check(60, 4, Err(3));
        check(3000, 6, Ok(6)); // 0.1 % of 6006
        check(3000, 7, Err(6));
    }

    #[test]
    fn a_direction_never_loses_its_last_message() {
        let found = clean(floor(&[(0, 0)]), floor(&[(0, 9)]), band());
        assert_eq!(found, Err(NotAffine { taken: 0 }));
        let one_way = clean(floor(&exchanges(9, 1)), floor(&[]), band()).unwrap();
        assert!(one_way.suspects.is_empty());
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_was_there_without_the_suspects(
            upper in prop::collection::vec((0i64..300, -4i64..40), 0..40),
            lower in prop::collection::vec((0i64..300, -40i64..4), 0..40),
        ) {
            let (upper, lower) = (floor(&upper), floor(&lower));
            if let Ok(cleaned) = clean(upper.clone(), lower.clone(), SlopeRange::prior(300_000).closed().unwrap()) {
                let (mut u, mut l) = (upper, lower);
                for s in &cleaned.suspects {
                    if s.side == Side::Upper { u.remove(s.point) } else { l.remove(s.point) }
                }
                prop_assert_eq!((&u, &l), (&cleaned.upper, &cleaned.lower));
                // A second look finds no contradiction.
                let again = clean(u, l, SlopeRange::prior(300_000).closed().unwrap()).unwrap();
                let contradicts = |s: &Suspect| matches!(s.reason, SuspectReason::Contradicts { .. });
                prop_assert_eq!(again.suspects.iter().filter(|s| contradicts(s)).count(), 0);
            }
        }

        #[test]
        fn nothing_panics(
            upper in prop::collection::vec((-2i64..=2, -2i64..=2), 0..30),
            lower in prop::collection::vec((-2i64..=2, -2i64..=2), 0..30),
            unit in prop_oneof![Just(1i64), Just(MAX_ABS_NS / 2), Just(1 << 54)],
            count in any::<u64>(),
        ) {
            let scaled = |all: &Messages| {
                let all: Messages = all.iter().map(|&(x, y)| (x * unit, y * unit)).collect();
                DirectionSample::new(floor(&all).kept().to_vec(), count, i128::MIN)
            };
            let kept = upper.len() + lower.len();
            match clean(scaled(&upper), scaled(&lower), band()) {
                Ok(cleaned) => prop_assert!(cleaned.suspects.len() <= kept),
                Err(e) => prop_assert!(e.taken <= kept as u64),
            }
        }
    }
}
