//! Packets whose sizes, headers, times, counters or events are bad.

use isochrone_ctf::Lost;

use super::{ALL, HEAD, PACKET, Packet, check, check_trace, events_of, good_metadata, stream};

#[test]
fn the_base_is_good() {
    assert_eq!(check("base", &stream(0, |_| ()), &ALL, &[]), []);
}

#[test]
fn packets_that_are_cut_off() {
    let good = stream(0, |_| ());
    check(
        "truncated mid last packet",
        &good[..450],
        &[0, 1, 2],
        &[
            "Loss s packet 3 byte 384: the last 66 bytes of the file are skipped: no packet header: a field of 32 bits \
           does not fit the packet's content",
        ],
    );
    check(
        "truncated mid last packet, after its header",
        &good[..480],
        &[0, 1, 2],
        &[
            "Loss s packet 3 byte 384: the last 96 bytes of the file are skipped: a packet of 128 bytes was cut off",
        ],
    );
    check(
        "packet_size 2^62",
        &stream(1, |packet| packet.total = 1 << 62),
        &[0],
        &[
            "Loss s packet 1 byte 128: the last 384 bytes of the file are skipped: a packet of 576460752303423488 bytes was \
           cut off",
        ],
    );
    check(
        "truncated in packet header",
        &good[..394],
        &[0, 1, 2],
        &[
            "Loss s packet 3 byte 384: the last 10 bytes of the file are skipped: no packet header: a field of 8 bits does \
           not fit the packet's content",
        ],
    );
    check(
        "trailing garbage",
        &[good.as_slice(), &[0xaa; 100]].concat(),
        &ALL,
        &[
            "Loss s packet 4 byte 512: the last 100 bytes of the file are skipped: no packet: its magic number is \
           0xaaaaaaaa, not 0xc1fc1fc1",
        ],
    );
}

#[test]
fn sizes_that_cannot_be() {
    // The size of the packet is good and leads to the next one: only this one is lost.
    check(
        "content_size > packet_size",
        &stream(1, |packet| packet.content = PACKET * 8 + 64),
        &[0, 2, 3],
        &["Loss s packet 1 byte 128: packet skipped: content of 1088 bits is impossible"],
    );
    check(
        "packet_size 0",
        &stream(1, |packet| packet.total = 0),
        &[0],
        &[
            "Loss s packet 1 byte 128: the last 384 bytes of the file are skipped: a packet of 0 bits is impossible",
        ],
    );
    check(
        "content_size 0 (= less than header)",
        &stream(1, |packet| packet.content = 0),
        &[0, 2, 3],
        &["Loss s packet 1 byte 128: packet skipped: content of 0 bits is impossible"],
    );
    check(
        "content_size one bit less than header",
        &stream(1, |packet| packet.content = HEAD * 8 - 1),
        &[0, 2, 3],
        &["Loss s packet 1 byte 128: packet skipped: content of 543 bits is impossible"],
    );
    check(
        "packet_size not multiple of 8",
        &stream(1, |packet| packet.total += 3),
        &[0],
        &[
            "Loss s packet 1 byte 128: the last 384 bytes of the file are skipped: a packet of 1027 bits is impossible",
        ],
    );
    check(
        "less-than-1-byte-packet-size",
        &stream(0, |packet| packet.total = 4),
        &[],
        &[
            "Loss s packet 0 byte 0: the last 512 bytes of the file are skipped: a packet of 4 bits is impossible",
        ],
    );
}

#[test]
fn sizes_that_reach_over_other_packets() {
    let check = |packets: u64, more: &str| {
        check(
            "packet_size too large",
            &stream(1, |packet| packet.total = packets * PACKET * 8),
            &ALL,
            &[&format!(
                "Note s packet 1 byte 128: another packet begins within its {more} bytes: it is taken to be 128 bytes long, as \
                 the one before"
            )],
        );
    };
    check(2, "256");
    check(3, "384");
}

