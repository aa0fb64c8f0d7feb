//! States of threads: they tile the threads' lives, their CPU time is that of the slices, and they do not depend on pieces or
//! threads.

use std::collections::BTreeMap;

use crate::common::{all_states as all, build, open, shared, slices_ns};
use isochrone_pipeline::Cuts;
use isochrone_store::{HostStore, State, StateRow, Store, ThreadRow};
use isochrone_time::Window;

/// Checks that rows of a thread follow each other from its begin to the end.
fn check_tiles(host: &HostStore, rows: &[StateRow]) {
    let range = host.entry().range.unwrap();
    let mut by_thread: BTreeMap<ThreadRow, Vec<&StateRow>> = BTreeMap::new();
    for row in rows {
        by_thread.entry(row.thread).or_default().push(row);
    }
    for (number, thread) in
        (0..).map(ThreadRow).zip(host.threads()).filter(|(_, thread)| thread.tid.is_some())
    {
        let begin = thread.start.max(range.start);
        let Some(rows) = by_thread.get(&number) else {
            assert!(begin >= range.end, "{thread:?} has no state");
            continue;
        };
        assert_eq!(rows[0].start, begin, "{thread:?}");
        assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start), "{thread:?}");
        let alive = rows.iter().rfind(|row| row.state != State::Dead).map(|row| row.end);
        assert_eq!(alive, Some(thread.end.min(range.end)), "{thread:?}");
        assert!(rows.iter().all(|row| row.state.is_on_cpu() == row.cpu.is_some()), "{thread:?}");
    }
}

/// CPU time by thread.
fn on_cpu(host: &HostStore, rows: &[StateRow]) -> BTreeMap<Option<i32>, i64> {
    let mut times = BTreeMap::new();
    for row in rows.iter().filter(|row| row.state.is_on_cpu()) {
        *times.entry(host.threads()[row.thread.index()].tid).or_default() += row.end - row.start;
    }
    times
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn states_tile_lives_and_sum_to_the_slices() {
    let root = tempfile::tempdir().unwrap();
    for part in ["vm/chain3", "vm/udp2", "vm/web2", "vm/hog2", "vm/rot2"] {
        let traces = open(&shared(part));
        let path = root.path().join("store");
        build(&traces, &Cuts::Whole, &path);
        let store = Store::open(&path).unwrap();
        store.verify().unwrap();
        let expect = slices_ns(&traces);
        for entry in &store.manifest().hosts {
            let host = store.host(entry).unwrap();
            let rows = all(&host);
            check_tiles(&host, &rows);
            assert_eq!(on_cpu(&host, &rows), expect[&entry.name], "{part} {}", entry.name);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_store_does_not_depend_on_pieces() {
    let root = tempfile::tempdir().unwrap();
    for part in ["vm/chain3", "vm/rot2", "vm/hog2"] {
        let traces = open(&shared(part));
        let whole = root.path().join("whole");
        build(&traces, &Cuts::Whole, &whole);
        let whole = Store::open(&whole).unwrap();
        for cuts in [Cuts::Times(7), Cuts::Bytes(3), Cuts::Archives] {
            let path = root.path().join("pieces");
            build(&traces, &cuts, &path);
            let pieces = Store::open(&path).unwrap();
            for (a, b) in whole.manifest().hosts.iter().zip(&pieces.manifest().hosts) {
                let rows = |host: &isochrone_store::HostEntry| {
                    host.tables
                        .iter()
                        .map(|table| (table.name.clone(), table.rows))
                        .filter(|table| table.0 != "thread_names")
                        .collect::<Vec<_>>()
                };
                assert_eq!(rows(a), rows(b), "{part} {cuts:?}");
                let (a, b) = (whole.host(a).unwrap(), pieces.host(b).unwrap());
                assert_eq!(a.threads(), b.threads(), "{part} {cuts:?}");
                assert_eq!(all(&a), all(&b), "{part} {cuts:?}");
            }
        }
    }
}

/// Pixels: as many as requested at most, and the drawn state is the one that fills most of them.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn pixels_show_what_fills_them() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    build(&open(&shared("vm/chain3")), &Cuts::Whole, &path);
    let store = Store::open(&path).unwrap();
    for entry in &store.manifest().hosts {
        let host = store.host(entry).unwrap();
        let threads: Vec<ThreadRow> = (0..host.threads().len() as u32).map(ThreadRow).collect();
        let Window { start: begin, end } = entry.range.unwrap();
        let full = all(&host);
        for (from, to, pixels) in [
            (begin, end, 100),
            (begin, end, 2000),
            (begin + (end - begin) / 3, begin + (end - begin) / 2, 500),
        ] {
            let rows = host.pixels(&threads, Window::new(from, to), pixels).unwrap();
            for thread in &threads {
                let of = |rows: &[StateRow]| -> Vec<StateRow> {
                    rows.iter().filter(|row| row.thread == *thread).cloned().collect()
                };
                let (rows, full) = (of(&rows), of(&full));
                assert!(rows.len() <= 2 * pixels as usize + 2, "{} rows for {pixels} pixels", rows.len());
                assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start));
                let covered = |rows: &[StateRow]| -> i64 {
                    rows.iter().map(|row| row.end.min(to) - row.start.max(from)).filter(|&ns| ns > 0).sum()
                };
                assert_eq!(covered(&rows), covered(&full));
            }
        }
    }
}
