//! Traces that are packed: a zip file, or a tar file, which may be compressed by gzip, Zstandard, xz or LZ4
//! (`chunk.tar.zst`).
//!
//! What is in it is unpacked to a temporary directory, opened, and removed again: open traces keep their
//! files in memory maps. Memory does not depend on the size; the disk has to have room for the traces while
//! they are open.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use isochrone_compressed::Reader;
use isochrone_ctf::{Schemas, Trace, find_traces};
use isochrone_unfinished::UnfinishedDirectory;
use tar::{Archive, EntryType};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::search;

/// Nothing that tracers write is compressed to less than one part in this many, …
const MAX_RATIO: u64 = 1_000;
/// … beyond this many bytes.
const MAX_UNPACKED: u64 = 64 << 20;
/// Where a tar file says that it is one.
const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
/// How a zip file begins that has files.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// What packed files are called in a directory. One that is named itself may have any name.
const EXTENSIONS: [&str; 8] = ["tar", "tgz", "txz", "gz", "xz", "zst", "lz4", "zip"];

/// Why a packed trace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum PackedError {
    /// It cannot be read, or not be unpacked.
    #[error("cannot be unpacked: {0}")]
    Io(#[from] io::Error),
    /// It unpacks to more than traces do.
    #[error("unpacks to more than {0} bytes, {MAX_RATIO} times its size: not what a tracer writes")]
    TooLarge(u64),
    /// Not all of it is there.
    #[error("it was cut: the end of the tar file is missing")]
    Cut,
    /// It goes on behind its end: tar files were put together.
    #[error("there is more behind the end of the tar file: unpack it")]
    Behind,
    /// What is in it may be a part of a trace, and is not unpacked: a link, a device, a path outside.
    #[error("{}: is a link or a device, or lies outside: unpack the file", .0.display())]
    Entry(PathBuf),
    /// It has no trace.
    #[error("no CTF trace found in it: no directory has a metadata file")]
    NoTrace,
    /// A trace in it cannot be opened.
    #[error("{}: {source}", inner.display())]
    Trace {
        /// Its path in the file.
        inner: PathBuf,
        /// Why.
        source: isochrone_ctf::Error,
    },
}

/// A form of packed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Tar,
    Zip,
}

/// Whether a file is a zip file, or a tar file, compressed or not. Reads its first bytes.
pub fn is_packed(path: &Path) -> bool {
    // Opening a pipe would wait for a writer.
    let is_file = std::fs::metadata(path).is_ok_and(|it| it.is_file());
    is_file && packing(path).is_ok_and(|it| it.is_some())
}

fn packing(path: &Path) -> io::Result<Option<Packing>> {
    let (at, magic) = TAR_MAGIC;
    let mut start = Vec::new();
    isochrone_compressed::open(path)?.take((at + magic.len()) as u64).read_to_end(&mut start)?;
    Ok(match () {
        () if start.starts_with(ZIP_MAGIC) => Some(Packing::Zip),
        () if start.get(at..) == Some(magic) => Some(Packing::Tar),
        () => None,
    })
}

/// The packed files below a directory, by their names and how they begin.
pub(crate) fn find_packed(directory: &Path) -> Vec<PathBuf> {
    search::files(directory, &|path| search::has_extension(path, &EXTENSIONS) && is_packed(path))
}

/// Opens the traces in a packed file, each with its path there; they say that they are at that path below the
/// file. Linear in what is unpacked.
///
/// # Errors
/// The file cannot be unpacked, or a trace in it not be opened: a file that was cut gives nothing.
pub fn open_packed(path: &Path, known: &Schemas) -> Result<Vec<(PathBuf, Trace)>, PackedError> {
    let directory = UnfinishedDirectory::temporary("isochrone-unpacked")?;
    unpack(path, directory.path())?;
    let root = directory.path();
    let of_file = |source: isochrone_ctf::Error| PackedError::Trace { inner: PathBuf::new(), source };
    let found = find_traces(root).map_err(of_file)?;
    if let Some(source) = found.unreadable.into_iter().next() {
        return Err(of_file(source));
    }
    if found.traces.is_empty() {
        return Err(PackedError::NoTrace);
    }
    let open = |directory: &PathBuf| {
        let inner = directory.strip_prefix(root).map(Path::to_owned).unwrap_or_default();
        let trace = Trace::open_moved(directory, &search::below(path, &inner), known);
        let trace = trace.map_err(|source| PackedError::Trace { inner: inner.clone(), source })?;
        Ok((inner, trace))
    };
    found.traces.iter().map(open).collect()
}

/// Unpacks files and directories into a directory. Linear in what is unpacked.
///
/// # Errors
/// It cannot be read or written, it was cut, or there is something else in it, which could be a stream.
pub fn unpack(path: &Path, to: &Path) -> Result<(), PackedError> {
    let most = File::open(path)?.metadata()?.len().saturating_mul(MAX_RATIO).max(MAX_UNPACKED);
    match packing(path)? {
        Some(Packing::Zip) => unpack_zip(path, most, to),
        _ => unpack_tar(path, most, to),
    }
}

