//! Metadata files: plain text, or text in packets of either byte order. The same for TSDL and for JSON.

use std::io::Read as _;
use std::path::Path;

use crate::bits;
use crate::error::{Error, Reason};
use crate::schema::{ByteOrder, Schema};

/// First word of a metadata packet.
const PACKET_MAGIC: u64 = 0x75d1_1d57;
/// Bytes of a metadata packet's header: magic, uuid, checksum, content and packet size in bits, compression,
/// encryption, checksum scheme, major, minor (CTF 1.8 section 7.1).
const PACKET_HEADER: usize = 37;
/// Bytes of that header in CTF 2: three reserved ones and the size of the header in bits follow
/// (CTF2-PMETA-1.0).
const PACKET_HEADER_2: usize = 44;

/// Bytes of a metadata file. Those of kernels with all their system calls have less than a million; the
/// syntax tree of the worst text takes 34 times as much memory as that.
pub(crate) const MAX_METADATA: u64 = 12 << 20;

/// What text metadata of CTF 1.8 begin with (section 7.1), before the version.
const SIGNATURE: &str = "/* CTF ";

/// The metadata of a trace as one text.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) text: String,
    /// Byte order of the packets it came in.
    pub(crate) packets: Option<ByteOrder>,
    /// Whether it is known only as text: how its file was is not known.
    is_text: bool,
    /// What is odd about the file.
    pub(crate) notes: Vec<String>,
}

impl Metadata {
    /// Metadata that are a text, and no packets of one.
    pub(crate) fn of_text(text: String) -> Self {
        Self { text, packets: None, is_text: true, notes: Vec::new() }
    }

    /// Compares what the text says with how it came. The text is not taken from here: it may have been given
    /// away.
    pub(crate) fn check(&mut self, schema: &Schema, text: &str) {
        if schema.version.0 >= 2 || self.is_text {
            return;
        }
        if self.packets.is_some_and(|packets| packets != schema.byte_order) {
            let message = "its packets have another byte order than the trace that they describe";
            self.notes.push(message.to_owned());
        }
        if self.packets.is_none() && !has_signature(text) {
            let message = format!("it does not begin with `{SIGNATURE}1.8`; read as CTF 1.8");
            self.notes.push(message);
        }
    }
}

/// Whether a text says of itself that it is TSDL of CTF 1.8.
fn has_signature(text: &str) -> bool {
    let version = text.trim_start_matches('\u{feff}').strip_prefix(SIGNATURE);
    let version = version.and_then(|rest| rest.trim_start().strip_prefix("1.8"));
    version.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads the metadata of a trace.
///
/// # Errors
/// The file cannot be read, or its packets are broken: half a description would describe another trace.
pub(crate) fn read(path: &Path) -> Result<Metadata, Error> {
    let bytes = read_file(path)?;
    let byte_order = [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|&order| bytes.len() >= 4 && bits::read(&bytes, 0, 32, order) == PACKET_MAGIC);
    let text = match byte_order {
        Some(order) => unwrap_packets(path, &bytes, order)?,
        None => bytes,
    };
    let mut notes = Vec::new();
    let text = String::from_utf8(text).unwrap_or_else(|error| {
        let offset = error.utf8_error().valid_up_to();
        notes.push(format!("its text is not UTF-8 from byte {offset} on; read with U+FFFD for what is not"));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    Ok(Metadata { text, packets: byte_order, is_text: false, notes })
}

/// The bytes of a file that is not larger than any metadata.
fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::new(path, source);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_METADATA + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_METADATA {
        return Err(Error::new(path, Reason::TooLarge { limit: MAX_METADATA }));
    }
    Ok(bytes)
}

/// Joins the contents of metadata packets.
fn unwrap_packets(path: &Path, bytes: &[u8], order: ByteOrder) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let fail = |message: &str| {
            let message = format!("broken metadata packet: {message}");
            Error::new(path, Reason::MetadataPackets { offset: start as u64, message })
        };
        let rest = &bytes[start..];
        if rest.len() < PACKET_HEADER {
            return Err(fail("the file ends within its header"));
        }
        let word = |byte: u64| bits::read(rest, byte * 8, 32, order);
        if word(0) != PACKET_MAGIC {
            return Err(fail("wrong magic number"));
        }
        let [compression, encryption, checksum_scheme] = [32, 33, 34].map(|byte| rest[byte]);
        if compression != 0 || encryption != 0 || checksum_scheme != 0 {
            return Err(fail("compression, encryption and checksums are not supported"));
        }
        let (content_bits, packet_bits) = (word(24), word(28));
        let (content, packet) = ((content_bits / 8) as usize, (packet_bits / 8) as usize);
        if content_bits % 8 != 0 || content < PACKET_HEADER || content > packet {
            return Err(fail(&format!("its content size of {content_bits} bits is impossible")));
        }
        if packet > rest.len() {
            return Err(fail(&format!("it takes {packet} bytes, the file holds {}", rest.len())));
        }
        text.extend_from_slice(&rest[header_of(rest, content, order)..content]);
        start += packet;
    }
    Ok(text)
}

