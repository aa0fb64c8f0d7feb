//! Files and directories that have no name of their own yet, or never get one: hidden ones beside the final
//! path, and temporary directories.
//!
//! The process that makes one holds a lock on it, which ends with the process, however that ends. A file
//! without a lock was left by a killed process: the next one that makes something of that name there removes
//! it. Where a file system has no locks, nothing is removed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use same_file::Handle;
use tempfile::{Builder, NamedTempFile, TempDir};

/// Random characters at the end of a name.
const RANDOM: usize = 6;

/// Attempts to remove a directory that another thread still writes into.
const TRIES: usize = 10;

/// Paths that this process has made and not finished, which are removed if a signal ends it.
#[derive(Debug, Default)]
pub struct Registry(Mutex<BTreeSet<PathBuf>>);

impl Registry {
    /// Without any path.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// The paths, locked. To be locked since before something is made until its path is in it: then a signal
    /// finds the path, or nothing is made.
    pub fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all of them, because a signal ends this process. It stays locked, so that nothing more is
    /// made. `away`: another name for a path, which is removed later if this process does not come to that.
    pub fn remove_all(&self, away: impl Fn(&Path) -> PathBuf) {
        let all = self.lock();
        for path in all.iter() {
            // Under another name nothing is written into it any more, except to files that are open.
            let away = away(path);
            let path = if fs::rename(path, &away).is_ok() { &away } else { path };
            for _ in 0..TRIES {
                if remove(path).is_ok() {
                    break;
                }
            }
        }
        std::mem::forget(all);
    }
}

/// Whether an open file or directory is still at the path that it was opened by.
///
/// # Errors
/// The open file cannot be examined.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(Handle::from_path(path).ok() == Some(Handle::from_file(file.try_clone()?)?))
}

/// The files and directories of this crate.
static HELD: Registry = Registry::new();

/// Removes all files and directories of this crate that are not finished, because a signal ends this process.
pub fn remove_all() {
    HELD.remove_all(away);
}

/// Another name for what is removed, which is removed as well if this process does not come to that.
fn away(path: &Path) -> PathBuf {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let begin = name.char_indices().rev().nth(RANDOM - 1).map_or(0, |(begin, _)| begin);
    path.with_file_name(format!("{}{}", &name[..begin], name[begin..].chars().rev().collect::<String>()))
}

/// A lock on something, and its place among what is removed if a signal ends the process.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// `None` where the file system has no locks.
    _lock: Option<File>,
}

impl Held {
    /// `all`: [`HELD`], locked since before it was made: a signal finds it there, or it is not made. `None`:
    /// another process was about to remove it.
    fn new(path: &Path, file: File, all: &mut BTreeSet<PathBuf>) -> io::Result<Option<Self>> {
        let lock = match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(_)) => None,
        };
        if let Some(lock) = &lock
            && !is_at(lock, path)?
        {
            return Ok(None);
        }
        all.insert(path.to_owned());
        Ok(Some(Self { path: path.to_owned(), _lock: lock }))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.lock().remove(&self.path);
    }
}

/// A file that will have a name. Dropped before, it is removed.
#[derive(Debug)]
pub struct UnfinishedFile {
    file: NamedTempFile,
    _held: Held,
}

impl UnfinishedFile {
    /// Makes one in the directory in which it will be called `name`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(name: &OsStr, directory: &Path) -> io::Result<Self> {
        let prefix = prefix(name);
        remove_left(&prefix, directory);
        loop {
            let mut all = HELD.lock();
            let file = builder(&prefix, 0o666).tempfile_in(directory)?;
            if let Some(held) = Held::new(file.path(), file.as_file().try_clone()?, &mut all)? {
                return Ok(Self { file, _held: held });
            }
        }
    }

    /// The file itself, open for writing.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it its final path; a file that is there is replaced.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn persist(self, target: &Path) -> io::Result<()> {
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }
}

/// A directory that goes away with the value, and with the process.
#[derive(Debug)]
pub struct UnfinishedDirectory {
    directory: TempDir,
    _held: Held,
}

impl UnfinishedDirectory {
    /// Makes one for what will be called `name` in a directory.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(name: &OsStr, directory: &Path) -> io::Result<Self> {
        Self::made(&prefix(name), directory, 0o777)
    }

    /// Makes one that only this user can read, among the temporary files of the system. `prefix`: what its
    /// name begins with.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn temporary(prefix: &str) -> io::Result<Self> {
        Self::made(OsStr::new(prefix), &std::env::temp_dir(), 0o700)
    }

    fn made(prefix: &OsStr, directory: &Path, mode: u32) -> io::Result<Self> {
        remove_left(prefix, directory);
        loop {
            let mut all = HELD.lock();
            let directory = builder(prefix, mode).tempdir_in(directory)?;
            let Ok(file) = File::open(directory.path()) else { continue };
            if let Some(held) = Held::new(directory.path(), file, &mut all)? {
                return Ok(Self { directory, _held: held });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what a process that is gone has left.
fn remove_left(prefix: &OsStr, directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let is_one =
            rest.is_some_and(|rest| rest.len() == RANDOM && rest.iter().all(u8::is_ascii_alphanumeric));
        // To open a pipe would wait for a writer, and a link leads elsewhere.
        if !is_one || !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // What cannot be removed does no harm.
            let _ = remove(&entry.path());
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".partial-");
    prefix
}

/// Makes files and directories with the access that the user's mask leaves of `mode`; of its own, `tempfile`
/// lets no one else read them.
fn builder(prefix: &OsStr, mode: u32) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(prefix).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    builder
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_nobody_writes_goes_and_what_somebody_writes_stays() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at(".a.partial-Gone00/inside")).unwrap();
        fs::write(at(".a.partial-gone01"), "left").unwrap();
        // Of others, or of nobody.
        let others = [".a.partial-0123456", ".a.partial-01234_", ".b.partial-012345", "a.partial-012345"];
        for name in others {
            fs::write(at(name), "kept").unwrap();
        }
        std::os::unix::fs::symlink("a", at(".a.partial-linked")).unwrap();
        let (name, mut kept) = (OsStr::new("a"), names(root.path()));
        kept.retain(|name| !name.to_lowercase().contains("gone"));
        let one = UnfinishedFile::new(name, root.path()).unwrap();
        let other = UnfinishedDirectory::new(name, root.path()).unwrap();
        let another = UnfinishedFile::new(name, root.path()).unwrap();
        assert!(one.file.path().is_file() && other.path().is_dir() && another.file.path().is_file());
        assert_eq!(names(root.path()).len(), kept.len() + 3);
        one.persist(&at("a")).unwrap();
        drop((other, another));
        kept.push("a".to_owned());
        kept.sort_unstable();
        assert_eq!(names(root.path()), kept);
    }

    #[test]
    fn many_at_once_do_not_remove_each_other() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let made = UnfinishedDirectory::new(OsStr::new("a"), root.path()).unwrap();
                        fs::write(made.path().join("x"), "x").unwrap();
                        assert!(made.path().join("x").is_file());
                    }
                });
            }
        });
        assert_eq!(names(root.path()), [""; 0]);
    }
}
