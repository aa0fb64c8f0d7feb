//! Captures of a virtual switch between real hosts, each frame cut after 160 bytes.
//!
//! They are not part of this repository: without them the test is ignored.

use std::fs;
use std::path::{Path, PathBuf};

use isochrone_capture::{Content, Transport};

/// The scenarios that have a capture.
fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm");
    let entries = fs::read_dir(&root).unwrap();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path().join("switch.pcap.zst")).collect();
    found.retain(|path| path.is_file());
    found.sort();
    found
}

/// Times of all records of a little-endian file with ns stamps, found by their lengths alone.
fn times(bytes: &[u8]) -> Vec<i64> {
    let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let (mut at, mut times) = (24, Vec::new());
    while at < bytes.len() {
        times.push(i64::from(word(at)) * 1_000_000_000 + i64::from(word(at + 4)));
        at += 16 + word(at + 8) as usize;
    }
    times
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn every_scenario_can_be_read() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 12, "{scenarios:?}");
    let mut all = 0;
    for path in scenarios {
        let bytes = zstd::decode_all(fs::File::open(&path).unwrap()).unwrap();
        let (frames, wrong) = crate::common::read(&bytes);
        assert_eq!(wrong, [""; 0], "{}", path.display());
        let stamps: Vec<i64> = frames.iter().map(|frame| frame.stamp.earliest_ns).collect();
        assert_eq!(stamps, times(&bytes), "{}", path.display());
        let of_ip = frames.iter().filter_map(|frame| match &frame.content {
            Content::Ip(packet) => Some(&packet.transport),
            Content::Other(_) => None,
            Content::Cut => panic!("{}: record {} has no header", path.display(), frame.record),
        });
        let (mut whole, mut cut) = (0, 0);
        for transport in of_ip {
            match transport {
                Transport::Cut | Transport::Tcp { payload: None, .. } => cut += 1,
                _ => whole += 1,
            }
        }
        assert!(cut == 0 && whole > 5, "{}: {whole} whole and {cut} cut packets", path.display());
        all += whole;
    }
    assert!(all > 10_000, "only {all} packets in all");
}
