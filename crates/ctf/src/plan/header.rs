//! Event headers: which class an event is of, and when it happened.

use super::Cursor;
use super::lttng::LttngHeader;
use super::node::Node;
use super::walk::{Visitor, walk};
use crate::DecodeError;
use crate::bits;
use crate::schema::{ByteOrder, IntegerClass, Role};

/// How the events of a stream class begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderForm {
    /// LTTng's compact header: 5 bits of id and 27 bits of time in one word; id 31 announces a 32-bit id and
    /// a 64-bit time.
    Compact(ByteOrder),
    /// LTTng's large header: 16 bits of id and 32 bits of time; id 65535 announces a 32-bit id and a 64-bit
    /// time.
    Large(ByteOrder),
    /// Any other structure: its fields are walked.
    Generic,
    /// No header at all.
    Absent,
}

impl HeaderForm {
    /// The form of a header that has LTTng's shape or not. Where a length or a selector outside refers into
    /// the header, its fields have to be walked whatever its form.
    pub(super) fn of(header: Option<&Node>, lttng: Option<&LttngHeader>, referred_to: bool) -> Self {
        match header {
            None => Self::Absent,
            Some(_) if referred_to => Self::Generic,
            Some(_) => lttng.and_then(LttngHeader::form).unwrap_or(Self::Generic),
        }
    }
}

/// Time after reading the low `bits` of it: a value below the last one has wrapped once.
#[inline]
pub fn extend_time(now: u64, value: u64, bits: u32) -> u64 {
    let since = bits::low_bits(value.wrapping_sub(now), bits.min(64));
    now.wrapping_add(since)
}

/// Time in a packet, in cycles: of the last event, and what the events to come can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventTime {
    pub(crate) now: u64,
    pub(crate) earliest: u64,
    pub(crate) latest: u64,
}

impl EventTime {
    /// A time after which there may be any.
    pub(crate) fn new(now: u64) -> Self {
        Self { now, earliest: 0, latest: u64::MAX }
    }

    /// Refuses a time that no event of the packet can have.
    fn check(self) -> Result<(), DecodeError> {
        let Self { now, earliest, latest } = self;
        let inside = (earliest..=latest).contains(&now);
        inside.then_some(()).ok_or(DecodeError::OutsidePacket { cycles: now, earliest, latest })
    }
}

/// Decodes a header: the cursor ends after it. Gives the class id (if the header has one) and moves the time
/// on.
#[inline]
pub(crate) fn decode(
    form: HeaderForm,
    node: Option<&Node>,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    time: &mut EventTime,
) -> Result<Option<u64>, DecodeError> {
    let short = match form {
        HeaderForm::Compact(ByteOrder::Little) => short::<5, 27>(cursor, time),
        HeaderForm::Large(ByteOrder::Little) => short::<16, 32>(cursor, time),
        _ => None,
    };
    match short {
        Some(id) => Ok(Some(id)),
        None => decode_any(form, node, cursor, slots, time),
    }
}

/// What nearly all headers are: an id and the low bits of the time in one little-endian word that can be
/// loaded at once. `None`, and nothing has changed, where it is another or has a time that it cannot have.
/// That it is not too early need not be seen: low bits only move the time on.
#[inline]
fn short<const ID: u32, const TIME: u32>(cursor: &mut Cursor<'_>, time: &mut EventTime) -> Option<u64> {
    let at = bits::align_up(cursor.at, 8);
    let word = u64::from_le_bytes(*bits::eight_bytes(cursor.bytes, (at / 8) as usize)?);
    let id = bits::low_bits(word, ID);
    let end = at + u64::from(ID + TIME);
    if end > cursor.limit || id == bits::low_bits(u64::MAX, ID) {
        return None;
    }
    let now = extend_time(time.now, bits::low_bits(word >> ID, TIME), TIME);
    if now > time.latest {
        return None;
    }
    (cursor.at, time.now) = (end, now);
    Some(id)
}

