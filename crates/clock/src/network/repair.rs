//! Corrections of clocks that do not run straight, bent so that no message arrives before it was sent.
//!
//! An estimate between its instants is a line, and the messages between them know nothing of that. What is
//! wanted is a time T for every end of a message (an *event*) with T(sent) ≤ T(received) for each message,
//! within the guaranteed rows, and rising from one event of a clock to the next by what the rate between it
//! and the reference may be; the reference's own times are fixed. These are difference constraints: the
//! greatest T of two that satisfy them does so as well, and so does the least. So of all that lie below the
//! estimate there is a greatest one, and of all above it a least one, and their mean satisfies the
//! constraints, since these are convex; it is the estimate itself wherever that violates nothing. The truth
//! satisfies them all, so that there is such a T. Because rates are limited, what one message needs moves its
//! surroundings along, and there are no spikes.

use crate::correction::Correction;
use crate::error::ClockError;
use crate::geometry::{RateRange, Segment};
use crate::interval::{Interval, IntervalRow, Row};
use crate::link::{Link, Message};

/// Rounds of looking for messages that hulls hide.
const ROUNDS: usize = 6;
/// Passes over all events after which constraints are taken to contradict each other.
const MAX_PASSES: usize = 64;
/// Times of an event that nothing limits.
const FAR: i64 = 1 << 62;

/// Bounds and limits of the clocks of an island.
pub(crate) struct Guarantees<'a> {
    pub(crate) reference: usize,
    /// By clock.
    pub(crate) rows: Vec<(usize, &'a [Row])>,
    /// Per clock of the network what is assumed of the rate between it and the reference; none is no limit.
    pub(crate) segments: &'a [Vec<Segment>],
}

/// A correction bent so that it stays inside the rows, also between them.
pub(crate) fn inside(correction: &Correction, rows: &[Row]) -> Result<Correction, ClockError> {
    let guarantee = interval(rows)?;
    let within = |(raw, time): (i64, i64)| {
        let (lo, hi, _) = guarantee.at(raw).unwrap_or((time, time, 0));
        let limit = crate::MAX_ABS_NS;
        (raw, time.clamp(lo, hi).clamp(-limit, limit))
    };
    let knots = correction.knots().iter().copied().map(within).collect::<Vec<_>>();
    let bent = monotone(knots, correction)?;
    // The lines between these knots are held against the rows.
    let outside = |row: &&Row| !(row.lo..=row.hi).contains(&bent.apply(row.raw));
    let moves: Vec<(i64, i64)> =
        rows.iter().filter(outside).map(|r| within((r.raw, bent.apply(r.raw)))).collect();
    if moves.is_empty() { Ok(bent) } else { through(&bent, &moves) }
}

fn interval(rows: &[Row]) -> Result<Interval, ClockError> {
    let row = |r: &Row| IntervalRow { raw: r.raw, lo: r.lo, hi: r.hi, e95: 0 };
    Interval::new(rows.iter().map(row).collect())
}

/// A correction through knots by their raw times, each of which is at least at the one before.
fn monotone(mut knots: Vec<(i64, i64)>, like: &Correction) -> Result<Correction, ClockError> {
    let mut latest = -crate::MAX_ABS_NS;
    for knot in &mut knots {
        latest = knot.1.clamp(latest, crate::MAX_ABS_NS);
        knot.1 = latest;
    }
    Correction::new(knots, like.rate_before(), like.rate_after())
}

/// A correction with more knots, or others.
fn through(correction: &Correction, moves: &[(i64, i64)]) -> Result<Correction, ClockError> {
    let is_moved = |raw: i64| moves.binary_search_by_key(&raw, |m| m.0).is_ok();
    let mut knots: Vec<(i64, i64)> = correction.knots().iter().copied().filter(|k| !is_moved(k.0)).collect();
    knots.extend(moves);
    knots.sort_unstable();
    monotone(knots, correction)
}

/// The corrections, bent so that no message of the links is inverted, if that can be. O(n·log n) for n
/// messages and knots.
pub(crate) fn uninverted(
    corrections: Vec<Correction>,
    guarantees: &Guarantees<'_>,
    links: &[&Link],
) -> Result<Vec<Correction>, ClockError> {
    let (counted, recorded): (Vec<Message>, Vec<Message>) = (
        links.iter().flat_map(|link| link.messages()).collect(),
        links.iter().flat_map(|link| link.recorded()).collect(),
    );
    // Coarse stamps need not allow that no message arrives before it was sent by the stamps themselves.
    let corrections = match counted == recorded {
        true => corrections,
        false => mended(corrections, guarantees, &[], recorded)?,
    };
    mended(corrections, guarantees, links, counted)
}

