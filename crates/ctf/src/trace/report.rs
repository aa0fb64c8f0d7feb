//! What is known of a trace beside its metadata and packets.

use std::collections::BTreeMap;

use isochrone_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::Trace;
use super::missing::{MissingFile, Proven};

/// What the files and indexes of a trace show beside its packets: what is wrong with them, and the packets
/// that indexes list and that are not there. An excerpt has neither the indexes nor the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    diagnostics: Vec<Diagnostic>,
    /// By index of the stream.
    absent: BTreeMap<usize, Vec<Proven>>,
    missing: Vec<MissingFile>,
}

impl Trace {
    /// What its files and indexes show beside its packets. Linear in that.
    pub fn report(&self) -> TraceReport {
        let Self { diagnostics, absent, missing, .. } = self;
        let (diagnostics, absent, missing) = (diagnostics.clone(), absent.clone(), missing.clone());
        TraceReport { diagnostics, absent, missing }
    }

    /// The same trace with the report of another one that has the same streams, of which it is an excerpt.
    /// `None` where the report names a stream that it has not.
    #[must_use]
    pub fn with_report(self, report: TraceReport) -> Option<Self> {
        let TraceReport { diagnostics, absent, missing } = report;
        let named = missing.iter().filter_map(|file| file.stream).chain(absent.keys().copied());
        let are_there = named.max().is_none_or(|last| last < self.streams().len());
        are_there.then_some(Self { diagnostics, absent, missing, ..self })
    }
}
