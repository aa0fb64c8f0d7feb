//! Times through an artefact: from any host's clock to the reference, to another host, with bounds.

use isochrone_clock::{Correction, Interval};
use isochrone_ctf::Trace;

use crate::artefact::{Artefact, ArtefactError, ClockEntry};
use crate::hosts::{clock_id, hostname};

/// The clocks of an artefact, ready to be applied.
#[derive(Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
}

/// One clock of an artefact.
#[derive(Debug)]
pub struct Clock {
    /// What the artefact says of it.
    pub entry: ClockEntry,
    /// Raw time to the reference's raw time.
    pub correction: Correction,
    /// Bounds of that.
    pub interval: Interval,
    /// Unix time of the zero of the reference's clock.
    pub reference_offset_ns: i64,
    /// The reference's host.
    pub reference: String,
}

/// An instant on another clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// The estimate.
    pub time: i64,
    /// What the truth is surely not before and not after, where anything is known.
    pub bounds: (Option<i64>, Option<i64>),
    /// The realistic error, where known.
    pub e95: Option<i64>,
}

impl Clocks {
    /// Takes the clocks of an artefact and checks their numbers.
    ///
    /// # Errors
    /// Knots, rates or rows that no solver writes; an island whose reference is not there.
    pub fn new(artefact: &Artefact) -> Result<Self, ArtefactError> {
        let clocks = artefact.clocks.iter().map(|entry| {
            let missing = || ArtefactError::Reference(entry.island);
            let island = artefact.islands.iter().find(|i| i.id == entry.island).ok_or_else(missing)?;
            let reference =
                artefact.clocks.iter().find(|c| c.host == island.reference).ok_or_else(missing)?;
            Ok::<_, ArtefactError>(Clock {
                correction: entry.correction()?,
                interval: entry.uncertainty()?,
                reference_offset_ns: reference.clock_offset_ns,
                reference: reference.host.clone(),
                entry: entry.clone(),
            })
        });
        Ok(Self { clocks: clocks.collect::<Result<_, _>>()? })
    }

    /// All clocks, in the order of the artefact.
    pub fn iter(&self) -> impl Iterator<Item = &Clock> {
        self.clocks.iter()
    }

    /// The clock that stamps a trace: by uuid, else by the host's name.
    pub fn of_trace(&self, trace: &Trace) -> Option<&Clock> {
        let id = clock_id(trace)?;
        self.clocks.iter().find(|clock| clock.entry.id == id).or_else(|| {
            // Artefacts of clocks without uuid know them by host name alone.
            let host = hostname(trace)?;
            self.clocks.iter().find(|clock| clock.entry.id == host)
        })
    }

    /// The clock of a host, by its name, by one of the names in its traces, or by its id.
    pub fn of_host(&self, name: &str) -> Option<&Clock> {
        let named = |clock: &&Clock| clock.entry.host == name || clock.entry.id == name;
        self.clocks.iter().find(named).or_else(|| {
            self.clocks.iter().find(|clock| clock.entry.hostnames.iter().any(|host| host == name))
        })
    }
}

impl Clock {
    /// Unix time on the common clock of a raw time.
    pub fn unix_ns(&self, raw: i64) -> i128 {
        i128::from(self.correction.apply(raw)) + i128::from(self.reference_offset_ns)
    }

    /// The reference's raw time for a raw time of this clock. Bounds are known within the traced span.
    pub fn to_reference(&self, raw: i64) -> Converted {
        let time = self.correction.apply(raw);
        match self.interval.at(raw) {
            Some((lo, hi, e95)) => Converted { time, bounds: (Some(lo), Some(hi)), e95: Some(e95) },
            None => Converted { time, bounds: (None, None), e95: None },
        }
    }

    /// This clock's raw time for an instant on the reference: the times whose own bounds meet those given.
    pub fn from_reference(&self, instant: Converted) -> Converted {
        let time = self.correction.invert(instant.time);
        let own = self.interval.at(time).map(|(_, _, e95)| e95);
        let (lo, hi) = instant.bounds;
        Converted {
            time,
            bounds: (lo.and_then(|lo| self.first_not_before(lo)), hi.and_then(|hi| self.last_not_behind(hi))),
            e95: instant.e95.zip(own).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// The first raw time of the traced span that may be at `reference` or later, if the span begins before.
    fn first_not_before(&self, reference: i64) -> Option<i64> {
        let (begin, end) = self.span()?;
        let reaches = |raw: i64| self.interval.at(raw).is_some_and(|(_, hi, _)| hi >= reference);
        (!reaches(begin) && reaches(end)).then(|| partition(begin, end, reaches))
    }

    /// The last raw time of the traced span that may be at `reference` or earlier, if the span ends behind.
    fn last_not_behind(&self, reference: i64) -> Option<i64> {
        let (begin, end) = self.span()?;
        let passes = |raw: i64| self.interval.at(raw).is_some_and(|(lo, _, _)| lo > reference);
        (!passes(begin) && passes(end)).then(|| partition(begin, end, passes) - 1)
    }

    fn span(&self) -> Option<(i64, i64)> {
        let rows = self.interval.rows();
        Some((rows.first()?.raw, rows.last()?.raw))
    }
}

/// The first time in `begin..=end` that a monotone predicate holds for; it holds for `end` and not for `begin`.
fn partition(begin: i64, end: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut no, mut yes) = (begin, end);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}
