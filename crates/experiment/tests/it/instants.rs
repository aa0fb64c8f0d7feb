//! What a store tells of an instant is what a pass over the whole trace tells.

use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, Cell, Options, Report, Table};
use isochrone_experiment::{
    Experiment, Indexing, Inputs, Opened, Question, Spread, at_instant, index, reports, stored_reports,
};
use isochrone_store::Store;
use isochrone_testkit::{Random, RandomKernel};
use isochrone_time::{RawNs, Window};
use isochrone_timing::{TimedHost, Times};

fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

const KINDS: [AnalysisKind; 2] = [AnalysisKind::Processes, AnalysisKind::Fds];

/// The rows of a table that name a thread: a store has no row of those that nobody knows.
fn known(table: &Table) -> Vec<Vec<Cell>> {
    let tid = table.column("tid").filter(|_| table.name != "running");
    let is_known = |row: &Vec<Cell>| tid.is_none_or(|tid| row[tid] != Cell::Unknown);
    table.rows.iter().filter(is_known).collect()
}

/// Checks all tables of an instant of a host.
fn check(store: &Store, host: &TimedHost<'_>, raw: RawNs, part: &str) {
    let at = host.timing.unwrap().unix(raw);
    let (options, times) = (Options::default(), Times { start: None, end: None, at: Some(at) });
    let question = Question { kinds: &KINDS, options: &options, times, periods: None };
    let asked: Vec<_> =
        question.ask(&[host], Spread::default(), None).into_iter().map(Result::unwrap).collect();
    let expect: Vec<Report> = reports(&asked, &options, Spread::default());
    let stored = at_instant(store, &[host], &KINDS, &options, times).unwrap();
    let found = stored_reports(&stored, &options, false);
    assert_eq!(found.len(), expect.len());
    let mut rows = 0;
    for (found, expect) in found.iter().zip(&expect) {
        assert_eq!((found.analysis, found.range), (expect.analysis, expect.range));
        let names = |report: &Report| report.tables.iter().map(|table| table.name).collect::<Vec<_>>();
        assert_eq!(names(found), names(expect));
        for (found, expect) in found.tables.iter().zip(&expect.tables) {
            let (found_rows, expect_rows) = (known(found), known(expect));
            rows += expect_rows.len();
            assert_eq!(found_rows, expect_rows, "{part} {} at {raw}: {}", host.name(), expect.name);
        }
    }
    assert!(rows > 0, "{part} {} at {raw}", host.name());
}

/// Checks some instants of all hosts of an experiment.
fn check_instants(experiment: &Experiment<'_>, random: &mut Random, (count, part): (usize, &str)) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    index(experiment, &path, Spread::default(), Indexing::default()).unwrap();
    let store = Store::open(&path).unwrap();
    store.verify().unwrap();
    for host in experiment.hosts() {
        let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id).unwrap();
        let Some(Window { start: begin, end }) = entry.range else { continue };
        let length = end.saturating_since(begin).max(1) as u64;
        let instants = (0..count).map(|_| begin + random.below(length) as i64);
        for raw in instants.chain([begin, end]) {
            check(&store, host, raw, part);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_store_shows_of_instants_what_a_pass_tells() {
    let mut random = Random::new(11);
    for part in ["chain3", "rot2", "lossy2", "pause2"] {
        let opened = Opened::unsynchronized(Inputs::open(&[shared(part)]));
        check_instants(&opened.experiment(), &mut random, (4, part));
    }
}

#[test]
fn a_store_shows_of_instants_of_random_hosts_what_a_pass_tells() {
    for seed in 0..12 {
        let mut random = Random::new(seed ^ 0x1257);
        let root = tempfile::tempdir().unwrap();
        let trace = root.path().join("trace");
        RandomKernel::of_any_kind(seed, &mut random).write(&trace).unwrap();
        let opened = Opened::unsynchronized(Inputs::open(&[trace]));
        check_instants(&opened.experiment(), &mut random, (6, &format!("seed {seed}")));
    }
}

/// What is missing is told.
#[test]
fn a_store_has_losses() {
    let root = tempfile::tempdir().unwrap();
    let (trace, path) = (root.path().join("trace"), root.path().join("store"));
    RandomKernel::new(7).cpus(3).events(2000).losses(5).missing_cpus(1).write(&trace).unwrap();
    let opened = Opened::unsynchronized(Inputs::open(&[trace]));
    let experiment = opened.experiment();
    index(&experiment, &path, Spread::default(), Indexing::default()).unwrap();
    let store = Store::open(&path).unwrap();
    let host = &experiment.hosts()[0].traced;
    let losses = store.host(&store.manifest().hosts[0]).unwrap().losses(Window::ALL).unwrap();
    let told = host.losses().len() + host.uncovered().len() + host.gaps().len() + host.absent_streams().len();
    assert_eq!(losses.len(), told);
    assert!(
        host.losses().iter().all(|loss| losses.iter().any(|it| (it.start, it.end) == (loss.from, loss.to)))
    );
    assert!(!host.losses().is_empty());
    assert!(store.clocks().unwrap().is_none());
}

/// The corrections are kept.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_store_has_clocks() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    let opened = Opened::unsynchronized(Inputs::open(&[shared("chain3")]));
    let experiment = opened.experiment();
    index(&experiment, &path, Spread::default(), Indexing::default()).unwrap();
    let store = Store::open(&path).unwrap();
    let clocks: serde_json::Value = serde_json::from_str(&store.clocks().unwrap().unwrap()).unwrap();
    assert_eq!(clocks["clocks"].as_array().unwrap().len(), experiment.hosts().len());
}
