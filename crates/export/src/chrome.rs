//! The Trace Event Format in JSON, as `chrome://tracing`, Speedscope and many others read it.
//!
//! Times are microseconds with three decimals since the origin given to [`Chrome::new`]: Unix times in ns do not fit the numbers of JSON
//! readers. Tracks that belong to no process get a process of their host; further tracks of a thread get an id that no thread has.

use std::io::{self, Write};

use isochrone_time::{RawNs, UnixNs};

use crate::timeline::{Event, Flow, Timeline, Track, TrackKind, Value, unique_id};

/// Added to the id of a thread for each further track of it: Linux has no ids above 2²².
const FURTHER_TRACKS: i64 = 1 << 22;

/// The pid of a host's own tracks: Linux has none as great.
const HOST_PROCESS: i32 = 9_999_999;

/// The ids of a track.
#[derive(Debug, Clone, Copy)]
struct Ids {
    pid: i64,
    tid: i64,
    /// Index of the track of a host or of a thread that it belongs to: its own, unless it is under another one.
    owner: usize,
    /// The tid of the last track under it, and the distance to the next.
    last: i64,
    stride: i64,
    /// Name and unit of a counter.
    counter: Option<(&'static str, &'static str)>,
}

impl Ids {
    fn new(pid: i64, tid: i64, owner: usize) -> Self {
        Self { pid, tid, owner, last: tid, stride: 0, counter: None }
    }
}

/// Writes a timeline. Memory: some numbers for each track.
#[derive(Debug)]
pub struct Chrome<W> {
    to: W,
    origin: UnixNs,
    /// By number of the track.
    tracks: Vec<Ids>,
    has_events: bool,
    line: Vec<u8>,
}

impl<W: Write> Chrome<W> {
    /// Starts a file. Times are written since `origin`, which is in `otherData`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut to: W, origin: UnixNs) -> io::Result<Self> {
        write!(
            to,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"begin_unix_ns\":\"{}\"}},\"traceEvents\":[",
            origin.0
        )?;
        Ok(Self { to, origin, tracks: Vec::new(), has_events: false, line: Vec::new() })
    }

    /// Writes an event: what is common to all, then `more`.
    fn event(
        &mut self,
        phase: char,
        at: Option<UnixNs>,
        ids: Ids,
        more: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(if self.has_events { b",\n" } else { b"\n" });
        self.has_events = true;
        write!(self.line, "{{\"ph\":\"{phase}\",\"pid\":{},\"tid\":{}", ids.pid, ids.tid)?;
        if let Some(at) = at {
            let since = at - self.origin;
            let (sign, size) = (if since < 0 { "-" } else { "" }, since.unsigned_abs());
            write!(self.line, ",\"ts\":{sign}{}.{:03}", size / 1000, size % 1000)?;
        }
        more(&mut self.line)?;
        self.line.push(b'}');
        self.to.write_all(&self.line)
    }

    /// Names a process or a thread.
    fn name(&mut self, what: &str, ids: Ids, key: &str, name: &str) -> io::Result<()> {
        self.event('M', None, ids, |line| {
            write!(line, ",\"name\":\"{what}\",\"args\":{{\"{key}\":")?;
            text(line, name)?;
            line.push(b'}');
            Ok(())
        })
    }

    fn ids(&self, track: Track) -> Ids {
        let index = usize::try_from(track.0).ok().and_then(|index| self.tracks.get(index));
        index.copied().unwrap_or(Ids::new(0, 0, 0))
    }

    /// The next track under another one: of the same process, with an id of its own. Tracks of tracks are their owner's.
    fn under(&mut self, parent: Track) -> Ids {
        let owner = self.ids(parent).owner;
        let Some(of) = self.tracks.get_mut(owner) else { return Ids::new(0, 0, 0) };
        of.last += of.stride;
        Ids::new(of.pid, of.last, owner)
    }

    fn details(line: &mut Vec<u8>, event: &Event<'_>) -> io::Result<()> {
        write!(line, ",\"cat\":\"{}\",\"name\":", event.category)?;
        text(line, event.name)?;
        if event.args.is_empty() {
            return Ok(());
        }
        line.extend_from_slice(b",\"args\":{");
        for (index, (name, value)) in event.args.iter().enumerate() {
            write!(line, "{}\"{name}\":", if index > 0 { "," } else { "" })?;
            match value {
                Value::Int(value) => write!(line, "{value}")?,
                Value::Text(value) => text(line, value)?,
            }
        }
        line.push(b'}');
        Ok(())
    }

    /// Starts or ends a flow at the slice that has just started.
    fn flow(&mut self, ids: Ids, at: UnixNs, flow: Option<Flow>) -> io::Result<()> {
        let (phase, id, binding) = match flow {
            None => return Ok(()),
            Some(Flow::Start(id)) => ('s', id, ""),
            Some(Flow::End(id)) => ('f', id, ",\"bp\":\"e\""),
        };
        self.event(phase, Some(at), ids, |line| {
            write!(line, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":{id}{binding}")
        })
    }
}

