//! What was read of a host, and what was missing.

use isochrone_ctf::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::losses::LossKind;

/// So many diagnostics are kept; the others are counted.
const MOST_DIAGNOSTICS: usize = 1000;

/// What was read of some windows. The same for any windows that make up the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReport {
    /// Events.
    pub events: u64,
    /// Times in which something is missing.
    pub losses: u64,
    /// Packets that could not be decoded to their ends.
    pub broken_packets: u64,
    /// Why they could not: of the first ones, in the order of time.
    pub diagnostics: Vec<String>,
}

impl ReadReport {
    /// Counts a loss.
    pub(crate) fn lose(&mut self, what: LossKind) {
        self.losses += 1;
        self.broken_packets += u64::from(what == LossKind::Rest);
    }

    /// Notes why a packet could not be decoded.
    pub(crate) fn note(&mut self, diagnostic: &Diagnostic) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic.to_string());
        }
    }

    /// Adds what was read of the next window.
    pub fn absorb(&mut self, right: Self) {
        self.events += right.events;
        self.losses += right.losses;
        self.broken_packets += right.broken_packets;
        self.diagnostics.extend(right.diagnostics);
        self.diagnostics.truncate(MOST_DIAGNOSTICS);
    }
}
