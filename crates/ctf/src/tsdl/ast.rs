//! The syntax tree: what a metadata text says, names not yet resolved. Made by the parser, read by the
//! lowering.
//!
//! Every node that a later error may point at has the byte `offset` of its first character. Names are
//! borrowed from the text; strings are too, unless they contain escapes.
//!
//! The tree holds what was written, not what it means. Attribute values are kept as they are
//! (`base = hex` is a path of one part), so the lowering decides what is valid where.

use std::borrow::Cow;
use std::fmt;

use crate::text_error::TextError;

/// A whole metadata text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ast<'a> {
    /// What stands at the top level, in the order of the text.
    pub items: Vec<Item<'a>>,
    /// What the grammar does not have but is understood anyway.
    pub notes: Vec<TextError>,
}

/// One thing at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<'a> {
    /// A type gets a name.
    Declaration(Declaration<'a>),
    /// `trace { … };` and its like.
    Block(Block<'a>),
}

/// A block of the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'a> {
    /// Where its keyword stands.
    pub offset: usize,
    /// The first byte after its semicolon.
    pub end: usize,
    /// Which block it is.
    pub kind: BlockKind<'a>,
    /// What stands between the braces, in the order of the text.
    pub entries: Vec<Entry<'a>>,
}

/// The keyword of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind<'a> {
    /// `trace`
    Trace,
    /// `env`
    Env,
    /// `clock`
    Clock,
    /// `stream`
    Stream,
    /// `event`
    Event,
    /// `callsite`
    Callsite,
    /// A word that TSDL does not know; the block was parsed anyway.
    Unknown(&'a str),
}

/// One thing in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A type gets a name, valid in this block.
    Declaration(Declaration<'a>),
    /// `path = value;`
    Value(Assignment<'a>),
    /// `path := type;`
    Type(TypeAssignment<'a>),
}

/// `path = value;`, an entry of a block or an attribute of a type. It stands where its path does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// What is set.
    pub path: Path<'a>,
    /// What it is set to.
    pub value: Value<'a>,
}

/// `path := type;`, an entry of a block. It stands where its path does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeAssignment<'a> {
    /// What is set, such as `packet.header`.
    pub path: Path<'a>,
    /// The type it gets.
    pub target: Type<'a>,
}

/// Names joined by dots: `fields`, `packet.header`, `stream.event.header.id`. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<'a> {
    /// Where its first part stands.
    pub offset: usize,
    /// The names between the dots.
    pub parts: Vec<&'a str>,
}

impl Path<'_> {
    /// Whether it is this path, given as `"packet.header"`.
    pub fn is(&self, dotted: &str) -> bool {
        self.parts.iter().copied().eq(dotted.split('.'))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}

/// A value and where it stands (a negative number: where its sign does).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<'a> {
    /// Where it begins.
    pub offset: usize,
    /// What it is.
    pub kind: ValueKind<'a>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueKind<'a> {
    /// A number with its sign.
    Integer(Integer),
    /// A string, escapes decoded and adjacent literals joined. Escapes may have put NUL into it.
    String(Cow<'a, str>),
    /// A word (`true`, `be`, `hex`, `UTF8`) or a dotted path (`clock.monotonic.value`).
    Path(Path<'a>),
}

/// An integer from −(2⁶⁴ − 1) to 2⁶⁴ − 1. Zero is never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// Whether it is less than zero.
    pub negative: bool,
    /// Its distance from zero.
    pub magnitude: u64,
}

impl Integer {
    /// The number, which always fits.
    pub fn as_i128(self) -> i128 {
        let magnitude = i128::from(self.magnitude);
        if self.negative { -magnitude } else { magnitude }
    }

    /// The number, if it is not negative.
    pub fn as_u64(self) -> Option<u64> {
        (!self.negative).then_some(self.magnitude)
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_i128().fmt(f)
    }
}

/// A declaration that makes a type known under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declaration<'a> {
    /// `typedef type name, …;`
    Typedef(Typedef<'a>),
    /// `typealias type := name;`
    Typealias(Typealias<'a>),
    /// `struct name { … };`, `variant name { … };` or `enum name { … };`. At the top level and in blocks
    /// the name or the body may be missing; such a declaration declares nothing.
    Type(Type<'a>),
}

/// `typedef type name, …;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typedef<'a> {
    /// Where the keyword stands.
    pub offset: usize,
    /// The type before the names.
    pub target: Type<'a>,
    /// The new names, each with array lengths of its own; at least one, none with a bit size.
    pub declarators: Vec<Declarator<'a>>,
}

/// `typealias type := name;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typealias<'a> {
    /// Where the keyword stands.
    pub offset: usize,
    /// The type on the left side.
    pub target: Type<'a>,
    /// Array lengths after that type, in the order of the text.
    pub lengths: Vec<ArrayLength<'a>>,
    /// The new name.
    pub name: TypeName<'a>,
}

/// The name of a type that is not a struct, variant or enum tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName<'a> {
    /// Where its first word stands.
    pub offset: usize,
    /// Its words with one space between, `const` left out, each star a word: `unsigned long`, `char *`.
    pub text: Cow<'a, str>,
}

