//! The synchronization artefact, `sync.json` version 1: written and read here and nowhere else.
//!
//! All times are integers in ns. *Raw* is a clock's own value without any offset; Unix time on the common clock is the
//! reference's raw time plus the reference's `clock_offset_ns`. `docs/sync-json.md` describes every field for other tools.

use isochrone_clock::{Correction, Interval, IntervalRow, Rate};
use serde::{Deserialize, Serialize};

use crate::input::Refused;

/// The version written, and the only one read.
pub const VERSION: u32 = 1;

/// The method of a link between hosts that are trusted to share a clock.
pub const TRUSTED: &str = "trusted";

/// A whole `sync.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artefact {
    /// [`VERSION`].
    pub version: u32,
    /// Reference host of the largest island, or of the island of the reference that was asked for.
    pub reference: String,
    /// What the guarantees are conditional on.
    pub model: Model,
    /// Groups of hosts that messages tie together.
    pub islands: Vec<IslandEntry>,
    /// Every clock, by host name.
    pub clocks: Vec<ClockEntry>,
    /// Pairs of clocks, by names. A pair that is not there has no messages.
    pub links: Vec<LinkEntry>,
    /// Messages that look wrong and were left out.
    pub suspects: Vec<SuspectEntry>,
    /// What was not used.
    pub refused: Vec<RefusedEntry>,
    /// Loops of hosts whose links contradict each other.
    pub contradictions: Vec<Vec<String>>,
}

/// The clock model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// How far a clock's rate may be from constant between breaks, ppm. 0: clocks are straight lines.
    pub wander_ppm: f64,
    /// How far apart the rates of two clocks may be where messages do not tell, ppm.
    pub rate_prior_ppm: u32,
    /// Difference of the least delays of two directions, as a share of their sum, that `e95` allows for.
    pub asymmetry: f64,
}

/// Hosts tied together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IslandEntry {
    /// Number.
    pub id: usize,
    /// Whose time the corrections of the island give.
    pub reference: String,
    /// Members.
    pub hosts: Vec<String>,
}

/// One clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockEntry {
    /// Clock uuid, else host name.
    pub id: String,
    /// Host.
    pub host: String,
    /// All names of the host in its traces.
    pub hostnames: Vec<String>,
    /// Number of its island.
    pub island: usize,
    /// Unix time of the clock's zero in its earliest trace.
    pub clock_offset_ns: i64,
    /// Its traces.
    pub traces: Vec<TraceEntry>,
    /// `[raw, reference raw]`; linear between.
    pub knots: Vec<(i64, i64)>,
    /// Rate before the first knot, as a decimal.
    pub rate_before: String,
    /// Rate behind the last knot, as a decimal.
    pub rate_after: String,
    /// The correction as one line (of its first segment), for people.
    pub formula: Formula,
    /// `[raw, lo, hi, e95]`; linear between.
    pub interval: Vec<(i64, i64, i64, i64)>,
    /// Where the clock was set or slewed.
    pub breaks: Vec<BreakEntry>,
    /// What is assumed of the clock, and why: by time, over its span. Empty in files of versions that assumed the same of all.
    #[serde(default)]
    pub assumptions: Vec<AssumptionEntry>,
}

/// What is assumed of a clock in a span of its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssumptionEntry {
    /// From when to when, on the clock itself.
    pub raw_ns: (i64, i64),
    /// `free`, `stepwise`, `steered` or `unknown`.
    pub kind: String,
    /// How far the rate may be from the usual one, ppm; nothing where it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppm: Option<f64>,
    /// Times at which the rate may have been changed; of `stepwise` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// The reason, a clause.
    pub why: String,
    /// Whether messages contradict what the evidence said, so that more is allowed for.
    #[serde(default)]
    pub contradicted: bool,
}

/// A trace and its own clock offset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// As the user named it.
    pub path: String,
    /// Unix time of the clock's zero as this trace states it.
    pub offset_ns: i64,
}

