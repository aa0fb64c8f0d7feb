//! The messages of OpenTelemetry's protocol that spans are in, in both of its encodings: protobuf, and JSON
//! with ids in base 16 and integers of 64 bits as texts or numbers. Fields that are of no use here are left
//! out, and those of later versions are skipped.
//!
//! What holds many messages has them as bytes (`Raw…`), so that a file of empty ones takes little memory:
//! they are decoded one at a time. On the wire, a message is bytes.
//!
//! Source: `opentelemetry-proto`, `trace/v1/trace.proto`, `common/v1/common.proto`, and the specification of
//! OTLP/JSON.

#![allow(clippy::struct_field_names)] // Names are those of the protocol.

use std::fmt::Write as _;

use prost::Message;
use prost::bytes::Bytes;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `TracesData`, and `ExportTraceServiceRequest`, which has the same fields.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawTraces {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(crate) resource_spans: Vec<Bytes>,
}

/// `ResourceSpans`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub(crate) resource: Option<Resource>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(crate) scope_spans: Vec<Bytes>,
}

/// `ScopeSpans`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub(crate) scope: Option<Scope>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(crate) spans: Vec<Bytes>,
}

/// As [`RawTraces`], in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct JsonTraces<'j> {
    #[serde(borrow)]
    pub(crate) resource_spans: Vec<&'j RawValue>,
}

/// As [`RawResourceSpans`], in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct JsonResourceSpans<'j> {
    pub(crate) resource: Option<Resource>,
    #[serde(borrow)]
    pub(crate) scope_spans: Vec<&'j RawValue>,
}

/// As [`RawScopeSpans`], in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct JsonScopeSpans<'j> {
    pub(crate) scope: Option<Scope>,
    #[serde(borrow)]
    pub(crate) spans: Vec<&'j RawValue>,
}

/// Who recorded spans.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<KeyValue>,
}

/// The library that recorded spans.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct Scope {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// A span.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    #[serde(deserialize_with = "base_16")]
    pub(crate) trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    #[serde(deserialize_with = "base_16")]
    pub(crate) span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    #[serde(deserialize_with = "base_16")]
    pub(crate) parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub(crate) name: String,
    #[prost(int32, tag = "6")]
    pub(crate) kind: i32,
    #[prost(fixed64, tag = "7")]
    #[serde(deserialize_with = "number")]
    pub(crate) start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    #[serde(deserialize_with = "number")]
    pub(crate) end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    pub(crate) attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    pub(crate) status: Option<Status>,
}

/// How the work of a span ended.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(int32, tag = "3")]
    pub(crate) code: i32,
}

/// An attribute.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<AnyValue>,
}

/// Its value: one of these. Others, bytes and lists of attributes, are of no use here.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AnyValue {
    #[prost(string, optional, tag = "1")]
    pub(crate) string_value: Option<String>,
    #[prost(bool, optional, tag = "2")]
    pub(crate) bool_value: Option<bool>,
    #[prost(int64, optional, tag = "3")]
    #[serde(deserialize_with = "optional_number")]
    pub(crate) int_value: Option<i64>,
    #[prost(double, optional, tag = "4")]
    pub(crate) double_value: Option<f64>,
    #[prost(message, optional, tag = "5")]
    pub(crate) array_value: Option<ArrayValue>,
}

/// Several values.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct ArrayValue {
    #[prost(message, repeated, tag = "1")]
    pub(crate) values: Vec<AnyValue>,
}

impl AnyValue {
    /// The value as text; `None` where it is none of those that are known here.
    fn text(&self) -> Option<String> {
        let Self { string_value, bool_value, int_value, double_value, array_value } = self;
        let simple = string_value.clone().or_else(|| bool_value.map(|it| it.to_string()));
        let simple = simple.or_else(|| int_value.map(|it| it.to_string()));
        simple.or_else(|| double_value.map(|it| it.to_string())).or_else(|| {
            let values: Vec<String> = array_value.as_ref()?.values.iter().filter_map(Self::text).collect();
            Some(format!("[{}]", values.join(", ")))
        })
    }
}

/// The attribute of a key.
fn find<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a AnyValue> {
    attributes.iter().find(|it| it.key == key)?.value.as_ref()
}

/// An attribute as text that says something.
pub(crate) fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    find(attributes, key)?.string_value.as_deref().filter(|text| !text.is_empty())
}

/// An attribute that is the number of a process or a thread.
pub(crate) fn id(attributes: &[KeyValue], key: &str) -> Option<i32> {
    i32::try_from(find(attributes, key)?.int_value?).ok().filter(|&id| id > 0)
}

/// All attributes that are known as text, as `key=value`, with a space between them.
pub(crate) fn all(attributes: &[KeyValue]) -> String {
    let mut all = String::new();
    for KeyValue { key, value } in attributes {
        let Some(value) = value.as_ref().and_then(AnyValue::text) else { continue };
        let space = if all.is_empty() { "" } else { " " };
        // Writing to a text does not fail.
        let _ = write!(all, "{space}{key}={value}");
    }
    all
}

/// A number as JSON has those of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Number<'n> {
    Unsigned(u64),
    Signed(i64),
    Text(&'n str),
}

impl Number<'_> {
    fn get<N: TryFrom<u64> + TryFrom<i64> + std::str::FromStr, E: Error>(self) -> Result<N, E> {
        let number = match self {
            Self::Unsigned(number) => number.try_into().ok(),
            Self::Signed(number) => number.try_into().ok(),
            Self::Text(text) => text.parse().ok(),
        };
        number.ok_or_else(|| E::custom("a number of another size was expected"))
    }
}

fn number<'d, D: Deserializer<'d>>(from: D) -> Result<u64, D::Error> {
    Number::deserialize(from)?.get()
}

fn optional_number<'d, D: Deserializer<'d>>(from: D) -> Result<Option<i64>, D::Error> {
    Option::<Number<'_>>::deserialize(from)?.map(Number::get).transpose()
}

/// Bytes as JSON has those of ids.
fn base_16<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = <&str>::deserialize(from)?.as_bytes();
    let digit = |c: u8| char::from(c).to_digit(16).ok_or_else(|| D::Error::custom("an id is not in base 16"));
    if !text.len().is_multiple_of(2) {
        return Err(D::Error::custom("an id has an odd number of digits"));
    }
    text.chunks_exact(2).map(|pair| Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}
