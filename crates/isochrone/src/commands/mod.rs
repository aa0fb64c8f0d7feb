//! A file for each command, and how several of them open their inputs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_experiment::{Inputs, Opened, TimeBase};
use isochrone_files::is_capture;
use isochrone_matching::TraceFacts;

use self::pieces::PieceKind;
use crate::output::{Console, note};
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::plain::Plain;

mod analysis;
pub(crate) mod analyze;
mod answers;
pub(crate) mod cache;
mod chunks;
pub(crate) mod convert;
pub(crate) mod crosshost;
pub(crate) mod cut;
pub(crate) mod dump;
mod each_event;
mod event_counts;
pub(crate) mod events;
pub(crate) mod export;
mod filter;
pub(crate) mod flame;
mod follow;
pub(crate) mod host_selection;
pub(crate) mod index;
pub(crate) mod info;
mod lami;
pub(crate) mod live;
mod live_clocks;
mod live_page;
mod mapped;
mod named_events;
mod named_spans;
mod on_cluster;
pub(crate) mod order;
mod periods;
pub(crate) mod pieces;
pub(crate) mod record;
mod reports;
pub(crate) mod runs;
pub(crate) mod shell;
pub(crate) mod signals;
pub(crate) mod sql;
mod stored;
pub(crate) mod summary;
pub(crate) mod sync;
mod sync_eval;
pub(crate) mod view;
pub(crate) mod watch;

/// Refuses a capture, which has packets and no events.
fn refuse_capture(path: &Path) -> anyhow::Result<()> {
    let is_one = path.is_file() && is_capture(path);
    anyhow::ensure!(!is_one, "{}: {}", path.display(), NO_EVENTS);
    Ok(())
}

/// Notes what captures are used for.
fn note_captures(opened: &Opened, console: &Console) {
    let usage = match opened.is_synchronized() {
        true => "its packets tie the clocks of hosts together, and it has no events to show",
        false => "it has no events to show; left out",
    };
    for capture in &opened.inputs().captures {
        note!(console, "{}: a packet capture: {usage}", Plain(capture.path.display()));
    }
}

/// Why a command cannot use a capture alone.
const NO_EVENTS: &str = "a packet capture, which holds packets for `isochrone sync` and no events";

/// Opens what was named, and reports what is odd about it, and that captures are left out. Fails where no
/// trace exists.
fn open(traces: &[PathBuf], base: TimeBase, console: &Console) -> anyhow::Result<Opened> {
    open_named(&named(traces)?, None, base, console)
}

/// As [`open()`], for the result of [`named`]. `kept`: a store of it that was named in addition. Where the
/// usual time base is requested, and there is a store of the traces as they are, they are not synchronized
/// again.
pub(crate) fn open_named(
    named: &Named,
    kept: Option<&Path>,
    base: TimeBase,
    console: &Console,
) -> anyhow::Result<Opened> {
    let inputs = Inputs::open(&named.traces);
    let base = match base {
        TimeBase::Usual => index::clocks(named, kept, &inputs).map_or(TimeBase::Usual, TimeBase::Stored),
        other => other,
    };
    complaints::of_inputs(&inputs, console)?;
    if let (true, Some(capture)) = (inputs.traces.is_empty(), inputs.captures.first()) {
        anyhow::bail!("{}: {NO_EVENTS}", Plain(capture.path.display()));
    }
    let bar = Progress::over_bytes(&inputs, "matching packets", console);
    let opened = Opened::new(inputs, base, &|bytes| bar.add(bytes))?;
    bar.finish();
    if let Some(outcome) = opened.synchronized() {
        // These affect the synchronization, and nothing of what is shown.
        let of_captures = outcome.captures.iter().flat_map(|facts| &facts.diagnostics);
        let left_out = outcome.facts.iter().flat_map(TraceFacts::left_out);
        complaints::show(left_out.chain(of_captures), &console.apart());
    }
    note_captures(&opened, console);
    Ok(opened)
}

/// The traces that were named: a store stands for those of which it was made, and pieces with spans for those
/// of which they were mapped.
pub(crate) struct Named {
    /// Traces and captures.
    traces: Vec<PathBuf>,
    /// Their store, where nothing else was named.
    store: Option<PathBuf>,
    /// Pieces with the spans of all of them, from which a store can be made.
    pieces: Vec<PathBuf>,
}

