//! What all links of an island prove together, at every message that matters: shortest paths in the graph of events.
//!
//! A node is an event of a clock, and its label bounds the time that the reference shows just then. Labels pass from an event of a clock to
//! its neighbours by the range of rates between the two ([`crate::motions`]), and from one end of a message to the other, since what was
//! received had been sent: T(sent) ≤ T(received). The least labels are the tightest bounds that these inequalities allow (Patt-Shamir and
//! Rajsbaum 1994). Along a clock they are two prefix minima, so that all events of a clock are settled in one sweep either way; clocks are
//! swept in turn, from the reference outward, until nothing changes. O(k) for k events a round, as many rounds as the ways have turns.
//!
//! Labels are integers in parts per trillion of a nanosecond, and exact; they are rounded outward once, in the end. Every label that a sweep
//! ever holds is a true bound, so one that ends early is only wider.

mod cases;
mod steps;

pub(crate) use cases::{Case, Open};

use std::collections::VecDeque;

use crate::chain::{Leg, Rule};
use crate::envelope::ONE;
use crate::exact::ceil_div;
use crate::hull::Side;
use crate::interval::MAX_BOUND_NS;
use crate::link::Link;
use crate::outline::Known;
use crate::reach::{Contradiction, Loop};
use crate::span::Span;
use steps::Steps;

/// A clock is swept so often, and once more for every clock of the network, before what is known then is taken for all.
const MAX_SWEEPS: usize = 256;

/// Where a label came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    /// Nothing is known.
    Open,
    /// What was known from the begin: the reference's own time, or what was found at an instant.
    Given,
    /// The event before, or after, on the same clock.
    Before,
    After,
    /// A message, by its index among those that leave a clock in the direction of the search.
    Message(u32),
}

/// The events of one clock.
#[derive(Debug, Default)]
struct Line {
    raw: Vec<i64>,
    /// Which bounds are told, by event.
    told: Vec<Told>,
    steps: Steps,
}

/// Whether the bounds at an event are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Where the clock's span, or what is assumed, begins or ends; and what was known before.
    Always,
    /// Where neighbours do not imply them.
    Corner,
    /// In a leg of constant rate: lines between what is known of that are closer than any range of rates.
    Never,
}

/// A message from one clock to another, by events.
#[derive(Debug, Clone, Copy)]
struct Message {
    sender: (u32, u32),
    receiver: (u32, u32),
    link: u32,
}

/// The labels of one side, by clock and event. Those of the lower side have their sign turned, so that less is tighter.
struct Labels {
    side: Side,
    at: Vec<Vec<i128>>,
    via: Vec<Vec<Via>>,
}

/// What is known of a clock: points of its raw time and the reference's time, which is not later, or not earlier.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    pub(crate) latest: Vec<(i64, i64)>,
    pub(crate) earliest: Vec<(i64, i64)>,
}

/// The graph of events of the clocks of an island.
pub(crate) struct Sweep<'l> {
    links: &'l [Link],
    reference: usize,
    members: Vec<usize>,
    lines: Vec<Line>,
    messages: Vec<Message>,
    /// Per clock what is given of it: event, label.
    latest: Vec<Vec<(u32, i64)>>,
    earliest: Vec<Vec<(u32, i64)>>,
}

/// No label.
const UNKNOWN: i128 = i128::MAX / 4;
/// An instant at which no message ends.
const NO_END: u32 = u32::MAX;

