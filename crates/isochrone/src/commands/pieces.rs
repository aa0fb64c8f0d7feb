//! `isochrone map` and `isochrone merge`, and `isochrone analyze` of mapped pieces: what is read of traces in one process, and made tables
//! of in another. What a file holds is in `isochrone_experiment::pieces`.

use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Recorded};
use isochrone_experiment::pieces::{
    Asked, Held, HostFacts, MappedPiece, MissingPiece, Part, PieceSet, PiecesError, holds_spans, map_spans,
    traces_of_spans,
};
use isochrone_experiment::{
    ModelError, ModelledHost, Question, Spread, TimeBase, TimedHost, Times, Timing, check_names, extent,
    read_clocks, read_corrections, reports,
};
use isochrone_pipeline::store::is_piece;
use isochrone_pipeline::{Border, Piece, SpanLog};
use isochrone_sync::apply::Clocks;

use super::analyze::{
    check_options, hosts, in_words, options, shown, tell_missing, tell_unmatched, with_notes,
};
use super::reports::check_scratch;
use super::{check_output, host_selection, lami, open, refuse_missing};
use crate::ExitStatus;
use crate::arguments::time::Given;
use crate::arguments::{Analyze, Decides, Map, MapNames, Merge};
use crate::output::tell;
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::time;

/// What pieces are called that hold all spans.
const SPANS: &str = "pieces with spans";

