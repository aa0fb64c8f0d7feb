//! The messages of every pair of clocks, on their way from matching to the mathematics and to the artefact.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use isochrone_clock::{
    Corridor, Infeasible, LinkData, LinkQuality, LinkReport, Point, Refusal, Side, Solution, Span, published,
};

use isochrone_clock::{MAX_WINDOWS, windows_per_link};

use crate::clock_groups::{ClockGroups, HostLink};
use isochrone_corrections::artefact::MessageCounts;
use isochrone_corrections::artefact::{Refused, RefusedKind};
use isochrone_hosts::clocks::HostClock;
use isochrone_matching::exchanges::{Exchange, Exchanges};
use isochrone_matching::{Matched, Message, Summary};

/// Pairs of clocks `(a, b)`, `a < b`, and what their messages say.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pairs: BTreeMap<(usize, usize), Pair>,
    groups: ClockGroups,
    /// By clock: whether it is known before reading that no daemon steers it.
    free: Vec<bool>,
    /// Where exchanges are wanted.
    exchanges: Option<Found>,
    /// By pair: why packets that both saw are no messages.
    why: BTreeMap<(usize, usize), String>,
}

/// Exchanges on their way to sums.
#[derive(Debug, Default)]
struct Found {
    among: Exchanges,
    /// By the clock that began and the one that answered.
    sums: BTreeMap<(usize, usize), published::Exchanges>,
}

#[derive(Debug, Default)]
struct Pair {
    /// In the times of the groups of the two clocks, and in the order of these groups.
    corridor: Corridor,
    counts: MessageCounts,
}

impl Pair {
    fn new(windows: usize) -> Self {
        Self { corridor: Corridor::new().limited_to(windows), counts: MessageCounts::default() }
    }
}

impl Links {
    /// Of clocks that are declared to be free or not, and are one where they are trusted to be.
    pub(crate) fn new(groups: ClockGroups, declared_free: &[bool]) -> Self {
        // A clock that hosts share is as its weakest host.
        let is_free = |clock: usize| {
            let group = groups.group(clock);
            declared_free.iter().enumerate().all(|(other, free)| *free || groups.group(other) != group)
        };
        let free = (0..declared_free.len()).map(is_free).collect();
        Self { pairs: BTreeMap::new(), groups, free, exchanges: None, why: BTreeMap::new() }
    }

    /// The same, which looks for exchanges among the messages if they are wanted.
    pub(crate) fn with_exchanges(self, wanted: bool) -> Self {
        Self { exchanges: wanted.then(Found::default), ..self }
    }

    /// Takes a message for the exchanges.
    pub(crate) fn exchange(&mut self, matched: &Matched) {
        if let Some(Found { among, sums }) = &mut self.exchanges {
            among.add(matched, &mut |found| add(sums, &found));
        }
    }

    /// The same for a message of a list.
    pub(crate) fn exchange_listed(&mut self, message: Message, numbers: Option<(u32, u32)>) {
        if let Some(Found { among, sums }) = &mut self.exchanges {
            among.add_listed(message, numbers, &mut |found| add(sums, &found));
        }
    }

    /// Adds a message; `O(log n)` almost always.
    pub(crate) fn add(&mut self, message: Message) {
        let (a, b) = pair_of(message.sender, message.receiver);
        self.make_room((a, b));
        let Pair { corridor, counts } = self.pairs.entry((a, b)).or_default();
        let count = if message.sender == a { &mut counts.a_to_b } else { &mut counts.b_to_a };
        let (sender, receiver) = (self.groups.group(message.sender), self.groups.group(message.receiver));
        let inserted = self.groups.shifted(message).is_some_and(|message| match sender.cmp(&receiver) {
            Ordering::Less => corridor.a_to_b(message.sent.ns(), message.received.ns()).is_ok(),
            Ordering::Greater => corridor.b_to_a(message.sent.ns(), message.received.ns()).is_ok(),
            Ordering::Equal => {
                self.groups.check(&message);
                true
            }
        });
        *(if inserted { count } else { &mut counts.dropped }) += 1;
    }

