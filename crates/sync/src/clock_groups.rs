//! Hosts that are trusted to share a clock: one clock for the mathematics, several in the artefact.
//!
//! The Unix times of the hosts of a group are taken to be equal. So every clock is mapped to the first of its
//! group by the difference of the clock offsets: [`crate::links`] does that to each message as it comes,
//! [`mod@crate::synchronize`] to the problem, and the answer is handed back to each clock in its own raw
//! time. Messages between hosts of one group show nothing of clocks that are one; they can only contradict
//! the trust, and are counted where they do.

use std::collections::BTreeMap;

use isochrone_clock::{
    Assumed, ClockBreak, Correction, Doubt, Interval, Island, LinkQuality, LinkReport, Point, Side, Solution,
    Span, Suspect,
};

use crate::error::{SyncError, find_host};
use crate::shifted::{inverse, shifted_correction, shifted_interval, shifted_link, span_shifted};
use crate::steering::Verdict;
use isochrone_corrections::artefact::Row;
use isochrone_hosts::clocks::HostClock;
use isochrone_matching::Message;
use isochrone_time::RawNs;

/// Which clocks are one.
#[derive(Debug, Default)]
pub(crate) struct ClockGroups {
    /// By clock. Groups are numbered in the order of their first clocks; most clocks are a group by
    /// themselves.
    members: Vec<Member>,
    /// What the messages between two clocks of a group show of the trust, by sender and receiver.
    inside: BTreeMap<(usize, usize), Contradicted>,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    group: usize,
    /// What turns a raw time of the clock into one of the group, ns.
    shift: i64,
}

/// Messages between hosts of a group that were received before they were sent, if the trust is right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Contradicted {
    /// How many.
    pub(crate) messages: u64,
    /// The worst of them, ns.
    pub(crate) by_ns: i64,
}

impl Contradicted {
    fn and(self, other: Self) -> Self {
        Self { messages: self.messages + other.messages, by_ns: self.by_ns.max(other.by_ns) }
    }
}

impl ClockGroups {
    /// Groups of clocks by the names of their hosts. Groups that share a host are one.
    ///
    /// # Errors
    /// A name that no host has; clock offsets that are too far apart to compute with.
    pub(crate) fn new(clocks: &[HostClock], groups: &[Vec<String>]) -> Result<Self, SyncError> {
        let mut first: Vec<usize> = (0..clocks.len()).collect();
        for names in groups {
            let found: Vec<usize> =
                names.iter().map(|name| find_host(clocks, name)).collect::<Result<_, _>>()?;
            let roots: Vec<usize> = found.iter().map(|&clock| first[clock]).collect();
            let least = roots.iter().copied().min().unwrap_or_default();
            first.iter_mut().filter(|root| roots.contains(root)).for_each(|root| *root = least);
        }
        let mut numbers = BTreeMap::new();
        let mut members = Vec::with_capacity(clocks.len());
        for (clock, &root) in clocks.iter().zip(&first) {
            let next = numbers.len();
            let group = *numbers.entry(root).or_insert(next);
            let shift = clock.offset_ns.checked_sub(clocks[root].offset_ns);
            let shift = shift.ok_or_else(|| SyncError::TrustedApart(clock.host.clone()))?;
            members.push(Member { group, shift });
        }
        Ok(Self { members, inside: BTreeMap::new() })
    }

    /// Under the final numbers of the clocks, in the same order; a clock without one is left out.
    pub(crate) fn kept(self, numbers: &[Option<usize>]) -> Self {
        let kept = self.members.into_iter().zip(numbers).filter(|(_, number)| number.is_some());
        let mut members: Vec<Member> = kept.map(|(member, _)| member).collect();
        let mut groups: Vec<usize> = members.iter().map(|member| member.group).collect();
        groups.sort_unstable();
        groups.dedup();
        for member in &mut members {
            member.group = groups.partition_point(|&group| group < member.group);
        }
        let number = |((a, b), found)| Some(((numbers[a]?, numbers[b]?), found));
        Self { members, inside: self.inside.into_iter().filter_map(number).collect() }
    }

