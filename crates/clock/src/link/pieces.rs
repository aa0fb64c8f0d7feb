//! From the messages of a link to pieces in which the model holds: what is suspect is left out, what
//! contradicts the model is a break or a rate that changes.
//!
//! The order of the rules is that of DESIGN.md: suspect messages first, then breaks, then rates that change.
//! A contradiction that none of them explains is refused by [`crate::link`].

use crate::estimate::{
    Curve, MAX_CONTRADICTIONS, MIN_MESSAGES_TO_REFUSE, PairEstimate, Suspect, SuspectReason, changes,
    combined, exceeds, has_moved, range, rate_change, straightness,
};
use crate::geometry::{
    Bounded, Corridor, Infeasible, MAX_WINDOWS, Point, Side, SlopeBand, SlopeRange, Wander,
};
use crate::link::left_out::{
    local_suspects, plausible_band, suspects_of_part, without, wrong_messages_between,
};
use crate::link::relation::{Guarantee, Piece, Relation};
use crate::link::zone::{ABRUPT, Zone, steepest};
use crate::link::{left_out, motion::Motion, steered, violations::LimitViolations};
use crate::model::{Model, STEERED_PPM};
use crate::span::Span;

/// A piece has at least this many messages each way: more than wrong matches would be.
const MIN_MESSAGES: u64 = 4;
/// A link with more breaks than this is refused: its clock is not one.
const MAX_BREAKS: usize = 16;
/// Factor of the least change of rate that the messages force: it may have been more.
const BEYOND_FORCED: f64 = 1.5;
/// A clock that was thought to run free, and did not, may have left its rate by this factor of what was seen,
/// up to what the kernel allows NTP.
const BEYOND_SEEN: f64 = 2.0;
/// … and by at least this.
const MIN_MOVED: f64 = 1e-6;

/// The pieces of a link.
pub(crate) struct Pieces {
    /// By time; not empty.
    pub(crate) list: Vec<Piece>,
    /// The messages used.
    pub(crate) used: Corridor,
    pub(crate) suspects: Vec<Suspect>,
}

/// Messages of a stretch without contradiction, or about to be cut.
struct Part {
    /// In few windows: enough for clocks that run free.
    messages: Corridor,
    /// The same in all windows that there are, for clocks that turn out not to.
    fine: Corridor,
    /// Constants and wander under which they are possible.
    bounded: Result<Bounded, Infeasible>,
}

impl Pieces {
    /// The pieces of messages that go both ways.
    ///
    /// # Errors
    /// The contradiction, when it is not explained.
    pub(crate) fn of(corridor: &Corridor, model: &Model, motion: &Motion<'_>) -> Result<Self, Infeasible> {
        if motion.is_free() {
            return Self::free(corridor, model, motion);
        }
        if let Some(piece) = steered_piece(corridor, motion, &LimitViolations::default()) {
            return Ok(Self::one(piece));
        }
        // No clock that only runs forward explains the messages: one was set back, or some are wrong.
        Self::cut(corridor.clone(), model, motion)
    }

    fn one(piece: Piece) -> Self {
        let steered = piece.bounds.steered();
        let used = steered.map(|s| s.used.clone()).unwrap_or_default();
        let suspects = steered.map(|s| s.suspects.clone()).unwrap_or_default();
        Self { list: vec![piece], used, suspects }
    }

    /// Of clocks that no daemon steers.
    fn free(corridor: &Corridor, model: &Model, motion: &Motion<'_>) -> Result<Self, Infeasible> {
        let (wander, prior) = (motion.wander, model.prior());
        let coarse = corridor.clone().limited_to(MAX_WINDOWS);
        if corridor.fewer_messages() < MIN_MESSAGES_TO_REFUSE {
            // With so few, a contradiction can be anything.
            let list = vec![Part::new(coarse.clone(), Corridor::new(), prior, wander).possible()?];
            return Ok(Self { list, used: coarse, suspects: Vec::new() });
        }
        let mut suspects = left_out::suspects(&coarse, prior);
        let mut cleaned = without(&coarse, &suspects);
        if cleaned.within(prior, wander).is_err() {
            let more = local_suspects(&cleaned, prior, wander);
            cleaned = without(&cleaned, &more);
            suspects.extend(more);
        }
        let fine = without(corridor, &suspects);
        let whole = Part::new(cleaned, fine, prior, wander);
        Self::cut_parts(vec![whole], suspects, model, motion)
    }

    fn cut(fine: Corridor, model: &Model, motion: &Motion<'_>) -> Result<Self, Infeasible> {
        let coarse = fine.clone().limited_to(MAX_WINDOWS);
        let whole = Part::new(coarse, fine, model.prior(), motion.wander);
        Self::cut_parts(vec![whole], Vec::new(), model, motion)
    }

