//! The estimate of a relation that is no line: lines through stretches in which the clocks ran straight,
//! combined.
//!
//! The time of the messages is cut into stretches of all lengths, each half as long as the ones before and
//! overlapping by half, down to some messages. A line is fitted to each ([`crate::estimate::folds`]), and
//! those count in which nothing contradicts a straight clock ([`crate::estimate::straightness`]). At any
//! instant the estimate is the mean of their lines, weighted by how sure each is there: long ones where the
//! clock was left alone, short ones where it was not. It is put inside of the guarantee last. All of this is
//! statistics: the guarantee knows nothing of it.

use crate::estimate::curve::{Curve, SlowPeriod, Variances};
use crate::estimate::line::{MIN_MESSAGES_TO_STATE_ERROR, PairEstimate, VARIANCE_FACTOR};
use crate::estimate::straightness::{Straightness, median};
use crate::estimate::{between, between::Node, folds::estimate, sample::sample_of, straightness};
use crate::geometry::{Corridor, Direction, Point, Rule, Segment, SegmentChain, Side, SlopeBand, SlopeRange};
use crate::span::{Span, merge};

/// Rates that a stretch may have: never those of a longer one, which would bend short ones to it. ppm.
const BAND_PPM: u32 = 200_000;
/// Approximate number of messages, of the direction that has fewer, in the shortest stretches.
const MIN_MESSAGES: u64 = 8;
/// Minimal number of messages of a segment of constant rate that counts as a stretch: it does not fade toward
/// its ends, where few would bend it most.
const MIN_MESSAGES_OF_SEGMENT: u64 = 12;
/// Maximal number of times that stretches are halved.
const MAX_LEVELS: u32 = 11;
/// Number of instants of the estimate …
const NODES: usize = 1024;
/// … and of one whose clocks are straight all the time, so that it hardly bends.
const NODES_OF_STRAIGHT: usize = 256;
/// Stretches that look straight are not if more than this share of those within them, up to `LEVELS_DOWN`
/// levels below, are not.
const BENT_WITHIN: f64 = 0.25;
const LEVELS_DOWN: u32 = 3;
/// Share of the noise of least delays that is in the estimate's error.
const NOISE_SHARE: f64 = 0.35;
/// Where stretches that were tested are straight, this share of the half width is in the error: a clock that
/// is steered may have moved in a way that no test shows.
const SETTLED: f64 = 0.1;
/// In the stated error, what the half width is above `ROUND_TRIPS` least round trips counts by this share
/// only: it grows with what is assumed and with the time between messages, the error hardly does.
const SETTLED_BEYOND: f64 = 0.02;
const ROUND_TRIPS: f64 = 1.5;
/// The share where none was tested, …
const UNSETTLED: f64 = 0.35;
/// … and where no stretch is straight: anything that is possible is as likely.
const UNKNOWN: f64 = 0.5;
/// Share of what the least round trip of a stretch is above the usual one of the link that is in the error:
/// one direction alone may be slow there.
const SLOW_SHARE: f64 = 0.5;
/// The usual least round trip is exceeded by this share of the stretches.
const USUAL: f64 = 0.9;
/// A least round trip is far longer than usual if it is above the usual one by this factor, …
const FAR_LONGER: f64 = 3.0;
/// … and above it by this number of standard deviations of the noise, …
const NOISES_LONGER: f64 = 4.0;
/// … during this share of the time.
const SLOW_TIME: f64 = 0.01;
/// By so much the rate changes from one stretch to the next where messages do not show it.
const WANDER: f64 = 2e-6;
/// Rates that may differ by more are of clocks that are slewed fast, set or stopped.
const LEAP: f64 = 0.01;
/// The rate of a clock differs by so much where no stretch of it is straight, at least.
const RATE_CHANGE: f64 = 5e-6;
/// Distance of a stretch where there is none, ns.
const NO_STRETCH: i64 = i64::MAX / 2;
/// A stretch counts for instants in this part of it, its middle.
const CENTRAL: f64 = 0.75;

/// A fitted stretch.
struct Stretch {
    level: u32,
    x: Span,
    line: PairEstimate,
    /// Whether a line satisfies its messages.
    is_possible: bool,
    straightness: Straightness,
    /// Whether the rate is known to be constant up to its ends.
    is_segment: bool,
}

