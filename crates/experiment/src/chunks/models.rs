//! Models of hosts: of their traces, or of their mapped chunks, whose cores are taken from the files.

use std::sync::Arc;

use isochrone_hosts::{Host, HostEvents, Progress, ReadReport, Work};
use isochrone_kernel::{Finished, MergeError, Spans, WithThreads};
use isochrone_periods::Definitions;
use isochrone_pipeline::{Job, MapMerge, Piece, PieceModel, SpanLog, SpanMapper, map_merge_all};
use isochrone_time::RawNs;
use isochrone_timing::{TimedHost, Timing};

use super::chunks_of;
use super::cores::Taken;
use crate::model::{Model, ModelError, ModelledHost, Spread, Wanted, of_traces};
use crate::pieces::Held;

/// Reads hosts, and gives what was heard of each, in their order: `make` makes for each of them what makes a
/// consumer for each piece of its trace. A host without a [`timing`](TimedHost::timing) is not read.
/// `progress` gets the bytes that were read; the sum of [`HostContext::bytes`](isochrone_hosts::Host::bytes)
/// is all.
///
/// One pool of threads takes the pieces of all hosts from one queue, see
/// [`isochrone_pipeline::map_merge_all`]. Results do not depend on the spread.
///
/// ```
/// use isochrone_experiment::{Inputs, Opened, Spread, Wanted, model};
/// # use isochrone_testkit::{Cluster, Family};
/// # let directory = tempfile::tempdir()?;
/// # Cluster::chain(2).messages(10).seconds(1).write(directory.path(), Family::IPV4)?;
/// # let paths = [directory.path().to_owned()];
/// let opened = Opened::unsynchronized(Inputs::open(&paths));
/// let experiment = opened.experiment();
/// let all = experiment.select(&[])?.hosts;
/// // A consumer that hears nothing: only the threads are of interest.
/// for host in model(&all, Spread::default(), &Wanted::default(), |_, _| || (), None) {
///     let host = host?;
///     println!("{} threads in {} events", host.model.threads.iter().count(), host.report.events);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn model<'o, S: Spans + Send, F: Fn() -> S + Sync>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    progress: Option<Progress<'_>>,
) -> Vec<Result<ModelledHost<'o, S>, ModelError>> {
    let timed = hosts.iter().filter(|host| host.timing.is_some()).copied();
    let (chunked, traced): (Vec<_>, Vec<_>) = timed.partition(|host| chunks_of(host).is_some());
    let mut chunked = of_chunks(&chunked, spread, wanted, &make, progress).into_iter();
    let mut traced = of_traces(&traced, spread, wanted, make, progress).into_iter();
    let one = |host: &&TimedHost<'o>| {
        let uncorrected = || ModelError::Uncorrected(host.name().to_owned());
        let timing = host.timing.ok_or_else(uncorrected)?;
        // There is one for each host that has a timing, in the order of the hosts.
        let model = if chunks_of(host).is_some() { chunked.next() } else { traced.next() };
        Ok(ModelledHost::new(host, timing, model.ok_or_else(uncorrected)??))
    };
    hosts.iter().map(one).collect()
}

/// Why calls cannot be shown as lines.
const NO_LINES: &str =
    "the arguments of system calls are in its traces, not in its mapped chunks: map `spans,syscalls`";

/// Why periods cannot be found.
const NO_PERIODS: &str = "periods are found while its chunks are mapped: give the same --period (and \
                          --period-captures) to `isochrone map spans`";

/// Why periods cannot be found.
const HIDDEN_PERIODS: &str = "events of programs are missing, and its mapped chunks do not say which periods \
                              these may have been in: give its traces";

/// Whether events of programs are missing. Those of the kernel are known where a chunk is mapped, with what
/// they hide.
fn lacks_program_events(host: &Host<'_>) -> bool {
    let is_of_program = |source: usize| !host.sources()[source].is_kernel;
    let mut losses = host.losses().iter().chain(host.uncovered());
    let has_gap = || !host.gaps().is_empty() && (0..host.sources().len()).any(is_of_program);
    host.has_kernel() && (losses.any(|loss| loss.what.is_loss() && is_of_program(loss.source)) || has_gap())
}

