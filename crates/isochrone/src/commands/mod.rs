//! One file a command, and what several of them read.

use std::path::{Path, PathBuf};

use isochrone_experiment::{Inputs, Opened, ReadError, TimeBase};
use isochrone_sync::capture::is_capture;

use crate::ExitStatus;
use crate::output::tell;
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::plain::Plain;

pub(crate) mod analyze;
pub(crate) mod convert;
pub(crate) mod dump;
pub(crate) mod events;
mod host_selection;
pub(crate) mod index;
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

/// The clock that times are to be on, as an option names it. It is read before any trace is.
fn time_base(sync: Option<&Path>) -> Result<TimeBase, ReadError> {
    sync.map_or(Ok(TimeBase::Own), TimeBase::read)
}

/// Opens what was named, says what is odd about it, and that captures are left out.
fn open(traces: &[PathBuf], base: TimeBase, quiet: bool) -> anyhow::Result<(Opened, ExitStatus)> {
    let inputs = Inputs::open(traces);
    let ending = complaints::of_inputs(&inputs, quiet)?;
    leave_out_captures(&inputs, quiet)?;
    let bar = Progress::over_bytes(&inputs, "matching packets", quiet);
    let opened = Opened::new(inputs, base, &|bytes| bar.add(bytes))?;
    bar.finish();
    Ok((opened, ending))
}