/// The corrections, bent so that none of the messages is inverted, nor what edges of the hulls of links stand
/// for, if that can be.
fn mended(
    mut corrections: Vec<Correction>,
    guarantees: &Guarantees<'_>,
    links: &[&Link],
    mut messages: Vec<Message>,
) -> Result<Vec<Correction>, ClockError> {
    // Beyond the range of times there can be no knot: such a message stays as it is.
    let in_range = |corrections: &[Correction], m: &Message| {
        let limit = crate::MAX_ABS_NS;
        [(m.sender, m.sent), (m.receiver, m.received)]
            .into_iter()
            .all(|(clock, raw)| (-limit..=limit).contains(&corrections[clock].apply(raw)))
    };
    messages.retain(|m| in_range(&corrections, m));
    let mut hidden: Vec<Message> = Vec::new();
    let mut contradict = false;
    for round in 1..=ROUNDS {
        let all: Vec<Message> = messages.iter().chain(&hidden).copied().collect();
        let inverted = |corrections: &[Correction]| all.iter().filter(|m| m.is_inverted(corrections)).count();
        let before = inverted(&corrections);
        if before > 0 {
            let (times, is_possible) = Events::new(&corrections, guarantees, &all)?.settled();
            contradict = !is_possible;
            // What edges stand for need not be possible: the truth may cross them where no message is.
            if !is_possible && !hidden.is_empty() {
                break;
            }
            let bent = times.through(corrections.clone(), guarantees.reference)?;
            if is_possible || inverted(&bent) < before {
                corrections = bent;
            }
        }
        let known = hidden.len();
        if round < ROUNDS {
            hidden.extend(links.iter().flat_map(|link| link.exposed(&corrections).0));
        }
        // New knots are whole ns, and lines through them may be one off.
        if contradict || hidden.len() == known && inverted(&corrections) == 0 {
            break;
        }
    }
    Ok(corrections)
}

/// The ends of messages and the rows, by clock and then by time, with what limits their times.
struct Events {
    /// Index of the first event of each clock, and the number of events.
    begins: Vec<usize>,
    raw: Vec<i64>,
    estimate: Vec<i64>,
    /// The rows there.
    lo: Vec<i64>,
    hi: Vec<i64>,
    /// By how much time rises to the next event at least and at most; far to the next clock.
    rise: Vec<(i64, i64)>,
    /// Per event the other ends of its messages: as receiver, as sender.
    from: Lists,
    to: Lists,
    /// All events by the estimate.
    order: Vec<usize>,
}

impl Events {
    fn new(
        corrections: &[Correction],
        guarantees: &Guarantees<'_>,
        messages: &[Message],
    ) -> Result<Self, ClockError> {
        let mut raws: Vec<Vec<i64>> = vec![Vec::new(); corrections.len()];
        for &Message { sender, sent, receiver, received } in messages {
            raws[sender].push(sent);
            raws[receiver].push(received);
        }
        for &(clock, rows) in guarantees.rows.iter().filter(|r| r.0 != guarantees.reference) {
            raws[clock].extend(rows.iter().map(|r| r.raw));
        }
        let mut intervals: Vec<Option<Interval>> = vec![None; corrections.len()];
        for &(clock, rows) in &guarantees.rows {
            intervals[clock] = Some(interval(rows)?);
        }
        let mut events = Self {
            begins: vec![0],
            raw: Vec::new(),
            estimate: Vec::new(),
            lo: Vec::new(),
            hi: Vec::new(),
            rise: Vec::new(),
            from: Lists::default(),
            to: Lists::default(),
            order: Vec::new(),
        };
        for (clock, raws) in raws.iter_mut().enumerate() {
            raws.sort_unstable();
            raws.dedup();
            let segments = guarantees.segments.get(clock).map_or(&[][..], Vec::as_slice);
            for (at, &raw) in raws.iter().enumerate() {
                let estimate = corrections[clock].apply(raw);
                let rows = intervals[clock].as_ref().and_then(|i| i.at(raw)).map(|(lo, hi, _)| (lo, hi));
                let (lo, hi) =
                    if clock == guarantees.reference { (raw, raw) } else { rows.unwrap_or((-FAR, FAR)) };
                events.raw.push(raw);
                events.estimate.push(estimate);
                events.lo.push(lo);
                events.hi.push(hi);
                events.rise.push(raws.get(at + 1).map_or((-FAR, FAR), |&next| {
                    // What the estimate does is no spike.
                    let own = corrections[clock].apply(next).saturating_sub(estimate);
                    let (least, most) = rise(segments, raw, next);
                    (least.min(own), most.max(own))
                }));
            }
            events.begins.push(events.raw.len());
        }
        let id = |clock: usize, raw: i64| events.begins[clock] + raws[clock].partition_point(|&r| r < raw);
        let ends: Vec<(usize, usize)> =
            messages.iter().map(|m| (id(m.sender, m.sent), id(m.receiver, m.received))).collect();
        let count = events.raw.len();
        events.from = Lists::new(count, ends.iter().map(|&(sent, received)| (received, sent)));
        events.to = Lists::new(count, ends.iter().copied());
        events.order = (0..count).collect();
        events.order.sort_by_key(|&at| events.estimate[at]);
        Ok(events)
    }

