//! What one link shows of a clock holds for all links of it.
//!
//! A link with few messages may be possible as it is although one of its clocks was set, slewed, or changed its rate, as another
//! link shows. Its bounds would then be wrong. So, after all links are judged each by itself, every clock passes on to all its
//! links how far its rate wanders, and where it left what is assumed, and how: [`crate::joint`] asks for that before it solves.

use rayon::prelude::*;

use crate::assumption::Assumptions;
use crate::breaks::{Event, blame, events, overlap};
use crate::excess::{Excess, Wider};
use crate::hull::Side;
use crate::link::Link;
use crate::model::Model;
use crate::motion::Motion;
use crate::relation::{BreakKind, Relation};
use crate::span::{Span, merge};
use crate::way::Way;

/// A link with this part of the messages of another should show a change of rate that the other shows.
const ABLE: u64 = 4;

/// What links show of their clocks, by clock.
#[derive(Debug)]
pub(crate) struct OfClocks {
    /// How far its rate was seen to leave the usual one although no daemon was thought to steer it, dimensionless.
    pub(crate) moved: Vec<Option<f64>>,
    /// Where it may have been set, stopped or slewed.
    pub(crate) events: Vec<Vec<Event>>,
}

/// Links that allow for what any link shows of their clocks, with that.
pub(crate) fn among_links(
    mut links: Vec<Link>,
    clocks: usize,
    model: &Model,
    assumptions: &[Assumptions],
) -> (Vec<Link>, OfClocks) {
    let moved = moved(&links, clocks);
    blame(&mut links, assumptions);
    let events = events(&links, clocks);
    let shared = |link: Link| {
        let by = moved[link.a].into_iter().chain(moved[link.b]).reduce(|a, b| a + b);
        let told = told(&link, &events);
        let own = link.relation.as_ref().and_then(Relation::moved);
        let cuts = cuts(&link, &told);
        let motion = Motion::new(model, &assumptions[link.a], &assumptions[link.b]).moving(by);
        let is_news = if motion.moving(own).is_free() { !cuts.is_empty() } else { !is_shown(&link, &told) };
        if !is_news && by <= own {
            return link;
        }
        link.allowing(&motion, &told, &cuts, model)
    };
    let links = links.into_par_iter().map(shared).collect();
    (links, OfClocks { moved, events })
}

/// Per clock, how far its rate was seen to leave the usual one, if the clock is the one whose links show it.
fn moved(links: &[Link], clocks: usize) -> Vec<Option<f64>> {
    let relations = || links.iter().filter_map(|l| Some((l, l.relation.as_ref()?)));
    let messages = |link: &Link| {
        let (forth, back) = link.corridor.messages();
        forth.min(back)
    };
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
        let least = messages(link) / ABLE;
        for (clock, other) in [(link.a, link.b), (link.b, link.a)] {
            let (own, others) = (share(clock, least, moved), share(other, least, moved));
            // Where either may be meant, either did a half: what is said of both is what bounds the pair.
            let part = if own > others { moved } else { moved / 2.0 };
            if own >= others {
                found[clock] = found[clock].into_iter().chain([part]).reduce(f64::max);
            }
        }
    }
    found
}

/// What the links of its clocks show of them, on the time of the link's first clock.
fn told(link: &Link, events: &[Vec<Event>]) -> Excess {
    let mut told = Excess::default();
    for event in &events[link.a] {
        told.list_mut(event.wider.turned()).push(event.found.raw);
    }
    for event in &events[link.b] {
        // What is hidden in the bounds of this link moves them as well.
        let hidden = event.found.size_ns.saturating_abs().min(Span::EVER.end / 2);
        let y = event.found.raw;
        if let Some(relation) = link.relation.as_ref().filter(|r| r.steered().next().is_none()) {
            let x = [y.begin, y.end].map(|y| relation.map.invert(y));
            told.list_mut(event.wider).push(Span { begin: x[0], end: x[1] });
            continue;
        }
        let bound = |side, y: i64, open: i64| link.bound(Way::Backward, side, y).unwrap_or(open);
        let x = Span {
            begin: bound(Side::Lower, y.begin, Span::EVER.begin).saturating_sub(hidden),
            end: bound(Side::Upper, y.end, Span::EVER.end).saturating_add(hidden),
        };
        told.list_mut(event.wider).push(x);
    }
    told.merge();
    told
}

/// Whether the link shows all of that by itself.
fn is_shown(link: &Link, told: &Excess) -> bool {
    let holds = |x: Span, wider: Wider| {
        let is_own = |own: Wider| own == wider || own == Wider::Any;
        link.shown
            .iter()
            .any(|s| s.wider.is_some_and(is_own) && s.found.x.begin <= x.begin && x.end <= s.found.x.end)
    };
    told.spans().all(|(x, wider)| holds(x, wider))
}

/// Where one of the clocks was set though the link itself does not show it, by time.
fn cuts(link: &Link, told: &Excess) -> Vec<Span> {
    let open = told.spans().filter(|(_, wider)| *wider != Wider::Fast);
    let mut all: Vec<Span> = open.map(|(x, _)| x).collect();
    merge(&mut all);
    let own = || link.shown.iter().filter(|s| s.found.kind == BreakKind::Step).map(|s| s.found.x);
    all.retain(|cut| own().all(|own| !overlap(own, *cut)));
    all
}
