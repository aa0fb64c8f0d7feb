//! Events as comma-separated values: a header line, then a line for each event. What an event carries differs from class to class, so
//! that it is in few columns: contexts and payload, each a JSON object, as in the JSON of events.

use std::io::{self, Write};

use isochrone_analysis::csv::cell;
use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, room};
use isochrone_time::UnixNs;

use super::{FLUSH_AT, Printer};

/// The columns that are JSON objects.
const OBJECTS: [(Scope, &str); 3] = [
    (Scope::CommonContext, "common_context"),
    (Scope::SpecificContext, "specific_context"),
    (Scope::Payload, "payload"),
];

/// The line of names, with those of bounds and of what is known of events where they are shown.
pub(super) fn header(bounds: bool, explains: bool, out: &mut Vec<u8>) {
    let bounds = if bounds { "time_lo_ns,time_hi_ns,e95_ns,ordered," } else { "" };
    let objects = OBJECTS.map(|(_, name)| name).join(",");
    let explained = if explains { ",explained" } else { "" };
    out.extend_from_slice(format!("time_ns,{bounds}host,cpu,event,{objects}{explained}\n").as_bytes());
}

impl<'i, W: Write> Printer<'i, W> {
    /// The line of an event. What is unknown, and what it does not have, is empty.
    pub(super) fn csv(&mut self, source: usize, at: Option<UnixNs>, event: &Event<'i>) -> io::Result<()> {
        self.number(at.map(|at| at.0));
        if let Some(clocks) = self.bounds {
            let stamp = self.sources[source].stamp(event);
            self.number(stamp.and_then(|stamp| stamp.lo).map(UnixNs::ns));
            self.number(stamp.and_then(|stamp| stamp.hi).map(UnixNs::ns));
            self.number(stamp.and_then(|stamp| stamp.e95).map(i128::from));
            let ordered = self.is_ordered(clocks, source, event);
            self.out.extend_from_slice(if ordered { b"true," } else { b"false," });
        }
        self.name(&self.sources[source].host);
        let cpu = self.cpus.of(source, event);
        self.number(cpu.map(i128::from));
        self.name(event.name().unwrap_or_default());
        for (index, (scope, _)) in OBJECTS.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.object(scope, event)?;
        }
        Ok(())
    }

    fn number(&mut self, number: Option<i128>) {
        if let Some(number) = number {
            self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        self.out.push(b',');
    }

    /// A name that spreadsheets do not interpret, in quotes where it needs them.
    fn name(&mut self, name: &str) {
        let name = &*cell(name);
        if name.contains([',', '"', '\n', '\r']) {
            self.out.push(b'"');
            put_quoted(name.as_bytes(), &mut self.out);
            self.out.push(b'"');
        } else {
            self.out.extend_from_slice(name.as_bytes());
        }
        self.out.push(b',');
    }

    /// The fields of an event in a scope, in quotes; empty where it has none or they cannot be read.
    fn object(&mut self, scope: Scope, event: &Event<'_>) -> io::Result<()> {
        if event.node(scope).is_none() {
            return Ok(());
        }
        self.out.push(b'"');
        self.cell.clear();
        let mut quoted = Quoted { out: &mut self.out, writer: &mut self.writer };
        let shown = room::append(&mut self.cell, &mut quoted, |out, room| {
            event.visit(scope, &mut JsonVisitor::within(out, room, Floats::Numbers))
        })?;
        if shown.is_err() {
            // Nothing of it was passed on then.
            self.out.pop();
            return Ok(());
        }
        quoted.write_all(&self.cell)?;
        self.out.push(b'"');
        Ok(())
    }
}

/// Puts what is written into a cell that is in quotes.
struct Quoted<'p, W> {
    out: &'p mut Vec<u8>,
    writer: &'p mut W,
}

impl<W: Write> Write for Quoted<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        put_quoted(text, self.out);
        if self.out.len() >= FLUSH_AT {
            self.writer.write_all(self.out)?;
            self.out.clear();
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Quotes within quotes are doubled.
pub(super) fn put_quoted(text: &[u8], out: &mut Vec<u8>) {
    for (index, part) in text.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled_in_whatever_pieces_they_come() {
        let check = |pieces: &[&str], expect: &str| {
            let (mut out, mut written) = (Vec::new(), Vec::new());
            for piece in pieces {
                Quoted { out: &mut out, writer: &mut written }.write_all(piece.as_bytes()).unwrap();
            }
            written.extend(out);
            assert_eq!(String::from_utf8(written).unwrap(), expect);
        };
        check(&[], "");
        check(&["{\"a\":1", ",\"b\"", ":\"\"}"], "{\"\"a\"\":1,\"\"b\"\":\"\"\"\"}");
        let long = "x".repeat(FLUSH_AT);
        check(&[&long, "\"", &long], &format!("{long}\"\"{long}"));
    }
}
