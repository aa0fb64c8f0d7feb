//! The shape of LTTng's event headers: an id in few bits whose values choose between a short form (low bits
//! of the time) and a full one (an id and a time of their own). Recognised here once, for decoding and for
//! writing.

use super::header::HeaderForm;
use crate::schema::{ByteOrder, FieldClass, IntegerClass, Location, Role, Scope, StructClass, VariantOption};

/// An event header `{ id; variant <id> { short: { time }; full: { id; time } } v; }` of any sizes and
/// alignments.
#[derive(Debug)]
pub(crate) struct LttngHeader {
    /// Alignment of the whole.
    pub(crate) align: u32,
    /// The id in few bits.
    pub(crate) id: IntegerClass,
    /// A value of it that chooses the full form.
    pub(crate) escape: u64,
    /// Alignment of the short form.
    pub(crate) short_align: u32,
    /// Its low bits of the time.
    pub(crate) short_time: IntegerClass,
    /// Alignment of the full form.
    pub(crate) full_align: u32,
    /// Its id.
    pub(crate) full_id: IntegerClass,
    /// Its time.
    pub(crate) full_time: IntegerClass,
    /// Values of the id in the order of choosing, and whether they choose the short form.
    ranges: Vec<(i128, i128, bool)>,
}

impl LttngHeader {
    /// Recognises the shape.
    pub(super) fn of(header: &StructClass) -> Option<Self> {
        let [first, choice] = header.members.as_slice() else { return None };
        let FieldClass::Variant(variant) = &choice.class else { return None };
        let id = integer(&first.class, Role::EventClassId)?;
        if variant.selector != (Location { scope: Scope::EventHeader, path: vec![first.name.clone()] }) {
            return None;
        }
        let [one, other] = variant.options.as_slice() else { return None };
        let (short, full) = if members(one)?.members.len() == 1 { (one, other) } else { (other, one) };
        let (short_class, full_class) = (members(short)?, members(full)?);
        let ([short_time], [full_id, full_time]) =
            (short_class.members.as_slice(), full_class.members.as_slice())
        else {
            return None;
        };
        let ranges: Vec<(i128, i128, bool)> = [one, other]
            .into_iter()
            .flat_map(|option| {
                let is_short = std::ptr::eq(option, short);
                option.ranges.iter().map(move |&(first, last)| (first, last, is_short))
            })
            .collect();
        let largest = u64::MAX >> (64 - id.size);
        let escape = full
            .ranges
            .iter()
            .filter_map(|&(first, last)| u64::try_from(if first < 0 { last } else { first }).ok())
            .find(|&value| value <= largest && chooses_short(&ranges, value) == Some(false))?;
        Some(Self {
            align: header.align(),
            id: id.clone(),
            escape,
            short_align: short_class.align(),
            short_time: integer(&short_time.class, Role::Timestamp)?.clone(),
            full_align: full_class.align(),
            full_id: integer(&full_id.class, Role::EventClassId)?.clone(),
            full_time: integer(&full_time.class, Role::Timestamp)?.clone(),
            ranges,
        })
    }

    /// Whether this id has a short form.
    pub(crate) fn is_short(&self, id: u64) -> bool {
        id <= u64::MAX >> (64 - self.id.size) && chooses_short(&self.ranges, id) == Some(true)
    }

    /// The form with a decoder of its own: LTTng's sizes, packed to bytes, of one byte order.
    pub(super) fn form(&self) -> Option<HeaderForm> {
        let order = self.id.byte_order;
        let all = [&self.id, &self.short_time, &self.full_id, &self.full_time];
        let packed = self.align == 8
            && all.iter().all(|class| class.byte_order == order)
            && [self.full_id.size, self.full_time.size] == [32, 64]
            && self.full_align == 8;
        let escape = u64::MAX >> (64 - self.id.size);
        // In the order of the options, whichever comes first.
        let all_but_last = (0, i128::from(escape) - 1, true);
        let last = (i128::from(escape), i128::from(escape), false);
        let ranges = self.ranges == [all_but_last, last] || self.ranges == [last, all_but_last];
        if !packed || !ranges {
            return None;
        }
        let form: fn(ByteOrder) -> HeaderForm = match (self.id.size, self.short_time.size) {
            (5, 27) if self.id.align == 1 && self.short_align == 1 => HeaderForm::Compact,
            (16, 32) if self.short_align <= 8 => HeaderForm::Large,
            _ => return None,
        };
        Some(form(order))
    }
}

/// Whether a value chooses the short form; `None`: it chooses nothing. The first range wins, as in decoding.
fn chooses_short(ranges: &[(i128, i128, bool)], value: u64) -> Option<bool> {
    let value = i128::from(value);
    ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&value)).map(|&(.., short)| short)
}

fn members(option: &VariantOption) -> Option<&StructClass> {
    match &option.class {
        FieldClass::Struct(class) => Some(class),
        _ => None,
    }
}

fn integer(class: &FieldClass, role: Role) -> Option<&IntegerClass> {
    match class {
        FieldClass::Integer(class) if class.role == Some(role) && !class.signed && !class.reversed => {
            Some(class)
        }
        _ => None,
    }
}
