//! The text of a `sync.json`: where values become decimals and decimals values, and nowhere else.

use isochrone_clock::published::{Line, decimal};
use isochrone_clock::{Correction, Interval, IntervalRow, Rate};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Artefact, ClockEntry, LinkEntry, OLDEST_VERSION, Quality, Row, VERSION};

/// reference raw = slope · raw + offset: a correction as one line (of its first segment), for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formula {
    /// A decimal.
    pub slope: String,
    /// A decimal, ns.
    pub offset_ns: String,
    /// Scale of its times, if these are not raw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimesOf>,
}

/// Scale of the times of a [`Formula`] of a published method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimesOf {
    /// Unix times, of both clocks by themselves: raw times with their clock offsets.
    Unix,
}

/// Why a `sync.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArtefactError {
    /// Not JSON, or not of this shape.
    #[error("not a sync.json")]
    Syntax(#[from] serde_json::Error),
    /// Written by another version.
    #[error("version {0} is not known; versions {OLDEST_VERSION} to {VERSION} are")]
    Version(u32),
    /// A clock whose numbers make no correction.
    #[error("the clock of {host}: {why}")]
    Clock {
        /// Its host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// A link whose bounds are none.
    #[error("the link of {a} and {b}: {why}")]
    Link {
        /// Its one host.
        a: String,
        /// Its other host.
        b: String,
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
    /// Reads an artefact. What comes back is not validated beyond its shape: [`crate::Clocks::new`] does
    /// that.
    ///
    /// # Errors
    /// The text is no JSON of this shape, or of another version.
    pub fn from_json(text: &str) -> Result<Self, ArtefactError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_str(text)?;
        if !(OLDEST_VERSION..=VERSION).contains(&version) {
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
            "{{\n  \"version\": {},\n  \"reference\": {},\n  \"model\": {},{}\n  \"islands\": {},\n  \
             \"clocks\": {},\n  \
             \"links\": {},\n  \"suspects\": {},\n  \"refused\": {},\n  \"contradictions\": {}\n}}\n",
            self.version,
            serde_json::to_string(&self.reference)?,
            serde_json::to_string(&self.model)?,
            match &self.method {
                Some(method) => format!("\n  \"method\": {},", serde_json::to_string(method)?),
                None => String::new(),
            },
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
        Correction::new(self.knots.clone(), self.rate_before, self.rate_after)
            .map_err(|error| self.error(&error))
    }

    /// The interval that the entry states.
    pub(crate) fn uncertainty(&self) -> Result<Interval, ArtefactError> {
        interval(&self.interval).map_err(|error| self.error(&error))
    }

    /// The correction as one line: as a published method states it, or by its knots.
    pub fn formula(&self) -> Formula {
        if let Some(stated) = &self.stated {
            return stated.clone();
        }
        Formula::of(self.knots.first().copied().unwrap_or_default(), self.rate_before)
    }

    pub(crate) fn error(&self, why: &dyn std::fmt::Display) -> ArtefactError {
        ArtefactError::Clock { host: self.host.clone(), why: why.to_string() }
    }
}

impl LinkEntry {
    /// Its bounds, if it has any: b's raw time by a's.
    pub(crate) fn bounds(&self) -> Result<Option<Interval>, ArtefactError> {
        if self.interval.is_empty() {
            return Ok(None);
        }
        let interval = interval(&self.interval).map_err(|found| self.error(&found))?;
        match interval.rows().is_sorted_by(|x, y| x.lo <= y.lo && x.hi <= y.hi) {
            true => Ok(Some(interval)),
            false => Err(self.error(&"its interval goes back in time")),
        }
    }

    /// Whether nothing contradicts what its messages prove.
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self.quality, Quality::Accurate | Quality::Incomplete)
    }

    pub(crate) fn error(&self, why: &dyn std::fmt::Display) -> ArtefactError {
        ArtefactError::Link { a: self.a.clone(), b: self.b.clone(), why: why.to_string() }
    }
}

