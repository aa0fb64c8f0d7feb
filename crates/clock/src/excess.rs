//! Where a rate left its usual range: between messages that exclude each other otherwise, and nowhere else.
//!
//! Two messages exclude each other when the relation cannot get from the one to the other within the range. Of all such pairs
//! the shortest say best where it happened. There the range is widened, and a little around, because a change of rate begins
//! before it shows: by two messages either way. First to what a kernel can do to its clock, then, if that is not
//! enough, to anything but going back. A single message that contradicts others on both sides of it is not explained by a
//! clock that left and came back in between: it is suspect.
//!
//! Which spans these are is a choice, so floating point decides; that the rest is possible is decided exactly in
//! [`crate::chain`].

use crate::chain::Points;
use crate::hull::Side;
use crate::motion::range_around;
use crate::point::Point;
use crate::span::{Span, merge};
use crate::suspect::{MAX_CONTRADICTIONS, MESSAGES_PER_CONTRADICTION};
use crate::usual::Usual;

/// The fastest slew of a kernel: Linux lets `adjtimex` set the tick within ± 10 %, and the frequency within ± 500 ppm on top
/// of that; `adjtime` adds 500 ppm.
pub(crate) const FASTEST: f64 = 0.11;
/// Rates that no clock has.
const BEYOND_ALL: f64 = 1e6;
/// A span is widened by so many messages of either direction.
const AROUND: usize = 2;
/// No clock leaves and comes back within this time, ns.
const THERE_AND_BACK_NS: i64 = 250_000_000;
/// Rounds in which spans are widened; what is left then is no clock.
const MAX_ROUNDS: usize = 64;

/// Spans of a's time in which the range is wider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excess {
    /// Up to [`FASTEST`]; by time, apart from each other.
    pub(crate) fast: Vec<Span>,
    /// Anything; by time, apart from each other.
    pub(crate) any: Vec<Span>,
}

/// Messages that exclude each other: a lower and an upper point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Conflict {
    lower: usize,
    upper: usize,
}

impl Excess {
    /// Where the rate must have left `usual` by more than `by` (dimensionless); `None` when no motion of a clock that does not
    /// go back explains the messages. O(k log k) a round.
    pub(crate) fn find(points: &Points, usual: Usual, by: f64) -> Option<Self> {
        let mut excess = Self::default();
        for _ in 0..MAX_ROUNDS {
            let field = Field::new(points, usual, by, &excess);
            let conflicts = field.conflicts();
            if conflicts.is_empty() {
                return Some(excess);
            }
            let known = excess.clone();
            for pair in shortest(conflicts.iter().map(|c| field.span(*c)).collect()) {
                let around = widened(points, pair);
                let inside = |list: &[Span]| list.iter().any(|s| s.begin <= pair.begin && pair.end <= s.end);
                if inside(&known.any) {
                    return None;
                }
                if inside(&known.fast) { excess.any.push(around) } else { excess.fast.push(around) }
            }
            merge(&mut excess.fast);
            merge(&mut excess.any);
        }
        None
    }

    /// Whether an instant is in a span of a list.
    pub(crate) fn holds(list: &[Span], x: i64) -> bool {
        let after = list.partition_point(|s| s.begin <= x);
        after > 0 && x <= list[after - 1].end
    }

    /// Whether a span touches one of a list.
    pub(crate) fn meets(list: &[Span], x: Span) -> bool {
        list.iter().any(|s| s.begin <= x.end && x.begin <= s.end)
    }
}