    /// A time for every event near the estimate, and whether none violates anything. If they contradict each
    /// other, as much as the rows allow is mended.
    fn settled(mut self) -> (Times, bool) {
        let mut limits = self.limits();
        if !self.holds(&limits[0]) {
            // Then at least no clock goes back.
            for rise in self.rise.iter_mut().filter(|rise| rise.0 != -FAR) {
                *rise = (0, FAR);
            }
            limits = self.limits();
        }
        let is_possible = self.holds(&limits[0]);
        let [least, most] = limits;
        let within =
            |(&t, (lo, hi)): (&i64, (i64, i64))| if lo <= hi { t.clamp(lo, hi) } else { lo.midpoint(hi) };
        let mut above: Vec<i64> = self.estimate.iter().zip(least.into_iter().zip(most)).map(within).collect();
        let mut below = above.clone();
        self.raise(&mut above);
        self.lower(&mut below);
        let times = above.iter().zip(&below).map(|(&a, &b)| a.midpoint(b)).collect();
        (Times { events: self, times }, is_possible)
    }

    /// The earliest and the latest time of every event.
    fn limits(&self) -> [Vec<i64>; 2] {
        let (mut least, mut most) = (self.lo.clone(), self.hi.clone());
        self.raise(&mut least);
        self.lower(&mut most);
        [least, most]
    }

    /// Whether times violate nothing.
    fn holds(&self, times: &[i64]) -> bool {
        (0..times.len()).all(|at| {
            let rise = times.get(at + 1).map_or(0, |next| next.saturating_sub(times[at]));
            let is_last = at + 1 == times.len() || self.rise[at].0 == -FAR;
            self.to.of(at).iter().all(|&received| times[at] <= times[received])
                && (is_last || (self.rise[at].0 <= rise && rise <= self.rise[at].1))
        })
    }

    /// Raises times, at most to the rows, until nothing is violated: the least that is possible and nowhere
    /// below.
    fn raise(&self, times: &mut [i64]) {
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            let mut raise = |time: &mut i64, to: i64, at: usize| {
                let to = to.min(self.hi[at]);
                changed |= to > *time;
                *time = to.max(*time);
            };
            for &at in &self.order {
                let before = at.checked_sub(1).map_or(-FAR, |b| times[b].saturating_add(self.rise[b].0));
                let sent = self.from.of(at).iter().map(|&s| times[s]).fold(before, i64::max);
                raise(&mut times[at], sent, at);
            }
            for &at in self.order.iter().rev() {
                let after = times.get(at + 1).map_or(-FAR, |t| t.saturating_sub(self.rise[at].1));
                raise(&mut times[at], after, at);
            }
            if !changed {
                return;
            }
        }
    }

    /// Lowers times, at most to the rows, until nothing is violated: the greatest that is possible and
    /// nowhere above.
    fn lower(&self, times: &mut [i64]) {
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            let mut lower = |time: &mut i64, to: i64, at: usize| {
                let to = to.max(self.lo[at]);
                changed |= to < *time;
                *time = to.min(*time);
            };
            for &at in self.order.iter().rev() {
                let after = times.get(at + 1).map_or(FAR, |t| t.saturating_sub(self.rise[at].0));
                let received = self.to.of(at).iter().map(|&r| times[r]).fold(after, i64::min);
                lower(&mut times[at], received, at);
            }
            for &at in &self.order {
                let before = at.checked_sub(1).map_or(FAR, |b| times[b].saturating_add(self.rise[b].1));
                lower(&mut times[at], before, at);
            }
            if !changed {
                return;
            }
        }
    }
}

