//! Files that are written for the user: whole or not at all, and never over what is read.
//!
//! What is being written has a hidden name next to its final path, `.NAME.partial-…`, and gets its own when
//! all of it is on the disk. After an error or a signal it is removed; what a killed process leaves
//! ([`isochrone_unfinished`]) is passed over by the search for traces and captures. `isochrone_sync::copies`
//! does the same with directories.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use isochrone_ctf::find_traces;
use same_file::Handle;

use isochrone_unfinished::UnfinishedFile;

use crate::captures::find_captures;

/// Links that are followed one after the other; the kernel follows as many.
const MAX_LINKS: usize = 40;

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The directory it is to be in is none.
    #[error("cannot write there: {} is not a directory", .0.display())]
    NoDirectory(PathBuf),
    /// Its name is that of a file that is read.
    #[error("cannot write {}: it is an input", .0.display())]
    Input(PathBuf),
    /// It would be in a trace that is read, or is one of its files by another name.
    #[error(
        "cannot write {}: it belongs to the trace {}, which is an input",
        .path.display(),
        .trace.display()
    )]
    OfTrace {
        /// The file.
        path: PathBuf,
        /// The trace.
        trace: PathBuf,
    },
    /// The operating system refuses.
    #[error("cannot write {}: {cause}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// An error of a temporary file, with the directory that it was to be in.
pub fn of_temporary(error: &io::Error) -> io::Error {
    let directory = std::env::temp_dir();
    io::Error::new(error.kind(), format!("a temporary file in {} (TMPDIR): {error}", directory.display()))
}

/// Checks that a file can be written and is not what is read from `inputs` (captures, lists, traces and
/// directories of them), by whatever name: before any work is done for it. Linear in the files of the inputs.
///
/// # Errors
/// As said of [`OutputError`].
pub fn check(path: &Path, inputs: &[PathBuf]) -> Result<(), OutputError> {
    let io = |cause| OutputError::Io { path: path.to_owned(), cause };
    let target = place(path).map_err(io)?;
    let directory = parent(&target);
    if !directory.is_dir() {
        return Err(OutputError::NoDirectory(directory.to_owned()));
    }
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => return Err(io(io::ErrorKind::IsADirectory.into())),
        // Opened for writing, to see whether it may be written; its content stays.
        Ok(there) if there.is_file() => drop(OpenOptions::new().write(true).open(&target).map_err(io)?),
        _ => {}
    }
    let there = target.is_file().then(|| Handle::from_path(&target)).transpose().map_err(io)?;
    let is_it = |file: &Path| {
        let Some(there) = &there else { return false };
        file.is_file() && Handle::from_path(file).is_ok_and(|file| file == *there)
    };
    for input in inputs {
        if input.is_file() {
            if is_it(input) {
                return Err(OutputError::Input(path.to_owned()));
            }
            continue;
        }
        // What cannot be searched is reported when it is to be read.
        for trace in find_traces(input).unwrap_or_default().traces {
            let inside = trace.canonicalize().is_ok_and(|trace| directory.starts_with(trace));
            let files = || files_in(&trace).chain(files_in(&trace.join("index")));
            if inside || (there.is_some() && files().any(|file| is_it(&file))) {
                return Err(OutputError::OfTrace { path: path.to_owned(), trace });
            }
        }
        if find_captures(input).iter().any(|capture| is_it(capture)) {
            return Err(OutputError::Input(path.to_owned()));
        }
    }
    Ok(())
}

/// Writes a file: until all of it is on the disk, what had its name before stays. Links are followed. A
/// device or a pipe gets the bytes as they are.
///
/// # Errors
/// [`OutputError::Io`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let io = |cause| OutputError::Io { path: path.to_owned(), cause };
    write_with(path, |to| to.write_all(bytes).map_err(io))
}

/// As [`write()`], of what `fill` writes.
///
/// # Errors
/// [`OutputError::Io`], or what `fill` says.
pub fn write_with<E: From<OutputError>>(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let io = |cause| OutputError::Io { path: path.to_owned(), cause };
    let former = fs::metadata(path).ok();
    if former.as_ref().is_some_and(|former| !former.is_file()) {
        let mut to = BufWriter::new(File::create(path).map_err(io)?);
        fill(&mut to)?;
        return Ok(to.flush().map_err(io)?);
    }
    let target = place(path).map_err(io)?;
    let unfinished =
        UnfinishedFile::new(target.file_name().unwrap_or_default(), parent(&target)).map_err(io)?;
    let file = unfinished.file();
    let mut to = BufWriter::new(file);
    fill(&mut to)?;
    to.flush().map_err(io)?;
    drop(to);
    if let Some(former) = former {
        file.set_permissions(former.permissions()).map_err(io)?;
    }
    file.sync_all().map_err(io)?;
    unfinished.persist(&target).map_err(io)?;
    flush_names(parent(&target));
    Ok(())
}

