//! Values in requests, as strictly as the description of the protocol has them: serde alone would take a list
//! for an object, `null` for what is left out, and no `1e3` for a whole number.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// An object; a list of its fields is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        serde_json::from_value(Value::Object(map)).map(Self).map_err(D::Error::custom)
    }
}

/// A whole number of 64 bits (`int64`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Int64(pub(super) i64);

/// A whole number of 32 bits (`int32`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Int32(pub(super) i64);

impl<'de> Deserialize<'de> for Int64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let is_whole = |it: &f64| it.fract() == 0.0 && it.abs() < 2_f64.powi(63);
        // `1e3` is a whole number, too.
        let float = || number.as_f64().filter(|it| !number.is_u64() && is_whole(it)).map(|it| it as i64);
        let whole = number.as_i64().or_else(float);
        whole.map(Self).ok_or_else(|| D::Error::custom(format!("{number} is not a whole number of 64 bits")))
    }
}

impl<'de> Deserialize<'de> for Int32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Int64(number) = Int64::deserialize(deserializer)?;
        let narrow = i32::try_from(number).map(|it| Self(it.into()));
        narrow.map_err(|_| D::Error::custom(format!("{number} is not a whole number of 32 bits")))
    }
}

/// A value that may be left out, but not be `null`.
pub(super) fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(serde_json::from_str::<Int64>(text).ok().map(|it| it.0), expect, "{text}");
        };
        check("12", Some(12));
        check("-1", Some(-1));
        check("1e3", Some(1000));
        check("9223372036854775807", Some(i64::MAX));
        check("-9223372036854775808", Some(i64::MIN));
        check("99999999999999999999", None);
        check("9223372036854775808", None);
        check("18446744073709551615", None);
        check("-99999999999999999999", None);
        check("1.5", None);
        check("\"1\"", None);
        check("null", None);
        let short = |text: &str| serde_json::from_str::<Int32>(text).ok().map(|it| it.0);
        assert_eq!(
            ["2147483647", "-2147483648", "2147483648"].map(short),
            [Some(2_147_483_647), Some(-2_147_483_648), None]
        );
    }

    #[test]
    fn lists_are_no_objects_and_null_is_a_value() {
        #[derive(Debug, Deserialize)]
        struct Pair {
            #[serde(default, deserialize_with = "not_null")]
            first: Option<i32>,
        }
        let check = |text: &str, expect: Option<Option<i32>>| {
            let read = serde_json::from_str::<Object<Pair>>(text).ok();
            assert_eq!(read.map(|it| it.0.first), expect, "{text}");
        };
        check("{}", Some(None));
        check("{\"first\": 1}", Some(Some(1)));
        check("{\"first\": null}", None);
        check("[1]", None);
    }
}