/// Maps a part of each host to a file.
pub(crate) fn map(arguments: &Map, quiet: bool) -> anyhow::Result<ExitStatus> {
    let Map { names, analyze, output, .. } = arguments;
    let kinds = match names {
        MapNames::Kinds(kinds) => kinds,
        MapNames::Spans => return map_all_spans(arguments, quiet),
    };
    let chosen: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    check_options(analyze, &chosen, quiet)?;
    refuse("map", analyze, Decides::Tables)?;
    refuse("map", analyze, Decides::Traces)?;
    check_output(output, &[&analyze.traces[..], analyze.clock.sync.as_slice()].concat())?;
    let (base, corrections) = match &analyze.clock.sync {
        Some(path) => {
            let (clocks, text) = read_corrections(path)?;
            (TimeBase::Kept(clocks), Some(text))
        }
        None => (TimeBase::Own, None),
    };
    let (opened, ending) = open(&analyze.traces, base, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, ending) = hosts(analyze, &opened, &experiment, ending, quiet)?;
    let part = part(arguments, extent(hosts.iter().copied()))?;
    let options = options(analyze).of_mapping();
    let question = Question { kinds, options: &options, times, periods: None };
    let spread = Spread { threads: analyze.threads, pieces: None };
    let bar = bar(arguments, &hosts, quiet);
    let mapped = question.map(&hosts, part, spread, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    let set = PieceSet::new(question.asked(&hosts, corrections));
    write(set, mapped, &hosts, arguments, ending, quiet)
}

/// Maps a part of each host with all its spans to a file.
fn map_all_spans(arguments: &Map, quiet: bool) -> anyhow::Result<ExitStatus> {
    let Map { analyze, output, .. } = arguments;
    for decides in [Decides::Tables, Decides::Kept, Decides::Traces] {
        refuse(SPANS, analyze, decides)?;
    }
    anyhow::ensure!(
        analyze.clock.sync.is_none(),
        "--sync does not apply to {SPANS}: their times are raw: give it to the command that reads them"
    );
    check_output(output, &analyze.traces)?;
    let (opened, ending) = open(&analyze.traces, TimeBase::Own, quiet)?;
    let experiment = opened.experiment();
    let (hosts, _, ending) = hosts(analyze, &opened, &experiment, ending, quiet)?;
    let part = part(arguments, extent(hosts.iter().copied()))?;
    let captures: Vec<PathBuf> = opened.inputs().captures.iter().map(|it| it.path.clone()).collect();
    let spread = Spread { threads: analyze.threads, pieces: None };
    let bar = bar(arguments, &hosts, quiet);
    let mapped = map_spans(&hosts, &captures, part, spread, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    write(PieceSet::new(Asked::spans()), mapped, &hosts, arguments, ending, quiet)
}

/// The progress of reading a part of hosts.
fn bar(arguments: &Map, hosts: &[&TimedHost<'_>], quiet: bool) -> Progress {
    let whole: u64 = hosts.iter().map(|host| host.traced.bytes()).sum();
    Progress::over(whole / arguments.piece.map_or(1, |(_, of)| of as u64), "mapping", quiet)
}

/// Writes what was mapped of each host.
fn write<C: Held>(
    mut set: PieceSet<C>,
    mapped: Vec<Result<Option<MappedPiece<C>>, ModelError>>,
    hosts: &[&TimedHost<'_>],
    arguments: &Map,
    mut ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    let output = &arguments.output;
    for (mapped, host) in mapped.into_iter().zip(hosts) {
        let Some(piece) = mapped.map_err(in_words)? else {
            if !quiet {
                tell!("note: {}: nothing of it is in this piece", plain(host.name()));
            }
            continue;
        };
        // What the host lacks as a whole is said with the tables.
        ending = ending.max(tell_missing(&host.traced.name, piece.report()));
        set.add(piece, output).map_err(|error| error_in_words(&error))?;
    }
    set.write(output).map_err(|error| error_in_words(&error))?;
    Ok(ending)
}

/// Merges files to one.
pub(crate) fn merge(Merge { files, output }: &Merge, quiet: bool) -> anyhow::Result<ExitStatus> {
    refuse_missing(files)?;
    check_output(output, files)?;
    if let Some(other) = files.iter().find(|file| !is_piece(file)) {
        // Says what it is.
        read::<AnalysisSet>(std::slice::from_ref(other))?;
    }
    match kind(files)? {
        Some(PieceKind::Spans) => merge_to::<SpanLog>(files, output, quiet),
        Some(PieceKind::Analyses) | None => merge_to::<AnalysisSet>(files, output, quiet),
    }
}

fn merge_to<C: Held>(files: &[PathBuf], output: &Path, quiet: bool) -> anyhow::Result<ExitStatus> {
    let set = read::<C>(files)?;
    set.write(output).map_err(|error| error_in_words(&error))?;
    if !quiet {
        for missing in set.missing() {
            tell!("note: missing so far: {}", shown_piece(&missing));
        }
    }
    Ok(ExitStatus::Done)
}

/// What mapped pieces hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// What some analyses keep.
    Analyses,
    /// All spans: they stand for the traces that they were mapped of, as a store does.
    Spans,
}

/// What the mapped pieces hold that were named; `None`: traces were named.
///
/// # Errors
/// Pieces and traces were named, or pieces of both kinds.
pub(super) fn kind(paths: &[PathBuf]) -> anyhow::Result<Option<PieceKind>> {
    let Some(piece) = paths.iter().find(|path| is_piece(path)) else { return Ok(None) };
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
            "{} holds spans and {} does not: pieces of one kind are put together",
            Plain(one.display()),
            Plain(other.display())
        ),
        (Some(_), None) => Ok(Some(PieceKind::Spans)),
        (None, _) => Ok(Some(PieceKind::Analyses)),
    }
}

/// The traces that pieces with spans were mapped of, and captures: those that are still there, wherever the pieces were mapped.
///
/// # Errors
/// A file cannot be read, or nothing is there.
pub(super) fn traces_of(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let all = traces_of_spans(files).map_err(|error| error_in_words(&error))?;
    let there: Vec<PathBuf> = all.iter().filter(|path| path.exists()).cloned().collect();
    if let (Some(first), true) = (all.first(), there.is_empty()) {
        anyhow::bail!(
            "{}: pieces of {}, which no longer exists",
            Plain(files[0].display()),
            Plain(first.display())
        );
    }
    Ok(there)
}

/// All spans of traces, from pieces of them.
///
/// # Errors
/// A file cannot be read, or pieces are missing.
pub(super) fn spans(files: &[PathBuf]) -> Result<PieceSet<SpanLog>, PiecesError> {
    let set = PieceSet::read(files)?;
    let set = set.unwrap_or_else(|| PieceSet::new(Asked::spans()));
    match set.missing().first() {
        Some(missing) => Err(PiecesError::Missing(missing.host.clone())),
        None => Ok(set),
    }
}

/// Answers `isochrone analyze` from mapped pieces.
pub(super) fn analyse(
    arguments: &Analyze,
    kinds: &[AnalysisKind],
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    refuse("mapped pieces", arguments, Decides::Kept)?;
    refuse("mapped pieces", arguments, Decides::Traces)?;
    let set = read::<AnalysisSet>(&arguments.traces)?;
    let asked = set.asked();
    if let Some(lacks) = kinds.iter().find(|kind| !asked.kinds.contains(kind)) {
        let known: Vec<&str> = asked.kinds.iter().map(|kind| kind.name()).collect();
        anyhow::bail!(
            "{} was not asked for when the pieces were mapped; there are {}",
            lacks.name(),
            known.join(", ")
        );
    }
    // Who looks at one thing with the clocks of another must map again.
    let is_fixed = asked.times != Times::default() || asked.kinds.contains(&AnalysisKind::Usage);
    let of_pieces = set.clocks().map_err(|error| error_in_words(&error))?;
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
    if !quiet && set.hosts().len() > 1 && clocks.is_none() && !arguments.clock.no_sync {
        tell!("note: each host is on its own clock: --sync FILE takes what `isochrone sync -o` wrote");
    }
    answer(arguments, kinds, set, clocks.as_ref(), ExitStatus::Done, quiet)
}

/// Answers `isochrone analyze` from a set of pieces, with times on some clocks.
///
/// # Errors
/// Pieces are missing, or nothing of what is asked is in them.
pub(super) fn answer(
    arguments: &Analyze,
    kinds: &[AnalysisKind],
    set: PieceSet,
    clocks: Option<&Clocks>,
    mut ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    let asked = set.asked().clone();
    let missing = set.missing();
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(shown_piece).collect();
        anyhow::bail!("pieces are missing: {}", missing.join("; "));
    }
    let facts: Vec<HostFacts> = set.hosts().into_iter().cloned().collect();
    for host in facts.iter().filter(|host| host.timing(clocks, asked.keeps_all).is_none()) {
        ending = ending.max(host_selection::leave_out_unsynchronized(&host.name));
    }
    let modelled = set.finish(clocks);
    anyhow::ensure!(!modelled.is_empty(), host_selection::OTHER_CLOCKS);
    let names = modelled.iter().map(HostContext::name);
    check_names(&arguments.hosts, names).map_err(|error| host_selection::unknown_host(&error))?;
    let is_asked = |host: &ModelledHost<'_, _>| {
        arguments.hosts.is_empty() || arguments.hosts.iter().any(|name| name == HostContext::name(host))
    };
    let modelled: Vec<_> = modelled.into_iter().filter(is_asked).collect();
    let is_corrected = modelled.iter().any(|host| host.timing().clock().is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    // By the names that the corrections give.
    let named = |host: &ModelledHost<'_, _>| {
        let name = HostContext::name(host).to_owned();
        let facts = facts.iter().find(|facts| name_of(facts, host.timing(), &name));
        facts.map(|facts| (name, facts))
    };
    let known: Vec<(String, &HostFacts)> = modelled.iter().filter_map(named).collect();
    let recorded: Vec<Recorded<'_>> = known.iter().map(|(name, facts)| facts.recorded(name)).collect();
    if arguments.test_compatibility {
        lami::check_compatible(kinds, &recorded)?;
        return Ok(ending);
    }
    for ((name, facts), host) in known.iter().zip(&modelled) {
        ending = ending.max(tell_missing(name, &host.report));
        facts.warnings.iter().for_each(|warning| tell!("warning: {}: {}", plain(name), Plain(warning)));
        for note in facts.notes.iter().filter(|_| !quiet) {
            tell!("note: {}: {}", plain(name), Plain(note));
        }
    }
    if !quiet {
        let known: Vec<&dyn HostContext> = modelled.iter().map(|host| host as &dyn HostContext).collect();
        tell_unmatched(arguments, &recorded, &known);
    }
    let options = asked.options.with_tables_of(&options(arguments));
    let spread = Spread { threads: arguments.threads, pieces: None };
    let mut all = reports(&modelled, &options, spread);
    all.retain(|report| kinds.iter().any(|kind| kind.name() == report.analysis));
    all.sort_by_key(|report| kinds.iter().position(|kind| kind.name() == report.analysis));
    let timings: Vec<(&str, Timing<'_>)> =
        modelled.iter().map(|host| (HostContext::name(host), host.timing())).collect();
    with_notes(arguments, &mut all, &recorded, &timings);
    shown(arguments).print(&all, asked.times.at, modelled.len(), quiet)?;
    check_scratch(&options.scratch, quiet)?;
    Ok(ending)
}

