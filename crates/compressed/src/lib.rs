//! Files that may be compressed, read from start to end: gzip, Zstandard, xz and LZ4, known by how they
//! begin, whatever they are called. Captures and packed traces are read so.
//!
//! ```
//! use std::io::Read as _;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("web1.pcap.zst");
//! # std::fs::write(&path, zstd::encode_all(&b"frames"[..], 1)?)?;
//! let mut bytes = Vec::new();
//! isochrone_compressed::open(&path)?.read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"frames");
//! assert_eq!(isochrone_compressed::plain_name(&path), path.with_extension(""));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek as _};
use std::path::{Path, PathBuf};

use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use lz4_flex::frame::FrameDecoder;

/// Memory that a file of xz may ask for, bytes: four times what its highest level does.
const XZ_MEMORY: u64 = 256 << 20;
/// Bytes that are read of a file at once.
const BUFFER: usize = 1 << 16;

/// A way to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
    Xz,
    Lz4,
}

/// All, with how files of it begin and what their names end with.
const ALL: [(Compression, &[u8], &str); 4] = [
    (Compression::Gzip, &[0x1f, 0x8b, 8], "gz"),
    (Compression::Zstandard, &[0x28, 0xb5, 0x2f, 0xfd], "zst"),
    (Compression::Xz, &[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (Compression::Lz4, &[4, 0x22, 0x4d, 0x18], "lz4"),
];
/// The longest start of a file.
const LONGEST_START: u64 = 6;

/// The bytes of a file, decompressed where it is compressed. Unbuffered; memory does not depend on the size.
pub struct Reader(Box<dyn Read + Send>);

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Read for Reader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

/// Frames of LZ4, one behind the other: the decoder ends after each.
struct Lz4Frames(FrameDecoder<BufReader<File>>);

impl Read for Lz4Frames {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(to)?;
            if read > 0 || to.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(read);
            }
        }
    }
}

/// Opens a file. Reading fails where what is compressed is damaged or was cut.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path) -> io::Result<Reader> {
    let mut file = File::open(path)?;
    let compression = of(&file)?;
    let Some(compression) = compression else { return Ok(Reader(Box::new(file))) };
    file.rewind()?;
    let file = BufReader::with_capacity(BUFFER, file);
    Ok(Reader(match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Compression::Zstandard => Box::new(zstd::Decoder::with_buffer(file)?),
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED).map_err(io::Error::other)?;
            Box::new(BufReader::new(XzDecoder::new_stream(file, stream)))
        }
        Compression::Lz4 => Box::new(Lz4Frames(FrameDecoder::new(file))),
    }))
}

/// Whether a file is compressed. Reads its first bytes.
///
/// # Errors
/// It cannot be read.
pub fn is_compressed(path: &Path) -> io::Result<bool> {
    Ok(of(&File::open(path)?)?.is_some())
}

/// How a file is compressed. What cannot be read twice, as a pipe, is taken as it is.
fn of(mut file: &File) -> io::Result<Option<Compression>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut start = Vec::new();
    file.take(LONGEST_START).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(ALL.iter().find(|(_, magic, _)| start.starts_with(magic)).map(|(compression, ..)| *compression))
}

/// The name of a file without the extension that says how it is compressed.
pub fn plain_name(path: &Path) -> PathBuf {
    let extension = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
    let is_known = extension.is_some_and(|it| ALL.iter().any(|(.., known)| *known == it));
    if is_known { path.with_extension("") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// What is compressed, as each way makes it.
    fn compressed(bytes: &[u8]) -> [Vec<u8>; 4] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(bytes).unwrap();
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(bytes).unwrap();
        [
            gzip.finish().unwrap(),
            zstd::encode_all(bytes, 1).unwrap(),
            xz.finish().unwrap(),
            lz4.finish().unwrap(),
        ]
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let mut found = Vec::new();
        open(&path)?.read_to_end(&mut found)?;
        Ok(found)
    }

    #[test]
    fn all_ways_give_the_same_bytes() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        assert!(read(&bytes).unwrap() == bytes);
        for each in compressed(&bytes) {
            assert!(read(&each).unwrap() == bytes, "{:x?}", &each[..4]);
            // As `cat` puts two together.
            let twice = [each.as_slice(), each.as_slice()].concat();
            assert!(
                read(&twice).unwrap() == [bytes.as_slice(), bytes.as_slice()].concat(),
                "{:x?}",
                &each[..4]
            );
        }
    }

    #[test]
    fn what_is_cut_is_an_error() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for each in compressed(&bytes) {
            for part in [2, 3, 10] {
                assert!(read(&each[..each.len() - each.len() / part]).is_err(), "{:x?}", &each[..4]);
            }
        }
    }

    #[test]
    fn names() {
        let check = |name: &str, expect: &str| assert_eq!(plain_name(Path::new(name)), Path::new(expect));
        check("a/web1.pcap.gz", "a/web1.pcap");
        check("web1.PCAP.ZST", "web1.PCAP");
        check("web1.pcap", "web1.pcap");
        check("gz", "gz");
    }
}
