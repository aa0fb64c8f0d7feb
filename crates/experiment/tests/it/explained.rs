//! What is known of events does not depend on how much of the store is read at once.

use std::path::{Path, PathBuf};

use isochrone_experiment::{Experiment, Explainer, Indexing, Inputs, Opened, Spread, index, stored_hosts};
use isochrone_kernel::cpu_of;
use isochrone_store::Store;

fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

/// What is known of each event of an experiment, in parts of so many rows.
fn explained(experiment: &Experiment<'_>, store: &Store, part_rows: u64) -> Vec<String> {
    let (traces, stores) = (experiment.traces().traces, stored_hosts(store).unwrap());
    let mut explainer = Explainer::new(experiment, &traces, &stores, &[], part_rows).unwrap();
    let known = experiment.events(&traces).map(|(trace, _, event)| {
        let cpu = cpu_of(event.trace(), event.stream(), event.packet());
        format!("{:?}", explainer.explain(trace, cpu, traces[trace].raw(&event), &event).unwrap())
    });
    known.collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn in_any_parts() {
    for part in ["phases3/h2", "chain3", "lossy2"] {
        let opened = Opened::unsynchronized(Inputs::open(&[shared(part)]));
        let experiment = opened.experiment();
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        index(&experiment, &path, Spread::default(), Indexing::default()).unwrap();
        let store = Store::open(&path).unwrap();
        let whole = explained(&experiment, &store, u64::MAX);
        assert!(whole.len() > 10_000, "{part}");
        for part_rows in [1, 1 << 16] {
            let parts = explained(&experiment, &store, part_rows);
            let other = whole.iter().zip(&parts).position(|(whole, part)| whole != part);
            assert_eq!(
                other.map(|at| (at, &whole[at], &parts[at])),
                None,
                "{part} in parts of {part_rows} rows"
            );
        }
    }
}
