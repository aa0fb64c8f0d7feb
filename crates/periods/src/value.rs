//! Values of fields, and how they compare: integers and real numbers exactly, texts byte by byte.

use std::cmp::Ordering;
use std::fmt;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Value {
    /// An integer.
    Number(i128),
    /// A floating-point number.
    Real(Real),
    /// A text. Bytes that are no UTF-8 are replaced.
    Text(CompactString),
}

/// A floating-point number by its bits, so that equal values are equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Real(u64);

impl Real {
    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Real {
    fn from(number: f64) -> Self {
        Self(number.to_bits())
    }
}

impl Value {
    /// A text of bytes.
    pub fn text(bytes: &[u8]) -> Self {
        Self::Text(CompactString::from_utf8_lossy(bytes))
    }

    /// How it compares with another. `None`: a number with a text, or with what is no number at all.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Real(a), Self::Real(b)) => a.get().partial_cmp(&b.get()),
            (Self::Number(a), Self::Real(b)) => order(*a, b.get()),
            (Self::Real(a), Self::Number(b)) => order(*b, a.get()).map(Ordering::reverse),
            (Self::Text(_), _) | (_, Self::Text(_)) => None,
        }
    }
}

/// Compares an integer with a real number, without rounding either.
fn order(a: i128, b: f64) -> Option<Ordering> {
    /// 2¹²⁷: one more than the greatest integer.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    match b {
        _ if b.is_nan() => None,
        _ if b >= LIMIT => Some(Ordering::Less),
        _ if b < -LIMIT => Some(Ordering::Greater),
        _ => {
            let whole = b.floor();
            let part = if b > whole { Ordering::Less } else { Ordering::Equal };
            Some(a.cmp(&(whole as i128)).then(part))
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{}", number.get()),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        let real = |number: f64| Value::Real(number.into());
        let check = |a: &Value, b: &Value, expect| {
            assert_eq!(a.order(b), expect, "{a} {b}");
            assert_eq!(b.order(a), expect.map(Ordering::reverse), "{b} {a}");
        };
        let (less, same, more) = (Some(Ordering::Less), Some(Ordering::Equal), Some(Ordering::Greater));
        check(&Value::Number(1), &Value::Number(2), less);
        check(&Value::Number(3), &real(3.0), same);
        check(&Value::Number(3), &real(3.5), less);
        check(&Value::Number(-3), &real(-3.5), more);
        // 2⁵³ + 1 has no binary64.
        check(&Value::Number((1 << 53) + 1), &real(9_007_199_254_740_992.0), more);
        check(&Value::Number(i128::MAX), &real(f64::INFINITY), less);
        check(&Value::Number(i128::MIN), &real(f64::NEG_INFINITY), more);
        check(&Value::Number(0), &real(f64::NAN), None);
        check(&real(1.5), &real(0.5), more);
        check(&Value::text(b"b"), &Value::text(b"a"), more);
        check(&Value::text(b"1"), &Value::Number(1), None);
    }
}
