//! The blocks of pcapng files: sections, each in its own byte order and with its own interfaces.
//!
//! Blocks are framed here, so that a bad one costs only itself; `pcap-parser` reads what is in them. Its accessors for
//! the resolution and the offset of stamps know neither powers of two nor big-endian files, so these options are read
//! from their bytes.

use std::io::{self, Read};
use std::ops::Range;

use pcap_parser::pcapng::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption, parse_enhancedpacketblock_be,
    parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
};

use crate::complaints::Complaints;
use crate::input::{ByteOrder, Input, MAX_RECORD};
use crate::link::Mac;
use crate::stamp::Ticks;

/// Interfaces that one section can have: packets of others are lost. No system has so many, and each is kept.
pub const MAX_INTERFACES: usize = 4096;
/// Longest name of an interface that is kept, characters.
const MAX_NAME: usize = 128;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The number by which a section shows its byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Least length of a block: type and length before it, length after it.
const LEAST: u32 = 12;
/// That of a section header: with a byte order, a version and a length in it.
const LEAST_SECTION: u32 = 28;
/// Bytes of an enhanced packet block before the packet.
const ENHANCED_HEAD: usize = 28;
/// Option `epb_flags`.
const FLAGS: OptionCode = OptionCode(2);

/// Where packets were captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: Option<String>,
    pub(crate) link_type: u16,
    pub(crate) mac: Option<Mac>,
    /// `None`: its stamps cannot be understood.
    pub(crate) ticks: Option<Ticks>,
}

/// Which way a frame passed the interface, where the capture says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It came in.
    In,
    /// It went out.
    Out,
}

/// A frame as the file has it.
#[derive(Debug)]
pub(crate) struct Raw {
    /// Index among the interfaces of the section.
    pub(crate) interface: usize,
    pub(crate) ticks: u64,
    /// Its bytes in the record at hand.
    pub(crate) data: Range<usize>,
    /// Length on the wire.
    pub(crate) wire: u32,
    pub(crate) passed: Option<Passed>,
}

/// What a record turned out to be.
#[derive(Debug)]
pub(crate) enum Step {
    /// A frame.
    Frame(Raw),
    /// Something else, or something bad.
    Skipped,
    /// There is nothing more.
    End,
}

/// A pcapng file; its section at hand.
#[derive(Debug)]
pub(crate) struct Sections {
    order: ByteOrder,
    /// Interfaces of the section at hand. `None`: one that cannot be used, but has its number.
    interfaces: Vec<Option<Interface>>,
    /// Interfaces of the sections before.
    before: usize,
    /// Packets without a time.
    timeless: u64,
}

/// Whether a file that begins so is a pcapng file.
pub(crate) fn is_sections(head: [u8; 4]) -> bool {
    u32::from_le_bytes(head) == SECTION_HEADER
}

impl Interface {
    pub(crate) fn of_type(link_type: u16, ticks: Ticks) -> Self {
        Self { name: None, link_type, mac: None, ticks: Some(ticks) }
    }

    fn described(block: &InterfaceDescriptionBlock<'_>, order: ByteOrder) -> Self {
        let name = block.if_name().and_then(Result::ok).map(|name| name.chars().take(MAX_NAME).collect());
        let mac =
            bytes_of(&block.options, OptionCode::IfMacAddr).and_then(|bytes| bytes.try_into().ok()).map(Mac);
        let resolution =
            bytes_of(&block.options, OptionCode::IfTsresol).and_then(|bytes| bytes.first().copied());
        let ticks = resolution.map_or(Some(Ticks::MICROSECONDS), Ticks::from_option);
        let offset_s =
            bytes_of(&block.options, OptionCode::IfTsoffset).and_then(|bytes| bytes.try_into().ok());
        let offset_s = offset_s.map_or(0, |eight| order.i64(eight));
        let ticks = ticks.map(|ticks| ticks.with_offset(offset_s));
        Self { name, link_type: block.linktype.0 as u16, mac, ticks }
    }
}

impl Sections {
    /// Of a file whose first four bytes are those of a section header.
    pub(crate) fn new() -> Self {
        Self { order: ByteOrder::Little, interfaces: Vec::new(), before: 0, timeless: 0 }
    }

    /// The interface of a frame, and its number among those of all sections.
    pub(crate) fn interface(&self, index: usize) -> Option<(usize, &Interface)> {
        let number = self.before + index;
        Some((number, self.interfaces.get(index)?.as_ref()?))
    }

    /// An interface of the section at hand, by its number among those of all sections.
    pub(crate) fn numbered(&self, number: usize) -> Option<&Interface> {
        self.interfaces.get(number.checked_sub(self.before)?)?.as_ref()
    }