/// Messages that contradict others both before and after them, and without which nothing is left to explain among these; none if
/// there are more than wrong matches would be.
pub(crate) fn suspects(points: &Points, usual: Usual, by: f64, messages: u64) -> Vec<(Side, Point)> {
    let none = Excess::default();
    let field = Field::new(points, usual, by, &none);
    let conflicts = field.all_conflicts();
    // Whether each point is excluded by one before it, and by one after it.
    let mut upper = vec![[false; 2]; points.upper.len()];
    let mut lower = vec![[false; 2]; points.lower.len()];
    for c in &conflicts {
        let (l, u) = (points.lower[c.lower], points.upper[c.upper]);
        upper[c.upper][usize::from(l.x > u.x)] = true;
        lower[c.lower][usize::from(u.x > l.x)] = true;
    }
    let both = |side: Side, own: &[Point], flags: &[[bool; 2]]| {
        let excluded = own.iter().zip(flags).filter(|(_, flags)| **flags == [true; 2]);
        excluded.map(|(p, _)| (side, *p)).collect::<Vec<_>>()
    };
    let mut found = both(Side::Upper, &points.upper, &upper);
    found.extend(both(Side::Lower, &points.lower, &lower));
    let most = MAX_CONTRADICTIONS.max(messages / MESSAGES_PER_CONTRADICTION);
    if found.is_empty() || found.len() as u64 > most {
        return Vec::new();
    }
    let rest = without(points, &found);
    let field_of_rest = Field::new(&rest, usual, by, &none);
    let left: Vec<Span> = field_of_rest.conflicts().iter().map(|c| field_of_rest.span(*c)).collect();
    // Where something is left to explain, a clock may have moved.
    let around = |&(side, p): &(Side, Point)| {
        let own = conflicts.iter().filter(|c| match side {
            Side::Upper => points.upper[c.upper] == p,
            Side::Lower => points.lower[c.lower] == p,
        });
        let spans = own.map(|c| field.span(*c));
        spans.fold(Span { begin: p.x, end: p.x }, |a, b| Span {
            begin: a.begin.min(b.begin),
            end: a.end.max(b.end),
        })
    };
    // Between messages far apart it may well leave and come back.
    let is_near = |&(side, p): &(Side, Point)| {
        let partners = || {
            conflicts.iter().filter_map(move |c| match side {
                Side::Upper => (points.upper[c.upper] == p).then(|| points.lower[c.lower].x),
                Side::Lower => (points.lower[c.lower] == p).then(|| points.upper[c.upper].x),
            })
        };
        let (before, after) = (partners().filter(|x| *x < p.x).max(), partners().filter(|x| *x > p.x).min());
        before.zip(after).is_some_and(|(before, after)| after - before <= THERE_AND_BACK_NS)
    };
    found.retain(|suspect| is_near(suspect) && !Excess::meets(&left, around(suspect)));
    found
}

/// The messages without some of them.
pub(crate) fn without(points: &Points, gone: &[(Side, Point)]) -> Points {
    let left = |side: Side, own: &[Point]| {
        own.iter().copied().filter(|p| !gone.contains(&(side, *p))).collect::<Vec<_>>()
    };
    Points { upper: left(Side::Upper, &points.upper), lower: left(Side::Lower, &points.lower) }
}

/// The messages as residuals of the usual rate, and how far these may move.
struct Field<'p> {
    points: &'p Points,
    /// (b − line, what it can have risen by since the first message, what it can have fallen by, how much of a's time was spent
    /// in spans in which it can do anything), ns, by upper point.
    upper: Vec<[f64; 4]>,
    /// The same by lower point.
    lower: Vec<[f64; 4]>,
}

impl<'p> Field<'p> {
    fn new(points: &'p Points, usual: Usual, by: f64, excess: &Excess) -> Self {
        let all = || points.upper.iter().chain(&points.lower);
        let origin = all().min().copied().unwrap_or(Point { x: 0, y: 0 });
        // Where the limits change, and the rates up and down from there on.
        let mut borders: Vec<i64> =
            excess.fast.iter().chain(&excess.any).flat_map(|s| [s.begin, s.end]).collect();
        borders.push(i64::MIN / 4);
        borders.sort_unstable();
        borders.dedup();
        let limits = |x: i64| {
            // Strictly inside, as borders belong to both sides.
            let within = |list: &[Span]| list.iter().any(|s| s.begin <= x && x < s.end);
            let about = |by: f64| {
                let (least, greatest) = range_around(usual, by).rates();
                (greatest - usual.rate, usual.rate - least)
            };
            match (within(&excess.any), within(&excess.fast)) {
                (true, _) => (BEYOND_ALL, usual.rate),
                (_, true) => about(FASTEST.max(by)),
                _ => about(by),
            }
        };
        // (from, (rise, fall, in any) until there, the same per ns from there on).
        let mut steps: Vec<(i64, [f64; 3], [f64; 3])> = Vec::with_capacity(borders.len());
        let further = |from: [f64; 3], by: [f64; 3], run: f64| [0, 1, 2].map(|i| from[i] + by[i] * run);
        for &border in &borders {
            let (up, down) = limits(border);
            let until = steps.last().map_or([0.0; 3], |&(from, until, by)| {
                let run = if from < origin.x { (border - origin.x) as f64 } else { (border - from) as f64 };
                further(until, by, run)
            });
            let any = f64::from(u8::from(excess.any.iter().any(|s| s.begin <= border && border < s.end)));
            steps.push((border, until, [up, down, any]));
        }
        let residual = |p: &Point| {
            let at = steps.partition_point(|s| s.0 <= p.x).saturating_sub(1);
            let (from, until, by) = steps[at];
            let [rise, fall, any] = further(until, by, (p.x - from.max(origin.x)) as f64);
            let line = usual.rate * (p.x - origin.x) as f64;
            [(p.y - origin.y) as f64 - line, rise, fall, any]
        };
        let (upper, lower) =
            (points.upper.iter().map(residual).collect(), points.lower.iter().map(residual).collect());
        Self { points, upper, lower }
    }

