//! What is assumed before any message is seen: of clocks and links in general ([`Model`]), and of each clock,
//! span by span ([`Assumptions`]). Guarantees are conditional on both.
//!
//! Messages bound the relation of two clocks at the instants at which they were sent and received. What may
//! happen between them is not in the messages; it is assumed, and the assumption differs from clock to clock
//! and from time to time: a crystal that nothing steers keeps its rate, a clock that a time daemon
//! disciplines does not. The caller, who knows the host, decides (`isochrone-sync` does so from its traces).

use crate::error::{ClockError, checked_time};
use crate::geometry::{RATE_PRIOR_PPM, SlopeRange, WANDER_PPM, Wander};
use crate::span::{Span, merge};

/// Expected difference of the minimum delays of the two directions, as a share of half the minimum round trip
/// (one standard deviation): no message shows it.
///
/// The least value for which 95 % of stated errors held on virtual machines with known truth, where it is
/// what the error depends on: without it 57 % held. A network of symmetric hosts would allow 0.05 to 0.1.
pub const ASYMMETRY: f64 = 0.17;

/// Assumptions on all clocks and links: guarantees depend on `wander_ppm` and `prior_ppm`, likely errors on
/// `asymmetry`.
///
/// ```
/// use isochrone_clock::Model;
/// let straight = Model { wander_ppm: 0.0, ..Model::default() };
/// assert_eq!((straight.prior_ppm, straight.asymmetry), (500, 0.17));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Maximal deviation of a clock's rate from a constant between two breaks, ppm; see [`WANDER_PPM`].
    pub wander_ppm: f64,
    /// Maximal difference that is expected between the rates of two clocks, ppm; see [`RATE_PRIOR_PPM`].
    pub prior_ppm: u32,
    /// Expected difference of the least delays of the two directions of a link, as a share of their sum (0 to
    /// 1); see [`ASYMMETRY`].
    pub asymmetry: f64,
}

impl Model {
    /// The range of rates of two clocks relative to each other.
    pub(crate) fn prior(&self) -> SlopeRange {
        SlopeRange::prior(self.prior_ppm)
    }

    /// The wander of two clocks against each other.
    ///
    /// # Errors
    /// [`ClockError::BadWander`].
    pub(crate) fn wander(&self) -> Result<Wander, ClockError> {
        Wander::of_pair_ppm(self.wander_ppm)
    }

    /// # Errors
    /// [`ClockError::BadWander`], [`ClockError::BadAsymmetry`] unless it is a share.
    pub(crate) fn checked(self) -> Result<Self, ClockError> {
        self.wander()?;
        if (0.0..=1.0).contains(&self.asymmetry) { Ok(self) } else { Err(ClockError::BadAsymmetry) }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self { wander_ppm: WANDER_PPM, prior_ppm: RATE_PRIOR_PPM, asymmetry: ASYMMETRY }
    }
}

/// The kernel's limit for the frequency that NTP may set, and for the rate of `adjtime`, ppm.
pub const STEERED_PPM: u32 = 500;

/// With more changes than this ([`Assumptions::changes`]), a clock is bounded as if it was steered all the
/// time.
pub const MAX_CHANGES: usize = 4096;

/// Assumption on the rate of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Steering {
    /// No daemon steers it: its rate stays within ± ρ of a constant ([`crate::Model::wander_ppm`]).
    #[default]
    Free,
    /// Its rate stays within ± ρ of a constant between known spans of time in which it may have been changed
    /// ([`Assumptions::changes`]), as chronyd, ptp4l and phc2sys do it. These constants stay within ±
    /// [`STEERED_PPM`] of the nominal rate, but where messages show more.
    Stepwise,
    /// Its rate stays within ± `ppm` of its nominal rate, and may change at any time.
    Steered {
        /// Parts per million.
        ppm: u32,
    },
    /// Nothing is known: bounded as if it was steered, by [`STEERED_PPM`].
    Unknown,
}

impl Steering {
    /// Maximal deviation of the rate from the nominal one at any time, ppm; `None` where it is constant, if only
    /// from one known change to the next.
    pub fn limit_ppm(self) -> Option<u32> {
        match self {
            Self::Free | Self::Stepwise => None,
            Self::Steered { ppm } => Some(ppm),
            Self::Unknown => Some(STEERED_PPM),
        }
    }
}

/// An assumption that holds from some time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regime {
    /// Raw time of the clock, ns; that of the first regime of a clock has no effect.
    pub from: i64,
    /// Assumption until the next regime starts.
    pub steering: Steering,
}