/// Puts all files of a directory on the disk: what is renamed then is whole even after a loss of power.
///
/// # Errors
/// A file cannot be read or synchronized.
pub fn flush(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            flush(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    flush_names(directory);
    Ok(())
}

/// Puts the names in a directory on the disk, where the file system knows how to.
pub fn flush_names(directory: &Path) {
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

/// The path where the bytes of a file are or will be: absolute, without links.
///
/// # Errors
/// It has no name, or too many links lead on from it.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(found) = path.canonicalize() {
            return Ok(found);
        }
        let Ok(next) = fs::read_link(&path) else {
            let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
            let directory = parent(&path);
            return Ok(directory.canonicalize().unwrap_or_else(|_| directory.to_owned()).join(name));
        };
        path = parent(&path).join(next);
    }
    Err(io::Error::other("too many links lead on from it"))
}

/// The directory that a path names something in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn files_in(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tempfile::TempDir;

    use super::*;

    /// A trace, a capture, a list, and other names for what is in them.
    fn inputs() -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let files =
            ["s/t/metadata", "s/t/ch_0", "s/t/index/ch_0.idx", "s/notes", "m.txt", "free", "elsewhere"];
        for file in files {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "kept").unwrap();
        }
        for capture in ["a.pcap", "s/b.pcap"] {
            fs::write(at(capture), [0xd4, 0xc3, 0xb2, 0xa1, 0]).unwrap();
        }
        symlink(at("elsewhere"), at("s/t/ch_1")).unwrap();
        symlink(at("s/t"), at("to_trace")).unwrap();
        symlink("m.txt", at("to_list")).unwrap();
        symlink("gone/x", at("dangling")).unwrap();
        symlink("s/t/new", at("to_new")).unwrap();
        symlink("round", at("round")).unwrap();
        fs::hard_link(at("s/t/ch_0"), at("hard")).unwrap();
        fs::hard_link(at("a.pcap"), at("hard.json")).unwrap();
        root
    }

    #[test]
    fn nothing_is_written_over_what_is_read() {
        let root = inputs();
        let read = ["s", "a.pcap", "m.txt", "absent"].map(|name| root.path().join(name));
        let check = |name: &str, expect: Option<&str>| {
            let found = check(&root.path().join(name), &read).map_err(|error| error.to_string());
            match expect {
                Some(expect) => {
                    let error = found.unwrap_err();
                    assert!(error.ends_with(expect), "{name}: {error}");
                    assert!(error.contains(root.path().to_str().unwrap()), "{error}");
                }
                None => assert_eq!(found, Ok(()), "{name}"),
            }
        };
        for of_trace in [
            "s/t/ch_0",
            "s/t/metadata",
            "s/t/new",
            "s/t/index/ch_0.idx",
            "s/t/index/new",
            "to_trace/new",
            "s/../s/t/./ch_0",
            "s/t/index/../../../hard",
            "hard",
            "elsewhere",
            "to_new",
        ] {
            check(of_trace, Some("s/t, which is an input"));
        }
        for input in ["a.pcap", "hard.json", "s/b.pcap", "m.txt", "to_list", "s/t/../../m.txt"] {
            check(input, Some("it is an input"));
        }
        for free in ["free", "new", "s/notes", "s/new", "s/t/../new"] {
            check(free, None);
        }
        check("gone/x", Some("gone is not a directory"));
        check("dangling", Some("is not a directory"));
        check("round", Some("too many links lead on from it"));
        check("s", Some("is a directory"));
        check("s/t/..", Some("is a directory"));
    }

    #[test]
    fn files_are_replaced_whole() {
        let root = inputs();
        let at = |name: &str| root.path().join(name);
        let check = |name: &str, held_by: &str| {
            write(&at(name), b"new").unwrap();
            assert_eq!(fs::read(at(held_by)).unwrap(), b"new", "{name}");
        };
        check("free", "free");
        check("made", "made");
        check("to_list", "m.txt");
        assert!(at("to_list").is_symlink());
        check("to_new", "s/t/new");
        // Another name of the file keeps what it had.
        check("hard", "hard");
        assert_eq!(fs::read(at("s/t/ch_0")).unwrap(), b"kept");
        fs::set_permissions(at("free"), fs::Permissions::from_mode(0o640)).unwrap();
        check("free", "free");
        assert_eq!(fs::metadata(at("free")).unwrap().permissions().mode() & 0o777, 0o640);
        // As other programs would have made it.
        fs::write(at("plain"), "").unwrap();
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode("made"), mode("plain"));
        assert!(write(&at("gone/x"), b"new").unwrap_err().to_string().contains("gone/x: "));
        write(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(files_in(root.path()).all(|file| !file.to_string_lossy().contains("partial")));
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let root = inputs();
        let directory = root.path().join("s");
        assert!(write(&directory, b"new").is_err());
        let all_is_there = files_in(root.path()).count();
        // A name that is as long as names can be leaves no room for the hidden one.
        assert!(write(&root.path().join("x".repeat(255)), b"new").is_err());
        assert_eq!(files_in(root.path()).count(), all_is_there);
    }
}
