//! The Trace Event Format in JSON, as `chrome://tracing`, Speedscope and many others read it.
//!
//! Times are microseconds with three decimals since [`Chrome::new`]'s origin: Unix times in ns are more than numbers of JSON readers hold. Rows
//! that are none of a process get a process of their host; further rows of a thread get a number that no thread has.

use std::io::{self, Write};

use crate::timeline::{Flow, Place, Row, Shown, Timeline, Value, number_of};

/// What is added to the number of a thread for further rows of it, times their number: Linux has no threads above 2²².
const FURTHER_ROWS: i64 = 1 << 22;

/// The number of the process of a host's own rows: Linux has none as great.
const HOST_PROCESS: i32 = 9_999_999;

/// Where a row is.
#[derive(Debug, Clone, Copy)]
struct At {
    /// Number of its process.
    pid: i64,
    /// Number of its thread.
    tid: i64,
    /// The row of a host or of a thread that it belongs to: itself, unless it is under another one.
    owner: usize,
    /// The number of the next row under it, and how far apart these numbers are.
    next: (i64, i64),
    /// Of a counter: its name, and its unit.
    counter: Option<(&'static str, &'static str)>,
}

impl At {
    fn new(pid: i64, tid: i64, owner: usize) -> Self {
        Self { pid, tid, owner, next: (tid, 0), counter: None }
    }
}

/// Writes a timeline. Memory: some numbers for each row.
#[derive(Debug)]
pub struct Chrome<W> {
    to: W,
    /// Unix ns.
    origin: i64,
    /// By number of the row.
    rows: Vec<At>,
    has_events: bool,
    line: Vec<u8>,
}

impl<W: Write> Chrome<W> {
    /// Begins a file. Times are written since `origin`, Unix ns, which is in `otherData`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut to: W, origin: i64) -> io::Result<Self> {
        write!(
            to,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"begin_unix_ns\":\"{origin}\"}},\"traceEvents\":["
        )?;
        Ok(Self { to, origin, rows: Vec::new(), has_events: false, line: Vec::new() })
    }

    /// Writes an event: what is common to all, then `more`.
    fn event(
        &mut self,
        phase: char,
        at: Option<i64>,
        place: At,
        more: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(if self.has_events { b",\n" } else { b"\n" });
        self.has_events = true;
        write!(self.line, "{{\"ph\":\"{phase}\",\"pid\":{},\"tid\":{}", place.pid, place.tid)?;
        if let Some(at) = at {
            let since = i128::from(at) - i128::from(self.origin);
            let (sign, size) = (if since < 0 { "-" } else { "" }, since.unsigned_abs());
            write!(self.line, ",\"ts\":{sign}{}.{:03}", size / 1000, size % 1000)?;
        }
        more(&mut self.line)?;
        self.line.push(b'}');
        self.to.write_all(&self.line)
    }

    /// Names a process or a thread.
    fn named(&mut self, what: &str, place: At, key: &str, name: &str) -> io::Result<()> {
        self.event('M', None, place, |line| {
            write!(line, ",\"name\":\"{what}\",\"args\":{{\"{key}\":")?;
            text(line, name)?;
            line.push(b'}');
            Ok(())
        })
    }

    fn at(&self, row: Row) -> At {
        let place = usize::try_from(row.0).ok().and_then(|place| self.rows.get(place));
        place.copied().unwrap_or(At::new(0, 0, 0))
    }

    /// The next row under another one: of the same process, with a number of its own. Rows of rows are their owner's.
    fn under(&mut self, parent: Row) -> At {
        let owner = self.at(parent).owner;
        let Some(of) = self.rows.get_mut(owner) else { return At::new(0, 0, 0) };
        of.next.0 += of.next.1;
        At::new(of.pid, of.next.0, owner)
    }

    fn shown(line: &mut Vec<u8>, shown: &Shown<'_>) -> io::Result<()> {
        write!(line, ",\"cat\":\"{}\",\"name\":", shown.category)?;
        text(line, shown.name)?;
        if shown.details.is_empty() {
            return Ok(());
        }
        line.extend_from_slice(b",\"args\":{");
        for (place, (name, value)) in shown.details.iter().enumerate() {
            write!(line, "{}\"{name}\":", if place > 0 { "," } else { "" })?;
            match value {
                Value::Int(value) => write!(line, "{value}")?,
                Value::Text(value) => text(line, value)?,
            }
        }
        line.push(b'}');
        Ok(())
    }

    /// A flow begins or ends in the slice that has just begun.
    fn flow(&mut self, place: At, at: i64, flow: Option<Flow>) -> io::Result<()> {
        let (phase, id, binding) = match flow {
            None => return Ok(()),
            Some(Flow::Begins(id)) => ('s', id, ""),
            Some(Flow::Ends(id)) => ('f', id, ",\"bp\":\"e\""),
        };
        self.event(phase, Some(at), place, |line| {
            write!(line, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":{id}{binding}")
        })
    }
}

