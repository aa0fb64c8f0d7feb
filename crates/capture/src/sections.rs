//! The blocks of pcapng files: sections, each in its own byte order and with its own interfaces.
//!
//! Blocks are framed here, so that a bad one costs only itself; `pcap-parser` reads their contents. Its
//! accessors for the resolution and the offset of stamps support neither powers of two nor big-endian files,
//! so these options are read from their bytes.

use std::io::{self, Read};
use std::ops::Range;

use pcap_parser::pcapng::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption, parse_enhancedpacketblock_be,
    parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
};

use crate::input::{ByteOrder, Input, MAX_RECORD};
use crate::link::Mac;
use crate::stamp::Ticks;

/// Number of interfaces that one section can have: packets of others are lost. No system has as many, and
/// each takes memory.
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
/// Length of an empty block: type and length before it, length after it.
const MIN_BLOCK: u32 = 12;
/// Length of a section header without options: a byte order, a version and a length in it.
const MIN_SECTION: u32 = 28;
/// Bytes of an enhanced packet block before the packet.
const ENHANCED_HEAD: usize = 28;
/// Option `epb_flags`.
const FLAGS: OptionCode = OptionCode(2);

/// An interface at which packets were captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: Option<String>,
    pub(crate) link_type: u16,
    pub(crate) mac: Option<Mac>,
    /// `None`: the resolution of its stamps is not supported.
    pub(crate) ticks: Option<Ticks>,
}

/// Direction of a frame at the interface, where the capture records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Inbound.
    In,
    /// Outbound.
    Out,
}

/// A frame as recorded in the file.
#[derive(Debug)]
pub(crate) struct Raw {
    /// Index among the interfaces of the section.
    pub(crate) interface: usize,
    pub(crate) ticks: u64,
    /// Range of its bytes in the current record.
    pub(crate) data: Range<usize>,
    /// Length on the wire.
    pub(crate) wire: u32,
    pub(crate) passed: Option<Passed>,
}

/// Outcome of reading a record.
#[derive(Debug)]
pub(crate) enum Step {
    /// A frame.
    Frame(Raw),
    /// A record without a frame, or a broken one.
    Skipped,
    /// End of the file.
    End,
}

/// The current section of a pcapng file.
#[derive(Debug)]
pub(crate) struct Sections {
    order: ByteOrder,
    /// Interfaces of the section by number. `None`: one that cannot be used.
    interfaces: Vec<Option<Interface>>,
    /// Number of interfaces of the sections before.
    before: usize,
    /// Number of packets without a time.
    timeless: u64,
}

