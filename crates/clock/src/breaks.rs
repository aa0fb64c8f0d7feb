//! Which clock it was that was set, stopped or slewed: the one that none of its other links acquits.
//!
//! What a link shows, either of its clocks may have done. Another link of one of them acquits it if its messages on both sides
//! prove that it did not move by as much meanwhile. Where neither is acquitted, either may be meant, and both are; so too where
//! both are, since then both moved; unless another link shows that it was the one of them, and no other clock. `shared` tells all
//! links of a clock, and `island` asks for the breaks of an island's clocks.

use crate::assumption::{Assumptions, Steering};
use crate::excess::Wider;
use crate::hull::Side;
use crate::link::Link;
use crate::relation::{Break, BreakKind, Guarantee, Relation};
use crate::span::Span;

/// A span of time in which something happened to a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockBreak {
    /// What.
    pub kind: BreakKind,
    /// Between these raw times of the clock.
    pub raw: Span,
    /// By how much the clock got ahead of the others, ns.
    pub size_ns: i64,
    /// By how much its rate changed, ppm.
    pub size_ppm: f64,
}

/// What the messages of a link show by themselves, whatever other links say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    pub(crate) found: Break,
    /// What the bounds allow for there, in the order (a, b); `None` where pieces end, or where only the wander of the link says it.
    pub(crate) wider: Option<Wider>,
    /// Whether a may have done it, and whether b may have.
    pub(crate) meant: [bool; 2],
}

/// What may have happened to a clock, and what all its links allow for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub(crate) found: ClockBreak,
    /// [`Wider::Rising`] where the clock gained on the others.
    pub(crate) wider: Wider,
}

impl Shown {
    pub(crate) fn new(found: Break, wider: Option<Wider>) -> Self {
        Self { found, wider, meant: [true; 2] }
    }

    /// When it was, by the clock at one end of the link: 0 for a, 1 for b.
    pub(crate) fn raw(&self, end: usize) -> Span {
        if end == 0 { self.found.x } else { self.found.y }
    }

    /// The same as the doing of the clock at one end.
    pub(crate) fn of(&self, end: usize) -> ClockBreak {
        let sign = if end == 0 { -1 } else { 1 };
        ClockBreak {
            kind: self.found.kind,
            raw: self.raw(end),
            size_ns: self.found.size_ns.saturating_mul(sign),
            size_ppm: self.found.size_ppm * sign as f64,
        }
    }
}

/// Decides which clocks may have done what the links show.
pub(crate) fn blame(links: &mut [Link], assumptions: &[Assumptions]) {
    let blamed = |(index, link): (usize, &Link)| -> Vec<[bool; 2]> {
        let meant = |shown: &Shown| {
            if shown.wider.is_none() && shown.found.kind == BreakKind::Slew {
                let shares = [0, 1].map(|end| share(links, link, shown, end));
                return [shares[0] >= shares[1], shares[1] >= shares[0]];
            }
            let ranks =
                [0, 1].map(|end| rank(&assumptions[[link.a, link.b][end]], shown.raw(end), shown.found.kind));
            let most = ranks[0].max(ranks[1]);
            let may = [0, 1].map(|end| ranks[end] == most && !is_acquitted(links, index, shown, end));
            if may == [false; 2] { [true; 2] } else { may }
        };
        link.shown.iter().map(meant).collect()
    };
    let all: Vec<Vec<[bool; 2]>> = links.iter().enumerate().map(blamed).collect();
    mean(links, all);
    // One that did it as another link shows explains what this one shows as well.
    let known = |(index, link): (usize, &Link)| -> Vec<[bool; 2]> {
        let meant = |shown: &Shown| {
            let known = [0, 1].map(|end| is_known(links, index, shown, end));
            if shown.meant == [true; 2] && known[0] != known[1] { known } else { shown.meant }
        };
        link.shown.iter().map(meant).collect()
    };
    let all: Vec<Vec<[bool; 2]>> = links.iter().enumerate().map(known).collect();
    mean(links, all);
}

fn mean(links: &mut [Link], all: Vec<Vec<[bool; 2]>>) {
    for (link, all) in links.iter_mut().zip(all) {
        link.shown.iter_mut().zip(all).for_each(|(shown, meant)| shown.meant = meant);
    }
}

