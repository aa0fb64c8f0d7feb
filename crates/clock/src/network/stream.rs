//! Synchronization as messages come: one in, corrections and bounds out.
//!
//! [`Synchronizer`] keeps what the messages of every link prove, and judges a link again only when it has got
//! a new message. [`crate::solve`] is the same thing with all messages at once.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::MAX_ABS_NS;
use crate::error::{ClockError, checked_time};
use crate::geometry::{Corridor, Direction, Point, Side, windows_per_link};
use crate::link::Link;
use crate::model::{Assumptions, Model};
use crate::network::joint::{Solution, solve_judged};
use crate::span::Span;

/// Puts clocks on one as their messages come.
///
/// Of free-running clocks, between two breaks, and while no message turns out to be suspect, bounds only get
/// tighter with every message, but for what the grid of `crate::geometry::window` forgets when it becomes
/// coarser: half of what the rate may wander within one window.
///
/// ```
/// use isochrone_clock::{Model, Synchronizer};
/// let mut clocks = Synchronizer::new(2, Model::default())?;
/// clocks.message(0, 1_000_000, 1, 6_000_400)?; // clock 0 sent, clock 1 received
/// assert_eq!(clocks.bounds(0, 1, 1_000_000), (None, Some(6_000_400)));
/// clocks.message(1, 6_000_500, 0, 1_000_900)?;
/// let solution = clocks.solution()?;
/// let (lo, hi, _) = solution.intervals[1].at(6_000_450).ok_or("within what was seen")?;
/// assert!(hi - lo < 1_000, "half a microsecond either way");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Synchronizer {
    model: Model,
    reference: Option<usize>,
    /// Per clock, when it was seen.
    spans: Vec<Option<Span>>,
    /// Per clock what is assumed of it.
    assumptions: Vec<Assumptions>,
    /// Per clock how much later than it was recorded an arrival can be, ns.
    late: Vec<u32>,
    links: BTreeMap<(usize, usize), LinkState>,
    solution: Option<Solution>,
}

/// The messages of a link, and what they were found worth.
#[derive(Debug, Clone)]
struct LinkState {
    corridor: Corridor,
    judged: Option<Link>,
}

impl Synchronizer {
    /// Clocks without messages.
    ///
    /// # Errors
    /// The model makes no sense.
    pub fn new(clocks: usize, model: Model) -> Result<Self, ClockError> {
        let model = model.checked()?;
        Ok(Self {
            model,
            reference: None,
            spans: vec![None; clocks],
            assumptions: vec![Assumptions::default(); clocks],
            late: vec![0; clocks],
            links: BTreeMap::new(),
            solution: None,
        })
    }

    /// Requests a clock as the reference of its island.
    ///
    /// # Errors
    /// [`ClockError::BadClock`].
    pub fn set_reference(&mut self, clock: Option<usize>) -> Result<(), ClockError> {
        if let Some(clock) = clock {
            self.check(clock)?;
        }
        (self.reference, self.solution) = (clock, None);
        Ok(())
    }

    /// Sets what is assumed of a clock from now on: that it is free-running, unless this was called. All its
    /// links are judged again.
    ///
    /// # Errors
    /// [`ClockError::BadClock`].
    pub fn assume(&mut self, clock: usize, assumptions: Assumptions) -> Result<(), ClockError> {
        self.check(clock)?;
        if self.assumptions[clock] != assumptions {
            self.assumptions[clock] = assumptions;
            self.judge_again(clock);
        }
        Ok(())
    }

    /// Sets for a clock by how much each arrival that it has recorded, and will record, may be later than
    /// that, ns: of stamps that are whole ticks of g ns, g − 1. Nothing, unless this was called. All its
    /// links are judged again.
    ///
    /// # Errors
    /// [`ClockError::BadClock`].
    pub fn arrives_later(&mut self, clock: usize, ns: u32) -> Result<(), ClockError> {
        self.check(clock)?;
        if self.late[clock] != ns {
            self.late[clock] = ns;
            self.judge_again(clock);
        }
        Ok(())
    }

