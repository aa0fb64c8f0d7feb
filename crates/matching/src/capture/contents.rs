//! What a capture holds, by name, and what of it cannot be matched.

use std::collections::BTreeMap;

use isochrone_capture::{Frame, Kind, Part};
use isochrone_net::{Seen, captured};

/// Kinds of frames that are named; those beyond are counted together.
const MAX_KINDS: usize = 64;
/// Kinds that a sentence names.
const MAX_NAMED: usize = 6;
/// Bytes of each frame that hold the headers of a packet without tunnels, whatever its version of IP; and
/// with some around it.
const SNAP_LENGTHS: [u32; 2] = [96, 256];
/// Of frames that are shorter than this, and hold no tunnel, the first of these is enough.
const SHORT: u32 = 80;
/// Which packets are matched.
const MATCHED: &str = " (only TCP, UDP and ICMP echoes are)";

/// The frames of a capture, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// By kind: how many, and how many of them can be matched with nothing.
    kinds: BTreeMap<Kind, (u64, u64)>,
    /// Of further kinds.
    beyond: u64,
    frames: u64,
    usable: u64,
    /// Frames without Ethernet addresses that would be usable with them.
    anonymous: u64,
    without_stations: u64,
    loopback: u64,
    /// Frames with fewer bytes than their headers have, and the most and the fewest that one of them has.
    cut: u64,
    cut_to: Option<(u32, u32)>,
}

