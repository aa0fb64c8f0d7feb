//! What all links of an island prove together, at every message that matters: shortest paths in the graph of
//! events.
//!
//! A node is an event of a clock, and its label bounds the time that the reference shows just then. Labels
//! pass from an event of a clock to its neighbours by the range of rates between the two
//! ([`crate::network::motions`]), and from one end of a message to the other, since what was received had
//! been sent: T(sent) ≤ T(received). The least labels are the tightest bounds that these inequalities allow
//! (Patt-Shamir and Rajsbaum 1994). Along a clock they are two prefix minima, so that all events of a clock
//! are settled in one sweep either way; clocks are swept in turn, from the reference outward, until nothing
//! changes. O(k) for k events a round, as many rounds as the ways have turns.
//!
//! Labels are integers in parts per trillion of a nanosecond, and exact; they are rounded outward once, in
//! the end. Every label that a sweep ever holds is a true bound, so one that ends early is only wider.

mod cases;
mod steps;

pub(crate) use cases::{Case, OpenRate};

use std::collections::VecDeque;

use crate::exact::ceil_div;
use crate::geometry::{ONE, Rule, Segment, Side};
use crate::interval::{BoundPoints, KnownAt, MAX_BOUND_NS};
use crate::link::{Link, Message};
use crate::network::reach::{Contradiction, Loop};
use crate::span::Span;
use steps::Steps;

/// Maximal number of sweeps of a clock, plus one for every clock of the network; then the labels found so far
/// are used.
const MAX_SWEEPS: usize = 256;

/// Origin of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    /// Nothing is known.
    OpenRate,
    /// Known from the start: the reference's own time, or what was found at an instant.
    Given,
    /// The event before, or after, on the same clock.
    Before,
    After,
    /// A message, by its index among those that leave a clock in the direction of the search.
    Message(u32),
}

/// The events of one clock.
#[derive(Debug, Default)]
struct EventLine {
    raw: Vec<i64>,
    /// Whether the bounds at an event are in the result, by event.
    output: Vec<Output>,
    steps: Steps,
}

/// Whether the bounds at an event are in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    /// In any case: at the ends of the clock's span and of its segments, and where something was known
    /// before.
    Always,
    /// Unless neighbours imply them.
    Corner,
    /// In a segment of constant rate: lines between what is known of that are closer than any range of rates.
    Never,
}

/// A message from one clock to another, by events.
#[derive(Debug, Clone, Copy)]
struct MessageEdge {
    sender: (u32, u32),
    receiver: (u32, u32),
    link: u32,
}

/// The labels of one side, by clock and event. Those of the lower side have their sign turned, so that less
/// is tighter.
struct Labels {
    side: Side,
    at: Vec<Vec<i128>>,
    via: Vec<Vec<Via>>,
}

/// The graph of events of the clocks of an island.
pub(crate) struct Sweep<'l> {
    links: &'l [Link],
    reference: usize,
    members: Vec<usize>,
    lines: Vec<EventLine>,
    messages: Vec<MessageEdge>,
    /// Per clock what is given of it: event, label.
    latest: Vec<Vec<(u32, i64)>>,
    earliest: Vec<Vec<(u32, i64)>>,
}

/// No label.
const UNKNOWN: i128 = i128::MAX / 4;
/// Marks an instant at which no message ends.
const NO_END: u32 = u32::MAX;

