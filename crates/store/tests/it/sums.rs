//! Sums of windows are those of all rows in them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{all_states, build, open, shared};
use isochrone_pipeline::Cuts;
use isochrone_store::{CallSum, HostStore, State, StateRow, Store, StoreError, ThreadRow, Totals};
use isochrone_testkit::Random;
use isochrone_time::Window;

/// Sums of random windows, threads and parts against all states and calls; says what differs.
pub fn check(host: &HostStore, states: &[StateRow], random: &mut Random) -> Option<String> {
    let range = host.entry().range?;
    let length = range.end.saturating_since(range.start).max(1) as u64;
    let threads: Vec<ThreadRow> = (0..host.threads().len() as u32).map(ThreadRow).collect();
    let calls = host.calls_between(&threads, range).unwrap();
    // Instants at which something begins or ends, too.
    let edges: Vec<_> = calls.iter().flat_map(|call| [call.start, call.end]).collect();
    for turn in 0..12 {
        let mut instant = || match edges.get(random.below(3 * edges.len() as u64 + 2) as usize) {
            Some(&edge) => edge,
            // Where buckets may begin, which are powers of two, or anywhere.
            None => {
                let at = random.below(length) as i64;
                let bucket = 1_i64 << random.below(40);
                range.start + if random.permille(500) { at / bucket * bucket } else { at }
            }
        };
        let (from, to) = (instant(), instant());
        let window = if turn == 0 { range } else { Window::new(from.min(to), from.max(to)) };
        let few: Vec<ThreadRow> = threads.iter().copied().filter(|_| random.permille(600)).collect();
        let few = if turn < 2 { &threads } else { &few };
        let mut expected_states = vec![[0; State::ALL.len()]; few.len()];
        for row in states {
            let part = Window::new(row.start, row.end).clip(window);
            if let (Ok(index), false) = (few.binary_search(&row.thread), part.is_empty()) {
                expected_states[index][row.state as usize] += part.end - part.start;
            }
        }
        let mut expected_calls: BTreeMap<String, CallSum> = BTreeMap::new();
        let is_one = |thread: Option<ThreadRow>| thread.is_some_and(|it| few.binary_search(&it).is_ok());
        for call in calls.iter().filter(|call| is_one(call.thread)) {
            if !window.is_empty() && call.start < window.end && call.end > window.start {
                let inside = call.end.min(window.end) - call.start.max(window.start);
                let sum = expected_calls.entry(call.name.to_string()).or_default();
                sum.count += 1;
                sum.total_ns += inside;
                sum.max_ns = sum.max_ns.max(inside);
            }
        }
        let mut sums = host.sums(few, window, true, 1 + random.below(100_000));
        while let Some(part) = sums.next_part() {
            sums.add(part).unwrap();
        }
        let Totals { states: found_states, calls: found_calls } = sums.finish().unwrap();
        if found_states != expected_states {
            let place = (0..few.len()).find(|&at| found_states[at] != expected_states[at])?;
            let (found, expected) = (found_states[place], expected_states[place]);
            return Some(format!("{window:?}: {:?} {found:?}, not {expected:?}", few[place]));
        }
        let found_calls: BTreeMap<String, CallSum> =
            found_calls.into_iter().map(|(name, sum)| (name.to_string(), sum)).collect();
        if found_calls != expected_calls {
            return Some(format!("{window:?}: {found_calls:?}, not {expected_calls:?}"));
        }
    }
    None
}

/// All sums of the first host of a store, as text; an error where it cannot be read.
fn all_sums(path: &Path) -> Result<String, StoreError> {
    let store = Store::open(path)?;
    let entry = &store.manifest().hosts[0];
    let host = store.host(entry)?;
    let threads: Vec<ThreadRow> = (0..host.threads().len() as u32).map(ThreadRow).collect();
    let mut sums = host.sums(&threads, entry.range.unwrap_or_default(), true, 10_000);
    while let Some(part) = sums.next_part() {
        sums.add(part)?;
    }
    let Totals { states, calls } = sums.finish()?;
    let calls: BTreeMap<_, _> = calls.into_iter().map(|(name, sum)| (name.to_string(), sum)).collect();
    Ok(format!("{states:?} {calls:?}"))
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn damaged_sums_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    build(&open(&shared("vm/hog2")), &Cuts::Whole, &path);
    let whole = all_sums(&path).unwrap();
    let entry = Store::open(&path).unwrap().manifest().hosts[0].clone();
    let tables: Vec<_> = entry.tables.iter().filter(|table| table.name.contains("-sums")).collect();
    assert!(tables.len() >= 4, "{tables:?}");
    let (mut random, mut refused) = (Random::new(5), 0);
    for table in tables {
        let file = path.join(&entry.directory).join(format!("{}.arrow", table.name));
        let bytes = std::fs::read(&file).unwrap();
        for _ in 0..20 {
            let mut damaged = bytes.clone();
            damaged[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8);
            std::fs::write(&file, damaged).unwrap();
            match all_sums(&path) {
                Ok(sums) => assert_eq!(sums, whole, "{}", table.name),
                Err(_) => refused += 1,
            }
        }
        std::fs::write(&file, bytes).unwrap();
    }
    assert!(refused > 20, "{refused} were refused");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn sums_are_those_of_all_rows() {
    let root = tempfile::tempdir().unwrap();
    let mut random = Random::new(20_261_130);
    for part in ["vm/chain3", "vm/udp2", "vm/web2", "vm/hog2", "vm/rot2", "vm/phases3"] {
        let path = root.path().join("store");
        build(&open(&shared(part)), &Cuts::Whole, &path);
        let store = Store::open(&path).unwrap();
        for entry in &store.manifest().hosts {
            let host = store.host(entry).unwrap();
            let states = all_states(&host);
            for _ in 0..5 {
                assert_eq!(check(&host, &states, &mut random), None, "{part}, {}", entry.name);
            }
        }
    }
}