/// Whether another link shows that it was the clock at one end of a link, and none else, that did as much just then.
fn is_known(links: &[Link], index: usize, shown: &Shown, end: usize) -> bool {
    let (clock, at) = ([links[index].a, links[index].b][end], shown.raw(end));
    let mut others = links.iter().enumerate().filter(|&(i, l)| i != index && (l.a == clock || l.b == clock));
    others.any(|(_, other)| {
        let own_end = usize::from(other.b == clock);
        let shows = |s: &&Shown| s.meant[own_end] && !s.meant[1 - own_end] && overlap(s.raw(own_end), at);
        // The same span for both, in which all of it happened.
        let Some(there) = other.shown.iter().find(shows).map(|s| s.raw(own_end)) else { return false };
        let all = Span { begin: at.begin.min(there.begin), end: at.end.max(there.end) };
        let Some((own, there)) = gain(&links[index], clock, all).zip(gain(other, clock, all)) else {
            return false;
        };
        !own.differs(&there, all)
    })
}

/// A slew is that of the clock of which less is assumed; any clock may be set or stopped.
fn rank(assumptions: &Assumptions, raw: Span, kind: BreakKind) -> u8 {
    if kind == BreakKind::Step {
        return 0;
    }
    match assumptions.at(raw.begin.midpoint(raw.end)) {
        Steering::Free => 0,
        Steering::Stepwise => 1,
        Steering::Steered { .. } | Steering::Unknown => 2,
    }
}

/// Whether another link proves that the clock at one end of a link did not do what that link shows.
fn is_acquitted(links: &[Link], index: usize, shown: &Shown, end: usize) -> bool {
    let (clock, at) = ([links[index].a, links[index].b][end], shown.raw(end));
    let Some(own) = gain(&links[index], clock, at) else { return false };
    let mut others = links.iter().enumerate().filter(|&(i, l)| i != index && (l.a == clock || l.b == clock));
    others.any(|(_, other)| {
        let own_end = usize::from(other.b == clock);
        // What the other link shows just then may be this, with something else.
        let is_quiet = other.shown.iter().all(|s| !overlap(s.raw(own_end), at));
        let Some(there) = gain(other, clock, at).filter(|_| is_quiet) else { return false };
        own.differs(&there, at)
    })
}

/// By how much a clock gained on another one beyond the usual, ns, and how fast the usual may be off, dimensionless.
struct Gain {
    least: f64,
    most: f64,
    drift: f64,
}

impl Gain {
    /// Whether the clock alone cannot have done both within a span, by what the others of both links can do meanwhile.
    fn differs(&self, other: &Self, within: Span) -> bool {
        let slack = (self.drift + other.drift) * (within.end as i128 - within.begin as i128) as f64;
        self.least - slack > other.most || self.most + slack < other.least
    }
}

/// What a clock gained within a span of its time on the other one of a link: by the messages before and after, whatever happened
/// meanwhile. `None` where there are none. O(k).
fn gain(link: &Link, clock: usize, at: Span) -> Option<Gain> {
    let relation = link.relation.as_ref().filter(|r| r.is_guaranteed())?;
    let (least, most) = rates(relation);
    let end = usize::from(link.b == clock);
    let (least, most) = if end == 0 { (least, most) } else { (most.recip(), least.recip()) };
    let (rate, drift) = (f64::midpoint(least, most), (most - least) / 2.0);
    // Messages beyond something else that the link shows say nothing of this.
    let apart = || link.shown.iter().map(|s| s.raw(end)).filter(|s| !overlap(*s, at));
    let from = apart().filter(|s| s.end < at.begin).map(|s| s.end).max().unwrap_or(i64::MIN);
    let until = apart().filter(|s| s.begin > at.end).map(|s| s.begin).min().unwrap_or(i64::MAX);
    let origin = link.corridor.points(Side::Upper).next()?;
    let origin = if end == 0 { origin } else { origin.swapped() };
    // Bounds of the other clock's time less the usual, at the begin and the end of the span.
    let (mut begin, mut after) = ([f64::NEG_INFINITY, f64::INFINITY], [f64::NEG_INFINITY, f64::INFINITY]);
    for side in [Side::Upper, Side::Lower] {
        for point in link.corridor.points(side) {
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
    }
    // Where the other clock gained, this one lost.
    let (least, most) = (begin[0] - after[1], begin[1] - after[0]);
    (least.is_finite() && most.is_finite()).then_some(Gain { least, most, drift })
}

/// The least and the greatest rate that is usual of a relation, dimensionless.
fn rates(relation: &Relation) -> (f64, f64) {
    let of = |bounds: &Guarantee| match bounds {
        Guarantee::Steered(steered) => {
            let by = steered.usual.error + steered.usual.rate * steered.by;
            (steered.usual.rate - by, steered.usual.rate + by)
        }
        Guarantee::Line { forward, .. } => {
            let (band, wander) = (forward.band(), forward.wander().rate());
            (1.0 + band.min().ppm() * 1e-6 - wander, 1.0 + band.max().ppm() * 1e-6 + wander)
        }
    };
    let all = relation.pieces().iter().map(|piece| of(&piece.bounds));
    all.fold((f64::INFINITY, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d)))
}

