//! Finished chunks of rotated sessions on the disk: directories below one that is called `archives`, which LTTng and its relay daemon
//! give their names when they are whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isochrone_ctf::{Diagnostic, Trace};
use isochrone_files::Inputs;
use isochrone_hosts::{EventSource, Host, Hosts};
use isochrone_time::RawNs;

/// Directory of finished chunks in a session's output.
const ARCHIVES: &str = "archives";
/// Deeper directories are not looked into.
pub(super) const MOST_DEPTH: usize = 12;
/// What is wrong with a trace is said so many times.
const MOST_DAMAGE: usize = 10;

/// A finished chunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chunk {
    /// The directory of the session.
    pub(super) session: PathBuf,
    /// Its number in the session, from 0.
    pub(super) number: u64,
    pub(super) path: PathBuf,
}

/// A chunk, and what the heads of its packets say.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub(super) chunk: Chunk,
    /// The host's clock.
    pub(super) host: String,
    /// The host's name.
    pub(super) name: String,
    /// When its first stream begins, when all of them have begun and when the last one ends, raw ns.
    pub(super) begin: RawNs,
    pub(super) switched: RawNs,
    pub(super) end: RawNs,
    /// Unix time of the clock's zero, ns.
    pub(super) offset_ns: i64,
}

/// What is at and below some directories.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Sorted.
    pub(super) chunks: BTreeSet<Chunk>,
    /// Directories that are there and cannot be listed, and why.
    pub(super) unreadable: BTreeMap<PathBuf, String>,
}

/// The chunks at and below some directories. What is gone the next moment is left out.
///
/// # Errors
/// One of the directories that were named cannot be listed: which.
pub(super) fn find(directories: &[PathBuf]) -> Result<Found, (PathBuf, io::Error)> {
    let mut found = Found::default();
    for directory in directories {
        fs::read_dir(directory).map_err(|error| (directory.clone(), error))?;
        look(directory, 0, &mut found);
    }
    Ok(found)
}

fn look(directory: &Path, depth: usize, found: &mut Found) {
    let is_archives = directory.file_name().is_some_and(|name| name == ARCHIVES);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            found.unreadable.insert(directory.to_owned(), error.to_string());
            return;
        }
    };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // Links could lead round in a circle; hidden directories are chunks that are being moved.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_directory || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match name.to_str().and_then(number).filter(|_| is_archives) {
            Some(number) => {
                let session = directory.parent().unwrap_or(directory).to_owned();
                found.chunks.insert(Chunk { session, number, path });
            }
            None if depth < MOST_DEPTH => look(&path, depth + 1, found),
            None => {}
        }
    }
}

/// The number of a chunk: `20261120T053806+0000-20261120T053808+0000-3` is the fourth one.
fn number(name: &str) -> Option<u64> {
    let (times, number) = name.rsplit_once('-')?;
    times.contains('T').then(|| number.parse().ok()).flatten()
}

/// Opens a chunk, and says what of it cannot be read: `Ok(None)` where it holds no packet. `Err`: why it is of no use.
pub(super) fn open(chunk: Chunk) -> Result<Option<(Opened, Vec<String>)>, String> {
    let inputs = Inputs::open(std::slice::from_ref(&chunk.path));
    if inputs.traces.is_empty() {
        let why = inputs.refused.first().map(|refused| refused.why.clone());
        return Err(why.unwrap_or_else(|| "no trace is in it".to_owned()));
    }
    let refused = inputs.refused.iter().map(|refused| format!("{}: {}", refused.name, refused.why));
    let damage = refused.chain(inputs.traces.iter().flat_map(|input| damage_of(&input.trace))).collect();
    let hosts = Hosts::group(inputs.traces.iter().map(|input| &input.trace)).hosts;
    let [host] = hosts.as_slice() else {
        return Err(format!("it has traces of {} hosts", hosts.len()));
    };
    Ok(opened(host, chunk).map(|opened| (opened, damage)))
}

/// What the heads of the packets of a chunk of a host say; `None` where there are none.
pub(super) fn opened(host: &Host<'_>, chunk: Chunk) -> Option<Opened> {
    let (begin, end) = host.extent()?;
    let switched = host.sources().iter().filter_map(EventSource::begin).max().unwrap_or(begin);
    // A stream of a program can begin long after all others, within what is mapped as a whole where the chunk
    // is mapped alone. Its events are mapped with the chunk that they are in anyway.
    let switched = host.core().map_or(switched, |core| switched.min(core.start));
    let (name, offset_ns) = (host.name.clone(), host.offset_ns);
    Some(Opened { host: host.id.clone(), name, begin, switched, end, offset_ns, chunk })
}

/// The session and the number of a chunk, as its path has them; `None`: it is called otherwise.
pub(super) fn session_of(path: &Path) -> Option<(&Path, u64)> {
    let archives = path.parent().filter(|parent| parent.file_name().is_some_and(|name| name == ARCHIVES))?;
    Some((archives.parent()?, number(path.file_name()?.to_str()?)?))
}

/// What of a trace cannot be read; of much of it, the rest is counted.
fn damage_of(trace: &Trace) -> Vec<String> {
    let losses: Vec<&Diagnostic> = trace.diagnostics().iter().filter(|it| it.is_loss()).collect();
    let mut damage: Vec<String> = losses.iter().take(MOST_DAMAGE).map(ToString::to_string).collect();
    if losses.len() > MOST_DAMAGE {
        damage.push(format!("{}: {} times more", trace.path().display(), losses.len() - MOST_DAMAGE));
    }
    damage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_below_archives() {
        let directory = tempfile::tempdir().unwrap();
        let make = |path: &str| fs::create_dir_all(directory.path().join(path)).unwrap();
        make("web/shop-1/archives/20261120T053806+0000-20261120T053808+0000-10/kernel");
        make("web/shop-1/archives/20261120T053808+0000-20261120T053810+0000-11");
        make("web/shop-1/archives/.20261120T053810+0000-20261120T053812+0000-12");
        make("web/shop-1/20261120T053812+0000-13/kernel");
        make("web/shop-1/archives/other");
        let found = find(&[directory.path().to_owned()]).unwrap().chunks;
        let numbers: Vec<u64> = found.iter().map(|chunk| chunk.number).collect();
        assert_eq!(numbers, [10, 11]);
        assert!(found.iter().all(|chunk| chunk.session == directory.path().join("web/shop-1")));
        assert!(find(&[directory.path().join("none")]).is_err());
    }
}