/// By how much the reference's time rises between two instants of a clock, at least and at most.
fn rise(segments: &[Segment], from: i64, to: i64) -> (i64, i64) {
    let first = segments.partition_point(|segment| segment.x.end <= from);
    let within = segments[first..]
        .iter()
        .take_while(|segment| segment.x.begin < to)
        .map(|segment| segment.rule.rates());
    let rates = within.reduce(RateRange::or).unwrap_or(RateRange::ANY);
    let limited = |rise: i128| rise.clamp(0, FAR as i128) as i64;
    (limited(rates.least(to - from)), rates.most(to - from).map_or(FAR, limited))
}

/// Events with their times.
struct Times {
    events: Events,
    times: Vec<i64>,
}

impl Times {
    /// The corrections through these times. Between events the old knots go along, by what lies between the
    /// moves of both.
    fn through(
        self,
        mut corrections: Vec<Correction>,
        reference: usize,
    ) -> Result<Vec<Correction>, ClockError> {
        for (clock, correction) in corrections.iter_mut().enumerate().filter(|c| c.0 != reference) {
            let of = self.events.begins[clock]..self.events.begins[clock + 1];
            let (raw, times) = (&self.events.raw[of.clone()], &self.times[of.clone()]);
            let moves: Vec<i64> = times
                .iter()
                .zip(&self.events.estimate[of])
                .map(|(to, from)| to.saturating_sub(*from))
                .collect();
            if moves.iter().all(|&by| by == 0) {
                continue;
            }
            let is_moved = |at: usize| moves.get(at).is_some_and(|&by| by != 0);
            let near =
                |at: &usize| is_moved(*at) || is_moved(at + 1) || at.checked_sub(1).is_some_and(is_moved);
            let knots: Vec<(i64, i64)> = (0..raw.len()).filter(near).map(|at| (raw[at], times[at])).collect();
            let shifted = |&(at, time): &(i64, i64)| {
                let right = raw.partition_point(|&r| r < at);
                let (left, right) = (right.checked_sub(1), (right < raw.len()).then_some(right));
                let time = match (left, right) {
                    (Some(left), Some(right)) => {
                        let run = (raw[right] - raw[left]) as i128;
                        let more = (moves[right] as i128 - moves[left] as i128) * (at - raw[left]) as i128;
                        let by = moves[left] as i128 + crate::exact::floor_div(more, run);
                        (time as i128 + by).clamp(times[left] as i128, times[right] as i128) as i64
                    }
                    (Some(left), None) => time.saturating_add(moves[left]).max(times[left]),
                    (None, Some(right)) => time.saturating_add(moves[right]).min(times[right]),
                    (None, None) => time,
                };
                (at, time)
            };
            let old: Vec<(i64, i64)> = correction.knots().iter().map(shifted).collect();
            // Times that contradict each other need not rise.
            let old = monotone(old, correction)?;
            *correction = through(&old, &knots)?;
        }
        Ok(corrections)
    }
}

/// Lists of numbers, one after the other.
#[derive(Default)]
struct Lists {
    begins: Vec<usize>,
    all: Vec<usize>,
}

impl Lists {
    /// From (list, number).
    fn new(lists: usize, entries: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut begins = vec![0; lists + 1];
        for (list, _) in entries.clone() {
            begins[list + 1] += 1;
        }
        for list in 0..lists {
            begins[list + 1] += begins[list];
        }
        let (mut next, mut all) = (begins.clone(), vec![0; begins[lists]]);
        for (list, number) in entries {
            all[next[list]] = number;
            next[list] += 1;
        }
        Self { begins, all }
    }

    fn of(&self, list: usize) -> &[usize] {
        &self.all[self.begins[list]..self.begins[list + 1]]
    }
}