    /// The pieces of parts that are cut where a clock was set.
    fn cut_parts(
        mut parts: Vec<Part>,
        mut suspects: Vec<Suspect>,
        model: &Model,
        motion: &Motion<'_>,
    ) -> Result<Self, Infeasible> {
        let (wander, prior) = (motion.wander, model.prior());
        while parts.len() <= MAX_BREAKS && cut_one(&mut parts, prior, wander) {}
        merge_short_parts(&mut parts, prior, wander, &mut suspects)?;
        let mut list = Vec::new();
        let mut used = Corridor::new();
        let is_cut = parts.len() > 1;
        for mut part in parts {
            if is_cut {
                // A part is straight where the whole was not.
                let more = suspects_of_part(&part.messages, prior, wander);
                if !more.is_empty() {
                    let left = |messages| without(messages, &more);
                    part = Part::new(left(&part.messages), left(&part.fine), prior, wander);
                    suspects.extend(more);
                }
            }
            let piece = part.piece_of(prior, motion)?;
            list.push(if is_cut { piece.clip_to_proven(&part.messages) } else { piece });
            used.merge(part.messages);
        }
        Ok(Self { list, used, suspects })
    }
}

impl Part {
    fn new(messages: Corridor, fine: Corridor, prior: SlopeRange, wander: Wander) -> Self {
        let bounded = messages.within(prior, wander);
        Self { messages, fine, bounded }
    }

    /// The messages of both.
    fn with(&self, other: &Self, prior: SlopeRange, wander: Wander) -> Self {
        let merged = |own: &Corridor, other: &Corridor| {
            let mut both = own.clone();
            both.merge(other.clone());
            both
        };
        Self::new(merged(&self.messages, &other.messages), merged(&self.fine, &other.fine), prior, wander)
    }

    fn is_small(&self) -> bool {
        self.messages.fewer_messages() < MIN_MESSAGES
    }

    /// The piece, if the messages do not contradict the model.
    fn possible(&self) -> Result<Piece, Infeasible> {
        let bounded = self.bounded.clone()?;
        let straight = self.messages.rates().is_ok();
        piece(&self.messages, bounded, !straight)
            .ok_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED })
    }

    /// The piece: with constant rates if no daemon steers and the messages allow, else with rates that
    /// change.
    fn piece_of(&self, prior: SlopeRange, motion: &Motion<'_>) -> Result<Piece, Infeasible> {
        if !motion.is_free() {
            let piece = steered_piece(&self.fine, motion, &LimitViolations::default());
            return piece.ok_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED });
        }
        match &self.bounded {
            Ok(bounded) => {
                let piece = self.possible()?;
                // Fits within the rates that a straight clock leaves could not show that it is not straight.
                let band = plausible_band(&self.messages, prior).unwrap_or_else(|| bounded.band());
                // Of many stretches some are off by accident: least delays must show it as well.
                let shows = |line: &PairEstimate| {
                    has_moved(&self.messages, band, line)
                        && !straightness::test(self.messages.windows(), line).is_straight
                };
                // Where no line satisfies all messages, the one of least violation is tested.
                let least = match piece.curve.as_line() {
                    Some(_) => None,
                    None => Curve::line(&self.messages, band, (0, 1)),
                };
                let line = piece.curve.as_line().or_else(|| least.as_ref()?.as_line());
                let moved = line.is_none_or(shows);
                if moved && exceeds(&self.messages, band, motion.wander, line) {
                    self.moving(motion, band, 0.0)
                } else {
                    Ok(piece)
                }
            }
            Err(why @ Infeasible::Crossed { min, max, .. }) => {
                let band = plausible_band(&self.messages, prior).ok_or(*why)?;
                let forced = (min.ppm() - max.ppm()) * 0.5e-6;
                if forced > ABRUPT { Err(*why) } else { self.moving(motion, band, forced) }
            }
            Err(why) => Err(*why),
        }
    }

    /// A piece of clocks that were thought to run free, and whose rate changes by more than the model's
    /// wander.
    fn moving(&self, motion: &Motion<'_>, band: SlopeBand, forced: f64) -> Result<Piece, Infeasible> {
        let changes = changes(&self.messages, band);
        let seen = rate_change(&self.messages, band).max(range(&changes)).max(BEYOND_FORCED * forced);
        let limit = f64::from(STEERED_PPM) * 1e-6;
        let moved = (BEYOND_SEEN * seen).min(limit).max(BEYOND_FORCED * forced).max(MIN_MOVED);
        let piece = steered_piece(&self.fine, &motion.moving(Some(moved)), &LimitViolations::default());
        let piece = piece.ok_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED })?;
        Ok(Piece { changes, ..piece })
    }
}