/// The models of hosts whose chunks were mapped with their spans, all of which have a timing, in their order.
fn of_chunks<'o, S: Spans + Send, F: Fn() -> S + Sync>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    wanted: &Wanted,
    make: &impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    progress: Option<Progress<'_>>,
) -> Vec<Result<(Finished<S>, ReadReport), ModelError>> {
    let error = |host: &TimedHost<'_>, why: &str| ModelError::Chunks {
        host: host.name().to_owned(),
        why: why.to_owned(),
    };
    let heads = || hosts.iter().filter_map(|host| chunks_of(host)?.head());
    let asks_for =
        |periods: &Arc<Definitions>| heads().all(|head| head.asked.periods.as_ref() == Some(&**periods));
    let refused = match () {
        () if !heads().all(|head| head.has_spans) => {
            Some("its chunks were mapped for analyses, not for `spans`")
        }
        () if wanted.lines && !heads().all(|head| head.asked.has_arguments()) => Some(NO_LINES),
        () if wanted.periods.as_ref().is_some_and(|periods| !asks_for(periods)) => Some(NO_PERIODS),
        () if wanted.periods.is_some() && hosts.iter().any(|host| lacks_program_events(&host.traced)) => {
            Some(HIDDEN_PERIODS)
        }
        () => None,
    };
    if let Some(why) = refused {
        return hosts.iter().map(|host| Err(error(host, why))).collect();
    }
    let make_log = |_: &TimedHost<'o>, _| SpanLog::default;
    let parts = read_chunks((hosts, Piece::WHOLE), spread.threads(), wanted, make_log, progress);
    let one = |(part, host): (Result<PieceModel<Model<SpanLog>>, ModelError>, &&TimedHost<'o>)| {
        let PieceModel { model, report, .. } = part?;
        if wanted.periods.is_some() && host.traced.has_kernel() && report.broken_packets > 0 {
            return Err(error(host, HIDDEN_PERIODS));
        }
        let timing = host.timing.ok_or_else(|| ModelError::Uncorrected(host.name().to_owned()))?;
        let consumer = make(host, timing);
        let model = model.finish().with_threads().try_with_spans(|log| log.replay(consumer));
        Ok((model.map_err(|damaged| error(host, &damaged.to_string()))?, report))
    };
    parts.into_iter().zip(hosts).map(one).collect()
}

/// Hosts of chunks that were mapped for some analyses, in their order: as [`model`] gives them of their
/// traces.
pub(crate) fn modelled<'o, C: Held, F: Fn() -> C + Sync>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    progress: Option<Progress<'_>>,
) -> Vec<Result<ModelledHost<'o, C>, ModelError>> {
    let timed: Vec<&TimedHost<'o>> = hosts.iter().filter(|host| host.timing.is_some()).copied().collect();
    let mut parts = read_chunks((&timed, Piece::WHOLE), spread.threads(), wanted, make, progress).into_iter();
    let one = |host: &&TimedHost<'o>| {
        let uncorrected = || ModelError::Uncorrected(host.name().to_owned());
        let timing = host.timing.ok_or_else(uncorrected)?;
        let part = parts.next().ok_or_else(uncorrected)??;
        Ok(ModelledHost::of_pieces(host.name().to_owned(), timing, host.recorded().lacking(), part))
    };
    hosts.iter().map(one).collect()
}

/// Maps a piece of a host of chunks that were mapped with their spans, or for the same analyses. `None` where
/// it is empty.
pub(crate) fn map_piece<'o, C: Held, F: Fn() -> C + Sync>(
    host: &TimedHost<'o>,
    piece: Piece,
    threads: usize,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
) -> Result<Option<PieceModel<Model<C>>>, ModelError> {
    let head = chunks_of(host).and_then(|chunks| chunks.head());
    if wanted.lines && head.is_some_and(|head| head.has_spans && !head.asked.has_arguments()) {
        return Err(ModelError::Chunks { host: host.name().to_owned(), why: NO_LINES.to_owned() });
    }
    read_chunks((&[host], piece), threads, wanted, make, None).pop().transpose()
}

