//! Finding traces below a directory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::Error;

/// Directories nested deeper than this are not searched: no tracer nests so deep.
const MAX_DEPTH: usize = 16;

/// What lies below a directory.
#[derive(Debug, Default)]
pub struct Found {
    /// Trace directories, in the order of their paths.
    pub traces: Vec<PathBuf>,
    /// Directories that could not be searched.
    pub unreadable: Vec<Error>,
}

/// All trace directories at or below `path`: rotation archives, the kernel and user-space halves of a
/// session, the hosts of a relay. Hidden directories are left out, and so is what lies below a trace; a
/// directory that links lead to twice is searched once.
///
/// # Errors
/// `path` itself cannot be listed.
pub fn find_traces(path: &Path) -> Result<Found, Error> {
    let mut search = Search::default();
    if path.join("metadata").is_file() {
        search.found.traces.push(path.to_owned());
    } else {
        search.below(path, 1)?;
    }
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    found: Found,
    /// Directories searched so far, links resolved.
    seen: HashSet<PathBuf>,
}

impl Search {
    fn below(&mut self, directory: &Path, depth: usize) -> Result<(), Error> {
        if !self.seen.insert(directory.canonicalize().unwrap_or_else(|_| directory.to_owned())) {
            return Ok(());
        }
        let read = |cause| Error::new(directory, cause);
        let mut inner = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(read)? {
            let entry = entry.map_err(read)?;
            let path = entry.path();
            if !entry.file_name().to_string_lossy().starts_with('.') && path.is_dir() {
                inner.push(path);
            }
        }
        inner.sort_unstable();
        for path in inner {
            if path.join("metadata").is_file() {
                self.found.traces.push(path);
            } else if depth < MAX_DEPTH
                && let Err(error) = self.below(&path, depth + 1)
            {
                self.found.unreadable.push(error);
            }
        }
        Ok(())
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
        std::os::unix::fs::symlink(root.path(), root.path().join("b/loop")).unwrap();
        let found = find_traces(root.path()).unwrap().traces;
        let shown: Vec<_> =
            found.iter().map(|p| p.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(shown, ["a", "b/archives/0/kernel", "b/archives/1/kernel"]);
        assert!(find_traces(&root.path().join("absent")).is_err());
    }
}
