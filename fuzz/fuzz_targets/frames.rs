//! What is done with a capture of any bytes: read from memory, looked over, and turned into sightings in two goes.

use std::path::Path;

use isochrone_capture::Capture;
use isochrone_files::InputCapture;
use isochrone_matching::PacketSource;
use isochrone_matching::capture::{CaptureReader, survey};
use isochrone_time::RawNs;

pub fn exercise(bytes: &[u8]) {
    let Ok(mut capture) = Capture::new(bytes, Path::new("capture")) else { return };
    let frames: Vec<_> = capture.by_ref().collect();
    // A record takes 16 bytes at least.
    assert!(frames.len() * 16 <= bytes.len());
    let Ok(directory) = tempfile::tempdir() else { return };
    let path = directory.path().join("x.pcap");
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    let input = InputCapture { argument: path.clone(), path: path.clone(), interface: None };
    let facts = survey(std::slice::from_ref(&input), &|_| {}).remove(0);
    assert_eq!(facts.packets, frames.len() as u64);
    let Some(span) = facts.span else { return };
    let middle = RawNs(span.start.ns().midpoint(span.end.ns()));
    let Ok(mut reader) = CaptureReader::open(0, &input, facts.places, 0, span, &|_| {}) else { return };
    let mut sightings = Vec::new();
    if reader.read_until(middle, 8, &mut sightings).is_some() {
        assert_eq!(reader.read_until(RawNs::MAX, usize::MAX, &mut sightings), None);
    }
    assert!(sightings.len() <= 2 * frames.len());
    assert!(sightings.iter().all(|sighting| (span.start..=span.end).contains(&sighting.time)));
}
