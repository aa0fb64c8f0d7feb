//! A store of which a file is damaged: refused, or read as it was written. Never a panic, and never other rows.
#![no_main]

mod damage;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arrow_array::RecordBatch;
use damage::{Damage, damaged};
use isochrone_experiment::{Experiment, Indexing, Inputs, Spread, index};
use isochrone_store::{Store, StoreError, TableFile};
use isochrone_testkit::{Cluster, Family, Random, RandomKernel};
use libfuzzer_sys::fuzz_target;

/// What a store holds: its tables, and what is made of them.
type Contents = (Vec<RecordBatch>, Vec<String>);

struct Whole {
    /// Its files, by their paths in it.
    files: Vec<(PathBuf, Vec<u8>)>,
    contents: Contents,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (traces, path) = (directory.path().join("traces"), directory.path().join("a.store"));
    // Packets between hosts, so many that files have several blocks, and a host where all else happens.
    Cluster::chain(2).messages(1000).seconds(1).write(&traces, Family::IPV4).expect("traces");
    RandomKernel::of_any_kind(4, &mut Random::new(4)).write(&traces.join("kernel")).expect("a trace");
    let inputs = Inputs::open(&[traces]);
    let experiment = Experiment::new(&inputs, None);
    index(&experiment, &path, Spread::default(), Indexing::default()).expect("a store");
    let mut files = Vec::new();
    collect(&path, &path, &mut files);
    files.sort();
    Whole { files, contents: contents(&path).expect("a whole store") }
});

fn collect(root: &Path, directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(root, &path, files),
            false => {
                let bytes = fs::read(&path).expect("a file");
                files.push((path.strip_prefix(root).expect("below it").to_owned(), bytes));
            }
        }
    }
}

fuzz_target!(|input: (u8, Damage<'_>)| {
    let (number, damage) = input;
    let Whole { files, contents: expect } = &*WHOLE;
    let number = usize::from(number) % files.len();
    let bad = damaged(&files[number].1, damage);
    let Ok(directory) = tempfile::tempdir() else { return };
    for (place, (path, bytes)) in files.iter().enumerate() {
        let path = directory.path().join(path);
        let bytes = if place == number { &bad } else { bytes };
        let made = path.parent().is_none_or(|parent| fs::create_dir_all(parent).is_ok());
        if !made || fs::write(path, bytes).is_err() {
            return;
        }
    }
    let name = files[number].0.display();
    let is_whole = Store::open(directory.path()).is_ok_and(|store| store.verify().is_ok());
    assert_eq!(is_whole, bad == files[number].1, "{name}");
    match contents(directory.path()) {
        Ok(found) => assert!(found == *expect, "other rows: {name}"),
        Err(error) => assert!(!is_whole, "{error}"),
    }
});

fn contents(path: &Path) -> Result<Contents, StoreError> {
    let store = Store::open(path)?;
    let (mut batches, mut rows) = (Vec::new(), vec![format!("{:?}", store.clocks()?)]);
    for entry in &store.manifest().hosts {
        let host = store.host(entry)?;
        for table in &entry.tables {
            read(&host.table(&table.name)?, &mut batches)?;
        }
        let threads: Vec<u32> = (0..host.threads().len() as u32).collect();
        let all = entry.range.unwrap_or_default();
        rows.push(format!("{entry:?} {:?} {:?}", host.threads(), host.losses(all)?));
        rows.push(format!("{:?} {:?}", host.states(&threads, all)?, host.pixels(&threads, all, 50)?));
        rows.push(format!("{:?} {:?}", host.calls_between(&threads, all)?, host.files(all)?));
        rows.push(format!("{:?}", host.phases_between(all)?));
    }
    if let Some(table) = store.message_table()? {
        read(&table, &mut batches)?;
    }
    store.messages(|message| rows.push(format!("{message:?}")))?;
    store.mpi(|message| rows.push(format!("{message:?}")))?;
    Ok((batches, rows))
}

fn read(table: &TableFile, batches: &mut Vec<RecordBatch>) -> Result<(), StoreError> {
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    for batch in table.read(&columns, 0..table.batches())? {
        batches.push(batch?);
    }
    Ok(())
}
