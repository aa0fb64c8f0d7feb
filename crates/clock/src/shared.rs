//! What one link shows of a clock holds for all links of it.
//!
//! A link with few messages may be possible as it is although one of its clocks was set, or changed its rate, as another
//! link shows. Its bounds would then be wrong. So, after all links are judged each by itself, every clock passes on to all its
//! links how far its rate wanders and where it was set: [`crate::joint`] asks for that before it solves.

use crate::breaks::of_clocks;
use crate::link::Link;
use crate::model::Model;
use crate::relation::{BreakKind, Relation};
use crate::span::Span;
use crate::wander::Wander;

/// A link with this part of the messages of another should show a change of rate that the other shows.
const ABLE: u64 = 4;

/// Links that allow for what any link shows of their clocks.
pub(crate) fn among_links(links: Vec<Link>, clocks: usize, model: &Model) -> Vec<Link> {
    let wanders = wanders(&links, clocks, model);
    // No clock is the reference yet: where two may be meant, both are.
    let steps: Vec<Vec<Span>> = of_clocks(&links, clocks, None)
        .into_iter()
        .map(|breaks| breaks.iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.raw).collect())
        .collect();
    let shared = |link: Link| {
        let wander = wanders[link.a].max(wanders[link.b]);
        let cuts = cuts(&link, &steps);
        let as_it_is = cuts.is_empty() && wander <= link.relation.as_ref().map_or(wander, Relation::wander);
        if as_it_is { link } else { link.allowing(wander, &cuts, model) }
    };
    links.into_iter().map(shared).collect()
}

/// Per clock, how far the rate of a link with it may wander: more than the model says if the clock is the one whose links
/// show it.
fn wanders(links: &[Link], clocks: usize, model: &Model) -> Vec<Wander> {
    let usual = model.wander().unwrap_or_default();
    let relations = || links.iter().filter_map(|l| Some((l, l.relation.as_ref()?)));
    let messages = |link: &Link| {
        let (forth, back) = link.corridor.messages();
        forth.min(back)
    };
    // Of the links of a clock with about as many messages, the share that shows that the rate changes by
    // as much, about.
    let share = |clock: usize, least: u64, wander: Wander| {
        let able = relations().filter(|(l, _)| (l.a == clock || l.b == clock) && messages(l) >= least);
        let (all, raised) = able.fold((0_u32, 0_u32), |(all, raised), (_, r)| {
            (all + 1, raised + u32::from(r.wander() > usual && r.wander().rate() >= wander.rate() / 2.0))
        });
        f64::from(raised) / f64::from(all.max(1))
    };
    let mut wanders = vec![usual; clocks];
    for (link, relation) in relations().filter(|(_, r)| r.wander() > usual) {
        let least = messages(link) / ABLE;
        for (clock, other) in [(link.a, link.b), (link.b, link.a)] {
            if share(clock, least, relation.wander()) >= share(other, least, relation.wander()) {
                wanders[clock] = wanders[clock].max(relation.wander());
            }
        }
    }
    wanders
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
