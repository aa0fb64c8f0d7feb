//! `isochrone map` of chunks that are mapped alone, `isochrone merge` and `isochrone analyze` of files of
//! them. The content of a file is in `isochrone_experiment::chunks`.

use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, Options};
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_experiment::chunks::{ChunkError, ChunkHead, Excerpts, head_of, merge_chunks, write_chunks};
use isochrone_experiment::pieces::{Asked, Held, MappedPiece, Pass};
use isochrone_experiment::{Experiment, ModelError, Opened, Question, Spread, TimeBase, reports};
use isochrone_files::output::OutputError;
use isochrone_files::piece::{PieceFile, is_chunks};
use isochrone_timing::{TimedHost, Times, Timing, recorded};

use super::analysis::{add_notes, model_error, options, refuse, report_undecodable, style};
use super::reports::check_scratch;
use super::{answers, host_selection, lami, open};
use crate::arguments::{Analyze, Decides, Merge};
use crate::output::{Console, note};
use crate::render::complaints;
use crate::render::plain::{Plain, plain};

/// Whether files of mapped chunks were named, and nothing else.
///
/// # Errors
/// Files of mapped chunks and other things were named.
pub(super) fn are_named(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| is_chunks(path)) && paths.iter().all(|path| is_chunks(path))
}

/// What files of mapped chunks were mapped for, as the first of them says.
pub(super) fn head(paths: &[PathBuf]) -> anyhow::Result<Option<ChunkHead>> {
    let Some(first) = paths.iter().find(|path| is_chunks(path)) else { return Ok(None) };
    let head = PieceFile::open(first).and_then(|file| head_of(&file));
    head.map(Some).map_err(|error| anyhow::anyhow!("{}", Plain(error)))
}

/// Maps the cores of hosts, makes excerpts of all traces meanwhile, and writes both.
pub(super) fn map<C: Held>(
    experiment: &Experiment<'_>,
    head: &ChunkHead,
    hosts: &[&TimedHost<'_>],
    pass: Pass<'_>,
    map: impl FnOnce(Pass<'_>) -> Vec<Result<Option<MappedPiece<C>>, ModelError>>,
    output: &Path,
    console: &Console,
) -> anyhow::Result<()> {
    let (mapped, excerpts) = Excerpts::beside(experiment, hosts, pass, map);
    let mut pieces = Vec::with_capacity(mapped.len());
    for (mapped, host) in mapped.into_iter().zip(hosts) {
        match mapped.map_err(model_error)? {
            Some(piece) => {
                report_undecodable(&host.traced.name, piece.report(), console);
                pieces.push(piece);
            }
            None => note!(
                console,
                "{}: at no time all of its streams are certain without the chunks beside it: its events are kept as they are",
                plain(host.name())
            ),
        }
    }
    let excerpts = excerpts.map_err(chunk_error)?;
    write_chunks(experiment, head, excerpts, &pieces, output).map_err(chunk_error)
}

/// Merges files of mapped chunks.
pub(super) fn merge(Merge { files, output }: &Merge, console: &Console) -> anyhow::Result<()> {
    merge_chunks(files, output).map_err(chunk_error)?;
    let opened = open(std::slice::from_ref(output), TimeBase::Own, &Console::new(true))?;
    complaints::of_chunks(&opened.experiment(), console);
    Ok(())
}

/// The analyses to ask of mapped chunks for some analyses: all that they were mapped for, where that was not
/// `spans`.
///
/// # Errors
/// They were not mapped for one of them.
pub(super) fn mapped_kinds<'k>(
    kinds: &'k [AnalysisKind],
    head: &'k ChunkHead,
) -> anyhow::Result<&'k [AnalysisKind]> {
    if head.has_spans {
        return Ok(kinds);
    }
    let mapped = &head.asked.kinds;
    if let Some(lacks) = kinds.iter().find(|kind| !mapped.contains(kind)) {
        let mapped: Vec<&str> = mapped.iter().map(|kind| kind.name()).collect();
        anyhow::bail!(
            "the pieces were not mapped for {}; they were mapped for {}",
            lacks.name(),
            mapped.join(", ")
        );
    }
    Ok(mapped)
}

/// Answers `isochrone analyze` from chunks that were mapped for analyses.
pub(super) fn analyse(
    arguments: &Analyze,
    kinds: &[AnalysisKind],
    head: &ChunkHead,
    console: &Console,
) -> anyhow::Result<()> {
    refuse("mapped pieces", arguments, Decides::Kept)?;
    refuse("mapped pieces", arguments, Decides::Traces)?;
    let asked = &head.asked;
    let mapped_kinds = mapped_kinds(kinds, head)?;
    let opened = open(&arguments.traces, base(arguments, asked)?, console)?;
    let experiment = opened.experiment();
    complaints::of_chunks(&experiment, console);
    let hosts = hosts(arguments, &opened, &experiment, console)?;
    host_selection::check_times(asked.times, &hosts)?;
    if arguments.test_compatibility {
        return lami::check_compatible(kinds, &recorded(&hosts));
    }
    let options: Options = asked.options.with_tables_of(&options(arguments));
    let spread = Spread { threads: arguments.threads, pieces: None };
    let question = Question { kinds: mapped_kinds, options: &options, times: asked.times, periods: None };
    let modelled = answers::modelled_with_notes(&question, &hosts, spread, arguments, console)?;
    let mut all = reports(&modelled, &options, spread);
    all.retain(|report| kinds.iter().any(|kind| kind.name() == report.analysis));
    all.sort_by_key(|report| kinds.iter().position(|kind| kind.name() == report.analysis));
    let timings: Vec<(&str, Timing<'_>)> =
        hosts.iter().filter_map(|host| Some((host.name(), host.timing?))).collect();
    add_notes(arguments, &mut all, &recorded(&hosts), &timings);
    style(arguments).print(&all, asked.times.at, hosts.len(), console)?;
    check_scratch(&options.scratch, console)
}

/// On which clocks chunks are shown: those that they were mapped with where times were asked for, else any.
pub(super) fn base(arguments: &Analyze, asked: &Asked) -> anyhow::Result<TimeBase> {
    let is_fixed = asked.times != Times::default();
    if !is_fixed {
        return Ok(arguments.clock.time_base()?);
    }
    anyhow::ensure!(
        arguments.clock.sync.is_none(),
        "--sync: the pieces were mapped for times on other clocks: give it to `isochrone map`"
    );
    match &asked.corrections {
        None => Ok(TimeBase::Own),
        Some(_) if arguments.clock.no_sync => anyhow::bail!(
            "--no-sync: the pieces were mapped for times on common clocks: map them without --sync"
        ),
        Some(text) => Ok(TimeBase::Kept(Clocks::new(&Artefact::from_json(text)?)?)),
    }
}

fn hosts<'e, 'o>(
    arguments: &Analyze,
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    console: &Console,
) -> anyhow::Result<Vec<&'e TimedHost<'o>>> {
    let consequence = host_selection::NOT_COMPARABLE;
    let hosts = host_selection::choose(opened, experiment, &arguments.hosts, consequence, console)?;
    let is_corrected = hosts.iter().any(|host| host.timing.and_then(Timing::clock).is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    Ok(hosts)
}

/// An error, which stays an [`OutputError`] where the file cannot be written.
fn chunk_error(error: ChunkError) -> anyhow::Error {
    match error {
        ChunkError::Output(error) => error.into(),
        ChunkError::Io { path, source } => OutputError::Io { path, cause: source }.into(),
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
