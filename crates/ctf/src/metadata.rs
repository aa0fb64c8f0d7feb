//! Metadata files: plain text, or text in packets of either byte order. The same for TSDL and for JSON.

use std::path::Path;

use crate::bits;
use crate::error::{Error, Reason};
use crate::schema::ByteOrder;

/// First word of a metadata packet.
const PACKET_MAGIC: u64 = 0x75d1_1d57;
/// Bytes of a metadata packet's header: magic, uuid, checksum, content and packet size in bits, compression,
/// encryption, checksum scheme, major, minor (CTF 1.8 section 7.1).
const PACKET_HEADER: usize = 37;
/// Bytes of that header in CTF 2: three reserved ones and the size of the header in bits follow (CTF2-PMETA-1.0).
const PACKET_HEADER_2: usize = 44;

/// Reads the metadata of a trace as one text.
///
/// # Errors
/// The file cannot be read, or its packets are broken: half a description would describe another trace.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::read(path, source))?;
    let byte_order = [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|&order| bytes.len() >= 4 && bits::read(&bytes, 0, 32, order) == PACKET_MAGIC);
    let text = match byte_order {
        Some(order) => unwrap_packets(path, &bytes, order)?,
        None => bytes,
    };
    Ok(String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
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

/// Bytes of the header of a packet that holds so many. There are writers of CTF 2 that leave its size out, as CTF 1.8 does.
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
    fn headers_of_ctf_2_tell_their_size() {
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
