//! Packets that a stream has twice, and files of another trace.

use super::{ALL, PACKET, Packet, UUID, check, check_trace, events_of, good_metadata, stream};
use crate::common::{read, write};

/// Metadata whose packets also carry the number of their stream.
fn with_numbers() -> String {
    good_metadata().replace("u32 stream_id;", "u32 stream_id; u64 stream_instance_id;")
}

/// Packets with the number 7 in them.
fn numbered(packets: &[u8]) -> Vec<u8> {
    let packet = |packet: &[u8]| {
        let mut packet = [&packet[..24], &7_u64.to_le_bytes(), &packet[24..]].concat();
        for size in [48, 56] {
            let bits = u64::from_le_bytes(packet[size..size + 8].try_into().unwrap()) + 64;
            packet[size..size + 8].copy_from_slice(&bits.to_le_bytes());
        }
        packet
    };
    packets.chunks(PACKET as usize).flat_map(packet).collect()
}

#[test]
fn packets_that_are_there_twice_are_read_once() {
    let good = stream(0, |_| ());
    let again = |range: std::ops::Range<usize>| [&good, &good[range]].concat();
    let one = "Note s packet 4 byte 512: the packet is in this file already; it is read once";
    check("the last packet", &again(384..512), &ALL, &[one]);
    check("the first packet", &again(0..128), &ALL, &[one]);
    let all =
        "Note s packet 4 byte 512: from here on, 4 packets are in this file already; they are read once";
    check("all packets", &again(0..512), &ALL, &[all]);
    // Padding is no content.
    let mut padded = again(0..128);
    *padded.last_mut().unwrap() = 1;
    check("other padding", &padded, &ALL, &[one]);
    let sorted = "Note s: packets were not in the order of time; they were sorted";
    let unsorted = [&good[128..256], &good[..128], &good[..128], &good[256..]].concat();
    let in_place = "Note s packet 2 byte 256: the packet is in this file already; it is read once";
    check("and out of order", &unsorted, &ALL, &[sorted, in_place]);
}

#[test]
fn copies_of_a_file_are_read_once() {
    let good = numbered(&stream(0, |_| ()));
    let copy =
        "Note s.bak packet 0 byte 0: from here on, 4 packets are in s already; they are read once".to_owned();
    let check = |row, files: &[(&str, &[u8])], diagnostics: &[&str]| {
        check_trace(row, &with_numbers(), files, &events_of(&ALL), diagnostics);
    };
    check("a copy", &[("s", &good), ("s.bak", &good)], &[&copy]);
    let other = copy.replace("s.bak", "s.new");
    check("two copies", &[("s", &good), ("s.bak", &good), ("s.new", &good)], &[&copy, &other]);
    let half = "Note s.bak packet 1 byte 136: from here on, 2 packets are in s already; they are read once";
    let part = [&good[136 * 2..136 * 3], &good[..136], &good[136..136 * 2]].concat();
    let files: [(&str, &[u8]); 2] = [("s", &[&good[..272], &good[408..]].concat()), ("s.bak", &part)];
    let sorted = "Note s: packets were not in the order of time; they were sorted";
    check("a part and what is missing", &files, &[sorted, half]);
}

#[test]
fn packets_of_one_number_with_other_content_contradict() {
    let good = stream(0, |_| ());
    let mut other = good[128..256].to_vec();
    other[80] ^= 1;
    let message = "number and times of another one in this file, but not its content";
    let loss = format!("Loss s packet 4 byte 512: the packet has {message}; 1 left out");
    check("other content", &[good.as_slice(), &other].concat(), &ALL, &[&loss]);
    let losses = format!("Loss s packet 4 byte 512: from here on, packets have {message}; 2 left out");
    check("twice", &[good.as_slice(), &other, &other].concat(), &ALL, &[&losses]);
    // Another number, or another time, is another packet.
    let change = |change: fn(&mut Packet)| {
        let mut packet = Packet::good(1);
        change(&mut packet);
        [&good[..256], &packet.bytes(), &good[256..]].concat()
    };
    check("another number", &change(|packet| packet.sequence = 2), &[0, 1, 1, 2, 3], &[]);
    check("another end", &change(|packet| packet.end += 1), &[0, 1, 1, 2, 3], &[]);
}

#[test]
fn packets_without_numbers_may_be_alike() {
    let text = good_metadata().replace("packet_seq_num", "n");
    let good = stream(0, |_| ());
    let twice = [&good[..128], &good].concat();
    check_trace("alike", &text, &[("s", &twice)], &events_of(&[0, 0, 1, 2, 3]), &[]);
}

#[test]
fn files_of_another_trace_are_refused() {
    const OTHER: [u8; 16] = *b"another trace's.";
    let with = |uuids: [[u8; 16]; 4]| {
        let packets = (0..4).map(|number| Packet { uuid: uuids[number as usize], ..Packet::good(number) });
        packets.flat_map(|packet| packet.bytes()).collect::<Vec<u8>>()
    };
    let (good, foreign) = (with([UUID; 4]), with([OTHER; 4]));
    let refused = "Loss t: the file is not read: its packets are of the trace with the uuid \
                   616e6f74-6865-7220-7472-61636527732e, not of 30313233-3435-3637-3839-616263646566";
    let check = |row: &str, files: &[(&str, &[u8])], events: usize, notes: usize, losses: &[&str]| {
        let trace = write(&good_metadata(), files);
        let reading = read(trace.path()).unwrap();
        let (lost, noted): (Vec<_>, Vec<_>) =
            reading.diagnostics.iter().partition(|line| line.starts_with("Loss"));
        assert_eq!((reading.events.len(), noted.len()), (events, notes), "{row}: {noted:?}");
        assert_eq!(lost, losses, "{row}");
        assert!(
            noted.iter().all(|note| note.ends_with("the uuid of another trace; read all the same")),
            "{row}"
        );
    };
    check("a foreign file", &[("s", &good), ("t", &foreign)], 8, 0, &[refused]);
    check("a foreign file among empty ones", &[("a", &[]), ("s", &good), ("t", &foreign)], 8, 0, &[refused]);
    // A packet whose uuid is damaged.
    check("a packet", &[("s", &with([UUID, OTHER, UUID, UUID]))], 8, 1, &[]);
    check("the first packet", &[("s", &with([OTHER, UUID, UUID, UUID]))], 8, 1, &[]);
    // Metadata of another trace: they describe the packets all the same.
    check("all files", &[("s", &foreign), ("t", &foreign)], 16, 8, &[]);
    let third = with([*b"a third trace's."; 4]);
    let third_refused = refused
        .replace("t:", "u:")
        .replace("616e6f74-6865-7220-7472-61636527732e", "61207468-6972-6420-7472-61636527732e");
    check("most files", &[("s", &foreign), ("t", &foreign), ("u", &third)], 16, 8, &[&third_refused]);
}
