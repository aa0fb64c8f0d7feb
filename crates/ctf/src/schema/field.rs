//! Field classes: the shapes of the values that streams hold.

use std::ops::Deref;
use std::sync::Arc;

/// Order of the bytes (and of the bits) of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first; within a byte, low bits first.
    Little,
    /// Most significant byte first; within a byte, high bits first.
    Big,
}

/// Preferred base for showing an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `0b101`
    Binary,
    /// `017`
    Octal,
    /// `17`
    Decimal,
    /// `0x1F`
    Hexadecimal,
}

/// What a reader itself needs a field for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `0xC1FC1FC1` at the head of a packet.
    PacketMagic,
    /// The trace's uuid, 16 bytes.
    TraceUuid,
    /// Id of the packet's stream class.
    StreamClassId,
    /// Number of the stream within its class.
    StreamId,
    /// Size of the packet in bits, padding included.
    PacketTotalLength,
    /// Size of the packet in bits up to the end of its last event.
    PacketContentLength,
    /// Time at the packet's begin.
    PacketBegin,
    /// Time at the packet's end.
    PacketEnd,
    /// Free-running count of the events that the tracer could not write.
    DiscardedEvents,
    /// Number of the packet in its stream.
    PacketSequenceNumber,
    /// Id of the event's class.
    EventClassId,
    /// Low bits of the time of the event.
    Timestamp,
}

/// The six structures a field can live in, in decoding order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Head of the packet.
    PacketHeader,
    /// Behind the packet header.
    PacketContext,
    /// Head of the event.
    EventHeader,
    /// Context that all events of a stream class have.
    CommonContext,
    /// Context of one event class.
    SpecificContext,
    /// The event's own fields.
    Payload,
}

/// Where a length or a selector is found: an already decoded integer.
///
/// The path holds names of structure members and of variant options, as the metadata spells them. Arrays add nothing
/// to a path: inside an element it names the field of that element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The structure to start from.
    pub scope: Scope,
    /// Names from there.
    pub path: Vec<String>,
}

/// The shape of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldClass {
    /// A number of 1 to 64 bits.
    Integer(IntegerClass),
    /// A binary floating point number.
    Float(FloatClass),
    /// Text up to a NUL byte.
    String(StringClass),
    /// Text in a field of known length, shown up to its first NUL byte.
    Text(TextClass),
    /// Named members.
    Struct(StructClass),
    /// Elements of one class.
    Array(ArrayClass),
    /// One of several classes, chosen by an integer decoded before.
    Variant(VariantClass),
}

/// A fixed-length integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerClass {
    /// Bits, 1 to 64.
    pub size: u32,
    /// Alignment in bits from the packet's begin, a power of two.
    pub align: u32,
    /// Two's complement or unsigned.
    pub signed: bool,
    /// Order of its bytes.
    pub byte_order: ByteOrder,
    /// How to show it.
    pub base: Base,
    /// Names of ranges of values: an enumeration. `None` for a plain number.
    pub mappings: Option<Mappings>,
    /// What the reader needs it for.
    pub role: Option<Role>,
    /// Index of the clock class whose time it holds.
    pub clock: Option<usize>,
}

/// A name for a range of integers, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The name, exactly as declared.
    pub label: String,
    /// Smallest value.
    pub first: i128,
    /// Largest value.
    pub last: i128,
}

/// The mappings of an enumeration. All fields of one enumeration share them: named types can stand for many fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mappings(Arc<[Mapping]>);

impl From<Vec<Mapping>> for Mappings {
    fn from(mappings: Vec<Mapping>) -> Self {
        Self(mappings.into())
    }
}

impl Deref for Mappings {
    type Target = [Mapping];

    fn deref(&self) -> &[Mapping] {
        &self.0
    }
}

impl<'m> IntoIterator for &'m Mappings {
    type Item = &'m Mapping;
    type IntoIter = std::slice::Iter<'m, Mapping>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// An IEEE 754 binary32 or binary64 number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloatClass {
    /// Bits: 32 or 64.
    pub size: u32,
    /// Alignment in bits.
    pub align: u32,
    /// Order of its bytes.
    pub byte_order: ByteOrder,
}

/// A NUL-terminated string; aligned to bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringClass;

/// An array of 8-bit characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextClass {
    /// Number of bytes.
    pub length: Length,
    /// Alignment in bits.
    pub align: u32,
}

/// Number of elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// Always this many.
    Static(u64),
    /// As many as the integer there says.
    Dynamic(Location),
}

/// Members in order.
#[derive(Debug, Clone, PartialEq)]
pub struct StructClass {
    /// The members.
    pub members: Vec<Member>,
    /// Alignment in bits that is asked for beyond that of the members.
    pub min_align: u32,
}

/// A named member of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Name as declared: what locations use.
    pub name: String,
    /// Its shape.
    pub class: FieldClass,
}

/// Elements of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayClass {
    /// How many.
    pub length: Length,
    /// Shape of each.
    pub element: Box<FieldClass>,
}

/// One of several shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantClass {
    /// The integer that chooses.
    pub selector: Location,
    /// Whether that integer is signed.
    pub selector_signed: bool,
    /// The choices.
    pub options: Vec<VariantOption>,
}

/// A choice of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantOption {
    /// Name as declared.
    pub name: String,
    /// Selector values that choose it, both ends included; none: it is never chosen.
    pub ranges: Vec<(i128, i128)>,
    /// Its shape.
    pub class: FieldClass,
}

impl FieldClass {
    /// What the reader needs the field for, if it is an integer with a role.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Integer(class) => class.role,
            _ => None,
        }
    }

    /// Alignment of the field in bits: a power of two.
    pub fn align(&self) -> u32 {
        match self {
            Self::Integer(class) => class.align,
            Self::Float(class) => class.align,
            Self::String(_) => 8,
            Self::Text(class) => class.align,
            Self::Struct(class) => class.align(),
            Self::Array(class) => class.element.align(),
            // The chosen option aligns itself.
            Self::Variant(_) => 1,
        }
    }
}

impl StructClass {
    /// Alignment in bits: the strictest of the members' and of what is asked for.
    pub fn align(&self) -> u32 {
        self.members.iter().map(|m| m.class.align()).fold(self.min_align.max(1), u32::max)
    }

    /// A member by its declared name.
    pub fn member(&self, name: &str) -> Option<&FieldClass> {
        self.members.iter().find(|m| m.name == name).map(|m| &m.class)
    }
}

/// A declared name as it is shown: CTF 1.8 writers put one `_` before names to keep clear of reserved words.
pub fn shown_name(declared: &str) -> &str {
    declared.strip_prefix('_').unwrap_or(declared)
}
