//! No message arrives before it was sent: of all messages, not only of those that hulls keep, also where clocks bend within the
//! windows of a link; and what the solution counts is what there is.

use crate::common::Lcg;
use isochrone_clock::{Assumptions, Corridor, Model, Solution, Steering, Synchronizer};
use proptest::prelude::*;

/// Rounding: corrections are whole ns, and so are the times at which hulls are held against them.
const ROUNDED_NS: i64 = 2;

/// A clock whose rate changes at random, by up to 100 ppm about the usual one.
struct Clock {
    offset: i64,
    /// (true time, ahead of it by then, rate in ppb from there on).
    pieces: Vec<(i64, i64, i64)>,
}

impl Clock {
    fn random(rng: &mut Lcg, duration: i64, changes: u64) -> Self {
        let usual = rng.around_zero(50_000);
        let mut times: Vec<i64> = (0..changes).map(|_| rng.below(duration as u64) as i64).collect();
        times.push(0);
        times.sort_unstable();
        let mut clock = Self { offset: rng.around_zero(1_000_000_000), pieces: Vec::new() };
        for at in times {
            let ahead = clock.ahead(at);
            clock.pieces.push((at, ahead, usual + rng.around_zero(100_000)));
        }
        clock
    }

    fn ahead(&self, t: i64) -> i64 {
        let piece = self.pieces.iter().rev().find(|p| p.0 <= t);
        piece.map_or(0, |&(from, ahead, ppb)| {
            ahead + ((t - from) as i128 * ppb as i128 / 1_000_000_000) as i64
        })
    }

    fn raw(&self, t: i64) -> i64 {
        self.offset + t + self.ahead(t)
    }
}

/// (sender, sent, receiver, received).
type Message = (usize, i64, usize, i64);

/// Messages around a chain of clocks, some of its links one way only.
fn messages(rng: &mut Lcg, clocks: &[Clock], duration: i64, count: usize) -> Vec<Message> {
    let links: Vec<(usize, usize, bool)> = (1..clocks.len())
        .map(|b| (b - 1, b, false))
        .chain((clocks.len() > 2).then(|| (0, clocks.len() - 1, rng.below(2) == 0)))
        .collect();
    let floor = 20_000 + rng.below(200_000);
    let mut all = Vec::new();
    for _ in 0..count {
        let (a, b, is_one_way) = links[rng.below(links.len() as u64) as usize];
        let (from, to) = if is_one_way || rng.below(2) == 0 { (a, b) } else { (b, a) };
        let sent = rng.below((duration - 10_000_000) as u64) as i64;
        let arrived = sent + (floor + rng.below(floor) * rng.below(8)) as i64;
        all.push((from, clocks[from].raw(sent), to, clocks[to].raw(arrived)));
    }
    all
}

/// Solved with all clocks unknown; `windows` limits what is kept of each link.
fn solved(clocks: usize, messages: &[Message], windows: Option<usize>) -> Solution {
    let mut synchronizer = Synchronizer::new(clocks, Model::default()).unwrap();
    for clock in 0..clocks {
        synchronizer.assume(clock, Assumptions::always(Steering::Unknown)).unwrap();
    }
    let mut links: std::collections::BTreeMap<(usize, usize), Corridor> = std::collections::BTreeMap::new();
    for &(from, sent, to, received) in messages {
        let corridor = links.entry((from.min(to), from.max(to))).or_insert_with(|| match windows {
            Some(windows) => Corridor::new().limited_to(windows),
            None => Corridor::new(),
        });
        if from < to {
            corridor.a_to_b(sent, received).unwrap();
        } else {
            corridor.b_to_a(sent, received).unwrap();
        }
    }
    for ((a, b), corridor) in links {
        synchronizer.messages(a, b, corridor).unwrap();
    }
    synchronizer.into_solution().unwrap()
}

/// Messages that are received before they were sent, one by one, by more than `by`.
fn inverted(solution: &Solution, messages: &[Message], by: i64) -> usize {
    let same =
        |a: usize, b: usize| solution.islands.iter().any(|i| i.clocks.contains(&a) && i.clocks.contains(&b));
    let is_inverted = |&&(from, sent, to, received): &&Message| {
        same(from, to)
            && solution.corrections[from].apply(sent) > solution.corrections[to].apply(received) + by
    };
    messages.iter().filter(is_inverted).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Lists that fit: the count is that of all messages, and it is none.
    #[test]
    fn none_of_a_list_is_inverted(seed: u64, count in 10usize..600, changes in 0u64..40, clocks in 2usize..5) {
        let mut rng = Lcg(seed);
        let duration = 1_000_000_000 + rng.below(600_000_000_000) as i64;
        let clocks: Vec<Clock> = (0..clocks).map(|_| Clock::random(&mut rng, duration, changes)).collect();
        let messages = messages(&mut rng, &clocks, duration, count);
        let solution = solved(clocks.len(), &messages, None);
        let counted: usize = solution.links.iter().filter_map(|l| l.inversions).sum();
        let suspects: usize = solution.links.iter().map(|l| l.suspects.len()).sum();
        prop_assert!(inverted(&solution, &messages, 0) <= counted + suspects);
        prop_assert_eq!((counted, suspects), (0, 0));
    }

    /// More messages than are listed, many in a window: what is not known to be none is said.
    #[test]
    fn none_is_inverted_unless_it_is_said(
        seed: u64, windows in 2usize..24, each in 17usize..60, changes in 0u64..12,
    ) {
        let mut rng = Lcg(seed);
        let duration = 1_000_000_000 + rng.below(60_000_000_000) as i64;
        let clocks: Vec<Clock> = (0..2).map(|_| Clock::random(&mut rng, duration, changes)).collect();
        let messages = messages(&mut rng, &clocks, duration, windows * each);
        let solution = solved(2, &messages, Some(windows));
        let link = &solution.links[0];
        let said = link.inversions.unwrap_or(0) as u64 + link.unverified;
        prop_assert!(said > 0 || inverted(&solution, &messages, ROUNDED_NS) == 0);
    }
}

/// A clock that is slewed within windows: of most lists with so many messages nothing is left open either.
#[test]
fn what_is_hidden_is_mended_where_it_can_be() {
    let mut rng = Lcg(5);
    let mut open = 0;
    for _ in 0..20 {
        let clocks: Vec<Clock> = (0..2).map(|_| Clock::random(&mut rng, 60_000_000_000, 6)).collect();
        let messages = messages(&mut rng, &clocks, 60_000_000_000, 2000);
        let solution = solved(2, &messages, Some(100));
        let link = &solution.links[0];
        assert_eq!(link.inversions, Some(0));
        open += usize::from(link.unverified > 0);
    }
    assert!(open <= 5, "{open}");
}
