//! `isochrone map` and `isochrone merge`, and `isochrone analyze` of mapped pieces: traces are read in one
//! process, and tables made in another. The content of a file is in `isochrone_experiment::pieces`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Recorded};
use isochrone_corrections::Clocks;
use isochrone_experiment::chunks::ChunkHead;
use isochrone_experiment::pieces::{
    Asked, Held, HostFacts, MappedPiece, Part, Pass, PieceSet, holds_spans, map_spans, traces_of_spans,
};
use isochrone_experiment::{
    ModelError, ModelledHost, Question, Spread, TimeBase, read_clocks, read_corrections, reports, scratch,
};
use isochrone_files::piece::is_chunks;
use isochrone_pipeline::SpanLog;
use isochrone_pipeline::piece_file::is_piece;
use isochrone_timing::{TimedHost, Times, Timing, check_names};

use super::analysis::{
    SPANS, add_notes, check_options, hosts, hosts_of, model_error, note_unmatched, options, refuse,
    refuse_others, report_undecodable, style,
};
use super::host_selection::Traced;
use super::mapped::{pieces_error, shown_piece};
use super::reports::check_scratch;
use super::{check_output, chunks, host_selection, lami, open, periods, refuse_missing};
use crate::arguments::{Analyze, Decides, Map, MapNames, Merge};
use crate::output::{Console, note, warning};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};

/// Maps a part of each host to a file.
pub(crate) fn map(arguments: &Map, console: &Console) -> anyhow::Result<()> {
    check(arguments, console)?;
    map_checked(arguments, &|| (), console)
}

/// Refuses options that do not apply to what is mapped.
pub(super) fn check(arguments: &Map, console: &Console) -> anyhow::Result<()> {
    let Map { names, analyze, .. } = arguments;
    let MapNames::Kinds(kinds) = names else {
        for decides in [Decides::Tables, Decides::Kept] {
            refuse(SPANS, analyze, decides)?;
        }
        // Periods are found while chunks are mapped.
        let periods: &[&str] = if is_chunk(arguments) { &["--period", "--period-captures"] } else { &[] };
        refuse_others(SPANS, analyze, Decides::Traces, periods)?;
        anyhow::ensure!(
            analyze.clock.sync.is_none(),
            "--sync does not apply to {SPANS}: their times are raw: give it to the command that reads them"
        );
        return Ok(());
    };
    let chosen: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    check_options(analyze, &chosen, console)?;
    anyhow::ensure!(
        !is_chunk(arguments) || !kinds.contains(&AnalysisKind::Usage),
        "usage divides the time between the first and the last event, which a chunk alone does not \
         show: map `spans`, or a part (--piece 1/1) of all traces"
    );
    refuse("map", analyze, Decides::Tables)?;
    refuse("map", analyze, Decides::Traces)
}

/// Maps a part of each host to a file, with options that apply. `pause` is called again and again meanwhile.
///
/// # Errors
/// A host cannot be mapped; an [`OutputError`](isochrone_files::output::OutputError) where the file cannot be
/// written.
pub(super) fn map_checked(
    arguments: &Map,
    pause: &(dyn Fn() + Sync),
    console: &Console,
) -> anyhow::Result<()> {
    let Map { names, analyze, output, .. } = arguments;
    let kinds = match names {
        MapNames::Kinds(kinds) => kinds,
        MapNames::Spans { arguments: has } => {
            return map_all_spans(arguments, spans_asked(&arguments.analyze, *has)?, pause, console);
        }
    };
    check_output(output, &[&analyze.traces[..], analyze.clock.sync.as_slice()].concat())?;
    let (base, corrections) = match &analyze.clock.sync {
        Some(path) => {
            let (clocks, text) = read_corrections(path)?;
            (TimeBase::Kept(clocks), Some(text))
        }
        None => (TimeBase::Own, None),
    };
    let opened = open(&analyze.traces, base, console)?;
    let experiment = opened.experiment();
    let (hosts, times) = hosts_of(analyze, &opened, &experiment, !is_chunk(arguments), console)?;
    let part = part(arguments, &hosts)?;
    let options = options(analyze).of_mapping();
    let question = Question { kinds, options: &options, times, periods: None };
    let spread = Spread { threads: analyze.threads, pieces: None };
    if is_chunk(arguments) {
        let head = ChunkHead { asked: question.asked(&hosts, corrections), has_spans: false };
        let pass = Pass::of(Part::Core, spread);
        let map = |pass: Pass<'_>| {
            let map = |progress: Seen<'_>| question.map(&hosts, Pass { progress: Some(progress), ..pass });
            with_bar(arguments, &hosts, pause, console, map)
        };
        return chunks::map(&experiment, &head, &hosts, pass, map, output, console);
    }
    let pass = Pass::of(part, spread);
    let map = |progress: Seen<'_>| question.map(&hosts, Pass { progress: Some(progress), ..pass });
    let mapped = with_bar(arguments, &hosts, pause, console, map);
    let set = PieceSet::new(question.asked(&hosts, corrections));
    write(set, mapped, &hosts, arguments, console)
}

