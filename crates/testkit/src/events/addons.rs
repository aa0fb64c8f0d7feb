//! `inet_sock_local_out` and `inet_sock_local_in` of the lttng-addons: what a socket sends and takes in.

use super::TCP_WORDS;
use crate::assign::Given;
use crate::packets::{View, Way};

pub(super) fn event(view: &View<'_>) -> (&'static str, Vec<Given<'static>>) {
    let (packet, segment, way) = (view.passing.packet, view.passing.segment, view.passing.way);
    let name = match way {
        Way::Out => "inet_sock_local_out",
        Way::In => "inet_sock_local_in",
    };
    // Bytes 12 and 13 of the header as the bit fields of a little-endian host lie in them.
    let word = u16::from((segment.flags as u8).reverse_bits()) << 8 | TCP_WORDS;
    // The sender's device has yet to compute the sum.
    let check = if way == Way::Out { 0x283f } else { segment.seq as u16 ^ segment.ack as u16 };
    let fields = vec![
        ("sk", (0xffff_8880_0000_0000_u64 + packet.link as u64 * 0x1000).into()),
        ("seq", segment.seq.into()),
        ("ack_seq", segment.ack.into()),
        ("check", check.into()),
        ("window", 501.into()),
        ("flags", word.into()),
    ];
    (name, fields)
}
