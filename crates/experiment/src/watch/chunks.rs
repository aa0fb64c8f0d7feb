//! Finished chunks of rotated sessions on the disk: directories below one that is called `archives`, which LTTng and its relay daemon
//! give their names when they are whole.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isochrone_hosts::{Hosts, Time};
use isochrone_sync::Inputs;

/// Directory of finished chunks in a session's output.
const ARCHIVES: &str = "archives";
/// Deeper directories are not looked into.
const MOST_DEPTH: usize = 12;

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
    pub(super) begin: Time,
    pub(super) switched: Time,
    pub(super) end: Time,
    /// Unix time of the clock's zero, ns.
    pub(super) offset_ns: i64,
}

/// The chunks at and below some directories, sorted. What cannot be listed is left out: it may be gone the next moment.
///
/// # Errors
/// One of the directories that were named cannot be listed.
pub(super) fn find(directories: &[PathBuf]) -> io::Result<BTreeSet<Chunk>> {
    let mut found = BTreeSet::new();
    for directory in directories {
        fs::read_dir(directory)?;
        look(directory, 0, &mut found);
    }
    Ok(found)
}

fn look(directory: &Path, depth: usize, found: &mut BTreeSet<Chunk>) {
    let is_archives = directory.file_name().is_some_and(|name| name == ARCHIVES);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // Links could lead round in a circle; hidden directories are chunks that are being moved.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_directory || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match name.to_str().and_then(number).filter(|_| is_archives) {
            Some(number) => {
                let session = directory.parent().unwrap_or(directory).to_owned();
                found.insert(Chunk { session, number, path });
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

/// Opens a chunk: `Ok(None)` where it holds no packet. `Err`: why it is of no use.
pub(super) fn open(chunk: Chunk) -> Result<Option<Opened>, String> {
    let inputs = Inputs::open(std::slice::from_ref(&chunk.path));
    if inputs.traces.is_empty() {
        let why = inputs.refused.first().map(|refused| refused.why.clone());
        return Err(why.unwrap_or_else(|| "no trace is in it".to_owned()));
    }
    let hosts = Hosts::group(inputs.traces.iter().map(|input| &input.trace)).hosts;
    let [host] = hosts.as_slice() else {
        return Err(format!("it has traces of {} hosts", hosts.len()));
    };
    let Some((begin, end)) = host.extent() else { return Ok(None) };
    let switched =
        host.sources().iter().filter_map(isochrone_hosts::EventSource::begin).max().unwrap_or(begin);
    let offset_ns = host.offset_ns;
    let name = host.name.clone();
    Ok(Some(Opened { host: host.id.clone(), name, begin, switched, end, offset_ns, chunk }))
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
        let found = find(&[directory.path().to_owned()]).unwrap();
        let numbers: Vec<u64> = found.iter().map(|chunk| chunk.number).collect();
        assert_eq!(numbers, [10, 11]);
        assert!(found.iter().all(|chunk| chunk.session == directory.path().join("web/shop-1")));
        assert!(find(&[directory.path().join("none")]).is_err());
    }
}