/// Whether what was named is mapped as a chunk of its own: no part of it was chosen.
fn is_chunk(arguments: &Map) -> bool {
    arguments.piece.is_none() && arguments.from.is_none() && arguments.to.is_none()
}

/// What is asked of pieces with spans. `has_arguments`: with those of system calls.
pub(super) fn spans_asked(analyze: &Analyze, has_arguments: bool) -> anyhow::Result<Asked> {
    let Analyze { periods, period_captures, .. } = analyze;
    let definitions = periods::definitions(periods, period_captures)?.map(Arc::unwrap_or_clone);
    let asked = Asked::spans().with_periods(definitions);
    Ok(if has_arguments { asked.with_arguments() } else { asked })
}

/// Maps a part of each host with all its spans to a file.
fn map_all_spans(
    arguments: &Map,
    asked: Asked,
    pause: &(dyn Fn() + Sync),
    console: &Console,
) -> anyhow::Result<()> {
    let Map { analyze, output, .. } = arguments;
    check_output(output, &analyze.traces)?;
    let opened = open(&analyze.traces, TimeBase::Own, console)?;
    let experiment = opened.experiment();
    let (hosts, _) = hosts(analyze, &opened, &experiment, console)?;
    if let Some(Err(error)) = asked.periods.as_ref().map(|definitions| periods::check(&hosts, definitions)) {
        // Other hosts may have recorded what this one has not.
        warning!("{}; no such period will be found in this piece", plain(&format!("{error:#}")));
    }
    let part = part(arguments, &hosts)?;
    let captures: Vec<PathBuf> = opened.inputs().captures.iter().map(|it| it.path.clone()).collect();
    let (spread, scratch) = (Spread { threads: analyze.threads, pieces: None }, scratch());
    if is_chunk(arguments) {
        let head = ChunkHead { asked, has_spans: true };
        let pass = Pass::of(Part::Core, spread);
        let map = |pass: Pass<'_>| {
            let map = |progress: Seen<'_>| {
                let pass = Pass { progress: Some(progress), ..pass };
                map_spans(&head.asked, &hosts, &captures, pass, &scratch)
            };
            with_bar(arguments, &hosts, pause, console, map)
        };
        chunks::map(&experiment, &head, &hosts, pass, map, output, console)?;
        return check_scratch(&scratch, console);
    }
    let pass = Pass::of(part, spread);
    let map = |progress: Seen<'_>| {
        map_spans(&asked, &hosts, &captures, Pass { progress: Some(progress), ..pass }, &scratch)
    };
    let mapped = with_bar(arguments, &hosts, pause, console, map);
    write(PieceSet::new(asked), mapped, &hosts, arguments, console)?;
    check_scratch(&scratch, console)
}

/// Gets the bytes that were read.
type Seen<'p> = &'p (dyn Fn(u64) + Sync);