    fn pair(&mut self, pair: (usize, usize)) -> &mut Pair {
        self.make_room(pair);
        self.pairs.entry(pair).or_default()
    }

    /// Adds a pair if it is missing: with more links each may have fewer windows.
    fn make_room(&mut self, new: (usize, usize)) {
        if self.pairs.contains_key(&new) {
            return;
        }
        let before = windows_per_link(self.pairs.len());
        let windows = windows_per_link(self.pairs.len() + 1);
        if windows < before {
            for pair in self.pairs.values_mut() {
                pair.corridor = std::mem::take(&mut pair.corridor).limited_to(windows);
            }
        }
        // Fine windows of two clocks that no daemon steers would be merged in the end.
        let is_free = |clock: usize| self.free.get(clock).copied().unwrap_or_default();
        let windows = if is_free(new.0) && is_free(new.1) { MAX_WINDOWS } else { windows };
        self.pairs.insert(new, Pair::new(windows));
    }

    /// Sets the groups of clocks again, when there are more of them. None is known to be free.
    pub(crate) fn set_clocks(&mut self, groups: ClockGroups, clocks: usize) {
        (self.groups, self.free) = (groups, vec![false; clocks]);
    }

    /// All pairs of clocks, with what their messages say and how many there were.
    pub(crate) fn all(&self) -> impl Iterator<Item = ((usize, usize), &Corridor, MessageCounts)> {
        self.pairs.iter().map(|(&pair, known)| (pair, &known.corridor, known.counts))
    }

    /// Sets the number of messages of a pair, not all of which are kept.
    pub(crate) fn set_counts(&mut self, pair: (usize, usize), counts: MessageCounts) {
        self.pair(pair).counts = counts;
    }

    /// Counts a message whose times are beyond what can be computed with.
    pub(crate) fn count_out_of_range(&mut self, sender: usize, receiver: usize) {
        self.pair(pair_of(sender, receiver)).counts.dropped += 1;
    }

    /// Adds what the matching counted besides the messages, and gives the clocks their final numbers: a clock
    /// without one has no events. Numbers keep the order of the clocks.
    pub(crate) fn finish(self, summary: &Summary, numbers: &[Option<usize>]) -> Self {
        let Self { mut pairs, groups, free, exchanges, why } = self;
        for (&(sender, receiver), found) in &summary.pairs {
            let counts = &mut pairs.entry(pair_of(sender, receiver)).or_default().counts;
            counts.ambiguous += found.ambiguous;
            counts.offloaded += found.offloaded;
            counts.translated += found.translated;
        }
        let number = |((a, b), pair)| Some(((numbers[a]?, numbers[b]?), pair));
        let kept = free.into_iter().zip(numbers).filter(|(_, number)| number.is_some());
        Self {
            pairs: pairs.into_iter().filter_map(number).collect(),
            groups: groups.kept(numbers),
            free: kept.map(|(free, _)| free).collect(),
            exchanges: exchanges.map(|found| found.finish(numbers)),
            why: why
                .into_iter()
                .filter_map(|((a, b), why)| Some(((numbers[a]?, numbers[b]?), why)))
                .collect(),
        }
    }

    /// Says why pairs, by the numbers before [`Links::finish`], have no messages.
    pub(crate) fn explained(self, why: BTreeMap<(usize, usize), String>) -> Self {
        Self { why, ..self }
    }

    /// Why packets that both clocks of a pair saw are no messages.
    pub(crate) fn why(&self, a: usize, b: usize) -> Option<&String> {
        self.why.get(&(a, b))
    }

