//! What is known of an event, behind it: in text after ` # `, in JSON and CSV an object `explained`.

use isochrone_analysis::InterruptSource;
use isochrone_ctf::{digits, json};
use isochrone_experiment::{By, Descriptor, Explanation, InCall, Relation, TimeSpent, TimedTrace, Took, Who};
use isochrone_kernel::{Cause, Name};
use isochrone_store::{OpenFile, State};
use isochrone_time::{RawNs, UnixNs};

use super::csv::put_quoted;
use crate::arguments::EventFormat;
use crate::render::figures;
use crate::render::plain::plain;

/// Most parts of a time that a line of text has; JSON has all.
const MAX_PARTS: usize = 6;

/// Writes explanations.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    out: Vec<u8>,
    /// A cell of CSV before it is quoted.
    cell: Vec<u8>,
}

/// The times of an event: what its host's clock said, and what that means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventTime<'s, 'i> {
    pub(crate) source: &'s TimedTrace<'i>,
    pub(crate) raw: Option<RawNs>,
    pub(crate) unix: Option<UnixNs>,
}

impl EventTime<'_, '_> {
    /// The Unix time of an instant of the same clock.
    fn unix_of(self, raw: RawNs) -> Option<UnixNs> {
        match self.source.clock() {
            Some(clock) => Some(clock.unix(raw)),
            None => Some(UnixNs(self.unix?.0 - i128::from(self.raw? - raw))),
        }
    }
}

