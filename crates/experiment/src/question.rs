//! Analyses of an experiment: which are asked for, with what options, of what time.

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Options, Report};
use isochrone_hosts::Progress;

use crate::experiment::{TimedHost, share_a_clock};
use crate::model::{ModelError, ModelledHost, Spread, model};
use crate::stamp::Timing;
use crate::window::Times;

/// What is asked of an experiment. All analyses take one pass together.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// Which analyses.
    pub kinds: &'q [AnalysisKind],
    /// What they are asked.
    pub options: &'q Options,
    /// Of which time.
    pub times: Times,
}

impl Question<'_> {
    /// Reads hosts once, and gives what the analyses heard of each: see [`model`].
    pub fn ask<'o>(
        self,
        hosts: &[&TimedHost<'o>],
        spread: Spread,
        progress: Option<Progress<'_>>,
    ) -> Vec<Result<ModelledHost<'o, AnalysisSet>, ModelError>> {
        let make = |_: &TimedHost<'o>, timing: Timing<'o>| {
            let when = self.times.on(timing);
            move || AnalysisSet::new(self.kinds, self.options, when)
        };
        model(hosts, spread, self.kinds.contains(&AnalysisKind::Syscalls), make, progress)
    }
}

/// The tables of all analyses that were asked for, over all hosts.
pub fn reports(hosts: &[ModelledHost<'_, AnalysisSet>], options: &Options) -> Vec<Report> {
    let is_synchronized = share_a_clock(hosts.iter().map(|host| host.timing().clock()));
    let hosts: Vec<(&dyn HostContext, &AnalysisSet)> =
        hosts.iter().map(|host| (host as &dyn HostContext, &host.model.spans)).collect();
    isochrone_analysis::reports(&hosts, options, is_synchronized)
}
