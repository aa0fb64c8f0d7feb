//! Files of spans as a sequence of records, and records as spans.
//!
//! Three forms, known by how a file begins: objects of JSON, one after the other (the file exporter of
//! OpenTelemetry's collector writes one a line; a document that is printed over many lines is one, too); one
//! `TracesData` in protobuf, whose records are its `ResourceSpans`; and what the file exporter writes as
//! `proto`, messages behind their lengths in four bytes. All may be compressed. One record is in memory at a
//! time.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use isochrone_compressed::Reader;
use prost::Message;
use prost::bytes::Bytes;

use super::message::{
    self, JsonResourceSpans, JsonScopeSpans, JsonTraces, RawResourceSpans, RawScopeSpans, RawTraces,
    Resource, Span,
};
use crate::error::ImportError;

/// A larger record is none of a collector's, whose batches are some MiB.
const MAX_RECORD: u64 = 64 << 20;
/// What is looked at to know the form of a file.
const START: u64 = 256;
/// The key of the field `resource_spans` on the wire: number 1, with a length. `resource` and the attributes
/// of that have the same.
const FIRST_FIELD: u8 = 0x0a;
/// The key of `scope_spans`.
const SECOND_FIELD: u8 = 0x12;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// One message of protobuf.
    Message,
    /// Messages of protobuf behind their lengths.
    Prefixed,
}

impl Form {
    /// The form of a file, by how it begins; `None`: it is none of spans.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        isochrone_compressed::open(path)?.take(START).read_to_end(&mut start)?;
        Ok(Self::of_start(&start))
    }

    fn of_start(start: &[u8]) -> Option<Self> {
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let key = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        if key.is_some_and(|key| key.starts_with(b"\"resourceSpans\"")) {
            return Some(Self::Json);
        }
        if is_traces(start, None) {
            return Some(Self::Message);
        }
        let (length, message) = start.split_first_chunk()?;
        is_traces(message, Some(u32::from_be_bytes(*length))).then_some(Self::Prefixed)
    }
}

/// Whether bytes are the start of a message of spans, of this length if that is known: a field with a
/// length, in which one of the fields that it may have first fits.
fn is_traces(start: &[u8], length: Option<u32>) -> bool {
    let field = |bytes: &mut &[u8], keys: &[u8]| {
        let (key, rest) = bytes.split_first()?;
        *bytes = rest;
        let length = prost::decode_length_delimiter(&mut *bytes).ok()?;
        keys.contains(key).then_some(length)
    };
    let mut rest = start;
    let Some(outer) = field(&mut rest, &[FIRST_FIELD]) else { return false };
    let is_whole = length.is_none_or(|length| u32::try_from(outer).is_ok_and(|outer| outer < length));
    let inner = field(&mut rest, &[FIRST_FIELD, SECOND_FIELD]);
    is_whole && inner.is_some_and(|inner| inner < outer)
}

/// A part of a file.
pub(crate) struct Record {
    /// Where it begins in the file, of what is compressed in what that becomes.
    pub(crate) offset: u64,
    /// Where it ends.
    pub(crate) end: u64,
    bytes: Bytes,
    form: Form,
}

/// The records of a file.
pub(crate) struct Records {
    input: BufReader<Reader>,
    form: Form,
    at: u64,
}

impl Records {
    pub(crate) fn open(path: &Path, form: Form) -> Result<Self, ImportError> {
        Ok(Self { input: BufReader::new(isochrone_compressed::open(path)?), form, at: 0 })
    }

    /// The next record; `None` behind the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, ImportError> {
        let (offset, bytes) = match self.form {
            Form::Json => return self.object(),
            Form::Message => {
                let offset = self.at;
                let Some(key) = self.byte()? else { return Ok(None) };
                if key != FIRST_FIELD {
                    return Err(unread(offset, "it has another field than spans"));
                }
                let length = self.length(offset)?;
                (offset, self.bytes(offset, length)?)
            }
            Form::Prefixed => {
                let offset = self.at;
                let Some(first) = self.byte()? else { return Ok(None) };
                let mut length = u64::from(first);
                for _ in 0..3 {
                    length = length << 8 | u64::from(self.byte()?.ok_or_else(|| cut(offset))?);
                }
                (offset, self.bytes(offset, length)?)
            }
        };
        Ok(Some(Record { offset, end: self.at, bytes, form: self.form }))
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        let first = self.input.fill_buf()?.first().copied();
        if first.is_some() {
            self.input.consume(1);
            self.at += 1;
        }
        Ok(first)
    }

    /// A length as protobuf has them.
    fn length(&mut self, offset: u64) -> Result<u64, ImportError> {
        let mut length = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?.ok_or_else(|| cut(offset))?;
            length |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(unread(offset, "its length is none"))
    }

    fn bytes(&mut self, offset: u64, length: u64) -> Result<Bytes, ImportError> {
        if length > MAX_RECORD {
            return Err(too_large(offset));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(length).read_to_end(&mut bytes)? as u64;
        self.at += read;
        if read < length { Err(cut(offset)) } else { Ok(bytes.into()) }
    }

    /// The next object of JSON: up to the bracket that closes it.
    fn object(&mut self) -> Result<Option<Record>, ImportError> {
        let (mut bytes, mut depth, mut is_text, mut is_escaped) = (Vec::new(), 0_u64, false, false);
        let mut offset = self.at;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return if bytes.is_empty() { Ok(None) } else { Err(cut(offset)) };
            }
            let mut used = 0;
            for &byte in buffer {
                used += 1;
                if bytes.is_empty() {
                    // Between objects, and a mark of the byte order before the first.
                    let is_mark = self.at == 0 && used <= 3 && b"\xef\xbb\xbf".contains(&byte);
                    if byte.is_ascii_whitespace() || is_mark {
                        continue;
                    }
                    offset = self.at + used - 1;
                    if byte != b'{' {
                        return Err(unread(offset, "it is no object of JSON"));
                    }
                }
                bytes.push(byte);
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if is_text => is_escaped = true,
                    b'"' => is_text = !is_text,
                    b'{' | b'[' if !is_text => depth += 1,
                    b'}' | b']' if !is_text => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            self.input.consume(used as usize);
            self.at += used;
            if depth == 0 && !bytes.is_empty() {
                let bytes = bytes.into();
                return Ok(Some(Record { offset, end: self.at, bytes, form: Form::Json }));
            }
            if bytes.len() as u64 > MAX_RECORD {
                return Err(too_large(offset));
            }
        }
    }
}

