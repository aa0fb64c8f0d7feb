//! Text in UTF-16 and UTF-32, which readers get as UTF-8. Called by `walk` and `program`, and by the encoder.

use super::Cursor;
use crate::DecodeError;
use crate::schema::{ByteOrder, Encoding};

/// Moves after the next NUL of an encoding's size; gives the bytes before it.
pub(crate) fn take_string<'a>(cursor: &mut Cursor<'a>, encoding: Encoding) -> Result<&'a [u8], DecodeError> {
    cursor.align(8);
    let start = (cursor.at / 8) as usize;
    let content = cursor.bytes.get(start..(cursor.limit / 8) as usize).unwrap_or_default();
    let unit = encoding.unit();
    let is_nul = |unit: &[u8]| unit.iter().all(|&byte| byte == 0);
    let units = content.chunks_exact(unit).position(is_nul).ok_or(DecodeError::UnterminatedString)?;
    cursor.at += (units as u64 + 1) * unit as u64 * 8;
    Ok(&content[..units * unit])
}

/// Text as UTF-8. What is no character, also an incomplete unit at the end, becomes U+FFFD.
pub(crate) fn to_utf8(bytes: &[u8], encoding: Encoding) -> String {
    let mut text = match encoding {
        Encoding::Utf8 => return String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Utf16(order) => {
            let units = bytes.chunks_exact(2).map(|unit| number(unit, order) as u16);
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        Encoding::Utf32(order) => {
            let units = bytes.chunks_exact(4).map(|unit| number(unit, order));
            units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
        }
    };
    if !bytes.len().is_multiple_of(encoding.unit()) {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

/// The inverse of [`to_utf8`]; `None` where the bytes are not UTF-8.
pub(crate) fn from_utf8(text: &[u8], encoding: Encoding) -> Option<Vec<u8>> {
    let (text, mut bytes) = (str::from_utf8(text).ok()?, Vec::new());
    let mut put = |number: u32, order| {
        let unit = encoding.unit();
        match order {
            ByteOrder::Little => bytes.extend_from_slice(&number.to_le_bytes()[..unit]),
            ByteOrder::Big => bytes.extend_from_slice(&number.to_be_bytes()[4 - unit..]),
        }
    };
    match encoding {
        Encoding::Utf8 => return Some(text.into()),
        Encoding::Utf16(order) => text.encode_utf16().for_each(|unit| put(unit.into(), order)),
        Encoding::Utf32(order) => text.chars().for_each(|character| put(character.into(), order)),
    }
    Some(bytes)
}

fn number(unit: &[u8], order: ByteOrder) -> u32 {
    let join = |number: u32, byte: &u8| number << 8 | u32::from(*byte);
    match order {
        ByteOrder::Little => unit.iter().rev().fold(0, join),
        ByteOrder::Big => unit.iter().fold(0, join),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_the_way_there_and_back() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for encoding in [Encoding::Utf8, Encoding::Utf16(order), Encoding::Utf32(order)] {
                for text in ["", "plain", "寿司が大好き", "𝄞é"] {
                    let bytes = from_utf8(text.as_bytes(), encoding).unwrap();
                    assert_eq!(to_utf8(&bytes, encoding), text);
                    let field = [bytes.as_slice(), &vec![0; encoding.unit()], b"rest"].concat();
                    let mut cursor = Cursor::new(&field);
                    assert_eq!(take_string(&mut cursor, encoding), Ok(bytes.as_slice()));
                    assert_eq!(cursor.at, (field.len() as u64 - 4) * 8);
                }
            }
        }
    }

    #[test]
    fn what_is_no_character_is_marked() {
        assert_eq!(to_utf8(&[0x00, 0xd8, 0x41], Encoding::Utf16(ByteOrder::Little)), "\u{fffd}\u{fffd}");
        assert_eq!(to_utf8(&[0xff; 4], Encoding::Utf32(ByteOrder::Big)), "\u{fffd}");
    }
}