/// Of the links of a clock with messages before and after, the share that shows that its rate changed by as much about then.
fn share(links: &[Link], link: &Link, of: &Shown, end: usize) -> f64 {
    let (clock, at) = ([link.a, link.b][end], of.raw(end));
    let is_alike =
        |s: &Shown| s.found.kind == of.found.kind && s.found.size_ppm.abs() >= of.found.size_ppm.abs() / 2.0;
    let own = |l: &&Link| l.relation.is_some() && (l.a == clock || l.b == clock);
    let could = |l: &&Link| {
        let range = if l.a == clock { l.corridor.x_range() } else { l.corridor.y_range() };
        range.is_some_and(|(first, last)| first <= at.begin && at.end <= last)
    };
    let shows = |l: &&Link| {
        let own_end = usize::from(l.b == clock);
        l.shown.iter().any(|s| is_alike(s) && overlap(s.raw(own_end), at))
    };
    let count = links.iter().filter(own).filter(could).count();
    links.iter().filter(own).filter(shows).count() as f64 / count.max(1) as f64
}

/// Per clock, by time, what its links have to allow for.
pub(crate) fn events(links: &[Link], clocks: usize) -> Vec<Vec<Event>> {
    let mut found: Vec<Vec<Event>> = vec![Vec::new(); clocks];
    for link in links {
        for shown in &link.shown {
            let wider = match (shown.wider, shown.found.kind) {
                (Some(wider), _) => wider,
                (None, BreakKind::Step) => Wider::Any,
                (None, BreakKind::Slew) => continue,
            };
            for (end, clock) in [link.a, link.b].into_iter().enumerate().filter(|(end, _)| shown.meant[*end])
            {
                let wider = if end == 0 { wider.turned() } else { wider };
                found[clock].push(Event { found: shown.of(end), wider });
            }
        }
    }
    for events in &mut found {
        events.sort_by_key(|event| (event.found.raw.begin, event.found.raw.end));
    }
    found
}

/// The breaks of every clock, by time; where two clocks may be meant, both have it, unless one is the reference.
pub(crate) fn of_clocks(links: &[Link], clocks: usize, reference: Option<usize>) -> Vec<Vec<ClockBreak>> {
    let mut found: Vec<Vec<ClockBreak>> = vec![Vec::new(); clocks];
    for link in links {
        for shown in &link.shown {
            for (end, clock) in [link.a, link.b].into_iter().enumerate() {
                // The reference is meant only where no other clock can be.
                let is_other = shown.meant[1 - end] && Some(clock) == reference;
                if !shown.meant[end] || is_other {
                    continue;
                }
                found[clock].push(shown.of(end));
            }
        }
    }
    for breaks in &mut found {
        breaks.sort_by_key(|b| (b.kind == BreakKind::Slew, b.raw.begin, b.raw.end));
        breaks.dedup_by(|new, known| {
            let is_same = new.kind == known.kind && overlap(known.raw, new.raw);
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
        breaks.retain(|b| b.kind == BreakKind::Step || !steps.iter().any(|s| overlap(*s, b.raw)));
    }
    found
}

pub(crate) fn overlap(a: Span, b: Span) -> bool {
    a.begin <= b.end && b.begin <= a.end
}
