//! Decodes CTF events of all generations of the tracer into [`KernelEvent`]s.
//!
//! Differences between the generations are handled here, once for each event class: names of events and
//! fields, meanings of numbers. [`sched`], [`machine`] and [`program`] have a table each; system calls have
//! their own module, [`crate::calls`].

mod machine;
mod program;
mod records;
mod sched;

use std::sync::Arc;

pub use machine::is_page_fault;

use isochrone_ctf::plan::{EventPlan, Name as FieldName, StreamPlan, Visitor};
use isochrone_ctf::schema::{EnvironmentValue, IntegerClass};
use isochrone_ctf::{Event, FieldRef, Packet, Trace};
use isochrone_periods::{BoundClass, Candidate, Definitions, PacketFields, Reading};

use crate::calls::{EntryDecoder, ExitDecoder};
use crate::event::{EventContext, KernelEvent, NO_CPU};
use crate::id::Time;

/// Decodes the events of one trace, kernel or user space.
#[derive(Debug)]
pub struct Decoder<'t> {
    trace: &'t Trace,
    facts: Tracer,
    /// What its session is known by.
    session: u64,
    /// By stream.
    streams: Vec<StreamDecoder>,
    /// The periods that are requested, and the name of the host.
    periods: Option<PeriodsOfHost>,
}

/// Definitions of periods, and the name of the host that they are to be found on.
type PeriodsOfHost = (Arc<Definitions>, Box<str>);

/// Properties of the tracer, as far as the meaning of events depends on them.
#[derive(Debug, Clone, Copy)]
struct Tracer {
    /// Whether programs wrote the trace.
    is_user: bool,
    /// How the states of threads are numbered.
    states: States,
    /// Whether lines of system calls are wanted.
    lines: bool,
    records: records::Records,
}

/// Numberings of the states of threads, by version of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum States {
    /// The kernel's own bits, up to 256; 512: preempted.
    Before3_9,
    /// The kernel's own bits, up to 512 or, later, 2048; the bit above them: preempted.
    Before4_14,
    /// The reported bits; 256: preempted.
    Reported,
}

/// What is known of an event before its fields are read: its class, and where it was recorded.
#[derive(Debug, Clone, Copy)]
pub struct EventDecoder<'d> {
    class: &'d ClassDecoder,
    cpu: Option<u32>,
    is_user: bool,
    has_faults: bool,
    session: u64,
    definitions: Option<&'d Definitions>,
    packet: &'d PacketFields,
}

#[derive(Debug, Default)]
struct StreamDecoder {
    /// The address of the packet that `cpu` is of.
    packet: Option<usize>,
    /// `None` if packets do not record it: then events may.
    cpu: Option<u32>,
    /// The context of that packet, where a period needs it.
    packet_fields: PacketFields,
    /// Whether one does, of the classes that are made.
    needs_packets: bool,
    /// By index of the event class, made when the first event of it comes.
    classes: Vec<Option<Box<ClassDecoder>>>,
}

/// How to read the events of one class.
#[derive(Debug)]
struct ClassDecoder {
    contexts: Contexts,
    kind: Kind,
    /// What periods need of it, if it concerns any.
    periods: Option<BoundClass>,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one for each event class, not for each event.
enum Kind {
    Sched(sched::Class),
    Machine(machine::Class),
    Program(program::Class),
    Entry(EntryDecoder),
    Exit(ExitDecoder),
    /// Not needed by the model.
    Other,
}

/// Where the contexts of a class are.
#[derive(Debug)]
struct Contexts {
    /// Traces of other programs have it as a field.
    cpu: Option<FieldRef>,
    /// Whether a program's event names its thread as the kernel does.
    has_kernel_tid: bool,
    /// `None` if the class has none of them, or they are not needed.
    thread: Option<ThreadContexts>,
}

/// Where the contexts of a class are that identify the thread that ran.
#[derive(Debug)]
struct ThreadContexts {
    tid: Option<FieldRef>,
    pid: Option<FieldRef>,
    comm: Option<FieldRef>,
}

impl<'t> Decoder<'t> {
    /// Makes a decoder for a trace; `lines`: whether system calls are shown as lines, which then takes most
    /// of the time.
    pub fn new(trace: &'t Trace, lines: bool) -> Self {
        let streams = trace.streams().iter().map(|_| StreamDecoder::default());
        Self { trace, facts: Tracer::of(trace, lines), session: 0, streams: streams.collect(), periods: None }
    }

    /// The decoder with what the trace's session is known by.
    #[must_use]
    pub fn of_session(self, session: u64) -> Self {
        Self { session, ..self }
    }

    /// The decoder with periods that are requested: see [`EventDecoder::candidate`]. `host`: the name of the
    /// host that the trace is of. To be called before the first event.
    #[must_use]
    pub fn with_periods(self, definitions: Option<&Arc<Definitions>>, host: &str) -> Self {
        Self { periods: definitions.map(|definitions| (Arc::clone(definitions), host.into())), ..self }
    }

