//! Which clock it was that was set, stopped or slewed: the one that none of its other links rules out.
//!
//! What a link shows, either of its clocks may have done. Another link of one of them rules it out if its
//! messages on both sides prove that it did not move by as much meanwhile. Where neither is ruled out, either
//! may be suspected, and both are; so too where both are, since then both moved; unless another link shows
//! that it was the one of them, and no other clock. [`crate::network::findings`] passes it on to all links of
//! a clock.

use crate::geometry::Side;
use crate::link::{Allowance, BreakKind, ClockBreak, Guarantee, Link, LinkEvent, Relation};
use crate::model::{Assumptions, Steering};
use crate::span::Span;

/// An event that may have happened to a clock, and the allowance for it in all its links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClockEvent {
    pub(crate) change: ClockBreak,
    /// [`Allowance::Rising`] where the clock gained on the others.
    pub(crate) allowance: Allowance,
}

/// Decides which clocks may have done what the links show.
pub(crate) fn attribute_events(links: &mut [Link], assumptions: &[Assumptions]) {
    let blamed = |(index, link): (usize, &Link)| -> Vec<[bool; 2]> {
        let suspected = |shown: &LinkEvent| {
            if shown.allowance.is_none() && shown.change.kind == BreakKind::Slew {
                let shares = [0, 1].map(|end| share(links, link, shown, end));
                return [shares[0] >= shares[1], shares[1] >= shares[0]];
            }
            let ranks = [0, 1]
                .map(|end| rank(&assumptions[[link.a, link.b][end]], shown.raw(end), shown.change.kind));
            let most = ranks[0].max(ranks[1]);
            let may = [0, 1].map(|end| ranks[end] == most && !is_ruled_out(links, index, shown, end));
            if may == [false; 2] { [true; 2] } else { may }
        };
        link.events.iter().map(suspected).collect()
    };
    let all: Vec<Vec<[bool; 2]>> = links.iter().enumerate().map(blamed).collect();
    set_suspected(links, all);
    // One that did it as another link shows explains what this one shows as well.
    let known = |(index, link): (usize, &Link)| -> Vec<[bool; 2]> {
        let suspected = |shown: &LinkEvent| {
            let known = [0, 1].map(|end| is_attributed_elsewhere(links, index, shown, end));
            if shown.suspected == [true; 2] && known[0] != known[1] { known } else { shown.suspected }
        };
        link.events.iter().map(suspected).collect()
    };
    let all: Vec<Vec<[bool; 2]>> = links.iter().enumerate().map(known).collect();
    set_suspected(links, all);
}

fn set_suspected(links: &mut [Link], all: Vec<Vec<[bool; 2]>>) {
    for (link, all) in links.iter_mut().zip(all) {
        link.events.iter_mut().zip(all).for_each(|(shown, suspected)| shown.suspected = suspected);
    }
}

/// Whether another link shows that it was the clock at one end of a link, and none else, that did as much
/// just then.
fn is_attributed_elsewhere(links: &[Link], index: usize, shown: &LinkEvent, end: usize) -> bool {
    let (clock, at) = ([links[index].a, links[index].b][end], shown.raw(end));
    let mut others = links.iter().enumerate().filter(|&(i, l)| i != index && (l.a == clock || l.b == clock));
    others.any(|(_, other)| {
        let own_end = usize::from(other.b == clock);
        let shows =
            |s: &&LinkEvent| s.suspected[own_end] && !s.suspected[1 - own_end] && s.raw(own_end).overlaps(at);
        // The same span for both, in which all of it happened.
        let Some(there) = other.events.iter().find(shows).map(|s| s.raw(own_end)) else { return false };
        let all = at.hull(there);
        let Some((own, there)) = gain(&links[index], clock, all).zip(gain(other, clock, all)) else {
            return false;
        };
        !own.differs(&there, all)
    })
}

/// A slew is attributed to the clock with the weaker assumption; any clock may be set or stopped.
fn rank(assumptions: &Assumptions, raw: Span, kind: BreakKind) -> u8 {
    if kind == BreakKind::Step {
        return 0;
    }
    match assumptions.at(raw.middle()) {
        Steering::Free => 0,
        Steering::Stepwise => 1,
        Steering::Steered { .. } | Steering::Unknown => 2,
    }
}