/// Bytes of the header of a packet that holds this many. There are writers of CTF 2 that leave its size out,
/// as CTF 1.8 does.
fn header_of(packet: &[u8], content: usize, order: ByteOrder) -> usize {
    if content < PACKET_HEADER_2 || packet[35] != 2 || packet[PACKET_HEADER..40] != [0; 3] {
        return PACKET_HEADER;
    }
    let bits = bits::read(packet, 40 * 8, 32, order);
    let bytes = (bits / 8) as usize;
    let possible = bits.is_multiple_of(8) && (PACKET_HEADER_2..=content).contains(&bytes);
    if possible { bytes } else { PACKET_HEADER }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(order: ByteOrder, text: &str, padding: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        bits::write(&mut bytes, 0, 32, order, PACKET_MAGIC);
        bits::write(&mut bytes, 24 * 8, 32, order, (PACKET_HEADER + text.len()) as u64 * 8);
        bits::write(&mut bytes, 28 * 8, 32, order, (PACKET_HEADER + text.len() + padding) as u64 * 8);
        bytes.resize(35, 0);
        bytes.extend([1, 8]);
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len() + padding, 0);
        bytes
    }

    #[test]
    fn packets_are_joined() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bytes = [packet(order, "trace {", 10), packet(order, " };", 0)].concat();
            assert_eq!(unwrap_packets(Path::new("m"), &bytes, order).unwrap(), b"trace { };");
        }
    }

    #[test]
    fn headers_of_ctf_2_show_their_size() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut size = Vec::new();
            bits::write(&mut size, 24, 32, order, 46 * 8);
            let with_size = [size.as_slice(), b"xx{}"].concat();
            for (text, expect) in [(with_size.as_slice(), "{}"), (b"\x1e{\"a\": 1}", "\u{1e}{\"a\": 1}")] {
                let mut bytes = packet(order, str::from_utf8(text).unwrap(), 3);
                bytes[35] = 2;
                assert_eq!(unwrap_packets(Path::new("m"), &bytes, order).unwrap(), expect.as_bytes());
            }
        }
    }

    #[test]
    fn the_version_stands_at_the_begin() {
        let check = |text: &str, expect| assert_eq!(has_signature(text), expect, "{text}");
        check("/* CTF 1.8 */", true);
        check("/* CTF 1.8\r\n * more */\r\ntrace", true);
        check("\u{feff}/* CTF 1.8 */", true);
        check("", false);
        check("trace { };", false);
        check("/* CTF 1.80 */", false);
        check("/* CTF 2.0 */", false);
        check("/* CTF 100000000000000000000000000000000000.8 */", false);
    }

    #[test]
    fn broken_packets_are_named() {
        let check = |mutate: fn(&mut Vec<u8>), expect: &str| {
            let mut bytes = packet(ByteOrder::Little, "trace {};", 3);
            mutate(&mut bytes);
            let error = unwrap_packets(Path::new("m"), &bytes, ByteOrder::Little).unwrap_err();
            assert_eq!(error.to_string(), format!("m: broken metadata packet: {expect} (byte 0)"));
        };
        check(|b| b.truncate(20), "the file ends within its header");
        check(|b| b.truncate(40), "it takes 49 bytes, the file holds 40");
        check(|b| b[24] = 8, "its content size of 264 bits is impossible");
        check(|b| b[32] = 1, "compression, encryption and checksums are not supported");
    }
}
