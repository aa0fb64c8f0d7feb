//! Mapping pieces of hosts: for analyses, or for stores.

use std::path::PathBuf;
use std::sync::Arc;

use isochrone_analysis::{AnalysisKind, Options};
use isochrone_hosts::Progress;
use isochrone_kernel::Spans;
use isochrone_kernel::scratch::{Scratch, ScratchError};
use isochrone_pipeline::{Border, Observe, Piece, Plan, SpanLog, nth_piece};
use isochrone_time::UnixNs;
use isochrone_timing::{SOME_STEPS, TimedHost, Timing, step_length};

use super::{Asked, HostFacts, Mapped, MappedPiece};
use crate::model::{ModelError, Spread, Wanted, read};
use crate::question::Question;

/// Which part of each host is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// What does not depend on the chunks before and after its traces: see [`isochrone_hosts::Host::core`].
    Core,
    /// The piece of a number, counted from 1, of so many of nearly equal size in bytes.
    Share {
        /// Which.
        number: usize,
        /// Of how many, at most [`super::MOST_PARTS`].
        of: usize,
    },
    /// A piece of a host's own clock.
    Raw(Piece),
    /// The time between two instants of the requested clock, without the second one.
    Between {
        /// `None`: from the start.
        from: Option<UnixNs>,
        /// `None`: to the end.
        to: Option<UnixNs>,
    },
}

/// What is read of hosts, and how.
#[derive(Clone, Copy)]
pub struct Pass<'p> {
    /// Which part of each.
    pub part: Part,
    /// On how many threads.
    pub spread: Spread,
    /// Gets the bytes that were read.
    pub progress: Option<Progress<'p>>,
    /// Who is given the events, too.
    pub observe: Option<&'p dyn Observe>,
}

impl Pass<'_> {
    /// Of a part, without anybody who follows it.
    pub fn of(part: Part, spread: Spread) -> Self {
        Self { part, spread, progress: None, observe: None }
    }
}

/// A piece in which nothing can be.
const NOTHING: Piece = Piece { from: Border::Begin, to: Border::Begin };

impl Part {
    /// The piece of a host; empty where the host has nothing in that part.
    pub fn of(self, host: &TimedHost<'_>) -> Piece {
        match self {
            Self::Whole => Piece::WHOLE,
            Self::Core => host.traced.core().map_or(NOTHING, Piece::of),
            Self::Raw(piece) => piece,
            Self::Share { number, of } => nth_piece(&host.traced, number, of),
            Self::Between { from, to } => {
                // The first raw time that is not before an instant.
                let first = |unix: UnixNs| host.raw(unix.saturating_sub(1)).map(|raw| raw.saturating_add(1));
                let border = |given: Option<UnixNs>, open| given.and_then(first).map_or(open, Border::At);
                Piece { from: border(from, Border::Begin), to: border(to, Border::End) }
            }
        }
    }
}

