//! Analyses within periods: what counts is what lies in one of the periods of a name, and each name has rows
//! of its own.
//!
//! Periods that overlap count once. Two passes: the first finds the periods ([`crate::periods()`]), the
//! second asks all analyses within the periods of each name.

use std::collections::BTreeMap;

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Intervals, Report};
use isochrone_hosts::Progress;
use isochrone_kernel::{Spans, ThreadAliases, span_kinds};
use isochrone_time::Window;
use isochrone_timing::{TimedHost, Timing, share_a_clock};

use crate::chunks::model;
use crate::model::{ModelError, ModelledHost, Spread, Wanted};
use crate::periods::PeriodLog;
use crate::question::Question;

/// What analyses collected of a host within the periods of each name, in the order of the definitions.
#[derive(Debug)]
pub struct ByPeriod(Vec<AnalysisSet>);

macro_rules! pass_on {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for ByPeriod {
            $(fn $method(&mut self, it: &$Type) {
                self.0.iter_mut().for_each(|set| set.$method(it));
            })*

            fn wants_files(&self) -> bool {
                self.0.iter().any(Spans::wants_files)
            }

            fn wants_threads(&self) -> bool {
                self.0.iter().any(Spans::wants_threads)
            }

            fn rename(&mut self, aliases: &ThreadAliases) {
                self.0.iter_mut().for_each(|set| set.rename(aliases));
            }

            fn absorb(&mut self, right: Self) {
                self.0.iter_mut().zip(right.0).for_each(|(left, right)| left.absorb(right));
            }
        }
    };
}

span_kinds!(pass_on);

/// Reads hosts once, and gives what the analyses heard of each within its periods: see [`model()`].
/// `periods`: of each host; `names`: of the definitions.
pub fn ask_within<'o>(
    question: &Question<'_>,
    hosts: &[&TimedHost<'o>],
    periods: &[ModelledHost<'o, PeriodLog>],
    names: &[&str],
    spread: Spread,
    progress: Option<Progress<'_>>,
) -> Vec<Result<ModelledHost<'o, ByPeriod>, ModelError>> {
    let of_host = |periods: &ModelledHost<'o, PeriodLog>| -> Vec<Intervals> {
        let of_name = |name: &&str| {
            let all = periods.model.spans.iter().filter(|period| period.name == **name);
            all.map(|period| Window::new(period.begin, period.end)).collect()
        };
        names.iter().map(of_name).collect()
    };
    let of_hosts: BTreeMap<&str, Vec<Intervals>> = hosts
        .iter()
        .zip(periods)
        .map(|(host, periods)| (host.traced.id.as_str(), of_host(periods)))
        .collect();
    let make = |host: &TimedHost<'o>, timing: Timing<'o>| {
        let when = question.times.on(timing);
        let within = of_hosts.get(host.traced.id.as_str()).cloned().unwrap_or_default();
        move || {
            let set = |within: &Intervals| {
                AnalysisSet::new(question.kinds, question.options, when).within(within.clone())
            };
            ByPeriod(within.iter().map(set).collect())
        }
    };
    let lines = question.kinds.contains(&AnalysisKind::Syscalls);
    model(hosts, spread, &Wanted { lines, ..Wanted::default() }, make, progress)
}

/// The tables of all analyses that were asked for, over all hosts: the first column says which period.
pub fn reports_within(
    hosts: &[ModelledHost<'_, ByPeriod>],
    question: &Question<'_>,
    names: &[&str],
) -> Vec<Report> {
    let is_synchronized = share_a_clock(hosts.iter().map(|host| host.timing().clock()));
    let mut all: Vec<Report> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let sets: Vec<(&dyn HostContext, &AnalysisSet)> = hosts
            .iter()
            .filter_map(|host| Some((host as &dyn HostContext, host.model.spans.0.get(place)?)))
            .collect();
        let reports = isochrone_analysis::reports(&sets, question.options, is_synchronized);
        for report in reports.into_iter().map(|report| report.of_period(name)) {
            match all.iter_mut().find(|known| known.analysis == report.analysis) {
                Some(known) => known.append(report),
                None => all.push(report),
            }
        }
    }
    all
}
