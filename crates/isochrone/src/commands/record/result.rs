//! The end of a recording: it is collected and unpacked, its hosts are put on one clock, and what to type
//! next is said.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use isochrone_files::{Inputs, unpack};
use isochrone_record::script::quote;
use isochrone_record::session::{self, Host};
use isochrone_sync::{Options, Outcome, synchronize_with};

use super::Directory;
use crate::commands::named;
use crate::output::{self, Console, note, warn_partial};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, report};

/// Collects what hosts recorded in a directory for each, and shows the headline of all together.
pub(super) fn collect(hosts: Vec<Host>, into: &Directory, console: &Console) -> anyhow::Result<()> {
    let mut places = Vec::new();
    for (target, collected) in session::collect(hosts, &into.path) {
        let place = into.path.join(&target.directory);
        let unpacked = collected.map_err(anyhow::Error::from).and_then(|file| {
            fs::create_dir(&place)?;
            unpack(&file, &place)?;
            Ok(fs::remove_file(&file)?)
        });
        match unpacked {
            Ok(()) => places.push(place),
            Err(error) => {
                let name = plain(&target.name);
                warn_partial!(
                    console,
                    "{name}: what it recorded was not collected: {}",
                    Plain(format!("{error:#}"))
                );
            }
        }
    }
    anyhow::ensure!(!places.is_empty(), "nothing was collected");
    let outcome = synchronized(&places, console);
    let path = Plain(into.path.display()).to_string();
    let bytes = figures::bytes(size(&into.path) as f64);
    let hosts = figures::plural(places.len(), "host");
    output::print(|stdout| {
        writeln!(stdout, "recorded to {path} ({bytes}), {hosts}")?;
        match &outcome {
            Some(outcome) if outcome.artefact.clocks.len() > 1 => {
                for paragraph in report::verdicts(&outcome.artefact, &outcome.clocks) {
                    writeln!(stdout, "{paragraph}")?;
                }
            }
            _ => {}
        }
        let quoted = quote(&path);
        Ok(writeln!(stdout, "next: isochrone {quoted} · isochrone view {quoted}")?)
    })?;
    Ok(())
}

/// All hosts on one clock, as `isochrone sync` puts them; what is wrong is said.
fn synchronized(places: &[PathBuf], console: &Console) -> Option<Outcome> {
    let synchronize = || -> anyhow::Result<Outcome> {
        let inputs = Inputs::open(&named(places)?.traces);
        complaints::of_inputs(&inputs, console)?;
        let bar = Progress::over_bytes(&inputs, "matching packets", console);
        let outcome = synchronize_with(&inputs, &Options::default(), &|bytes| bar.add(bytes), &mut |_| {})?;
        bar.finish();
        Ok(outcome)
    };
    match synchronize() {
        Ok(outcome) => {
            for text in &outcome.notes {
                note!(console, "{}", Plain(text));
            }
            if outcome.artefact.clocks.len() > 1 {
                complaints::show_advice(&outcome.advice, console);
            }
            Some(outcome)
        }
        Err(error) => {
            warn_partial!(console, "the hosts are not on one clock: {}", Plain(format!("{error:#}")));
            None
        }
    }
}

/// Bytes of all files in a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    entries.map(of).sum()
}
