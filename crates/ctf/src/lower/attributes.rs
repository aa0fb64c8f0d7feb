//! Attribute values: numbers, words and strings of the blocks and types of TSDL.

use uuid::Uuid;

use crate::schema::{Base, ByteOrder};
use crate::text_error::{Result, TextError};
use crate::tsdl::{Value, ValueKind};

/// The number, as wide as any.
pub(super) fn integer(value: &Value<'_>) -> Result<i128> {
    match &value.kind {
        ValueKind::Integer(integer) => Ok(integer.as_i128()),
        _ => Err(TextError::new(value.offset, "a number is needed here")),
    }
}

/// A number of 64 bits without sign.
pub(super) fn unsigned(value: &Value<'_>) -> Result<u64> {
    u64::try_from(integer(value)?)
        .map_err(|_| TextError::new(value.offset, "a number of 0 or more is needed here"))
}

/// A number of 64 bits with sign.
pub(super) fn signed(value: &Value<'_>) -> Result<i64> {
    i64::try_from(integer(value)?)
        .map_err(|_| TextError::new(value.offset, "the number does not fit 64 bits"))
}

/// A power of two of at most 2³¹.
pub(super) fn alignment(value: &Value<'_>) -> Result<u32> {
    let number = integer(value)?;
    u32::try_from(number).ok().filter(|n| n.is_power_of_two()).ok_or_else(|| {
        TextError::new(value.offset, format!("an alignment of {number} bits: it must be a power of two"))
    })
}

/// Text: a string or a single word (LTTng 2.0 wrote names without quotes).
pub(super) fn text(value: &Value<'_>) -> Result<String> {
    match &value.kind {
        ValueKind::String(text) => Ok(text.clone().into_owned()),
        ValueKind::Path(path) => Ok(path.to_string()),
        ValueKind::Integer(_) => Err(TextError::new(value.offset, "a string is needed here")),
    }
}

/// `true`, `false` and what writers put in their place.
pub(super) fn boolean(value: &Value<'_>) -> Result<bool> {
    match &value.kind {
        ValueKind::Integer(integer) => Ok(integer.magnitude != 0),
        _ => match text(value)?.as_str() {
            "true" | "TRUE" => Ok(true),
            "false" | "FALSE" => Ok(false),
            other => {
                Err(TextError::new(value.offset, format!("`true` or `false` is needed here, not `{other}`")))
            }
        },
    }
}

/// A byte order; `None` stands for the trace's own.
pub(super) fn byte_order(value: &Value<'_>) -> Result<Option<ByteOrder>> {
    match text(value)?.as_str() {
        "le" => Ok(Some(ByteOrder::Little)),
        "be" | "network" => Ok(Some(ByteOrder::Big)),
        "native" => Ok(None),
        other => {
            let message = format!("a byte order is `le`, `be`, `network` or `native`, not `{other}`");
            Err(TextError::new(value.offset, message))
        }
    }
}

/// A base for showing integers.
pub(super) fn base(value: &Value<'_>) -> Result<Base> {
    let word = match &value.kind {
        ValueKind::Integer(number) => number.to_string(),
        _ => text(value)?,
    };
    match word.as_str() {
        "2" | "b" | "bin" | "binary" => Ok(Base::Binary),
        "8" | "o" | "oct" | "octal" => Ok(Base::Octal),
        "10" | "d" | "i" | "u" | "dec" | "decimal" => Ok(Base::Decimal),
        "16" | "x" | "X" | "p" | "hex" | "hexadecimal" => Ok(Base::Hexadecimal),
        other => Err(TextError::new(value.offset, format!("`{other}` is not a base: 2, 8, 10 and 16 are"))),
    }
}

/// Whether an encoding makes a character of an integer.
pub(super) fn is_character(value: &Value<'_>) -> Result<bool> {
    match text(value)?.as_str() {
        "none" => Ok(false),
        "UTF8" | "UTF-8" | "utf8" | "ASCII" | "ascii" => Ok(true),
        other => Err(TextError::new(value.offset, format!("the encoding `{other}` is unknown"))),
    }
}

/// The uuid in a string.
pub(super) fn uuid(value: &Value<'_>) -> Result<Uuid> {
    let text = text(value)?;
    Uuid::try_parse(&text).map_err(|_| TextError::new(value.offset, format!("`{text}` is not a uuid")))
}

/// The name in `clock.NAME.value`.
pub(super) fn clock_name<'a>(value: &Value<'a>) -> Option<&'a str> {
    match &value.kind {
        ValueKind::Path(path) => match path.parts.as_slice() {
            ["clock", name, "value"] => Some(name),
            _ => None,
        },
        _ => None,
    }
}