/// Properties of a straight stretch by all of them together.
struct StretchContext {
    /// Standard deviation of the middle of an eighth of it, ns.
    noise: f64,
    /// Changes of the rate that are known to lie in it.
    changes: f64,
    /// Half of what its least round trip is above the usual one, ns.
    slow: f64,
}

/// Estimate at an instant.
struct Combined {
    y: f64,
    variance: f64,
    margin: f64,
    noise: f64,
    /// Whether the middle of a stretch that was tested is there.
    is_settled: bool,
}

impl Combined {
    /// How far a clock may have moved in a way that no test shows, by half of what the guarantee leaves; one
    /// standard deviation, ns, in the variances for weights and for the stated error.
    fn unseen(&self, half: f64) -> [f64; 2] {
        if !self.is_settled {
            return [UNSETTLED * half; 2];
        }
        let near = half.min(ROUND_TRIPS * 2.0 * self.margin);
        [SETTLED * half, SETTLED * near + SETTLED_BEYOND * (half - near)]
    }
}

/// The estimate of the messages of a link over `ends`, inside of `chain`; `None` without messages both ways.
pub(crate) fn combined(corridor: &Corridor, chain: &SegmentChain, ends: Span) -> Option<Curve> {
    let messages = corridor.x_range()?;
    let band = SlopeRange::prior(BAND_PPM).closed()?;
    let mut all = stretches(corridor, messages, band);
    if all.is_empty() {
        // Rates of guests whose time stamp counter was measured wrong.
        all = stretches(corridor, messages, SlopeRange::UNBOUNDED.closed()?);
    }
    // Between the known instants at which a rate is changed, it is constant.
    let constant: Vec<Segment> =
        chain.segments().filter(|segment| matches!(segment.rule, Rule::Constant { .. })).collect();
    let own = constant.iter().filter_map(|segment| {
        let x = segment.x.common(messages);
        (x != messages && x.begin < x.end).then_some(())?;
        let segment = fitted(corridor, x, 0, band)?;
        let (forth, back) = segment.line.messages();
        (forth.min(back) >= MIN_MESSAGES_OF_SEGMENT).then_some(Stretch { is_segment: true, ..segment })
    });
    all.extend(own);
    let straight: Vec<&Stretch> = all.iter().filter(|s| s.is_straight()).collect();
    let noise = noises(&straight);
    // A line through stretches with known changes of the rate is less sure than it looks.
    let borders: Vec<i64> = constant.iter().map(|segment| segment.x.begin).collect();
    let changes = |s: &Stretch| {
        let inside = borders.partition_point(|&b| b < s.x.end) - borders.partition_point(|&b| b <= s.x.begin);
        if s.is_segment { 0.0 } else { inside as f64 }
    };
    let usual = usual_margin(straight.iter().copied());
    let context = |(s, noise): (&&Stretch, f64)| StretchContext {
        noise,
        changes: changes(s),
        slow: (s.line.margin_ns() - usual).max(0.0),
    };
    let context: Vec<StretchContext> = straight.iter().zip(noise).map(context).collect();
    let wander = wander(&straight);
    let times = MessageTimes::new(corridor, messages);
    let is_straight = straight.iter().any(|s| s.level == 0 && !s.is_segment);
    let steps = if is_straight { NODES_OF_STRAIGHT } else { NODES };
    let mut instants: Vec<i64> = (0..=steps)
        .map(|i| ends.begin + ((ends.end as i128 - ends.begin as i128) * i as i128 / steps as i128) as i64)
        .chain(chain.instants(ends))
        .collect();
    instants.sort_unstable();
    instants.dedup();
    let mut leaps: Vec<Span> =
        chain.segments().filter(|segment| segment.rule.may_leap(LEAP)).map(|segment| segment.x).collect();
    merge(&mut leaps);
    let bound = |side, x| chain.bound(Direction::Forward, side, x);
    let mut nodes: Vec<Node> = Vec::with_capacity(instants.len());
    // (half the least round trip, noise)
    let mut margins: Vec<(f64, f64)> = Vec::new();
    let mut unseen: Vec<[f64; 2]> = Vec::with_capacity(instants.len());
    for x in instants {
        let (lo, hi) = (bound(Side::Lower, x), bound(Side::Upper, x));
        let middle = lo.zip(hi).map(|(lo, hi)| lo.midpoint(hi));
        // Where a side is open, the other one says where to begin.
        let Some(base) = middle.or(lo).or(hi) else { continue };
        let may_leap = leaps.iter().any(|leap| leap.contains(x));
        let combine_at = combine_at(&straight, &context, wander, &times, x, base);
        let mut node =
            Node { x, y: base, variance: 0.0, bounds: (lo, hi), is_known: combine_at.is_some(), may_leap };
        if let Some(combine_at) = &combine_at {
            margins.push((combine_at.margin, combine_at.noise));
            node.y = node.clamped(base.saturating_add(combine_at.y.round() as i64));
            node.variance = combine_at.variance;
        }
        // What is assumed of the clock gives how far the line of a straight stretch may be off anyway.
        unseen.push(match (node.half(), &combine_at) {
            (half, _) if !half.is_finite() => [0.0; 2],
            (half, Some(combine_at)) => combine_at.unseen(half),
            (half, None) => [UNKNOWN * half; 2],
        });
        nodes.push(node);
    }
    between::fill_unknown(&mut nodes, wander.max(RATE_CHANGE));
    let variances = |(node, unseen): (&Node, [f64; 2])| {
        let [weight, error] = unseen.map(|unseen| node.variance + unseen.powi(2) / VARIANCE_FACTOR);
        (node.x, node.y, Variances { weight, error })
    };
    let mut nodes: Vec<(i64, i64, Variances)> = nodes.iter().zip(unseen).map(variances).collect();
    for i in 1..nodes.len() {
        nodes[i].1 = nodes[i].1.max(nodes[i - 1].1);
    }
    let slow = slow(&margins, usual);
    let margin = median(margins.into_iter().map(|m| m.0));
    Curve::through_nodes(nodes, margin, slow, corridor.fewer_messages())
}

