//! The temporary directory of a store while it is written. One writer at a time holds it, of all processes.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use isochrone_unfinished::{Registry, is_at};

use crate::error::StoreError;
use crate::manifest;
use crate::store::CLOCKS;

/// The temporary directories that this process holds.
static HELD: Registry = Registry::new();

/// Removes what this process has written of unfinished stores, because a signal ends it. No store is finished
/// after that.
pub fn remove_unfinished() {
    HELD.remove_all(|directory| directory.with_extension("away.partial"));
}

/// Removes what killed processes have left in a directory of stores. What another process is writing stays.
pub fn remove_left(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with('.') && name.ends_with(".partial") && entry.path().is_dir()) {
            continue;
        }
        // A process that was about to lock it makes another one.
        if let Ok(lock) = File::open(entry.path())
            && lock.try_lock().is_ok()
        {
            // What cannot be removed does no harm.
            let _ = remove(&entry.path().with_extension("old"));
            let _ = remove(&entry.path());
        }
    }
}

/// The temporary directory of a store, empty at first and locked. Dropped without [`Self::commit`], it is
/// removed.
#[derive(Debug)]
pub(crate) struct StagingDir {
    /// The directory to write to.
    partial: PathBuf,
    /// The final path.
    path: PathBuf,
    /// The lock on the directory itself: it goes with the process that holds it, and follows the directory
    /// when that is renamed.
    lock: File,
    is_committed: bool,
}

impl StagingDir {
    /// Waits until no other writer makes a store for `path`, then starts one. `waits` is called once if
    /// another one does. What a killed writer left is removed.
    ///
    /// # Errors
    /// The directory cannot be made or locked, or what has the final path is no store alone.
    pub(crate) fn reserve(path: &Path, waits: impl FnOnce()) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(StoreError::io(parent))?;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let partial = path.with_file_name(format!(".{name}.partial"));
        let mut waits = Some(waits);
        let lock = loop {
            if let Some(lock) = locked(&partial, &mut waits)? {
                break lock;
            }
        };
        let staging = Self { partial, path: path.to_owned(), lock, is_committed: false };
        staging.clear()?;
        refuse_foreign(path)?;
        Ok(staging)
    }

    /// The directory to write to.
    pub(crate) fn directory(&self) -> &Path {
        &self.partial
    }

    /// Renames the directory to the final path. What was there is removed.
    pub(crate) fn commit(mut self) -> Result<(), StoreError> {
        // A directory cannot be renamed over one that is not empty: the old store is renamed first. Between
        // the two steps there is none.
        let old = self.old();
        if self.path.exists() {
            // Files may have come since.
            refuse_foreign(&self.path)?;
            fs::rename(&self.path, &old).map_err(StoreError::io(&self.path))?;
        }
        {
            // From the rename on, another writer may take the name.
            let mut held = HELD.lock();
            fs::rename(&self.partial, &self.path).map_err(StoreError::io(&self.path))?;
            held.remove(&self.partial);
        }
        self.is_committed = true;
        // From here on another writer may hold the directory. It removes what is there of the old store, too,
        // and may have put the next old one there, which is its own to remove.
        match remove(&old) {
            Err(StoreError::Io { why, .. }) if why.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    /// Where the store that is replaced is until the new one has its name.
    fn old(&self) -> PathBuf {
        self.partial.with_extension("old")
    }

    /// Removes what a killed writer left.
    fn clear(&self) -> Result<(), StoreError> {
        remove(&self.old())?;
        let entries = fs::read_dir(&self.partial).map_err(StoreError::io(&self.partial))?;
        for entry in entries {
            let path = entry.map_err(StoreError::io(&self.partial))?.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(StoreError::io(&path))?;
        }
        Ok(())
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        if !self.is_committed {
            let mut held = HELD.lock();
            let _ = fs::remove_dir_all(&self.partial);
            held.remove(&self.partial);
        }
        // A writer that waits finds that the directory is gone, and makes a new one.
        let _ = self.lock.unlock();
    }
}

/// That nothing is lost where a store replaces what has its path.
fn refuse_foreign(store: &Path) -> Result<(), StoreError> {
    match foreign(store) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(StoreError::Foreign { store: store.to_owned(), found }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io(store)(error)),
    }
}

/// Something in a directory that no store of any version has there, if there is such a thing.
pub(crate) fn foreign(store: &Path) -> io::Result<Option<PathBuf>> {
    const OF_ALL: [&str; 4] = [manifest::FILE, CLOCKS, "messages.arrow", "mpi.arrow"];
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let is_of_host = name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit);
        if kind.is_dir() && is_of_host {
            for table in fs::read_dir(entry.path())? {
                let table = table?;
                let is_table = table.path().extension().is_some_and(|extension| extension == "arrow");
                if !(is_table && table.file_type()?.is_file()) {
                    return Ok(Some(table.path()));
                }
            }
        } else if !(kind.is_file() && OF_ALL.iter().any(|known| name == *known)) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

