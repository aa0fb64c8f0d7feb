//! Sessions that are rotated while CPUs turn to the next chunk one after the other: the packets of a trace, dealt to chunks at
//! another place in each stream.

use std::path::Path;

use isochrone_ctf::Trace;
use isochrone_hosts::Hosts;
use isochrone_pipeline::Cuts;
use isochrone_testkit::Random;

use super::hosts::{kernel, seeds};
use super::model::{bytes, difference, map, merge, random_cuts, times, whole};
use crate::common::open;

/// Writes the packets of a trace as so many chunks. The begins of the chunks differ by a few packets between the streams.
/// Returns whether each chunk has a packet of each stream.
fn rotate(trace: &Trace, directory: &Path, chunks: usize, random: &mut Random) -> bool {
    let metadata = std::fs::read(trace.path().join("metadata")).unwrap();
    let place = |chunk: usize| directory.join("archives").join(chunk.to_string()).join("kernel");
    for chunk in 0..chunks {
        std::fs::create_dir_all(place(chunk)).unwrap();
        std::fs::write(place(chunk).join("metadata"), &metadata).unwrap();
    }
    for stream in trace.streams() {
        let packets = &stream.packets;
        if packets.len() < chunks {
            return false;
        }
        let mut begins: Vec<usize> = (0..=chunks).map(|chunk| packets.len() * chunk / chunks).collect();
        for chunk in 1..chunks {
            let most = (begins[chunk + 1] - begins[chunk]) as u64;
            begins[chunk] += random.below(most.clamp(1, 3)) as usize;
        }
        for chunk in 0..chunks {
            let part = &packets[begins[chunk]..begins[chunk + 1]];
            let content: Vec<u8> =
                part.iter().flat_map(|packet| trace.packet_bytes(packet)).copied().collect();
            std::fs::write(place(chunk).join(&stream.file), content).unwrap();
        }
    }
    true
}

#[test]
fn effective_archives_are_the_session() {
    let mut rotated = 0;
    for seed in seeds(24) {
        let (kernel, mut random) = kernel(seed);
        let [plain, archives] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        kernel.clone().packet_events(1 + random.below(12)).write(plain.path()).unwrap();
        let traces = open(plain.path());
        let chunks = 2 + random.below(3) as usize;
        if !rotate(&traces[0], archives.path(), chunks, &mut random) {
            continue;
        }
        let parts = open(archives.path());
        let (one, many) = (Hosts::group(&traces), Hosts::group(&parts));
        let (one, many) = (&one.hosts[0], &many.hosts[0]);
        assert_eq!(many.archives().len(), chunks, "seed {seed}");
        rotated += 1;
        let expect = bytes(whole(one));
        let times = times(many);
        for cuts in [Cuts::Archives, Cuts::Whole, random_cuts(&times, &mut random)] {
            let merged = merge(map(many, &cuts), &mut random);
            if let Some(difference) = difference(&expect, &bytes(merged)) {
                panic!("seed {seed}: {chunks} chunks, {cuts:?}: {kernel:?}: {difference}");
            }
        }
    }
    assert!(rotated > 0);
}
