//! From the messages of a link to pieces in which the model holds: what is suspect is left out, what contradicts the model is
//! a break or a rate that changes.
//!
//! The order of the rules is that of DESIGN.md: suspect messages first, then breaks, then rates that change. A contradiction
//! that none of them explains is refused by [`crate::link`].

use crate::bounded::Bounded;
use crate::corridor::{Corridor, Infeasible};
use crate::curve::Curve;
use crate::hull::Side;
use crate::link::MIN_MESSAGES_TO_REFUSE;
use crate::measure::{changes, has_moved, range, rate_change};
use crate::model::Model;
use crate::relation::{Piece, Relation};
use crate::slope::{Slope, SlopeBand, SlopeRange};
use crate::span::Span;
use crate::suspect::{MAX_CONTRADICTIONS, Reason, Suspect, clean};
use crate::wander::Wander;
use crate::zone::{ABRUPT, steepest};

/// A piece has at least this many messages each way: more than wrong matches would be.
const MIN_MESSAGES: u64 = 4;
/// A link with more breaks than this is refused: its clock is not one.
const MAX_BREAKS: usize = 16;
/// What the messages force the rate to change by is the least that it did: it may have been more.
const BEYOND_FORCED: f64 = 1.5;

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
    messages: Corridor,
    /// Constants and wander under which they are possible.
    bounded: Result<Bounded, Infeasible>,
}

impl Pieces {
    /// The pieces of messages that go both ways.
    ///
    /// # Errors
    /// The contradiction, when it is not explained.
    pub(crate) fn of(corridor: &Corridor, model: &Model) -> Result<Self, Infeasible> {
        let (wander, prior) = (model.wander().unwrap_or_default(), model.prior());
        let (forth, back) = corridor.messages();
        if forth.min(back) < MIN_MESSAGES_TO_REFUSE {
            // With so few, a contradiction can be anything.
            let list = vec![Part::new(corridor.clone(), prior, wander).possible()?];
            return Ok(Self { list, used: corridor.clone(), suspects: Vec::new() });
        }
        let (cleaned, mut suspects) = without_suspects(corridor, prior);
        let mut parts = vec![Part::new(cleaned, prior, wander)];
        while parts.len() <= MAX_BREAKS && cut_one(&mut parts, prior, wander) {}
        swallow(&mut parts, prior, wander, &mut suspects)?;
        let mut list = Vec::new();
        let mut used = Corridor::new();
        for part in parts {
            list.push(part.settled(prior, wander)?);
            used.merge(&part.messages);
        }
        Ok(Self { list, used, suspects })
    }
}

impl Part {
    fn new(messages: Corridor, prior: SlopeRange, wander: Wander) -> Self {
        let bounded = messages.within(prior, wander);
        Self { messages, bounded }
    }

    fn is_small(&self) -> bool {
        let (forth, back) = self.messages.messages();
        forth.min(back) < MIN_MESSAGES
    }

    /// The piece, if the messages do not contradict the model.
    fn possible(&self) -> Result<Piece, Infeasible> {
        let bounded = self.bounded.clone()?;
        let straight = self.messages.rates().is_ok();
        piece(&self.messages, bounded, !straight)
            .ok_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED })
    }

    /// The piece: with constant rates if the messages allow, else with rates that change.
    fn settled(&self, prior: SlopeRange, wander: Wander) -> Result<Piece, Infeasible> {
        match &self.bounded {
            Ok(bounded) => {
                let piece = self.possible()?;
                let moved =
                    piece.curve.as_line().is_some_and(|l| has_moved(&self.messages, bounded.band(), l));
                if moved { changing(&self.messages, prior, wander, bounded.band(), 0.0) } else { Ok(piece) }
            }
            Err(why @ Infeasible::Crossed { min, max, .. }) => {
                let band = believable(&self.messages, prior).ok_or(*why)?;
                let forced = (min.ppm() - max.ppm()) * 0.5e-6;
                if forced > ABRUPT {
                    Err(*why)
                } else {
                    changing(&self.messages, prior, wander, band, forced)
                }
            }
            Err(why) => Err(*why),
        }
    }
}

/// A piece whose rate changes by more than the model's wander.
fn changing(
    messages: &Corridor,
    prior: SlopeRange,
    wander: Wander,
    band: SlopeBand,
    forced: f64,
) -> Result<Piece, Infeasible> {
    let changes = changes(messages, band);
    let seen = rate_change(messages, band).max(range(&changes)).max(BEYOND_FORCED * forced);
    let wander = wander.plus(Wander::of_rate(seen));
    let bounded = messages.within(prior, wander)?;
    let mut piece =
        piece(messages, bounded, true).ok_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED })?;
    piece.changes = changes;
    Ok(piece)
}

/// A relation when rates may wander that far and a clock was set in each of some spans (a's time) that the messages of the
/// link do not show: no piece reaches across them. `None` where no part has messages both ways.
pub(crate) fn allowing(
    relation: &Relation,
    messages: &Corridor,
    wander: Wander,
    cuts: &[Span],
    prior: SlopeRange,
) -> Option<Relation> {
    let mut list = Vec::new();
    let mut cuts: Vec<Span> = cuts.to_vec();
    cuts.sort_unstable_by_key(|cut| (cut.begin, cut.end));
    // What lies between the cuts; inside of one, nothing can be said.
    let ends = cuts.iter().map(|cut| cut.begin).chain([i64::MAX]);
    let begins = [i64::MIN].into_iter().chain(cuts.iter().map(|cut| cut.end));
    let between: Vec<(i64, i64)> = begins.zip(ends).collect();
    for old in relation.pieces() {
        let wander = wander.max(old.forward.wander());
        let bent = old.curve.as_line().is_none() || wander > old.forward.wander();
        for &(from, to) in &between {
            let (from, to) = (from.max(old.x.begin), to.min(old.x.end));
            let part = messages.filtered(|_, p| (from..=to).contains(&p.x()));
            let bounded = part.within(prior, wander).ok();
            let found = bounded.and_then(|bounded| piece(&part, bounded, bent));
            list.extend(found.map(|new| Piece { changes: old.changes.clone(), ..new }));
        }
    }
    Some(Relation::new(list, relation.relaxed_by)?.severed(cuts))
}

