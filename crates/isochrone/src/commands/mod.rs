//! One file a command, and what several of them read.

use std::path::Path;

use anyhow::Context;
use isochrone_sync::Inputs;
use isochrone_sync::apply::Clocks;
use isochrone_sync::artefact::Artefact;
use isochrone_sync::capture::is_capture;

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
            eprintln!("note: {path}: {NO_EVENTS}; left out");
        }
    }
    Ok(())
}

/// Why a capture is of no use to a command.
const NO_EVENTS: &str = "it is a capture: it holds packets for `isochrone sync`, and no events";

/// Reads the corrections of a `sync.json`.
fn read_clocks(path: &Path) -> anyhow::Result<Clocks> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let artefact = Artefact::from_json(&text).with_context(|| path.display().to_string())?;
    Clocks::new(&artefact).with_context(|| path.display().to_string())
}