/// Whether another link proves that the clock at one end of a link did not do what that link shows.
fn is_ruled_out(links: &[Link], index: usize, shown: &LinkEvent, end: usize) -> bool {
    let (clock, at) = ([links[index].a, links[index].b][end], shown.raw(end));
    let Some(own) = gain(&links[index], clock, at) else { return false };
    let mut others = links.iter().enumerate().filter(|&(i, l)| i != index && (l.a == clock || l.b == clock));
    others.any(|(_, other)| {
        let own_end = usize::from(other.b == clock);
        // What the other link shows just then may be this, with something else.
        let is_quiet = other.events.iter().all(|s| !s.raw(own_end).overlaps(at));
        let Some(there) = gain(other, clock, at).filter(|_| is_quiet) else { return false };
        own.differs(&there, at)
    })
}

/// By how much a clock gained on another one beyond the nominal rate, ns, and how far the nominal rate may be
/// off, dimensionless.
struct Gain {
    least: f64,
    most: f64,
    drift: f64,
}

impl Gain {
    /// Whether the clock alone cannot have done both within a span, by what the others of both links can do
    /// meanwhile.
    fn differs(&self, other: &Self, within: Span) -> bool {
        let slack = (self.drift + other.drift) * (within.end as i128 - within.begin as i128) as f64;
        self.least - slack > other.most || self.most + slack < other.least
    }
}

/// Gain of a clock on the other one of a link within a span of its time: by the messages before and after,
/// whatever happened meanwhile. `None` where there are none. O(k).
fn gain(link: &Link, clock: usize, at: Span) -> Option<Gain> {
    let relation = link.relation.as_ref().filter(|r| r.is_guaranteed())?;
    let (least, most) = rates(relation);
    let end = usize::from(link.b == clock);
    let (least, most) = if end == 0 { (least, most) } else { (most.recip(), least.recip()) };
    let (rate, drift) = (f64::midpoint(least, most), (most - least) / 2.0);
    // Messages beyond something else that the link shows say nothing of this.
    let apart = || link.events.iter().map(|s| s.raw(end)).filter(|s| !s.overlaps(at));
    let from = apart().filter(|s| s.end < at.begin).map(|s| s.end).max().unwrap_or(i64::MIN);
    let until = apart().filter(|s| s.begin > at.end).map(|s| s.begin).min().unwrap_or(i64::MAX);
    let origin = link.corridor.points(Side::Upper).next()?;
    let origin = if end == 0 { origin } else { origin.swapped() };
    // Bounds of the other clock's time minus the nominal time, at the start and the end of the span.
    let (mut begin, mut after) = ([f64::NEG_INFINITY, f64::INFINITY], [f64::NEG_INFINITY, f64::INFINITY]);
    for (side, point) in link.corridor.all_points() {
        let (point, side) = if end == 0 { (point, side) } else { (point.swapped(), side.other()) };
        if point.x() < from || point.x() > until || (at.begin < point.x() && point.x() < at.end) {
            continue;
        }
        let run = (point.x() as i128 - origin.x() as i128) as f64;
        let residual = (point.y() as i128 - origin.y() as i128) as f64 - rate * run;
        let (bounds, away) = match point.x() <= at.begin {
            true => (&mut begin, at.begin as i128 - point.x() as i128),
            false => (&mut after, point.x() as i128 - at.end as i128),
        };
        let away = drift * away as f64;
        match side {
            Side::Upper => bounds[1] = bounds[1].min(residual + away),
            Side::Lower => bounds[0] = bounds[0].max(residual - away),
        }
    }
    // Where the other clock gained, this one lost.
    let (least, most) = (begin[0] - after[1], begin[1] - after[0]);
    (least.is_finite() && most.is_finite()).then_some(Gain { least, most, drift })
}