    /// The input of published methods: messages as they are stamped. Of use where no clocks are trusted to be
    /// one.
    pub(crate) fn pairs(&self) -> Vec<published::Pair> {
        let sums = self.exchanges.as_ref().map(|found| &found.sums);
        let of = |from, to| sums.and_then(|sums| sums.get(&(from, to))).cloned().unwrap_or_default();
        let pair = |(&(a, b), Pair { corridor, .. }): (&(usize, usize), &Pair)| published::Pair {
            a,
            b,
            upper: corridor.upper(),
            lower: corridor.lower(),
            exchanges: [of(a, b), of(b, a)],
        };
        self.pairs.iter().map(pair).collect()
    }

    /// Counts each arrival as later than it was recorded, by clock, ns: see [`Corridor::arriving_later`].
    pub(crate) fn arrive_later(&mut self, late: &[u32]) {
        for (&(a, b), pair) in &mut self.pairs {
            let (x, y) = if self.groups.group(a) <= self.groups.group(b) { (a, b) } else { (b, a) };
            pair.corridor = std::mem::take(&mut pair.corridor).arriving_later(late[x], late[y]);
        }
        self.groups.arrive_later(late);
    }

    /// Which clocks are one.
    pub(crate) fn groups(&self) -> &ClockGroups {
        &self.groups
    }

    /// What the messages say, by the groups of the clocks. Where no clock is trusted, it is moved out: it is
    /// not needed again.
    pub(crate) fn corridors(&mut self) -> Vec<LinkData> {
        if self.groups.is_trivial() {
            let given = |(&(a, b), pair): (&(usize, usize), &mut Pair)| LinkData {
                a,
                b,
                corridor: std::mem::take(&mut pair.corridor),
            };
            return self.pairs.iter_mut().map(given).collect();
        }
        let of_groups = |(&(a, b), pair): (&(usize, usize), &Pair)| {
            let (a, b) = pair_of(self.groups.group(a), self.groups.group(b));
            (a != b).then(|| LinkData { a, b, corridor: pair.corridor.clone() })
        };
        self.pairs.iter().filter_map(of_groups).collect()
    }

    /// The solution for the clocks from that for their groups.
    pub(crate) fn ungroup(&self, solution: Solution, spans: &[Span], reference: Option<usize>) -> Solution {
        if self.groups.is_trivial() {
            return solution;
        }
        let tied = |&(&(a, b), _): &(&(usize, usize), &Pair)| self.groups.between(a, b).is_none();
        let pairs: Vec<_> = self.pairs.iter().filter(tied).collect();
        let points: Vec<_> = pairs
            .iter()
            .map(|(_, pair)| |side: Side| -> Vec<Point> { pair.corridor.points(side).collect() })
            .collect();
        let with_points =
            pairs.iter().zip(&points).filter(|((_, pair), _)| pair.corridor.messages() != (0, 0));
        let links: Vec<HostLink<'_>> =
            with_points.map(|((pair, _), points)| HostLink { a: pair.0, b: pair.1, points }).collect();
        self.groups.ungroup(&solution, spans, &links, reference)
    }

    pub(crate) fn counts(&self, a: usize, b: usize) -> MessageCounts {
        self.pairs.get(&(a, b)).map(|pair| pair.counts).unwrap_or_default()
    }

    /// Pairs of clocks with packets that were translated on their way, and how many.
    pub(crate) fn translated(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        let found = self.pairs.iter().map(|(&(a, b), pair)| (a, b, pair.counts.translated));
        found.filter(|&(_, _, translated)| translated > 0)
    }
}

impl Found {
    /// All exchanges, under the final numbers of the clocks.
    fn finish(self, numbers: &[Option<usize>]) -> Self {
        let Self { mut among, mut sums } = self;
        among.finish(&mut |found| add(&mut sums, &found));
        let number = |((a, b), sum)| Some(((numbers[a]?, numbers[b]?), sum));
        Self { among, sums: sums.into_iter().filter_map(number).collect() }
    }
}

