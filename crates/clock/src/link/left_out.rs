//! Which messages of a link are left out because they look wrong: among all of them, among their neighbours,
//! and between cuts.
//!
//! `crate::estimate::suspect` says which messages stand in the way of a straight line. Whether they are
//! wrong depends on what is known of the clocks. As long as nothing shows that one of them was set or
//! stopped, a message that contradicts all others is. Where that is shown, a message is wrong only if what
//! came before it contradicts it as well as what came after it: otherwise the clock may have been set between
//! it and the ones that it contradicts. [`crate::link::pieces`] uses it.

use crate::estimate::{
    Curve, MIN_MESSAGES_TO_REFUSE, PairEstimate, Suspect, SuspectReason, clean, has_moved, is_pinched,
};
use crate::geometry::{Bounded, Corridor, Point, Side, Slope, SlopeBand, SlopeRange, Wander};
use crate::link::zone::ABRUPT;
use crate::span::Span;

/// Where clocks are not straight, number of stretches in which wrong messages are searched, and between them.
const STRETCHES: i64 = 8;
/// Where clocks moved, a message that came too early is suspect only if it takes this share of the room that
/// the others leave: next to what happened, honest messages may look odd.
const TAKES_OF_ROOM: f64 = 0.25;

/// The messages without some of them.
pub(crate) fn without(corridor: &Corridor, gone: &[Suspect]) -> Corridor {
    if gone.is_empty() {
        return corridor.clone();
    }
    corridor.filtered(|side, p| !gone.iter().any(|s| s.side == side && s.point == p))
}

/// Messages that look wrong among all of a link, where nothing shows that a clock was set. Where the clocks
/// moved, what contradicts a line is no mistake: none then.
pub(crate) fn suspects(corridor: &Corridor, prior: SlopeRange) -> Vec<Suspect> {
    taking(corridor, prior, 0.0)
}

/// Messages of a part between cuts that look wrong.
pub(crate) fn suspects_of_part(corridor: &Corridor, prior: SlopeRange, wander: Wander) -> Vec<Suspect> {
    let mut found = taking(corridor, prior, TAKES_OF_ROOM);
    let rest = without(corridor, &found);
    found.retain(|suspect| is_between(&rest, suspect, prior, wander));
    found
}

/// Messages that look wrong among their neighbours, for clocks that are straight for a while only: where
/// stretches overlap, among the neighbours of either, unless it is at an end of them and cannot be decided.
pub(crate) fn local_suspects(corridor: &Corridor, prior: SlopeRange, wander: Wander) -> Vec<Suspect> {
    let Some(Span { begin, end }) = corridor.x_range() else { return Vec::new() };
    let step = ((end - begin) / (2 * STRETCHES)).max(1);
    let stretches = (0..2 * STRETCHES - 1).map(|i| (begin + i * step, begin + (i + 2) * step + 1));
    let mut suspects: Vec<Suspect> = Vec::new();
    let mut cleared: Vec<Point> = Vec::new();
    for (from, to) in stretches {
        let part = corridor.filtered(|_, p| (from..=to).contains(&p.x()));
        if part.fewer_messages() < MIN_MESSAGES_TO_REFUSE {
            continue;
        }
        let found = taking(&part, prior, TAKES_OF_ROOM);
        let points = part.all_points().map(|(_, point)| point);
        cleared.extend(points.filter(|&p| found.iter().all(|s| s.point != p)));
        let rest = without(&part, &found);
        suspects.extend(found.into_iter().filter(|s| is_between(&rest, s, prior, wander)));
    }
    suspects.retain(|s| !cleared.contains(&s.point));
    suspects.dedup_by_key(|s| (s.side, s.point));
    suspects
}

/// Which of the messages between two parts are wrong, if the parts fit together and nothing that a clock does
/// explains these messages; what is not wrong of them fits as well. `None` where something happened.
pub(crate) fn wrong_messages_between(
    before: &Bounded,
    after: &Bounded,
    both: &Bounded,
    messages: &[(Side, Point)],
) -> Option<Vec<(Side, Point)>> {
    let wrong: Vec<_> = messages.iter().copied().filter(|&(side, p)| excludes(both, side, p)).collect();
    let is_between = |&(side, p): &(Side, Point)| excludes(before, side, p) && excludes(after, side, p);
    wrong.iter().all(is_between).then_some(wrong)
}

