//! Whether messages can all be true under what is assumed of two clocks: decided by themselves, to hold a solver against it.
//!
//! Nothing of the solver is used. Where the relative rate of two clocks stays within `c ± s`, a message that was sent when
//! the one clock showed x and arrived when the other showed y says that the relation f of the clocks is at most y at x, one
//! back that it is at least y; and f cannot grow faster or slower than this from one message to another. Whether these
//! differences fit together is seen in one pass over all messages for each c; and where they do not, whether c is too low or too
//! high.

use std::collections::BTreeMap;

use isochrone_testkit::{Rule, Rules};

use super::Message;

/// No clock runs by more than this too fast or too slow against another, ppb.
const FASTEST_PPB: i64 = 200_000_000;
const LIMIT_PPB: i64 = 500_000;
const BILLION: i128 = 1_000_000_000;

/// A span of time of a clock in which its rate stays so near to a constant: begin, end, ppb.
type Cell = (i64, i64, i64);

/// What messages say of the relation of two clocks: not above, not below, as points (x, y).
#[derive(Default)]
struct Limits {
    upper: Vec<(i64, i64)>,
    lower: Vec<(i64, i64)>,
}

/// Whether the messages between a and b contradict what is assumed of these two: within a regime, where the rates stay near
/// the usual ones, or between two changes, where they are constant.
pub fn is_refuted(messages: &[Message], [a, b]: [usize; 2], rules: [&Rules; 2], wander_ppb: i64) -> bool {
    [false, true].into_iter().any(|between_changes| {
        let [of_a, of_b] = rules.map(|rules| cells(rules, wander_ppb, between_changes));
        let mut groups: BTreeMap<(usize, usize), Limits> = BTreeMap::new();
        for &(sender, sent, receiver, received) in messages {
            let (x, y) = if sender == a { (sent, received) } else { (received, sent) };
            let cells = (cell_at(&of_a, x), cell_at(&of_b, y));
            let (Some(in_a), Some(in_b), true) = (cells.0, cells.1, [a, b].contains(&receiver)) else {
                continue;
            };
            let limits = groups.entry((in_a, in_b)).or_default();
            let points = if sender == a { &mut limits.upper } else { &mut limits.lower };
            points.push((x, y));
        }
        groups.into_iter().any(|((in_a, in_b), limits)| limits.contradict(of_a[in_a].2 + of_b[in_b].2))
    })
}

/// Where the rules bound the rate by a constant; those between changes are apart from each other.
fn cells(rules: &Rules, wander_ppb: i64, between_changes: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (begin, end, rule) in rules.spans() {
        match rule {
            Rule::Free => cells.push((begin, end, wander_ppb)),
            Rule::Steered { ppm } => cells.push((begin, end, i64::from(ppm) * 1_000)),
            Rule::Stepwise if between_changes => {
                let mut from = begin;
                for &(called, returned) in rules.changes.iter().filter(|c| c.1 >= begin && c.0 < end) {
                    cells.push((from, called, wander_ppb));
                    from = returned;
                }
                cells.push((from, end, wander_ppb));
            }
            Rule::Stepwise | Rule::Unknown => cells.push((begin, end, LIMIT_PPB)),
        }
    }
    cells.retain(|cell| cell.0 < cell.1);
    cells
}

fn cell_at(cells: &[Cell], raw: i64) -> Option<usize> {
    let last = cells.partition_point(|cell| cell.0 <= raw).checked_sub(1)?;
    (raw < cells[last].1).then_some(last)
}

impl Limits {
    /// Whether there is no constant such that the relative rate can have stayed within so many ppb of it.
    fn contradict(mut self, within_ppb: i64) -> bool {
        self.upper.sort_unstable();
        self.lower.sort_unstable();
        let (mut least, mut most) = (-FASTEST_PPB, FASTEST_PPB);
        while least <= most {
            let middle = least.midpoint(most);
            match self.failures(middle, allowance(middle, within_ppb)) {
                (false, false) => return false,
                (true, true) => return true,
                (true, false) => least = middle + 1,
                (false, true) => most = middle - 1,
            }
        }
        true
    }

    /// Whether the messages need f to grow faster, and whether they need it to grow slower, than at rates within `c ± s`.
    fn failures(&self, c: i64, s: i64) -> (bool, bool) {
        let height = |(x, y): (i64, i64), rate: i64| {
            BILLION * i128::from(y) - (BILLION + i128::from(rate)) * i128::from(x)
        };
        // Against the line of greatest growth, no lower limit may lie above an upper one before it; against that of least
        // growth, above one after it.
        let mut before = self.upper.iter().peekable();
        let mut least = i128::MAX;
        let too_fast = self.lower.iter().any(|&low| {
            while let Some(&&up) = before.peek().filter(|up| up.0 <= low.0) {
                least = least.min(height(up, c + s));
                before.next();
            }
            height(low, c + s) > least
        });
        let mut after = self.upper.iter().rev().peekable();
        let mut least = i128::MAX;
        let too_slow = self.lower.iter().rev().any(|&low| {
            while let Some(&&up) = after.peek().filter(|up| up.0 >= low.0) {
                least = least.min(height(up, c - s));
                after.next();
            }
            height(low, c - s) > least
        });
        (too_fast, too_slow)
    }
}

/// How far the relative rate of two clocks can be from c, where their own rates are within so many ppb together: a little
/// more, because rates of rates are no sums, and because c is tried in steps of a ppb.
fn allowance(c: i64, within_ppb: i64) -> i64 {
    let share = i128::from(2 * c.abs() + 2 * within_ppb);
    within_ppb + (i128::from(within_ppb) * share / BILLION) as i64 + 2
}