impl<'l> Sweep<'l> {
    /// Of the links between the members of an island of which `take` holds. `legs`: by clock, what is assumed of the rate of the reference
    /// against it; `known`: by clock, what is known of it at some instants of the reference.
    pub(crate) fn new(
        links: &'l [Link],
        take: impl Fn(&Link) -> bool,
        (reference, members): (usize, Vec<usize>),
        spans: &[Span],
        legs: &[Vec<Leg>],
        known: &[Vec<Known>],
    ) -> Self {
        // Per clock its instants, each with the end of a message that is there.
        let mut all: Vec<Vec<(i64, u32)>> = vec![Vec::new(); spans.len()];
        for &clock in &members {
            let span = spans[clock];
            let inside = |raw: &i64| span.begin < *raw && *raw < span.end;
            let ends = legs[clock].iter().flat_map(|leg| [leg.x.begin, leg.x.end]).filter(inside);
            let points = known[clock].iter().flat_map(|k| [k.1, k.2]).flatten();
            let points = points.filter(|raw| raw.abs() <= crate::MAX_ABS_NS);
            all[clock].extend(
                [span.begin, span.end].into_iter().chain(ends).chain(points).map(|raw| (raw, NO_END)),
            );
        }
        let mut messages: Vec<Message> = Vec::new();
        for (index, link) in links.iter().enumerate().filter(|(_, link)| take(link)) {
            for (sender, sent, receiver, received) in link.messages() {
                let end = 2 * messages.len() as u32;
                all[sender].push((sent, end));
                all[receiver].push((received, end + 1));
                let [sender, receiver] = [sender, receiver].map(|clock| (clock as u32, 0));
                messages.push(Message { sender, receiver, link: index as u32 });
            }
        }
        let events = |mut all: Vec<(i64, u32)>| {
            all.sort_unstable();
            let mut raw: Vec<i64> = Vec::with_capacity(all.len());
            for (at, end) in all {
                if raw.last() != Some(&at) {
                    raw.push(at);
                }
                if end == NO_END {
                    continue;
                }
                let message = &mut messages[end as usize / 2];
                let event = if end % 2 == 0 { &mut message.sender } else { &mut message.receiver };
                event.1 = raw.len() as u32 - 1;
            }
            raw
        };
        let raw: Vec<Vec<i64>> = all.into_iter().map(events).collect();
        let given = |clock: usize, pick: fn(&Known) -> Option<i64>| {
            let in_range = |raw: &i64| raw.abs() <= crate::MAX_ABS_NS;
            let one = |k: &Known| {
                pick(k).filter(in_range).map(|at| (raw[clock].partition_point(|raw| *raw < at) as u32, k.0))
            };
            known[clock].iter().filter_map(one).collect::<Vec<_>>()
        };
        let latest = (0..spans.len()).map(|clock| given(clock, |k| k.1)).collect();
        let earliest = (0..spans.len()).map(|clock| given(clock, |k| k.2)).collect();
        let mut lines: Vec<Line> =
            raw.into_iter().zip(legs).map(|(raw, legs)| Line::new(raw, legs)).collect();
        for given in [&latest, &earliest] {
            let given: &Vec<Vec<(u32, i64)>> = given;
            for (line, given) in lines.iter_mut().zip(given) {
                for &(event, _) in given {
                    line.told[event as usize] = Told::Always;
                }
            }
        }
        Self { links, reference, members, lines, messages, latest, earliest }
    }

    /// What is known of every clock.
    ///
    /// # Errors
    /// Links that cannot all be right.
    pub(crate) fn lines(&self) -> Result<Vec<Lines>, Contradiction> {
        let (upper, lower) = rayon::join(|| self.labels(Side::Upper), || self.labels(Side::Lower));
        let (upper, lower) = (upper?, lower?);
        for clock in self.others() {
            if let Some(at) = crossed(&upper, &lower, clock)
                && let Some(found) = self.contradiction([(&upper, (clock, at)), (&lower, (clock, at))])
            {
                return Err(found);
            }
        }
        Ok(self.told(&upper, &lower, |clock, event| match self.lines[clock].told[event] {
            Told::Always => [true; 2],
            Told::Corner => [&upper, &lower].map(|l| matches!(l.via[clock][event], Via::Message(_))),
            Told::Never => [false; 2],
        }))
    }

