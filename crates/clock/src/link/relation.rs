//! The relation between the clocks of a link over the whole trace: pieces between breaks, each with its
//! guarantee and its estimate.
//!
//! Inside a piece the model holds. Between two pieces one of the clocks was set, stopped or slewed fast, at
//! an unknown instant: there, what either piece would say is possible. [`crate::link`] makes relations;
//! `crate::network::reach` and `crate::network::joint` use them.

use crate::correction::Correction;
use crate::estimate::{Change, Curve, SlowPeriod, Variances};
use crate::geometry::{Bounded, Direction, Side, Wander};
use crate::link::{steered::Steered, violations::Allowance};
use crate::span::Span;

/// Pieces by time.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pieces: Vec<Piece>,
    /// From a's time to b's, by the estimates of the pieces.
    pub(crate) map: Correction,
    /// Largest half width over the spans of both clocks, outside of breaks, ns.
    pub(crate) half_width: i64,
    /// Where a clock was set though the messages of the link do not show it, a's time: no piece reaches
    /// across.
    cuts: Vec<Span>,
    /// Whether bounds may be open at an end: a clock may have been set after the last message.
    is_open: bool,
    /// By how much the messages were relaxed to make the relation possible, ns; 0 where they do not
    /// contradict.
    pub(crate) relaxed_by: i64,
}

/// Bounds of a relation.
#[derive(Debug, Clone)]
pub(crate) enum Guarantee {
    /// One constant rate, but for what the model lets it wander.
    Line { forward: Box<Bounded>, backward: Box<Bounded> },
    /// Segments of clocks that are steered.
    Steered(Box<Steered>),
}

impl Guarantee {
    pub(crate) fn line(forward: Bounded) -> Self {
        let backward = Box::new(forward.mirrored());
        Self::Line { forward: Box::new(forward), backward }
    }

    /// The highest (`Side::Upper`) or lowest time that the other clock can show when one shows `t`.
    pub(crate) fn bound(&self, direction: Direction, side: Side, t: i64) -> Option<i64> {
        let bounded = match (self, direction) {
            (Self::Line { forward, .. }, Direction::Forward) => forward,
            (Self::Line { backward, .. }, Direction::Backward) => backward,
            (Self::Steered(steered), direction) => return steered.chain.bound(direction, side, t),
        };
        if side == Side::Upper { bounded.hi(t) } else { bounded.lo(t) }
    }

    /// Maximal deviation of the rate from its constant, where it has one.
    pub(crate) fn wander(&self) -> Wander {
        match self {
            Self::Line { forward, .. } => forward.wander(),
            Self::Steered(_) => Wander::NONE,
        }
    }

    /// Whether the messages show rates that lie farther apart than believed beforehand.
    pub(crate) fn is_prior_contradicted(&self, prior_ppm: u32) -> bool {
        match self {
            Self::Line { forward, .. } => forward.prior_contradicted(),
            Self::Steered(steered) => {
                let far = (steered.nominal.rate - 1.0).abs() - steered.nominal.error;
                far > f64::from(prior_ppm) * 1e-6
            }
        }
    }

    /// The bounds where clocks are steered.
    pub(crate) fn steered(&self) -> Option<&Steered> {
        match self {
            Self::Line { .. } => None,
            Self::Steered(steered) => Some(steered),
        }
    }
}

/// A stretch of time in which the model of a clock holds.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// First and last message, or what of that provably lies between the breaks at its ends, a's time.
    pub(crate) x: Span,
    /// The same, b's time; next to a break, what is provably before or after it.
    pub(crate) y: Span,
    pub(crate) bounds: Guarantee,
    pub(crate) curve: Curve,
    /// Whether its messages alone bound the rate from both sides.
    pub(crate) is_closed: bool,
    /// Observed deviation of the rate from the nominal one though no daemon was thought to steer,
    /// dimensionless.
    pub(crate) moved: Option<f64>,
    /// Changes of the rate, if it changed by more than the model allows.
    pub(crate) changes: Vec<Change>,
}

/// Kind of event of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakKind {
    /// It was set or stopped, or slewed so fast that nothing can be said of it meanwhile.
    Step,
    /// Its rate changed.
    Slew,
}