fn add(sums: &mut BTreeMap<(usize, usize), published::Exchanges>, found: &Exchange) {
    let Exchange { first, second, sent, received, answered, returned } = *found;
    let sum = sums.entry((first, second)).or_default();
    sum.add(sent.ns(), received.ns(), answered.ns(), returned.ns());
}

/// The links that a solution, by the groups of the clocks, does not use because their messages contradict
/// each other, with the contradiction.
pub(crate) fn refused(clocks: &[HostClock], groups: &ClockGroups, solution: &Solution) -> Vec<Refused> {
    let name = |group: usize| -> String {
        let members = clocks.iter().enumerate().filter(|(clock, _)| groups.group(*clock) == group);
        members.map(|(_, clock)| clock.host.as_str()).collect::<Vec<_>>().join(" = ")
    };
    let refuse = |link: &LinkReport| {
        let LinkQuality::Refused { why } = &link.quality else { return None };
        let (a, b) = (&name(link.a), &name(link.b));
        let mut reason = why.to_string();
        if let Refusal::Loop { clocks: around } = why {
            let names: Vec<String> = around.iter().map(|&group| name(group)).collect();
            reason += &format!(" {}", names.join(" – "));
        }
        if let Refusal::Contradiction(contradiction) = why {
            reason += &contradicting(contradiction, a, b);
            reason += ": one of the two clocks was set, slewed or stopped while it was traced, or packets were mistaken";
        }
        Some(Refused { what: RefusedKind::Link, name: format!("{a} – {b}"), why: reason })
    };
    solution.links.iter().filter_map(refuse).collect()
}

/// The messages that exclude each other, by the time of each on one of the two clocks.
fn contradicting(contradiction: &Infeasible, a: &str, b: &str) -> String {
    let pairs = match contradiction {
        Infeasible::SameInstant { pair } => vec![pair],
        Infeasible::Crossed { min_pair, max_pair, .. } => vec![min_pair, max_pair],
        Infeasible::Backwards { max_pair, .. } => vec![max_pair],
        Infeasible::NotAClock { .. } => Vec::new(),
    };
    let shown = |(lower, upper): &(Point, Point)| {
        // A lower point is a message from b to a, an upper point one from a to b.
        format!("{b} → {a} received at {} and {a} → {b} sent at {}", lower.x(), upper.x())
    };
    match pairs.iter().map(|pair| shown(pair)).collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        listed => format!(" (raw ns of {a}: {listed})"),
    }
}

fn pair_of(x: usize, y: usize) -> (usize, usize) {
    (x.min(y), x.max(y))
}

#[cfg(test)]
mod tests {
    use isochrone_time::RawNs;

    use super::*;

    #[test]
    fn few_windows_are_kept_of_clocks_that_are_declared_free() {
        let clocks: Vec<HostClock> =
            ["a", "b", "c"].map(|name| HostClock::named(name.to_owned(), Vec::new())).into();
        let check = |declared: [bool; 3], one: &[&str], expect_few: bool| {
            let groups =
                if one.is_empty() { Vec::new() } else { vec![one.iter().map(ToString::to_string).collect()] };
            let mut links = Links::new(ClockGroups::new(&clocks, &groups).unwrap(), &declared);
            for second in 0..1000 {
                let sent = RawNs(second * 1_000_000_000);
                links.add(Message { sender: 0, sent, receiver: 1, received: sent + 100_000 });
            }
            let [link] = &links.corridors()[..] else { panic!("one pair") };
            assert_eq!(link.corridor.windows().len() <= MAX_WINDOWS, expect_few, "{declared:?} {one:?}");
            assert_eq!(link.corridor.messages(), (1000, 0));
        };
        check([false; 3], &[], false);
        check([true, false, true], &[], false);
        check([true, true, false], &[], true);
        // A clock that hosts share is as its weakest host.
        check([true, true, false], &["b", "c"], false);
        check([true; 3], &["b", "c"], true);
    }
}
