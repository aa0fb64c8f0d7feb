//! What is done with a trace of any bytes: opened, followed while it grows, read, shown as JSON and text, searched for
//! packets, copied.

use std::fs;

use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::write::{NewClock, copy_trace, rewrite_trace};
use isochrone_ctf::{Trace, dump};
use isochrone_matching::extract;

pub fn exercise(metadata: &[u8], stream: &[u8], index: Option<&[u8]>) {
    let Ok(directory) = tempfile::tempdir() else { return };
    let root = directory.path().join("trace");
    let written = fs::create_dir_all(root.join("index")).is_ok()
        && fs::write(root.join("metadata"), metadata).is_ok()
        && fs::write(root.join("stream"), stream).is_ok()
        && index.is_none_or(|index| fs::write(root.join("index/stream.idx"), index).is_ok());
    if !written {
        return;
    }
    let Ok(trace) = Trace::open(&root) else { return };
    grow(&trace, stream);
    let mut out = Vec::new();
    let _ = dump::dump(&trace, &mut out);
    let again = directory.path().join("again");
    if rewrite_trace(&trace, &again).is_ok()
        && let Ok(again) = Trace::open(&again)
    {
        let mut copied = Vec::new();
        let _ = dump::dump(&again, &mut copied);
        assert!(copied == out, "another trace: {}", String::from_utf8_lossy(&copied));
    }
    for stream in 0..trace.streams().len() {
        let _ = trace.losses(stream);
        for event in trace.events(stream) {
            out.clear();
            let _ = event.visit(Scope::Payload, &mut TextVisitor::new(&mut out));
        }
    }
    let _ = extract(&[(&trace, 0)], &|_| {});
    if let Some(clock) = trace.schema().single_clock() {
        let class = isochrone_ctf::schema::ClockClass { frequency: 1_000_000_000, ..clock.clone() };
        let map = |raw: i128| u64::try_from(raw / 2).ok();
        let target = directory.path().join("copy");
        if copy_trace(&trace, &target, &NewClock { class, map: &map }).is_ok() {
            let _ = Trace::open(&target).map(|copy| dump::dump(&copy, &mut std::io::sink()));
        }
    }
}

/// A reader that has seen half of the stream first finds the same packets.
fn grow(whole: &Trace, stream: &[u8]) {
    let Ok(directory) = tempfile::tempdir() else { return };
    let (metadata, file) = (directory.path().join("metadata"), directory.path().join("stream"));
    let half = &stream[..stream.len() / 2];
    if fs::write(metadata, whole.metadata_text()).is_err() || fs::write(&file, half).is_err() {
        return;
    }
    let Ok(mut trace) = Trace::open(directory.path()) else { return };
    // Longer than before, with the same begin: as if it had been appended.
    if fs::write(&file, stream).is_ok() && trace.refresh().is_ok() {
        let packets =
            |trace: &Trace| trace.streams().iter().map(|stream| stream.packets.len()).sum::<usize>();
        assert_eq!(packets(&trace), packets(whole));
    }
}