impl Contents {
    /// Counts a frame; `O(log n)` in the kinds.
    pub(super) fn add(&mut self, frame: &Frame) {
        self.frames += 1;
        let held = captured::held(&frame.content);
        let is_packet = matches!(held, Seen::Packet(_));
        let has_no_stations = frame.link.has_no_stations();
        match (is_packet, frame.link.is_loopback || held == Seen::Loopback) {
            (true, false) => self.usable += 1,
            (true, true) if has_no_stations => self.anonymous += 1,
            _ => {}
        }
        self.without_stations += u64::from(has_no_stations);
        self.loopback += u64::from(!has_no_stations && (frame.link.is_loopback || held == Seen::Loopback));
        let kind = frame.kind();
        if kind.part == Part::Cut && frame.captured < frame.wire {
            self.cut += 1;
            let (least, most) = self.cut_to.get_or_insert((frame.captured, frame.captured));
            (*least, *most) = ((*least).min(frame.captured), (*most).max(frame.captured));
        }
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&kind) {
            self.beyond += 1;
            return;
        }
        let (count, unmatched) = self.kinds.entry(kind).or_default();
        *count += 1;
        *unmatched += u64::from(!is_packet && held != Seen::Loopback);
    }

    /// Frames by name, the most frequent first. `O(n log n)` in the kinds.
    pub fn kinds(&self) -> Vec<(String, u64)> {
        self.named(|_, count, _| count)
    }

    fn named(&self, count: impl Fn(&Kind, u64, u64) -> u64) -> Vec<(String, u64)> {
        let kinds = self.kinds.iter().map(|(kind, &(all, part))| (kind.to_string(), count(kind, all, part)));
        let mut kinds: Vec<_> = kinds.filter(|&(_, count)| count > 0).collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kinds.extend((self.beyond > 0).then(|| ("of other kinds".to_owned(), self.beyond)));
        kinds
    }

    /// Frames that can be matched: without Ethernet addresses only where an IP address says whose they are.
    fn usable(&self, by_address: bool) -> u64 {
        self.usable + if by_address { self.anonymous } else { 0 }
    }

    /// Why no frame can be matched; nothing where some can, or there are none.
    pub(super) fn why_useless(&self, by_address: bool) -> Option<String> {
        (self.frames > 0 && self.usable(by_address) == 0).then(|| {
            let unmatched = self.unmatched();
            let only = if unmatched.is_some() { MATCHED } else { "" };
            let reasons: Vec<String> = self.odd(by_address).chain(unmatched).collect();
            format!("none of its {} packets can be matched{only}: {}", self.frames, reasons.join("; "))
        })
    }

    /// Notes on frames that are not matched, a sentence each. `all`: rare protocols, too.
    pub(super) fn notes(&self, by_address: bool, all: bool) -> Vec<String> {
        let unmatched = self.unmatched().filter(|_| all || self.usable(by_address) * 2 < self.frames);
        let unmatched = unmatched.map(|named| format!("not matched{MATCHED}: {named}"));
        self.odd(by_address).chain(unmatched).collect()
    }

    /// Frames of the loopback device, and those that were cut.
    pub fn odd(&self, by_address: bool) -> impl Iterator<Item = String> {
        let of = |count: u64| match count == self.frames {
            true => format!("all {count}"),
            false => format!("{count} of {}", self.frames),
        };
        let stations = (self.without_stations > 0 && !by_address).then(|| {
            let hint = match self.anonymous {
                0 => "",
                _ => {
                    "; where their addresses were only removed, --captured NAME=ADDRESS, with the IP address of \
                     the host, makes use of them"
                }
            };
            let count = of(self.without_stations);
            format!(
                "{count} frames are of the loopback device (both addresses are zero) and are left \
                 out{hint}"
            )
        });
        let loopback = (self.loopback > 0)
            .then(|| format!("{} frames never left the host and are left out", of(self.loopback)));
        let cut = self.cut_to.map(|(least, most)| {
            let bytes = if least == most { format!("{most}") } else { format!("{least} to {most}") };
            let wrapped = self.kinds.keys().any(|kind| kind.wrapped[0].is_some());
            let snap = SNAP_LENGTHS[usize::from(wrapped || most >= SHORT)];
            format!(
                "{} packets hold only {bytes} bytes of each frame, less than their headers: record with -s \
                 {snap}",
                of(self.cut)
            )
        });
        [stations, loopback, cut].into_iter().flatten()
    }

    /// What is not matched, by name.
    fn unmatched(&self) -> Option<String> {
        // What was cut has a sentence of its own.
        let is_told = |kind: &Kind| kind.part == Part::Cut && self.cut > 0;
        let kinds = self.named(|kind, _, unmatched| if is_told(kind) { 0 } else { unmatched });
        let named: Vec<String> =
            kinds.iter().take(MAX_NAMED).map(|(name, count)| format!("{count} {name}")).collect();
        let rest: u64 = kinds.iter().skip(MAX_NAMED).map(|(_, count)| count).sum();
        let more = if rest > 0 { format!(", {rest} others") } else { String::new() };
        (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use isochrone_capture::{Content, IpPacket, Link, Mac, Protocol, Stamp, Transport};

    use super::*;

    fn frame(protocol: u8, transport: Transport, captured: u32) -> Frame {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let packet = IpPacket {
            source: address(1),
            destination: address(2),
            protocol,
            hops: 64,
            id: Some(1),
            fragment: None,
            length: 60,
            transport,
        };
        let (source, destination) = (Some(Mac([2; 6])), Some(Mac([4; 6])));
        Frame {
            record: 0,
            offset: 24,
            stamp: Stamp { earliest_ns: 0, latest_ns: 0 },
            interface: 0,
            own: None,
            passed: None,
            wire: 74,
            captured,
            link: Link { source, destination, ..Link::default() },
            content: Content::Ip(packet),
        }
    }

    fn tcp() -> Transport {
        Transport::Tcp { ports: (1, 2), seq: 1, ack: 2, flags: 16, payload: Some(20) }
    }

    fn anonymous() -> Frame {
        let zero = Some(Mac([0; 6]));
        let link = Link { source: zero, destination: zero, is_loopback: true, ..Link::default() };
        Frame { link, ..frame(6, tcp(), 74) }
    }

    #[test]
    fn what_is_useless_is_said_by_name() {
        let check = |frames: &[(Frame, u64)], by_address: bool, expect: Option<&str>| {
            let mut contents = Contents::default();
            for (frame, count) in frames {
                (0..*count).for_each(|_| contents.add(frame));
            }
            assert_eq!(contents.why_useless(by_address).as_deref(), expect);
        };
        let esp = || frame(50, Transport::Other, 74);
        let tunnel = |inner| frame(47, Transport::Tunnel(Box::new(inner)), 74);
        let cut = |captured| frame(6, Transport::Cut, captured);
        check(&[], false, None);
        check(&[(esp(), 9), (frame(6, tcp(), 74), 1)], false, None);
        check(&[(tunnel(frame(6, tcp(), 74).content), 1)], false, None);
        let of = "none of its 12 packets can be matched";
        let expect = format!("{of}{MATCHED}: 9 ESP, 3 ARP in GRE");
        let arp = || tunnel(Content::Other(Protocol::EtherType(0x0806)));
        check(&[(esp(), 9), (arp(), 3)], false, Some(&expect));
        let expect = format!(
            "{of}: all 12 packets hold only 40 bytes of each frame, less than their headers: record with \
             -s 96"
        );
        check(&[(cut(40), 12)], false, Some(&expect));
        let expect = format!(
            "{of}{MATCHED}: 11 of 12 packets hold only 40 to 44 bytes of each frame, less than their \
             headers: record with -s 256; \
             1 ARP in GRE"
        );
        check(&[(cut(40), 10), (cut(44), 1), (arp(), 1)], false, Some(&expect));
        let expect = format!(
            "{of}: all 12 frames are of the loopback device (both addresses are zero) and are left out; \
             where their \
             addresses were only removed, --captured NAME=ADDRESS, with the IP address of the host, makes \
             use of them"
        );
        check(&[(anonymous(), 12)], false, Some(&expect));
        check(&[(anonymous(), 12)], true, None);
    }

    #[test]
    fn few_frames_of_other_protocols_are_no_news() {
        let mut contents = Contents::default();
        (0..20).for_each(|_| contents.add(&frame(6, tcp(), 74)));
        (0..3).for_each(|_| contents.add(&frame(50, Transport::Other, 74)));
        assert_eq!(contents.notes(false, false), [""; 0]);
        assert_eq!(contents.notes(false, true), ["not matched (only TCP, UDP and ICMP echoes are): 3 ESP"]);
        assert_eq!(contents.kinds(), [("TCP".to_owned(), 20), ("ESP".to_owned(), 3)]);
    }
}