    /// Goes to the next block.
    pub(crate) fn step<R: Read>(
        &mut self,
        input: &mut Input<R>,
        complaints: &mut Complaints,
    ) -> io::Result<Step> {
        let place = (input.number(), input.begin());
        let head = input.fill(8)?;
        if head == 0 {
            return Ok(Step::End);
        }
        let section = head >= 4 && ByteOrder::Little.u32(input.record(), 0) == SECTION_HEADER;
        if head == 8 && section && input.fill(16)? >= 12 && !self.begin_section(input.record(), complaints) {
            complaints
                .loss(place, "a section without a byte order: the rest of the file is left out".to_owned());
            return Ok(Step::End);
        }
        if head < 8 || (section && input.record().len() < 12) {
            complaints.loss(place, "the file ends within the header of a block".to_owned());
            return Ok(Step::End);
        }
        let (kind, length) = (self.order.u32(input.record(), 0), self.order.u32(input.record(), 4));
        let least = if section { LEAST_SECTION } else { LEAST };
        if length < least || !length.is_multiple_of(4) {
            complaints.loss(
                place,
                format!("a block cannot have {length} bytes: where the next one begins is not known, the rest is left out"),
            );
            return Ok(Step::End);
        }
        let wanted = matches!(kind, INTERFACE_DESCRIPTION | ENHANCED_PACKET | OLD_PACKET)
            && length as usize <= MAX_RECORD;
        let whole = if wanted {
            input.fill(length as usize)? == length as usize
        } else {
            let left = u64::from(length) - input.record().len() as u64;
            input.skip(left)?
        };
        if !whole {
            complaints.loss(place, format!("the file ends within a block of {length} bytes: it is left out"));
            return Ok(Step::End);
        }
        match kind {
            INTERFACE_DESCRIPTION => self.add_interface(place, wanted.then(|| input.record()), complaints),
            ENHANCED_PACKET if wanted => return Ok(self.frame(place, input.record(), complaints)),
            OLD_PACKET if wanted => {
                let renewed = self.renewed(input.record());
                return Ok(self.frame(place, &renewed, complaints));
            }
            ENHANCED_PACKET | OLD_PACKET => {
                complaints.loss(place, format!("a packet block of {length} bytes: it is left out"));
            }
            SIMPLE_PACKET => self.timeless += 1,
            _ => {}
        }
        Ok(Step::Skipped)
    }

    /// Begins a section; whether it shows its byte order.
    fn begin_section(&mut self, head: &[u8], complaints: &mut Complaints) -> bool {
        self.finish(complaints);
        self.before += self.interfaces.len();
        self.interfaces.clear();
        let orders = [ByteOrder::Little, ByteOrder::Big];
        let found = orders.into_iter().find(|order| order.u32(head, 8) == BYTE_ORDER);
        self.order = found.unwrap_or(self.order);
        if let (Some(order), 16..) = (found, head.len()) {
            let (major, minor) = order.halves(order.u32(head, 12));
            // Some tools wrote 1.2 where they meant 1.0, as the specification says.
            if !matches!((major, minor), (1, 0 | 2)) {
                complaints.in_all(false, format!("a section of version {major}.{minor} is read as 1.0"));
            }
        }
        found.is_some()
    }

    fn add_interface(&mut self, place: (u64, u64), block: Option<&[u8]>, complaints: &mut Complaints) {
        if self.interfaces.len() >= MAX_INTERFACES {
            return;
        }
        let parse = match self.order {
            ByteOrder::Little => parse_interfacedescriptionblock_le,
            ByteOrder::Big => parse_interfacedescriptionblock_be,
        };
        let parsed = block.and_then(|block| parse(block).ok());
        let interface = parsed.map(|(_, block)| Interface::described(&block, self.order));
        let why = match &interface {
            None => "an interface that is described in a way that cannot be read",
            Some(Interface { ticks: None, .. }) => "an interface whose stamps are finer than any clock",
            Some(_) => "",
        };
        if !why.is_empty() {
            complaints.loss(place, format!("{why}: its packets are left out"));
        }
        self.interfaces.push(interface.filter(|interface| interface.ticks.is_some()));
    }

    /// A packet block of old as an enhanced one: they differ in their first number, which has 16 bits, beside a count of drops.
    fn renewed(&self, block: &[u8]) -> Vec<u8> {
        let mut renewed = block.to_vec();
        let (interface, _) = self.order.halves(self.order.u32(block, 8));
        for (at, value) in [(0, ENHANCED_PACKET), (8, interface.into())] {
            if let Some(bytes) = renewed.get_mut(at..at + 4) {
                bytes.copy_from_slice(&self.order.bytes(value));
            }
        }
        renewed
    }

    fn frame(&mut self, place: (u64, u64), block: &[u8], complaints: &mut Complaints) -> Step {
        let parse = match self.order {
            ByteOrder::Little => parse_enhancedpacketblock_le,
            ByteOrder::Big => parse_enhancedpacketblock_be,
        };
        let Ok((_, block)) = parse(block) else {
            complaints.loss(place, "a packet block contradicts its own lengths: it is left out".to_owned());
            return Step::Skipped;
        };
        let EnhancedPacketBlock { if_id, ts_high, ts_low, caplen, origlen, .. } = block;
        let interface = if_id as usize;
        if self.interfaces.get(interface).is_none() {
            complaints.loss(
                place,
                format!("a packet of interface {if_id}, which is not described: it is left out"),
            );
            return Step::Skipped;
        }
        let flags = bytes_of(&block.options, FLAGS).map_or(0, |bytes| self.order.u32(bytes, 0));
        let passed = match flags & 3 {
            1 => Some(Passed::In),
            2 => Some(Passed::Out),
            _ => None,
        };
        let ticks = u64::from(ts_high) << 32 | u64::from(ts_low);
        let data = ENHANCED_HEAD..ENHANCED_HEAD + caplen as usize;
        Step::Frame(Raw { interface, ticks, data, wire: origlen, passed })
    }

    /// Says of the section at hand what was left out of it.
    pub(crate) fn finish(&mut self, complaints: &mut Complaints) {
        let timeless = std::mem::take(&mut self.timeless);
        if timeless > 0 {
            complaints
                .in_all(false, format!("{timeless} simple packet blocks are left out: they have no time"));
        }
    }
}

/// The value of an option; `None` where it is absent or cut.
fn bytes_of<'b>(options: &'b [PcapNGOption<'_>], code: OptionCode) -> Option<&'b [u8]> {
    options.iter().find(|option| option.code == code).and_then(|option| option.as_bytes().ok())
}