/// The piece of clocks one of which is steered, or may be; `None` without messages both ways, and where no
/// motion of the clocks explains them.
pub(crate) fn steered_piece(
    messages: &Corridor,
    motion: &Motion<'_>,
    reported: &LimitViolations,
) -> Option<Piece> {
    if messages.fewer_messages() == 0 {
        return None;
    }
    let steered = steered::bounded(messages, motion, reported)?;
    let (x, y) = (steered.used.x_range()?, steered.used.y_range()?);
    let ends = Span { begin: x.begin, end: x.end.max(x.begin + 1) };
    let curve = combined(&steered.used, &steered.chain, ends)?;
    let is_closed = steered.used.rates().map_or(true, |r| r.min.is_some() && r.max.is_some());
    let moved = motion.moved;
    let bounds = Guarantee::Steered(Box::new(steered));
    Some(Piece { x, y, bounds, curve, is_closed, moved, changes: Vec::new() })
}

/// A relation when the rates of its clocks move as `motion` says, and by more where other links show it
/// (`reported`). Where no daemon steers, no piece reaches across `cuts`, where a clock was set though the
/// messages of the link do not show it. Both are on a's time. `None` where no part has messages both ways.
pub(crate) fn allowing(
    relation: &Relation,
    messages: &Corridor,
    fine: &Corridor,
    motion: &Motion<'_>,
    reported: &LimitViolations,
    cuts: &[Span],
    prior: SlopeRange,
) -> Option<Relation> {
    let mut list = Vec::new();
    // What lies between the cuts; inside of one, nothing can be said.
    let ends = cuts.iter().map(|cut| cut.begin).chain([i64::MAX]);
    let begins = [i64::MIN].into_iter().chain(cuts.iter().map(|cut| cut.end));
    let between: Vec<(i64, i64)> = begins.zip(ends).collect();
    let mut severing = Vec::new();
    for old in relation.pieces() {
        let motion = motion.moving(old.moved);
        let within = |from: i64, to: i64| {
            let (from, to) = (from.max(old.x.begin), to.min(old.x.end));
            move |_: Side, p: Point| (from..=to).contains(&p.x())
        };
        if !motion.is_free() {
            let part = fine.filtered(within(i64::MIN, i64::MAX));
            let found = steered_piece(&part, &motion, reported);
            list.extend(found.map(|new| Piece { changes: old.changes.clone(), x: old.x, y: old.y, ..new }));
            continue;
        }
        severing = cuts.to_vec();
        let bent = old.curve.as_line().is_none();
        for &(from, to) in &between {
            let part = messages.filtered(within(from, to));
            let bounded = part.within(prior, motion.wander).ok();
            let found = bounded.and_then(|bounded| piece(&part, bounded, bent));
            list.extend(found.map(|new| Piece { changes: old.changes.clone(), ..new }));
        }
    }
    Some(Relation::new(list, relation.relaxed_by)?.with_cuts(severing).with_open_ends())
}

/// A piece from its messages and bounds; `None` without messages both ways.
pub(crate) fn piece(messages: &Corridor, forward: Bounded, bent: bool) -> Option<Piece> {
    let (x, y) = (messages.x_range()?, messages.y_range()?);
    let ends = (x.begin, x.end.max(x.begin + 1));
    let band = forward.band();
    // Messages that contradict a line bound its rate from both sides.
    let is_closed = messages.rates().map_or(true, |r| r.min.is_some() && r.max.is_some());
    let curve = match bent {
        true => Curve::bent(messages, band, forward.wander(), ends)?,
        false => Curve::line(messages, band, ends)?,
    };
    Some(Piece { x, y, bounds: Guarantee::line(forward), curve, is_closed, moved: None, changes: Vec::new() })
}

impl Piece {
    /// The piece over no more than what provably lies between the breaks at its ends: what was received after
    /// the one, and sent before the other.
    fn clip_to_proven(mut self, messages: &Corridor) -> Self {
        let (forth, back) = (messages.points(Side::Upper), messages.points(Side::Lower));
        let span = |received: Option<i64>, sent: Option<i64>, all: Span| {
            let (begin, end) = (received.unwrap_or(all.begin), sent.unwrap_or(all.end));
            // None, perhaps: then an instant.
            if begin <= end { Span { begin, end } } else { Span::at(begin.midpoint(end)) }
        };
        self.x = span(back.clone().map(Point::x).min(), forth.clone().map(Point::x).max(), self.x);
        self.y = span(forth.map(Point::y).min(), back.map(Point::y).max(), self.y);
        self
    }
}

