//! The mapper that makes spans of the events of Linux: the model of `isochrone-kernel`, whoever listens.

use isochrone_hosts::{Host, HostEvents, Lacking, Place, Progress};
use isochrone_kernel::{Chunk, Decoder, Loss, LossBegin, MergeError, Spans, Time};

use crate::assembly::Part;
use crate::border::Piece;
use crate::plan::Plan;
use crate::run::{Mapper, map_merge};

/// Maps pieces to [`Chunk`]s.
#[derive(Debug, Clone, Copy)]
pub struct ToSpans<F> {
    make: F,
    lines: bool,
}

impl<F> ToSpans<F> {
    /// With a consumer for each piece.
    pub fn new(make: F) -> Self {
        Self { make, lines: false }
    }

    /// Whether system calls are to be shown as lines, which takes most of the time then.
    #[must_use]
    pub fn lines(self, lines: bool) -> Self {
        Self { lines, ..self }
    }
}

/// The model of a host: the pieces of a plan, mapped on so many threads, with a consumer each that `make` makes, and merged. The
/// result depends neither on the threads nor on the cuts.
///
/// # Errors
/// Two models could not be merged, which does not happen with the pieces of a plan.
pub fn run<S: Spans + Send>(
    host: &Host<'_>,
    plan: &Plan,
    threads: usize,
    make: impl Fn() -> S + Sync,
    progress: Option<Progress<'_>>,
) -> Result<Part<Chunk<S>>, MergeError> {
    map_merge(host, plan, threads, &ToSpans::new(make), progress)
}

impl<S: Spans + Send, F: Fn() -> S + Sync> Mapper for ToSpans<F> {
    type Model = Chunk<S>;
    type Error = MergeError;

    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> Chunk<S> {
        let mut chunk = Chunk::new(piece.from, (self.make)());
        // By trace. Most pieces of a rotated session have events of two chunks only.
        let mut decoders: Vec<Option<Decoder<'t>>> = Vec::new();
        decoders.resize_with(host.traces().len(), || None);
        // What is lost of a program's events says nothing of what its CPU did; where there is nothing else, it counts.
        let has_kernel = host.has_kernel();
        host.absent_cpus().iter().for_each(|&cpu| chunk.lacks_cpu(cpu));
        while let Some(place) = events.next_place() {
            match place {
                Place::Event { time, source, event, .. } => {
                    let decoder = decoders[source.trace_number]
                        .get_or_insert_with(|| Decoder::new(source.trace(), self.lines));
                    let known = decoder.know(event);
                    chunk.event(&known.moment(event, time), known.happening(event));
                }
                Place::LossBegin(begin) => {
                    let source = &host.sources()[begin.loss.source];
                    let (at, to) = (begin.at, begin.loss.to);
                    if !source.is_kernel {
                        chunk.program_loss_begins(at, to);
                    }
                    if source.is_kernel || !has_kernel {
                        chunk.loss_begins(&LossBegin { cpu: source.cpu.unwrap_or(0), at, to });
                    }
                }
                Place::Loss(loss) => {
                    let source = &host.sources()[loss.source];
                    if !source.is_kernel {
                        chunk.program_lost();
                    }
                    if source.is_kernel || !has_kernel {
                        let events = match loss.what {
                            Lacking::Events(count) => Some(count),
                            _ => None,
                        };
                        let cpu = source.cpu.unwrap_or(0);
                        chunk.lost(&Loss { cpu, from: loss.from, to: loss.to, events });
                    }
                }
            }
        }
        chunk.close(piece.to);
        chunk
    }

    fn gap(&self, _: &Host<'_>, from: Time, to: Time) -> Chunk<S> {
        Chunk::gap(from, to, (self.make)())
    }

    fn merge(&self, left: Chunk<S>, right: Chunk<S>) -> Result<Chunk<S>, MergeError> {
        left.merge(right)
    }
}
