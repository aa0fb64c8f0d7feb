//! The store of a whole trace has the contents of the store of its pieces, over random hosts: all generations
//! of the tracer, words of both sizes and byte orders, losses, CPUs that are missing.
//! `ISOCHRONE_RANDOM_HOSTS` is the number of hosts, `ISOCHRONE_FIRST_HOST` the seed of the first one.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{all_states, build, build_of_logs, open};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_ipc::reader::FileReader;
use arrow_schema::DataType;
use isochrone_ctf::Trace;
use isochrone_hosts::Hosts;
use isochrone_pipeline::Cuts;
use isochrone_store::{HostStore, StateRow, Store, ThreadRow};
use isochrone_testkit::{Random, RandomKernel};
use isochrone_time::{RawNs, Window};

/// A host of any kind.
fn kernel(seed: u64) -> (RandomKernel, Random) {
    let mut random = Random::new(seed ^ 0x5707);
    (RandomKernel::of_any_kind(seed, &mut random), random)
}

/// A cell as text.
fn cell(column: &ArrayRef, row: usize) -> String {
    macro_rules! number {
        ($Type:ty) => {
            column.as_primitive::<$Type>().value(row).to_string()
        };
    }
    if column.is_null(row) {
        return "-".to_owned();
    }
    match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::FixedSizeBinary(_) => format!("{:x?}", column.as_fixed_size_binary().value(row)),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<UInt32Type>();
            let key = column.keys().value(row) as usize;
            column.values().as_string::<i32>().value(key).to_owned()
        }
        other => panic!("{other}"),
    }
}

/// All rows of a table, sorted. `names`: the threads of the numbers in its rows, unless these are the
/// threads' own.
fn table(path: &Path, names: &[String]) -> Vec<String> {
    let reader = FileReader::try_new(std::fs::File::open(path).unwrap(), None).unwrap();
    let is_of_spans = !["threads", "thread_names", "open_calls", "states-zoom", "states-sums", "calls-sums"]
        .iter()
        .any(|table| path.file_stem().unwrap().to_str().unwrap().starts_with(table));
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells = schema.fields().iter().zip(batch.columns()).map(|(field, column)| {
                let text = cell(column, row);
                match field.name().as_str() {
                    "thread" | "waker" | "other" if is_of_spans && text != "-" => {
                        names[text.parse::<usize>().unwrap()].clone()
                    }
                    _ => text,
                }
            });
            rows.push(cells.collect::<Vec<_>>().join(" "));
        }
    }
    rows.sort_unstable();
    rows
}

/// All that a store has of its only host, in a form that does not depend on how it was written.
fn contents(path: &Path) -> (BTreeMap<String, Vec<String>>, Vec<StateRow>, HostStore) {
    let store = Store::open(path).unwrap();
    store.verify().unwrap();
    let entry = &store.manifest().hosts[0];
    let directory = path.join(&entry.directory);
    let mut names: Vec<(usize, String)> = table(&directory.join("thread_names.arrow"), &[])
        .iter()
        .map(|row| {
            let (number, thread) = row.split_once(' ').unwrap();
            (number.parse().unwrap(), thread.to_owned())
        })
        .collect();
    names.sort_unstable();
    let names: Vec<String> = names.into_iter().map(|(_, thread)| thread).collect();
    let tables = entry.tables.iter().filter(|table| table.name != "thread_names");
    let tables = tables.map(|entry| {
        let rows = table(&directory.join(format!("{}.arrow", entry.name)), &names);
        assert_eq!(rows.len() as u64, entry.rows);
        (entry.name.clone(), rows)
    });
    let tables = tables.collect();
    let host = store.host(entry).unwrap();
    (tables, all_states(&host), host)
}

fn random_cuts(traces: &[Trace], random: &mut Random) -> Cuts {
    let hosts = Hosts::group(traces);
    let Some((begin, end)) = hosts.hosts[0].extent() else { return Cuts::Whole };
    let length = end.saturating_since(begin).max(1) as u64;
    match random.below(4) {
        0 => Cuts::Packets(1 + random.below(20) as usize),
        1 => Cuts::Times(1 + random.below(9) as usize),
        _ => {
            let mut times: Vec<RawNs> =
                (0..=random.below(12)).map(|_| begin + random.below(length) as i64).collect();
            times.sort_unstable();
            times.dedup();
            Cuts::At(times)
        }
    }
}