/// Whether a host that has a name on some clocks is the one that pieces know.
fn name_of(facts: &HostFacts, timing: Timing<'_>, name: &str) -> bool {
    match timing.clock() {
        Some(clock) => clock.entry.id == *facts.clock.as_ref().unwrap_or(&facts.id),
        None => facts.name == name,
    }
}

/// The pieces in files.
///
/// # Errors
/// One cannot be read, or they were not mapped for one question.
pub(super) fn read<C: Held>(files: &[PathBuf]) -> anyhow::Result<PieceSet<C>> {
    let set = PieceSet::read(files).map_err(|error| error_in_words(&error))?;
    set.ok_or_else(|| anyhow::anyhow!("no file of mapped pieces was named"))
}

/// Which part of each host is asked for; `extent`: what the traces hold.
fn part(arguments: &Map, extent: Option<(i128, i128)>) -> anyhow::Result<Part> {
    if let Some((number, of)) = arguments.piece {
        return Ok(Part::Share { number, of });
    }
    let begin = extent.map(|(first, _)| first);
    let unix = |given: Option<Given>| {
        given.map(|given| given.unix_ns(begin)).transpose().map_err(anyhow::Error::msg)
    };
    let (from, to) = (unix(arguments.from)?, unix(arguments.to)?);
    anyhow::ensure!(from.zip(to).is_none_or(|(from, to)| from < to), "--to is not after --from");
    Ok(match (from, to) {
        (None, None) => Part::Whole,
        (from, to) => Part::Between { from, to },
    })
}

