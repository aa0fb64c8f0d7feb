//! Maps events of Linux to spans: the model of `isochrone-kernel`, for any consumer.

use std::sync::Arc;

use isochrone_hosts::{EventSource, Host, HostEvents, ItemRef, LossKind, Progress, Work};
use isochrone_kernel::{CpuLoss, CpuLossBegin, Decoder, MergeError, PartialState, ProgramLoss, Spans};
use isochrone_periods::Definitions;
use isochrone_time::{RawNs, Window};

use crate::border::Piece;
use crate::piece_merger::PieceModel;
use crate::plan::Plan;
use crate::run::{MapMerge, map_merge};
use crate::surroundings::Surroundings;

/// Maps pieces to [`PartialState`]s.
#[derive(Debug, Clone)]
pub struct SpanMapper<F> {
    make: F,
    lines: bool,
    periods: Option<Arc<Definitions>>,
    has_switches: bool,
    defers_phases: bool,
    work: Option<Arc<Work>>,
}

impl<F> SpanMapper<F> {
    /// With a consumer for each piece.
    pub fn new(make: F) -> Self {
        Self { make, lines: false, periods: None, has_switches: false, defers_phases: false, work: None }
    }

    /// Whether system calls are to be shown as lines, which takes most of the time then.
    #[must_use]
    pub fn lines(self, lines: bool) -> Self {
        Self { lines, ..self }
    }

    /// Whether it was recorded before, in traces that are not open now, which thread runs on the host.
    #[must_use]
    pub fn switches(self, has_switches: bool) -> Self {
        Self { has_switches, ..self }
    }

    /// Whether phases of programs wait until it is known what is missing of them: see
    /// [`PartialState::deferring_phases`].
    #[must_use]
    pub fn deferring_phases(self, defers_phases: bool) -> Self {
        Self { defers_phases, ..self }
    }

    /// The work that this is a part of: when that is stopped, so is the mapping, with the next piece.
    #[must_use]
    pub fn of_work(self, work: Option<Arc<Work>>) -> Self {
        Self { work, ..self }
    }

    /// The definitions of periods that are to be found.
    #[must_use]
    pub fn periods(self, periods: Option<Arc<Definitions>>) -> Self {
        Self { periods, ..self }
    }
}

/// The model of a host: the pieces of a plan, mapped on some threads, with a consumer each that `make` makes,
/// and merged. The result depends neither on the threads nor on the cuts.
///
/// # Errors
/// Two models could not be merged, which does not happen with the pieces of a plan.
pub fn run<S: Spans + Send>(
    host: &Host<'_>,
    plan: &Plan,
    threads: usize,
    make: impl Fn() -> S + Sync,
    progress: Option<Progress<'_>>,
) -> Result<PieceModel<PartialState<S>>, MergeError> {
    map_merge(host, plan, threads, &SpanMapper::new(make), progress)
}

/// What is missing of the events of programs in a window of a host, in the order of time: what
/// [`PartialState::settle_phases`] takes. Linear in the events that the traces have there.
pub fn program_losses(host: &Host<'_>, window: Window<RawNs>) -> Vec<ProgramLoss> {
    let (mut events, mut losses) = (host.read(window), Vec::new());
    let is_of_program = |source: usize| !host.sources()[source].is_kernel;
    while let Some(item) = events.next_ref() {
        match item {
            ItemRef::LossBegin(begin) if is_of_program(begin.loss.source) => {
                losses.push(ProgramLoss::Begins { at: begin.at, to: begin.loss.to });
            }
            ItemRef::Loss(loss) if is_of_program(loss.source) => {
                losses.push(ProgramLoss::Ends { to: loss.to });
            }
            ItemRef::Event { .. } | ItemRef::LossBegin(_) | ItemRef::Loss(_) => {}
        }
    }
    losses
}

/// The decoders of the traces of which events come: those of chunks that are over are dropped, as a session
/// may have thousands.
struct Decoders<'t> {
    /// By trace.
    all: Vec<Option<Decoder<'t>>>,
    /// By trace: when its last stream ends, as far as its packets record that.
    ends: Vec<RawNs>,
    /// The traces that have one.
    open: Vec<usize>,
}

impl<'t> Decoders<'t> {
    fn new(host: &Host<'t>) -> Self {
        let mut all = Vec::new();
        all.resize_with(host.traces().len(), || None);
        let mut ends = vec![RawNs::MIN; all.len()];
        for source in host.sources() {
            let end = &mut ends[source.trace_number];
            *end = (*end).max(source.end().unwrap_or(RawNs::MAX));
        }
        Self { all, ends, open: Vec::new() }
    }