/// A span of time in which something happened to one of the clocks of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Break {
    /// Kind of event.
    pub kind: BreakKind,
    /// Last message before and first message after, a's time, ns.
    pub x: Span,
    /// The same, b's time, ns.
    pub y: Span,
    /// By how much b got ahead of a, ns of b.
    pub size_ns: i64,
    /// By how much the rate of b against a changed, ppm.
    pub size_ppm: f64,
}

/// A span of time in which something happened to a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockBreak {
    /// Kind of event.
    pub kind: BreakKind,
    /// Between these raw times of the clock.
    pub raw: Span,
    /// By how much the clock got ahead of the others, ns.
    pub size_ns: i64,
    /// By how much its rate changed, ppm.
    pub size_ppm: f64,
}

/// An event that the messages of a link show by themselves, regardless of other links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LinkEvent {
    pub(crate) change: Break,
    /// Allowance in the bounds there, in the order (a, b); `None` where pieces end, or where only the wander
    /// of the link says it.
    pub(crate) allowance: Option<Allowance>,
    /// Whether a may have done it, and whether b may have.
    pub(crate) suspected: [bool; 2],
}

impl LinkEvent {
    pub(crate) fn new(change: Break, allowance: Option<Allowance>) -> Self {
        Self { change, allowance, suspected: [true; 2] }
    }

    /// Span of the event by the clock at one end of the link: 0 for a, 1 for b.
    pub(crate) fn raw(&self, end: usize) -> Span {
        if end == 0 { self.change.x } else { self.change.y }
    }

    /// The same as the doing of the clock at one end.
    pub(crate) fn of(&self, end: usize) -> ClockBreak {
        let sign = if end == 0 { -1 } else { 1 };
        ClockBreak {
            kind: self.change.kind,
            raw: self.raw(end),
            size_ns: self.change.size_ns.saturating_mul(sign),
            size_ppm: self.change.size_ppm * sign as f64,
        }
    }
}

impl Relation {
    /// Joins pieces; `None` when there is none.
    pub(crate) fn new(pieces: Vec<Piece>, relaxed_by: i64) -> Option<Self> {
        let map = joined(&pieces)?;
        Some(Self { pieces, map, half_width: 0, cuts: Vec::new(), is_open: false, relaxed_by })
    }

    /// The same with spans of a's time across which nothing is known.
    pub(crate) fn with_cuts(self, cuts: Vec<Span>) -> Self {
        Self { cuts, ..self }
    }

