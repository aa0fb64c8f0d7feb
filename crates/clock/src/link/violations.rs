//! Where a rate left its nominal range: between messages that exclude each other otherwise, and nowhere else.
//!
//! Two messages exclude each other when the relation cannot get from the one to the other within the range.
//! Of all such pairs the shortest say best where it happened. There the range is widened, and around it,
//! because a change of rate begins before it shows: by as much time either way, and by two messages. Where a
//! daemon steers, first to what a kernel can do to its clock, then, if that is not enough, to anything but
//! going back. Where nothing is known of a clock, it may as well have been set or stopped: then to any rate,
//! but one way only, as a step, a stop and a slew each move a clock one way. So what holds there is the hull
//! of what is known before, carried on at the nominal rate, and of what is known after, carried back. A
//! single message that contradicts others on both sides of it is not explained by a clock that left and came
//! back in between: it is suspect.
//!
//! Which spans these are is a choice, so floating point decides; that the rest is possible is decided exactly
//! in [`crate::geometry::segments`].

use crate::estimate::{MAX_CONTRADICTIONS, MESSAGES_PER_CONTRADICTION};
use crate::geometry::{FASTEST, Point, Points, Side};
use crate::link::nominal_rate::NominalRate;
use crate::span::{Span, merge};

/// Rates that no clock has.
const BEYOND_ALL: f64 = 1e6;
/// Number of messages of either direction by which a span is widened.
const AROUND: usize = 2;
/// No clock leaves and comes back within this time, ns.
const THERE_AND_BACK_NS: i64 = 250_000_000;
/// Maximal number of rounds in which spans are widened; what is left then is not a clock.
const MAX_ROUNDS: usize = 64;

/// Spans of a's time in which the range is allowance; each list by time, its spans apart from each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LimitViolations {
    /// Up to [`FASTEST`].
    pub(crate) fast: Vec<Span>,
    /// As fast as it may be, but no slower than nominal: b gained on a, at any rate.
    pub(crate) rising: Vec<Span>,
    /// As slow as it may be, or no motion at all, but no faster than nominal: b lost to a.
    pub(crate) falling: Vec<Span>,
    /// Anything.
    pub(crate) any: Vec<Span>,
}

/// Allowance in a span of [`LimitViolations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// [`LimitViolations::fast`].
    Fast,
    /// [`LimitViolations::rising`].
    Rising,
    /// [`LimitViolations::falling`].
    Falling,
    /// [`LimitViolations::any`].
    Any,
}

impl Allowance {
    /// The same with the clocks in the other order.
    pub(crate) fn turned(self) -> Self {
        match self {
            Self::Rising => Self::Falling,
            Self::Falling => Self::Rising,
            same => same,
        }
    }
}

/// Assumed cause of the first violation at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A kernel slews the clock, up to [`FASTEST`].
    Slew,
    /// A clock whose steering is unknown may have been set, stopped or slewed: all of these move it one way.
    Unknown,
}

/// Messages that exclude each other: a lower and an upper point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Conflict {
    lower: usize,
    upper: usize,
}

impl LimitViolations {
    /// Where the rate must have left `nominal` by more than `by` (dimensionless), beyond what is `reported`
    /// of its clocks, with that; `None` when no motion of a clock that does not go back explains the
    /// messages. O(k log k) a round.
    pub(crate) fn find(
        points: &Points,
        nominal: NominalRate,
        by: f64,
        cause: Cause,
        reported: &Self,
    ) -> Option<Self> {
        let mut violations = reported.clone();
        let within = between_messages(points);
        for _ in 0..MAX_ROUNDS {
            let field = Field::new(points, nominal, by, &violations);
            let conflicts = field.conflicts();
            if conflicts.is_empty() {
                return Some(violations);
            }
            let known = violations.clone();
            // A relation rises too much between an upper point and a later lower one, too little between the
            // others.
            let (rises, falls): (Vec<Conflict>, Vec<Conflict>) =
                conflicts.into_iter().partition(|c| field.is_rise(*c));
            for (conflicts, is_rise) in [(rises, true), (falls, false)] {
                for pair in shortest(conflicts.iter().map(|c| field.span(*c)).collect()) {
                    let inside = |list: &[Span]| list.iter().any(|s| s.holds(pair));
                    let one_way = if is_rise { &known.rising } else { &known.falling };
                    if inside(&known.any) || inside(one_way) {
                        return None;
                    }
                    // Without messages both ways before and after, nothing would bound what goes one way at
                    // any rate.
                    let is_between = within.holds(pair);
                    let (allowance, around) = match cause {
                        Cause::Unknown if is_between => {
                            let around = widened(points, pair, pair.end - pair.begin);
                            let x = around.common(within);
                            (if is_rise { Allowance::Rising } else { Allowance::Falling }, x)
                        }
                        _ if inside(&known.fast) => (Allowance::Any, widened(points, pair, 0)),
                        _ => (Allowance::Fast, widened(points, pair, 0)),
                    };
                    violations.list_mut(allowance).push(around);
                }
            }
            violations.merge();
        }
        None
    }