/// The models of a piece of hosts of mapped chunks, all of which have a timing, with the consumer that they
/// were mapped with, or made of their spans: cores are taken from the files, and what lies between them is
/// mapped from excerpts. Hosts of which the piece is empty are left out.
fn read_chunks<'o, C: Held, F: Fn() -> C + Sync>(
    (hosts, piece): (&[&TimedHost<'o>], Piece),
    threads: usize,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    progress: Option<Progress<'_>>,
) -> Vec<Result<PieceModel<Model<C>>, ModelError>> {
    let error = |host: &TimedHost<'_>, why| ModelError::Chunks { host: host.name().to_owned(), why };
    let (mut jobs, mut read) = (Vec::with_capacity(hosts.len()), Vec::with_capacity(hosts.len()));
    for host in hosts {
        let (Some(timing), Some(chunks)) = (host.timing, chunks_of(host)) else { continue };
        if let Some(why) = chunks.error() {
            return hosts.iter().map(|host| Err(error(host, why.to_owned()))).collect();
        }
        let consumer = make(host, timing);
        let make = move || WithThreads::new(consumer());
        let Some(plan) = chunks.plan(&host.traced, piece) else { continue };
        let Wanted { lines, has_switches, .. } = *wanted;
        // Those that the chunks were mapped with, whether they are of interest or not.
        let periods = chunks.head().and_then(|head| head.asked.periods.clone()).map(Arc::new);
        let (cores, work) = (chunks.take::<C>(&host.traced), wanted.work.clone());
        let mapper = CoreMapper { make, lines, has_switches, periods, cores, work };
        jobs.push(Job { host: &host.traced, plan, mapper });
        read.push(*host);
    }
    let parts = map_merge_all(&jobs, threads, |_, part| part, progress);
    let is_stopped = wanted.is_stopped();
    let named = |((part, job), host): ((Result<_, MergeError>, Job<'_, '_, CoreMapper<'_, _, C>>), _)| {
        let host: &TimedHost<'_> = host;
        if is_stopped {
            return Err(ModelError::Stopped(host.name().to_owned()));
        }
        let part = part.map_err(|source| ModelError::Merge { host: host.name().to_owned(), source })?;
        job.mapper.cores.into_error().map_or(Ok(part), |why| Err(error(host, why)))
    };
    parts.into_iter().zip(jobs).zip(read).map(named).collect()
}

/// Maps what lies between the cores of chunks, and takes the cores as they were mapped.
struct CoreMapper<'c, F, C> {
    make: F,
    lines: bool,
    /// See [`Wanted::has_switches`].
    has_switches: bool,
    periods: Option<Arc<Definitions>>,
    cores: Taken<'c, C>,
    work: Option<Arc<Work>>,
}

impl<C: Held, F: Fn() -> WithThreads<C> + Sync> CoreMapper<'_, F, C> {
    fn spans(&self) -> SpanMapper<&F> {
        let mapper = SpanMapper::new(&self.make).lines(self.lines).switches(self.has_switches);
        mapper.periods(self.periods.clone())
    }
}

impl<C: Held, F: Fn() -> WithThreads<C> + Sync> MapMerge for CoreMapper<'_, F, C> {
    type Model = Model<C>;
    type Error = MergeError;

    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> Model<C> {
        self.spans().map(host, piece, events)
    }

    fn gap(&self, host: &Host<'_>, from: RawNs, to: RawNs) -> Model<C> {
        self.spans().gap(host, from, to)
    }

    fn mapped(&self, host: &Host<'_>, piece: Piece) -> Option<PieceModel<Model<C>>> {
        self.cores.of_piece(host, piece, &self.make)
    }

    fn is_stopped(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_stopped())
    }

    fn merge(&self, left: Model<C>, right: Model<C>) -> Result<Model<C>, MergeError> {
        left.merge(right)
    }
}
