//! Whether two clocks ran straight during a stretch of time, by the least delays of its parts.
//!
//! Along the line of a stretch, a clock that moves makes the least delays of one direction longer and those
//! of the other shorter by as much, like a straightness; congestion or a slow host changes one alone, or both
//! alike. So the halves of the differences of the least delays in the parts of a stretch (e) are held against
//! the halves of their sums (m), which are a measure of what delays do by themselves: no model of delays is
//! needed. [`crate::estimate::combine`] uses it for the estimate; no bound rests on it.

use crate::estimate::line::PairEstimate;
use crate::geometry::{Side, Window};

/// Maximal number of parts.
const MAX_PARTS: usize = 64;
/// Minimal number of parts that count.
const MIN_PARTS: usize = 4;
/// Minimal number of messages of either direction in a part that counts.
const MIN_MESSAGES: u64 = 3;
/// From this number of parts on, those with congestion are left out …
const ENOUGH_PARTS: usize = 8;
/// … whose sum exceeds the median by this number of median deviations.
const CONGESTED: f64 = 4.0 * 1.4826;
/// Differences below this do not count, ns: stamps are no better, and two least delays are never equal.
const FLOOR_NS: f64 = 50.0;
/// The ratio of the mean squares of e and m that straight clocks exceed in one of a hundred stretches, by the
/// number of parts: from a simulation of exponential delays. Between them, linear in the logarithm.
const LIMITS: [(f64, f64); 5] = [(4.0, 13.1), (8.0, 9.5), (16.0, 3.2), (32.0, 2.15), (64.0, 1.75)];
/// A single part may exceed what the sums show by this number of their spreads.
const SINGLE: f64 = 4.0;

/// Result of the test of a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Straightness {
    /// Whether there were parts enough to decide.
    pub(crate) is_tested: bool,
    /// Whether nothing contradicts a straight line.
    pub(crate) is_straight: bool,
    /// Standard deviation of the middle of an eighth of the stretch, ns; `None` where there are too few
    /// parts.
    pub(crate) noise: Option<f64>,
}

/// The least delays in a part, ns along the line, and the number of messages.
#[derive(Debug, Clone, Copy)]
struct Part {
    least: [f64; 2],
    count: [u64; 2],
}

const EMPTY: Part = Part { least: [f64::INFINITY; 2], count: [0; 2] };

/// Tests the windows of a stretch against its line. O(k) for k messages kept.
pub(crate) fn test(windows: &[Window], line: &PairEstimate) -> Straightness {
    let mut found = Straightness { is_tested: false, is_straight: true, noise: None };
    let (Some(first), Some(last)) = (windows.first(), windows.last()) else { return found };
    let (begin, length) = (first.begin(), (last.begin() - first.begin()).max(0) as f64 + 1.0);
    let totals = Side::BOTH.map(|side| windows.iter().map(|w| w.flow(side).count).sum::<u64>());
    let mut count = MIN_PARTS;
    while count * 2 <= MAX_PARTS && totals.iter().all(|&t| t >= MIN_MESSAGES * (count as u64) * 2) {
        count *= 2;
    }
    let mut parts = vec![EMPTY; count];
    for window in windows {
        let share = (window.begin() - begin) as f64 / length;
        let part = &mut parts[((share * count as f64) as usize).min(count - 1)];
        for (at, side) in Side::BOTH.into_iter().enumerate() {
            let flow = window.flow(side);
            part.count[at] += flow.count;
            for p in flow.hull.vertices() {
                let over = (p.y() as i128 - line.at(p.x()) as i128) as f64;
                part.least[at] = part.least[at].min(if side == Side::Upper { over } else { -over });
            }
        }
    }
    while parts.len() >= MIN_PARTS {
        judge(&parts, &mut found);
        if !found.is_straight {
            break;
        }
        parts = parts.chunks(2).map(joined).collect();
    }
    found
}

fn joined(pair: &[Part]) -> Part {
    let with = |all: Part, part: &Part| Part {
        least: [all.least[0].min(part.least[0]), all.least[1].min(part.least[1])],
        count: [all.count[0] + part.count[0], all.count[1] + part.count[1]],
    };
    pair.iter().fold(EMPTY, with)
}

fn judge(parts: &[Part], found: &mut Straightness) {
    let counts =
        |p: &&Part| p.count.iter().all(|&c| c >= MIN_MESSAGES) && p.least.iter().all(|l| l.is_finite());
    let mut all: Vec<(f64, f64)> = parts
        .iter()
        .filter(counts)
        .map(|p| ((p.least[0] - p.least[1]) / 2.0, f64::midpoint(p.least[0], p.least[1])))
        .collect();
    if all.len() < MIN_PARTS {
        return;
    }
    found.is_tested = true;
    if all.len() >= ENOUGH_PARTS {
        let usual = median(all.iter().map(|p| p.1));
        let spread = median(all.iter().map(|p| (p.1 - usual).abs()));
        all.retain(|p| p.1 <= usual + CONGESTED * spread + FLOOR_NS);
    }
    let n = all.len() as f64;
    let (usual_e, usual_m) = (median(all.iter().map(|p| p.0)), median(all.iter().map(|p| p.1)));
    let moved = all.iter().map(|p| (p.0 - usual_e).powi(2)).sum::<f64>() / n;
    let delays = all.iter().map(|p| (p.1 - usual_m).powi(2)).sum::<f64>() / n + FLOOR_NS.powi(2);
    if parts.len() == ENOUGH_PARTS || found.noise.is_none() {
        found.noise = Some(delays.max(moved / 4.0).sqrt());
    }
    let most = all.iter().map(|p| (p.0 - usual_e).abs() - (p.1 - usual_m).abs()).fold(0.0, f64::max);
    if moved / delays > limit(n) || most / delays.sqrt() > SINGLE * (1.0 + 2.0 / n) + n.ln() / 1.5 {
        found.is_straight = false;
    }
}

fn limit(parts: f64) -> f64 {
    let right = LIMITS.iter().position(|l| l.0 >= parts).unwrap_or(LIMITS.len() - 1).max(1);
    let (from, to) = (LIMITS[right - 1], LIMITS[right]);
    let share = ((parts.ln() - from.0.ln()) / (to.0.ln() - from.0.ln())).clamp(0.0, 1.0);
    from.1 + share * (to.1 - from.1)
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