impl<W: Write> Timeline for Chrome<W> {
    fn row(&mut self, place: &Place<'_>) -> io::Result<Row> {
        let row = self.rows.len();
        let new = match *place {
            Place::Host { host, name } => {
                let at = At { next: (0, 1), ..At::new(number_of(host, HOST_PROCESS), 0, row) };
                self.named("process_name", at, "name", name)?;
                at
            }
            Place::Process { host, pid, name, host_name } => {
                let at = At::new(number_of(host, pid), number_of(host, pid), row);
                self.named("process_name", at, "name", name)?;
                self.named("process_labels", at, "labels", host_name)?;
                at
            }
            Place::Thread { host, pid, tid, name } => {
                let tid = number_of(host, tid);
                let at = At { next: (tid, FURTHER_ROWS), ..At::new(number_of(host, pid), tid, row) };
                self.named("thread_name", at, "name", name)?;
                at
            }
            Place::Under { parent, name } => {
                let at = self.under(parent);
                self.named("thread_name", at, "name", name)?;
                at
            }
            Place::Counter { parent, name, unit } => At { counter: Some((name, unit)), ..self.at(parent) },
        };
        self.rows.push(new);
        Ok(Row(row as u64))
    }

    fn begin(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()> {
        let place = self.at(row);
        self.event('B', Some(at), place, |line| Self::shown(line, shown))?;
        self.flow(place, at, shown.flow)
    }

    fn end(&mut self, row: Row, at: i64) -> io::Result<()> {
        self.event('E', Some(at), self.at(row), |_| Ok(()))
    }

    fn instant(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()> {
        // Flows hang on slices alone.
        self.begin(row, at, shown)?;
        self.end(row, at)
    }

    fn counter(&mut self, row: Row, at: i64, value: f64) -> io::Result<()> {
        let place = self.at(row);
        let Some((name, unit)) = place.counter else { return Ok(()) };
        self.event('C', Some(at), place, |line| {
            write!(line, ",\"name\":\"{name}\",\"args\":{{\"{unit}\":{value}}}")
        })
    }

    /// The format has no clocks: all times are on one.
    fn clock(&mut self, _: (u32, &str), _: i64, _: i64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()
    }
}

/// A text of JSON.
fn text(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    serde_json::to_writer(line, text).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_is_json() {
        let mut bytes = Vec::new();
        let mut to = Chrome::new(&mut bytes, 1_795_154_041_000_000_000).unwrap();
        let host = to.row(&Place::Host { host: 1, name: "app" }).unwrap();
        let cpu = to.row(&Place::Under { parent: host, name: "CPU 0" }).unwrap();
        to.row(&Place::Under { parent: cpu, name: "interrupts" }).unwrap();
        to.row(&Place::Process { host: 1, pid: 7, name: "a \"b\"", host_name: "app" }).unwrap();
        let thread = to.row(&Place::Thread { host: 1, pid: 7, tid: 8, name: "srv" }).unwrap();
        let state = to.row(&Place::Under { parent: thread, name: "state" }).unwrap();
        let busy = to.row(&Place::Counter { parent: host, name: "CPUs busy", unit: "CPUs" }).unwrap();
        let details = [("fd", Value::Int(-1)), ("path", Value::Text("/t\n"))];
        let flow = Some(Flow::Begins(5));
        let read = Shown { name: "read", category: "syscall", details: &details, flow };
        to.begin(thread, 1_795_154_041_823_216_897, &read).unwrap();
        to.instant(
            state,
            1_795_154_040_999_999_999,
            &Shown { flow: Some(Flow::Ends(5)), details: &[], ..read },
        )
        .unwrap();
        to.end(thread, 1_795_154_041_823_217_000).unwrap();
        to.counter(busy, 1_795_154_041_000_000_000, 1.5).unwrap();
        to.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(whole["otherData"]["begin_unix_ns"], "1795154041000000000");
        assert_eq!(whole["traceEvents"].as_array().unwrap().len(), text.lines().count() - 2);
        let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches(',')).collect();
        let expect = [
            r#"{"ph":"M","pid":19999999,"tid":0,"name":"process_name","args":{"name":"app"}}"#,
            r#"{"ph":"M","pid":19999999,"tid":1,"name":"thread_name","args":{"name":"CPU 0"}}"#,
            r#"{"ph":"M","pid":19999999,"tid":2,"name":"thread_name","args":{"name":"interrupts"}}"#,
            r#"{"ph":"M","pid":10000007,"tid":10000007,"name":"process_name","args":{"name":"a \"b\""}}"#,
            r#"{"ph":"M","pid":10000007,"tid":10000007,"name":"process_labels","args":{"labels":"app"}}"#,
            r#"{"ph":"M","pid":10000007,"tid":10000008,"name":"thread_name","args":{"name":"srv"}}"#,
            r#"{"ph":"M","pid":10000007,"tid":14194312,"name":"thread_name","args":{"name":"state"}}"#,
            r#"{"ph":"B","pid":10000007,"tid":10000008,"ts":823216.897,"cat":"syscall","name":"read","args":{"fd":-1,"path":"/t\n"}}"#,
            r#"{"ph":"s","pid":10000007,"tid":10000008,"ts":823216.897,"cat":"flow","name":"flow","id":5}"#,
            r#"{"ph":"B","pid":10000007,"tid":14194312,"ts":-0.001,"cat":"syscall","name":"read"}"#,
            r#"{"ph":"f","pid":10000007,"tid":14194312,"ts":-0.001,"cat":"flow","name":"flow","id":5,"bp":"e"}"#,
            r#"{"ph":"E","pid":10000007,"tid":14194312,"ts":-0.001}"#,
            r#"{"ph":"E","pid":10000007,"tid":10000008,"ts":823217.000}"#,
            r#"{"ph":"C","pid":19999999,"tid":0,"ts":0.000,"name":"CPUs busy","args":{"CPUs":1.5}}"#,
        ];
        assert_eq!(lines[1..lines.len() - 1], expect);
    }
}
