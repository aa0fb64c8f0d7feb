//! Stores of real traces.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_ctf::Trace;
use isochrone_hosts::{Host, Hosts};
use isochrone_kernel::{Finished, Recorder, Span, ThreadId, WithThreads};
use isochrone_pipeline::{Cuts, Plan, SpanLog, run};
use isochrone_store::{HostStore, HostWriter, SpanWriter, StateRow, StoreWriter, ThreadRow};

/// A directory of the shared data.
pub fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(part)
}

/// All traces below a directory.
pub fn open(directory: &Path) -> Vec<Trace> {
    let found = isochrone_ctf::find_traces(directory).unwrap();
    found.traces.iter().map(|path| Trace::open(path).unwrap()).collect()
}

/// Builds a store of all hosts.
pub fn build(traces: &[Trace], cuts: &Cuts, path: &Path) {
    // Of a host in pieces the levels are written by another thread: the same as that of the whole by one.
    build_of(traces, path, *cuts != Cuts::Whole, |host, tables| {
        let part = run(host, &Plan::new(host, cuts), 2, || WithThreads::new(tables.consumer()), None);
        part.unwrap().model.finish().with_threads()
    });
}

/// As [`build`], of the spans of all pieces as files of pieces carry them.
pub fn build_of_logs(traces: &[Trace], cuts: &Cuts, path: &Path) {
    build_of(traces, path, false, |host, tables| {
        let part = run(host, &Plan::new(host, cuts), 2, || WithThreads::new(SpanLog::default()), None);
        let part = isochrone_pipeline::piece_file::copy(&part.unwrap()).unwrap();
        let model = part.model.finish().with_threads();
        model.try_with_spans(|log| log.replay(|| tables.consumer())).unwrap()
    });
}

/// Builds a store of all hosts from the model that each is given.
fn build_of(
    traces: &[Trace],
    path: &Path,
    has_spare_thread: bool,
    model: impl Fn(&Host<'_>, &HostWriter) -> Finished<SpanWriter>,
) {
    let hosts = Hosts::group(traces);
    let mut writer = StoreWriter::create(path, || ()).unwrap();
    let mut entries = Vec::new();
    for host in &hosts.hosts {
        let tables = writer.host(&host.id, &host.name, host.offset_ns).unwrap();
        let model = model(host, &tables);
        entries.push(tables.finish(model, &[], has_spare_thread).unwrap());
    }
    writer.commit(entries, None, None, Vec::new()).unwrap();
}

/// CPU time by host and tid.
pub fn slices_ns(traces: &[Trace]) -> BTreeMap<String, BTreeMap<Option<i32>, i64>> {
    let hosts = Hosts::group(traces);
    let times = hosts.hosts.iter().map(|host| {
        let part = run(host, &Plan::new(host, &Cuts::Whole), 1, Recorder::default, None).unwrap();
        let mut times: BTreeMap<Option<i32>, i64> = BTreeMap::new();
        for span in part.model.finish().spans.0 {
            if let Span::Slice(slice) = span
                && let ThreadId::Thread { tid, .. } = slice.thread
                && slice.end > slice.begin
            {
                *times.entry(Some(tid)).or_default() += slice.end - slice.begin;
            }
        }
        (host.name.clone(), times)
    });
    times.collect()
}

/// The states of all threads of a host, over the whole trace.
pub fn all_states(host: &HostStore) -> Vec<StateRow> {
    let threads: Vec<ThreadRow> = (0..host.threads().len() as u32).map(ThreadRow).collect();
    host.states(&threads, host.entry().range.unwrap_or_default()).unwrap()
}
