//! Integers of variable length (LEB128): seven bits a byte, the lowest first; the highest bit of a byte says
//! whether another one follows. Called by `walk` and `program`, and by the encoder.

use super::Cursor;
use crate::DecodeError;
use crate::bits;
use crate::schema::MAX_INTEGER_BITS;

/// Bytes that 64 bits can take.
pub(crate) const MAX_BYTES: u32 = 10;

/// Reads a number at a byte border; the cursor ends after it. Gives its 64 bits, sign-extended if it is
/// signed, and how many bits it was written with: 7 for each byte.
pub(crate) fn read(cursor: &mut Cursor<'_>, signed: bool) -> Result<(u64, u32), DecodeError> {
    cursor.align(8);
    let mut value: u64 = 0;
    for index in 0..MAX_BYTES {
        let at = cursor.take(8)?;
        let byte = bits::read(cursor.bytes, at, 8, crate::schema::ByteOrder::Little);
        let (payload, shift) = (byte & 0x7f, index * 7);
        value |= payload << shift;
        // Of the tenth byte only one bit fits; if there is a sign, the others repeat it.
        let fits = index + 1 < MAX_BYTES || if signed { [0, 0x7f].contains(&payload) } else { payload <= 1 };
        if !fits {
            break;
        }
        if byte & 0x80 == 0 {
            let width = shift + 7;
            let extended = if signed && width < 64 { bits::sign_extend(value, width) as u64 } else { value };
            return Ok((extended, width));
        }
    }
    Err(DecodeError::TooLarge { bits: u64::BITS })
}

/// The bytes of a number that takes more of them than it needs.
pub(crate) fn write_padded(raw: u64, signed: bool, bytes: u32) -> Vec<u8> {
    let mut written = write(raw, signed);
    let fill = if signed && (raw as i64) < 0 { 0x7f } else { 0 };
    while written.len() < bytes as usize {
        if let Some(last) = written.last_mut() {
            *last |= 0x80;
        }
        written.push(fill);
    }
    written
}

/// Moves after a number at a byte border; gives its bytes.
pub(crate) fn skip<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    cursor.align(8);
    let start = (cursor.at / 8) as usize;
    let content = cursor.bytes.get(start..(cursor.limit / 8) as usize).unwrap_or_default();
    let most = (MAX_INTEGER_BITS / 7) as usize;
    let last = content.iter().take(most).position(|byte| byte & 0x80 == 0);
    let Some(last) = last else {
        return Err(match content.len() < most {
            true => DecodeError::PastEnd { bits: 8 },
            false => DecodeError::TooLarge { bits: MAX_INTEGER_BITS },
        });
    };
    cursor.at += (last as u64 + 1) * 8;
    Ok(&content[..=last])
}

/// Reads a number of any size as bytes, the most significant one first, filled up with its sign: as many as
/// it was written with.
pub(crate) fn read_wide(cursor: &mut Cursor<'_>, signed: bool) -> Result<Vec<u8>, DecodeError> {
    let groups = skip(cursor)?;
    let negative = signed && groups.last().is_some_and(|last| last & 0x40 != 0);
    // One more, for the high bits of the last group.
    let mut bytes = vec![if negative { 0xff } else { 0 }; groups.len() + 1];
    for (group, at) in groups.iter().zip((0..).step_by(7)) {
        let keep = !(0x7f << (at % 8));
        let window = u16::from_le_bytes([bytes[at / 8], bytes[at / 8 + 1]]);
        let window = window & keep | u16::from(group & 0x7f) << (at % 8);
        bytes[at / 8..at / 8 + 2].copy_from_slice(&window.to_le_bytes());
    }
    bytes.pop();
    bytes.reverse();
    Ok(bytes)
}