    /// The raw times of all events of a clock.
    pub(crate) fn events(&self, clock: usize) -> &[i64] {
        &self.lines[clock].raw
    }

    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().copied().filter(|&clock| clock != self.reference)
    }

    /// The bounds of all clocks at the events that are told, of either side.
    fn told(
        &self,
        upper: &Labels,
        lower: &Labels,
        is_told: impl Fn(usize, usize) -> [bool; 2],
    ) -> Vec<Lines> {
        let mut lines = vec![Lines::default(); self.lines.len()];
        for clock in self.others() {
            let raw = &self.lines[clock].raw;
            for (event, &raw) in raw.iter().enumerate() {
                let [latest, earliest] = is_told(clock, event);
                let told = |labels: &Labels, is_told: bool, sign: i64| {
                    let label = labels.at[clock][event];
                    let bound = ceil_div(label, ONE).clamp(-(MAX_BOUND_NS as i128), MAX_BOUND_NS as i128);
                    (is_told && label < UNKNOWN).then_some((raw, sign * bound as i64))
                };
                lines[clock].latest.extend(told(upper, latest, 1));
                lines[clock].earliest.extend(told(lower, earliest, -1));
            }
        }
        lines
    }

    fn labels(&self, side: Side) -> Result<Labels, Contradiction> {
        let sign = if side == Side::Upper { 1 } else { -1 };
        let unknown = |line: &Line| vec![UNKNOWN; line.raw.len()];
        let open = |line: &Line| vec![Via::Open; line.raw.len()];
        let mut labels = Labels {
            side,
            at: self.lines.iter().map(unknown).collect(),
            via: self.lines.iter().map(open).collect(),
        };
        let given = if side == Side::Upper { &self.latest } else { &self.earliest };
        let mut queue = VecDeque::from([self.reference]);
        let mut queued = vec![false; self.lines.len()];
        queued[self.reference] = true;
        let own = &self.lines[self.reference].raw;
        labels.at[self.reference] = own.iter().map(|&raw| sign * raw as i128 * ONE).collect();
        labels.via[self.reference].fill(Via::Given);
        for &clock in self.members.iter().filter(|&&clock| clock != self.reference) {
            for &(event, time) in &given[clock] {
                let label = &mut labels.at[clock][event as usize];
                *label = (*label).min(sign * time as i128 * ONE);
                labels.via[clock][event as usize] = Via::Given;
            }
            if !given[clock].is_empty() {
                queued[clock] = true;
                queue.push_back(clock);
            }
        }
        let leaving = self.leaving(side);
        let mut swept = vec![0; self.lines.len()];
        while let Some(clock) = queue.pop_front() {
            queued[clock] = false;
            swept[clock] += 1;
            if swept[clock] > MAX_SWEEPS + self.members.len() {
                break;
            }
            if clock != self.reference {
                let via = &mut labels.via[clock];
                self.lines[clock].steps.sweep(side, &mut labels.at[clock], |event, from| via[event] = from);
            }
            for &index in &leaving[clock] {
                let message = &self.messages[index as usize];
                let (from, to) = message.towards(side);
                let label = labels.at[clock][from.1 as usize];
                let (other, event) = (to.0 as usize, to.1 as usize);
                if label >= labels.at[other][event] {
                    continue;
                }
                if other == self.reference {
                    if let Some(found) = self.closed(&labels, (clock, from.1 as usize), message) {
                        return Err(found);
                    }
                    continue;
                }
                labels.at[other][event] = label;
                labels.via[other][event] = Via::Message(index);
                if !std::mem::replace(&mut queued[other], true) {
                    queue.push_back(other);
                }
            }
        }
        Ok(labels)
    }

    /// Per clock the messages by which its labels bound those of others.
    fn leaving(&self, side: Side) -> Vec<Vec<u32>> {
        let mut leaving = vec![Vec::new(); self.lines.len()];
        for (index, message) in self.messages.iter().enumerate() {
            leaving[message.towards(side).0.0 as usize].push(index as u32);
        }
        leaving
    }

    /// A way that comes back to the reference with less than it left with.
    fn closed(&self, labels: &Labels, end: (usize, usize), last: &Message) -> Option<Contradiction> {
        let mut found = self.contradiction([(labels, end)])?;
        for Loop { links, .. } in &mut found.loops {
            if !links.contains(&(last.link as usize)) {
                links.push(last.link as usize);
            }
        }
        Some(found)
    }

    /// The clocks and links of the ways to some events; `None` where they do not all start at the reference.
    fn contradiction<const N: usize>(&self, ends: [(&Labels, (usize, usize)); N]) -> Option<Contradiction> {
        let (mut clocks, mut links) = (vec![self.reference], Vec::new());
        for (labels, (mut clock, mut event)) in ends {
            let mut steps = 0;
            let most: usize = self.lines.iter().map(|line| line.raw.len()).sum();
            loop {
                if !clocks.contains(&clock) {
                    clocks.push(clock);
                }
                match labels.via[clock][event] {
                    Via::Before => event -= 1,
                    Via::After => event += 1,
                    Via::Message(index) => {
                        let message = &self.messages[index as usize];
                        let (from, _) = message.towards(labels.side);
                        (clock, event) = (from.0 as usize, from.1 as usize);
                        if !links.contains(&(message.link as usize)) {
                            links.push(message.link as usize);
                        }
                    }
                    Via::Given | Via::Open => break,
                }
                steps += 1;
                if steps > most {
                    break;
                }
            }
        }
        debug_assert!(links.iter().all(|&link| link < self.links.len()));
        (!links.is_empty()).then_some(Contradiction { loops: vec![Loop { clocks, links }] })
    }
}

/// The first event of a clock of which the bounds of both sides exclude each other.
fn crossed(upper: &Labels, lower: &Labels, clock: usize) -> Option<usize> {
    let labels = upper.at[clock].iter().zip(&lower.at[clock]);
    labels.into_iter().position(|(&most, &least)| most < UNKNOWN && least < UNKNOWN && most < -least)
}

impl Message {
    /// From whose label to whose: what was received by some time had been sent by then, what was sent at some time is not received before.
    fn towards(&self, side: Side) -> ((u32, u32), (u32, u32)) {
        match side {
            Side::Upper => (self.receiver, self.sender),
            Side::Lower => (self.sender, self.receiver),
        }
    }
}

impl Line {
    fn new(raw: Vec<i64>, legs: &[Leg]) -> Self {
        let steps = Steps::new(&raw, legs);
        let mut told = vec![Told::Corner; raw.len()];
        for leg in legs {
            let begin = raw.partition_point(|raw| *raw < leg.x.begin);
            let end = raw.partition_point(|raw| *raw <= leg.x.end);
            if matches!(leg.rule, Rule::Constant { .. }) {
                told[begin..end].fill(Told::Never);
            }
        }
        for leg in legs {
            for border in [leg.x.begin, leg.x.end] {
                if let Ok(event) = raw.binary_search(&border) {
                    told[event] = Told::Always;
                }
            }
        }
        if let [first, .., last] = &mut told[..] {
            (*first, *last) = (Told::Always, Told::Always);
        }
        Self { raw, told, steps }
    }
}

#[cfg(test)]
mod tests;
