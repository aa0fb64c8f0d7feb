//! Captures made in memory.

mod bytes;

use std::path::Path;

use etherparse::PacketBuilder;
use isochrone_capture::{Capture, Content, Frame, IpPacket};

pub use bytes::*;

pub const BIG: Order = Order { big: true };

impl Order {
    pub fn u64(self, number: u64) -> [u8; 8] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }
}

/// A TCP segment over Ethernet, with 100 bytes of payload.
pub fn tcp() -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(A, B).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let mut frame = Vec::new();
    builder.tcp(1000, 80, 77, 512).ack(99).psh().write(&mut frame, &[7; 100]).unwrap();
    frame
}

/// All of a file: its frames and what is wrong with it.
pub fn read(bytes: &[u8]) -> (Vec<Frame>, Vec<String>) {
    let mut capture = Capture::new(bytes, Path::new("x")).unwrap();
    let frames = capture.by_ref().collect();
    (
        frames,
        capture.diagnostics().iter().map(|d| format!("{}{d}", if d.is_loss() { "!" } else { "" })).collect(),
    )
}

/// The IP packet of a frame.
pub fn ip(frame: &Frame) -> &IpPacket {
    match &frame.content {
        Content::Ip(packet) => packet,
        other => panic!("no IP: {other:?}"),
    }
}