/// Refuses options that decide what does not apply.
fn refuse(to: &str, arguments: &Analyze, decides: Decides) -> anyhow::Result<()> {
    let Some(option) = arguments.given.iter().find(|option| option.decides == decides) else { return Ok(()) };
    let why = match decides {
        Decides::Kept if to == SPANS => "they hold all of the traces: give it to `isochrone analyze`",
        Decides::Kept => "it decides what is kept of traces: give it to `isochrone map`",
        Decides::Tables => "it decides how tables look: give it to `isochrone analyze`",
        Decides::Traces => "pieces have nothing of it: give it to `isochrone analyze` with the traces",
        Decides::Neither => return Ok(()),
    };
    anyhow::bail!("{} does not apply to {to}: {why}", option.name)
}

/// `web1 from 2026-11-20 06:10:24.1 to the end`
fn shown_piece(missing: &MissingPiece) -> String {
    format!("{} {}", plain(&missing.host), between(missing.piece, missing.offset_ns))
}

/// From when to when a piece is, by the host's own clock.
fn between(piece: Piece, offset_ns: i64) -> String {
    let border = |border: Border, open: &str| match border {
        Border::At(raw) => time::full(i128::from(raw) + i128::from(offset_ns)),
        Border::Begin | Border::End => open.to_owned(),
    };
    format!("from {} to {}", border(piece.from, "the begin"), border(piece.to, "the end"))
}

/// Names of hosts come from traces, and times are better read as such.
pub(super) fn error_in_words(error: &PiecesError) -> anyhow::Error {
    match error {
        PiecesError::Twice { one, other, host, piece, offset_ns } if one == other => anyhow::anyhow!(
            "{}: is named twice, or has a piece of {} twice, {}",
            Plain(one.display()),
            plain(host),
            between(*piece, *offset_ns)
        ),
        PiecesError::Twice { one, other, host, piece, offset_ns } => anyhow::anyhow!(
            "{} and {}: both have a piece of {}, {}",
            Plain(one.display()),
            Plain(other.display()),
            plain(host),
            between(*piece, *offset_ns)
        ),
        PiecesError::Corrections(source) => anyhow::anyhow!("{error}: {source}"),
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