    /// A message in the times of the groups; `None` where these are out of range.
    pub(crate) fn shifted(&self, message: Message) -> Option<Message> {
        let shifted = |raw: RawNs, of: usize| raw.ns().checked_add(self.members[of].shift).map(RawNs);
        let sent = shifted(message.sent, message.sender)?;
        let received = shifted(message.received, message.receiver)?;
        Some(Message { sent, received, ..message })
    }

    /// The group of a clock.
    pub(crate) fn group(&self, clock: usize) -> usize {
        self.members[clock].group
    }

    /// Holds a shifted message between two clocks of a group against the trust.
    pub(crate) fn check(&mut self, message: &Message) {
        let early = message.sent.saturating_since(message.received);
        let known = self.inside.entry((message.sender, message.receiver)).or_default();
        known.messages += u64::from(early > 0);
        known.by_ns = known.by_ns.max(early);
    }

    /// Messages may have arrived later than they were recorded, by clock, ns. Where one contradicts the trust
    /// nevertheless, those of its direction that were early by less stay counted.
    pub(crate) fn arrive_later(&mut self, late: &[u32]) {
        for (&(_, receiver), found) in &mut self.inside {
            let by_ns = found.by_ns - i64::from(late[receiver]);
            *found = if by_ns > 0 { Contradicted { by_ns, ..*found } } else { Contradicted::default() };
        }
    }

    /// Whether two clocks are trusted to be one, and what messages say against it.
    pub(crate) fn between(&self, a: usize, b: usize) -> Option<Contradicted> {
        let one = self.members[a].group == self.members[b].group;
        let of = |from, to| self.inside.get(&(from, to)).copied().unwrap_or_default();
        one.then(|| of(a, b).and(of(b, a)))
    }

    /// The raw time of one clock by that of another of its group, at the ends of what `span` covers.
    pub(crate) fn shifts(&self, from: usize, to: usize, span: &Interval) -> Vec<Row> {
        let by = self.members[from].shift.saturating_sub(self.members[to].shift);
        let ends = span.rows().first().into_iter().chain(span.rows().get(1..).and_then(<[_]>::last));
        let row = |raw: i64| Some((raw, raw.checked_add(by)?, raw.checked_add(by)?, 0));
        ends.map_while(|end| row(end.raw)).collect()
    }

    /// Pairs of clocks whose messages contradict the trust.
    pub(crate) fn contradicted(&self) -> impl Iterator<Item = ((usize, usize), Contradicted)> + use<> {
        let mut pairs: BTreeMap<(usize, usize), Contradicted> = BTreeMap::new();
        for (&(from, to), &found) in &self.inside {
            let known = pairs.entry((from.min(to), from.max(to))).or_default();
            *known = known.and(found);
        }
        pairs.into_iter().filter(|(_, found)| found.messages > 0)
    }

    /// Whether no two clocks are one.
    pub(crate) fn is_trivial(&self) -> bool {
        self.members.iter().enumerate().all(|(clock, member)| member.group == clock)
    }

    /// When each group was seen, by the time of the group.
    pub(crate) fn spans(&self, spans: &[Span]) -> Vec<Span> {
        let mut of_groups: Vec<Option<Span>> = vec![None; self.groups()];
        for (member, span) in self.members.iter().zip(spans) {
            let shifted = span_shifted(*span, member.shift);
            let known = of_groups[member.group].get_or_insert(shifted);
            *known = Span { begin: known.begin.min(shifted.begin), end: known.end.max(shifted.end) };
        }
        of_groups.into_iter().flatten().collect()
    }

    /// What is assumed of the clock of each group, by the time of the group: the weakest of what its hosts
    /// show. Where they show different things, reasons name the host.
    pub(crate) fn verdicts(&self, clocks: &[HostClock], verdicts: Vec<Verdict>) -> Vec<Verdict> {
        let mut of_groups: Vec<Vec<(&HostClock, Verdict)>> = vec![Vec::new(); self.groups()];
        for ((member, clock), verdict) in self.members.iter().zip(clocks).zip(verdicts) {
            of_groups[member.group].push((clock, verdict.shifted(member.shift)));
        }
        let weakest = |members: Vec<(&HostClock, Verdict)>| {
            let alike = members.windows(2).all(|pair| pair[0].1.is_like(&pair[1].1));
            let named = members.into_iter().map(|(clock, verdict)| match alike {
                true => verdict,
                false => verdict.of_host(&clock.host),
            });
            named.reduce(Verdict::weaker)
        };
        of_groups.into_iter().filter_map(weakest).collect()
    }