    /// Whether programs wrote the trace, not the kernel's tracer.
    pub fn is_user(&self) -> bool {
        self.facts.is_user
    }

    /// Prepares to decode an event of the trace. Amortized constant.
    ///
    /// Context and event are decoded separately: a pair of such sizes would be copied.
    // A few instructions, once the class is there, and a result of five words: a call would cost as much
    // again.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn prepare(&mut self, event: &Event<'_>) -> EventDecoder<'_> {
        let Self { trace, facts, session, streams, periods } = self;
        let stream = &mut streams[event.stream()];
        if stream.packet != Some(std::ptr::from_ref(event.packet()).addr()) {
            stream.enter(trace, event);
        }
        let index = event.class().index;
        if index >= stream.classes.len() {
            stream.make_room(event);
        }
        let StreamDecoder { cpu, packet_fields, needs_packets, classes, .. } = stream;
        let class = classes[index].get_or_insert_with(|| {
            let decoder = ClassDecoder::bound(trace, event, *facts, periods.as_ref());
            if !*needs_packets && decoder.periods.as_ref().is_some_and(BoundClass::needs_packet) {
                *needs_packets = true;
                *packet_fields = PacketFields::of(trace, event.stream(), event.packet());
            }
            decoder
        });
        let definitions = periods.as_ref().map(|(all, _)| &**all);
        let (is_user, has_faults, session) = (facts.is_user, facts.records.has_page_faults(), *session);
        EventDecoder { class, cpu: *cpu, is_user, has_faults, session, definitions, packet: packet_fields }
    }
}

impl StreamDecoder {
    /// Enters the packet of an event.
    #[cold]
    fn enter(&mut self, trace: &Trace, event: &Event<'_>) {
        let packet = event.packet();
        self.packet = Some(std::ptr::from_ref(packet).addr());
        self.cpu = cpu_of(trace, event.stream(), packet);
        if self.needs_packets {
            self.packet_fields = PacketFields::of(trace, event.stream(), packet);
        }
    }

    /// Makes room for the classes of the stream of an event.
    #[cold]
    fn make_room(&mut self, event: &Event<'_>) {
        let count = event.stream_plan().events.len().max(event.class().index + 1);
        self.classes.resize_with(count, || None);
    }
}

impl<'d> EventDecoder<'d> {
    /// Where the event was recorded, and the fields of its contexts, if it is one of the model; `time`: when,
    /// raw ns.
    #[allow(clippy::inline_always)] // As above.
    #[inline(always)]
    pub fn context<'e>(&self, event: &Event<'e>, time: Time) -> EventContext<'e> {
        let cpu = self.cpu(event).unwrap_or(if self.is_user { NO_CPU } else { 0 });
        let (tid, pid, comm) = match &self.class.contexts.thread {
            Some(thread) => thread.read(event),
            None => (None, None, None),
        };
        EventContext {
            time,
            cpu,
            tid,
            has_kernel_tid: self.class.contexts.has_kernel_tid,
            pid,
            comm,
            is_user: self.is_user,
            session: self.session,
            has_faults: self.has_faults,
        }
    }

    #[inline]
    fn cpu(&self, event: &Event<'_>) -> Option<u32> {
        self.cpu.or_else(|| self.class.contexts.cpu(event))
    }

    /// What periods need of the event, if it may begin or end any.
    #[inline]
    pub fn candidate(&self, event: &Event<'_>) -> Option<Candidate> {
        let class = self.class.periods.as_ref()?;
        let reading = Reading { event, cpu: self.cpu(event), packet: self.packet };
        self.definitions?.candidate(class, reading)
    }

    /// Decodes the event. Linear in its size.
    #[inline]
    pub fn decode<'e>(&self, event: &Event<'e>) -> KernelEvent<'e>
    where
        'd: 'e,
    {
        let decoded = match &self.class.kind {
            Kind::Sched(class) => class.decode(event),
            Kind::Machine(class) => class.decode(event),
            Kind::Program(class) => return class.decode(event),
            Kind::Entry(decoder) => return KernelEvent::SyscallEntry(decoder.decode(event)),
            Kind::Exit(decoder) => return KernelEvent::SyscallExit(decoder.decode(event)),
            Kind::Other => None,
        };
        let Some(decoded) = decoded else { return KernelEvent::Other };
        decoded
    }
}

impl Tracer {
    fn of(trace: &Trace, lines: bool) -> Self {
        let environment = &trace.schema().environment;
        let text = |key: &str| match environment.get(key) {
            Some(EnvironmentValue::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let release = text("kernel_release").and_then(|release| {
            let mut numbers = release.split(|c: char| !c.is_ascii_digit());
            Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u32>().ok()?))
        });
        Self {
            is_user: text("domain") == Some("ust"),
            states: match release {
                Some(release) if release < (3, 9) => States::Before3_9,
                Some(release) if release < (4, 14) => States::Before4_14,
                _ => States::Reported,
            },
            lines,
            records: records::Records::of(trace),
        }
    }
}