/// A name that is one word, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// Where it stands.
    pub offset: usize,
    /// The word as written, leading underscores included.
    pub text: &'a str,
}

/// A type as written, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type<'a> {
    /// Where its first word stands (after `const`).
    pub offset: usize,
    /// What it is.
    pub kind: TypeKind<'a>,
}

/// What a type is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind<'a> {
    /// The name of a type from a typedef or typealias, spelled as in [`TypeName::text`].
    Named(Cow<'a, str>),
    /// `integer { attributes }`
    Integer(Vec<Assignment<'a>>),
    /// `floating_point { attributes }`
    FloatingPoint(Vec<Assignment<'a>>),
    /// `string { attributes }` or just `string`
    String(Vec<Assignment<'a>>),
    /// `enum …`
    Enum(Box<Enum<'a>>),
    /// `struct …`
    Struct(Box<Struct<'a>>),
    /// `variant …`
    Variant(Box<Variant<'a>>),
}

/// `enum name : container { enumerators }`; a name or a body is there, perhaps both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enum<'a> {
    /// The tag.
    pub name: Option<Name<'a>>,
    /// The integer type after it; TSDL means `int` when it is missing.
    pub container: Option<Type<'a>>,
    /// The labels; `None` when this refers to an enum declared elsewhere.
    pub enumerators: Option<Vec<Enumerator<'a>>>,
}

/// One label of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerator<'a> {
    /// Where the label stands.
    pub offset: usize,
    /// The label, without quotes.
    pub label: Cow<'a, str>,
    /// First and last value as written, twice the same for a single value; not checked for order.
    /// `None` when the text gives no value: one more than the last value before it, or 0.
    pub range: Option<(Integer, Integer)>,
}

/// `struct name { members } align(n)`; a name or a body is there, perhaps both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Struct<'a> {
    /// The tag.
    pub name: Option<Name<'a>>,
    /// The body; `None` when this refers to a struct declared elsewhere.
    pub members: Option<Vec<Member<'a>>>,
    /// The value in `align( )`, of whatever kind it is.
    pub align: Option<Value<'a>>,
}

/// `variant name <tag> { members }`; a name or a body is there, perhaps both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant<'a> {
    /// The name.
    pub name: Option<Name<'a>>,
    /// The path of the enum field that selects an option; may be given here or at the use of the name.
    pub tag: Option<Path<'a>>,
    /// The options; `None` when this refers to a variant declared elsewhere.
    pub members: Option<Vec<Member<'a>>>,
}

/// One thing in the body of a struct or variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member<'a> {
    /// A field, or an option of a variant.
    Field(Field<'a>),
    /// A type gets a name, valid in this body.
    Declaration(Declaration<'a>),
}

/// `type name, …;` It stands where its type does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// The type before the names.
    pub target: Type<'a>,
    /// The names, each with array lengths of its own; at least one.
    pub declarators: Vec<Declarator<'a>>,
}

/// The part of a declaration that belongs to one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declarator<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The number of bits in `type name : bits`, the bit fields of GNU C.
    pub bits: Option<u64>,
    /// Array lengths in the order of the text: `[2][3]` is two arrays of three elements each.
    pub lengths: Vec<ArrayLength<'a>>,
}

/// One `[length]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrayLength<'a> {
    /// A number: every array of this type has as many elements.
    Fixed {
        /// Where the number stands.
        offset: usize,
        /// Number of elements.
        count: u64,
    },
    /// The name or path of the field that holds how many elements this array has.
    Field(Path<'a>),
}