impl Named {
    /// Traces and captures.
    pub(crate) fn traces(&self) -> &[PathBuf] {
        &self.traces
    }
}

/// The traces and captures that were named.
///
/// # Errors
/// A path, or a trace of which a store was made, does not exist.
pub(crate) fn named(paths: &[PathBuf]) -> anyhow::Result<Named> {
    refuse_missing(paths)?;
    match pieces::kind(paths)? {
        Some(PieceKind::Spans) => {
            let (traces, pieces) = (pieces::traces_of(paths)?, paths.to_vec());
            return Ok(Named { traces, store: None, pieces });
        }
        Some(PieceKind::Analyses) => anyhow::bail!(
            "{}: holds what analyses keep, which `isochrone analyze` reads alone; `isochrone map spans` makes pieces for all commands",
            Plain(paths[0].display())
        ),
        None => {}
    }
    let mut traces = Vec::with_capacity(paths.len());
    for path in paths {
        match index::is_store(path) {
            true => traces.extend(index::traces_of(path)?),
            false => traces.push(path.clone()),
        }
    }
    let store = match paths {
        [only] if index::is_store(only) => Some(only.clone()),
        _ => None,
    };
    Ok(Named { traces, store, pieces: Vec::new() })
}

/// Refuses paths that do not exist, which are most often values of options, before anything is read.
///
/// # Errors
/// One of them does not exist.
fn refuse_missing(paths: &[PathBuf]) -> anyhow::Result<()> {
    for path in paths {
        if path.is_file() && path.with_file_name("metadata").is_file() {
            let directory =
                path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            anyhow::bail!(
                "{}: a file of a trace: name its directory, {}",
                Plain(path.display()),
                Plain(directory.display())
            );
        }
        // Any other problem of a path affects that path alone.
        let Err(error) = path.metadata() else { continue };
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            let name = path.to_string_lossy();
            let is_value = !name.contains('/')
                && (name.starts_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&&*name));
            let hint = match is_value {
                true => "; the value of an option follows `=` without a space: --irq=27, --min=10ms",
                false => "",
            };
            anyhow::bail!("cannot read {}: no such file or directory{hint}", Plain(path.display()));
        }
    }
    Ok(())
}

/// Checks before hours of reading that a file can be written, is not one of the inputs, and does not belong
/// to a store. A store and pieces among the inputs stand for their traces, too.
///
/// # Errors
/// It cannot be written, is an input, or belongs to a store.
pub fn check_output(path: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    anyhow::ensure!(path.as_os_str() != "-", "-o -: leave -o out to write to stdout");
    if !std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        // A device or a pipe is written to as it is.
        writable(path.parent().unwrap_or(Path::new("")))?;
    }
    let mut read = inputs.to_vec();
    for store in inputs.iter().filter(|input| index::is_store(input)) {
        // Problems of the store are reported when it is read.
        read.extend(index::traces_of(store).unwrap_or_default());
        read.extend(index::files_of(store));
    }
    for chunks in inputs.iter().filter(|input| isochrone_files::piece::is_chunks(input)) {
        read.extend(isochrone_files::traces_of_chunks(chunks).into_iter().filter(|path| path.exists()));
    }
    if let Ok(Some(PieceKind::Spans)) = pieces::kind(inputs) {
        read.extend(pieces::traces_of(inputs).unwrap_or_default());
    }
    isochrone_files::output::check(path, &read)?;
    let real = isochrone_files::output::place(path)?;
    let store = real.ancestors().skip(1).take(2).find(|directory| index::is_store(directory));
    match store {
        Some(store) => anyhow::bail!(
            "cannot write {}: it belongs to the store {}",
            Plain(path.display()),
            Plain(store.display())
        ),
        None => Ok(()),
    }
}

/// Checks before hours of reading that files can be created in a directory, if it exists.
///
/// # Errors
/// They cannot.
fn writable(directory: &Path) -> anyhow::Result<()> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    if !directory.is_dir() {
        // The write itself will report what it is.
        return Ok(());
    }
    // A file without a name leaves nothing behind.
    tempfile::tempfile_in(directory)
        .with_context(|| format!("cannot write to {}", Plain(directory.display())))?;
    Ok(())
}

/// Units of durations: a space before one makes it a path.
const UNITS: [&str; 5] = ["ns", "us", "µs", "ms", "s"];