/// The long form of the same, after the id that stands for it: what most headers are of traces with many
/// classes.
#[inline]
fn long<const ID: u32>(cursor: &mut Cursor<'_>, now: &mut u64) -> Option<u64> {
    let at = bits::align_up(cursor.at, 8);
    let word = u64::from_le_bytes(*bits::eight_bytes(cursor.bytes, (at / 8) as usize)?);
    let full = at + u64::from(ID.next_multiple_of(8));
    let first = (full / 8) as usize;
    let twelve: &[u8; 12] = cursor.bytes.get(first..first + 12)?.first_chunk()?;
    let (id, time) = (twelve.first_chunk()?, twelve.last_chunk()?);
    let end = full + 96;
    if end > cursor.limit || bits::low_bits(word, ID) != bits::low_bits(u64::MAX, ID) {
        return None;
    }
    cursor.at = end;
    *now = u64::from_le_bytes(*time);
    Some(u32::from_le_bytes(*id).into())
}

/// Decodes a header of any form. Apart, so that the usual case is small enough to inline.
#[inline(never)]
fn decode_any(
    form: HeaderForm,
    node: Option<&Node>,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    time: &mut EventTime,
) -> Result<Option<u64>, DecodeError> {
    let long = match form {
        HeaderForm::Compact(ByteOrder::Little) => long::<5>(cursor, &mut time.now),
        HeaderForm::Large(ByteOrder::Little) => long::<16>(cursor, &mut time.now),
        _ => None,
    };
    let id = match long {
        Some(id) => Some(id),
        None => decode_other(form, node, cursor, slots, &mut time.now)?,
    };
    time.check()?;
    Ok(id)
}

/// Decodes a header of any form but LTTng's long one in little endian.
fn decode_other(
    form: HeaderForm,
    node: Option<&Node>,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    now: &mut u64,
) -> Result<Option<u64>, DecodeError> {
    match form {
        HeaderForm::Compact(order) => {
            cursor.align(8);
            let at = cursor.take(32)?;
            let word = bits::read(cursor.bytes, at, 32, order);
            let (id, time) = match order {
                ByteOrder::Little => (word & 31, word >> 5),
                ByteOrder::Big => (word >> 27, word & 0x7ff_ffff),
            };
            if id == 31 {
                cursor.at = at + 8;
                return full(cursor, order, now).map(Some);
            }
            *now = extend_time(*now, time, 27);
            Ok(Some(id))
        }
        HeaderForm::Large(order) => {
            cursor.align(8);
            let at = cursor.take(16)?;
            let id = bits::read(cursor.bytes, at, 16, order);
            if id == 65_535 {
                return full(cursor, order, now).map(Some);
            }
            let at = cursor.take(32)?;
            *now = extend_time(*now, bits::read(cursor.bytes, at, 32, order), 32);
            Ok(Some(id))
        }
        HeaderForm::Generic => {
            let mut roles = HeaderRoles { id: None, now: *now };
            if let Some(node) = node {
                walk(node, cursor, slots, &mut roles)?;
            }
            *now = roles.now;
            Ok(roles.id)
        }
        HeaderForm::Absent => Ok(None),
    }
}

/// The long form after the escape id.
fn full(cursor: &mut Cursor<'_>, order: ByteOrder, now: &mut u64) -> Result<u64, DecodeError> {
    let at = cursor.take(96)?;
    *now = bits::read(cursor.bytes, at + 32, 64, order);
    Ok(bits::read(cursor.bytes, at, 32, order))
}

/// Picks the id and the time out of any header. Of several ids the last one counts: the full id stands after
/// the escape value.
struct HeaderRoles {
    id: Option<u64>,
    now: u64,
}

impl Visitor for HeaderRoles {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.variable_unsigned(class, value, class.size);
    }

    fn variable_unsigned(&mut self, class: &IntegerClass, value: u64, bits: u32) {
        match class.role {
            Some(Role::EventClassId) => self.id = Some(value),
            Some(Role::Timestamp) => self.now = extend_time(self.now, value, bits),
            _ => {}
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        // The low bits of the time or of an id are the bits of the field, whatever sign they are declared
        // with.
        self.unsigned(class, bits::low_bits(value as u64, class.size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_wraps_once() {
        let check = |now, value, bits, expect| assert_eq!(extend_time(now, value, bits), expect);
        check(5, 7, 27, 7);
        check(7, 5, 27, (1 << 27) + 5);
        check((3 << 27) + 7, 7, 27, (3 << 27) + 7);
        check(0xffff_ffff, 0, 32, 1 << 32);
        check(99, 5, 64, 5);
    }
}