    fn judge_again(&mut self, clock: usize) {
        self.solution = None;
        let of_clock = self.links.iter_mut().filter(|((a, b), _)| *a == clock || *b == clock);
        of_clock.for_each(|(_, state)| state.judged = None);
    }

    /// One more clock; its index.
    pub fn add_clock(&mut self) -> usize {
        self.spans.push(None);
        self.assumptions.push(Assumptions::default());
        self.late.push(0);
        self.solution = None;
        self.spans.len() - 1
    }

    /// Extends the span of a clock to a time (raw ns) that it has shown: intervals will reach there.
    ///
    /// # Errors
    /// [`ClockError::BadClock`], [`ClockError::TimeOutOfRange`].
    pub fn see(&mut self, clock: usize, raw: i64) -> Result<(), ClockError> {
        self.check(clock)?;
        checked_time(raw)?;
        let span = self.spans[clock].get_or_insert(Span::at(raw));
        if raw < span.begin || raw > span.end || self.solution.is_none() {
            *span = span.hull(Span::at(raw));
            self.solution = None;
        }
        Ok(())
    }

    /// A message, by the raw times of its sender and its receiver. O(log n) as a rule.
    ///
    /// # Errors
    /// [`ClockError::BadClock`], also for a clock that sends to itself, [`ClockError::TimeOutOfRange`]; then
    /// nothing has changed.
    pub fn message(
        &mut self,
        sender: usize,
        sent: i64,
        receiver: usize,
        received: i64,
    ) -> Result<(), ClockError> {
        if sender == receiver {
            return Err(ClockError::BadClock { clock: receiver });
        }
        let (side, point) = match sender < receiver {
            true => (Side::Upper, Point::new(sent, received)?),
            false => (Side::Lower, Point::new(received, sent)?),
        };
        self.see(sender, sent)?;
        self.see(receiver, received)?;
        let link = self.link_mut(sender.min(receiver), sender.max(receiver));
        link.corridor.insert(side, point);
        Ok(())
    }

    /// All messages of a link `a < b` at once.
    ///
    /// # Errors
    /// [`ClockError::BadClock`].
    pub fn messages(&mut self, a: usize, b: usize, corridor: Corridor) -> Result<(), ClockError> {
        self.check(b)?;
        if a >= b {
            return Err(ClockError::BadClock { clock: b });
        }
        for (clock, range) in [(a, corridor.x_range()), (b, corridor.y_range())] {
            if let Some(Span { begin, end }) = range {
                self.see(clock, begin)?;
                self.see(clock, end)?;
            }
        }
        self.link_mut(a, b).corridor.merge(corridor);
        Ok(())
    }

    /// What all messages of the link between two clocks prove of the time of `to` when `from` shows `raw`:
    /// not before, not after. The other links are not considered, see [`Self::solution`].
    pub fn bounds(&mut self, from: usize, to: usize, raw: i64) -> (Option<i64>, Option<i64>) {
        let (pair, direction) =
            if from < to { ((from, to), Direction::Forward) } else { ((to, from), Direction::Backward) };
        let (model, assumptions, late) = (self.model, &self.assumptions, &self.late);
        let Some(state) = self.links.get_mut(&pair) else { return (None, None) };
        let judge = || judge(pair, state.corridor.clone(), late, &model, assumptions);
        let judged = state.judged.get_or_insert_with(judge);
        (judged.bound(direction, Side::Lower, raw), judged.bound(direction, Side::Upper, raw))
    }

    /// Corrections, intervals and verdicts by all messages so far. Without a new message since the last call
    /// this is free; else see [`crate::solve`] for what it costs, less the links that have not changed.
    ///
    /// # Errors
    /// [`ClockError`]; none for messages that were accepted.
    pub fn solution(&mut self) -> Result<&Solution, ClockError> {
        let solution = match self.solution.take() {
            Some(solution) => solution,
            None => self.solved()?,
        };
        Ok(self.solution.insert(solution))
    }

