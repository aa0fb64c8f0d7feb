//! Analyses of an experiment: which are asked for, with what options, of what time.

use std::sync::Arc;

use isochrone_analysis::{AnalysisKind, AnalysisSet, Answers, HostContext, Options, Report};
use isochrone_hosts::{Progress, Work};
use isochrone_periods::Definitions;
use isochrone_pipeline::{Piece, PieceModel, map_in_order};
use isochrone_timing::{
    SOME_STEPS, TimedHost, Times, Timing, TooManySteps, share_a_clock, step_length, steps,
};

use crate::chunks::chunks_of;
use crate::chunks::{map_piece, model, modelled};
use crate::model::{Model, ModelError, ModelledHost, Spread, Wanted};

/// What is asked of an experiment. All analyses take one pass together.
#[derive(Debug, Clone)]
pub struct Question<'q> {
    /// Which analyses.
    pub kinds: &'q [AnalysisKind],
    /// What they are asked.
    pub options: &'q Options,
    /// Of which time.
    pub times: Times,
    /// The periods that analyses of periods are about; none: the phases of programs.
    pub periods: Option<Arc<Definitions>>,
}

impl Question<'_> {
    /// Reads hosts once, and gives what the analyses heard of each: see [`model`].
    pub fn ask<'o>(
        &self,
        hosts: &[&TimedHost<'o>],
        spread: Spread,
        progress: Option<Progress<'_>>,
    ) -> Vec<Result<ModelledHost<'o, AnalysisSet>, ModelError>> {
        self.ask_wanted(hosts, spread, &self.wanted(), progress)
    }

    /// As [`Self::ask`], for somebody who may leave meanwhile: the work knows how many bytes of events are
    /// read. Where it is stopped, no host has a model.
    pub fn ask_for<'o>(
        &self,
        hosts: &[&TimedHost<'o>],
        spread: Spread,
        work: &Arc<Work>,
    ) -> Vec<Result<ModelledHost<'o, AnalysisSet>, ModelError>> {
        work.expect(hosts.iter().map(|host| host.traced.bytes()).sum());
        let wanted = Wanted { work: Some(Arc::clone(work)), ..self.wanted() };
        self.ask_wanted(hosts, spread, &wanted, Some(&|bytes| work.add(bytes)))
    }

    fn ask_wanted<'o>(
        &self,
        hosts: &[&TimedHost<'o>],
        spread: Spread,
        wanted: &Wanted,
        progress: Option<Progress<'_>>,
    ) -> Vec<Result<ModelledHost<'o, AnalysisSet>, ModelError>> {
        match self.sets(hosts) {
            Ok(make) if self.is_mapped(hosts) => modelled(hosts, spread, wanted, make, progress),
            Ok(make) => model(hosts, spread, wanted, make, progress),
            Err(count) => hosts.iter().map(|_| Err(ModelError::TooManySteps(count))).collect(),
        }
    }

    /// Maps a piece of a host of mapped chunks, whose earlier chunks are not open any more: whether these
    /// recorded which threads run. `None` where the piece is empty.
    pub(crate) fn map_chunks(
        &self,
        host: &TimedHost<'_>,
        piece: Piece,
        (spread, has_switches): (Spread, bool),
    ) -> Result<Option<PieceModel<Model<AnalysisSet>>>, ModelError> {
        let wanted = Wanted { has_switches, ..self.wanted() };
        map_piece(host, piece, spread.threads(), &wanted, self.sets(&[host])?)
    }

    /// Whether all hosts are of chunks that were mapped for this question.
    fn is_mapped(&self, hosts: &[&TimedHost<'_>]) -> bool {
        let asked = |host: &&TimedHost<'_>| {
            let head = chunks_of(host)?.head()?;
            (!head.has_spans).then_some(head.asked.kinds == self.kinds && head.asked.times == self.times)
        };
        self.periods.is_none() && hosts.iter().all(|host| asked(host) == Some(true))
    }

    /// What makes the sets of analyses of each host.
    ///
    /// # Errors
    /// The time of a host would be cut into too many steps.
    pub(crate) fn sets<'q, 'o>(
        &'q self,
        hosts: &[&TimedHost<'o>],
    ) -> Result<impl Fn(&TimedHost<'o>, Timing<'o>) -> SetMaker<'q> + 'q, TooManySteps> {
        let every = step_length(self.options.every_ns, self.times, hosts.iter().copied(), SOME_STEPS);
        let of_host = move |host: &TimedHost<'o>, timing| steps(every, self.times, host, timing);
        if self.kinds.contains(&AnalysisKind::Usage) {
            let counts = hosts.iter().filter_map(|host| of_host(host, host.timing?).err());
            if let Some(count) = counts.max() {
                return Err(count);
            }
        }
        Ok(move |host: &TimedHost<'o>, timing: Timing<'o>| -> SetMaker<'q> {
            let (when, steps) = (self.times.on(timing), of_host(host, timing).unwrap_or_default());
            Box::new(move || {
                let mut set = AnalysisSet::new(self.kinds, self.options, when);
                set.set_steps(&steps);
                set
            })
        })
    }

    /// What is wanted of hosts for it.
    pub(crate) fn wanted(&self) -> Wanted {
        let lines = self.kinds.contains(&AnalysisKind::Syscalls);
        Wanted { lines, periods: self.periods.clone(), ..Wanted::default() }
    }
}

/// Makes a set of analyses for each piece of a host.
pub(crate) type SetMaker<'q> = Box<dyn Fn() -> AnalysisSet + Sync + 'q>;

/// The tables of all analyses that were asked for, over all hosts: those of several analyses at a time.
pub fn reports(hosts: &[ModelledHost<'_, AnalysisSet>], options: &Options, spread: Spread) -> Vec<Report> {
    let is_synchronized = share_a_clock(hosts.iter().map(|host| host.timing().clock()));
    let hosts: Vec<(&dyn HostContext, &AnalysisSet)> =
        hosts.iter().map(|host| (host as &dyn HostContext, &host.model.spans)).collect();
    let answers = Answers::new(&hosts, options, is_synchronized);
    map_in_order(answers.kinds().to_vec(), spread.threads(), |kind| answers.report(kind))
}