fn unpack_tar(path: &Path, most: u64, to: &Path) -> Result<(), PackedError> {
    let reader = BufReader::new(isochrone_compressed::open(path)?);
    let mut source = Source { reader, has_ended: false };
    let unpacked = unpack_entries(&mut source, most, to);
    // A block of zeros ends a tar file; more of them fill it up.
    if source.has_ended {
        return Err(PackedError::Cut);
    }
    unpacked?;
    let mut rest = [0; 1 << 12];
    loop {
        match source.reader.read(&mut rest)? {
            0 => return Ok(()),
            read if rest[..read].iter().all(|&byte| byte == 0) => {}
            _ => return Err(PackedError::Behind),
        }
    }
}

/// Unpacks up to a number of bytes.
fn unpack_entries(source: &mut Source, most: u64, to: &Path) -> Result<(), PackedError> {
    let mut archive = Archive::new(source);
    let mut left = most;
    for entry in archive.entries()? {
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse | EntryType::Directory => {}
            _ => return Err(PackedError::Entry(entry.path()?.into_owned())),
        }
        left = left.checked_sub(entry.size()).ok_or(PackedError::TooLarge(most))?;
        if !entry.unpack_in(to).map_err(|error| cause(&error))? {
            return Err(PackedError::Entry(entry.path()?.into_owned()));
        }
    }
    Ok(())
}

/// Unpacks up to a number of bytes. Its list of files is at its end: one that was cut has none.
fn unpack_zip(path: &Path, most: u64, to: &Path) -> Result<(), PackedError> {
    let other = |error: ZipError| match error {
        ZipError::Io(error) => PackedError::Io(error),
        error => PackedError::Io(io::Error::new(io::ErrorKind::InvalidData, error)),
    };
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(other)?;
    let mut left = most;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(other)?;
        let name = entry.name().map(|name| PathBuf::from(&*name)).map_err(other)?;
        let inside = entry.enclosed_name().filter(|inside| inside.is_relative() && !entry.is_symlink());
        let target = to.join(inside.ok_or(PackedError::Entry(name))?);
        if entry.is_dir() {
            std::fs::create_dir_all(target)?;
            continue;
        }
        std::fs::create_dir_all(target.parent().unwrap_or(to))?;
        // What it says of its size may be wrong.
        let written = io::copy(&mut entry.take(left.saturating_add(1)), &mut File::create_new(target)?)?;
        left = left.checked_sub(written).ok_or(PackedError::TooLarge(most))?;
    }
    Ok(())
}

/// What an error comes from, without the temporary path.
fn cause(error: &io::Error) -> io::Error {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    io::Error::new(error.kind(), deepest.to_string())
}

/// Bytes that are read, and whether their end was seen.
struct Source {
    reader: BufReader<Reader>,
    has_ended: bool,
}

impl Read for Source {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(to)?;
        self.has_ended |= read == 0 && !to.is_empty();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn other_files_are_not_packed() {
        let directory = tempfile::tempdir().unwrap();
        let check = |content: &[u8], expect: bool| {
            let path = directory.path().join("file");
            std::fs::write(&path, content).unwrap();
            assert_eq!(is_packed(&path), expect, "{content:?}");
        };
        check(b"", false);
        check(&[0x28, 0xb5, 0x2f, 0xfd], false);
        check(&[0; 1024], false);
        let empty = zstd::encode_all(&[0; 1024][..], 1).unwrap();
        check(&empty, false);
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(5);
        header.set_cksum();
        tar.append_data(&mut header, "a/b", &b"hello"[..]).unwrap();
        let tar = tar.into_inner().unwrap();
        check(&tar, true);
        let packed = zstd::encode_all(tar.as_slice(), 1).unwrap();
        check(&packed, true);
        check(&packed[..packed.len() / 2], false);
        assert!(!is_packed(directory.path()));
        assert!(!is_packed(Path::new("no/such/file")));
    }

    /// What is packed, and what was found and not found of it.
    fn packed(entries: &[(&str, EntryType, &[u8])]) -> Result<Vec<(PathBuf, Trace)>, PackedError> {
        packed_with(entries, |_| ())
    }

