//! Writes spans as traces of programs. What is in the buffer is sorted and becomes a stream, so that memory
//! does not depend on how many they are: readers merge streams.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use isochrone_ctf::plan::Plan;
use isochrone_ctf::write::{PacketHead, PacketWriter, TraceDirectory};
use isochrone_ctf::{Value, parse_metadata};

use super::message::{Resource, Span};
use super::spans::{self, BEGIN, END, Place, STREAMS, Who, contexts};
use super::{HostOfSpans, SpanClock};
use crate::class::integer;
use crate::error::ImportError;
use crate::metadata::escaped;

/// Bytes of events that are sorted at once.
const BUFFER: usize = 64 << 20;
/// Packets are ended beyond this size, bits.
const PACKET_BITS: u64 = 256 << 13;
/// How packets of CTF begin.
const MAGIC: u64 = 0xc1fc_1fc1;

/// The members of a packet's context.
const CONTEXT: [&str; 4] = ["timestamp_begin", "timestamp_end", "content_size", "packet_size"];

/// The trace of a host before it is written.
pub(super) struct Planned {
    metadata: String,
    plan: Plan,
    offset: i64,
    /// Raw times of its first and last event, ns.
    window: (u64, u64),
    /// The number of the class of each kind of stream.
    classes: [usize; STREAMS],
}

impl Planned {
    pub(super) fn new(host: &HostOfSpans, clock: &SpanClock) -> Result<Self, ImportError> {
        let used = (0..STREAMS).filter(|kind| host.streams >> kind & 1 == 1);
        let mut classes = [0; STREAMS];
        used.clone().enumerate().for_each(|(number, kind)| classes[kind] = number);
        let metadata = metadata(host, clock, used);
        let plan = Plan::compile(&parse_metadata(&metadata)?);
        let raw = |unix: u64| raw(unix, clock.offset_ns).unwrap_or(0);
        let window = (raw(host.begin), raw(host.end));
        Ok(Self { metadata, plan, offset: clock.offset_ns, window, classes })
    }
}

/// A Unix time on a clock; `None` before its zero.
fn raw(unix: u64, offset: i64) -> Option<u64> {
    u64::try_from(i128::from(unix) - i128::from(offset)).ok()
}

fn metadata(host: &HostOfSpans, clock: &SpanClock, used: impl Iterator<Item = usize>) -> String {
    let (half, word, long) = (integer(2, false), integer(4, false), integer(8, false));
    let stamp = |bits: u32| {
        format!("integer {{ size = {bits}; align = 8; signed = 0; map = clock.monotonic.value; }}")
    };
    let (short, stamp) = (stamp(32), stamp(64));
    let mut text = format!(
        "/* CTF 1.8 */\n\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\
         \tpacket.header := struct {{ {word} magic; {word} stream_id; }};\n}};\n\nenv {{\n\
         \tdomain = \"ust\";\n\ttracer_name = \"opentelemetry\";\n"
    );
    // Writing to a text does not fail.
    if let Some(name) = &host.name {
        let _ = writeln!(text, "\thostname = \"{}\";", escaped(name));
    }
    let _ = write!(text, "}};\n\nclock {{\n\tname = \"monotonic\";\n");
    if let Some(uuid) = &clock.uuid {
        let _ = writeln!(text, "\tuuid = \"{uuid}\";");
    }
    let _ = writeln!(text, "\tfreq = 1000000000;\n\toffset = {};\n}};", clock.offset_ns);
    for (class, kind) in used.enumerate() {
        let _ = write!(
            text,
            "\nstream {{\n\tid = {class};\n\tevent.header := struct {{\n\
             \t\tenum : {half} {{ compact = 0 ... 65534, extended = 65535 }} id;\n\
             \t\tvariant <id> {{\n\t\t\tstruct {{ {short} timestamp; }} compact;\n\
             \t\t\tstruct {{ {word} id; {stamp} timestamp; }} extended;\n\t\t}} v;\n\t}} align(8);\n\
             \tpacket.context := struct {{"
        );
        for (index, name) in CONTEXT.iter().enumerate() {
            let _ = write!(text, " {} {name};", if index < 2 { &stamp } else { &long });
        }
        text.push_str(" };\n");
        let members: Vec<String> =
            contexts(kind).map(|name| format!("{} _{name};", integer(4, true))).collect();
        if !members.is_empty() {
            let _ = writeln!(text, "\tevent.context := struct {{ {} }};", members.join(" "));
        }
        text.push_str("};\n");
        for (id, (name, fields)) in [("begin", &BEGIN[..]), ("end", &END)].into_iter().enumerate() {
            let _ = write!(
                text,
                "\nevent {{\n\tname = \"otel:span_{name}\";\n\tid = {id};\n\tstream_id = {class};\n\
                 \tfields := struct {{ "
            );
            for field in fields {
                let _ = write!(text, "string _{field}; ");
            }
            text.push_str("};\n};\n");
        }
    }
    text
}