/// Cuts the first part that contradicts itself around its steepest change; whether there was one.
fn cut_one(parts: &mut Vec<Part>, prior: SlopeRange, wander: Wander) -> bool {
    let contradicts =
        |p: &Part| matches!(p.bounded, Err(Infeasible::Crossed { .. } | Infeasible::SameInstant { .. }));
    let cut = |p: &Part, zone: Zone| {
        let part = |keep: &dyn Fn(Point) -> bool| {
            let of = |messages: &Corridor| messages.filtered(|_, point| keep(point));
            Part::new(of(&p.messages), of(&p.fine), prior, wander)
        };
        [part(&|point| zone.is_before(point)), part(&|point| zone.is_after(point))]
    };
    let abrupt = |p: &Part| Some(cut(p, steepest(&p.messages, ABRUPT)?));
    // A small step in a long silence is no steeper than a slew: it is one if there is no other way between
    // two straight lines.
    let gentle = |p: &Part| {
        let zone = steepest(&p.messages, 0.0).filter(|zone| zone.is_sudden(&p.messages))?;
        let halves = cut(p, zone);
        is_step(&halves, zone.middle()).then_some(halves)
    };
    let mut cuts = parts.iter().enumerate().filter(|(_, p)| contradicts(p));
    let Some((at, halves)) = cuts.find_map(|(at, p)| Some((at, abrupt(p).or_else(|| gentle(p))?))) else {
        return false;
    };
    parts.splice(at..=at, halves.into_iter().filter(|half| half.messages.x_range().is_some()));
    true
}

/// Whether two parts, each straight for itself, prove that a clock was set between them: at `x` their bounds
/// are apart.
fn is_step(halves: &[Part; 2], x: i64) -> bool {
    let [Ok(before), Ok(after)] = halves.each_ref().map(|half| half.bounded.as_ref()) else { return false };
    let is_straight = |(part, bounded): (&Part, &Bounded)| {
        !part.is_small()
            && Curve::line(&part.messages, bounded.band(), (0, 1))
                .as_ref()
                .and_then(Curve::as_line)
                .is_some_and(|line| !has_moved(&part.messages, bounded.band(), line))
    };
    let apart = |low: &Bounded, high: &Bounded| low.hi(x).zip(high.lo(x)).is_some_and(|(hi, lo)| hi < lo);
    (apart(before, after) || apart(after, before)) && halves.iter().zip([before, after]).all(is_straight)
}

/// Parts with too few messages to stand for themselves, those next to each other together: wrong matches, if
/// their neighbours fit together without them and nothing explains them, else a longer break. At an end they
/// are undecidable: wrong matches if they are few, else an error.
fn merge_short_parts(
    parts: &mut Vec<Part>,
    prior: SlopeRange,
    wander: Wander,
    suspects: &mut Vec<Suspect>,
) -> Result<(), Infeasible> {
    while parts.len() > 1
        && let Some(at) = parts.iter().position(Part::is_small)
    {
        let count = parts[at..].iter().take_while(|part| part.is_small()).count();
        let small: Vec<Part> = parts.splice(at..at + count, []).collect();
        let points: Vec<_> = small.iter().flat_map(|part| part.messages.all_points()).collect();
        // More than wrong matches would be are no wrong matches: something happened meanwhile.
        let few = points.len() <= MAX_CONTRADICTIONS as usize;
        let mut name = |wrong: Vec<(Side, Point)>| {
            let reason = SuspectReason::Contradicts { violation_ns: 0.0 };
            suspects.extend(wrong.into_iter().map(|(side, point)| Suspect { side, point, reason }));
        };
        if at == 0 || at == parts.len() {
            if !few || parts.is_empty() {
                let why = small.into_iter().find_map(|part| part.bounded.err());
                return Err(why.unwrap_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED }));
            }
            name(points);
        } else if few
            && let Some((both, wrong)) = joined([&parts[at - 1], &parts[at]], &small, &points, prior, wander)
        {
            name(wrong);
            parts.splice(at - 1..=at, [both]);
        }
    }
    Ok(())
}

/// Two neighbours with what was between them but for wrong matches, and these; `None` where something
/// happened between.
fn joined(
    [before, after]: [&Part; 2],
    small: &[Part],
    points: &[(Side, Point)],
    prior: SlopeRange,
    wander: Wander,
) -> Option<(Part, Vec<(Side, Point)>)> {
    let both = before.with(after, prior, wander);
    let [one, other, all] = [before, after, &both].map(|part| part.bounded.as_ref().ok());
    let wrong = wrong_messages_between(one?, other?, all?, points)?;
    let right = |messages: &Corridor| messages.filtered(|side, p| !wrong.contains(&(side, p)));
    let add = |both: Part, part: &Part| {
        both.with(&Part::new(right(&part.messages), right(&part.fine), prior, wander), prior, wander)
    };
    let whole = small.iter().fold(both, add);
    whole.bounded.is_ok().then_some((whole, wrong))
}