/// Whether a file that starts with these bytes is a pcapng file.
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
    /// Before the first section header.
    pub(crate) fn new() -> Self {
        Self { order: ByteOrder::Little, interfaces: Vec::new(), before: 0, timeless: 0 }
    }

    /// The interface of a frame, and its number among those of all sections.
    pub(crate) fn interface(&self, index: usize) -> Option<(usize, &Interface)> {
        let number = self.before + index;
        Some((number, self.interfaces.get(index)?.as_ref()?))
    }

    /// An interface of the current section, by its number among those of all sections.
    pub(crate) fn numbered(&self, number: usize) -> Option<&Interface> {
        self.interfaces.get(number.checked_sub(self.before)?)?.as_ref()
    }

    /// Reads the next block.
    pub(crate) fn step<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<Step> {
        let head = input.fill(8)?;
        if head == 0 {
            return Ok(Step::End);
        }
        let section = head >= 4 && ByteOrder::Little.u32(input.record(), 0) == SECTION_HEADER;
        if head == 8 && section && input.fill(16)? >= 12 && !self.begin_section(input) {
            input.loss("a section without a byte order: the rest of the file is left out");
            return Ok(Step::End);
        }
        if head < 8 || (section && input.record().len() < 12) {
            input.loss("the file ends within the header of a block");
            return Ok(Step::End);
        }
        let (kind, length) = (self.order.u32(input.record(), 0), self.order.u32(input.record(), 4));
        let min = if section { MIN_SECTION } else { MIN_BLOCK };
        if length < min || !length.is_multiple_of(4) {
            input.loss(format!("a block cannot have {length} bytes: the rest of the file is left out"));
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
            input.loss(format!("the file ends within a block of {length} bytes: it is left out"));
            return Ok(Step::End);
        }
        match kind {
            INTERFACE_DESCRIPTION => {
                if let Err(wrong) = self.add_interface(wanted.then(|| input.record())) {
                    input.loss(format!("{wrong}: its packets are left out"));
                }
            }
            ENHANCED_PACKET | OLD_PACKET => {
                let frame = match (wanted, kind) {
                    (false, _) => Err(format!("a packet block of {length} bytes")),
                    (true, OLD_PACKET) => self.frame(&self.renewed(input.record())),
                    (true, _) => self.frame(input.record()),
                };
                match frame {
                    Ok(raw) => return Ok(Step::Frame(raw)),
                    Err(wrong) => input.loss(format!("{wrong}: it is left out")),
                }
            }
            SIMPLE_PACKET => self.timeless += 1,
            _ => {}
        }
        Ok(Step::Skipped)
    }

    /// Starts a section; returns whether it has a byte order.
    fn begin_section<R: Read>(&mut self, input: &mut Input<R>) -> bool {
        self.finish(input);
        self.before += self.interfaces.len();
        self.interfaces.clear();
        let orders = [ByteOrder::Little, ByteOrder::Big];
        let found = orders.into_iter().find(|order| order.u32(input.record(), 8) == BYTE_ORDER);
        self.order = found.unwrap_or(self.order);
        if let (Some(order), 16..) = (found, input.record().len()) {
            let (major, minor) = order.halves(order.u32(input.record(), 12));
            // Some tools wrote 1.2 where they meant 1.0, as the specification says.
            if !matches!((major, minor), (1, 0 | 2)) {
                input.note(format!("a section of version {major}.{minor} is read as 1.0"));
            }
        }
        found.is_some()
    }

    /// Adds an interface; the error names one that cannot be used.
    fn add_interface(&mut self, block: Option<&[u8]>) -> Result<(), &'static str> {
        if self.interfaces.len() >= MAX_INTERFACES {
            return Ok(());
        }
        let parse = match self.order {
            ByteOrder::Little => parse_interfacedescriptionblock_le,
            ByteOrder::Big => parse_interfacedescriptionblock_be,
        };
        let parsed = block.and_then(|block| parse(block).ok());
        let interface = parsed.map(|(_, block)| Interface::described(&block, self.order));
        let usable = match &interface {
            None => Err("an interface whose description cannot be read"),
            Some(Interface { ticks: None, .. }) => Err("an interface whose stamps are finer than any clock"),
            Some(_) => Ok(()),
        };
        self.interfaces.push(interface.filter(|_| usable.is_ok()));
        usable
    }

    /// An obsolete packet block as an enhanced one. They differ in the first number: 16 bits, followed by a
    /// count of drops.
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

    /// The frame of an enhanced packet block; the error names what is wrong.
    fn frame(&self, block: &[u8]) -> Result<Raw, String> {
        let parse = match self.order {
            ByteOrder::Little => parse_enhancedpacketblock_le,
            ByteOrder::Big => parse_enhancedpacketblock_be,
        };
        let Ok((_, block)) = parse(block) else {
            return Err("a packet block contradicts its own lengths".to_owned());
        };
        let EnhancedPacketBlock { if_id, ts_high, ts_low, caplen, origlen, .. } = block;
        let interface = if_id as usize;
        if self.interfaces.get(interface).is_none() {
            return Err(format!("a packet of interface {if_id}, which is not described"));
        }
        let flags = bytes_of(&block.options, FLAGS).map_or(0, |bytes| self.order.u32(bytes, 0));
        let passed = match flags & 3 {
            1 => Some(Passed::In),
            2 => Some(Passed::Out),
            _ => None,
        };
        let ticks = u64::from(ts_high) << 32 | u64::from(ts_low);
        let data = ENHANCED_HEAD..ENHANCED_HEAD + caplen as usize;
        Ok(Raw { interface, ticks, data, wire: origlen, passed })
    }

    /// Reports what was left out of the current section.
    pub(crate) fn finish<R: Read>(&mut self, input: &mut Input<R>) {
        let timeless = std::mem::take(&mut self.timeless);
        if timeless > 0 {
            input.note(format!("{timeless} simple packet blocks are left out: they have no time"));
        }
    }
}

/// The value of an option; `None` where it is absent or truncated.
fn bytes_of<'b>(options: &'b [PcapNGOption<'_>], code: OptionCode) -> Option<&'b [u8]> {
    options.iter().find(|option| option.code == code).and_then(|option| option.as_bytes().ok())
}
