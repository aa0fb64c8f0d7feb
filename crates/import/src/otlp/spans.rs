//! What of a span is known: whose it is, when it was, and the fields of its two events.

use super::message::{self, Resource, Span};
use crate::bytes::hex;

/// Whose attributes are those of the kernel: `isochrone export --to otlp` writes them.
const OWN_SCOPE: &str = "isochrone";
/// What names the kernel's thread of a span. `thread.id` is that of the runtime of its language.
const KERNEL_THREAD: &str = "isochrone.tid";

/// Whose a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Who<'s> {
    pub(super) host: Option<&'s str>,
    /// The number of its process, as that knows it.
    pub(super) pid: Option<i32>,
    /// The kernel's number of its thread.
    pub(super) tid: Option<i32>,
    /// Whether Isochrone wrote it.
    pub(super) is_corrected: bool,
}

/// When a span was, Unix ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Who<'_> {
    /// The stream of the trace that its events are in, of [`STREAMS`].
    pub(super) fn stream(&self) -> usize {
        usize::from(self.pid.is_some()) | usize::from(self.tid.is_some()) << 1
    }
}

/// Kinds of streams: with the process or without, with the thread or without.
pub(super) const STREAMS: usize = 4;

/// The contexts that the events of a stream have.
pub(super) fn contexts(stream: usize) -> impl Iterator<Item = &'static str> {
    ["vpid", "tid"].into_iter().enumerate().filter(move |(bit, _)| stream >> bit & 1 == 1).map(|it| it.1)
}

/// Whose a span is, and when it was; `None`: it has no time, or ends before it begins.
pub(super) fn place<'s>(resource: &'s Resource, scope: &str, span: &Span) -> Option<(Who<'s>, Place)> {
    let (begin, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
    let is_timed = begin > 0 && begin <= end && i64::try_from(end).is_ok();
    let is_corrected = scope == OWN_SCOPE;
    let key = if is_corrected { "thread.id" } else { KERNEL_THREAD };
    let who = Who {
        is_corrected,
        host: message::text(&resource.attributes, "host.name"),
        pid: message::id(&resource.attributes, "process.pid"),
        tid: message::id(&span.attributes, key),
    };
    is_timed.then_some((who, Place { begin, end }))
}

/// The fields of the event that begins a span.
pub(super) const BEGIN: [&str; 8] =
    ["name", "trace_id", "span_id", "parent_span_id", "kind", "service", "scope", "attributes"];
/// Of the one that ends it.
pub(super) const END: [&str; 6] = ["name", "trace_id", "span_id", "service", "status", "status_message"];

/// What the contexts of an event hold.
pub(super) fn put_contexts(who: Who<'_>, out: &mut Vec<u8>) {
    out.extend([who.pid, who.tid].into_iter().flatten().flat_map(i32::to_le_bytes));
}

/// What an event that begins a span holds, in the order of [`BEGIN`].
pub(super) fn put_begin(resource: &Resource, scope: &str, span: &Span, out: &mut Vec<u8>) {
    let kind = match span.kind {
        1 => "internal",
        2 => "server",
        3 => "client",
        4 => "producer",
        5 => "consumer",
        _ => "",
    };
    put_ids(span, &[&span.trace_id, &span.span_id, &span.parent_span_id], out);
    let attributes = message::all(&span.attributes);
    for text in [kind, service(resource), scope, &attributes] {
        put(text, out);
    }
}

/// What one that ends it holds, in the order of [`END`].
pub(super) fn put_end(resource: &Resource, span: &Span, out: &mut Vec<u8>) {
    put_ids(span, &[&span.trace_id, &span.span_id], out);
    let status = span.status.as_ref();
    let code = match status.map(|status| status.code) {
        Some(1) => "ok",
        Some(2) => "error",
        _ => "",
    };
    for text in [service(resource), code, status.map_or("", |status| &status.message)] {
        put(text, out);
    }
}

fn put_ids(span: &Span, ids: &[&[u8]], out: &mut Vec<u8>) {
    put(&span.name, out);
    for id in ids {
        put(&hex(id), out);
    }
}

fn service(resource: &Resource) -> &str {
    message::text(&resource.attributes, "service.name").unwrap_or_default()
}

/// A text of CTF ends where it has a zero.
fn put(text: &str, out: &mut Vec<u8>) {
    out.extend(text.bytes().map(|byte| if byte == 0 { b'?' } else { byte }));
    out.push(0);
}
