//! The content of a capture: for programs as described in `docs/json-output.md`, and in some lines for
//! people.

use std::io::{self, Write};

use isochrone_files::InputCapture;
use isochrone_matching::CaptureFacts;
use isochrone_matching::capture::InterfaceFacts;
use isochrone_time::UnixNs;
use serde::Serialize;

use super::{duration, line};
use crate::render::plain::plain;
use crate::render::{figures, time};

/// Maximum number of kinds of frames that are listed for people.
const MAX_KINDS: usize = 12;

/// A capture. What is unknown is `None`.
#[derive(Debug, Serialize)]
pub(crate) struct CaptureInfo {
    path: String,
    host: String,
    kind: &'static str,
    /// Where it was taken, in words.
    place: String,
    /// By their numbers.
    interfaces: Vec<InterfaceInfo>,
    packets: u64,
    bytes: u64,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
    /// Contents of frames, by name, the most frequent first.
    contents: Vec<Held>,
    /// What of it cannot be used, in words.
    remarks: Vec<String>,
    diagnostics: Vec<String>,
}

/// Frames of one kind.
#[derive(Debug, Serialize)]
struct Held {
    name: String,
    packets: u64,
}

/// One of its interfaces.
#[derive(Debug, Serialize)]
struct InterfaceInfo {
    number: usize,
    name: Option<String>,
    link_type: u16,
    packets: u64,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
}

impl InterfaceInfo {
    fn new((number, facts): (usize, &InterfaceFacts)) -> Self {
        Self {
            number,
            name: facts.name.clone(),
            link_type: facts.link_type,
            packets: facts.packets,
            begin_ns: facts.span.map(|span| span.start.ns()),
            end_ns: facts.span.map(|span| span.end.ns()),
        }
    }
}

impl CaptureInfo {
    /// Of a capture and the facts of one pass over it.
    pub(crate) fn new(input: &InputCapture, facts: &CaptureFacts) -> Self {
        let contents = facts.contents.kinds().into_iter().map(|(name, packets)| Held { name, packets });
        let mut remarks: Vec<String> = facts.contents.odd(false).collect();
        // Why all of it is unusable, in addition.
        remarks.extend(facts.why_useless().filter(|_| facts.usable.is_none()));
        Self {
            contents: contents.collect(),
            remarks,
            path: input.path.display().to_string(),
            host: input.host(),
            kind: "capture",
            place: match facts.packets > 0 && facts.places.is_idle() {
                true => "unknown from what was captured".to_owned(),
                false => facts.places.to_string(),
            },
            interfaces: facts.interfaces.iter().enumerate().map(InterfaceInfo::new).collect(),
            packets: facts.packets,
            bytes: facts.bytes,
            begin_ns: facts.span.map(|span| span.start.ns()),
            end_ns: facts.span.map(|span| span.end.ns()),
            diagnostics: facts
                .diagnostics
                .iter()
                .map(ToString::to_string)
                .chain(facts.error.clone())
                .collect(),
        }
    }
}

/// Prints one capture.
pub(crate) fn print(info: &CaptureInfo, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}: {}, capture", plain(&info.path), plain(&info.host))?;
    line(out, "place", &info.place)?;
    let size = format!("{}, {} bytes", figures::plural(info.packets, "packet"), figures::count(info.bytes));
    line(out, "size", &size)?;
    // One interface is the capture.
    for interface in info.interfaces.iter().filter(|_| info.interfaces.len() > 1) {
        let InterfaceInfo { number, name, link_type, packets, begin_ns, .. } = interface;
        let name = name.as_deref().map_or_else(String::new, |name| format!(" ({})", plain(name)));
        let from =
            begin_ns.map_or_else(String::new, |begin| format!(", from {}", time::full(UnixNs(begin.into()))));
        let shown =
            format!("{number}{name}: {}, link type {link_type}{from}", figures::plural(*packets, "packet"));
        line(out, "interface", &shown)?;
    }
    if let (Some(begin), Some(end)) = (info.begin_ns.map(i128::from), info.end_ns.map(i128::from)) {
        let (from, to) = (time::full(UnixNs(begin)), time::full(UnixNs(end)));
        line(out, "time", &format!("{from} … {to}, {}", duration(end - begin)))?;
    }
    let shown = info.contents.iter().take(MAX_KINDS);
    let mut held: Vec<String> =
        shown.map(|held| format!("{} {}", figures::count(held.packets), held.name)).collect();
    let more: u64 = info.contents.iter().skip(MAX_KINDS).map(|held| held.packets).sum();
    held.extend((more > 0).then(|| format!("{} others", figures::count(more))));
    if !held.is_empty() {
        line(out, "holds", &held.join(", "))?;
    }
    info.remarks.iter().try_for_each(|remark| line(out, "remark", remark))
}