/// Makes a directory if there is none, locks it and has it in [`HELD`]. `None`: it was renamed or removed
/// before it could be locked.
fn locked(directory: &Path, waits: &mut Option<impl FnOnce()>) -> Result<Option<File>, StoreError> {
    use io::ErrorKind::{AlreadyExists, NotFound};
    // Since before it is made: a signal finds it there, or it is not made.
    let mut all = HELD.lock();
    match fs::create_dir(directory) {
        Err(error) if error.kind() != AlreadyExists => return Err(StoreError::io(directory)(error)),
        _ => {}
    }
    let lock = match File::open(directory) {
        Err(error) if error.kind() == NotFound => return Ok(None),
        opened => opened.map_err(StoreError::io(directory))?,
    };
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            drop(all);
            if let Some(waits) = waits.take() {
                waits();
            }
            lock.lock().map_err(StoreError::io(directory))?;
            all = HELD.lock();
        }
        Err(TryLockError::Error(error)) => return Err(StoreError::io(directory)(error)),
    }
    if !is_at(&lock, directory).map_err(StoreError::io(directory))? {
        return Ok(None);
    }
    all.insert(directory.to_owned());
    Ok(Some(lock))
}

fn remove(directory: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(directory)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;

    use super::*;

    /// Writers of one place take turns, and whoever looks finds a whole store once there is one.
    #[test]
    fn one_writer_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        let (writing, waited) = (AtomicU32::new(0), AtomicBool::new(false));
        let write = |number: u32| {
            let staging = StagingDir::reserve(&path, || waited.store(true, Ordering::SeqCst)).unwrap();
            assert_eq!(writing.fetch_add(1, Ordering::SeqCst), 0);
            assert_eq!(fs::read_dir(staging.directory()).unwrap().count(), 0);
            fs::write(staging.directory().join("messages.arrow"), number.to_string()).unwrap();
            thread::yield_now();
            fs::write(staging.directory().join("mpi.arrow"), number.to_string()).unwrap();
            writing.fetch_sub(1, Ordering::SeqCst);
            if !number.is_multiple_of(3) {
                staging.commit().unwrap();
            }
        };
        thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || (0..20).for_each(|turn| write(thread * 20 + turn)));
            }
        });
        assert!(waited.load(Ordering::SeqCst));
        let half = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        assert_eq!(half("messages.arrow"), half("mpi.arrow"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_writer_left_goes() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        for left in [".store.partial/1-h", ".store.old/1-h"] {
            fs::create_dir_all(root.path().join(left)).unwrap();
        }
        StagingDir::reserve(&path, || unreachable!("no other writer")).unwrap().commit().unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_killed_writers_left_of_other_stores_goes() {
        let root = tempfile::tempdir().unwrap();
        for left in [".a.partial/1-h", ".a.old/1-h", ".b.partial", "c/1-h", ".d.other"] {
            fs::create_dir_all(root.path().join(left)).unwrap();
        }
        let staging =
            StagingDir::reserve(&root.path().join("e"), || unreachable!("no other writer")).unwrap();
        remove_left(root.path());
        let names = || {
            let names = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name());
            names.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>()
        };
        assert_eq!(names(), [".d.other", ".e.partial", "c"].map(str::to_owned).into());
        staging.commit().unwrap();
    }

    #[test]
    fn nothing_but_a_store_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        let reserve = || StagingDir::reserve(&path, || unreachable!("no other writer"));
        let write = |name: &str| {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        };
        ["store.json", "sync.json", "messages.arrow", "0-h/slices.arrow"].into_iter().for_each(write);
        for name in ["notes", "0-h/notes", "h/slices.arrow", "0-h/deep/slices.arrow", "mine.arrow"] {
            write(name);
            let StoreError::Foreign { found, .. } = reserve().unwrap_err() else { panic!("{name}") };
            assert!(path.join(name).starts_with(found), "{name}");
            fs::remove_file(path.join(name)).unwrap();
            let _ = fs::remove_dir(path.join(name).parent().unwrap());
        }
        // What comes while the store is written is not lost either.
        let staging = reserve().unwrap();
        write("notes");
        assert!(matches!(staging.commit(), Err(StoreError::Foreign { .. })));
        assert!(path.join("notes").exists() && path.join("store.json").exists());
        fs::remove_file(path.join("notes")).unwrap();
        reserve().unwrap().commit().unwrap();
        assert!(!path.join("store.json").exists());
    }
}
