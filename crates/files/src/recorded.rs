//! Recordings of other tracers of the kernel: `trace.dat` of trace-cmd, `perf.data` of perf.
//!
//! They are turned into a trace, about as large as the recording, which is kept for the next time where the
//! program has a directory for that ([`crate::set_conversions`]). Else it is in a temporary directory,
//! opened, and removed again: open traces keep their files in memory maps.

use std::path::{Path, PathBuf};

use isochrone_ctf::{Schemas, Trace};
use isochrone_import::{Format, ImportError, Imported, import};
use isochrone_unfinished::UnfinishedDirectory;

use crate::kept_recordings::{Place, progress};
use crate::search;

/// Why a recording cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// There is no room for the trace.
    #[error("there is no temporary directory for the trace that it becomes: {0}")]
    Directory(#[from] std::io::Error),
    /// It cannot be turned into a trace.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The trace cannot be opened.
    #[error(transparent)]
    Trace(#[from] isochrone_ctf::Error),
}

/// What recordings below a directory are called. One that is named itself may have any name.
const EXTENSIONS: [&str; 2] = ["dat", "data"];

/// The format of a recording, by how the file begins; `None` if it is none, or cannot be read.
pub fn recording(path: &Path) -> Option<Format> {
    Format::of(path).ok().flatten()
}

/// The recordings below a directory, by their names and how they begin.
pub(crate) fn find_recordings(directory: &Path) -> Vec<PathBuf> {
    search::files(directory, &|path| search::has_extension(path, &EXTENSIONS) && recording(path).is_some())
}

/// Opens a recording as a trace, which says that it is at the path of the recording; gives what became of
/// it, in words. Linear in the recording, unless its trace is kept.
///
/// # Errors
/// It cannot be read, or there is no room for the trace.
pub fn open_recording(
    path: &Path,
    format: Format,
    known: &Schemas,
) -> Result<(Trace, Vec<String>), RecordingError> {
    let open = |inside: &Path, imported: &Imported| {
        let trace = Trace::open_moved(inside, path, known)?;
        Ok::<_, RecordingError>((trace, notes(path, imported)))
    };
    let convert = |to: &Path| Ok::<_, RecordingError>(import(path, format, to, &*progress(path))?);
    if let Some(place) = Place::of(path) {
        // One that is removed meanwhile, or damaged, is made again.
        if let Some(opened) = place.kept().and_then(|(trace, imported)| open(&trace, &imported).ok()) {
            return Ok(opened);
        }
        // Where it cannot be kept, there may be room among temporary files; what else fails there fails
        // again.
        if let Ok(opened) = place.keep(convert).and_then(|(trace, imported)| open(&trace, &imported)) {
            return Ok(opened);
        }
    }
    let directory = UnfinishedDirectory::temporary("isochrone-recording")?;
    let inside = directory.path().join("trace");
    let imported = convert(&inside)?;
    open(&inside, &imported)
}

/// What is to be known of a recording besides its trace.
fn notes(path: &Path, imported: &Imported) -> Vec<String> {
    let Imported { uncounted, unknown, damaged, ref clock, has_unix_time, is_clock_of_cpu, .. } = *imported;
    let mut notes = Vec::new();
    let mut note = |text: String| notes.push(format!("{}: {text}", path.display()));
    if !has_unix_time {
        note(format!(
            "no Unix time was recorded: its times are those of its clock `{clock}`, as if that had begun in \
             1970; `trace-cmd record --date` and `perf record -k CLOCK_MONOTONIC` record it"
        ));
    }
    if is_clock_of_cpu {
        note(format!(
            "its clock `{clock}` is that of each CPU: the order of events of several CPUs may be wrong; \
             record with `trace-cmd record -C mono` or `perf record -k CLOCK_MONOTONIC`"
        ));
    }
    if imported.are_calls_numbers {
        note(
            "calls were recorded by their numbers, without their arguments (raw_syscalls): which files and \
             descriptors they open, read and write is unknown, and those of 32-bit programs, if any, have \
             the names of other calls"
                .to_owned(),
        );
    }
    if uncounted > 0 {
        note(format!(
            "{uncounted} losses of events were not counted: each is shown as the loss of one event"
        ));
    }
    if unknown > 0 {
        note(format!("{unknown} events are of kinds that it does not describe: left out"));
    }
    if imported.is_list_damaged {
        note("the list of threads beside it is damaged, and left out".to_owned());
    }
    if damaged > 0 {
        note(format!("{damaged} events are damaged: shown as lost"));
    }
    notes
}