/// Fits to stretches of all lengths, down to those in which the clocks ran straight, and some levels below.
fn stretches(corridor: &Corridor, messages: Span, band: SlopeBand) -> Vec<Stretch> {
    let length = (messages.end - messages.begin).max(1);
    let count = corridor.fewer_messages();
    let mut found: Vec<Stretch> = Vec::new();
    // Where longer stretches are straight: by begin, not within each other.
    let mut settled: Vec<Span> = Vec::new();
    for level in 0..MAX_LEVELS {
        let own = length >> level;
        if level > 0 && (count >> level < MIN_MESSAGES || own < 2) {
            break;
        }
        if let Some(above) = level.checked_sub(LEVELS_DOWN + 1) {
            reject_bent(&mut found, above);
            let straight = |s: &&Stretch| s.level == above && s.is_straight() && s.straightness.is_tested;
            settled.extend(found.iter().filter(straight).map(|s| s.x));
            merge(&mut settled);
        }
        let stretches = if level == 0 { 1 } else { (2_i64 << level) - 1 };
        // Half a stretch need not be a whole number of ns: the last one still ends with the messages.
        let at = |halves: i64| messages.begin + ((length as i128 * halves as i128) >> (level + 1)) as i64;
        for i in 0..stretches {
            let x = Span { begin: at(i), end: at(i + 2) };
            let near = settled.partition_point(|s| s.begin <= x.begin);
            if near > 0 && x.end <= settled[near - 1].end {
                continue;
            }
            found.extend(fitted(corridor, x, level, band));
        }
    }
    for level in found.last().map_or(0, |s| s.level).saturating_sub(LEVELS_DOWN)..MAX_LEVELS {
        reject_bent(&mut found, level);
    }
    found
}

/// The line of a stretch; `None` with too few messages.
fn fitted(corridor: &Corridor, x: Span, level: u32, band: SlopeBand) -> Option<Stretch> {
    let windows = corridor.windows();
    let from = windows.partition_point(|w| w.begin() < x.begin);
    let to = windows.partition_point(|w| w.begin() <= x.end);
    let part = &windows[from..to.max(from)];
    let sum = |side| part.iter().map(|w| w.flow(side).count).sum::<u64>();
    if sum(Side::Upper).min(sum(Side::Lower)) < MIN_MESSAGES_TO_STATE_ERROR {
        return None;
    }
    let line = estimate(&sample_of(part, Side::Upper), &sample_of(part, Side::Lower), band)?;
    let is_possible = line.margin_ns() >= 0.0;
    let straightness = match is_possible {
        true => straightness::test(part, &line),
        false => Straightness { is_tested: true, is_straight: false, noise: None },
    };
    Some(Stretch { level, x, line, is_possible, straightness, is_segment: false })
}

