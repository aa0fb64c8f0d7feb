//! `isochrone cache`: the indexes of traces and the traces of recordings that commands keep, what they
//! take, and how to remove them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use isochrone_files::KeptRecording;
use isochrone_store::{Manifest, Store, StoreError};
use serde::Serialize;

use super::index;
use crate::arguments::{Cache, CacheAction, ReportFormat};
use crate::output::{self, Console, warn_partial};
use crate::render::figures;
use crate::render::plain::{Plain, plain};
use crate::render::table::Table;

/// Traces that are named for a store; the rest is counted.
const MAX_NAMED: usize = 3;

/// A store in the cache, or the trace of a recording.
#[derive(Debug, Serialize)]
struct Kept {
    path: PathBuf,
    bytes: u64,
    state: State,
    /// The traces and captures, or the recording, that it was made of; empty: unknown.
    traces: Vec<PathBuf>,
}

/// Whether a store can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Usable,
    /// The traces have changed, or are gone.
    Stale,
    /// Another version of the program made it.
    OtherVersion,
    Damaged,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Stale => "stale: the traces have changed or are gone",
            Self::OtherVersion => "of another version",
            Self::Damaged => "damaged",
        }
    }
}

#[derive(Debug, Serialize)]
struct Document<'d> {
    directory: &'d Path,
    bytes: u64,
    stores: &'d [Kept],
    recordings: &'d [Kept],
}

pub(crate) fn run(arguments: &Cache, console: &Console) -> anyhow::Result<()> {
    let directory = index::cache_directory()?;
    let kept = kept(&directory);
    let converted = KeptRecording::all(&index::recordings_in(&directory));
    if let Some(CacheAction::Clean { all }) = arguments.action {
        return clean(&directory, &kept, &converted, all, console);
    }
    let recordings: Vec<Kept> = converted.into_iter().map(Kept::from).collect();
    let bytes = kept.iter().chain(&recordings).map(|one| one.bytes).sum();
    output::print(|out| {
        if arguments.format == ReportFormat::Json {
            let document = Document { directory: &directory, bytes, stores: &kept, recordings: &recordings };
            return output::json(&document, out);
        }
        let stores = figures::plural(kept.len(), "store");
        let converted = match recordings.len() {
            0 => String::new(),
            count => format!(", {}", figures::plural(count, "recording")),
        };
        let directory = Plain(directory.display());
        writeln!(out, "{directory}: {stores}{converted}, {}", figures::bytes(bytes as f64))?;
        for (all, what) in [(&kept, "store of"), (&recordings, "trace of the recording")] {
            print(all, what, out)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn print(all: &[Kept], what: &'static str, out: &mut impl Write) -> anyhow::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let headings = ["size", "state", what];
    let mut table = Table::new(&headings).right_from(0).left(&[1, 2]);
    for kept in all {
        let traces: Vec<String> =
            kept.traces.iter().map(|path| plain(&path.display().to_string()).into_owned()).collect();
        let of = if traces.is_empty() { "?".to_owned() } else { figures::listed(&traces, MAX_NAMED) };
        table.add_row([figures::bytes(kept.bytes as f64), kept.state.word().to_owned(), of]);
    }
    table.print_indented(out)?;
    Ok(())
}

impl From<KeptRecording> for Kept {
    fn from(KeptRecording { path, bytes, recording, is_fresh }: KeptRecording) -> Self {
        let state = match (is_fresh, &recording) {
            (true, _) => State::Usable,
            (false, Some(_)) => State::Stale,
            (false, None) => State::Damaged,
        };
        Self { path, bytes, state, traces: recording.into_iter().collect() }
    }
}

fn clean(
    directory: &Path,
    kept: &[Kept],
    recordings: &[KeptRecording],
    all: bool,
    console: &Console,
) -> anyhow::Result<()> {
    isochrone_store::remove_left(directory);
    let (mut removed, mut bytes) = (0_usize, 0);
    for store in kept.iter().filter(|store| all || store.state != State::Usable) {
        match Store::remove(&store.path) {
            Ok(()) => (removed, bytes) = (removed + 1, bytes + store.bytes),
            Err(error) => warn_partial!(console, "{}", Plain(error)),
        }
    }
    let mut converted = 0_usize;
    for recording in recordings.iter().filter(|it| all || !it.is_fresh) {
        match recording.remove() {
            Ok(()) => (converted, bytes) = (converted + 1, bytes + recording.bytes),
            Err(error) => warn_partial!(console, "{}: {error}", Plain(recording.path.display())),
        }
    }
    output::print(|out| {
        let removed = figures::plural(removed, "store");
        let converted = match converted {
            0 => String::new(),
            count => format!(" and {}", figures::plural(count, "recording")),
        };
        Ok(writeln!(out, "{removed}{converted} removed, {}", figures::bytes(bytes as f64))?)
    })?;
    Ok(())
}

/// The stores in the cache, the largest first. Other files are not looked at.
fn kept(directory: &Path) -> Vec<Kept> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let stores = entries.map(|entry| entry.path()).filter(|path| index::is_store(path));
    let mut kept: Vec<Kept> = stores
        .map(|path| {
            let manifest = Manifest::read(&path);
            let state = match &manifest {
                Ok(manifest) if manifest.is_fresh() => State::Usable,
                Ok(_) => State::Stale,
                Err(StoreError::Version { .. }) => State::OtherVersion,
                Err(_) => State::Damaged,
            };
            let traces = manifest.map(|manifest| index::inputs_of(&manifest)).unwrap_or_default();
            let sizes = index::files_of(&path).into_iter().filter_map(|file| fs::metadata(file).ok());
            Kept { bytes: sizes.map(|file| file.len()).sum(), path, state, traces }
        })
        .collect();
    kept.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    kept
}