/// Takes a span of a resource, with the name of the library that recorded it.
type Take<'t> = dyn FnMut(&Resource, &str, &Span) -> Result<(), ImportError> + 't;

impl Record {
    /// Passes on all spans of the record, in its order.
    pub(crate) fn spans(&self, take: &mut Take<'_>) -> Result<(), ImportError> {
        match self.form {
            Form::Json => self.spans_of_json(take),
            Form::Message => self.spans_of_resource(&self.bytes, take),
            Form::Prefixed => {
                let traces = RawTraces::decode(self.bytes.clone()).map_err(|error| self.unread(error))?;
                traces.resource_spans.iter().try_for_each(|bytes| self.spans_of_resource(bytes, take))
            }
        }
    }

    fn spans_of_resource(&self, bytes: &Bytes, take: &mut Take<'_>) -> Result<(), ImportError> {
        let unread = |error| self.unread(error);
        let spans = RawResourceSpans::decode(bytes.clone()).map_err(unread)?;
        let resource = spans.resource.unwrap_or_default();
        for bytes in spans.scope_spans {
            let spans = RawScopeSpans::decode(bytes).map_err(unread)?;
            let scope = spans.scope.unwrap_or_default().name;
            for bytes in spans.spans {
                take(&resource, &scope, &Span::decode(bytes).map_err(unread)?)?;
            }
        }
        Ok(())
    }

    fn spans_of_json(&self, take: &mut Take<'_>) -> Result<(), ImportError> {
        let unread = |error| self.unread(error);
        let traces: JsonTraces<'_> = serde_json::from_slice(&self.bytes).map_err(unread)?;
        for text in traces.resource_spans {
            let spans: JsonResourceSpans<'_> = serde_json::from_str(text.get()).map_err(unread)?;
            let resource = spans.resource.unwrap_or_default();
            for text in spans.scope_spans {
                let spans: JsonScopeSpans<'_> = serde_json::from_str(text.get()).map_err(unread)?;
                let scope = spans.scope.unwrap_or_default().name;
                for text in spans.spans {
                    let span: message::Span = serde_json::from_str(text.get()).map_err(unread)?;
                    take(&resource, &scope, &span)?;
                }
            }
        }
        Ok(())
    }

    fn unread(&self, error: impl std::fmt::Display) -> ImportError {
        unread(self.offset, &error.to_string())
    }
}

fn unread(offset: u64, why: &str) -> ImportError {
    ImportError::Spans { offset, why: why.to_owned() }
}

fn cut(offset: u64) -> ImportError {
    ImportError::Cut { what: "the record", offset }
}

fn too_large(offset: u64) -> ImportError {
    unread(offset, &format!("it is larger than {} MiB", MAX_RECORD >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_by_how_files_begin() {
        let check = |start: &[u8], expect| assert_eq!(Form::of_start(start), expect, "{start:?}");
        check(b"{\"resourceSpans\":[]}", Some(Form::Json));
        check(b"\xef\xbb\xbf\n{\n  \"resourceSpans\": [", Some(Form::Json));
        check(b"{\"resourceMetrics\":[]}", None);
        check(b"\x0a\x06\x0a\x00\x12\x02\x0a\x00", Some(Form::Message));
        check(b"\x00\x00\x00\x08\x0a\x06\x0a\x00\x12\x02\x0a\x00", Some(Form::Prefixed));
        check(b"\x00\x00\x00\x02\x0a\x06\x0a\x00\x12\x02\x0a\x00", None);
        check(b"\n\nA text", None);
        check(b"", None);
        check(b"\x0a", None);
        check(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", None);
    }
}
