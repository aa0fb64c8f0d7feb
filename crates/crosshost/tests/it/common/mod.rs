//! Clusters of traces, opened as the command line does.

pub mod opened;
pub mod simulated;

use std::path::{Path, PathBuf};

use isochrone_analysis::{Cell, Table};
use isochrone_crosshost::Cluster;
use isochrone_experiment::TimeBase;

use opened::ask_on;

/// A scenario of the shared data.
pub fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

/// A JSON file.
pub fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Opens traces on one clock, and asks something.
pub fn ask<R>(paths: &[PathBuf], ask: impl FnOnce(&Cluster<'_>) -> R) -> R {
    ask_on(paths, TimeBase::Usual, ask)
}

/// As [`ask`], each host on its own clock.
pub fn ask_unsynchronized<R>(paths: &[PathBuf], ask: impl FnOnce(&Cluster<'_>) -> R) -> R {
    ask_on(paths, TimeBase::Own, ask)
}

/// The integer of a column.
pub fn int(table: &Table, row: &[Cell], column: &str) -> Option<i128> {
    match &row[table.column(column).unwrap()] {
        Cell::Int(value) => Some(*value),
        _ => None,
    }
}

/// The text of a column.
pub fn text(table: &Table, row: &[Cell], column: &str) -> Option<String> {
    match &row[table.column(column).unwrap()] {
        Cell::Text(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Unpacks a scenario that lies packed in the shared data into a directory.
pub fn unpacked(name: &str, directory: &Path) -> PathBuf {
    let packed = std::fs::File::open(shared(&format!("{name}.tar.zst"))).unwrap();
    let plain = directory.join("packed.tar");
    std::fs::write(&plain, zstd::decode_all(packed).unwrap()).unwrap();
    let tar = std::process::Command::new("tar").arg("-xf").arg(&plain).arg("-C").arg(directory).status();
    assert!(tar.unwrap().success());
    directory.join(name)
}