fn interval(rows: &[Row]) -> Result<Interval, isochrone_clock::ClockError> {
    Interval::new(rows.iter().map(|&(raw, lo, hi, e95)| IntervalRow { raw, lo, hi, e95 }).collect())
}

/// What files of versions that did not say it mean.
pub(super) fn yes() -> bool {
    true
}

/// A rate from its decimal, exactly.
pub(super) fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

/// A formula, if it is more than the knots say.
pub(super) fn stated<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Formula>, D::Error> {
    let formula = Option::<Formula>::deserialize(from)?;
    Ok(formula.filter(|formula| formula.times.is_some()))
}

/// Rates are written as decimals, and the formula for people after them.
impl Serialize for ClockEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("ClockEntry", 14 + usize::from(self.doubt.is_some()))?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("host", &self.host)?;
        fields.serialize_field("hostnames", &self.hostnames)?;
        fields.serialize_field("island", &self.island)?;
        fields.serialize_field("clock_offset_ns", &self.clock_offset_ns)?;
        fields.serialize_field("traces", &self.traces)?;
        fields.serialize_field("knots", &self.knots)?;
        fields.serialize_field("rate_before", &self.rate_before.to_string())?;
        fields.serialize_field("rate_after", &self.rate_after.to_string())?;
        fields.serialize_field("formula", &self.formula())?;
        fields.serialize_field("interval", &self.interval)?;
        fields.serialize_field("proven", &self.proven)?;
        match &self.doubt {
            Some(doubt) => fields.serialize_field("doubt", doubt)?,
            None => fields.skip_field("doubt")?,
        }
        fields.serialize_field("breaks", &self.breaks)?;
        fields.serialize_field("assumptions", &self.assumptions)?;
        if let Some(resolution) = &self.resolution {
            fields.serialize_field("resolution", resolution)?;
        }
        fields.end()
    }
}

impl Formula {
    /// A line of a published method, with `digits` digits after the point.
    pub fn of_line(line: &Line, digits: u32) -> Self {
        let shown = |value| decimal(value, digits as usize);
        Self { slope: shown(line.slope()), offset_ns: shown(line.offset()), times: Some(TimesOf::Unix) }
    }

    /// The line through a correction's first knot with its first rate.
    fn of((raw, reference): (i64, i64), slope: Rate) -> Self {
        /// Units of a rate's numerator in 1.
        const SCALE: i128 = 1_000_000_000_000_000;
        // |raw| < 2⁶¹ and rates below 1000: far inside 128 bits.
        let offset = i128::from(reference) * SCALE - i128::from(raw).saturating_mul(slope.units());
        let sign = if offset < 0 { "-" } else { "" };
        let (whole, part) =
            (offset.unsigned_abs() / SCALE.unsigned_abs(), offset.unsigned_abs() % SCALE.unsigned_abs());
        let offset_ns = format!("{sign}{whole}.{part:015}");
        Self { slope: slope.to_string(), offset_ns, times: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_exact() {
        let check = |knots: &[(i64, i64)], slope: &str, offset: &str| {
            let correction = Correction::through(knots.to_vec()).unwrap();
            let formula = Formula::of(knots[0], correction.rate_before());
            assert_eq!((formula.slope.as_str(), formula.offset_ns.as_str()), (slope, offset));
        };
        check(&[(0, 5), (1000, 1005)], "1.000000000000000", "5.000000000000000");
        check(&[(1000, 10), (3000, 4010)], "2.000000000000000", "-1990.000000000000000");
        check(&[(0, 0), (3, 1)], "0.333333333333333", "0.000000000000000");
    }

    #[test]
    fn other_versions_are_named() {
        let error = Artefact::from_json("{\"version\": 3, \"future\": true}").unwrap_err();
        assert_eq!(error.to_string(), "version 3 is not known; versions 1 to 2 are");
        assert!(Artefact::from_json("[]").is_err());
    }
}
