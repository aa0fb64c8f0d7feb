//! What analyses say of a window from a store is what they say of the traces, to the byte; or the store
//! says that it cannot.

use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, Filter, Options, Report};
use isochrone_experiment::{
    Experiment, Indexing, Inputs, Opened, Question, Spread, from_store, index, reports, stored_reports,
};
use isochrone_store::Store;
use isochrone_testkit::{Random, RandomKernel};
use isochrone_time::{UnixNs, Window};
use isochrone_timing::{TimedHost, Times};

fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

/// The analyses that a store can answer.
fn kinds() -> Vec<AnalysisKind> {
    AnalysisKind::ALL.iter().copied().filter(|kind| !kind.stored().is_empty()).collect()
}

/// A line for each row of a report, and for what else it has.
fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![format!("{:?} {} {:?}", report.range, report.sync, report.notes)];
    for table in &report.tables {
        lines.push(format!("{} {:?} {:?}", table.name, table.columns, table.total_rows));
        lines.extend(table.rows.iter().map(|row| serde_json::to_string(&row).unwrap()));
    }
    lines
}

/// A window within that of all hosts, or none.
fn times(store: &Store, hosts: &[&TimedHost<'_>], random: &mut Random) -> Times {
    let edges = hosts.iter().filter_map(|host| {
        let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id)?;
        let (Window { start, end }, timing) = (entry.range?, host.timing?);
        Some((timing.unix(start).0, timing.unix(end).0))
    });
    let Some((start, end)) = edges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))) else {
        return Times::default();
    };
    let length = u64::try_from(end - start).unwrap().max(1);
    let [one, other] = [0, 1].map(|_| UnixNs(start + i128::from(random.below(length))));
    match random.below(4) {
        0 => Times::default(),
        1 => Times { start: Some(one), ..Times::default() },
        _ => Times { start: Some(one.min(other)), end: Some(one.max(other)), at: None },
    }
}

/// What is asked for: mostly everything. `tids`: of threads that there are.
fn options(tids: &[i32], random: &mut Random) -> Options {
    let tid = tids.get(random.below(tids.len().max(1) as u64) as usize).copied();
    let filter = match random.below(8) {
        0 => Filter { cpus: vec![0], ..Filter::default() },
        1 => Filter { min_ns: Some(1 << random.below(20)), ..Filter::default() },
        2 => Filter { max_ns: Some(1 << random.below(24)), ..Filter::default() },
        3 => Filter { min_bytes: Some(random.below(2000)), ..Filter::default() },
        4 => Filter { tids: tid.into_iter().collect(), ..Filter::default() },
        5 => Filter { pids: tid.into_iter().collect(), ..Filter::default() },
        _ => Filter::default(),
    };
    let (by_process, linear) = (random.below(3) == 0, random.below(3) == 0);
    let limit = (random.below(4) == 0).then_some(3);
    Options { filter, by_process, linear, limit, ..Options::default() }
}

/// Asks `count` random questions of all hosts, and returns how many of them the store answers.
fn check(experiment: &Experiment<'_>, random: &mut Random, (count, part): (usize, &str)) -> usize {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    index(experiment, &path, Spread::default(), Indexing::default()).unwrap();
    let store = Store::open(&path).unwrap();
    let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
    let tids: Vec<i32> = store
        .manifest()
        .hosts
        .iter()
        .flat_map(|entry| store.host(entry).unwrap().threads().to_vec())
        .filter_map(|thread| thread.tid)
        .collect();
    let all = kinds();
    let mut answered = 0;
    for _ in 0..count {
        let (options, times) = (options(&tids, random), times(&store, &hosts, random));
        let first = random.below(all.len() as u64) as usize;
        let some = if random.below(3) == 0 { &all[..] } else { &all[first..=first] };
        let question = Question { kinds: some, options: &options, times, periods: None };
        let Some(found) = from_store(&store, &hosts, &question, Spread::default(), None).unwrap() else {
            continue;
        };
        answered += 1;
        let asked: Vec<_> =
            question.ask(&hosts, Spread::default(), None).into_iter().map(Result::unwrap).collect();
        let expect = reports(&asked, &options, Spread::default());
        let found = stored_reports(&found, &options, expect[0].sync);
        for (found, expect) in found.iter().zip(&expect) {
            let (found, lines) = (lines(found), lines(expect));
            let differ = |index: &usize| found.get(*index) != lines.get(*index);
            if let Some(index) = (0..found.len().max(lines.len())).find(differ) {
                let context = format!("{part} {}: {times:?} {:?}", expect.analysis, options.filter);
                panic!("{context}\nstore: {:?}\ntrace: {:?}", found.get(index), lines.get(index));
            }
        }
    }
    answered
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_real_traces() {
    let mut random = Random::new(11);
    for part in ["chain3", "rot2", "lossy2", "pause2", "phases3", "ipc1"] {
        let opened = Opened::unsynchronized(Inputs::open(&[shared(part)]));
        let answered = check(&opened.experiment(), &mut random, (12, part));
        assert!(answered > 0 || part == "lossy2", "{part}");
    }
}

#[test]
fn of_random_hosts() {
    let mut answered = 0;
    for seed in 0..24 {
        let mut random = Random::new(seed ^ 0x1258);
        let root = tempfile::tempdir().unwrap();
        let trace = root.path().join("trace");
        RandomKernel::of_any_kind(seed, &mut random).write(&trace).unwrap();
        let opened = Opened::unsynchronized(Inputs::open(&[trace]));
        answered += check(&opened.experiment(), &mut random, (8, &format!("seed {seed}")));
    }
    assert!(answered > 48, "{answered}");
}
