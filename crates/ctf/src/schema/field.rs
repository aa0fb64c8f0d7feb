//! Field classes: the shapes of the values that streams hold.

use super::integer::IntegerClass;

/// Order of the bytes (and of the bits) of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first; within a byte, low bits first.
    Little,
    /// Most significant byte first; within a byte, high bits first.
    Big,
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
    /// Time at the packet's start.
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
    /// After the packet header.
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
/// The path holds names of structure members and, in CTF 1.8, of variant options, as the metadata spells
/// them. Arrays add nothing to a path: inside an element it names the field of that element.
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
    /// A number of 1 to 64 bits; also bits with names and truth values (see
    /// [`IntegerForm`](super::IntegerForm)).
    Integer(IntegerClass),
    /// A number of as many bytes as it needs (LEB128); aligned to bytes.
    VarInteger(IntegerClass),
    /// A number (or bits, or a truth value) of more than 64 bits. It is given as bytes, and nothing refers to
    /// it.
    WideInteger(IntegerClass),
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
    /// A field that may be missing.
    Optional(OptionalClass),
    /// Bytes that mean nothing to the reader; aligned to bytes.
    Blob(BlobClass),
}

/// An IEEE 754 binary number. Those of 16, 32 and 64 bits are given as binary64, longer ones as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloatClass {
    /// Bits: 16, 32, 64 or another multiple of 32, up to 65,536.
    pub size: u32,
    /// Alignment in bits.
    pub align: u32,
    /// Order of its bytes.
    pub byte_order: ByteOrder,
    /// As [`IntegerClass::reversed`].
    pub reversed: bool,
}

/// How text is made of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// One byte a unit; what is not UTF-8 is shown as it is.
    Utf8,
    /// Two bytes a unit.
    Utf16(ByteOrder),
    /// Four bytes a unit.
    Utf32(ByteOrder),
}

impl Encoding {
    /// Bytes of a unit, and of the NUL that ends a string.
    pub fn unit(self) -> usize {
        match self {
            Self::Utf8 => 1,
            Self::Utf16(_) => 2,
            Self::Utf32(_) => 4,
        }
    }
}

/// A NUL-terminated string; aligned to bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringClass {
    /// How its characters are written.
    pub encoding: Encoding,
}

/// An array of 8-bit characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextClass {
    /// Number of bytes.
    pub length: Length,
    /// Alignment in bits.
    pub align: u32,
    /// How its characters are written.
    pub encoding: Encoding,
}

/// Uninterpreted bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobClass {
    /// Number of bytes.
    pub length: Length,
    /// What the reader needs it for: [`Role::TraceUuid`] or nothing.
    pub role: Option<Role>,
    /// What kind of data the bytes are, as an IANA media type (CTF 2).
    pub media_type: Option<String>,
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
    /// Alignment in bits of the first element that is asked for beyond that of the elements.
    pub min_align: u32,
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
    /// Whether the names of the options are left out of locations (CTF 2): then fields of several options can
    /// have the same location, and the one that was decoded counts.
    pub transparent: bool,
}

/// A field that is there or not. It adds nothing to locations.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionalClass {
    /// The integer that decides.
    pub selector: Location,
    /// Whether that integer is signed.
    pub selector_signed: bool,
    /// Whether it is a truth value ([`IntegerForm::Boolean`](super::IntegerForm)): then the ranges are all
    /// but 0.
    pub selector_is_boolean: bool,
    /// Selector values with which the field is there, both ends included.
    pub ranges: Vec<(i128, i128)>,
    /// Its shape.
    pub class: Box<FieldClass>,
}

/// A choice of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantOption {
    /// Name as declared; `null` where there is none (CTF 2).
    pub name: String,
    /// Selector values that choose it, both ends included; none: it is never chosen.
    pub ranges: Vec<(i128, i128)>,
    /// Its shape.
    pub class: FieldClass,
}

impl From<IntegerClass> for FieldClass {
    /// An integer of fixed length, whatever its size.
    fn from(class: IntegerClass) -> Self {
        if class.size > 64 { Self::WideInteger(class) } else { Self::Integer(class) }
    }
}

impl FieldClass {
    /// What the reader needs the field for, if it is one with a role itself.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Integer(class) | Self::VarInteger(class) => class.role,
            Self::Blob(class) => class.role,
            _ => None,
        }
    }

    /// Alignment of the field in bits: a power of two.
    pub fn align(&self) -> u32 {
        match self {
            Self::Integer(class) | Self::VarInteger(class) | Self::WideInteger(class) => class.align,
            Self::Float(class) => class.align,
            Self::String(_) | Self::Blob(_) => 8,
            Self::Text(class) => class.align,
            Self::Struct(class) => class.align(),
            Self::Array(class) => class.element.align().max(class.min_align),
            // The chosen option aligns itself, and so does a field that is there.
            Self::Variant(_) | Self::Optional(_) => 1,
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
