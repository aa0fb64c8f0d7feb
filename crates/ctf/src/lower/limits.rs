//! Limits on what metadata may stand for. Named types multiply: a text of some hundred bytes can mean more
//! fields than any machine has memory for.

use crate::bits;
use crate::schema::FieldClass;
use crate::text_error::{Result, TextError};
pub(crate) use crate::tsdl::MAX_NESTING;

/// Named types can stand for exponentially many fields. Real traces have some ten thousand; this many take
/// some hundred megabytes.
const MAX_FIELD_CLASSES: usize = 1 << 20;

/// Names up to this many bytes come with the field class they belong to; longer ones cost as more classes,
/// because each use of a named type has its own copies.
const NAME_BYTES_PER_CLASS: usize = 64;

/// Names on the way to a length or a selector: paths of real traces have three at most.
const PATH_NAMES_PER_CLASS: usize = 8;

/// Members that may be compared while a length or a selector is looked up before it costs as a field class.
const COMPARISONS_PER_CLASS: usize = 256;

/// Attributes that come with a type; no type has more than ten that mean something.
const ATTRIBUTES_PER_CLASS: usize = 16;

/// No field can be larger than this many bits (128 PiB): no packet holds it, and sums of a few such sizes
/// still fit 64 bits.
pub(crate) const MAX_CLASS_BITS: u64 = 1 << 60;

/// How much has been made of the metadata so far, in field classes.
#[derive(Debug)]
pub(crate) struct Budget {
    spent: usize,
    most: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(MAX_FIELD_CLASSES)
    }
}

impl Budget {
    /// For this many field classes.
    pub(crate) fn of(most: usize) -> Self {
        Self { spent: 0, most }
    }

    /// Whether more was asked for than there may be.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.spent > self.most
    }

    /// Makes this many field classes, or what takes as much memory or time.
    pub(crate) fn charge(&mut self, classes: usize, offset: usize) -> Result<()> {
        self.spent = self.spent.saturating_add(classes);
        if self.is_exceeded() {
            let message = format!("the metadata stand for more than {} field classes", self.most);
            return Err(TextError::new(offset, message));
        }
        Ok(())
    }

    pub(crate) fn charge_name(&mut self, name: &str, offset: usize) -> Result<()> {
        self.charge(name.len() / NAME_BYTES_PER_CLASS, offset)
    }

    /// A location that was found by comparing this many names.
    pub(crate) fn charge_location(&mut self, path: &[String], compared: usize, offset: usize) -> Result<()> {
        let bytes: usize = path.iter().map(String::len).sum();
        let names = path.len() / PATH_NAMES_PER_CLASS + bytes / (NAME_BYTES_PER_CLASS * PATH_NAMES_PER_CLASS);
        self.charge(names + compared / COMPARISONS_PER_CLASS, offset)
    }

    pub(crate) fn charge_attributes(&mut self, count: usize, offset: usize) -> Result<()> {
        self.charge(count / ATTRIBUTES_PER_CLASS, offset)
    }
}

/// What is measured of a field class while it is made, so that no limit needs a walk through it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    /// Classes on the longest way from this one down, itself included.
    levels: usize,
    align: u32,
    /// Bits of all parts of constant size; of a variant, those of its largest option.
    bits: u64,
    /// Whether it ends at a byte's border if it begins at one.
    whole_bytes: bool,
}

impl Measure {
    /// Of a class without others inside.
    pub(crate) fn leaf(class: &FieldClass) -> Self {
        let bits = match class {
            FieldClass::Integer(class) | FieldClass::WideInteger(class) => class.size.into(),
            FieldClass::Float(class) => class.size.into(),
            _ => 0,
        };
        Self { levels: 1, align: class.align(), bits, whole_bytes: bits.is_multiple_of(8) }
    }

    /// Of a byte of text or of a BLOB.
    pub(crate) fn byte() -> Self {
        Self { levels: 1, align: 8, bits: 8, whole_bytes: true }
    }

    /// Of a structure or a variant before its first member.
    pub(crate) fn empty(align: u32) -> Self {
        Self { levels: 1, align, bits: 0, whole_bytes: true }
    }

    pub(crate) fn aligned(self, align: u32) -> Self {
        Self { align: self.align.max(align), ..self }
    }

    /// With another member after those so far.
    pub(crate) fn and(self, member: Self, offset: usize) -> Result<Self> {
        let bits = checked_bits(self.bits, member, offset)?;
        let levels = above(member, offset)?.max(self.levels);
        let whole_bytes = self.whole_bytes && member.whole_bytes;
        Ok(Self { levels, align: self.align.max(member.align), bits, whole_bytes })
    }

    /// With another option besides those so far; options align themselves.
    pub(crate) fn or(self, option: Self, offset: usize) -> Result<Self> {
        let levels = above(option, offset)?.max(self.levels);
        let bits = self.bits.max(checked_bits(0, option, offset)?);
        let whole_bytes = self.whole_bytes && option.whole_bytes;
        Ok(Self { levels, align: self.align, bits, whole_bytes })
    }

    /// Of an array of such elements; `None`: their number is not constant.
    pub(crate) fn times(self, count: Option<u64>, offset: usize) -> Result<Self> {
        let stride = bits::checked_align_up(self.bits, self.align).ok_or_else(|| too_large(offset))?;
        let bits = count.unwrap_or(0).checked_mul(stride).filter(|&bits| bits <= MAX_CLASS_BITS);
        Ok(Self {
            levels: above(self, offset)?,
            align: self.align,
            bits: bits.ok_or_else(|| too_large(offset))?,
            whole_bytes: self.whole_bytes,
        })
    }

    /// Whether whatever follows the class begins at a byte's border; `at_border`: the class follows one.
    pub(crate) fn ends_at_byte(self, at_border: bool) -> bool {
        self.whole_bytes && (at_border || self.align.is_multiple_of(8))
    }

    /// Whether the class begins at a byte's border wherever it is.
    pub(crate) fn begins_at_byte(self) -> bool {
        self.align.is_multiple_of(8)
    }
}

/// Levels of a class that holds this one.
fn above(inner: Measure, offset: usize) -> Result<usize> {
    if inner.levels >= MAX_NESTING {
        return Err(TextError::new(offset, format!("types nested deeper than {MAX_NESTING}")));
    }
    Ok(inner.levels + 1)
}

/// Where a field ends that begins at `at` or at the next border.
fn checked_bits(at: u64, field: Measure, offset: usize) -> Result<u64> {
    bits::checked_align_up(at, field.align)
        .and_then(|at| at.checked_add(field.bits))
        .filter(|&end| end <= MAX_CLASS_BITS)
        .ok_or_else(|| too_large(offset))
}

fn too_large(offset: usize) -> TextError {
    TextError::new(offset, format!("a field of more than {MAX_CLASS_BITS} bits fits no packet"))
}
