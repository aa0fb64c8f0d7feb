//! Bytes of captures; tests of another crate include this file, too.

pub const A: [u8; 6] = [2, 0, 0, 0, 0, 0xa];
pub const B: [u8; 6] = [2, 0, 0, 0, 0, 0xb];

/// Numbers in the byte order of a file.
#[derive(Clone, Copy)]
pub struct Order {
    pub big: bool,
}

pub const LITTLE: Order = Order { big: false };

impl Order {
    pub fn u16(self, number: u16) -> [u8; 2] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    pub fn u32(self, number: u32) -> [u8; 4] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }
}

/// The header of a pcap file.
pub fn pcap_header(order: Order, magic: u32, link_type: u32) -> Vec<u8> {
    let versions = [order.u16(2), order.u16(4)].concat();
    [&order.u32(magic)[..], &versions, &[0; 8], &order.u32(0x4_0000), &order.u32(link_type)].concat()
}

/// A record of a pcap file that holds the first `captured` bytes of a frame.
pub fn pcap_record(order: Order, seconds: u32, fraction: u32, frame: &[u8], captured: usize) -> Vec<u8> {
    let part = &frame[..captured.min(frame.len())];
    let lengths = [order.u32(part.len() as u32), order.u32(frame.len() as u32)].concat();
    [&order.u32(seconds)[..], &order.u32(fraction), &lengths, part].concat()
}

/// A pcap file with ns stamps, whose frames are a second apart.
pub fn pcap(link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let records = frames.iter().zip(1..).map(|(frame, s)| pcap_record(LITTLE, s, 0, frame, usize::MAX));
    [pcap_header(LITTLE, 0xa1b2_3c4d, link_type), records.collect::<Vec<_>>().concat()].concat()
}

/// A block of a pcapng file.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = order.u32((12 + body.len() + padding.len()) as u32);
    [&order.u32(kind)[..], &length, body, &padding, &length].concat()
}

pub fn section(order: Order) -> Vec<u8> {
    let versions = [order.u16(1), order.u16(0)].concat();
    block(order, 0x0a0d_0d0a, &[&order.u32(0x1a2b_3c4d)[..], &versions, &[0xff; 8]].concat())
}

/// An option, padded.
pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
    [&order.u16(code)[..], &order.u16(value.len() as u16), value, &padding].concat()
}

pub fn interface(order: Order, link_type: u16, options: &[Vec<u8>]) -> Vec<u8> {
    block(order, 1, &[&order.u16(link_type)[..], &[0; 2], &order.u32(0), &options.concat()].concat())
}

/// An enhanced packet block.
pub fn packet(order: Order, interface: u32, ticks: u64, frame: &[u8], options: &[Vec<u8>]) -> Vec<u8> {
    let (high, low) = (order.u32((ticks >> 32) as u32), order.u32(ticks as u32));
    let length = order.u32(frame.len() as u32);
    let padding = vec![0; frame.len().next_multiple_of(4) - frame.len()];
    let head = [&order.u32(interface)[..], &high, &low, &length, &length].concat();
    block(order, 6, &[&head[..], frame, &padding, &options.concat()].concat())
}