    /// The spans in which so much is allowed for.
    pub(crate) fn list_mut(&mut self, allowance: Allowance) -> &mut Vec<Span> {
        match allowance {
            Allowance::Fast => &mut self.fast,
            Allowance::Rising => &mut self.rising,
            Allowance::Falling => &mut self.falling,
            Allowance::Any => &mut self.any,
        }
    }

    /// All spans with what is allowed for there.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Span, Allowance)> + '_ {
        let lists = [
            (&self.fast, Allowance::Fast),
            (&self.rising, Allowance::Rising),
            (&self.falling, Allowance::Falling),
            (&self.any, Allowance::Any),
        ];
        lists.into_iter().flat_map(|(list, allowance)| list.iter().map(move |span| (*span, allowance)))
    }

    /// Joins spans that touch each other.
    pub(crate) fn merge(&mut self) {
        for list in [&mut self.fast, &mut self.rising, &mut self.falling, &mut self.any] {
            merge(list);
        }
    }

    /// Whether there is no limit to the rate at an instant, in one direction at least.
    pub(crate) fn is_open(&self, x: i64) -> bool {
        [&self.any, &self.rising, &self.falling].into_iter().any(|list| Self::holds(list, x))
    }

    /// Whether an instant is in a span of a list.
    pub(crate) fn holds(list: &[Span], x: i64) -> bool {
        let after = list.partition_point(|s| s.begin <= x);
        after > 0 && x <= list[after - 1].end
    }

    /// Whether a span touches one of a list.
    pub(crate) fn meets(list: &[Span], x: Span) -> bool {
        list.iter().any(|s| s.overlaps(x))
    }
}

/// Messages that contradict others both before and after them, and without which nothing is left to explain
/// among these; none if there are more than wrong matches would be.
pub(crate) fn suspects(points: &Points, nominal: NominalRate, by: f64, messages: u64) -> Vec<(Side, Point)> {
    let none = LimitViolations::default();
    let field = Field::new(points, nominal, by, &none);
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
    let field_of_rest = Field::new(&rest, nominal, by, &none);
    let left: Vec<Span> = field_of_rest.conflicts().iter().map(|c| field_of_rest.span(*c)).collect();
    // Where something is left to explain, a clock may have moved.
    let around = |&(side, p): &(Side, Point)| {
        let own = conflicts.iter().filter(|c| match side {
            Side::Upper => points.upper[c.upper] == p,
            Side::Lower => points.lower[c.lower] == p,
        });
        let spans = own.map(|c| field.span(*c));
        spans.fold(Span::at(p.x), Span::hull)
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
    found.retain(|suspect| is_near(suspect) && !LimitViolations::meets(&left, around(suspect)));
    found
}

/// The messages without some of them.
pub(crate) fn without(points: &Points, gone: &[(Side, Point)]) -> Points {
    let left = |side: Side, own: &[Point]| {
        own.iter().copied().filter(|p| !gone.contains(&(side, *p))).collect::<Vec<_>>()
    };
    Points { upper: left(Side::Upper, &points.upper), lower: left(Side::Lower, &points.lower) }
}

/// The messages as residuals of the nominal rate, and how far these may move.
struct Field<'p> {
    points: &'p Points,
    /// (b − line, what it can have risen by since the first message, what it can have fallen by, how much of
    /// a's time was spent in spans in which it can rise without limit, and in those in which it can stand
    /// still), ns, by upper point.
    upper: Vec<[f64; 5]>,
    /// The same by lower point.
    lower: Vec<[f64; 5]>,
}