    /// The same of a tar file that `change` changes before it is compressed.
    fn packed_with(
        entries: &[(&str, EntryType, &[u8])],
        change: impl Fn(&mut Vec<u8>),
    ) -> Result<Vec<(PathBuf, Trace)>, PackedError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.tar.zst");
        let mut out = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        for &(name, kind, content) in entries {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(kind);
            header.set_mode(0o755);
            header.set_size(content.len() as u64);
            // As hostile as it comes: the builder refuses such names.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, content).unwrap();
        }
        let mut tar = tar.into_inner().unwrap();
        change(&mut tar);
        out.write_all(&tar).unwrap();
        out.finish().unwrap();
        let found = open_packed(&path, &Schemas::default());
        let left = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, 1, "something was written outside");
        found
    }

    #[test]
    fn hostile_files_write_nothing_outside() {
        let metadata = b"/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };";
        let link = ("k/stream", EntryType::Symlink, &b""[..]);
        let outside = ("../outside", EntryType::Regular, &b"text"[..]);
        let absolute = ("/tmp/isochrone-absolute", EntryType::Regular, &b""[..]);
        assert!(matches!(packed(&[absolute]), Err(PackedError::NoTrace)));
        let trace = ("k/metadata", EntryType::Regular, &metadata[..]);
        for other in [link, outside] {
            let said = packed(&[trace, other]).map(|_| ()).unwrap_err();
            assert!(matches!(&said, PackedError::Entry(path) if path == Path::new(other.0)), "{said}");
        }
        let found = packed(&[trace]).unwrap();
        assert_eq!(found[0].0, Path::new("k"));
        // Cut in a file, between two, or after the last: nothing says that one is missing but the end.
        for bytes in [520, 1024, 1500, 2048] {
            let cut = |tar: &mut Vec<u8>| tar.truncate(bytes);
            let said = packed_with(&[trace, ("k/a", EntryType::Regular, b"a")], cut);
            assert!(matches!(said, Err(PackedError::Cut)), "{bytes}");
        }
        let twice = |tar: &mut Vec<u8>| tar.extend_from_slice(&tar.clone());
        assert!(matches!(packed_with(&[trace], twice), Err(PackedError::Behind)));
        assert!(matches!(
            packed(&[("k/metadata", EntryType::Regular, b"nothing")]),
            Err(PackedError::Trace { .. })
        ));
        let zeros = vec![0; 65 << 20];
        assert!(matches!(packed(&[("k/stream", EntryType::Regular, &zeros)]), Err(PackedError::TooLarge(_))));
    }

    /// A zip file of names, contents, and modes of Unix.
    fn zipped(entries: &[(&str, &[u8], u32)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for &(name, content, mode) in entries {
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Deflated)
                .unix_permissions(mode);
            if mode & 0o170_000 == 0o120_000 {
                zip.add_symlink(name, std::str::from_utf8(content).unwrap(), options).unwrap();
            } else {
                zip.start_file(name, options).unwrap();
                zip.write_all(content).unwrap();
            }
        }
        zip.finish().unwrap().into_inner()
    }

    fn open_zip(bytes: &[u8]) -> Result<Vec<(PathBuf, Trace)>, PackedError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.zip");
        std::fs::write(&path, bytes).unwrap();
        assert!(is_packed(&path));
        let found = open_packed(&path, &Schemas::default());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "something was written outside");
        found
    }

    #[test]
    fn zip_files() {
        const FILE: u32 = 0o100_644;
        let metadata = b"/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };";
        let trace = ("k/metadata", &metadata[..], FILE);
        let whole = zipped(&[trace, ("k/stream", b"", FILE)]);
        assert_eq!(open_zip(&whole).unwrap()[0].0, Path::new("k"));
        for part in [whole.len() / 2, whole.len() - 1] {
            assert!(matches!(open_zip(&whole[..part]), Err(PackedError::Io(_))), "{part}");
        }
        for other in [("../outside", &b"text"[..], FILE), ("k/link", b"/etc/passwd", 0o120_777)] {
            let said = open_zip(&zipped(&[trace, other])).map(|_| ()).unwrap_err();
            assert!(matches!(&said, PackedError::Entry(path) if path == Path::new(other.0)), "{said}");
        }
        let zeros = vec![0; 65 << 20];
        let said = open_zip(&zipped(&[trace, ("k/stream", &zeros, FILE)]));
        assert!(matches!(said, Err(PackedError::TooLarge(_))));
        // A byte of what is compressed: its sum is another one.
        let text: Vec<u8> =
            (0..10_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let mut damaged = zipped(&[trace, ("k/stream", &text, FILE)]);
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        assert!(matches!(open_zip(&damaged), Err(PackedError::Io(_))));
    }

    #[test]
    fn a_directory_of_packed_files() {
        let directory = tempfile::tempdir().unwrap();
        let metadata = b"/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };";
        let zip = zipped(&[("k/metadata", metadata, 0o100_644)]);
        std::fs::create_dir(directory.path().join("c")).unwrap();
        for (name, bytes) in
            [("b.zip", &zip[..]), ("a.zip", &zip), ("notes.zip", b"text"), ("other", &zip), ("c/d.zip", &zip)]
        {
            std::fs::write(directory.path().join(name), bytes).unwrap();
        }
        let found = find_packed(directory.path());
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.zip", "b.zip", "d.zip"]);
    }
}