    /// What is assumed of each clock, by its own time, from what is assumed of its group.
    pub(crate) fn of_clocks(&self, verdicts: Vec<Verdict>) -> impl Iterator<Item = Verdict> {
        self.members.iter().map(move |member| verdicts[member.group].clone().shifted(-member.shift))
    }

    fn groups(&self) -> usize {
        self.members.iter().map(|member| member.group + 1).max().unwrap_or(0)
    }

    /// From the solution for the groups to that for their clocks. Linear in all of it, but for the links:
    /// pairs of clocks times pairs of groups.
    pub(crate) fn ungroup(
        &self,
        solution: &Solution,
        spans: &[Span],
        links: &[HostLink<'_>],
        reference: Option<usize>,
    ) -> Solution {
        let of_group = |group: usize| (0..self.members.len()).filter(move |&c| self.group(c) == group);
        // The clock that stands for its group where one must be named.
        let lead = |group: usize| {
            let asked = reference.filter(|&clock| self.group(clock) == group);
            asked.or_else(|| of_group(group).next()).unwrap_or_default()
        };
        let leads: Vec<usize> = (0..self.groups()).map(lead).collect();
        let mut islands: Vec<Island> = Vec::new();
        // By group: the time of whose clock its corrections give.
        let mut to = vec![0; leads.len()];
        for island in &solution.islands {
            let mut clocks: Vec<usize> = island.clocks.iter().flat_map(|&group| of_group(group)).collect();
            clocks.sort_unstable();
            let reference = leads[island.reference];
            island.clocks.iter().for_each(|&group| to[group] = self.members[reference].shift);
            islands.push(Island { reference, clocks });
        }
        let corrections: Vec<Correction> = self
            .members
            .iter()
            .map(|m| shifted_correction(&solution.corrections[m.group], m.shift, to[m.group]))
            .collect();
        let intervals = self.members.iter().zip(&corrections).zip(spans).map(|((m, correction), &span)| {
            shifted_interval(&solution.intervals[m.group], m.shift, to[m.group], span, correction)
        });
        let path = (0..self.members.len()).map(|clock| {
            let group = self.group(clock);
            if clock == leads[group] {
                solution.path[group].map(|next| leads[next])
            } else {
                Some(leads[group])
            }
        });
        let breaks = self.members.iter().zip(spans).map(|(member, span)| {
            let own = |b: &ClockBreak| ClockBreak { raw: span_shifted(b.raw, -member.shift), ..*b };
            let seen = |b: &ClockBreak| b.raw.begin <= span.end && span.begin <= b.raw.end;
            solution.breaks[member.group].iter().map(own).filter(seen).collect()
        });
        let assumed = self.members.iter().zip(spans).map(|(member, span)| {
            let own = |a: &Assumed| Assumed { raw: span_shifted(a.raw, -member.shift), ..*a };
            let seen = |a: &Assumed| a.raw.begin <= span.end && span.begin <= a.raw.end;
            solution.assumed[member.group].iter().map(own).filter(seen).collect()
        });
        let doubts = self.members.iter().map(|member| {
            let lead = |clock: usize| leads[clock];
            solution.doubts[member.group].map(|doubt| match doubt {
                Doubt::Loop => Doubt::Loop,
                Doubt::Refused { other } => Doubt::Refused { other: lead(other) },
                Doubt::SetBack { other } => Doubt::SetBack { other: lead(other) },
                Doubt::Moved { other } => Doubt::Moved { other: lead(other) },
                Doubt::Path { through } => Doubt::Path { through: lead(through) },
            })
        });
        Solution {
            doubts: doubts.collect(),
            assumed: assumed.collect(),
            intervals: intervals.collect(),
            path: path.collect(),
            links: links.iter().filter_map(|link| self.report(link, solution, &corrections)).collect(),
            breaks: breaks.collect(),
            contradictions: solution
                .contradictions
                .iter()
                .map(|l| l.iter().map(|&group| leads[group]).collect())
                .collect(),
            islands,
            corrections,
        }
    }

    /// What the link between two groups is worth, for the link between two clocks of theirs.
    fn report(
        &self,
        link: &HostLink<'_>,
        solution: &Solution,
        corrections: &[Correction],
    ) -> Option<LinkReport> {
        let &HostLink { a, b, points } = link;
        let (from, to) = (self.members[a], self.members[b]);
        let turned = from.group > to.group;
        let pair = (from.group.min(to.group), from.group.max(to.group));
        let report = solution.links.iter().find(|report| (report.a, report.b) == pair)?;
        // A point of the groups as one of the two clocks, in their order.
        let own = |side: Side, point: Point| {
            let (side, point) = if turned { (side.other(), point.swapped()) } else { (side, point) };
            let own = Point::new(point.x().checked_sub(from.shift)?, point.y().checked_sub(to.shift)?);
            Some((side, own.ok()?))
        };
        let is_ours = |s: &&Suspect| points(s.side).contains(&s.point);
        let ours: Vec<&Suspect> = report.suspects.iter().filter(is_ours).collect();
        let in_own_times = |s: &&Suspect| {
            let (side, point) = own(s.side, s.point)?;
            Some(Suspect { side, point, ..**s })
        };
        let inverted = |side: Side, point: Point| {
            own(side, point).is_some_and(|(side, p)| {
                let (x, y) = (corrections[a].apply(p.x()), corrections[b].apply(p.y()));
                if side == Side::Upper { x > y } else { y > x }
            })
        };
        let left_out = |side: Side, p: &Point| ours.iter().any(|s| s.side == side && s.point == *p);
        let inversions = report.inversions.map(|_| {
            let on =
                |side| points(side).into_iter().filter(move |p| !left_out(side, p) && inverted(side, *p));
            on(Side::Upper).count() + on(Side::Lower).count()
        });
        let (mut rate_ppm, mut offset) = (report.rate_ppm, report.offset_at_middle_ns);
        if turned {
            let inverse = |ppm: f64| (1.0 / (1.0 + ppm * 1e-6) - 1.0) * 1e6;
            rate_ppm = (rate_ppm.1.map(inverse), rate_ppm.0.map(inverse));
            offset = (offset.1.map(i64::saturating_neg), offset.0.map(i64::saturating_neg));
        }
        let interval = match (&report.interval, turned) {
            (Some(interval), true) => inverse(interval),
            (interval, _) => interval.clone(),
        };
        let interval = interval.and_then(|interval| shifted_link(&interval, from.shift, to.shift));
        let by = from.shift.saturating_sub(to.shift);
        let offset = (offset.0.and_then(|lo| lo.checked_add(by)), offset.1.and_then(|hi| hi.checked_add(by)));
        // Where the trust is wrong, so is all that was concluded of the group.
        let worst =
            self.contradicted().filter(|&((c, _), _)| [from.group, to.group].contains(&self.group(c)));
        let quality = match (worst.map(|(_, found)| found.by_ns).max(), &report.quality) {
            (Some(violation_ns), LinkQuality::Accurate | LinkQuality::Incomplete) => {
                LinkQuality::Approximate { violation_ns }
            }
            (_, quality) => quality.clone(),
        };
        Some(LinkReport {
            a,
            b,
            quality,
            rate_ppm,
            offset_at_middle_ns: offset,
            inversions,
            unverified: 0,
            interval,
            suspects: ours.iter().filter_map(in_own_times).collect(),
            ..report.clone()
        })
    }
}

/// The messages between two clocks of different groups.
pub(crate) struct HostLink<'l> {
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// Those of a side that matter, by the times and the order of the groups.
    pub(crate) points: &'l dyn Fn(Side) -> Vec<Point>,
}
