//! Every way a trace can be bad that is known to have broken readers: what is good is read to the last event, what is bad
//! gets a diagnostic with its packet and byte. The names of the cases are those of the collection of such traces that other
//! readers were tried on (45 of them, made of one good trace); here are their like, as small as can be.

mod absent;
mod files;
mod packets;
mod repeats;
mod values;

use crate::bytes;
use std::time::{Duration, Instant};

use crate::common::{metadata, read, write};
use isochrone_ctf::Lost;

const UUID: [u8; 16] = *b"0123456789abcdef";

/// Bytes of a packet of the good trace, and of its header with its context.
const PACKET: u64 = 128;
const HEAD: u64 = 68;

/// The good trace's metadata: a packet header and a packet context with all their parts.
fn good_metadata() -> String {
    let uuid = "30313233-3435-3637-3839-616263646566";
    metadata(&format!(
        "trace {{ uuid = \"{uuid}\"; packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }}; }};\n\
         stream {{ id = 0; packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; u64 content_size; \
         u64 packet_size; u64 packet_seq_num; u32 events_discarded; }}; \
         event.header := struct {{ u16 id; t64 timestamp; }}; }};\n\
         event {{ id = 0; stream_id = 0; name = tick; fields := struct {{ u32 n; }}; }};\n\
         event {{ id = 1; stream_id = 0; name = text; fields := struct {{ string s; }}; }};"
    ))
}

/// A packet of the good trace, to be made bad.
#[derive(Clone)]
struct Packet {
    magic: u32,
    uuid: [u8; 16],
    stream: u32,
    begin: u64,
    end: u64,
    content: u64,
    total: u64,
    sequence: u64,
    discarded: u32,
    body: Vec<u8>,
}

impl Packet {
    /// The packet with two events, `10 * number` and the number after that.
    fn good(number: u64) -> Self {
        let begin = number * 1000;
        let tick = |time: u64, n: u32| bytes!(0_u16, begin + time, number as u32 * 10 + n);
        let body = [tick(100, 0), tick(200, 1)].concat();
        let content = (HEAD + body.len() as u64) * 8;
        Self {
            magic: 0xc1fc_1fc1,
            uuid: UUID,
            stream: 0,
            begin,
            end: begin + 900,
            content,
            total: PACKET * 8,
            sequence: number,
            discarded: 0,
            body,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let head = bytes!(
            self.stream,
            self.begin,
            self.end,
            self.content,
            self.total,
            self.sequence,
            self.discarded
        );
        let mut bytes = [self.magic.to_le_bytes().as_slice(), &self.uuid, &head, &self.body].concat();
        bytes.resize(PACKET as usize, 0);
        bytes
    }
}

/// Four good packets, of which one is changed.
fn stream(number: usize, change: impl Fn(&mut Packet)) -> Vec<u8> {
    let mut packets: Vec<Packet> = (0..4).map(Packet::good).collect();
    change(&mut packets[number]);
    packets.iter().flat_map(Packet::bytes).collect()
}

/// The events of these packets of the good trace.
fn events_of(packets: &[u64]) -> Vec<String> {
    let tick = |p: u64, n: u64| format!("{} tick {{\"n\":{}}}", p * 1000 + 100 * (n + 1), p * 10 + n);
    packets.iter().flat_map(|&packet| [tick(packet, 0), tick(packet, 1)]).collect()
}

/// Checks what a reader makes of a trace, and that it takes no time.
#[track_caller]
fn check_trace(
    row: &str,
    metadata: &str,
    files: &[(&str, &[u8])],
    events: &[String],
    diagnostics: &[&str],
) -> Vec<(Lost, usize)> {
    let trace = write(metadata, files);
    let start = Instant::now();
    let reading = read(trace.path()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{row}: {:?}", start.elapsed());
    assert_eq!(reading.events, events, "{row}");
    assert_eq!(reading.diagnostics, diagnostics, "{row}");
    reading.losses
}

/// [`check_trace`] of the good trace with this stream file: which of its packets are read whole.
#[track_caller]
fn check(row: &str, stream: &[u8], packets: &[u64], diagnostics: &[&str]) -> Vec<(Lost, usize)> {
    check_trace(row, &good_metadata(), &[("s", stream)], &events_of(packets), diagnostics)
}

const ALL: [u64; 4] = [0, 1, 2, 3];
