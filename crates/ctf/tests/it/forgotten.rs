//! Packets that were read do not count as memory of the process, and are read again as they were.

use std::path::Path;

use isochrone_ctf::Trace;

/// Bytes of files below a directory that the process has in memory.
fn in_memory(directory: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut is_below, mut kib) = (false, 0);
    for line in maps.lines() {
        match line.strip_prefix("Rss:") {
            Some(size) if is_below => kib += size.trim().trim_end_matches(" kB").parse::<u64>().unwrap(),
            // The first line of a mapping starts with its addresses and ends with its file, if it has one.
            None if line.split(' ').next().is_some_and(|first| first.contains('-')) => {
                is_below = line.contains(directory.to_str().unwrap());
            }
            _ => {}
        }
    }
    kib << 10
}

#[test]
fn packets_that_were_read_take_no_memory() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop/client/kernel");
    // Other tests read it, too.
    let copy = tempfile::tempdir().unwrap();
    for file in
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        std::fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    let trace = Trace::open(copy.path()).unwrap();
    let packets: Vec<_> = trace.streams().iter().flat_map(|stream| &stream.packets).collect();
    let all: u64 = packets.iter().map(|packet| packet.total_bits / 8).sum();
    assert!(all > 1 << 20 && in_memory(copy.path()) == 0, "{all} bytes; opening leaves nothing");
    let bytes = || {
        packets
            .iter()
            .flat_map(|packet| trace.packet_bytes(packet))
            .fold(0_u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
    };
    let forget = || {
        for packet in &packets {
            trace.forget(packet);
        }
    };
    let before = bytes();
    assert!(in_memory(copy.path()) >= all, "it is in memory");
    forget();
    assert_eq!(in_memory(copy.path()), 0);
    assert_eq!(bytes(), before);
    // A pass over the events leaves the packets behind it.
    forget();
    for stream in 0..trace.streams().len() {
        assert!(trace.events(stream).count() > 1_000);
    }
    assert_eq!(in_memory(copy.path()), 0);
}
