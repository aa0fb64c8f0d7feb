//! The bounds of a link one of whose clocks is steered, or may be.
//!
//! In two steps. First everything is bounded loosely: the rate may be anything within the widest limits of
//! both clocks, and where messages exclude each other even so, the limits are allowance
//! ([`crate::link::violations`]). That shows where the instants of one clock lie on the other. Then the
//! segments of [`crate::link::motion`] are bounded ([`crate::geometry::segments`]): between the calls of a
//! daemon the rate is constant, and bounds are tight. A segment whose messages contradict that is bounded
//! loosely, and reported.

use crate::estimate::{MIN_MESSAGES_TO_REFUSE, Suspect, SuspectReason};
use crate::geometry::{
    Contradicted, Corridor, Direction, FASTEST, Points, RateRange, Rule, Segment, SegmentChain, Side,
};
use crate::link::violations::{LimitViolations, suspects, without};
use crate::link::{left_out, motion::Motion, nominal_rate::NominalRate};
use crate::span::Span;

/// Maximal number of times that segments are loosened before everything is.
const MAX_LOOSENED: usize = 256;

/// Bounds that messages prove for two clocks under what is assumed of them.
#[derive(Debug, Clone)]
pub(crate) struct Steered {
    pub(crate) chain: SegmentChain,
    /// The nominal rate, and how far the rate may leave it by what is assumed; dimensionless.
    pub(crate) nominal: NominalRate,
    pub(crate) by: f64,
    pub(crate) violations: LimitViolations,
    /// Spans of a's time in which messages contradict that the rate is constant.
    pub(crate) contradicted: Vec<Span>,
    pub(crate) suspects: Vec<Suspect>,
    /// The messages used.
    pub(crate) used: Corridor,
}

/// Bounds of a link; `None` when no motion of clocks that do not go back explains the messages. O(k log k)
/// for k messages kept, a few times.
///
/// `reported` is what other links show of the two clocks, on a's time.
pub(crate) fn bounded(
    corridor: &Corridor,
    motion: &Motion<'_>,
    reported: &LimitViolations,
) -> Option<Steered> {
    let all = Points::of(corridor);
    let by = motion.most();
    let nominal = NominalRate::of(&all, motion.prior, by);
    let (forth, back) = corridor.messages();
    // With few messages a contradiction can be anything.
    let gone = match corridor.fewer_messages() < MIN_MESSAGES_TO_REFUSE {
        true => Vec::new(),
        false => suspects(&all, nominal, by, forth + back),
    };
    let points = if gone.is_empty() { all } else { without(&all, &gone) };
    let violations = LimitViolations::find(&points, nominal, by, motion.cause(), reported)?;
    let loose = possible(&points, motion.loose(nominal, &violations), motion, nominal)?.0;
    let segments = {
        let bound = |side, y| loose.bound(Direction::Backward, side, y);
        let to_x = |y: Span| Span {
            begin: bound(Side::Lower, y.begin).unwrap_or(Span::EVER.begin),
            end: bound(Side::Upper, y.end).unwrap_or(Span::EVER.end),
        };
        motion.segments(nominal, &violations, &[], to_x)
    };
    // Messages that contradict this many segments contradict that there are any.
    let (chain, contradicted) =
        possible(&points, segments, motion, nominal).unwrap_or((loose, vec![Span::EVER]));
    let suspect =
        |(side, point)| Suspect { side, point, reason: SuspectReason::Contradicts { violation_ns: 0.0 } };
    let suspects: Vec<Suspect> = gone.into_iter().map(suspect).collect();
    Some(Steered {
        chain,
        nominal,
        by,
        violations,
        contradicted,
        used: left_out::without(corridor, &suspects),
        suspects,
    })
}

impl Steered {
    /// The largest half width between the messages, in the middle between neighbours, ns; O(k log k).
    pub(crate) fn widest_half(&self) -> Option<i64> {
        let mut times: Vec<i64> = self.used.all_points().map(|(_, p)| p.x()).collect();
        times.sort_unstable();
        times.dedup();
        let half = |x: i64| {
            let bound = |side| self.chain.bound(Direction::Forward, side, x);
            Some(bound(Side::Upper)?.saturating_sub(bound(Side::Lower)?) / 2 + 1)
        };
        times.windows(2).filter_map(|pair| half(pair[0].midpoint(pair[1]))).max()
    }

    /// Spans of a's time, in `crate::geometry::envelope`'s sense: where the rate is faster than what is
    /// assumed, where it is anything, and where it is not constant though that was assumed.
    pub(crate) fn loosened(&self) -> Loosened {
        let fast = self.nominal.range(FASTEST).rates().1;
        let mut found =
            Loosened { violations: LimitViolations::default(), contradicted: self.contradicted.clone() };
        for segment in self.chain.segments() {
            match segment.rule {
                Rule::Within(rates) if rates.is_open() => found.violations.any.push(segment.x),
                rule if rule.rates().rates().1 >= fast => found.violations.fast.push(segment.x),
                _ => {}
            }
        }
        found
    }
}

/// Spans in which bounds are looser than what was assumed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loosened {
    pub(crate) violations: LimitViolations,
    pub(crate) contradicted: Vec<Span>,
}

/// The chain of segments, those that messages contradict loosened until none does; with the segments of
/// constant rate that were.
fn possible(
    points: &Points,
    mut segments: Vec<Segment>,
    motion: &Motion<'_>,
    nominal: NominalRate,
) -> Option<(SegmentChain, Vec<Span>)> {
    let mut contradicted = Vec::new();
    // Every segment can be loosened at most four times.
    for _ in 0..=(4 * segments.len()).min(MAX_LOOSENED) {
        let Contradicted { segment, alone } = match SegmentChain::new(points, &segments) {
            Ok(chain) => return Some((chain, contradicted)),
            Err(broken) => broken,
        };
        let mut changed = loosen(&mut segments[segment], motion, nominal, &mut contradicted);
        if !alone && segment > 0 {
            changed |= loosen(&mut segments[segment - 1], motion, nominal, &mut contradicted);
        }
        // What cannot be loosened any more is contradicted by what came before.
        let mut before = segment;
        while !changed && before > 0 {
            before -= 1;
            changed = loosen(&mut segments[before], motion, nominal, &mut contradicted);
        }
        if !changed {
            return None;
        }
    }
    None
}

/// The next allowance rule; whether there is one.
fn loosen(
    segment: &mut Segment,
    motion: &Motion<'_>,
    nominal: NominalRate,
    contradicted: &mut Vec<Span>,
) -> bool {
    let fastest = nominal.range(FASTEST.max(motion.most()) + motion.wander.rate());
    segment.rule = match segment.rule {
        Rule::Constant { .. } => {
            contradicted.push(segment.x);
            Rule::Within(nominal.range(motion.most() + motion.wander.rate()).or(segment.rule.rates()))
        }
        Rule::Within(RateRange::ANY) => return false,
        Rule::Within(rates) if rates == fastest || rates.is_open() => Rule::Within(RateRange::ANY),
        Rule::Within(_) => Rule::Within(fastest),
    };
    true
}
