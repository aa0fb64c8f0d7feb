//! The periods of hosts, in a pass of their own: for those who need to know when they were before they read.

use std::sync::Arc;

use isochrone_analysis::Note;
use isochrone_hosts::Progress;
use isochrone_kernel::{Period, PeriodTally, Spans, ThreadAliases};
use isochrone_periods::Definitions;
use isochrone_timing::TimedHost;

use crate::chunks::model;
use crate::model::{ModelError, ModelledHost, Spread, Wanted};

/// All periods of a host.
#[derive(Debug, Default)]
pub struct PeriodLog(Vec<Period>);

impl PeriodLog {
    /// The periods, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Period> {
        self.0.iter()
    }
}

impl Spans for PeriodLog {
    fn period(&mut self, period: &Period) {
        self.0.push(period.clone());
    }

    fn wants_files(&self) -> bool {
        false
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.0.iter_mut().for_each(|period| aliases.change(&mut period.thread));
    }

    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
    }
}

/// Reads hosts for their periods alone: see [`model()`]. All periods are kept.
pub fn periods<'o>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    definitions: &Arc<Definitions>,
    progress: Option<Progress<'_>>,
) -> Vec<Result<ModelledHost<'o, PeriodLog>, ModelError>> {
    let wanted = Wanted { periods: Some(Arc::clone(definitions)), ..Wanted::default() };
    model(hosts, spread, &wanted, |_, _| PeriodLog::default, progress)
}

/// What is to be said of the periods of a host that have no end, or that events are missing of.
pub fn unfinished(host: &str, tallies: &[PeriodTally]) -> Vec<Note> {
    let note = |count: u64, name: &str, what: &str| {
        (count > 0).then(|| Note::default().text(&format!("{host}: periods `{name}` {what}: {count}")))
    };
    let notes = tallies.iter().flat_map(|tally| {
        [
            note(tally.open, &tally.name, "without an end in the traces"),
            note(tally.lost, &tally.name, "left out because events may be missing between their ends"),
            note(tally.refused, &tally.name, "left out because too many were open at once"),
        ]
    });
    notes.flatten().collect()
}
