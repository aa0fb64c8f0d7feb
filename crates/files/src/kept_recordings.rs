//! Traces that recordings became, kept in a directory for the next time: where the program names one.
//!
//! Each is a directory with the trace and [`ABOUT`], which says of which files it was made. One that is not
//! of these files as they are, or of this version, is made again.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use isochrone_import::{Imported, list_beside};
use isochrone_unfinished::UnfinishedDirectory;
use serde::{Deserialize, Serialize};

/// Goes up with what recordings become: with changes of `isochrone-import`.
const VERSION: u32 = 1;
/// The file that says what a directory is of.
const ABOUT: &str = "recording.json";
/// The trace in it.
const TRACE: &str = "trace";

/// What the program gives for turning recordings into traces.
pub trait Conversions: Send + Sync {
    /// The directory that keeps them; `None`: they are made each time.
    fn directory(&self) -> Option<PathBuf>;

    /// Begins to show progress over so many bytes; what is returned gets the bytes that are done.
    fn progress(&self, bytes: u64) -> Box<dyn Fn(u64)>;
}

static CONVERSIONS: OnceLock<Box<dyn Conversions>> = OnceLock::new();

/// Sets for this process how recordings are turned into traces. Without it, or where it was set before,
/// they are made each time, in silence.
pub fn set_conversions(conversions: Box<dyn Conversions>) {
    // The first one is that of the program.
    let _ = CONVERSIONS.set(conversions);
}

/// Shows progress over the bytes of a recording.
pub(crate) fn progress(recording: &Path) -> Box<dyn Fn(u64)> {
    let bytes = fs::metadata(recording).map_or(0, |file| file.len());
    CONVERSIONS.get().map_or_else(|| Box::new(|_| ()) as Box<dyn Fn(u64)>, |set| set.progress(bytes))
}

/// A file as it was: its path, its bytes, when it was changed, ns since 1970.
type Stamp = (PathBuf, u64, u128);

/// What is known of a kept trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    version: u32,
    files: Vec<Stamp>,
    imported: Imported,
}

/// The recording and the list of threads beside it, as they are.
fn stamps(recording: &Path) -> io::Result<Vec<Stamp>> {
    let of = |path: &Path| {
        let file = fs::metadata(path)?;
        let changed = file.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Ok::<Stamp, io::Error>((path.to_owned(), file.len(), changed))
    };
    // Where it is a link, the list beside it is that beside the link.
    let recording = std::path::absolute(recording)?;
    let mut stamps = vec![of(&recording)?];
    match of(&list_beside(&recording)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        list => stamps.push(list?),
    }
    Ok(stamps)
}

/// Where the trace of a recording is kept, or would be.
#[derive(Debug)]
pub(crate) struct Place {
    directory: PathBuf,
    name: String,
    files: Vec<Stamp>,
}

impl Place {
    /// The place of a recording, if traces are kept.
    pub(crate) fn of(recording: &Path) -> Option<Self> {
        Self::within(CONVERSIONS.get()?.directory()?, recording)
    }

    fn within(directory: PathBuf, recording: &Path) -> Option<Self> {
        let files = stamps(recording).ok()?;
        // Two paths may share a name: what is there is checked.
        let mut hasher = DefaultHasher::new();
        hasher.write(files.first()?.0.as_os_str().as_encoded_bytes());
        Some(Self { directory, name: format!("{:016x}", hasher.finish()), files })
    }

    /// The kept trace and what became of its recording, if it is of the recording as it is.
    pub(crate) fn kept(&self) -> Option<(PathBuf, Imported)> {
        let path = self.directory.join(&self.name);
        let about = about(&path)?;
        let is_current = about.version == VERSION && about.files == self.files;
        is_current.then(|| (path.join(TRACE), about.imported))
    }

    /// Makes a trace by `import`, at the path that it gets, and keeps it. Where another process has kept
    /// one meanwhile, that one stays, and is the result.
    pub(crate) fn keep<E: From<io::Error>>(
        &self,
        import: impl FnOnce(&Path) -> Result<Imported, E>,
    ) -> Result<(PathBuf, Imported), E> {
        fs::create_dir_all(&self.directory)?;
        // One name for all, so that the next one removes what any killed process has left.
        let unfinished = UnfinishedDirectory::new(OsStr::new("recording"), &self.directory)?;
        let inside = unfinished.path().join(&self.name);
        fs::create_dir(&inside)?;
        let imported = import(&inside.join(TRACE))?;
        let about = About { version: VERSION, files: self.files.clone(), imported };
        let text = serde_json::to_vec(&about).map_err(io::Error::other)?;
        fs::write(inside.join(ABOUT), text)?;
        let path = self.directory.join(&self.name);
        if let Err(error) = fs::rename(&inside, &path) {
            // An older one is there.
            if let Some(kept) = self.kept() {
                return Ok(kept);
            }
            remove(&path).map_err(|_| error)?;
            fs::rename(&inside, &path)?;
        }
        Ok((path.join(TRACE), about.imported))
    }
}