/// The least and the greatest nominal rate of the pieces of a relation, dimensionless.
fn rates(relation: &Relation) -> (f64, f64) {
    let of = |bounds: &Guarantee| match bounds {
        Guarantee::Steered(steered) => {
            let by = steered.nominal.error + steered.nominal.rate * steered.by;
            (steered.nominal.rate - by, steered.nominal.rate + by)
        }
        Guarantee::Line { forward, .. } => {
            let (band, wander) = (forward.band(), forward.wander().rate());
            (1.0 + band.min().ppm() * 1e-6 - wander, 1.0 + band.max().ppm() * 1e-6 + wander)
        }
    };
    let all = relation.pieces().iter().map(|piece| of(&piece.bounds));
    all.fold((f64::INFINITY, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d)))
}

/// Of the links of a clock with messages before and after, the share that shows that its rate changed by as
/// much about then.
fn share(links: &[Link], link: &Link, of: &LinkEvent, end: usize) -> f64 {
    let (clock, at) = ([link.a, link.b][end], of.raw(end));
    let is_alike = |s: &LinkEvent| {
        s.change.kind == of.change.kind && s.change.size_ppm.abs() >= of.change.size_ppm.abs() / 2.0
    };
    let own = |l: &&Link| l.relation.is_some() && (l.a == clock || l.b == clock);
    let could = |l: &&Link| {
        let range = if l.a == clock { l.corridor.x_range() } else { l.corridor.y_range() };
        range.is_some_and(|range| range.holds(at))
    };
    let shows = |l: &&Link| {
        let own_end = usize::from(l.b == clock);
        l.events.iter().any(|s| is_alike(s) && s.raw(own_end).overlaps(at))
    };
    let count = links.iter().filter(own).filter(could).count();
    links.iter().filter(own).filter(shows).count() as f64 / count.max(1) as f64
}

/// Per clock, by time, what its links have to allow for.
pub(crate) fn clock_events(links: &[Link], clocks: usize) -> Vec<Vec<ClockEvent>> {
    let mut found: Vec<Vec<ClockEvent>> = vec![Vec::new(); clocks];
    for link in links {
        for shown in &link.events {
            let allowance = match (shown.allowance, shown.change.kind) {
                (Some(allowance), _) => allowance,
                (None, BreakKind::Step) => Allowance::Any,
                (None, BreakKind::Slew) => continue,
            };
            for (end, clock) in
                [link.a, link.b].into_iter().enumerate().filter(|(end, _)| shown.suspected[*end])
            {
                let allowance = if end == 0 { allowance.turned() } else { allowance };
                found[clock].push(ClockEvent { change: shown.of(end), allowance });
            }
        }
    }
    for events in &mut found {
        events.sort_by_key(|event| (event.change.raw.begin, event.change.raw.end));
    }
    found
}

/// The breaks of every clock, by time; where two clocks may be suspected, both have it, unless one is the
/// reference.
pub(crate) fn of_clocks(links: &[Link], clocks: usize, reference: Option<usize>) -> Vec<Vec<ClockBreak>> {
    let mut found: Vec<Vec<ClockBreak>> = vec![Vec::new(); clocks];
    for link in links {
        for shown in &link.events {
            for (end, clock) in [link.a, link.b].into_iter().enumerate() {
                // The reference is suspected only where no other clock can be.
                let is_other = shown.suspected[1 - end] && Some(clock) == reference;
                if !shown.suspected[end] || is_other {
                    continue;
                }
                found[clock].push(shown.of(end));
            }
        }
    }
    for breaks in &mut found {
        breaks.sort_by_key(|b| (b.kind == BreakKind::Slew, b.raw.begin, b.raw.end));
        breaks.dedup_by(|new, known| {
            let is_same = new.kind == known.kind && known.raw.overlaps(new.raw);
            if is_same {
                // What lasts, lasts as long as any link says.
                known.raw.end = known.raw.end.max(new.raw.end);
                if new.size_ns.unsigned_abs() > known.size_ns.unsigned_abs() {
                    known.size_ns = new.size_ns;
                }
            }
            is_same
        });
        breaks.sort_by_key(|b| b.raw.begin);
        // A step has a span of widened limits around it, which says nothing more.
        let steps: Vec<Span> = breaks.iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.raw).collect();
        breaks.retain(|b| b.kind == BreakKind::Step || !steps.iter().any(|s| s.overlaps(b.raw)));
    }
    found
}
