//! One file a command, and what several of them read.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use isochrone_sync::Inputs;
use isochrone_sync::apply::Clocks;
use isochrone_sync::artefact::Artefact;
use isochrone_sync::capture::is_capture;

use crate::output::tell;
use crate::render::plain::Plain;

pub(crate) mod analyze;
mod choice;
pub(crate) mod convert;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod info;
pub(crate) mod sync;

/// Captures have packets, and no events to show.
fn refuse_capture(path: &Path) -> anyhow::Result<()> {
    let is_one = path.is_file() && is_capture(path);
    anyhow::ensure!(!is_one, "{}: {}", path.display(), NO_EVENTS);
    Ok(())
}

/// Says of captures that a command has no use for them.
///
/// # Errors
/// There is nothing else.
fn leave_out_captures(inputs: &Inputs, quiet: bool) -> anyhow::Result<()> {
    for capture in &inputs.captures {
        let path = capture.path.display();
        anyhow::ensure!(!inputs.traces.is_empty(), "{path}: {NO_EVENTS}");
        if !quiet {
            tell!("note: {}: {NO_EVENTS}; left out", Plain(path));
        }
    }
    Ok(())
}

/// Why a capture is of no use to a command.
const NO_EVENTS: &str = "it is a capture: it holds packets for `isochrone sync`, and no events";

/// The most bytes of a `sync.json` that are read: some times what a thousand hosts that all talk to each other make.
const MAX_ARTEFACT: u64 = 256 << 20;

/// Reads the text of a `sync.json`. A pipe or a device may have no end.
fn read_artefact(path: &Path) -> anyhow::Result<String> {
    // Opening a pipe would wait for somebody who writes.
    anyhow::ensure!(fs::metadata(path)?.is_file(), "it is no regular file");
    let mut text = String::new();
    File::open(path)?.take(MAX_ARTEFACT + 1).read_to_string(&mut text)?;
    anyhow::ensure!(
        text.len() as u64 <= MAX_ARTEFACT,
        "it has more than {MAX_ARTEFACT} bytes, the most that are read"
    );
    Ok(text)
}

/// Reads the corrections of a `sync.json`.
fn read_clocks(path: &Path) -> anyhow::Result<Clocks> {
    let text = read_artefact(path).with_context(|| format!("cannot read {}", path.display()))?;
    let artefact = Artefact::from_json(&text).with_context(|| path.display().to_string())?;
    Clocks::new(&artefact).with_context(|| path.display().to_string())
}