#[test]
fn headers_that_do_not_belong_here() {
    check(
        "bad magic packet 2",
        &stream(1, |packet| packet.magic = 0),
        &[0, 2, 3],
        &["Loss s packet 1 byte 128: packet skipped: its magic number is 0x0, not 0xc1fc1fc1"],
    );
    check(
        "UUID mismatch",
        &stream(1, |packet| packet.uuid = [0xff; 16]),
        &ALL,
        &["Note s packet 1 byte 128: the packet carries the uuid of another trace; read all the same"],
    );
    check(
        "unknown stream id",
        &stream(1, |packet| packet.stream = 77),
        &[0, 2, 3],
        &["Loss s packet 1 byte 128: packet skipped: no stream class has the id 77"],
    );
}

#[test]
fn events_that_cannot_be_read_cost_the_rest_of_their_packet() {
    // The second event begins 14 bytes after the first.
    let bad_second =
        |id: u16| stream(1, move |packet| packet.body[14..16].copy_from_slice(&id.to_le_bytes()));
    let mut events = events_of(&ALL);
    events.remove(3);
    for (row, id) in [("unknown event id", 999), ("random bytes", 0xa55a)] {
        let message = format!(
            "Loss s packet 1 byte 210: the rest of the packet is skipped: no event class has the id {id}"
        );
        check_trace(row, &good_metadata(), &[("s", &bad_second(id))], &events, &[&message]);
    }
    // Random bytes may also look like events, until the packet ends.
    let no_end = stream(1, |packet| {
        packet.body[14..16].copy_from_slice(&1_u16.to_le_bytes());
        packet.body[24..].fill(b'A');
    });
    check_trace(
        "string without NUL",
        &good_metadata(),
        &[("s", &no_end)],
        &events,
        &[
            "Loss s packet 1 byte 210: the rest of the packet is skipped: a string has no end within the packet",
        ],
    );
}

#[test]
fn packets_whose_times_or_order_are_wrong() {
    check(
        "ts_begin > ts_end",
        &stream(1, |packet| (packet.begin, packet.end) = (packet.end, packet.begin)),
        // The begin decides about the order, which is still that of the file.
        &ALL,
        &["Note s packet 1 byte 128: the packet ends before it begins; read all the same"],
    );
    let good = stream(0, |_| ());
    let swapped = [&good[128..256], &good[..128], &good[256..]].concat();
    let losses = check(
        "packets out of order",
        &swapped,
        &ALL,
        &["Note s: packets were not in the order of time; they were sorted"],
    );
    assert_eq!(losses, []);
}

#[test]
fn counters_that_jump() {
    let gap = stream(1, |packet| packet.sequence = 9);
    assert_eq!(check("seq gap", &gap, &ALL, &[]), [(Lost::Packets(8), 1)]);
    let reset = stream(1, |packet| packet.discarded = 5);
    assert_eq!(check("discarded counter going down", &reset, &ALL, &[]), [(Lost::Events(5), 1)]);
    // 32 bits wrap: three were lost between packet 1 and packet 2.
    let mut packets: Vec<Packet> = (0..4).map(Packet::good).collect();
    packets[0].discarded = u32::MAX - 1;
    packets[1].discarded = u32::MAX - 1;
    packets[2].discarded = 1;
    packets[3].discarded = 1;
    let wrapped: Vec<u8> = packets.iter().flat_map(Packet::bytes).collect();
    assert_eq!(
        check("discarded counter that wraps", &wrapped, &ALL, &[]),
        [(Lost::Events(u64::from(u32::MAX) - 1), 0), (Lost::Events(3), 2)]
    );
}

#[test]
fn nothing_is_no_error() {
    check("empty stream file", &[], &[], &[]);
    check_trace("no stream", &good_metadata(), &[], &[], &[]);
    let empty: Vec<u8> =
        (0..4).flat_map(|number| Packet { content: HEAD * 8, ..Packet::good(number) }.bytes()).collect();
    check("only empty packets", &empty, &[], &[]);
}
