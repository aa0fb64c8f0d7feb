//! Any bytes as a capture: no panic, no hang, no memory without bound.

use std::path::Path;

use crate::common::*;
use isochrone_capture::Capture;
use proptest::prelude::*;

/// Reads what can be read; a file cannot hold more frames than fit.
fn exercise(bytes: &[u8]) -> usize {
    let Ok(mut capture) = Capture::new(bytes, Path::new("x")) else { return 0 };
    let frames = capture.by_ref().count();
    assert!(frames * 16 <= bytes.len(), "{frames} frames in {} bytes", bytes.len());
    assert!(capture.diagnostics().len() <= 103);
    assert_eq!(capture.next(), None);
    frames
}

fn small() -> [Vec<u8>; 3] {
    let mut sections = Vec::new();
    for order in [LITTLE, BIG] {
        sections.extend(section(order));
        sections.extend(interface(order, 1, &[option(order, 2, b"eth0"), option(order, 9, &[9])]));
        sections.extend(packet(order, 0, 5, &tcp(), &[option(order, 2, &order.u32(2))]));
    }
    let record = pcap_record(BIG, 1, 2, &tcp(), 96);
    [pcap(1, &[tcp(), tcp()]), [pcap_header(BIG, 0xa1b2_c3d4, 1), record.repeat(2)].concat(), sections]
}

#[test]
fn files_may_end_anywhere() {
    for file in small() {
        let mut before = 0;
        for end in 0..=file.len() {
            let frames = exercise(&file[..end]);
            assert!(frames >= before, "fewer frames in more bytes");
            before = frames;
        }
        assert_eq!(before, 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), file in 0_usize..3) {
        exercise(&bytes);
        // After a sound header.
        let head = [24, 24, 28][file];
        exercise(&[&small()[file][..head], &bytes].concat());
    }

    #[test]
    fn changed_bytes(file in 0_usize..3, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = small()[file].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exercise(&bytes);
    }

    /// Any bytes as a frame of any link type.
    #[test]
    fn any_frame(link in prop::sample::select(vec![0, 1, 12, 101, 108, 113, 228, 276]), frame in prop::collection::vec(any::<u8>(), 0..120)) {
        prop_assert_eq!(exercise(&pcap(link, &[frame])), 1);
    }

    /// Extension headers of IPv6 in any order, cut anywhere.
    #[test]
    fn any_extensions(
        kinds in prop::collection::vec((prop::sample::select(vec![0_u8, 43, 44, 51, 60, 6, 17]), 0_u8..4), 1..6),
        end in 0_usize..200,
        stated in any::<u16>(),
    ) {
        let mut packet = [&[0x60, 0, 0, 0][..], &stated.to_be_bytes(), &[kinds[0].0, 64], &[1; 32]].concat();
        for (at, &(_, length)) in kinds.iter().enumerate() {
            packet.extend([kinds.get(at + 1).map_or(6, |next| next.0), length]);
            packet.extend([0; 6]);
            packet.resize(packet.len() + usize::from(length) * 8, 0x55);
        }
        packet.truncate(end);
        prop_assert_eq!(exercise(&pcap(101, &[packet])), 1);
    }
}
