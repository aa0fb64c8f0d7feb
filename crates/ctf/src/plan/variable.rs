//! Integers of variable length (LEB128): seven bits a byte, the lowest first; the highest bit of a byte says whether
//! another one follows. Called by `walk` and `program`, and by the encoder.

use super::Cursor;
use crate::DecodeError;
use crate::bits;

/// Bytes that 64 bits can take.
const MAX_BYTES: u32 = 10;

/// Reads a number at a byte border; the cursor ends behind it. Gives its 64 bits, sign-extended if it is signed, and how
/// many bits it was written with: 7 for each byte.
pub(crate) fn read(cursor: &mut Cursor<'_>, signed: bool) -> Result<(u64, u32), DecodeError> {
    cursor.align(8);
    let mut value: u64 = 0;
    for index in 0..MAX_BYTES {
        let at = cursor.take(8)?;
        let byte = bits::read(cursor.bytes, at, 8, crate::schema::ByteOrder::Little);
        let (payload, shift) = (byte & 0x7f, index * 7);
        value |= payload << shift;
        // Of the tenth byte only one bit fits; the others may repeat the sign.
        let fits = index + 1 < MAX_BYTES || payload <= 1 || (signed && payload == 0x7f);
        if !fits {
            break;
        }
        if byte & 0x80 == 0 {
            let width = shift + 7;
            let extended = if signed && width < 64 { bits::sign_extend(value, width) as u64 } else { value };
            return Ok((extended, width));
        }
    }
    Err(DecodeError::TooLarge)
}

/// The bytes of a number.
pub(crate) fn write(raw: u64, signed: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = i128::from(raw);
    if signed {
        rest = i128::from(raw as i64);
    }
    loop {
        let byte = (rest & 0x7f) as u8;
        rest >>= 7;
        let done = if signed { rest == -i128::from(byte >> 6) } else { rest == 0 };
        if done {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_known_bytes() {
        let check = |bytes: &[u8], signed, expect: Result<(i128, u32), DecodeError>| {
            let read = read(&mut Cursor::new(bytes), signed);
            let number = |(raw, bits): (u64, u32)| match signed {
                true => (i128::from(raw as i64), bits),
                false => (i128::from(raw), bits),
            };
            assert_eq!(read.map(number), expect, "{bytes:?}");
        };
        check(&[0x4d], false, Ok((77, 7)));
        check(&[0x7f], true, Ok((-1, 7)));
        check(&[0xb1, 0x01], false, Ok((177, 14)));
        check(&[0x80, 0x00], false, Ok((0, 14)));
        let mut largest = [0xff; 10];
        largest[9] = 1;
        check(&largest, false, Ok((u64::MAX.into(), 70)));
        largest[9] = 2;
        check(&largest, false, Err(DecodeError::TooLarge));
        check(&[0x80; 11], false, Err(DecodeError::TooLarge));
        check(&[0x80], false, Err(DecodeError::PastEnd { bits: 8 }));
    }

    proptest! {
        #[test]
        fn reading_what_was_written_is_identity(raw: u64, shift in 0_u32..64, signed: bool) {
            let raw = if signed { ((raw as i64) >> shift) as u64 } else { raw >> shift };
            let bytes = write(raw, signed);
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(read(&mut cursor, signed), Ok((raw, bytes.len() as u32 * 7)));
            prop_assert_eq!(cursor.at, bytes.len() as u64 * 8);
        }
    }
}