fn about(path: &Path) -> Option<About> {
    serde_json::from_slice(&fs::read(path.join(ABOUT)).ok()?).ok()
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    // Under another name, no process opens a part of it.
    let away = path.with_extension("removed");
    removed(fs::remove_dir_all(&away))?;
    removed(fs::rename(path, &away))?;
    removed(fs::remove_dir_all(&away))
}

/// A trace of a recording that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecording {
    /// Its directory.
    pub path: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
    /// The recording; `None`: what it is of cannot be read.
    pub recording: Option<PathBuf>,
    /// Whether it is of the recording as it is, and of this version.
    pub is_fresh: bool,
}

impl KeptRecording {
    /// All that a directory keeps, the largest first. What else is there is left out.
    pub fn all(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let of = |path: PathBuf| {
            let bytes = fs::read_dir(path.join(TRACE)).ok()?.flatten();
            let bytes = bytes.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
            let about = about(&path);
            let recording = about.as_ref().and_then(|it| Some(it.files.first()?.0.clone()));
            let is_fresh = about.as_ref().is_some_and(|it| {
                let now = it.files.first().and_then(|file| stamps(&file.0).ok());
                it.version == VERSION && now.as_ref() == Some(&it.files)
            });
            Some(Self { path, bytes, recording, is_fresh })
        };
        let mut all: Vec<Self> = entries.filter_map(of).collect();
        all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
        all
    }

    /// Removes it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use super::*;

    fn imported(events: u64) -> Imported {
        Imported { events, ..Imported::default() }
    }

    /// A trace of so many events.
    fn made(place: &Place, events: u64) -> u64 {
        let import = |path: &Path| {
            fs::create_dir(path)?;
            fs::write(path.join("metadata"), "")?;
            Ok::<_, io::Error>(imported(events))
        };
        place.keep(import).unwrap().1.events
    }

    #[test]
    fn a_trace_is_kept_as_long_as_its_files_are_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let (keep, recording) = (directory.path().join("kept"), directory.path().join("trace.dat"));
        fs::write(&recording, "1").unwrap();
        let place = || Place::within(keep.clone(), &recording).unwrap();
        assert_eq!(place().kept(), None);
        assert_eq!(made(&place(), 1), 1);
        let (path, again) = place().kept().unwrap();
        assert!(path.join("metadata").is_file() && again.events == 1);
        // One that another process has kept meanwhile stays.
        assert_eq!(made(&place(), 9), 1);
        let fresh = |expect: bool| {
            let all = KeptRecording::all(&keep);
            assert_eq!(all.iter().map(|it| it.is_fresh).collect::<Vec<_>>(), [expect]);
            assert_eq!(all[0].recording.as_deref(), Some(&*std::path::absolute(&recording).unwrap()));
        };
        fresh(true);
        // A list of threads beside it makes it another recording, and so does each change.
        fs::write(list_beside(&recording), "list").unwrap();
        assert_eq!(place().kept(), None);
        assert_eq!(made(&place(), 2), 2);
        fs::write(list_beside(&recording), "other list").unwrap();
        assert_eq!(place().kept(), None);
        fs::remove_file(list_beside(&recording)).unwrap();
        fs::write(&recording, "12").unwrap();
        fresh(false);
        assert_eq!(made(&place(), 3), 3);
        // What is damaged is made again.
        fs::write(keep.join(&place().name).join(ABOUT), "{").unwrap();
        assert_eq!(place().kept(), None);
        assert_eq!(made(&place(), 4), 4);
        fresh(true);
        KeptRecording::all(&keep)[0].remove().unwrap();
        assert_eq!(fs::read_dir(&keep).unwrap().count(), 0);
    }

    #[test]
    fn what_fails_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let (keep, recording) = (directory.path().join("kept"), directory.path().join("trace.dat"));
        fs::write(&recording, "1").unwrap();
        let place = Place::within(keep.clone(), &recording).unwrap();
        assert!(place.keep(|_| Err::<Imported, _>(io::Error::other("no"))).is_err());
        assert_eq!(fs::read_dir(&keep).unwrap().count(), 0);
    }
}
