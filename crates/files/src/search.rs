//! Finding files below a directory that are no CTF traces: captures, recordings and packed traces.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Directories nested deeper than this are not searched.
const MAX_DEPTH: usize = 16;

/// All files below a directory of which `is_one` holds, in the order of their paths. Hidden directories are
/// left out, and so is the inside of a trace; a directory that links lead to twice is searched once. What
/// cannot be read is left out: the search for traces reports it.
pub(crate) fn files(directory: &Path, is_one: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut search = Search { is_one, found: Vec::new(), seen: HashSet::new() };
    search.below(directory, 1);
    search.found
}

/// Whether the name of a file ends with one of some extensions, in lower or upper case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
}

struct Search<'s> {
    is_one: &'s dyn Fn(&Path) -> bool,
    found: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
}

impl Search<'_> {
    fn below(&mut self, directory: &Path, depth: usize) {
        let is_trace = directory.join("metadata").is_file();
        if is_trace || !self.seen.insert(directory.canonicalize().unwrap_or_else(|_| directory.to_owned())) {
            return;
        }
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        let mut paths: Vec<PathBuf> = visible.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            if path.is_dir() {
                if depth < MAX_DEPTH {
                    self.below(&path, depth + 1);
                }
            } else if path.is_file() && (self.is_one)(&path) {
                self.found.push(path);
            }
        }
    }
}

/// The path of what lies below a path. Nothing below it is the path itself, where [`Path::join`] ends it with
/// a slash.
pub fn below(path: &Path, inner: &Path) -> PathBuf {
    if inner.as_os_str().is_empty() { path.to_owned() } else { path.join(inner) }
}
