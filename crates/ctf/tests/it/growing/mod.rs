//! Traces that grow while they are read: what was read before and what is read on are the whole trace, each event once,
//! whatever part of which file was there at which look.

mod follower;
mod quirks;
mod wholes;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;

use self::follower::{Follower, complaints, fresh};
use self::wholes::{Whole, wholes};

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Lets a trace grow: at each step every file by so many bytes of what is still missing, then by the rest. Gives
/// the number of events.
fn check(whole: &Whole, steps: impl IntoIterator<Item = Vec<usize>>) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("index")).unwrap();
    let mut written = vec![0_usize; whole.files.len()];
    for (name, _) in whole.files.iter().filter(|(name, _)| name.starts_with("index")) {
        append(&path.join(name), &[]);
    }
    let mut follower = Follower::default();
    let rest = vec![usize::MAX; whole.files.len()];
    for step in steps.into_iter().chain([rest]) {
        for ((name, bytes), (done, more)) in whole.files.iter().zip(written.iter_mut().zip(step)) {
            let end = done.saturating_add(more).min(bytes.len());
            append(&path.join(name), &bytes[*done..end]);
            *done = end;
        }
        follower.look(path, false);
        follower.agrees_with_fresh(path, whole);
    }
    follower.look(path, true);
    let (mut expect, mut lost) = fresh(path);
    if !whole.one_file_streams {
        expect.values_mut().chain(follower.read.values_mut()).for_each(|events| events.sort());
    }
    assert_eq!(follower.read, expect, "{}", whole.name);
    follower.lost.extend(complaints(follower.trace.as_ref().unwrap()));
    lost.sort();
    follower.lost.sort();
    assert_eq!(follower.lost, lost, "{}", whole.name);
    expect.values().map(Vec::len).sum()
}

/// Bytes that each file grows by at a step.
fn step(whole: &Whole, data: usize, metadata: usize) -> Vec<usize> {
    let mut step = vec![data; whole.files.len()];
    *step.last_mut().unwrap() = metadata;
    step
}

#[test]
fn traces_grow_byte_by_byte() {
    for whole in wholes() {
        let metadata = whole.files.last().unwrap().1.len();
        let data = whole.files.iter().rev().skip(1).map(|(_, bytes)| bytes.len()).max().unwrap();
        let data_steps = || std::iter::repeat_n(step(&whole, 1, 0), data);
        let metadata_steps = || std::iter::repeat_n(step(&whole, 0, 7), metadata.div_ceil(7));
        check(&whole, data_steps().zip(metadata_steps()).flat_map(|(a, b)| [a, b]));
        check(&whole, metadata_steps().chain(data_steps()));
        let events = check(&whole, data_steps().chain(metadata_steps()));
        assert!(events > 1, "{}", whole.name);
    }
}

/// Numbers of bytes that files grow by, step by step.
fn any_steps() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..150, 7), 1..12)
}

proptest! {
    #[test]
    fn traces_grow_by_any_steps(kind in 0..wholes().len(), steps in any_steps()) {
        check(&wholes()[kind], steps);
    }

    #[test]
    fn broken_traces_grow_by_any_steps(
        kind in 0..wholes().len(),
        steps in any_steps(),
        broken in prop::collection::vec((0_usize..7, 0_usize..200, any::<u8>()), 1..6),
    ) {
        // Not the metadata: what other metadata are to be read as is not the question here.
        let mut whole = wholes().swap_remove(kind);
        let data = whole.files.len() - 1;
        for (file, at, byte) in broken {
            let bytes = &mut whole.files[file % data].1;
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        // A packet may be one of any stream now.
        whole.one_file_streams = false;
        check(&whole, steps);
    }
}