/// reference raw = slope · raw + offset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formula {
    /// A decimal.
    pub slope: String,
    /// A decimal, ns.
    pub offset_ns: String,
}

/// A clock that was set or slewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BreakEntry {
    /// When, on the clock itself: the middle of the range.
    pub raw_ns: i64,
    /// Not before and not after these times of the clock.
    #[serde(default)]
    pub raw_range_ns: (i64, i64),
    /// `slew` or `step`.
    pub kind: String,
    /// Change of rate.
    pub size_ppm: f64,
    /// Size of a step.
    pub size_ns: i64,
}

/// A pair of clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkEntry {
    /// One host, the first by name.
    pub a: String,
    /// The other.
    pub b: String,
    /// What the link is worth.
    pub quality: Quality,
    /// How the point inside the corridor was chosen; [`TRUSTED`] where there is nothing to choose.
    pub method: String,
    /// Counts.
    pub messages: MessageCounts,
    /// Messages received before they were sent, by the corrections.
    pub inversions: u64,
    /// Least and greatest (db/da − 1)·10⁶ that the messages allow.
    pub rate_ppm: (Option<f64>, Option<f64>),
    /// Least and greatest b − a, clock offsets included, on a's clock midway between first and last message.
    pub offset_at_middle_ns: (Option<i64>, Option<i64>),
    /// Least sum of the delays there and back that the messages show.
    pub min_rtt_ns: Option<i64>,
    /// How far the rate of either clock may wander by the bounds of this link, ppm: more than the model's where the
    /// messages show that it does.
    #[serde(default)]
    pub wander_ppm: f64,
}

/// What a link is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Both half hulls bound the rate and no message is inverted.
    Accurate,
    /// Messages contradict each other, or the corrections, or a trusted clock: the best that can be had, without a
    /// guarantee.
    Approximate,
    /// Rate or offset is unbounded on a side.
    Incomplete,
    /// No message.
    Absent,
    /// The messages contradict each other: not used.
    Refused,
}

/// Numbers of messages of a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// Sent by a, received by b.
    pub a_to_b: u64,
    /// Sent by b, received by a.
    pub b_to_a: u64,
    /// Of these messages, segments that were cut up or put together on their way.
    #[serde(default)]
    pub offloaded: u64,
    /// Of these messages, packets whose addresses or ports were translated on their way.
    #[serde(default)]
    pub translated: u64,
    /// Packets seen at both hosts that could not be paired with certainty.
    pub ambiguous: u64,
    /// Left out because they look wrong.
    pub suspect: u64,
    /// Left out because their times are beyond what can be computed with.
    pub dropped: u64,
}

/// A message that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspectEntry {
    /// Sender and receiver.
    pub link: (String, String),
    /// When it was sent.
    pub sent_raw_ns: i64,
    /// When it was received.
    pub received_raw_ns: i64,
    /// What is wrong with it.
    pub why: String,
}

/// Something that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEntry {
    /// `link`, `trace`, `host` or `list`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl From<&Refused> for RefusedEntry {
    fn from(refused: &Refused) -> Self {
        Self { what: refused.what.to_owned(), name: refused.name.clone(), why: refused.why.clone() }
    }
}