    /// As [`Self::solution`], for the last time: nothing is kept for messages to come, so that less memory is
    /// needed.
    ///
    /// # Errors
    /// As there.
    pub fn into_solution(self) -> Result<Solution, ClockError> {
        if let Some(solution) = self.solution {
            return Ok(solution);
        }
        let spans: Vec<Span> = self.spans.iter().map(|span| at_least_a_nanosecond(*span)).collect();
        let (model, assumptions, late) = (self.model, &self.assumptions, &self.late);
        let links: Vec<((usize, usize), LinkState)> = self.links.into_iter().collect();
        let judge = |(pair, state): ((usize, usize), LinkState)| {
            state.judged.unwrap_or_else(|| judge(pair, state.corridor, late, &model, assumptions))
        };
        let links = links.into_par_iter().map(judge).collect();
        solve_judged(links, &spans, &model, assumptions, self.reference)
    }

    fn solved(&mut self) -> Result<Solution, ClockError> {
        let spans: Vec<Span> = self.spans.iter().map(|span| at_least_a_nanosecond(*span)).collect();
        let (model, assumptions, late) = (self.model, &self.assumptions, &self.late);
        let mut links: Vec<(&(usize, usize), &mut LinkState)> = self.links.iter_mut().collect();
        let judged: Vec<Link> = links
            .par_iter_mut()
            .map(|(pair, state)| {
                let judge = || judge(**pair, state.corridor.clone(), late, &model, assumptions);
                state.judged.get_or_insert_with(judge).clone()
            })
            .collect();
        solve_judged(judged, &spans, &model, assumptions, self.reference)
    }

    /// Leaves at most `windows` windows to every link: with more links each may have fewer.
    fn limit_to(&mut self, windows: usize) {
        for state in self.links.values_mut() {
            let before = state.corridor.windows().len();
            state.corridor = std::mem::take(&mut state.corridor).limited_to(windows);
            if state.corridor.windows().len() < before {
                state.judged = None;
            }
        }
    }

    fn link_mut(&mut self, a: usize, b: usize) -> &mut LinkState {
        self.solution = None;
        let (before, windows) = (windows_per_link(self.links.len()), windows_per_link(self.links.len() + 1));
        if windows < before && !self.links.contains_key(&(a, b)) {
            self.limit_to(windows);
        }
        let new = || LinkState { corridor: Corridor::new().limited_to(windows), judged: None };
        let link = self.links.entry((a, b)).or_insert_with(new);
        link.judged = None;
        link
    }

    fn check(&self, clock: usize) -> Result<(), ClockError> {
        if clock < self.spans.len() { Ok(()) } else { Err(ClockError::BadClock { clock }) }
    }
}

fn judge(
    (a, b): (usize, usize),
    recorded: Corridor,
    late: &[u32],
    model: &Model,
    assumptions: &[Assumptions],
) -> Link {
    Link::judge(a, b, recorded.arriving_later(late[a], late[b]), model, assumptions)
}

