//! What is assumed of a clock, with reasons, and what becomes of it: for hosts that share a clock, for the
//! mathematics, for the artefact.

use isochrone_clock::{Assumed, Assumptions, ClockError, Regime, Span, Steering};

use isochrone_corrections::artefact::AssumptionEntry;
use isochrone_time::{RawNs, Window};

/// What stands in the way of a stronger assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingEvidence {
    /// The traces could show more.
    Traced(Untraced),
    /// A daemon is there that has the kernel change the rate at any time.
    Constancy,
}

/// What a host's traces do not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Untraced {
    /// No complete list of processes.
    pub list: bool,
    /// No `sched_switch`.
    pub switches: bool,
    /// Calls of `adjtimex` and `clock_adjtime` are not traced.
    pub calls: bool,
}

impl Untraced {
    /// What is lacking; `None` where all is there.
    pub(crate) fn lack(self) -> Option<MissingEvidence> {
        (self != Self::default()).then_some(MissingEvidence::Traced(self))
    }
}

/// From some time on, something is assumed for a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reasoned {
    /// Raw time of the clock.
    pub(crate) from: RawNs,
    pub(crate) steering: Steering,
    /// For people, a clause.
    pub(crate) why: String,
}

/// What is assumed of a clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Not empty, by time, no two at one time; the first one holds before, too.
    pub(crate) regimes: Vec<Reasoned>,
    /// When the rate may have been changed, where it is stepwise.
    pub(crate) changes: Vec<Window<RawNs>>,
    /// What would allow to assume more.
    pub(crate) lack: Option<MissingEvidence>,
}

impl Verdict {
    /// The same all the time.
    pub(crate) fn always(steering: Steering, why: String) -> Self {
        Self { regimes: vec![Reasoned { from: RawNs(0), steering, why }], changes: Vec::new(), lack: None }
    }

    /// For the mathematics.
    ///
    /// # Errors
    /// Times that are out of range.
    pub(crate) fn assumptions(&self) -> Result<Assumptions, ClockError> {
        let regime = |reasoned: &Reasoned| Regime { from: reasoned.from.ns(), steering: reasoned.steering };
        let change = |window: &Window<RawNs>| Span { begin: window.start.ns(), end: window.end.ns() };
        let changes = self.changes.iter().map(change).collect();
        Assumptions::new(self.regimes.iter().map(regime).collect(), changes)
    }

    /// The same on a clock that shows `by` more.
    pub(crate) fn shifted(mut self, by: i64) -> Self {
        for regime in &mut self.regimes {
            regime.from = regime.from.saturating_add(by);
        }
        for change in &mut self.changes {
            *change = Window::new(change.start.saturating_add(by), change.end.saturating_add(by));
        }
        self
    }

    /// What is assumed of a clock that two hosts share: the weaker of what each of them shows, and all
    /// changes.
    pub(crate) fn weaker(mut self, other: Self) -> Self {
        let mut times: Vec<RawNs> =
            self.regimes.iter().chain(&other.regimes).map(|regime| regime.from).collect();
        times.sort_unstable();
        times.dedup();
        let mut regimes: Vec<Reasoned> = Vec::with_capacity(times.len());
        for from in times {
            let (one, two) = (self.at(from), other.at(from));
            let weaker = if rank(two.steering) > rank(one.steering) { two } else { one };
            if regimes.last().is_none_or(|last| (last.steering, &last.why) != (weaker.steering, &weaker.why))
            {
                regimes.push(Reasoned { from, ..weaker.clone() });
            }
        }
        self.regimes = regimes;
        self.changes.extend(other.changes);
        self
    }

