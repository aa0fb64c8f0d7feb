//! Traces indexed and opened as a cluster; a bench includes this file, too.

use std::path::PathBuf;

use isochrone_crosshost::Cluster;
use isochrone_experiment::{Indexing, Inputs, Opened, Spread, TimeBase, index};
use isochrone_store::Store;

/// Opens traces on the clock that `base` says, and answers `ask` of them.
pub fn ask_on<R>(paths: &[PathBuf], base: TimeBase, ask: impl FnOnce(&Cluster<'_>) -> R) -> R {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let own = Opened::unsynchronized(Inputs::open(paths));
    index(&own.experiment(), &path, Spread::default(), Indexing::default()).unwrap();
    let opened = Opened::new(Inputs::open(paths), base, &|_| ()).unwrap();
    let store = Store::open(&path).unwrap();
    let experiment = opened.experiment();
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    ask(&Cluster::open(&store, &hosts, opened.clocks()).unwrap())
}
