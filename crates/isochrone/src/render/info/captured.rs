//! What is in a capture: for programs as `docs/json-output.md` describes it, and in some lines for people.

use std::io::{self, Write};

use isochrone_sync::{CaptureFacts, InputCapture};
use serde::Serialize;

use super::text::{duration, line};
use crate::render::plain::plain;
use crate::render::{figures, time};

/// One capture. What is not known is `None`.
#[derive(Debug, Serialize)]
pub(crate) struct CaptureInfo {
    path: String,
    host: String,
    kind: &'static str,
    /// From which side it looks at packets, in words.
    place: String,
    packets: u64,
    bytes: u64,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
    diagnostics: Vec<String>,
}

impl CaptureInfo {
    /// Of a capture and what one look over it gave.
    pub(crate) fn new(input: &InputCapture, facts: &CaptureFacts) -> Self {
        Self {
            path: input.path.display().to_string(),
            host: input.host(),
            kind: "capture",
            place: facts.places.to_string(),
            packets: facts.packets,
            bytes: facts.bytes,
            begin_ns: facts.span.map(|span| span.begin),
            end_ns: facts.span.map(|span| span.end),
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
    if let (Some(begin), Some(end)) = (info.begin_ns.map(i128::from), info.end_ns.map(i128::from)) {
        let (from, to) = (time::full(begin), time::full(end));
        line(out, "time", &format!("{from} … {to}, {}", duration(end - begin)))?;
    }
    Ok(())
}