impl Question<'_> {
    /// Maps a part of each host: `None` where it is empty. Hosts whose clocks have no correction are errors.
    /// The pieces of any parts that are the whole together give what [`Question::ask`] gives.
    pub fn map(
        &self,
        hosts: &[&TimedHost<'_>],
        pass: Pass<'_>,
    ) -> Vec<Result<Option<MappedPiece>, ModelError>> {
        self.map_after(hosts, pass, false)
    }

    /// The same of hosts whose earlier traces are not open any more: whether these recorded which threads
    /// run.
    pub(crate) fn map_after(
        &self,
        hosts: &[&TimedHost<'_>],
        pass: Pass<'_>,
        has_switches: bool,
    ) -> Vec<Result<Option<MappedPiece>, ModelError>> {
        let wanted = Wanted { has_switches, defers_phases: pass.part == Part::Core, ..self.wanted() };
        // Steps of time are those of all hosts, whatever is read of them here.
        match self.sets(hosts) {
            Ok(make) => map(hosts, pass, &wanted, make, |_| Vec::new()),
            Err(count) => hosts.iter().map(|_| Err(ModelError::TooManySteps(count))).collect(),
        }
    }

    /// What pieces say that they were mapped for.
    pub fn asked(&self, hosts: &[&TimedHost<'_>], corrections: Option<String>) -> Asked {
        let mut options: Options = self.options.of_mapping();
        // Where nobody says how long steps are, it follows from the hosts that are looked at together.
        options.every_ns = self
            .kinds
            .contains(&AnalysisKind::Usage)
            .then(|| step_length(self.options.every_ns, self.times, hosts.iter().copied(), SOME_STEPS));
        let (kinds, times) = (self.kinds.to_vec(), self.times);
        Asked { kinds, options, times, corrections, keeps_all: false, periods: None }
    }
}

/// Maps a part of each host with all its spans: `None` where it is empty. The store of the pieces of any
/// parts that are the whole together is that of the traces. `asked`: [`Asked::spans`], with or without the
/// arguments of calls; `captures`: what was named beside the traces; `scratch`: where spans go that are too
/// many for memory.
pub fn map_spans(
    asked: &Asked,
    hosts: &[&TimedHost<'_>],
    captures: &[PathBuf],
    pass: Pass<'_>,
    scratch: &Scratch,
) -> Vec<Result<Option<MappedPiece<SpanLog>>, ModelError>> {
    let traces = |host: &TimedHost<'_>| {
        let traces = host.traced.traces().iter().map(|trace| trace.path());
        let all = traces.chain(captures.iter().map(PathBuf::as_path));
        let mut all: Vec<PathBuf> =
            all.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (lines, defers_phases) = (asked.has_arguments(), pass.part == Part::Core);
    let periods = asked.periods.clone().map(Arc::new);
    let wanted = Wanted { lines, periods, defers_phases, ..Wanted::default() };
    let mapped = map(hosts, pass, &wanted, |_, _| || SpanLog::new(scratch), traces);
    // A piece from which something is missing is none.
    let whole = |(host, piece): (&&TimedHost<'_>, _)| match scratch.failed() {
        Some(source @ ScratchError::Read(_)) => {
            Err(ModelError::Scratch { host: host.name().to_owned(), source })
        }
        Some(ScratchError::Write(_)) | None => piece,
    };
    hosts.iter().zip(mapped).map(whole).collect()
}

fn map<'o, C: Spans + Send, F: Fn() -> C + Sync>(
    hosts: &[&TimedHost<'o>],
    Pass { part, spread, progress, observe }: Pass<'_>,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    traces: impl Fn(&TimedHost<'o>) -> Vec<PathBuf>,
) -> Vec<Result<Option<MappedPiece<C>>, ModelError>> {
    let threads = spread.threads();
    let plan = |host: &&TimedHost<'_>| Plan::of_piece(&host.traced, part.of(host), threads);
    let plans: Vec<Option<Plan>> = hosts.iter().map(|host| host.timing.and_then(|_| plan(host))).collect();
    let chosen = hosts.iter().zip(&plans).filter(|(_, plan)| plan.is_some());
    let chosen: Vec<&TimedHost<'o>> = chosen.map(|(host, _)| *host).collect();
    let present: Vec<bool> = plans.iter().map(Option::is_some).collect();
    let keep = |part: Mapped<C>| part;
    let plans = plans.into_iter().flatten().collect();
    let mut parts = read(&chosen, plans, (threads, observe), wanted, make, keep, progress).into_iter();
    let one = |(host, is_present): (&&TimedHost<'o>, bool)| {
        host.timing.ok_or_else(|| ModelError::Uncorrected(host.name().to_owned()))?;
        let Some(part) = is_present.then(|| parts.next()).flatten() else { return Ok(None) };
        Ok(Some(MappedPiece { facts: HostFacts::of(host), traces: traces(host), part: part? }))
    };
    hosts.iter().zip(present).map(one).collect()
}