/// A piece from its messages and bounds; `None` without messages both ways.
pub(crate) fn piece(messages: &Corridor, forward: Bounded, bent: bool) -> Option<Piece> {
    let span = |(begin, end)| Span { begin, end };
    let (x, y) = (messages.x_range().map(span)?, messages.y_range().map(span)?);
    let ends = (x.begin, x.end.max(x.begin + 1));
    let band = forward.band();
    // Messages that contradict a line bound its rate from both sides.
    let is_closed = messages.rates().map_or(true, |r| r.min.is_some() && r.max.is_some());
    let curve = match bent {
        true => Curve::bent(messages, band, forward.wander(), ends)?,
        false => Curve::line(messages, band, ends)?,
    };
    Some(Piece { x, y, backward: forward.mirrored(), forward, curve, is_closed, changes: Vec::new() })
}

/// Cuts the first part that contradicts itself around its steepest change; whether there was one.
fn cut_one(parts: &mut Vec<Part>, prior: SlopeRange, wander: Wander) -> bool {
    let contradicts =
        |p: &Part| matches!(p.bounded, Err(Infeasible::Crossed { .. } | Infeasible::SameInstant { .. }));
    let mut cuts = parts.iter().enumerate().filter(|(_, p)| contradicts(p));
    let Some((at, (from, to))) = cuts.find_map(|(at, p)| Some((at, steepest(&p.messages)?))) else {
        return false;
    };
    let halves = [
        parts[at].messages.filtered(|_, p| p.x() <= from),
        parts[at].messages.filtered(|_, p| p.x() >= to && p.x() > from),
    ];
    let halves = halves.into_iter().filter(|half| half.x_range().is_some());
    let halves: Vec<_> = halves.map(|half| Part::new(half, prior, wander)).collect();
    parts.splice(at..=at, halves);
    true
}

/// Parts with too few messages to stand for themselves: wrong matches, if their neighbours fit together without them,
/// else a longer break. At an end they are nothing that can be told: an error.
fn swallow(
    parts: &mut Vec<Part>,
    prior: SlopeRange,
    wander: Wander,
    suspects: &mut Vec<Suspect>,
) -> Result<(), Infeasible> {
    while parts.len() > 1
        && let Some(at) = parts.iter().position(Part::is_small)
    {
        let small = parts.remove(at);
        let points: Vec<_> = [Side::Upper, Side::Lower]
            .into_iter()
            .flat_map(|side| small.messages.points(side).map(move |point| (side, point)))
            .collect();
        let few = points.len() <= MAX_CONTRADICTIONS as usize;
        // More than wrong matches would be are no wrong matches: something happened meanwhile.
        let fits = (few && at > 0 && at < parts.len()).then(|| {
            let mut both = parts[at - 1].messages.clone();
            both.merge(&parts[at].messages);
            Part::new(both, prior, wander)
        });
        let merged = fits.filter(|both| both.bounded.is_ok());
        if few && (merged.is_some() || at == 0 || at == parts.len()) {
            let of =
                |(side, point)| Suspect { side, point, reason: Reason::Contradicts { violation_ns: 0.0 } };
            suspects.extend(points.into_iter().map(of));
        } else if at == 0 || at == parts.len() {
            return Err(small
                .bounded
                .err()
                .unwrap_or(Infeasible::NotAClock { rates: SlopeRange::UNBOUNDED }));
        }
        if let Some(both) = merged {
            parts.splice(at - 1..=at, [both]);
        }
    }
    Ok(())
}

/// The messages without those that look wrong by themselves ([`crate::suspect`]). Where the clocks moved, what contradicts a
/// line is no mistake, and all messages stay.
fn without_suspects(corridor: &Corridor, prior: SlopeRange) -> (Corridor, Vec<Suspect>) {
    let all = (corridor.clone(), Vec::new());
    let Some(band) = believable(corridor, prior) else { return all };
    let Ok(cleaned) = clean(corridor.floor(Side::Upper), corridor.floor(Side::Lower), band) else {
        return all;
    };
    let suspects = cleaned.suspects;
    if suspects.is_empty() {
        return all;
    }
    let rest = corridor.filtered(|side, p| !suspects.iter().any(|s| s.side == side && s.point == p));
    let line = Curve::line(&rest, band, (0, 1));
    let moved = line.as_ref().and_then(Curve::as_line).is_none_or(|line| has_moved(&rest, band, line));
    if moved { all } else { (rest, suspects) }
}

/// The rates in question: those of the prior, unless the clocks plainly run at others.
fn believable(corridor: &Corridor, prior: SlopeRange) -> Option<SlopeBand> {
    let ((begin, end), (first, last)) = (corridor.x_range()?, corridor.y_range()?);
    let usual = Slope::new(last - first, (end - begin).max(1)).ok()?;
    let is_usual = prior.widened(Wander::of_rate(ABRUPT)).contains(usual);
    if is_usual { prior.closed() } else { SlopeRange::UNBOUNDED.closed() }
}