impl<'l> Sweep<'l> {
    /// The links between members of an island for which `take` holds. `segments`: by clock, what is assumed
    /// of the rate of the reference against it; `known`: by clock, what is known of it at some instants of
    /// the reference.
    pub(crate) fn new(
        links: &'l [Link],
        take: impl Fn(&Link) -> bool,
        reference: usize,
        members: Vec<usize>,
        spans: &[Span],
        segments: &[Vec<Segment>],
        known: &[Vec<KnownAt>],
    ) -> Self {
        // Per clock its instants, each with the end of a message that is there.
        let mut all: Vec<Vec<(i64, u32)>> = vec![Vec::new(); spans.len()];
        for &clock in &members {
            let span = spans[clock];
            let inside = |raw: &i64| span.begin < *raw && *raw < span.end;
            let ends =
                segments[clock].iter().flat_map(|segment| [segment.x.begin, segment.x.end]).filter(inside);
            let points = known[clock].iter().flat_map(|k| [k.earliest, k.latest]).flatten();
            let points = points.filter(|raw| raw.abs() <= crate::MAX_ABS_NS);
            all[clock].extend(
                [span.begin, span.end].into_iter().chain(ends).chain(points).map(|raw| (raw, NO_END)),
            );
        }
        let mut messages: Vec<MessageEdge> = Vec::new();
        for (index, link) in links.iter().enumerate().filter(|(_, link)| take(link)) {
            for Message { sender, sent, receiver, received } in link.messages() {
                let end = 2 * messages.len() as u32;
                all[sender].push((sent, end));
                all[receiver].push((received, end + 1));
                let [sender, receiver] = [sender, receiver].map(|clock| (clock as u32, 0));
                messages.push(MessageEdge { sender, receiver, link: index as u32 });
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
        let given = |clock: usize, pick: fn(&KnownAt) -> Option<i64>| {
            let in_range = |raw: &i64| raw.abs() <= crate::MAX_ABS_NS;
            let one = |k: &KnownAt| {
                pick(k)
                    .filter(in_range)
                    .map(|at| (raw[clock].partition_point(|raw| *raw < at) as u32, k.instant))
            };
            known[clock].iter().filter_map(one).collect::<Vec<_>>()
        };
        let latest = (0..spans.len()).map(|clock| given(clock, |k| k.earliest)).collect();
        let earliest = (0..spans.len()).map(|clock| given(clock, |k| k.latest)).collect();
        let mut lines: Vec<EventLine> =
            raw.into_iter().zip(segments).map(|(raw, segments)| EventLine::new(raw, segments)).collect();
        for given in [&latest, &earliest] {
            let given: &Vec<Vec<(u32, i64)>> = given;
            for (line, given) in lines.iter_mut().zip(given) {
                for &(event, _) in given {
                    line.output[event as usize] = Output::Always;
                }
            }
        }
        Self { links, reference, members, lines, messages, latest, earliest }
    }

    /// What is known of every clock.
    ///
    /// # Errors
    /// Links that cannot all be right.
    pub(crate) fn lines(&self) -> Result<Vec<BoundPoints>, Contradiction> {
        let (upper, lower) = rayon::join(|| self.labels(Side::Upper), || self.labels(Side::Lower));
        let (upper, lower) = (upper?, lower?);
        for clock in self.others() {
            if let Some(at) = crossed(&upper, &lower, clock)
                && let Some(found) = self.contradiction([(&upper, (clock, at)), (&lower, (clock, at))])
            {
                return Err(found);
            }
        }
        Ok(self.bound_points(&upper, &lower, |clock, event| match self.lines[clock].output[event] {
            Output::Always => [true; 2],
            Output::Corner => [&upper, &lower].map(|l| matches!(l.via[clock][event], Via::Message(_))),
            Output::Never => [false; 2],
        }))
    }

    /// The raw times of all events of a clock.
    pub(crate) fn events(&self, clock: usize) -> &[i64] {
        &self.lines[clock].raw
    }

    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().copied().filter(|&clock| clock != self.reference)
    }

    /// The bounds of all clocks at the events for which `is_output` holds, by side (upper, lower).
    fn bound_points(
        &self,
        upper: &Labels,
        lower: &Labels,
        is_output: impl Fn(usize, usize) -> [bool; 2],
    ) -> Vec<BoundPoints> {
        let mut lines = vec![BoundPoints::default(); self.lines.len()];
        for clock in self.others() {
            let raw = &self.lines[clock].raw;
            for (event, &raw) in raw.iter().enumerate() {
                let [latest, earliest] = is_output(clock, event);
                let point = |labels: &Labels, is_output: bool, sign: i64| {
                    let label = labels.at[clock][event];
                    let bound = ceil_div(label, ONE).clamp(-(MAX_BOUND_NS as i128), MAX_BOUND_NS as i128);
                    (is_output && label < UNKNOWN).then_some((raw, sign * bound as i64))
                };
                lines[clock].latest.extend(point(upper, latest, 1));
                lines[clock].earliest.extend(point(lower, earliest, -1));
            }
        }
        lines
    }

    fn labels(&self, side: Side) -> Result<Labels, Contradiction> {
        let sign = if side == Side::Upper { 1 } else { -1 };
        let unknown = |line: &EventLine| vec![UNKNOWN; line.raw.len()];
        let open = |line: &EventLine| vec![Via::OpenRate; line.raw.len()];
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
        let outgoing = self.outgoing(side);
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
            for &index in &outgoing[clock] {
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
    fn outgoing(&self, side: Side) -> Vec<Vec<u32>> {
        let mut outgoing = vec![Vec::new(); self.lines.len()];
        for (index, message) in self.messages.iter().enumerate() {
            outgoing[message.towards(side).0.0 as usize].push(index as u32);
        }
        outgoing
    }

    /// A way that comes back to the reference with less than it left with.
    fn closed(&self, labels: &Labels, end: (usize, usize), last: &MessageEdge) -> Option<Contradiction> {
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
                    Via::Given | Via::OpenRate => break,
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

/// The first event of a clock at which the bounds of both sides exclude each other.
fn crossed(upper: &Labels, lower: &Labels, clock: usize) -> Option<usize> {
    let labels = upper.at[clock].iter().zip(&lower.at[clock]);
    labels.into_iter().position(|(&most, &least)| most < UNKNOWN && least < UNKNOWN && most < -least)
}

impl MessageEdge {
    /// From whose label to whose: what was received by some time had been sent by then, what was sent at some
    /// time is not received before.
    fn towards(&self, side: Side) -> ((u32, u32), (u32, u32)) {
        match side {
            Side::Upper => (self.receiver, self.sender),
            Side::Lower => (self.sender, self.receiver),
        }
    }
}

impl EventLine {
    fn new(raw: Vec<i64>, segments: &[Segment]) -> Self {
        let steps = Steps::new(&raw, segments);
        let mut output = vec![Output::Corner; raw.len()];
        for segment in segments {
            let begin = raw.partition_point(|raw| *raw < segment.x.begin);
            let end = raw.partition_point(|raw| *raw <= segment.x.end);
            if matches!(segment.rule, Rule::Constant { .. }) {
                output[begin..end].fill(Output::Never);
            }
        }
        for segment in segments {
            for border in [segment.x.begin, segment.x.end] {
                if let Ok(event) = raw.binary_search(&border) {
                    output[event] = Output::Always;
                }
            }
        }
        if let [first, .., last] = &mut output[..] {
            (*first, *last) = (Output::Always, Output::Always);
        }
        Self { raw, output, steps }
    }
}

#[cfg(test)]
mod tests;