/// Spans that become traces.
pub(super) struct SpanWriter<'p> {
    planned: &'p [Planned],
    directories: Vec<TraceDirectory>,
    paths: Vec<PathBuf>,
    /// Contexts and fields of the events that are still to be written.
    bodies: Vec<u8>,
    events: Vec<Waiting>,
    /// How often the buffer was full.
    runs: usize,
    /// Spans before the zero of their clock.
    early: u64,
}

/// An event that is still to be written.
struct Waiting {
    host: u32,
    /// The kind of its stream.
    stream: u8,
    is_end: bool,
    /// Raw ns.
    at: u64,
    /// Where its body begins and ends.
    body: (usize, usize),
}

impl<'p> SpanWriter<'p> {
    pub(super) fn create(planned: &'p [Planned], to: &Path) -> Result<Self, ImportError> {
        let paths: Vec<PathBuf> = (0..planned.len()).map(|number| to.join(number.to_string())).collect();
        let directories = paths.iter().map(|path| TraceDirectory::begin(path)).collect::<Result<_, _>>()?;
        let (bodies, events) = (Vec::new(), Vec::new());
        Ok(Self { planned, directories, paths, bodies, events, runs: 0, early: 0 })
    }

    pub(super) fn span(
        &mut self,
        host: usize,
        who: &Who<'_>,
        place: Place,
        (resource, scope, span): (&Resource, &str, &Span),
    ) -> Result<(), ImportError> {
        let offset = self.planned[host].offset;
        let Some((begin, end)) = raw(place.begin, offset).zip(raw(place.end, offset)) else {
            self.early += 1;
            return Ok(());
        };
        for (at, is_end) in [(begin, false), (end, true)] {
            let from = self.bodies.len();
            spans::put_contexts(*who, &mut self.bodies);
            match is_end {
                false => spans::put_begin(resource, scope, span, &mut self.bodies),
                true => spans::put_end(resource, span, &mut self.bodies),
            }
            let (host, stream) = (host as u32, who.stream() as u8);
            self.events.push(Waiting { host, stream, is_end, at, body: (from, self.bodies.len()) });
        }
        if self.bodies.len() + self.events.len() * size_of::<Waiting>() > BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is in the buffer, a stream for each host and kind.
    fn flush(&mut self) -> Result<(), ImportError> {
        // Stable: a span that takes no time ends behind its begin.
        self.events.sort_by_key(|event| (event.host, event.stream, event.at));
        let planned = self.planned;
        for events in self.events.chunk_by(|a, b| (a.host, a.stream) == (b.host, b.stream)) {
            let Waiting { host, stream, .. } = events[0];
            let Planned { plan, window, classes, .. } = &planned[host as usize];
            let class = classes[usize::from(stream)];
            let name = format!("spans{class}_{}", self.runs);
            let mut file = self.directories[host as usize].stream_file(&name)?;
            let mut writer = PacketWriter::new(plan, class);
            // All streams are of the same time: none of them lacks what the others have.
            let mut begin = Some(window.0);
            let mut last = events.len();
            for event in events {
                last -= 1;
                if let Some(begin) = begin.take() {
                    let value = |all: &[u64]| {
                        Some(Value::Struct(all.iter().map(|&it| Value::Unsigned(it)).collect()))
                    };
                    let header = value(&[MAGIC, class as u64]);
                    writer.begin(PacketHead { header, context: value(&[0; CONTEXT.len()]), begin })?;
                }
                writer.event(&plan.streams[class].events[usize::from(event.is_end)], event.at, None)?;
                writer.body_bytes(&self.bodies[event.body.0..event.body.1]);
                if last == 0 || writer.content_bits() >= PACKET_BITS {
                    let end = if last == 0 { window.1 } else { event.at };
                    file.append(&writer.finish(end, 0)?)?;
                    begin = Some(end);
                }
            }
            file.close()?;
        }
        self.events.clear();
        self.bodies.clear();
        self.runs += 1;
        Ok(())
    }

    /// Makes the directories traces. Returns them, and how many spans are in none.
    pub(super) fn finish(mut self) -> Result<(Vec<PathBuf>, u64), ImportError> {
        self.flush()?;
        for (directory, planned) in self.directories.iter().zip(self.planned) {
            directory.metadata(&planned.metadata)?;
        }
        Ok((self.paths, self.early))
    }
}
