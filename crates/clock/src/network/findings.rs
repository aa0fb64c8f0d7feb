//! What one link shows of a clock holds for all links of that clock.
//!
//! A link with few messages may be possible as it is although one of its clocks was set, slewed, or changed
//! its rate, as another link shows. Its bounds would then be wrong. So, after all links are judged each by
//! itself, every clock passes on to all its links how far its rate wanders, and where it left what is
//! assumed, and how: [`crate::network::joint`] applies that before it solves.

use rayon::prelude::*;

use crate::geometry::{Direction, Side};
use crate::link::{Allowance, BreakKind, LimitViolations, Link, Motion, Relation};
use crate::model::{Assumptions, Model};
use crate::network::breaks::{ClockEvent, attribute_events, clock_events};
use crate::span::{Span, merge};

/// A link with this part of the messages of another should show a change of rate that the other shows.
const MAX_MESSAGE_RATIO: u64 = 4;

/// Findings of all links on their clocks, by clock.
#[derive(Debug)]
pub(crate) struct ClockFindings {
    /// How far its rate was seen to leave the nominal one although no daemon was thought to steer it,
    /// dimensionless.
    pub(crate) moved: Vec<Option<f64>>,
    /// Events: it may have been set, stopped or slewed.
    pub(crate) events: Vec<Vec<ClockEvent>>,
}

/// Links that allow for what any link shows of their clocks, with that.
pub(crate) fn share_findings(
    mut links: Vec<Link>,
    clocks: usize,
    model: &Model,
    assumptions: &[Assumptions],
) -> (Vec<Link>, ClockFindings) {
    let moved = moved(&links, clocks);
    attribute_events(&mut links, assumptions);
    let events = clock_events(&links, clocks);
    let shared = |link: Link| {
        let by = moved[link.a].into_iter().chain(moved[link.b]).reduce(|a, b| a + b);
        let reported = reported_by_others(&link, &events);
        let own = link.relation.as_ref().and_then(Relation::moved);
        let cuts = cuts(&link, &reported);
        let motion = Motion::new(model, &assumptions[link.a], &assumptions[link.b]).moving(by);
        let is_news =
            if motion.moving(own).is_free() { !cuts.is_empty() } else { !explains_all(&link, &reported) };
        if !is_news && by <= own {
            return link;
        }
        link.allowing(&motion, &reported, &cuts, model)
    };
    let links = links.into_par_iter().map(shared).collect();
    (links, ClockFindings { moved, events })
}

/// Per clock, how far its rate was seen to leave the nominal one, if the clock is the one whose links show
/// it.
fn moved(links: &[Link], clocks: usize) -> Vec<Option<f64>> {
    let relations = || links.iter().filter_map(|l| Some((l, l.relation.as_ref()?)));
    let messages = |link: &Link| link.corridor.fewer_messages();
    // Of the links of a clock with about as many messages, the share that shows that the rate changes by
    // as much, about.
    let share = |clock: usize, least: u64, moved: f64| {
        let able = relations().filter(|(l, _)| (l.a == clock || l.b == clock) && messages(l) >= least);
        let (all, raised) = able.fold((0_u32, 0_u32), |(all, raised), (_, r)| {
            (all + 1, raised + u32::from(r.moved().is_some_and(|own| own >= moved / 2.0)))
        });
        f64::from(raised) / f64::from(all.max(1))
    };
    let mut found: Vec<Option<f64>> = vec![None; clocks];
    for (link, relation) in relations() {
        let Some(moved) = relation.moved() else { continue };
        let least = messages(link) / MAX_MESSAGE_RATIO;
        for (clock, other) in [(link.a, link.b), (link.b, link.a)] {
            let (own, others) = (share(clock, least, moved), share(other, least, moved));
            // Where either may be suspected, either did a half: what is said of both is what bounds the pair.
            let part = if own > others { moved } else { moved / 2.0 };
            if own >= others {
                found[clock] = found[clock].into_iter().chain([part]).reduce(f64::max);
            }
        }
    }
    found
}

/// Events of both clocks of a link as all their links show them, as allowances on the time of the link's
/// first clock.
fn reported_by_others(link: &Link, events: &[Vec<ClockEvent>]) -> LimitViolations {
    let mut reported = LimitViolations::default();
    for event in &events[link.a] {
        reported.list_mut(event.allowance.turned()).push(event.change.raw);
    }
    for event in &events[link.b] {
        // What is hidden in the bounds of this link moves them as well.
        let hidden = event.change.size_ns.saturating_abs().min(Span::EVER.end / 2);
        let y = event.change.raw;
        if let Some(relation) = link.relation.as_ref().filter(|r| r.steered().next().is_none()) {
            let x = [y.begin, y.end].map(|y| relation.map.invert(y));
            reported.list_mut(event.allowance).push(Span { begin: x[0], end: x[1] });
            continue;
        }
        let bound = |side, y: i64, open: i64| link.bound(Direction::Backward, side, y).unwrap_or(open);
        let x = Span {
            begin: bound(Side::Lower, y.begin, Span::EVER.begin).saturating_sub(hidden),
            end: bound(Side::Upper, y.end, Span::EVER.end).saturating_add(hidden),
        };
        reported.list_mut(event.allowance).push(x);
    }
    reported.merge();
    reported
}

/// Whether the link shows all of that by itself.
fn explains_all(link: &Link, reported: &LimitViolations) -> bool {
    let holds = |x: Span, allowance: Allowance| {
        let is_own = |own: Allowance| own == allowance || own == Allowance::Any;
        link.events.iter().any(|s| s.allowance.is_some_and(is_own) && s.change.x.holds(x))
    };
    reported.spans().all(|(x, allowance)| holds(x, allowance))
}

/// Spans in which one of the clocks was set though the link itself does not show it, by time.
fn cuts(link: &Link, reported: &LimitViolations) -> Vec<Span> {
    let open = reported.spans().filter(|(_, allowance)| *allowance != Allowance::Fast);
    let mut all: Vec<Span> = open.map(|(x, _)| x).collect();
    merge(&mut all);
    let own = || link.events.iter().filter(|s| s.change.kind == BreakKind::Step).map(|s| s.change.x);
    all.retain(|cut| own().all(|own| !own.overlaps(*cut)));
    all
}