impl<W: Write> Timeline for Chrome<W> {
    fn track(&mut self, kind: &TrackKind<'_>) -> io::Result<Track> {
        let track = self.tracks.len();
        let new = match *kind {
            TrackKind::Host { host, name } => {
                let ids = Ids { last: 0, stride: 1, ..Ids::new(unique_id(host, HOST_PROCESS), 0, track) };
                self.name("process_name", ids, "name", name)?;
                ids
            }
            TrackKind::Process { host, pid, name, host_name } => {
                let ids = Ids::new(unique_id(host, pid), unique_id(host, pid), track);
                self.name("process_name", ids, "name", name)?;
                self.name("process_labels", ids, "labels", host_name)?;
                ids
            }
            TrackKind::Thread { host, pid, tid, name } => {
                let tid = unique_id(host, tid);
                let ids = Ids { stride: FURTHER_TRACKS, ..Ids::new(unique_id(host, pid), tid, track) };
                self.name("thread_name", ids, "name", name)?;
                ids
            }
            TrackKind::Under { parent, name } => {
                let ids = self.under(parent);
                self.name("thread_name", ids, "name", name)?;
                ids
            }
            TrackKind::Counter { parent, name, unit } => {
                Ids { counter: Some((name, unit)), ..self.ids(parent) }
            }
        };
        self.tracks.push(new);
        Ok(Track(track as u64))
    }

    fn start(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()> {
        let ids = self.ids(track);
        self.event('B', Some(at), ids, |line| Self::details(line, event))?;
        self.flow(ids, at, event.flow)
    }

    fn end(&mut self, track: Track, at: UnixNs) -> io::Result<()> {
        self.event('E', Some(at), self.ids(track), |_| Ok(()))
    }

    fn instant(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()> {
        // Flows bind to slices alone.
        self.start(track, at, event)?;
        self.end(track, at)
    }

    fn counter(&mut self, track: Track, at: UnixNs, value: f64) -> io::Result<()> {
        let ids = self.ids(track);
        let Some((name, unit)) = ids.counter else { return Ok(()) };
        self.event('C', Some(at), ids, |line| {
            write!(line, ",\"name\":\"{name}\",\"args\":{{\"{unit}\":{value}}}")
        })
    }

    /// The format has no clocks: all times are on one.
    fn clock(&mut self, _: u32, _: UnixNs, _: RawNs) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()
    }
}

/// Writes a text of JSON.
fn text(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    serde_json::to_writer(line, text).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_is_json() {
        let mut bytes = Vec::new();
        let mut to = Chrome::new(&mut bytes, UnixNs(1_795_154_041_000_000_000)).unwrap();
        let host = to.track(&TrackKind::Host { host: 1, name: "app" }).unwrap();
        let cpu = to.track(&TrackKind::Under { parent: host, name: "CPU 0" }).unwrap();
        to.track(&TrackKind::Under { parent: cpu, name: "interrupts" }).unwrap();
        to.track(&TrackKind::Process { host: 1, pid: 7, name: "a \"b\"", host_name: "app" }).unwrap();
        let thread = to.track(&TrackKind::Thread { host: 1, pid: 7, tid: 8, name: "srv" }).unwrap();
        let state = to.track(&TrackKind::Under { parent: thread, name: "state" }).unwrap();
        let busy = to.track(&TrackKind::Counter { parent: host, name: "CPUs busy", unit: "CPUs" }).unwrap();
        let details = [("fd", Value::Int(-1)), ("path", Value::Text("/t\n"))];
        let flow = Some(Flow::Start(5));
        let read = Event { name: "read", category: "syscall", args: &details, flow };
        to.start(thread, UnixNs(1_795_154_041_823_216_897), &read).unwrap();
        to.instant(
            state,
            UnixNs(1_795_154_040_999_999_999),
            &Event { flow: Some(Flow::End(5)), args: &[], ..read },
        )
        .unwrap();
        to.end(thread, UnixNs(1_795_154_041_823_217_000)).unwrap();
        to.counter(busy, UnixNs(1_795_154_041_000_000_000), 1.5).unwrap();
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
