//! Single times from one host's clock to another's, with bounds: needs the corrections alone, no traces.

use isochrone_corrections::{self as corrections, Clock, Clocks};
use isochrone_time::{RawNs, UnixNs};

use crate::host::UnknownHost;

/// The way from the clock of one host to that of another.
#[derive(Debug, Clone, Copy)]
pub struct Conversion<'c> {
    from: &'c Clock,
    to: &'c Clock,
}

/// What a time counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The zero of the clock: raw ns.
    Raw,
    /// 1970, as the host itself had it: Unix ns.
    Unix,
}

/// An instant on another clock, ns on the [`Scale`] of the time that was converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// The estimate.
    pub ns: i128,
    /// Lower bound of the true time; `None`: unknown.
    pub lo: Option<i128>,
    /// Upper bound.
    pub hi: Option<i128>,
    /// Realistic error, ns, where known.
    pub e95: Option<i64>,
    /// Whether there can be bounds: messages that do not contradict each other lead from one clock to the
    /// other.
    pub proven: bool,
}

/// Why times cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// There is no such host.
    #[error(transparent)]
    Unknown(#[from] UnknownHost),
    /// The hosts are of different islands.
    #[error("no chain of messages ties {from} to {to}: their times cannot be compared")]
    Apart {
        /// The one host.
        from: String,
        /// The other one.
        to: String,
    },
    /// The time is out of the range of 64 bits of ns.
    #[error("{ns} lies beyond what the clock of {host} can show")]
    Beyond {
        /// The time.
        ns: i128,
        /// The host.
        host: String,
    },
}

impl<'c> Conversion<'c> {
    /// From a host to another one, or to the reference of its island.
    ///
    /// # Errors
    /// There is no such host, or their times cannot be compared.
    pub fn new(clocks: &'c Clocks, from: &str, to: Option<&str>) -> Result<Self, ConversionError> {
        let known = || clocks.iter().map(|clock| clock.entry.host.as_str());
        let find = |name: &str| clocks.of_host(name).ok_or_else(|| UnknownHost::new(name, known()));
        let from = find(from)?;
        let to = find(to.unwrap_or(&from.reference))?;
        if from.entry.island != to.entry.island {
            let (from, to) = (from.entry.host.clone(), to.entry.host.clone());
            return Err(ConversionError::Apart { from, to });
        }
        Ok(Self { from, to })
    }

    /// The host whose times are converted.
    pub fn from(self) -> &'c str {
        &self.from.entry.host
    }

    /// The host on whose clock they are put.
    pub fn to(self) -> &'c str {
        &self.to.entry.host
    }

    /// Start of the synchronized time of the traces of the first host, by the host's own wall clock.
    pub fn start(self) -> Option<UnixNs> {
        let entry = &self.from.entry;
        let first = self.from.interval.rows().first()?.raw;
        Some(UnixNs(i128::from(first) + i128::from(entry.clock_offset_ns)))
    }

    /// Least and greatest offset that the traces of the first host state, ns. A Unix time of the host means
    /// another instant in each trace that states another one.
    pub fn offsets(self) -> (i64, i64) {
        let own = self.from.entry.clock_offset_ns;
        let stated = self.from.entry.traces.iter().map(|trace| trace.offset_ns);
        stated.fold((own, own), |(least, greatest), offset| (least.min(offset), greatest.max(offset)))
    }

    /// A time of the first host on the clock of the second one. The bounds of a Unix time allow for each of
    /// the [offsets](Self::offsets).
    ///
    /// # Errors
    /// The time is out of range.
    pub fn convert(self, ns: i128, scale: Scale) -> Result<Converted, ConversionError> {
        let raw_by = |offset: i64| {
            let shift = if scale == Scale::Raw { 0 } else { i128::from(offset) };
            let raw = ns.checked_sub(shift).and_then(|raw| i64::try_from(raw).ok());
            raw.map(RawNs).ok_or_else(|| ConversionError::Beyond { ns, host: self.from.entry.host.clone() })
        };
        let (least_offset, greatest_offset) = self.offsets();
        let middle = self.moved(raw_by(self.from.entry.clock_offset_ns)?);
        let (first, last) = (self.moved(raw_by(greatest_offset)?), self.moved(raw_by(least_offset)?));
        let zero = if scale == Scale::Raw { 0 } else { i128::from(self.to.entry.clock_offset_ns) };
        let shown = |raw: RawNs| i128::from(raw.0) + zero;
        let proven = self.from.proven && self.to.proven;
        let bound = |bound: Option<RawNs>| bound.filter(|_| proven).map(shown);
        let (lo, hi) = (bound(first.bounds.0), bound(last.bounds.1));
        Ok(Converted { ns: shown(middle.time), lo, hi, e95: middle.e95, proven })
    }

    /// A raw time of one clock on the other.
    fn moved(self, raw: RawNs) -> corrections::Converted {
        let Self { from, to } = self;
        if std::ptr::eq(from, to) {
            return corrections::Converted::exact(raw);
        }
        let instant = from.to_reference(raw);
        if to.entry.host == to.reference { instant } else { to.from_reference(instant) }
    }
}
