//! Captures: how they are named, and finding them below a directory.

use std::path::{Path, PathBuf};

use isochrone_compressed::plain_name;

use crate::search;

/// A capture and how it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputCapture {
    /// The argument that led to it.
    pub argument: PathBuf,
    /// The file.
    pub path: PathBuf,
    /// The one interface whose frames count, where each is a clock of its own; else those of all count.
    pub interface: Option<usize>,
}

impl InputCapture {
    /// What the host (or switch) is called: the name of the file without its extensions, and where its
    /// interfaces are clocks of their own, `:` and the number of the interface.
    pub fn host(&self) -> String {
        let path = plain_name(&self.path);
        let stem = path.file_stem().or(path.file_name());
        let name =
            stem.map_or_else(|| self.path.display().to_string(), |stem| stem.to_string_lossy().into_owned());
        match self.interface {
            Some(interface) => format!("{name}:{interface}"),
            None => name,
        }
    }

    /// Length of the file, bytes; 0 where the system does not say.
    pub fn file_bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

/// Whether a file starts as a capture does; one that cannot be read does not.
pub fn is_capture(path: &Path) -> bool {
    isochrone_capture::is_capture(path).unwrap_or(false)
}

/// What captures are called below a directory. Anything that is named itself may have any name.
const EXTENSIONS: [&str; 3] = ["pcap", "pcapng", "cap"];

/// All captures below a directory, in the order of their paths: files with the extension of a capture that
/// begin as one.
pub(crate) fn find_captures(directory: &Path) -> Vec<PathBuf> {
    search::files(directory, &|path| search::has_extension(path, &EXTENSIONS) && is_capture(path))
}

/// The same of captures that are compressed, by both of their extensions.
pub(crate) fn find_packed_captures(directory: &Path) -> Vec<PathBuf> {
    search::files(directory, &|path| {
        let plain = plain_name(path);
        plain != path && search::has_extension(&plain, &EXTENSIONS) && is_capture(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_found_by_name_and_content() {
        let root = tempfile::tempdir().unwrap();
        let pcap = [0xd4, 0xc3, 0xb2, 0xa1, 0];
        let packed = zstd::encode_all(&pcap[..], 1).unwrap();
        let files: [(&str, &[u8]); 9] = [
            ("b.pcap", &pcap),
            ("a/deep/x.PCAPNG", &[10, 13, 13, 10]),
            ("a/y.cap", &pcap),
            ("a/notes.pcap", b"text"),
            ("a/empty.pcap", b""),
            ("a/switch.pcap.zst", &packed),
            (".hidden/z.pcap", &pcap),
            ("trace/metadata", b""),
            ("trace/inside.pcap", &pcap),
        ];
        for (name, content) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        std::os::unix::fs::symlink(root.path(), root.path().join("a/loop")).unwrap();
        let found = find_captures(root.path());
        let shown: Vec<_> =
            found.iter().map(|p| p.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(shown, ["a/deep/x.PCAPNG", "a/y.cap", "b.pcap"]);
        let packed = find_packed_captures(root.path());
        assert_eq!(packed, [root.path().join("a/switch.pcap.zst")]);
        assert_eq!(find_captures(&root.path().join("absent")), [""; 0].map(PathBuf::from));
    }
}
