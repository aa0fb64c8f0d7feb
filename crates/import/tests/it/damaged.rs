//! Real recordings, damaged: they are refused in words, or are traces with less in them; memory is not
//! allocated by what they say, and damage costs what was compressed together.

use std::path::Path;

use isochrone_ctf::Trace;
use isochrone_import::{Format, ImportError, Imported, import};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use crate::reports::scenario;

/// Imports bytes; what is written has as many events as it is said to have.
fn imported(bytes: &[u8], format: Format, scratch: &Path) -> Result<Imported, ImportError> {
    let (path, to) = (scratch.join("recording"), scratch.join("trace"));
    std::fs::write(&path, bytes).unwrap();
    let _ = std::fs::remove_dir_all(&to);
    let imported = import(&path, format, &to, &|_| ())?;
    let trace = Trace::open(&to).unwrap();
    let is_listed = |name: Option<&str>| name.is_some_and(|name| name.starts_with("lttng_statedump_"));
    let events = (0..trace.streams().len()).flat_map(|stream| trace.events(stream));
    let events = events.filter(|event| !is_listed(event.name())).count();
    assert_eq!(events as u64, imported.events, "{:?}", trace.diagnostics());
    Ok(imported)
}

/// How the bytes of a recording are changed.
fn change() -> impl Strategy<Value = Vec<(prop::sample::Index, Vec<u8>)>> {
    let word = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![u32::MAX, 1 << 31, 0, 1 << 16]).prop_map(|it| it.to_le_bytes().to_vec()),
        prop::sample::select(vec![u64::MAX, 1 << 62, 0]).prop_map(|it| it.to_le_bytes().to_vec()),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), word), 1..5)
}

/// Changes parts of a recording: half of the changes are where it says what is where.
fn changed_parts(whole: &[u8], format: Format, described: &[std::ops::Range<usize>]) {
    let scratch = tempfile::tempdir().unwrap();
    let config = ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 96,
        ..ProptestConfig::default()
    };
    let strategy = (change(), prop::sample::select(described.to_vec()), any::<bool>());
    let run = TestRunner::new(config).run(&strategy, |(changes, described, is_described)| {
        let mut bytes = whole.to_vec();
        for (at, word) in changes {
            let range = if is_described { described.clone() } else { 0..whole.len() };
            let at = range.start + at.index(range.len());
            let end = (at + word.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&word[..end - at]);
        }
        let _ = imported(&bytes, format, scratch.path());
        Ok(())
    });
    run.unwrap();
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn parts_of_perf_data() {
    let (_directory, path) = scenario("perf2");
    let whole = std::fs::read(path.join("h2.perf.data")).unwrap();
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let features = number(40) + number(48);
    // The head; the features behind the data.
    changed_parts(&whole, Format::PerfData, &[0..104, features..features + 400, features..whole.len()]);
}

/// With stacks of calls and what is mapped where.
#[test]
fn parts_of_samples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isochrone/tests/it/data/samples/perf.data");
    let whole = std::fs::read(path).unwrap();
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let (data, features) = (number(40), number(40) + number(48));
    changed_parts(&whole, Format::PerfData, &[0..104, data..features, features..whole.len()]);
    let scratch = tempfile::tempdir().unwrap();
    let intact = imported(&whole, Format::PerfData, scratch.path()).unwrap();
    assert_eq!((intact.damaged, intact.lost, intact.unknown), (0, 0, 0));
    assert_eq!((&*intact.clock, intact.has_unix_time), ("mono", true));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn parts_of_trace_dat() {
    let (_directory, path) = scenario("ftrace2");
    let whole = std::fs::read(path.join("h2.trace.dat")).unwrap();
    changed_parts(&whole, Format::TraceDat, &[0..4096, whole.len() - 4096..whole.len()]);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn damage_costs_what_was_compressed_together() {
    let (directory, path) = scenario("ftrace2");
    let whole = std::fs::read(path.join("h2.trace.dat")).unwrap();
    let intact = imported(&whole, Format::TraceDat, directory.path()).unwrap();
    // The last large part of the file is the data of its CPU.
    let frames: Vec<usize> = whole
        .windows(4)
        .enumerate()
        .filter(|(_, it)| *it == [0x28, 0xb5, 0x2f, 0xfd])
        .map(|it| it.0)
        .collect();
    let mut lost = 0;
    for pair in frames.windows(2).rev().take(8) {
        let mut bytes = whole.clone();
        bytes[pair[0]..pair[0] + 4].fill(0);
        if let Ok(imported) = imported(&bytes, Format::TraceDat, directory.path()) {
            assert!(imported.events <= intact.events);
            assert!(imported.uncounted <= 1, "{imported:?}");
            lost += imported.uncounted;
        }
    }
    assert!(lost > 3, "{lost} of {} parts", frames.len());
}
