//! The bounds of a link of which a clock is steered, or may be.
//!
//! In two steps. First everything is bounded loosely: the rate may be anything within the widest limits of both clocks, and where
//! messages exclude each other even so, the limits are wider ([`crate::excess`]). That shows where the instants of one clock lie
//! on the other. Then the legs of [`crate::motion`] are bounded ([`crate::chain`]): between the calls of a daemon the rate is
//! constant, and bounds are tight. A leg whose messages contradict that is bounded loosely, and reported.

use crate::chain::{Broken, Chain, Leg, Points, Rule};
use crate::corridor::Corridor;
use crate::envelope::RateRange;
use crate::excess::{Excess, suspects, without};
use crate::hull::Side;
use crate::left_out;
use crate::motion::{Motion, range_around};
use crate::point::Point;
use crate::slope::FASTEST;
use crate::span::Span;
use crate::suspect::MIN_MESSAGES_TO_REFUSE;
use crate::suspect::{Suspect, SuspectReason};
use crate::usual::Usual;
use crate::way::Way;

/// Legs are loosened so often before everything is.
const MAX_LOOSENED: usize = 256;

/// What messages prove of two clocks under what is assumed of them.
#[derive(Debug, Clone)]
pub(crate) struct Steered {
    pub(crate) chain: Chain,
    /// What rates are usual, and how far they may leave them by what is assumed, dimensionless.
    pub(crate) usual: Usual,
    pub(crate) by: f64,
    pub(crate) excess: Excess,
    /// Spans of a's time in which messages contradict that the rate is constant.
    pub(crate) contradicted: Vec<Span>,
    pub(crate) suspects: Vec<Suspect>,
    /// The messages used.
    pub(crate) used: Corridor,
}

/// Bounds of a link; `None` when no motion of clocks that do not go back explains the messages. O(k log k) for k messages kept,
/// a few times.
///
/// `told` is what other links show of the two clocks, on a's time.
pub(crate) fn bounded(corridor: &Corridor, motion: &Motion<'_>, told: &Excess) -> Option<Steered> {
    let all = Points::of(corridor);
    let by = motion.most();
    let usual = Usual::of(&all, motion.prior, by);
    let (forth, back) = corridor.messages();
    // With few messages a contradiction can be anything.
    let gone = match forth.min(back) < MIN_MESSAGES_TO_REFUSE {
        true => Vec::new(),
        false => suspects(&all, usual, by, forth + back),
    };
    let points = if gone.is_empty() { all } else { without(&all, &gone) };
    let excess = Excess::find(&points, usual, by, motion.cause(), told)?;
    let loose = possible(&points, motion.loose(usual, &excess), motion, usual)?.0;
    let legs = {
        let bound = |side, y| loose.bound(Way::Backward, side, y);
        let to_x = |y: Span| Span {
            begin: bound(Side::Lower, y.begin).unwrap_or(Span::EVER.begin),
            end: bound(Side::Upper, y.end).unwrap_or(Span::EVER.end),
        };
        motion.legs(usual, &excess, &[], to_x)
    };
    // Messages that contradict so many legs contradict that there are any.
    let (chain, contradicted) = possible(&points, legs, motion, usual).unwrap_or((loose, vec![Span::EVER]));
    let suspect =
        |(side, point)| Suspect { side, point, reason: SuspectReason::Contradicts { violation_ns: 0.0 } };
    let suspects: Vec<Suspect> = gone.into_iter().map(suspect).collect();
    Some(Steered {
        chain,
        usual,
        by,
        excess,
        contradicted,
        used: left_out::without(corridor, &suspects),
        suspects,
    })
}

impl Steered {
    /// The largest half width between the messages, in the middle between neighbours, ns; O(k log k).
    pub(crate) fn widest_half(&self) -> Option<i64> {
        let points = [Side::Upper, Side::Lower].into_iter().flat_map(|side| self.used.points(side));
        let mut times: Vec<i64> = points.map(Point::x).collect();
        times.sort_unstable();
        times.dedup();
        let half = |x: i64| {
            let bound = |side| self.chain.bound(Way::Forward, side, x);
            Some(bound(Side::Upper)?.saturating_sub(bound(Side::Lower)?) / 2 + 1)
        };
        times.windows(2).filter_map(|pair| half(pair[0].midpoint(pair[1]))).max()
    }

    /// Spans of a's time, in [`crate::envelope`]'s sense: where the rate is faster than what is assumed, where it is anything,
    /// and where it is not constant though that was assumed.
    pub(crate) fn looser(&self) -> Looser {
        let fast = range_around(self.usual, FASTEST).rates().1;
        let mut found = Looser { excess: Excess::default(), contradicted: self.contradicted.clone() };
        for leg in self.chain.legs() {
            match leg.rule {
                Rule::Within(rates) if rates.is_open() => found.excess.any.push(leg.x),
                rule if rule.rates().rates().1 >= fast => found.excess.fast.push(leg.x),
                _ => {}
            }
        }
        found
    }
}

/// Where bounds are looser than what was assumed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looser {
    pub(crate) excess: Excess,
    pub(crate) contradicted: Vec<Span>,
}

/// The chain of legs, those that messages contradict loosened until none does; with the legs of constant rate that were.
fn possible(
    points: &Points,
    mut legs: Vec<Leg>,
    motion: &Motion<'_>,
    usual: Usual,
) -> Option<(Chain, Vec<Span>)> {
    let mut contradicted = Vec::new();
    // Every leg can be loosened so often.
    for _ in 0..=(4 * legs.len()).min(MAX_LOOSENED) {
        let Broken { leg, alone } = match Chain::new(points, &legs) {
            Ok(chain) => return Some((chain, contradicted)),
            Err(broken) => broken,
        };
        let mut changed = loosen(&mut legs[leg], motion, usual, &mut contradicted);
        if !alone && leg > 0 {
            changed |= loosen(&mut legs[leg - 1], motion, usual, &mut contradicted);
        }
        // What cannot be loosened any more is contradicted by what came before.
        let mut before = leg;
        while !changed && before > 0 {
            before -= 1;
            changed = loosen(&mut legs[before], motion, usual, &mut contradicted);
        }
        if !changed {
            return None;
        }
    }
    None
}

/// The next wider rule; whether there is one.
fn loosen(leg: &mut Leg, motion: &Motion<'_>, usual: Usual, contradicted: &mut Vec<Span>) -> bool {
    let fastest = range_around(usual, FASTEST.max(motion.most()) + motion.wander.rate());
    leg.rule = match leg.rule {
        Rule::Constant { .. } => {
            contradicted.push(leg.x);
            Rule::Within(range_around(usual, motion.most() + motion.wander.rate()).or(leg.rule.rates()))
        }
        Rule::Within(RateRange::ANY) => return false,
        Rule::Within(rates) if rates == fastest || rates.is_open() => Rule::Within(RateRange::ANY),
        Rule::Within(_) => Rule::Within(fastest),
    };
    true
}