/// Assumptions on one clock, over its time.
///
/// ```
/// use isochrone_clock::{Assumptions, Regime, Span, Steering};
/// // chronyd is started ten seconds after the clock's zero, and sets the rate twice.
/// let regimes = vec![
///     Regime { from: 0, steering: Steering::Free },
///     Regime { from: 10_000_000_000, steering: Steering::Stepwise },
/// ];
/// let call = |at: i64| Span { begin: at, end: at + 20_000 };
/// let assumptions = Assumptions::new(regimes, vec![call(10_000_000_000), call(26_000_000_000)])?;
/// assert_eq!(assumptions.at(11_000_000_000), Steering::Stepwise);
/// assert_eq!(assumptions.at(-5), Steering::Free);
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumptions {
    /// Not empty, by time.
    regimes: Vec<Regime>,
    /// By time, apart from each other.
    changes: Vec<Span>,
}

impl Assumptions {
    /// Regimes and, for [`Steering::Stepwise`], the spans of time in which the rate may have been changed;
    /// both in any order.
    ///
    /// # Errors
    /// [`ClockError::TooFewRows`] without a regime, [`ClockError::TimeOutOfRange`],
    /// [`ClockError::OutOfOrder`] for two regimes that begin together or a span that ends before it begins.
    pub fn new(mut regimes: Vec<Regime>, mut changes: Vec<Span>) -> Result<Self, ClockError> {
        if regimes.is_empty() {
            return Err(ClockError::TooFewRows { needed: 1, got: 0 });
        }
        regimes.sort_unstable_by_key(|regime| regime.from);
        for regime in &regimes {
            checked_time(regime.from)?;
        }
        if let Some(row) = regimes.windows(2).position(|pair| pair[0].from == pair[1].from) {
            return Err(ClockError::OutOfOrder { row: row + 1 });
        }
        for (row, span) in changes.iter().enumerate() {
            checked_time(span.begin)?;
            checked_time(span.end)?;
            if span.end < span.begin {
                return Err(ClockError::OutOfOrder { row });
            }
        }
        merge(&mut changes);
        Ok(Self { regimes, changes })
    }

    /// The same all the time.
    pub fn always(steering: Steering) -> Self {
        Self { regimes: vec![Regime { from: 0, steering }], changes: Vec::new() }
    }

    /// By time; the first one also holds before its start.
    pub fn regimes(&self) -> &[Regime] {
        &self.regimes
    }

    /// Times, raw ns, at which the rate may have been changed where the clock is [`Steering::Stepwise`]: by
    /// time, apart from each other.
    pub fn changes(&self) -> &[Span] {
        &self.changes
    }

    /// Assumption at an instant (raw ns of the clock). O(log regimes).
    pub fn at(&self, raw: i64) -> Steering {
        let after = self.regimes.partition_point(|regime| regime.from <= raw);
        self.regimes[after.saturating_sub(1)].steering
    }

    /// Whether the rate of the clock never changes.
    pub fn is_free(&self) -> bool {
        self.regimes.iter().all(|regime| match regime.steering {
            Steering::Free => true,
            Steering::Stepwise => self.changes.is_empty(),
            Steering::Steered { .. } | Steering::Unknown => false,
        })
    }
}

impl Default for Assumptions {
    fn default() -> Self {
        Self::always(Steering::Free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_and_changes_are_put_in_order() {
        let regime = |from, steering| Regime { from, steering };
        let span = |begin, end| Span { begin, end };
        let unordered = vec![regime(50, Steering::Stepwise), regime(-3, Steering::Unknown)];
        let found = Assumptions::new(unordered, vec![span(70, 80), span(60, 65), span(64, 66), span(80, 81)])
            .unwrap();
        assert_eq!(
            [-9, -3, 49, 50, 99].map(|t| found.at(t)).map(|s| s == Steering::Stepwise),
            [false, false, false, true, true]
        );
        assert_eq!(found.changes(), [span(60, 66), span(70, 81)]);
        assert!(!found.is_free() && Assumptions::default().is_free());
    }

    #[test]
    fn nonsense_is_refused() {
        let regime = |from| Regime { from, steering: Steering::Free };
        assert!(Assumptions::new(Vec::new(), Vec::new()).is_err());
        assert!(Assumptions::new(vec![regime(1), regime(1)], Vec::new()).is_err());
        assert!(Assumptions::new(vec![regime(i64::MAX)], Vec::new()).is_err());
        assert!(Assumptions::new(vec![regime(0)], vec![Span { begin: 5, end: 4 }]).is_err());
    }
}