    /// Whether the same is assumed for the same reasons, whenever.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let what = |verdict: &Self| -> Vec<_> {
            verdict.regimes.iter().map(|regime| (regime.steering, regime.why.clone())).collect()
        };
        what(self) == what(other)
    }

    /// Says whose clock the reasons are about.
    pub(crate) fn of_host(mut self, host: &str) -> Self {
        for regime in &mut self.regimes {
            regime.why = format!("{host}: {}", regime.why);
        }
        self
    }

    fn at(&self, raw: RawNs) -> &Reasoned {
        let after = self.regimes.partition_point(|regime| regime.from <= raw);
        &self.regimes[after.saturating_sub(1)]
    }

    /// What the bounds of a clock rest on in the end, for the artefact. Rates of constant clocks stay within
    /// ± `wander_ppm`.
    pub(crate) fn entries(&self, used: &[Assumed]) -> Vec<AssumptionEntry> {
        used.iter().map(|assumed| self.entry(assumed)).collect()
    }

    fn entry(&self, assumed: &Assumed) -> AssumptionEntry {
        let &Assumed { raw, steering, is_contradicted, ppm } = assumed;
        let kind = match steering {
            Steering::Free => "free",
            Steering::Stepwise => "stepwise",
            Steering::Steered { .. } => "steered",
            Steering::Unknown => "unknown",
        };
        let within = |change: &&Window<RawNs>| change.start.ns() <= raw.end && raw.begin <= change.end.ns();
        let changes = || self.changes.iter().filter(within).count() as u64;
        AssumptionEntry {
            raw_ns: (raw.begin, raw.end),
            kind: kind.to_owned(),
            // Where a clock was set or stopped there is no limit.
            ppm: (is_contradicted || steering.limit_ppm().is_some())
                .then_some(ppm)
                .filter(|ppm| ppm.is_finite()),
            changes: (steering == Steering::Stepwise).then(changes),
            why: self.at(RawNs(raw.begin)).why.clone(),
            contradicted: is_contradicted,
        }
    }
}

/// Greater for what is weaker.
pub(super) fn rank(steering: Steering) -> (u32, u8) {
    let kind = match steering {
        Steering::Free => 0,
        Steering::Stepwise => 1,
        Steering::Steered { .. } => 2,
        Steering::Unknown => 3,
    };
    (steering.limit_ppm().unwrap_or_default(), kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_clock::STEERED_PPM;

    const STEERED: Steering = Steering::Steered { ppm: STEERED_PPM };

    fn verdict(regimes: &[(i64, Steering, &str)], changes: &[(i64, i64)]) -> Verdict {
        let reasoned = |&(from, steering, why): &(i64, Steering, &str)| Reasoned {
            from: RawNs(from),
            steering,
            why: why.to_owned(),
        };
        let change = |&(start, end): &(i64, i64)| Window::new(RawNs(start), RawNs(end));
        Verdict {
            regimes: regimes.iter().map(reasoned).collect(),
            changes: changes.iter().map(change).collect(),
            lack: None,
        }
    }

    #[test]
    fn a_shared_clock_is_as_its_weakest_host_says() {
        let one = verdict(&[(0, Steering::Free, "a"), (50, STEERED, "b")], &[]);
        let two = verdict(&[(10, Steering::Stepwise, "c"), (90, Steering::Unknown, "d")], &[(12, 15)]);
        let expect = verdict(
            &[(0, Steering::Stepwise, "c"), (50, STEERED, "b"), (90, Steering::Unknown, "d")],
            &[(12, 15)],
        );
        assert_eq!(one.clone().weaker(two.clone()), expect);
        assert_eq!(two.weaker(one), expect);
    }

    #[test]
    fn entries_count_the_changes_within_them() {
        let of = verdict(
            &[(0, Steering::Free, "a"), (50, Steering::Stepwise, "b")],
            &[(50, 60), (70, 80), (95, 99)],
        );
        let shown = |used: &[(i64, i64, Steering)]| -> Vec<_> {
            let used: Vec<Assumed> = (used.iter())
                .map(|&(begin, end, steering)| Assumed {
                    raw: Span { begin, end },
                    steering,
                    is_contradicted: false,
                    ppm: 0.0,
                })
                .collect();
            of.entries(&used).into_iter().map(|entry| (entry.raw_ns, entry.kind, entry.changes)).collect()
        };
        let (before, after) = ((-5, 50, Steering::Free), (50, 90, Steering::Stepwise));
        let (free, stepwise) = ("free".to_owned(), "stepwise".to_owned());
        assert_eq!(
            shown(&[before, after]),
            [((-5, 50), free.clone(), None), ((50, 90), stepwise.clone(), Some(2))]
        );
        assert_eq!(shown(&[before]), [((-5, 50), free, None)]);
        assert_eq!(shown(&[(60, 60, Steering::Stepwise)]), [((60, 60), stepwise, Some(1))]);
    }

    #[test]
    fn what_was_used_is_reported() {
        let of = verdict(&[(0, Steering::Free, "a")], &[]);
        let raw = Span { begin: 5, end: 9 };
        let used = Assumed { raw, steering: STEERED, is_contradicted: true, ppm: 83_400.0 };
        let [entry] = &of.entries(&[used])[..] else { panic!() };
        assert_eq!((entry.kind.as_str(), entry.ppm, entry.contradicted), ("steered", Some(83_400.0), true));
    }
}