/// Why a `sync.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArtefactError {
    /// Not JSON, or not of this shape.
    #[error("not a sync.json")]
    Syntax(#[from] serde_json::Error),
    /// Written by another version.
    #[error("version {0} is not known; version {VERSION} is")]
    Version(u32),
    /// A clock whose numbers make no correction.
    #[error("the clock of {host}: {why}")]
    Clock {
        /// Its host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// An island without its reference, or without the clocks that claim to be in it.
    #[error("island {0} does not hold its own clocks and their reference")]
    Island(usize),
    /// Two clocks of one name.
    #[error("two clocks are called {0}")]
    Twice(String),
}

impl Artefact {
    /// Reads an artefact. What comes back is not validated beyond its shape: [`crate::apply::Clocks::new`] does that.
    ///
    /// # Errors
    /// The text is no JSON of this shape, or of another version.
    pub fn from_json(text: &str) -> Result<Self, ArtefactError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(ArtefactError::Version(version));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Writes it: one line for each clock, link and row of numbers, so that people can read it too.
    ///
    /// # Errors
    /// None in practice: all keys are strings.
    pub fn to_json(&self) -> Result<String, ArtefactError> {
        fn lines<T: Serialize>(items: &[T]) -> Result<String, serde_json::Error> {
            let items: Result<Vec<String>, _> = items.iter().map(serde_json::to_string).collect();
            let items = items?;
            Ok(if items.is_empty() {
                "[]".to_owned()
            } else {
                format!("[\n    {}\n  ]", items.join(",\n    "))
            })
        }
        Ok(format!(
            "{{\n  \"version\": {},\n  \"reference\": {},\n  \"model\": {},\n  \"islands\": {},\n  \"clocks\": {},\n  \
             \"links\": {},\n  \"suspects\": {},\n  \"refused\": {},\n  \"contradictions\": {}\n}}\n",
            self.version,
            serde_json::to_string(&self.reference)?,
            serde_json::to_string(&self.model)?,
            lines(&self.islands)?,
            lines(&self.clocks)?,
            lines(&self.links)?,
            lines(&self.suspects)?,
            lines(&self.refused)?,
            lines(&self.contradictions)?,
        ))
    }
}

impl ClockEntry {
    /// The correction that the entry states.
    pub(crate) fn correction(&self) -> Result<Correction, ArtefactError> {
        let rate = |text: &str| text.parse::<Rate>().map_err(|error| self.error(&error));
        let (before, after) = (rate(&self.rate_before)?, rate(&self.rate_after)?);
        Correction::new(self.knots.clone(), before, after).map_err(|error| self.error(&error))
    }

    /// The interval that the entry states.
    pub(crate) fn uncertainty(&self) -> Result<Interval, ArtefactError> {
        let rows = self.interval.iter().map(|&(raw, lo, hi, e95)| IntervalRow { raw, lo, hi, e95 });
        Interval::new(rows.collect()).map_err(|error| self.error(&error))
    }

    pub(crate) fn error(&self, why: &dyn std::fmt::Display) -> ArtefactError {
        ArtefactError::Clock { host: self.host.clone(), why: why.to_string() }
    }
}

impl Formula {
    /// The line through the first knot with a correction's first rate.
    pub fn of(correction: &Correction) -> Self {
        /// Units of a rate's numerator in 1.
        const SCALE: i128 = 1_000_000_000_000_000;
        let (raw, reference) = correction.knots().first().copied().unwrap_or_default();
        let slope = correction.rate_before();
        // |raw| < 2⁶¹ and rates below 1000: far inside 128 bits.
        let offset = i128::from(reference) * SCALE - i128::from(raw).saturating_mul(slope.units());
        let sign = if offset < 0 { "-" } else { "" };
        let (whole, part) =
            (offset.unsigned_abs() / SCALE.unsigned_abs(), offset.unsigned_abs() % SCALE.unsigned_abs());
        Self { slope: slope.to_string(), offset_ns: format!("{sign}{whole}.{part:015}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_exact() {
        let check = |knots: &[(i64, i64)], slope: &str, offset: &str| {
            let formula = Formula::of(&Correction::through(knots.to_vec()).unwrap());
            assert_eq!((formula.slope.as_str(), formula.offset_ns.as_str()), (slope, offset));
        };
        check(&[(0, 5), (1000, 1005)], "1.000000000000000", "5.000000000000000");
        check(&[(1000, 10), (3000, 4010)], "2.000000000000000", "-1990.000000000000000");
        check(&[(0, 0), (3, 1)], "0.333333333333333", "0.000000000000000");
    }

    #[test]
    fn other_versions_are_named() {
        let error = Artefact::from_json("{\"version\": 2, \"future\": true}").unwrap_err();
        assert_eq!(error.to_string(), "version 2 is not known; version 1 is");
        assert!(Artefact::from_json("[]").is_err());
    }
}