    fn excludes(&self, lower: usize, upper: usize) -> bool {
        let ([l, l_rise, l_fall, l_any], [u, u_rise, u_fall, u_any]) = (self.lower[lower], self.upper[upper]);
        let (first, last) = (self.points.lower[lower], self.points.upper[upper]);
        if last.x < first.x && l_any > u_any {
            // It was set forward in between, by as much as it takes.
            return false;
        }
        if last.x >= first.x && u_any - l_any >= (last.x - first.x) as f64 {
            // At one instant, or while it may have stood still: only going back is impossible.
            return first.y > last.y;
        }
        // Half a nanosecond: better once too often than a contradiction that only exact numbers see.
        let reach = if last.x < first.x { l_rise - u_rise } else { u_fall - l_fall };
        l - u > reach - 0.5
    }

    /// Of every lower point that is excluded by an upper one before it, or after it, the nearest such pair.
    fn conflicts(&self) -> Vec<Conflict> {
        self.pairs(false)
    }

    /// The pairs of every lower point with the upper points next to it that exclude it, some on either side.
    fn all_conflicts(&self) -> Vec<Conflict> {
        self.pairs(true)
    }

    fn pairs(&self, several: bool) -> Vec<Conflict> {
        /// So many upper points on either side are looked at once one excludes the lower one.
        const NEAR: usize = 32;
        let (uppers, lowers) = (&self.points.upper, &self.points.lower);
        let least = |terms: &mut dyn Iterator<Item = f64>| {
            let next = |least: &mut f64, term: f64| {
                *least = least.min(term);
                Some(*least)
            };
            terms.scan(f64::INFINITY, next).collect::<Vec<f64>>()
        };
        let before = least(&mut self.upper.iter().map(|[u, rise, ..]| u - rise));
        let mut after = least(&mut self.upper.iter().rev().map(|[u, _, fall, _]| u + fall));
        after.reverse();
        let mut found = Vec::new();
        for (lower, p) in lowers.iter().enumerate() {
            let [l, rise, fall, _] = self.lower[lower];
            let next = uppers.partition_point(|u| u.x <= p.x);
            let take = if several { NEAR } else { 1 };
            if next > 0 && l - rise > before[next - 1] - 0.5 {
                let nearest = (0..next).rev().filter(|&u| self.excludes(lower, u)).take(take);
                found.extend(nearest.map(|upper| Conflict { lower, upper }));
            }
            let from = uppers.partition_point(|u| u.x < p.x);
            if from < uppers.len() && l + fall > after[from] - 0.5 {
                let nearest = (next.max(from)..uppers.len()).filter(|&u| self.excludes(lower, u)).take(take);
                found.extend(nearest.map(|upper| Conflict { lower, upper }));
            }
        }
        found
    }

    fn span(&self, conflict: Conflict) -> Span {
        let (a, b) = (self.points.lower[conflict.lower].x, self.points.upper[conflict.upper].x);
        Span { begin: a.min(b), end: a.max(b) }
    }
}

/// The spans that hold no other one.
fn shortest(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|s| (s.end, std::cmp::Reverse(s.begin)));
    spans.dedup();
    let mut latest = i64::MIN;
    let mut kept = Vec::new();
    for span in spans {
        if span.begin > latest {
            kept.push(span);
            latest = span.begin;
        }
    }
    kept
}

/// A span and the next messages of both directions around it.
fn widened(points: &Points, span: Span) -> Span {
    let before = |list: &[Point]| {
        let at = list.partition_point(|p| p.x < span.begin);
        list.get(at.saturating_sub(AROUND)).map_or(span.begin, |p| p.x)
    };
    let after = |list: &[Point]| {
        let at = list.partition_point(|p| p.x <= span.end) + AROUND;
        list.get(at.saturating_sub(1)).or(list.last()).map_or(span.end, |p| p.x)
    };
    Span {
        begin: before(&points.upper).min(before(&points.lower)).min(span.begin),
        end: after(&points.upper).max(after(&points.lower)).max(span.end),
    }
}

#[cfg(test)]
mod tests;
