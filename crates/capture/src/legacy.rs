//! The records of pcap files: one byte order, one link type, one resolution for the whole file.

use std::io::{self, Read};

use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header};

use crate::capture::Reason;
use crate::input::{ByteOrder, Input, MAX_RECORD};
use crate::sections::{Interface, Raw, Step};
use crate::stamp::Ticks;

/// Length of the header of a file.
const HEADER: usize = 24;
/// Fractions of a second that a record counts in, and how many make one.
const MICROSECONDS: u32 = 1_000_000;
const NANOSECONDS: u32 = 1_000_000_000;

/// A pcap file.
#[derive(Debug)]
pub(crate) struct Legacy {
    order: ByteOrder,
    /// Whether record headers have eight bytes more, as an old kernel patch writes them.
    modified: bool,
    fractions_per_s: u32,
    pub(crate) interface: Interface,
}

/// Whether a file that starts with these bytes is a pcap file.
pub(crate) fn is_legacy(head: [u8; 4]) -> bool {
    matches!(u32::from_le_bytes(head), 0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34 | 0xd4c3_b2a1 | 0x4d3c_b2a1)
}

impl Legacy {
    /// Reads the header of a file.
    pub(crate) fn open<R: Read>(input: &mut Input<R>) -> Result<Self, Reason> {
        if input.fill(HEADER)? < HEADER {
            return Err(Reason::Short);
        }
        let (_, header) = parse_pcap_header(input.record()).map_err(|_| Reason::NotACapture)?;
        let order = if header.is_bigendian() { ByteOrder::Big } else { ByteOrder::Little };
        let (ticks, fractions_per_s) = match header.is_nanosecond_precision() {
            true => (Ticks::NANOSECONDS, NANOSECONDS),
            false => (Ticks::MICROSECONDS, MICROSECONDS),
        };
        // The upper half shows whether frames end with a check sequence. Lengths are taken from the IP header
        // anyway.
        let interface = Interface::of_type((header.network.0 as u32 & 0xffff) as u16, ticks);
        let modified = header.is_modified_format();
        input.first_record();
        let (major, minor) = (header.version_major, header.version_minor);
        if (major, minor) != (2, 4) {
            input.note(format!("version {major}.{minor} of the format is read as 2.4"));
        }
        Ok(Self { order, modified, fractions_per_s, interface })
    }

    /// Reads the next record.
    pub(crate) fn step<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<Step> {
        let head = if self.modified { 24 } else { 16 };
        match input.fill(head)? {
            0 => return Ok(Step::End),
            read if read < head => {
                input.loss(format!("the file ends within the header of a record ({read} bytes)"));
                return Ok(Step::End);
            }
            _ => {}
        }
        let captured = self.order.u32(input.record(), 8);
        if captured as usize > MAX_RECORD {
            let whole = input.skip(u64::from(captured))?;
            let rest = if whole { "" } else { ", more than the file has left" };
            input.loss(format!("a record of {captured} bytes{rest}: it is left out"));
            return Ok(if whole { Step::Skipped } else { Step::End });
        }
        let whole = head + captured as usize;
        let read = input.fill(whole)?;
        if read < whole {
            input.loss(format!("the file ends within a record: {read} of its {whole} bytes are there"));
            return Ok(Step::End);
        }
        let parse = match (self.modified, self.order) {
            (true, _) => parse_pcap_frame_modified,
            (false, ByteOrder::Little) => parse_pcap_frame,
            (false, ByteOrder::Big) => parse_pcap_frame_be,
        };
        let Ok((_, block)) = parse(input.record()) else {
            input.loss("the record cannot be read: it is left out");
            return Ok(Step::Skipped);
        };
        let (seconds, fraction, wire) = (block.ts_sec, block.ts_usec, block.origlen);
        let per_s = self.fractions_per_s;
        if fraction >= per_s {
            input.loss(format!("its time has {fraction} of {per_s} parts of a second: it is left out"));
            return Ok(Step::Skipped);
        }
        let ticks = u64::from(seconds) * u64::from(per_s) + u64::from(fraction);
        let raw = Raw { interface: 0, ticks, data: head..whole, wire, passed: None };
        Ok(Step::Frame(raw))
    }
}