impl ClassDecoder {
    /// The decoder of an event's class, with what periods need of it.
    #[cold]
    fn bound(trace: &Trace, event: &Event<'_>, facts: Tracer, periods: Option<&PeriodsOfHost>) -> Box<Self> {
        let (class, streams) = (event.class(), event.stream_plan());
        let mut decoder = Self::new(trace, event.stream(), streams, class, facts);
        decoder.periods = periods.and_then(|(all, host)| all.bind(class, streams, host));
        if decoder.periods.is_none() && matches!(decoder.kind, Kind::Other) {
            decoder.contexts.thread = None;
        }
        Box::new(decoder)
    }

    fn new(trace: &Trace, stream: usize, streams: &StreamPlan, class: &EventPlan, facts: Tracer) -> Self {
        let fields = Fields { stream: streams, class };
        let contexts = Contexts::of(&fields, facts);
        let Some(name) = class.name.as_deref() else {
            return Self { contexts, kind: Kind::Other, periods: None };
        };
        let kind = if facts.is_user {
            program::Class::new(&fields, name).map(Kind::Program)
        } else {
            let has = |name: &str| streams.events.iter().any(|class| class.name.as_deref() == Some(name));
            sched::Class::new(&fields, name, facts)
                .map(Kind::Sched)
                .or_else(|| machine::Class::new(&fields, name, facts, has).map(Kind::Machine))
                .or_else(|| EntryDecoder::new(trace, stream, class, facts.lines).map(Kind::Entry))
                .or_else(|| ExitDecoder::new(trace, stream, class, facts.lines).map(Kind::Exit))
        };
        Self { contexts, kind: kind.unwrap_or(Kind::Other), periods: None }
    }
}

impl Contexts {
    fn of(fields: &Fields<'_>, facts: Tracer) -> Self {
        // A program's tracer records the ids of the program's namespace only.
        let [tid, pid] = if facts.is_user { ["vtid", "vpid"] } else { ["tid", "pid"] };
        let cpu = fields.context("cpu_id").or_else(|| fields.get("cpu_id"));
        let [tid, pid, comm] = [tid, pid, "procname"].map(|name| fields.context(name));
        // Where spans of programs say which of the kernel's threads they are of.
        let kernel_tid = fields.context("tid").filter(|_| facts.is_user && tid.is_none());
        let (has_kernel_tid, tid) = (kernel_tid.is_some(), tid.or(kernel_tid));
        let has_any = tid.is_some() || pid.is_some() || comm.is_some();
        Self { cpu, has_kernel_tid, thread: has_any.then_some(ThreadContexts { tid, pid, comm }) }
    }

    fn cpu(&self, event: &Event<'_>) -> Option<u32> {
        event.unsigned(self.cpu.as_ref()?).map(|cpu| cpu as u32)
    }
}

impl ThreadContexts {
    /// Tid, pid and name.
    #[inline]
    fn read<'e>(&self, event: &Event<'e>) -> (Option<i32>, Option<i32>, Option<&'e [u8]>) {
        let number = |field: &Option<FieldRef>| field.as_ref().and_then(|field| int32(event, field));
        let comm = self.comm.as_ref().and_then(|field| event.text(field));
        (number(&self.tid), number(&self.pid), comm)
    }
}

/// Finds fields of a class by name.
struct Fields<'c> {
    stream: &'c StreamPlan,
    class: &'c EventPlan,
}

impl Fields<'_> {
    fn context(&self, name: &str) -> Option<FieldRef> {
        self.class.context_field(self.stream, name)
    }

    fn get(&self, name: &str) -> Option<FieldRef> {
        self.class.payload_field(self.stream, &[name])
    }
}

#[inline]
fn int32(event: &Event<'_>, field: &FieldRef) -> Option<i32> {
    event.signed(field).map(|number| number as i32)
}

/// A text field, empty if it cannot be read.
#[inline]
fn text<'e>(event: &Event<'e>, field: &FieldRef) -> &'e [u8] {
    event.text(field).unwrap_or_default()
}

/// The CPU that a packet is of, if packets record it.
pub fn cpu_of(trace: &Trace, stream: usize, packet: &Packet) -> Option<u32> {
    let mut finder = FindCpu::default();
    trace.visit_packet_context(stream, packet, &mut finder);
    finder.cpu
}

#[derive(Default)]
struct FindCpu {
    is_next: bool,
    cpu: Option<u32>,
}

impl Visitor for FindCpu {
    fn member(&mut self, _: usize, name: &FieldName) {
        self.is_next = name.shown() == "cpu_id";
    }

    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        if self.is_next {
            self.cpu = u32::try_from(value).ok();
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.unsigned(class, value as u64);
    }
}