impl Explained {
    /// What comes behind an event.
    pub(crate) fn of(&mut self, format: EventFormat, it: &Explanation<'_>, when: EventTime<'_, '_>) -> &[u8] {
        self.out.clear();
        match format {
            EventFormat::Text => text(&mut self.out, it, when),
            EventFormat::Json => {
                self.out.extend_from_slice(b",\"explained\":");
                object(&mut self.out, it, when);
            }
            EventFormat::Csv => {
                self.cell.clear();
                object(&mut self.cell, it, when);
                self.out.extend_from_slice(b",\"");
                put_quoted(&self.cell, &mut self.out);
                self.out.push(b'"');
            }
        }
        &self.out
    }
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn number(out: &mut Vec<u8>, number: impl Into<i64>) {
    digits::signed(out, number.into());
}

fn duration(out: &mut Vec<u8>, ns: i64) {
    let mut text = String::with_capacity(12);
    figures::put_duration(&mut text, ns);
    put(out, &text);
}

/// ` # comm PID/TID (process) in call(7</data/x>) for 8.215 µs; fd=9</data/y>; took 1.2 ms: …`
fn text(out: &mut Vec<u8>, it: &Explanation<'_>, when: EventTime<'_, '_>) {
    put(out, " # ");
    let Some(who) = &it.who else {
        put(out, "?");
        return;
    };
    text_who(out, who);
    if let Some(process) = who.process.filter(|process| who.comm != Some(*process)) {
        put(out, " (");
        put(out, &plain(process));
        put(out, ")");
    }
    if let Some(call) = &it.call {
        // What a call took in all is behind it.
        text_call(out, call, when.raw.filter(|_| it.took.is_empty()));
    }
    let of_call = it.call.and_then(|call| call.fd).map(|fd| fd.fd);
    for (field, fd) in it.fds.iter().filter(|(field, fd)| *field == "ret" || Some(fd.fd) != of_call) {
        put(out, "; ");
        put(out, &plain(field));
        put(out, "=");
        text_fd(out, fd);
    }
    for took in &it.took {
        text_took(out, took);
    }
}

/// `comm PID/TID`, as perf has it.
fn text_who(out: &mut Vec<u8>, who: &Who<'_>) {
    put(out, &plain(who.comm.unwrap_or("?")));
    put(out, " ");
    // Idle tasks are thread 0.
    let idle = who.thread.idle_of_cpu.map(|_| 0);
    match who.thread.pid.or(idle) {
        Some(pid) => number(out, pid),
        None => put(out, "?"),
    }
    put(out, "/");
    match who.thread.tid.or(idle) {
        Some(tid) => number(out, tid),
        None => put(out, "?"),
    }
}

fn text_call(out: &mut Vec<u8>, call: &InCall<'_>, at: Option<RawNs>) {
    put(out, if call.is_sure { " in " } else { " perhaps in " });
    put(out, &plain(call.name.unwrap_or("?")));
    put(out, "(");
    if let Some(fd) = &call.fd {
        text_fd(out, fd);
    }
    put(out, ")");
    // What an entry and its call have in common needs no word.
    if let Some(ns) = call.start.zip(at).map(|(start, at)| at - start).filter(|ns| *ns > 0) {
        put(out, " for ");
        duration(out, ns);
    }
}

/// `7</data/x>`, `7<10.0.0.2:43210->10.0.0.3:80>`, `7<?>`; `?` behind it where it may be another one.
fn text_fd(out: &mut Vec<u8>, fd: &Descriptor<'_>) {
    number(out, fd.fd);
    put(out, "<");
    match fd.file {
        None => put(out, "?"),
        Some(OpenFile { local: Some(local), peer: Some(peer), .. }) => {
            put(out, &plain(local));
            put(out, "->");
            put(out, &plain(peer));
        }
        Some(OpenFile { name, .. }) if !name.is_empty() => put(out, &plain(name)),
        Some(OpenFile { kind, .. }) => put(out, kind.as_deref().unwrap_or("?")),
    }
    put(out, if fd.is_doubtful { ">?" } else { ">" });
}

fn text_took(out: &mut Vec<u8>, took: &Took<'_>) {
    put(out, "; ");
    put(out, &plain(took.name));
    put(out, " took ");
    duration(out, i64::try_from(took.ns).unwrap_or(i64::MAX));
    let shown = match took.parts.len() {
        // One more needs no more room than that there is one more.
        count if count <= MAX_PARTS + 1 => count,
        _ => MAX_PARTS,
    };
    for (index, part) in took.parts[..shown].iter().enumerate() {
        put(out, if index == 0 { ": " } else { ", " });
        text_part(out, part);
    }
    let rest = &took.parts[shown..];
    if !rest.is_empty() {
        let ns = rest.iter().map(|part| part.ns).sum::<u64>();
        put(out, &format!(", {} more ", rest.len()));
        duration(out, i64::try_from(ns).unwrap_or(i64::MAX));
    }
}

fn text_part(out: &mut Vec<u8>, part: &TimeSpent<'_>) {
    put(out, part.cause.name());
    if !part.detail.is_empty() {
        put(out, " ");
        put(out, &plain(&part.detail));
    }
    put(out, " ");
    duration(out, i64::try_from(part.ns).unwrap_or(i64::MAX));
    let what = match part.relation {
        Relation::None => return,
        Relation::EndedBy => " (ended by ",
        Relation::PreemptedBy => " (preempted by ",
        Relation::Behind => " (behind ",
    };
    put(out, what);
    match &part.by {
        None => put(out, "?"),
        Some(By::Thread(who)) => text_who(out, who),
        Some(By::Context(context)) => put(out, &context_name(*context)),
    }
    put(out, ")");
}

/// What is no thread: `IRQ 27`, `SoftIRQ 3 NET_RX_SOFTIRQ`, `timer`.
fn context_name(context: Cause) -> String {
    match context {
        Cause::Irq(number) => InterruptSource::Hard { number, name: Name::default() }.to_string(),
        Cause::Softirq(vector) => InterruptSource::Soft(vector).to_string(),
        other => other.name().to_owned(),
    }
}

/// Writes the members of an object.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> Object<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        json::string(self.out, key.as_bytes());
        self.out.push(b':');
        self.out
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        let out = self.key(key);
        match text {
            Some(text) => json::string(out, text.as_bytes()),
            None => put(out, "null"),
        }
    }

    fn number(&mut self, key: &str, value: Option<impl Into<i128>>) {
        let out = self.key(key);
        match value {
            Some(value) => put(out, itoa::Buffer::new().format(value.into())),
            None => put(out, "null"),
        }
    }

    fn truth(&mut self, key: &str, value: bool) {
        put(self.key(key), if value { "true" } else { "false" });
    }

    /// The objects of a list.
    fn list<T>(&mut self, key: &str, items: &[T], each: impl Fn(&mut Object<'_>, &T)) {
        let out = self.key(key);
        out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let mut object = Object::new(out);
            each(&mut object, item);
            object.end();
        }
        out.push(b']');
    }

    /// An object, or null.
    fn object<T>(&mut self, key: &str, item: Option<&T>, each: impl Fn(&mut Object<'_>, &T)) {
        let out = self.key(key);
        match item {
            None => put(out, "null"),
            Some(item) => {
                let mut object = Object::new(out);
                each(&mut object, item);
                object.end();
            }
        }
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

fn object(out: &mut Vec<u8>, it: &Explanation<'_>, when: EventTime<'_, '_>) {
    let begin = |raw: Option<RawNs>| raw.and_then(|raw| when.unix_of(raw)).map(|unix| unix.0);
    let mut all = Object::new(out);
    all.object("thread", it.who.as_ref(), |to, who| {
        json_who(to, who);
        to.text("process", who.process);
    });
    all.text("state", it.state().map(State::name));
    all.object("call", it.call.as_ref(), |to, call| {
        to.text("name", call.name);
        to.number("begin_ns", begin(call.start));
        to.truth("sure", call.is_sure);
        to.object("fd", call.fd.as_ref(), json_fd);
    });
    all.list("fds", &it.fds, |to, (field, fd)| {
        to.text("field", Some(field));
        json_fd(to, fd);
    });
    all.list("took", &it.took, |to, took| {
        to.text("name", Some(took.name));
        to.number("begin_ns", begin(Some(took.start)));
        to.number("total_ns", Some(took.ns));
        to.list("parts", &took.parts, json_part);
    });
    all.end();
}

fn json_who(to: &mut Object<'_>, who: &Who<'_>) {
    let idle = who.thread.idle_of_cpu.map(|_| 0);
    to.number("pid", who.thread.pid.or(idle));
    to.number("tid", who.thread.tid.or(idle));
    to.text("comm", who.comm);
}

fn json_fd(to: &mut Object<'_>, it: &Descriptor<'_>) {
    let file = it.file;
    to.number("fd", Some(it.fd));
    to.text("kind", file.and_then(|file| file.kind.as_deref()));
    to.text("name", file.map(|file| file.name.as_str()).filter(|name| !name.is_empty()));
    to.text("local", file.and_then(|file| file.local.as_deref()));
    to.text("peer", file.and_then(|file| file.peer.as_deref()));
    to.truth("doubtful", it.is_doubtful);
}

fn json_part(to: &mut Object<'_>, part: &TimeSpent<'_>) {
    to.text("cause", Some(part.cause.name()));
    to.text("detail", Some(part.detail.as_str()).filter(|detail| !detail.is_empty()));
    to.number("count", Some(part.count));
    to.number("total_ns", Some(part.ns));
    let key = match part.relation {
        Relation::None => return,
        Relation::EndedBy => "ended_by",
        Relation::PreemptedBy => "preempted_by",
        Relation::Behind => "behind",
    };
    to.object(key, part.by.as_ref(), |to, by| match by {
        By::Thread(who) => json_who(to, who),
        By::Context(context) => to.text("context", Some(&context_name(*context))),
    });
}