/// The messages that look wrong by themselves, those that came too early only if they take this share of the
/// room.
fn taking(corridor: &Corridor, prior: SlopeRange, share: f64) -> Vec<Suspect> {
    let Some(band) = plausible_band(corridor, prior) else { return Vec::new() };
    let Ok(cleaned) = clean(corridor.sample(Side::Upper), corridor.sample(Side::Lower), band) else {
        return Vec::new();
    };
    let mut suspects = cleaned.suspects;
    if suspects.is_empty() {
        return suspects;
    }
    let room =
        |messages: &Corridor| Curve::line(messages, band, (0, 1))?.as_line().map(PairEstimate::margin_ns);
    let left = room(corridor).zip(room(&without(corridor, &suspects)));
    if left.is_some_and(|(with, without)| without - with < share * without) {
        suspects.retain(|s| matches!(s.reason, SuspectReason::Contradicts { .. }));
    }
    if suspects.is_empty() {
        return suspects;
    }
    let rest = without(corridor, &suspects);
    let line = Curve::line(&rest, band, (0, 1));
    let line = line.as_ref().and_then(Curve::as_line);
    let moved = line.is_none_or(|line| has_moved(&rest, band, line) || is_pinched(&rest, band, line));
    if moved || is_end_lost(&rest, &suspects) { Vec::new() } else { suspects }
}

/// Whether a suspect is one against what came before it and against what came after it, at rates that the
/// others leave. What came too early narrows the corridor of either: that of its own direction.
fn is_between(rest: &Corridor, suspect: &Suspect, prior: SlopeRange, wander: Wander) -> bool {
    let Ok(all) = rest.within(prior, wander) else { return false };
    let Suspect { side, point, reason } = *suspect;
    let speaks_against = |part: &Corridor| {
        let part = Bounded::new(part, all.band(), wander, false);
        match (reason, side) {
            (SuspectReason::Contradicts { .. }, _) => excludes(&part, side, point),
            (SuspectReason::TooEarly { .. }, Side::Upper) => {
                part.hi(point.x()).is_some_and(|hi| point.y() < hi)
            }
            (SuspectReason::TooEarly { .. }, Side::Lower) => {
                part.lo(point.x()).is_some_and(|lo| lo < point.y())
            }
        }
    };
    speaks_against(&rest.filtered(|_, p| p.x() <= point.x()))
        && speaks_against(&rest.filtered(|_, p| p.x() >= point.x()))
}

/// Whether a message is impossible within bounds.
fn excludes(bounded: &Bounded, side: Side, p: Point) -> bool {
    match side {
        Side::Upper => bounded.lo(p.x()).is_some_and(|lo| p.y() < lo),
        Side::Lower => bounded.hi(p.x()).is_some_and(|hi| hi < p.y()),
    }
}

/// Whether several suspects are all that a direction had before or after some time: wrong matches are not so
/// close together, but what a clock shows after it was set is.
fn is_end_lost(rest: &Corridor, suspects: &[Suspect]) -> bool {
    Side::BOTH.into_iter().any(|side| {
        let times = || rest.points(side).map(Point::x);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return true };
        let of = |beyond: &dyn Fn(i64) -> bool| {
            suspects.iter().filter(|s| s.side == side && beyond(s.point.x())).count()
        };
        of(&|x| x < first) > 1 || of(&|x| x > last) > 1
    })
}

/// The rates in question: those of the prior, unless the clocks plainly run at others.
pub(crate) fn plausible_band(corridor: &Corridor, prior: SlopeRange) -> Option<SlopeBand> {
    let (x, y) = (corridor.x_range()?, corridor.y_range()?);
    let usual = Slope::new(y.end - y.begin, (x.end - x.begin).max(1)).ok()?;
    let is_usual = prior.widened(Wander::of_rate(ABRUPT)).contains(usual);
    if is_usual { prior.closed() } else { SlopeRange::UNBOUNDED.closed() }
}