/// Reads a part of hosts, and shows how much was read; `pause` is called again and again meanwhile.
fn with_bar<T>(
    arguments: &Map,
    hosts: &[&TimedHost<'_>],
    pause: &(dyn Fn() + Sync),
    console: &Console,
    read: impl FnOnce(Seen<'_>) -> T,
) -> T {
    let total: u64 = hosts.iter().map(|host| host.traced.bytes()).sum();
    let bar = Progress::over(total / arguments.piece.map_or(1, |(_, of)| of as u64), "mapping", console);
    let found = read(&|bytes| {
        bar.add(bytes);
        pause();
    });
    bar.finish();
    found
}

/// Writes what was mapped of each host.
fn write<C: Held>(
    mut set: PieceSet<C>,
    mapped: Vec<Result<Option<MappedPiece<C>>, ModelError>>,
    hosts: &[&TimedHost<'_>],
    arguments: &Map,
    console: &Console,
) -> anyhow::Result<()> {
    let output = &arguments.output;
    for (mapped, host) in mapped.into_iter().zip(hosts) {
        let Some(piece) = mapped.map_err(model_error)? else {
            note!(console, "{}: it has nothing in this piece", plain(host.name()));
            continue;
        };
        // What the host lacks as a whole is reported with the tables.
        report_undecodable(&host.traced.name, piece.report(), console);
        set.add(piece, output).map_err(|error| pieces_error(&error))?;
    }
    set.write(output).map_err(|error| pieces_error(&error))
}

/// Merges files to one.
pub(crate) fn merge(arguments: &Merge, console: &Console) -> anyhow::Result<()> {
    let Merge { files, output } = arguments;
    refuse_missing(files)?;
    check_output(output, files)?;
    if chunks::are_named(files) {
        return chunks::merge(arguments, console);
    }
    if let Some(other) = files.iter().find(|file| !is_piece(file)) {
        // The error tells what it is.
        read::<AnalysisSet>(std::slice::from_ref(other))?;
    }
    match kind(files)? {
        Some(PieceKind::Spans) => merge_to::<SpanLog>(files, output, console),
        Some(PieceKind::Analyses) | None => merge_to::<AnalysisSet>(files, output, console),
    }
}

fn merge_to<C: Held>(files: &[PathBuf], output: &Path, console: &Console) -> anyhow::Result<()> {
    let set = read::<C>(files)?;
    set.write(output).map_err(|error| pieces_error(&error))?;
    for missing in set.missing() {
        note!(console, "missing so far: {}", shown_piece(&missing));
    }
    Ok(())
}

/// What mapped pieces hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// What some analyses keep.
    Analyses,
    /// All spans: they stand for the traces of which they were mapped, as a store does.
    Spans,
}

/// What the pieces hold that were named; `None`: traces were named.
///
/// # Errors
/// Pieces and traces were named, or pieces of both kinds.
pub(super) fn kind(paths: &[PathBuf]) -> anyhow::Result<Option<PieceKind>> {
    let is_piece = |path: &Path| is_piece(path) && !is_chunks(path);
    let Some(piece) = paths.iter().find(|path| is_piece(path)) else { return Ok(None) };
    if let Some(chunk) = paths.iter().find(|path| is_chunks(path)) {
        anyhow::bail!(
            "{} holds chunks that were mapped alone, and {} a part of traces: only pieces of one kind \
             can be merged",
            Plain(chunk.display()),
            Plain(piece.display())
        );
    }
    if !paths.iter().all(|path| is_piece(path)) {
        anyhow::bail!(
            "{}: a mapped piece, which cannot be combined with traces: map those as well (`isochrone map`)",
            Plain(piece.display())
        );
    }
    let with_spans = paths.iter().find(|path| holds_spans(path));
    let without = paths.iter().find(|path| !holds_spans(path));
    match (with_spans, without) {
        (Some(one), Some(other)) => anyhow::bail!(
            "{} holds spans and {} does not: only pieces of one kind can be merged",
            Plain(one.display()),
            Plain(other.display())
        ),
        (Some(_), None) => Ok(Some(PieceKind::Spans)),
        (None, _) => Ok(Some(PieceKind::Analyses)),
    }
}

/// The traces and captures of which pieces with spans were mapped, as far as they exist.
///
/// # Errors
/// A file cannot be read, or none of them exists.
pub(super) fn traces_of(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let all = traces_of_spans(files).map_err(|error| pieces_error(&error))?;
    let existing: Vec<PathBuf> = all.iter().filter(|path| path.exists()).cloned().collect();
    if let (Some(first), true) = (all.first(), existing.is_empty()) {
        anyhow::bail!(
            "{}: pieces of {}, which no longer exists",
            Plain(files[0].display()),
            Plain(first.display())
        );
    }
    Ok(existing)
}

/// Answers `isochrone analyze` from mapped pieces.
pub(super) fn analyse(arguments: &Analyze, kinds: &[AnalysisKind], console: &Console) -> anyhow::Result<()> {
    refuse("mapped pieces", arguments, Decides::Kept)?;
    refuse("mapped pieces", arguments, Decides::Traces)?;
    let set = read::<AnalysisSet>(&arguments.traces)?;
    let asked = set.asked();
    if let Some(lacks) = kinds.iter().find(|kind| !asked.kinds.contains(kind)) {
        let mapped: Vec<&str> = asked.kinds.iter().map(|kind| kind.name()).collect();
        anyhow::bail!(
            "the pieces were not mapped for {}; they were mapped for {}",
            lacks.name(),
            mapped.join(", ")
        );
    }
    // What depends on the clocks of times has to be mapped again for other clocks.
    let is_fixed = asked.times != Times::default() || asked.kinds.contains(&AnalysisKind::Usage);
    let of_pieces = set.clocks().map_err(|error| pieces_error(&error))?;
    let clocks = match (&arguments.clock.sync, of_pieces) {
        (Some(_), _) if is_fixed => anyhow::bail!(
            "--sync: the pieces were mapped for times on other clocks: give it to `isochrone map`"
        ),
        (None, Some(_)) if arguments.clock.no_sync && is_fixed => {
            anyhow::bail!(
                "--no-sync: the pieces were mapped for times on common clocks: map them without --sync"
            )
        }
        (Some(path), _) => Some(read_clocks(path)?),
        (None, of_pieces) => of_pieces.filter(|_| !arguments.clock.no_sync),
    };
    if set.hosts().len() > 1 && clocks.is_none() && !arguments.clock.no_sync {
        note!(console, "each host is on its own clock: --sync takes a file of `isochrone sync -o`");
    }
    answer(arguments, kinds, set, clocks.as_ref(), console)
}

/// Answers `isochrone analyze` from a set of pieces, with times on some clocks.
///
/// # Errors
/// Pieces are missing, or they have no requested host.
pub(super) fn answer(
    arguments: &Analyze,
    kinds: &[AnalysisKind],
    set: PieceSet,
    clocks: Option<&Clocks>,
    console: &Console,
) -> anyhow::Result<()> {
    let asked = set.asked().clone();
    let missing = set.missing();
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(shown_piece).collect();
        anyhow::bail!("pieces are missing: {}", missing.join("; "));
    }
    let facts: Vec<HostFacts> = set.hosts().into_iter().cloned().collect();
    for host in facts.iter().filter(|host| host.timing(clocks, asked.keeps_all).is_none()) {
        host_selection::warn_uncorrected(&host.name, console);
    }
    let modelled = set.finish(clocks);
    anyhow::ensure!(!modelled.is_empty(), host_selection::OTHER_CLOCKS);
    let names = modelled.iter().map(HostContext::name);
    check_names(&arguments.hosts, names).map_err(|error| host_selection::unknown_host(&error))?;
    let is_requested = |host: &ModelledHost<'_, _>| {
        arguments.hosts.is_empty() || arguments.hosts.iter().any(|name| name == HostContext::name(host))
    };
    let modelled: Vec<_> = modelled.into_iter().filter(is_requested).collect();
    let is_corrected = modelled.iter().any(|host| host.timing().clock().is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    // By their names in the corrections.
    let named = |host: &ModelledHost<'_, _>| {
        let name = HostContext::name(host).to_owned();
        let facts = facts.iter().find(|facts| is_host(facts, host.timing(), &name));
        facts.map(|facts| (name, facts))
    };
    let known: Vec<(String, &HostFacts)> = modelled.iter().filter_map(named).collect();
    let recorded: Vec<Recorded<'_>> = known.iter().map(|(name, facts)| facts.recorded(name)).collect();
    if arguments.test_compatibility {
        return lami::check_compatible(kinds, &recorded);
    }
    for ((name, facts), host) in known.iter().zip(&modelled) {
        report_undecodable(name, &host.report, console);
        facts.warnings.iter().for_each(|text| warning!("{}: {}", plain(name), Plain(text)));
        facts.notes.iter().for_each(|text| note!(console, "{}: {}", plain(name), Plain(text)));
    }
    let hosts: Vec<&dyn HostContext> = modelled.iter().map(|host| host as &dyn HostContext).collect();
    note_unmatched(arguments, &recorded, &hosts, console);
    let options = asked.options.with_tables_of(&options(arguments));
    let spread = Spread { threads: arguments.threads, pieces: None };
    let mut all = reports(&modelled, &options, spread);
    all.retain(|report| kinds.iter().any(|kind| kind.name() == report.analysis));
    all.sort_by_key(|report| kinds.iter().position(|kind| kind.name() == report.analysis));
    let timings: Vec<(&str, Timing<'_>)> =
        modelled.iter().map(|host| (HostContext::name(host), host.timing())).collect();
    add_notes(arguments, &mut all, &recorded, &timings);
    style(arguments).print(&all, asked.times.at, modelled.len(), console)?;
    check_scratch(&options.scratch, console)
}

/// Whether a host with a name on some clocks is a host of the pieces.
fn is_host(facts: &HostFacts, timing: Timing<'_>, name: &str) -> bool {
    match timing.clock() {
        Some(clock) => clock.entry.id == *facts.clock.as_ref().unwrap_or(&facts.id),
        None => facts.name == name,
    }
}

/// The pieces in files.
///
/// # Errors
/// One cannot be read, or they were not mapped for the same analyses.
pub(super) fn read<C: Held>(files: &[PathBuf]) -> anyhow::Result<PieceSet<C>> {
    let set = PieceSet::read(files).map_err(|error| pieces_error(&error))?;
    set.ok_or_else(|| anyhow::anyhow!("no file of mapped pieces was named"))
}

/// The requested part of each host of traces of an extent.
fn part(arguments: &Map, hosts: &[&TimedHost<'_>]) -> anyhow::Result<Part> {
    if let Some((number, of)) = arguments.piece {
        return Ok(Part::Share { number, of });
    }
    if (arguments.from, arguments.to) == (None, None) {
        return Ok(Part::Whole);
    }
    let traced = Traced::of(hosts);
    let (from, to) = (traced.instant(arguments.from)?, traced.instant(arguments.to)?);
    anyhow::ensure!(from.zip(to).is_none_or(|(from, to)| from < to), "--to is not after --from");
    Ok(Part::Between { from, to })
}
