//! A stream that is read in parts is the stream: what parallel readers rely on.

use crate::bytes;
use std::path::Path;

use crate::common::write;
use isochrone_ctf::{Event, Trace};

/// What distinguishes events: time, class, size.
fn shown(event: &Event<'_>) -> (Option<u64>, usize, u64) {
    (event.cycles(), event.class().index, event.size())
}

#[test]
fn parts_make_the_whole() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop/client/kernel");
    let trace = Trace::open(&path).unwrap();
    let mut packets = 0;
    for (stream, description) in trace.streams().iter().enumerate() {
        let whole: Vec<_> = trace.events(stream).map(|event| shown(&event)).collect();
        let count = description.packets.len();
        packets = packets.max(count);
        for cut in 0..=count + 1 {
            let first = trace.events(stream).within(0..cut);
            let parts = first.chain(trace.events(stream).within(cut..usize::MAX));
            assert_eq!(parts.map(|event| shown(&event)).collect::<Vec<_>>(), whole, "cut at {cut}");
        }
        // Forgets where it was.
        let mut begun = trace.events(stream);
        begun.next();
        assert_eq!(begun.within(0..usize::MAX).count(), whole.len());
        assert_eq!(trace.events(stream).within(count..count + 5).count(), 0);
    }
    assert!(packets > 1, "nothing was cut");
}

#[test]
fn each_part_reports_its_own_losses() {
    // A packet of one event of four bytes, then one whose second event is cut short.
    let text = crate::common::metadata(
        "trace { packet.header := struct { u32 magic; }; };
         stream { packet.context := struct { u32 content_size; u32 packet_size; }; };
         event { name = x; fields := struct { u32 a; }; };",
    );
    let magic = 0xc1fc_1fc1_u32;
    let bytes = bytes![magic, 128_u32, 128_u32, 1_u32, magic, 144_u32, 160_u32, 2_u32, 0_u32];
    let directory = write(&text, &[("stream", &bytes)]);
    let trace = Trace::open(directory.path()).unwrap();
    let check = |packets, events: usize, losses: usize| {
        let mut part = trace.events(0).within(packets);
        assert_eq!((part.by_ref().count(), part.diagnostics().len()), (events, losses));
    };
    check(0..1, 1, 0);
    check(1..2, 1, 1);
    check(0..2, 2, 1);
}