/// States of a window are those of the whole, cut to it: they are derived from the spans of the window alone.
fn check_windows(host: &HostStore, all: &[StateRow], random: &mut Random) -> Option<String> {
    let Window { start: begin, end } = host.entry().range?;
    let length = end.saturating_since(begin).max(1) as u64;
    let threads: Vec<ThreadRow> = (0..host.threads().len() as u32).map(ThreadRow).collect();
    for _ in 0..6 {
        let from = begin + random.below(length) as i64;
        let to = (from + 1 + random.below(length / 4 + 1) as i64).min(end);
        let few: Vec<ThreadRow> = threads.iter().copied().filter(|_| random.permille(600)).collect();
        let mut expect: Vec<StateRow> = all
            .iter()
            .filter(|row| row.start < to && row.end > from && few.contains(&row.thread))
            .cloned()
            .collect();
        for row in &mut expect {
            (row.start, row.end) = (row.start.max(from), row.end.min(to));
        }
        let found = host.states(&few, Window::new(from, to)).unwrap();
        if found != expect {
            let place = (0..found.len().max(expect.len())).find(|&at| found.get(at) != expect.get(at))?;
            return Some(format!("{from}..{to}: {:?}, not {:?}", found.get(place), expect.get(place)));
        }
    }
    for _ in 0..4 {
        let Some(row) = all.get(random.below(all.len().max(1) as u64) as usize) else { break };
        let raw = row.start + random.below((row.end - row.start) as u64) as i64;
        let found = host.whole_state(row.thread, raw).unwrap();
        if found.as_ref() != Some(row) {
            return Some(format!("at {raw}: {found:?}, not {row:?}"));
        }
    }
    None
}

#[test]
fn stores_of_pieces_are_the_store_of_the_whole() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let count = number("ISOCHRONE_RANDOM_HOSTS").unwrap_or(100);
    let first = number("ISOCHRONE_FIRST_HOST").unwrap_or(0);
    let mut failures = Vec::new();
    for seed in first..first + count {
        let (kernel, mut random) = kernel(seed);
        let root = tempfile::tempdir().unwrap();
        kernel.write(&root.path().join("trace")).unwrap();
        let traces = open(&root.path().join("trace"));
        let store = |name: &str, cuts: &Cuts, build: fn(&[Trace], &Cuts, &Path)| {
            let path = root.path().join(name);
            build(&traces, cuts, &path);
            contents(&path)
        };
        let (expect, states, host) = store("whole", &Cuts::Whole, build);
        if let Some(failure) = check_windows(&host, &states, &mut random) {
            failures.push(format!("seed {seed}: {failure}"));
        }
        if let Some(failure) = crate::sums::check(&host, &states, &mut random) {
            failures.push(format!("seed {seed}, sums: {failure}"));
        }
        for (turn, build) in [build, build_of_logs].into_iter().enumerate() {
            let cuts = random_cuts(&traces, &mut random);
            let (found, of_pieces, pieces) = store(&format!("pieces{turn}"), &cuts, build);
            for (name, rows) in &expect {
                if found.get(name) != Some(rows) {
                    let other = &found[name];
                    let place = (0..rows.len().max(other.len())).find(|&at| rows.get(at) != other.get(at));
                    let at = place.unwrap_or_default();
                    let failure = format!("{name}: {:?}, not {:?}", other.get(at), rows.get(at));
                    failures.push(format!("seed {seed}, {cuts:?}: {failure}"));
                }
            }
            if of_pieces != states || host.threads() != pieces.threads() {
                failures.push(format!("seed {seed}, {cuts:?}: other states or threads"));
            }
        }
    }
    let shown = failures[..failures.len().min(5)].join("\n");
    assert!(failures.is_empty(), "{} failures:\n{shown}", failures.len());
}