impl<'p> Field<'p> {
    fn new(points: &'p Points, nominal: NominalRate, by: f64, violations: &LimitViolations) -> Self {
        let all = || points.upper.iter().chain(&points.lower);
        let origin = all().min().copied().unwrap_or(Point { x: 0, y: 0 });
        // Where the limits change, and the rates up and down from there on.
        let mut borders: Vec<i64> = violations.spans().flat_map(|(s, _)| [s.begin, s.end]).collect();
        borders.push(i64::MIN / 4);
        borders.sort_unstable();
        borders.dedup();
        // Rates up and down from an instant on, and whether these are without limit.
        let limits = |x: i64| {
            // Strictly inside, as borders belong to both sides.
            let within = |list: &[Span]| {
                let after = list.partition_point(|s| s.begin <= x);
                after > 0 && x < list[after - 1].end
            };
            let any = within(&violations.any);
            let (rising, falling) = (any || within(&violations.rising), any || within(&violations.falling));
            let by = if within(&violations.fast) { FASTEST.max(by) } else { by };
            let (least, greatest) = nominal.range(by).rates();
            let (up, down) = (greatest - nominal.rate, nominal.rate - least);
            let open = |is: bool| f64::from(u8::from(is));
            [
                if rising { BEYOND_ALL } else { up },
                if falling { nominal.rate } else { down },
                open(rising),
                open(falling),
            ]
        };
        // (from, all of these until there, per ns from there on).
        let mut steps: Vec<(i64, [f64; 4], [f64; 4])> = Vec::with_capacity(borders.len());
        let further = |from: [f64; 4], by: [f64; 4], run: f64| [0, 1, 2, 3].map(|i| from[i] + by[i] * run);
        for &border in &borders {
            let until = steps.last().map_or([0.0; 4], |&(from, until, by)| {
                let run = if from < origin.x { (border - origin.x) as f64 } else { (border - from) as f64 };
                further(until, by, run)
            });
            steps.push((border, until, limits(border)));
        }
        let residual = |p: &Point| {
            let at = steps.partition_point(|s| s.0 <= p.x).saturating_sub(1);
            let (from, until, by) = steps[at];
            let [rise, fall, rising, falling] = further(until, by, (p.x - from.max(origin.x)) as f64);
            let line = nominal.rate * (p.x - origin.x) as f64;
            [(p.y - origin.y) as f64 - line, rise, fall, rising, falling]
        };
        let (upper, lower) =
            (points.upper.iter().map(residual).collect(), points.lower.iter().map(residual).collect());
        Self { points, upper, lower }
    }

    fn excludes(&self, lower: usize, upper: usize) -> bool {
        let ([l, l_rise, l_fall, l_rising, l_falling], [u, u_rise, u_fall, u_rising, u_falling]) =
            (self.lower[lower], self.upper[upper]);
        let (first, last) = (self.points.lower[lower], self.points.upper[upper]);
        if last.x < first.x && l_rising > u_rising {
            // It was set forward in between, by as much as it takes.
            return false;
        }
        if last.x >= first.x && u_falling - l_falling >= (last.x - first.x) as f64 {
            // At one instant, or while it may have stood still: only going back is impossible.
            return first.y > last.y;
        }
        // Half a nanosecond: better once too often than a contradiction that only exact numbers see.
        let reach = if last.x < first.x { l_rise - u_rise } else { u_fall - l_fall };
        l - u > reach - 0.5
    }

    /// Whether the relation would have to rise too fast, rather than too slowly.
    fn is_rise(&self, conflict: Conflict) -> bool {
        self.points.upper[conflict.upper].x < self.points.lower[conflict.lower].x
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
        let mut after = least(&mut self.upper.iter().rev().map(|[u, _, fall, ..]| u + fall));
        after.reverse();
        let mut found = Vec::new();
        for (lower, p) in lowers.iter().enumerate() {
            let [l, rise, fall, ..] = self.lower[lower];
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

/// A span with so much more before and after it, and at least the next messages of both directions.
fn widened(points: &Points, span: Span, by: i64) -> Span {
    let before = |list: &[Point]| {
        let at = list.partition_point(|p| p.x < span.begin);
        list.get(at.saturating_sub(AROUND)).map_or(span.begin, |p| p.x)
    };
    let after = |list: &[Point]| {
        let at = list.partition_point(|p| p.x <= span.end) + AROUND;
        list.get(at.saturating_sub(1)).or(list.last()).map_or(span.end, |p| p.x)
    };
    Span {
        begin: before(&points.upper).min(before(&points.lower)).min(span.begin - by),
        end: after(&points.upper).max(after(&points.lower)).max(span.end + by),
    }
}

/// From the first instant before which there are messages both ways to the last after which there are.
fn between_messages(points: &Points) -> Span {
    let ends = |list: &[Point]| list.first().zip(list.last()).map(|(first, last)| (first.x, last.x));
    match ends(&points.upper).zip(ends(&points.lower)) {
        Some((upper, lower)) => Span { begin: upper.0.max(lower.0), end: upper.1.min(lower.1) },
        None => Span { begin: 0, end: -1 },
    }
}

#[cfg(test)]
mod tests;
