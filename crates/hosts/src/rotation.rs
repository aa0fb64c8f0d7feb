//! The archives of rotated sessions, and the instants between which all streams of a host write to the same
//! one.
//!
//! A rotation is not atomic: CPUs and domains turn to the new chunk one after the other, within milliseconds.
//! An *effective archive* begins when the last of them has done so, and is made of two chunks that follow
//! each other.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use isochrone_ctf::Trace;
use isochrone_time::RawNs;

use crate::source::EventSource;

/// Directory of finished chunks in a session's output.
const ARCHIVES: &str = "archives";

/// A chunk of a rotated session: the traces of all its domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// Numbers of its traces in [`Host::traces`](crate::Host::traces).
    pub traces: Vec<usize>,
    /// When its first stream begins, raw ns.
    pub begin: RawNs,
    /// When all of its streams have begun, raw ns: the start of the effective archive.
    pub switched: RawNs,
}

/// How a trace is known as part of a chunk: by the directory of the chunk, else by its rank in the session.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Directory(PathBuf),
    Rank(usize),
}

/// The archives of a host in the order of time. `ranks`: of each trace in its session.
pub(crate) fn archives(traces: &[&Trace], ranks: &[usize], sources: &[EventSource<'_>]) -> Vec<Archive> {
    let mut members: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (number, (trace, &rank)) in traces.iter().zip(ranks).enumerate() {
        let key = directory(trace.path()).map_or(Key::Rank(rank), Key::Directory);
        members.entry(key).or_default().push(number);
    }
    let archive = |traces: Vec<usize>| {
        let inside = sources.iter().filter(|source| traces.contains(&source.trace_number));
        let begins: Vec<RawNs> = inside.filter_map(EventSource::begin).collect();
        let (begin, switched) = begins.iter().min().copied().zip(begins.iter().max().copied())?;
        Some(Archive { traces, begin, switched })
    };
    let mut archives: Vec<Archive> = members.into_values().filter_map(archive).collect();
    archives.sort_unstable_by(|a, b| (a.switched, a.begin, &a.traces).cmp(&(b.switched, b.begin, &b.traces)));
    archives
}

/// The directory of the chunk that a trace is in.
fn directory(trace: &Path) -> Option<PathBuf> {
    let up: Vec<&Path> = trace.ancestors().collect();
    let inside = |pair: &&[&Path]| pair[1].file_name() == Some(OsStr::new(ARCHIVES));
    up.windows(2).find(inside).map(|pair| pair[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_below_their_session() {
        let check = |path: &str, expect: Option<&str>| {
            assert_eq!(directory(Path::new(path)), expect.map(PathBuf::from), "{path}");
        };
        check("out/archives/2-3-0/ust/uid/0/64-bit", Some("out/archives/2-3-0"));
        check("/archives/2-3-0/kernel", Some("/archives/2-3-0"));
        check("/archives/x/archives/0/kernel", Some("/archives/x/archives/0"));
        check("kernel", None);
        check("out/archives", None);
    }
}
