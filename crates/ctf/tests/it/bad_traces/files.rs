//! Files beside the streams: metadata that are cut, indexes that lie, files that are no streams.

use std::time::{Duration, Instant};

use isochrone_ctf::Trace;

use super::{ALL, PACKET, Packet, check_trace, events_of, good_metadata, stream};
use crate::common::{metadata_packet, read, write_raw};

#[test]
fn metadata_that_are_cut_or_empty() {
    let refused = |row: &str, metadata: &[u8], expect: &str| {
        let trace = write_raw(metadata, &[("s", &stream(0, |_| ()))]);
        let start = Instant::now();
        let error = Trace::open(trace.path()).map(drop).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5), "{row}: {:?}", start.elapsed());
        let path = trace.path().join("metadata").display().to_string();
        assert_eq!(error.to_string().strip_prefix(&path), Some(expect), "{row}");
    };
    let empty = ":1:1: the metadata are empty: was the session stopped before its traces were copied?\n\n^";
    refused("metadata empty", b"", empty);
    refused(
        "metadata truncated",
        b"/* CTF 1.8 */\ntrace { byte_order = le;",
        ":2:7: this `{` is never closed with `}`\ntrace { byte_order = le;\n      ^",
    );
    let text = good_metadata();
    let first = metadata_packet(&text.as_bytes()[..100], false);
    let second = metadata_packet(&text.as_bytes()[100..], false);
    let whole = [first.clone(), second].concat();
    check_trace_packets(&whole);
    let message = format!(
        ": broken metadata packet: it takes {} bytes, the file holds 63 (byte 137)",
        whole.len() - 137
    );
    refused("metadata truncated in a packet", &whole[..200], &message);
    refused(
        "metadata truncated in a packet header",
        &whole[..150],
        ": broken metadata packet: the file ends within its header (byte 137)",
    );
    let put = |at: usize, word: u32| [&whole[..at], &word.to_le_bytes(), &whole[at + 4..]].concat();
    let impossible = |bits: u32| {
        format!(": broken metadata packet: its content size of {bits} bits is impossible (byte 0)")
    };
    refused("metadata packet content_size bogus", &put(24, u32::MAX), &impossible(u32::MAX));
    refused("metadata packet content_size bogus, no bytes", &put(24, 1099), &impossible(1099));
    refused("metadata packet content_size bogus, 0", &put(24, 0), &impossible(0));
    refused("metadata packet packet_size 0", &put(28, 0), &impossible(137 * 8));
}

/// The good trace with its metadata in these packets.
fn check_trace_packets(metadata: &[u8]) {
    let trace = write_raw(metadata, &[("s", &stream(0, |_| ()))]);
    assert_eq!(read(trace.path()).unwrap().events, events_of(&ALL));
}

#[test]
fn indexes_are_not_trusted() {
    let good = stream(0, |_| ());
    let index = |offset: u64| {
        let entries = (0..4).map(|number| isochrone_ctf::index::IndexEntry {
            offset: number * offset,
            total_bits: PACKET * 8,
            content_bits: Packet::good(number).content,
            begin: number * 1000,
            end: number * 1000 + 900,
            sequence: number,
            ..Default::default()
        });
        isochrone_ctf::index::write(&entries.collect::<Vec<_>>())
    };
    let check = |row: &str, index: &[u8], diagnostics: &[&str]| {
        let files = [("s", good.as_slice()), ("index/s.idx", index)];
        check_trace(row, &good_metadata(), &files, &events_of(&ALL), diagnostics);
    };
    check("right index offsets", &index(PACKET), &[]);
    let wrong = "Note index/s.idx: index not used: entry 1 disagrees with the packets of s";
    check("wrong index offsets", &index(99), &[wrong]);
    let garbage = "Note index/s.idx: index not used: it does not begin with the magic number of an index";
    check("garbage index", &[1; 50], &[garbage]);
    let more = "Note index/s.idx: index not used: entry 4 disagrees with the packets of s";
    check("index of more packets", &[index(PACKET).as_slice(), &[0; 72]].concat(), &[more]);
}

#[test]
fn other_files_cost_themselves() {
    let junk = b"hello world, not a stream\n".repeat(5);
    check_trace(
        "junk text file in dir",
        &good_metadata(),
        &[("README.txt", &junk), ("s", &stream(0, |_| ()))],
        &events_of(&ALL),
        &[
            "Loss README.txt packet 0 byte 0: the last 130 bytes of the file are skipped: no packet: its magic number is \
           0x6c6c6568, not 0xc1fc1fc1",
        ],
    );
}