/// A span to draw bounds over; a clock that was never seen has been at zero.
fn at_least_a_nanosecond(span: Option<Span>) -> Span {
    let Span { begin, end } = span.unwrap_or(Span::at(0));
    match (begin < end, end < MAX_ABS_NS) {
        (true, _) => Span { begin, end },
        (false, true) => Span { begin, end: end + 1 },
        (false, false) => Span { begin: begin - 1, end },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{LinkData, Network, solve};
    use proptest::prelude::*;

    /// Messages between three clocks: (link, forth, time, delay).
    type Messages = Vec<(usize, bool, i64, i64)>;

    fn send(clocks: &mut Synchronizer, &(link, forth, t, delay): &(usize, bool, i64, i64)) {
        let (a, b) = [(0, 1), (1, 2), (0, 2)][link];
        let local =
            |clock: usize, t: i64| t + t / 1_000_000 * clock as i64 * 7 + clock as i64 * 1_000_000_007;
        let (from, to) = if forth { (a, b) } else { (b, a) };
        clocks.message(from, local(from, t), to, local(to, t + 50_000 + delay)).unwrap();
    }

    fn messages() -> impl Strategy<Value = Messages> {
        let message = (0..3usize, any::<bool>(), 0i64..10_000_000_000, 0i64..500_000);
        prop::collection::vec(message, 1..40)
    }

    fn straight() -> Model {
        Model { wander_ppm: 0.0, ..Model::default() }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn one_by_one_is_all_at_once(all in messages()) {
            let mut clocks = Synchronizer::new(3, Model::default()).unwrap();
            let mut corridors = vec![Corridor::new(), Corridor::new(), Corridor::new()];
            for message in &all {
                send(&mut clocks, message);
                // Asking in between changes nothing.
                clocks.solution().unwrap();
                let mut one = Synchronizer::new(3, Model::default()).unwrap();
                send(&mut one, message);
                let state = one.links.into_values().next().unwrap();
                corridors[message.0].merge(state.corridor);
            }
            let spans = clocks.spans.iter().map(|&s| at_least_a_nanosecond(s)).collect();
            let mut network = Network::new(spans);
            for (index, corridor) in corridors.into_iter().enumerate() {
                let (a, b) = [(0, 1), (1, 2), (0, 2)][index];
                if corridor.messages() != (0, 0) {
                    network.links.push(LinkData { a, b, corridor });
                }
            }
            prop_assert_eq!(clocks.solution().unwrap(), &solve(network).unwrap());
        }

        #[test]
        fn bounds_only_tighten(all in messages(), at in 0i64..10_000_000_000) {
            let mut clocks = Synchronizer::new(3, straight()).unwrap();
            clocks.set_reference(Some(0)).unwrap();
            let (mut lo, mut hi) = ([i64::MIN; 3], [i64::MAX; 3]);
            for clock in 0..3 {
                clocks.see(clock, 0).unwrap();
                clocks.see(clock, 20_000_000_000).unwrap();
            }
            for message in &all {
                send(&mut clocks, message);
                let solution = clocks.solution().unwrap();
                // A message that is taken for wrong is a change of mind.
                if solution.links.iter().any(|l| !l.suspects.is_empty()) {
                    return Ok(());
                }
                let islands = solution.islands.iter().find(|i| i.reference == 0).unwrap().clocks.clone();
                for clock in islands.into_iter().filter(|&c| c != 0) {
                    let (l, h, _) = solution.intervals[clock].at(at).unwrap();
                    // Rows are at other instants each time; between two of them a chord is what is known,
                    // which a bend of up to twice the prior misses by so much.
                    let chord = 20_000_000_000 / 64 / 1000;
                    prop_assert!(l + chord >= lo[clock] && h - chord <= hi[clock], "clock {}", clock);
                    (lo[clock], hi[clock]) = (lo[clock].max(l), hi[clock].min(h));
                }
                let (l, h) = clocks.bounds(0, 1, at);
                let (next_l, next_h) = (l.unwrap_or(i64::MIN), h.unwrap_or(i64::MAX));
                prop_assert!(next_l >= lo[0] && next_h <= hi[0]);
                (lo[0], hi[0]) = (next_l, next_h);
            }
        }
    }

    #[test]
    fn nonsense_changes_nothing() {
        let mut clocks = Synchronizer::new(2, Model::default()).unwrap();
        assert!(clocks.message(0, 0, 0, 1).is_err() && clocks.message(0, 0, 2, 1).is_err());
        assert!(clocks.message(0, i64::MAX, 1, 1).is_err() && clocks.see(2, 0).is_err());
        assert!(clocks.set_reference(Some(2)).is_err());
        assert_eq!(clocks.solution().unwrap().islands.len(), 2);
        assert_eq!(clocks.add_clock(), 2);
        assert_eq!(clocks.solution().unwrap().islands.len(), 3);
        assert_eq!(clocks.bounds(0, 1, 5), (None, None));
        assert!(Synchronizer::new(1, Model { wander_ppm: f64::NAN, ..Model::default() }).is_err());
    }
}