    /// That of the trace of an event.
    #[inline]
    fn of(
        &mut self,
        source: &EventSource<'t>,
        time: RawNs,
        make: impl FnOnce() -> Decoder<'t>,
    ) -> &mut Decoder<'t> {
        let trace = source.trace_number;
        if self.all[trace].is_none() {
            self.drop_ended(time);
            self.open.push(trace);
        }
        self.all[trace].get_or_insert_with(make)
    }

    /// Drops those whose trace ended before an instant. Where an event comes after all, its decoder is made
    /// again.
    #[cold]
    fn drop_ended(&mut self, time: RawNs) {
        let Self { all, ends, open } = self;
        open.retain(|&trace| {
            let is_over = ends[trace] < time;
            if is_over {
                all[trace] = None;
            }
            !is_over
        });
    }
}

impl<S: Spans + Send, F: Fn() -> S + Sync> MapMerge for SpanMapper<F> {
    type Model = PartialState<S>;
    type Error = MergeError;

    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> PartialState<S> {
        let state = PartialState::new(piece.from, (self.make)()).with_periods(self.periods.as_ref());
        let around = Surroundings::of(host, piece.window());
        let state = state.with_switches(around.switch_coverage(self.has_switches));
        let records_switches = host.sources().iter().any(|source| source.is_kernel && source.has_switches);
        let state = state.without_switches(!records_switches && !self.has_switches);
        let mut state = state.deferring_phases(self.defers_phases);
        let mut decoders = Decoders::new(host);
        // Losses of a program's events do not concern what its CPU did, unless there are no other events.
        let has_kernel = around.has_kernel;
        let cpus = &around.cpus;
        for &cpu in cpus {
            state.reference_cpu(cpu);
        }
        for (cpu, is_all) in around.absent() {
            match is_all {
                true => state.missing_cpu(cpu),
                false => state.missing_stream(cpu),
            }
        }
        // Losses of streams whose packets record no CPU may be of any CPU.
        let cpus_of = |source: &EventSource<'_>| match source.cpu {
            Some(cpu) => vec![cpu],
            None if cpus.is_empty() => vec![0],
            None => cpus.iter().copied().collect(),
        };
        while let Some(item) = events.next_ref() {
            match item {
                ItemRef::Event { time, source, event, .. } => {
                    let decoder = decoders.of(source, time, || {
                        let session = host.session_of(source.trace_number);
                        let decoder = Decoder::new(source.trace(), self.lines).of_session(session);
                        decoder.with_periods(self.periods.as_ref(), &host.name)
                    });
                    let decoder = decoder.prepare(event);
                    let context = decoder.context(event, time);
                    if let Some(candidate) = decoder.candidate(event) {
                        state.period_event(&context, candidate);
                    }
                    state.event(&context, decoder.decode(event));
                }
                ItemRef::LossBegin(begin) => {
                    let source = &host.sources()[begin.loss.source];
                    let (at, to) = (begin.at, begin.loss.to);
                    if !source.is_kernel && !self.defers_phases {
                        state.program_loss_begins(at, to);
                    }
                    if source.is_kernel || !has_kernel {
                        // Before a stream begins, no thread is known on its CPU.
                        let is_known = begin.loss.what != LossKind::NotBegun;
                        let has_switches = is_known && (source.has_switches || !has_kernel);
                        for cpu in cpus_of(source) {
                            state.loss_begins(&CpuLossBegin { cpu, at, to, has_switches });
                        }
                    }
                }
                ItemRef::Loss(loss) => {
                    let source = &host.sources()[loss.source];
                    if !source.is_kernel && !self.defers_phases {
                        state.program_lost();
                    }
                    if source.is_kernel || !has_kernel {
                        let mut events = match loss.what {
                            LossKind::Events(count) => Some(count),
                            _ => None,
                        };
                        let has_switches = source.has_switches || !has_kernel;
                        for cpu in cpus_of(source) {
                            // They are counted once.
                            let events = events.take();
                            state.lost(&CpuLoss { cpu, from: loss.from, to: loss.to, events, has_switches });
                        }
                    }
                }
            }
        }
        state.close(piece.to);
        state
    }

    fn gap(&self, _: &Host<'_>, from: RawNs, to: RawNs) -> PartialState<S> {
        PartialState::gap(from, to, (self.make)()).with_periods(self.periods.as_ref())
    }

    fn is_stopped(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_stopped())
    }

    fn merge(&self, left: PartialState<S>, right: PartialState<S>) -> Result<PartialState<S>, MergeError> {
        left.merge(right)
    }
}
