//! What one link shows of a clock holds for all links of it.
//!
//! A link with few messages may be possible as it is although one of its clocks was set, or changed its rate, as another
//! link shows. Its bounds would then be wrong. So, after all links are judged each by itself, every clock passes on to all its
//! links how far its rate wanders and where it was set: [`crate::joint`] asks for that before it solves.

use rayon::prelude::*;

use crate::assumption::Assumptions;
use crate::breaks::of_clocks;
use crate::link::Link;
use crate::model::Model;
use crate::motion::Motion;
use crate::relation::{BreakKind, Relation};
use crate::span::Span;

/// A link with this part of the messages of another should show a change of rate that the other shows.
const ABLE: u64 = 4;

/// Links that allow for what any link shows of their clocks, and by clock, how far its rate was seen to leave the usual one
/// although no daemon was thought to steer it (dimensionless).
pub(crate) fn among_links(
    links: Vec<Link>,
    clocks: usize,
    model: &Model,
    assumptions: &[Assumptions],
) -> (Vec<Link>, Vec<Option<f64>>) {
    let by_clock = moved(&links, clocks);
    // No clock is the reference yet: where two may be meant, both are.
    let steps: Vec<Vec<Span>> = of_clocks(&links, clocks, None)
        .into_iter()
        .map(|breaks| breaks.iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.raw).collect())
        .collect();
    let shared = |link: Link| {
        let moved = by_clock[link.a].into_iter().chain(by_clock[link.b]).reduce(|a, b| a + b);
        let cuts = cuts(&link, &steps);
        let own = link.relation.as_ref().and_then(Relation::moved);
        if cuts.is_empty() && moved <= own {
            return link;
        }
        let motion = Motion::new(model, &assumptions[link.a], &assumptions[link.b]).moving(moved);
        link.allowing(&motion, &cuts, model)
    };
    let links = links.into_par_iter().map(shared).collect();
    (links, by_clock)
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

/// Where the clocks of a link were set though the link itself does not show it, on a's time.
fn cuts(link: &Link, steps: &[Vec<Span>]) -> Vec<Span> {
    let Some(relation) = &link.relation else { return Vec::new() };
    let of_b = |s: &Span| Span { begin: relation.map.invert(s.begin), end: relation.map.invert(s.end) };
    let mut all: Vec<Span> = steps[link.a].iter().copied().chain(steps[link.b].iter().map(of_b)).collect();
    let own: Vec<Span> =
        relation.breaks().iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.x).collect();
    all.retain(|cut| own.iter().all(|own| own.end < cut.begin || cut.end < own.begin));
    all
}