/// A stretch of a level is not straight if many of its parts are bent, whatever its own test says.
fn reject_bent(all: &mut [Stretch], level: u32) {
    let begin = all.partition_point(|s| s.level < level);
    let end = all.partition_point(|s| s.level <= level);
    let last = all.partition_point(|s| s.level <= level + LEVELS_DOWN);
    let (above, below) = all[begin..last].split_at_mut(end - begin);
    for stretch in above.iter_mut().filter(|s| s.is_straight()) {
        let x = stretch.x;
        let within = |s: &&Stretch| s.straightness.is_tested && x.holds(s.x);
        let (count, bent) = below
            .iter()
            .filter(within)
            .fold((0_u32, 0_u32), |(count, bent), s| (count + 1, bent + u32::from(!s.is_straight())));
        if count >= 4 && f64::from(bent) > (BENT_WITHIN * f64::from(count)).max(1.0) {
            stretch.straightness.is_straight = false;
        }
    }
}

impl Stretch {
    fn is_straight(&self) -> bool {
        self.is_possible && self.straightness.is_straight
    }
}

/// By stretch, the standard deviation of the middle of an eighth of it, ns; where it was not measured, what
/// is usual of its length, or of all.
fn noises(straight: &[&Stretch]) -> Vec<f64> {
    let of_level = |level: u32| {
        let known: Vec<f64> =
            straight.iter().filter(|s| s.level == level).filter_map(|s| s.straightness.noise).collect();
        (!known.is_empty()).then(|| median(known.into_iter()))
    };
    let levels: Vec<Option<f64>> = (0..MAX_LEVELS).map(of_level).collect();
    let any = median(straight.iter().filter_map(|s| s.straightness.noise));
    straight.iter().map(|s| s.straightness.noise.or(levels[s.level as usize]).unwrap_or(any)).collect()
}

/// Times of the messages, raw ns of a.
struct MessageTimes {
    messages: Span,
    /// Of either direction, increasing.
    sides: [Vec<i64>; 2],
}

impl MessageTimes {
    fn new(corridor: &Corridor, messages: Span) -> Self {
        let of = |side| corridor.points(side).map(Point::x).collect();
        Self { messages, sides: Side::BOTH.map(of) }
    }

    /// Distance to the nearest message, of the direction in which it is farther, ns.
    fn gap(&self, x: i64) -> i64 {
        let nearest = |times: &Vec<i64>| {
            let right = times.partition_point(|&t| t < x);
            let around = [right.checked_sub(1), Some(right)].into_iter().flatten();
            around.filter_map(|at| times.get(at)).map(|t| t.abs_diff(x)).min().unwrap_or(u64::MAX)
        };
        let farthest = self.sides.iter().map(nearest).max().unwrap_or(u64::MAX);
        i64::try_from(farthest).unwrap_or(i64::MAX)
    }
}

/// Half the least round trip that most stretches do not exceed by much, ns.
fn usual_margin<'s>(stretches: impl Iterator<Item = &'s Stretch>) -> f64 {
    let mut margins: Vec<f64> = stretches.map(|s| s.line.margin_ns()).collect();
    margins.sort_by(f64::total_cmp);
    margins.get((margins.len() as f64 * (1.0 - USUAL)) as usize).copied().unwrap_or(0.0)
}

/// Whether messages took far longer than usual for some time.
fn slow(margins: &[(f64, f64)], usual: f64) -> Option<SlowPeriod> {
    let is_slow = |m: &&(f64, f64)| m.0 > (FAR_LONGER * usual).max(usual + NOISES_LONGER * m.1);
    let slow: Vec<f64> = margins.iter().filter(is_slow).map(|m| m.0).collect();
    let share = slow.len() as f64 / margins.len().max(1) as f64;
    let round_trip = |margin: f64| (2.0 * margin) as i64;
    (share >= SLOW_TIME).then(|| SlowPeriod {
        share,
        usual_ns: round_trip(usual),
        slow_ns: round_trip(median(slow.into_iter())),
    })
}