/// The inverse of [`read_wide`]; more bytes where those of the number do not suffice.
pub(crate) fn write_wide(number: &[u8], signed: bool) -> Vec<u8> {
    let negative = signed && number.first().is_some_and(|&byte| byte >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let byte = |index: usize| number.len().checked_sub(index + 1).map_or(fill, |at| number[at]);
    let group = |index: usize| {
        let at = index * 7;
        (u16::from_le_bytes([byte(at / 8), byte(at / 8 + 1)]) >> (at % 8)) as u8 & 0x7f
    };
    let mut groups: Vec<u8> = (0..(number.len() * 8).div_ceil(7).max(1)).map(group).collect();
    let has_sign = |group: &u8| !signed || (group & 0x40 != 0) == negative;
    while groups.len() > number.len().max(1)
        && let [.., before, last] = groups.as_slice()
        && *last == fill & 0x7f
        && has_sign(before)
    {
        groups.pop();
    }
    // The last group also has the sign.
    if !groups.last().is_some_and(has_sign) {
        groups.push(fill & 0x7f);
    }
    let last = groups.len() - 1;
    groups[..last].iter_mut().for_each(|group| *group |= 0x80);
    groups
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
        check(&largest, true, Err(DecodeError::TooLarge { bits: 64 }));
        largest[9] = 0x7f;
        check(&largest, true, Ok((-1, 70)));
        largest[9] = 2;
        check(&largest, false, Err(DecodeError::TooLarge { bits: 64 }));
        check(&[0x80; 11], false, Err(DecodeError::TooLarge { bits: 64 }));
        check(&[0x80], false, Err(DecodeError::PastEnd { bits: 8 }));
    }

    #[test]
    fn numbers_of_any_size_are_bytes() {
        let check = |bytes: &[u8], signed, expect: Result<&[u8], DecodeError>| {
            let number = read_wide(&mut Cursor::new(bytes), signed);
            assert_eq!(number.as_deref().map_err(|error| *error), expect, "{bytes:?}");
        };
        check(&[0x4d], false, Ok(&[0x4d]));
        check(&[0x7f], true, Ok(&[0xff]));
        check(&[0x80, 0x7f], true, Ok(&[0xff, 0x80]));
        let ones = [[0xff; 10].as_slice(), &[0x7f]].concat();
        check(&ones, true, Ok(&[0xff; 11]));
        check(&ones, false, Ok(&[[0, 0x1f].as_slice(), &[0xff; 9]].concat()));
        check(&[0xff; 3], false, Err(DecodeError::PastEnd { bits: 8 }));
        check(&vec![0xff; 20_000], false, Err(DecodeError::TooLarge { bits: MAX_INTEGER_BITS }));
    }

    proptest! {
        #[test]
        fn wide_numbers_come_back(number: Vec<u8>, signed: bool) {
            let written = write_wide(&number, signed);
            prop_assert!(written.len() >= number.len());
            let read = read_wide(&mut Cursor::new(&written), signed).unwrap();
            let (fill, value) = read.split_at(read.len() - number.len());
            let negative = signed && number.first().is_some_and(|&first| first >= 0x80);
            prop_assert_eq!(value, number.as_slice());
            let expect = if negative { 0xff } else { 0 };
            prop_assert!(fill.iter().all(|&byte| byte == expect));
            prop_assert_eq!(write_wide(&read, signed), written);
        }

        #[test]
        fn short_numbers_are_the_same_either_way(value: i64, shift in 0_u32..64, signed: bool) {
            let value = value >> shift;
            let read = read(&mut Cursor::new(&write_wide(&value.to_be_bytes(), signed)), signed);
            prop_assert_eq!(read.map(|(raw, _)| raw), Ok(value as u64));
        }

        #[test]
        fn reading_what_was_written_is_identity(raw: u64, shift in 0_u32..64, signed: bool) {
            let raw = if signed { ((raw as i64) >> shift) as u64 } else { raw >> shift };
            let bytes = write(raw, signed);
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(read(&mut cursor, signed), Ok((raw, bytes.len() as u32 * 7)));
            prop_assert_eq!(cursor.at, bytes.len() as u64 * 8);
            let padded = write_padded(raw, signed, bytes.len() as u32 + 2);
            let expect = if padded.len() <= 10 { Ok((raw, padded.len() as u32 * 7)) } else { return Ok(()) };
            prop_assert_eq!(read(&mut Cursor::new(&padded), signed), expect);
        }
    }
}
