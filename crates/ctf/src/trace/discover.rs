//! Finding traces below a directory.

use std::path::{Path, PathBuf};

use crate::Error;

/// Directories nested deeper than this are not searched: no tracer nests so deep, a cycle of links does.
const MAX_DEPTH: usize = 16;

/// All trace directories at or below `path`, in the order of their paths: rotation archives, the kernel and user-space
/// halves of a session, the hosts of a relay. Hidden directories are left out, and so is what lies below a trace.
///
/// # Errors
/// `path` itself cannot be listed. Unreadable directories further down are passed over.
pub fn find_traces(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    if path.join("metadata").is_file() {
        found.push(path.to_owned());
        return Ok(found);
    }
    let entries = std::fs::read_dir(path).map_err(|source| Error::read(path, source))?;
    search(entries, 1, &mut found);
    Ok(found)
}

fn search(entries: std::fs::ReadDir, depth: usize, found: &mut Vec<PathBuf>) {
    let mut directories: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    directories.sort_unstable();
    for directory in directories {
        if directory.join("metadata").is_file() {
            found.push(directory);
        } else if depth < MAX_DEPTH
            && let Ok(entries) = std::fs::read_dir(&directory)
        {
            search(entries, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_found_at_any_depth_in_order() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b/archives/1/kernel", "b/archives/0/kernel", "a", ".hidden/x", "a/below"] {
            let directory = root.path().join(name);
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("metadata"), "").unwrap();
        }
        let found = find_traces(root.path()).unwrap();
        let shown: Vec<_> =
            found.iter().map(|p| p.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(shown, ["a", "b/archives/0/kernel", "b/archives/1/kernel"]);
        assert!(find_traces(&root.path().join("absent")).is_err());
    }
}