/// By how much the rate changes from one straight stretch to the next of the same length, beyond what their
/// errors explain.
fn wander(straight: &[&Stretch]) -> f64 {
    let mut found: Vec<f64> = Vec::new();
    for level in 0..MAX_LEVELS {
        let mut last: Option<&Stretch> = None;
        for s in straight.iter().filter(|s| s.level == level && !s.is_segment) {
            if let Some(before) = last.filter(|before| before.x.end <= s.x.begin) {
                let change = (s.line.rate_ppm() - before.line.rate_ppm()) * 1e-6;
                let [own, other] = [s, before].map(|s| s.line.covariance()[1][1]);
                found.push(change * change - VARIANCE_FACTOR * (own + other));
            }
            if last.is_none_or(|before| before.x.end <= s.x.begin) {
                last = Some(s);
            }
        }
    }
    if found.is_empty() { WANDER } else { median(found.into_iter()).max(0.0).sqrt().max(WANDER / 10.0) }
}

/// The mean of the lines of all straight stretches that hold `x`, relative to `base`; where none does, of
/// those next to it on either side.
fn combine_at(
    straight: &[&Stretch],
    context: &[StretchContext],
    wander: f64,
    times: &MessageTimes,
    x: i64,
    base: i64,
) -> Option<Combined> {
    let messages = times.messages;
    let at = x.clamp(messages.begin, messages.end);
    // How far a stretch is away, and how far the nearest one before and after.
    let away = |s: &Stretch| s.x.beyond(at);
    let nearest = |side: fn(&Stretch, i64) -> bool| {
        straight.iter().filter(|s| side(s, at)).map(|s| away(s)).min().unwrap_or(NO_STRETCH)
    };
    let (before, after) = (nearest(|s, at| s.x.end < at), nearest(|s, at| at < s.x.begin));
    let is_held = straight.iter().any(|s| away(s) == 0);
    let is_between = before < NO_STRETCH && after < NO_STRETCH;
    if !is_held && (is_between || times.gap(at) <= before.min(after) / 2) {
        // Where a clock bends, what is possible there knows more of it than lines from elsewhere.
        return None;
    }
    let counts = |s: &Stretch| match (is_held, s.x.end < at) {
        (true, _) => away(s) == 0,
        (false, true) => away(s) <= 2 * before,
        (false, false) => away(s) <= 2 * after,
    };
    let mut is_settled = false;
    let mut noises = 0.0;
    // (weight, y, variance, margin)
    let mut lines: Vec<[f64; 4]> = Vec::new();
    for (s, context) in straight.iter().zip(context).filter(|(s, _)| counts(s)) {
        let half = ((s.x.end - s.x.begin) as f64 / 2.0).max(1.0);
        let z = (x as f64 - s.x.middle() as f64) / half;
        // A stretch fades toward its ends, but for those of the trace.
        let near = half / 5.0;
        let is_first = ((s.x.begin - messages.begin) as f64) < near && z < 0.0;
        let is_last = ((messages.end - s.x.end) as f64) < near && z > 0.0;
        let fades = is_held && !is_first && !is_last && !s.is_segment;
        let taper = if fades { (1.0 - z.abs()).clamp(0.0, 1.0) } else { 1.0 };
        is_settled |= is_held && s.straightness.is_tested && (z.abs() <= CENTRAL || !fades);
        let own = (VARIANCE_FACTOR * s.line.offset_variance(x))
            .max(context.noise.powi(2) / 8.0 * (1.0 + 3.0 * z * z))
            + 1.0;
        let drift = wander * (away(s) as f64 + (x as i128 - at as i128).unsigned_abs() as f64);
        let own = own * (1.0 + context.changes / 2.0) + drift * drift;
        let weight = (taper + 1e-9) / own;
        let own = own + (SLOW_SHARE * context.slow).powi(2);
        noises += weight * context.noise;
        let y = (s.line.at(x) as i128 - base as i128) as f64;
        lines.push([weight, y, own, s.line.margin_ns().max(0.0)]);
    }
    let weights: f64 = lines.iter().map(|line| line[0]).sum();
    if weights <= 0.0 {
        return None;
    }
    let mean = |of: &dyn Fn(&[f64; 4]) -> f64| lines.iter().map(|l| l[0] * of(l)).sum::<f64>() / weights;
    let y = mean(&|line| line[1]);
    let noise = noises / weights;
    let variance = (mean(&|line| line[2]) + (NOISE_SHARE * noise).powi(2)) / VARIANCE_FACTOR;
    Some(Combined { y, variance, margin: mean(&|line| line[3]), noise, is_settled })
}