    /// The same, reported that its clocks may have been set where its messages do not show it.
    pub(crate) fn with_open_ends(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Whether something is known at every instant.
    pub(crate) fn reaches_all(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Whether a cut lies between a piece and an instant.
    fn is_cut_off(&self, piece: &Piece, direction: Direction, t: i64) -> bool {
        let x = match direction {
            Direction::Forward => t,
            Direction::Backward => self.map.invert(t),
        };
        let between = |cut: &Span| {
            (piece.x.end <= cut.begin && x > cut.begin) || (piece.x.begin >= cut.end && x < cut.end)
        };
        self.cuts.iter().any(between)
    }

    /// The same with its width over the spans of both clocks; `None` when the bounds there are out of range.
    pub(crate) fn over(mut self, spans: [Span; 2]) -> Option<Self> {
        for (direction, span) in [(Direction::Forward, spans[0]), (Direction::Backward, spans[1])] {
            for t in self.ends(direction, span) {
                let bounds = self.bound(direction, Side::Lower, t).zip(self.bound(direction, Side::Upper, t));
                let (lo, hi) = match bounds {
                    None if self.is_open || !self.cuts.is_empty() => continue,
                    bounds => bounds?,
                };
                let half = crate::exact::ceil_div(hi as i128 - lo as i128, 2);
                self.half_width = self.half_width.max(i64::try_from(half).ok()?);
            }
        }
        // Where rates may change at any time, bounds are widest between messages.
        let widest = self.steered().filter_map(Steered::widest_half).max();
        self.half_width = self.half_width.max(widest.unwrap_or(0));
        Some(self)
    }

    /// Times at which bounds are widest: both ends of the span and of every piece.
    fn ends(&self, direction: Direction, span: Span) -> Vec<i64> {
        let inner = self.pieces.iter().map(|p| p.span(direction)).flat_map(|s| [s.begin, s.end]);
        let mut ends: Vec<i64> = inner.collect();
        // The first and the last piece reach to the ends of the span.
        if let [first, .., last] = &mut ends[..] {
            (*first, *last) = (span.begin.min(*first), span.end.max(*last));
        }
        ends
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The highest (`Side::Upper`) or lowest time that the other clock can show when this one shows `t`;
    /// `None` where nothing is known.
    pub(crate) fn bound(&self, direction: Direction, side: Side, t: i64) -> Option<i64> {
        let of = |piece: &Piece| {
            if self.is_cut_off(piece, direction, t) {
                return None;
            }
            piece.bounds.bound(direction, side, t)
        };
        if let [only] = &self.pieces[..] {
            return of(only);
        }
        let right = self.pieces.partition_point(|p| p.span(direction).begin <= t);
        let (before, after) = (right.checked_sub(1).map(|at| &self.pieces[at]), self.pieces.get(right));
        match (before, after) {
            (Some(piece), Some(_)) if t <= piece.span(direction).end => of(piece),
            // Between two pieces either is possible.
            (Some(before), Some(after)) => {
                let (before, after) = of(before).zip(of(after))?;
                Some(if side == Side::Upper { before.max(after) } else { before.min(after) })
            }
            (piece, other) => of(piece.or(other)?),
        }
    }

    /// The statistical variances of the estimate at `x` (a's time). Between two pieces either may be right.
    pub(crate) fn variances(&self, x: i64) -> Variances {
        let right = self.pieces.partition_point(|p| p.x.begin <= x);
        let own = &self.pieces[right.saturating_sub(1)];
        let variances = own.curve.variances(x);
        match self.pieces.get(right).filter(|_| x > own.x.end && right > 0) {
            Some(next) => {
                let apart = next.curve.map.apply(x) as i128 - own.curve.map.apply(x) as i128;
                variances.plus((apart as f64).powi(2))
            }
            None => variances,
        }
    }

    /// Half the least round trip around `x`, ns.
    pub(crate) fn margin(&self, x: i64) -> f64 {
        self.piece_at(x).curve.margin
    }

    /// Part of the time in which messages took far longer than usual, of the piece in which that was longest.
    pub(crate) fn slow(&self) -> Option<SlowPeriod> {
        self.pieces.iter().filter_map(|p| p.curve.slow).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Whether every piece has the messages that a statistical error needs.
    pub(crate) fn is_statistical(&self) -> bool {
        self.pieces.iter().all(|p| p.curve.is_statistical)
    }

    /// Whether the relation is one straight line.
    pub(crate) fn is_line(&self) -> bool {
        matches!(&self.pieces[..], [only] if only.curve.as_line().is_some())
    }

    /// Bounds are proven rather than a least violation.
    pub(crate) fn is_guaranteed(&self) -> bool {
        self.relaxed_by == 0
    }

    /// The most that the rate may wander in any piece.
    pub(crate) fn wander(&self) -> Wander {
        self.pieces.iter().map(|p| p.bounds.wander()).max().unwrap_or_default()
    }

    /// Observed deviation of rates from the nominal one though no daemon was thought to steer, dimensionless.
    pub(crate) fn moved(&self) -> Option<f64> {
        self.pieces.iter().filter_map(|p| p.moved).reduce(f64::max)
    }

    /// The pieces in which a clock is steered, or may be.
    pub(crate) fn steered(&self) -> impl Iterator<Item = &Steered> {
        self.pieces.iter().filter_map(|p| p.bounds.steered())
    }

    fn piece_at(&self, x: i64) -> &Piece {
        let right = self.pieces.partition_point(|p| p.x.begin <= x);
        &self.pieces[right.saturating_sub(1)]
    }

    /// Events of the clocks, by time: steps between pieces, changes of the rate inside of them.
    pub(crate) fn events(&self) -> Vec<LinkEvent> {
        let change = |piece: &Piece, change: &Change| Break {
            kind: BreakKind::Slew,
            x: change.x,
            y: change.x.map(|x| piece.curve.map.apply(x)),
            size_ns: 0,
            size_ppm: change.rate * 1e6,
        };
        let slews = self.pieces.iter().flat_map(|p| p.changes.iter().map(move |c| change(p, c)));
        let by_themselves = self.steps().into_iter().chain(slews).map(|found| LinkEvent::new(found, None));
        let mut all: Vec<LinkEvent> =
            by_themselves.chain(self.pieces.iter().flat_map(violation_events)).collect();
        all.sort_by_key(|shown| (shown.change.x.begin, shown.change.x.end));
        all
    }

    /// The spans between pieces.
    fn steps(&self) -> Vec<Break> {
        let between = |pair: &[Piece]| {
            let [before, after] = pair else { return None };
            let x = Span { begin: before.x.end, end: after.x.begin };
            let y = Span { begin: before.y.end.min(after.y.begin), end: before.y.end.max(after.y.begin) };
            let middle = x.middle();
            let size_ns = after.curve.map.apply(middle).saturating_sub(before.curve.map.apply(middle));
            let size_ppm = after.curve.map.rate_before().ppm() - before.curve.map.rate_after().ppm();
            Some(Break { kind: BreakKind::Step, x, y, size_ns, size_ppm })
        };
        self.pieces.windows(2).filter_map(between).collect()
    }
}

impl Piece {
    fn span(&self, direction: Direction) -> Span {
        match direction {
            Direction::Forward => self.x,
            Direction::Backward => self.y,
        }
    }
}

/// Events of steered clocks: spans in which the rate left what is assumed.
fn violation_events(piece: &Piece) -> Vec<LinkEvent> {
    let Some(steered) = piece.bounds.steered() else { return Vec::new() };
    let found = |(x, allowance): (Span, Allowance)| {
        let (begin, end) = (piece.curve.map.apply(x.begin), piece.curve.map.apply(x.end));
        let run = (x.end - x.begin).max(1) as f64;
        let left = (end as i128 - begin as i128) as f64 - steered.nominal.rate * run;
        let (kind, size_ns, size_ppm) = match allowance {
            Allowance::Fast => (BreakKind::Slew, 0, left / run * 1e6),
            Allowance::Rising | Allowance::Falling | Allowance::Any => (BreakKind::Step, left as i64, 0.0),
        };
        let bound =
            |side, x: i64, estimate: i64| piece.bounds.bound(Direction::Forward, side, x).unwrap_or(estimate);
        let y = Span { begin: bound(Side::Lower, x.begin, begin), end: bound(Side::Upper, x.end, end) };
        LinkEvent::new(Break { kind, x, y, size_ns, size_ppm }, Some(allowance))
    };
    steered.violations.spans().map(found).collect()
}

/// One map through the maps of all pieces, straight across the breaks.
fn joined(pieces: &[Piece]) -> Option<Correction> {
    let [first, .., last] = pieces else { return pieces.first().map(|only| only.curve.map.clone()) };
    let mut knots: Vec<(i64, i64)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        // What provably lies between the breaks: messages of the pieces before and after may overlap.
        let (begin, end) = (piece.x.begin, piece.x.end);
        let (is_first, is_last) = (index == 0, index + 1 == pieces.len());
        let within = |x: i64| (is_first || begin <= x) && (is_last || x <= end);
        let map = &piece.curve.map;
        let inner = map.knots().iter().copied().filter(|k| within(k.0));
        let mut own: Vec<_> = inner.chain([begin, end].map(|x| (x, map.apply(x)))).collect();
        own.sort_unstable();
        knots.extend(own);
    }
    knots.dedup_by(|later, earlier| later.0 <= earlier.0);
    for i in 1..knots.len() {
        // A clock that stood still may seem to go back by the error of the estimates.
        knots[i].1 = knots[i].1.max(knots[i - 1].1);
    }
    Correction::new(knots, first.curve.map.rate_before(), last.curve.map.rate_after()).ok()
}
