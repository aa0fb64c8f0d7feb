//! Stacks of calls that were recorded with events, by how many events had them: of samples by perf, and of
//! events of LTTng's kernel tracer with the contexts `callstack_kernel` and `callstack_user`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use isochrone_ctf::schema::{IntegerClass, StructClass, shown_name};
use isochrone_ctf::{Event, FieldRef, Trace, Visitor};
use rustc_hash::FxHashMap;

/// The contexts that hold a stack, innermost address first.
const STACK_CONTEXTS: [&str; 2] = ["callstack_kernel", "callstack_user"];

/// How the kernel ends a stack that is shorter than there was room for.
const END: u64 = u64::MAX;

/// Counts of events by their stacks. Memory is linear in the stacks that differ and in what is mapped.
#[derive(Debug, Default)]
pub struct SampledStacks {
    /// By trace, stream class and event class.
    classes: FxHashMap<(usize, usize, usize), Kind>,
    /// By trace and number of a process.
    processes: FxHashMap<(usize, i64), Rc<Mappings>>,
    files: Vec<MappedFile>,
    file_of: BTreeMap<MappedFile, usize>,
    counts: BTreeMap<Stack, u64>,
}

/// Where events were recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Stack {
    host: String,
    /// The name of the thread.
    program: Option<String>,
    event: String,
    /// Innermost first: those of the kernel before those of the program.
    frames: Vec<Frame>,
}

/// A file that is mapped, by what perf says of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedFile {
    /// Its path on its host, or a name in brackets of what is none.
    pub path: String,
    /// Its build ID in hexadecimal digits, where it is known.
    pub build_id: Option<String>,
}

/// A call of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// Where the instruction is.
    pub location: Location,
    /// Whether it is where a call returns to, which is behind the call.
    pub is_return: bool,
}

/// Where an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// At an address of the kernel.
    Kernel(u64),
    /// In a file that is mapped: its index, and the offset in the file, bytes.
    File(usize, u64),
    /// At an address of a program, of which no mapping is known.
    Address(u64),
}

/// Events of one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampled<'s> {
    /// Where they were recorded.
    pub host: &'s str,
    /// The name of their thread, if it is known.
    pub program: Option<&'s str>,
    /// What the events are called.
    pub event: &'s str,
    /// Their calls, innermost first: those of the kernel before those of the program.
    pub frames: &'s [Frame],
    /// How many there are.
    pub count: u64,
}

#[derive(Debug)]
enum Kind {
    Stack(Box<StackFields>),
    Map(Box<MapFields>),
    Fork { pid: FieldRef, parent: FieldRef },
    Exec { pid: FieldRef },
    Other,
}

#[derive(Debug)]
struct StackFields {
    kernel: Option<FieldRef>,
    user: Option<FieldRef>,
    pid: Option<FieldRef>,
    procname: Option<FieldRef>,
}

#[derive(Debug)]
struct MapFields {
    pid: FieldRef,
    /// Start, size, and offset in the file.
    range: [FieldRef; 3],
    path: FieldRef,
    build_id: FieldRef,
}

/// What is mapped in a process: ranges of addresses that do not overlap, by their starts.
#[derive(Debug, Clone, Default)]
struct Mappings(BTreeMap<u64, Mapping>);

#[derive(Debug, Clone, Copy)]
struct Mapping {
    end: u64,
    file: usize,
    /// Where its start is in the file.
    offset: u64,
}

impl SampledStacks {
    /// Whether some events of a trace have stacks: of the kernel, of programs.
    pub fn recorded(trace: &Trace) -> [bool; 2] {
        STACK_CONTEXTS.map(|name| {
            let has = |context: &Option<StructClass>| {
                let mut members = context.iter().flat_map(|context| &context.members);
                members.any(|member| shown_name(&member.name) == name)
            };
            let mut streams = trace.schema().streams.iter();
            streams.any(|it| has(&it.common_context) || it.events.iter().any(|it| has(&it.specific_context)))
        })
    }

    /// Adds an event of a trace, in the order of time. `is_counted`: else it only says what is mapped where,
    /// if it does.
    pub fn add(&mut self, source: usize, host: &str, event: &Event<'_>, is_counted: impl FnOnce() -> bool) {
        let stream_class = event.trace().streams()[event.stream()].class;
        let class = (source, stream_class, event.class().index);
        match self.classes.entry(class).or_insert_with(|| Kind::of(event)) {
            Kind::Other => {}
            Kind::Map(fields) => {
                let MapFields { pid, range, path, build_id } = &**fields;
                let Some(pid) = event.signed(pid) else { return };
                let [Some(start), Some(size), Some(offset)] = range.each_ref().map(|it| event.unsigned(it))
                else {
                    return;
                };
                let text = |field| event.text(field).map(|it| String::from_utf8_lossy(it).into_owned());
                let Some(path) = text(path) else { return };
                let build_id = text(build_id).filter(|it| !it.is_empty());
                let file = MappedFile { path, build_id };
                let file = *self.file_of.entry(file).or_insert_with_key(|file| {
                    self.files.push(file.clone());
                    self.files.len() - 1
                });
                let mapping = Mapping { end: start.saturating_add(size), file, offset };
                Rc::make_mut(self.processes.entry((source, pid)).or_default()).map(start, mapping);
            }
            Kind::Fork { pid, parent } => {
                let (Some(pid), Some(parent)) = (event.signed(pid), event.signed(parent)) else { return };
                let mappings = self.processes.get(&(source, parent)).cloned().unwrap_or_default();
                self.processes.insert((source, pid), mappings);
            }
            Kind::Exec { pid } => {
                if let Some(pid) = event.signed(pid) {
                    self.processes.remove(&(source, pid));
                }
            }
            Kind::Stack(fields) => {
                let StackFields { kernel, user, pid, procname } = &**fields;
                if !is_counted() {
                    return;
                }
                let addresses = |field: &Option<FieldRef>| {
                    let mut addresses = Addresses(Vec::new());
                    let read = field.as_ref().and_then(|field| event.visit_field(field, &mut addresses));
                    addresses.0.retain(|address| *address != END);
                    read.map(|()| addresses.0).unwrap_or_default()
                };
                let (kernel, user) = (addresses(kernel), addresses(user));
                let mappings = pid.as_ref().and_then(|pid| event.signed(pid));
                let mappings = mappings.and_then(|pid| self.processes.get(&(source, pid)));
                let frame = |location: &dyn Fn(u64) -> Location, (index, address): (usize, u64)| Frame {
                    location: location(address),
                    is_return: index > 0,
                };
                let of_program = |address| {
                    let found = mappings.and_then(|it| it.at(address));
                    found.unwrap_or(Location::Address(address))
                };
                let kernel = kernel.into_iter().enumerate().map(|it| frame(&Location::Kernel, it));
                let user = user.into_iter().enumerate().map(|it| frame(&of_program, it));
                let program = procname.as_ref().and_then(|field| event.text(field));
                let program = program.filter(|it| !it.is_empty());
                let stack = Stack {
                    host: host.to_owned(),
                    program: program.map(|it| String::from_utf8_lossy(it).into_owned()),
                    event: event.name().unwrap_or_default().to_owned(),
                    frames: kernel.chain(user).collect(),
                };
                *self.counts.entry(stack).or_default() += 1;
            }
        }
    }

    /// The file of a location.
    pub fn file(&self, index: usize) -> &MappedFile {
        &self.files[index]
    }

    /// Number of kinds of events that were counted, by their names.
    pub fn events(&self) -> usize {
        self.counts.keys().map(|stack| &stack.event).collect::<BTreeSet<_>>().len()
    }

    /// All stacks with the number of their events, in a fixed order.
    pub fn each(&self) -> impl Iterator<Item = Sampled<'_>> {
        self.counts.iter().map(|(stack, &count)| {
            let Stack { host, program, event, frames } = stack;
            Sampled { host, program: program.as_deref(), event, frames, count }
        })
    }
}

impl Mappings {
    /// Maps a file from a start on, in place of what was mapped there before. `O(log n)` but for what is
    /// replaced.
    fn map(&mut self, start: u64, mapping: Mapping) {
        let end = mapping.end;
        if end <= start {
            return;
        }
        // What reaches over the start, and over the end.
        let before = self.0.range(..start).next_back().map(|(&from, &it)| (from, it));
        let over_end = |(from, it): (u64, Mapping)| {
            (it.end > end).then(|| (end, Mapping { offset: it.offset.wrapping_add(end - from), ..it }))
        };
        let mut rest = None;
        if let Some((from, it)) = before.filter(|(_, it)| it.end > start) {
            rest = over_end((from, it));
            self.0.insert(from, Mapping { end: start, ..it });
        }
        while let Some((&from, &it)) = self.0.range(start..end).next() {
            rest = over_end((from, it));
            self.0.remove(&from);
        }
        self.0.extend(rest);
        self.0.insert(start, mapping);
    }

    fn at(&self, address: u64) -> Option<Location> {
        let (start, mapping) = self.0.range(..=address).next_back()?;
        let within = (address < mapping.end).then(|| address - start)?;
        Some(Location::File(mapping.file, mapping.offset.checked_add(within)?))
    }
}

impl Kind {
    fn of(event: &Event<'_>) -> Self {
        let (class, stream) = (event.class(), event.stream_plan());
        let field = |name| class.payload_field(stream, &[name]);
        let kind = match event.name() {
            Some("perf_mmap") => (|| {
                let range = [field("start")?, field("size")?, field("offset")?];
                let [pid, path, build_id] = [field("pid")?, field("path")?, field("build_id")?];
                Some(Self::Map(Box::new(MapFields { pid, range, path, build_id })))
            })(),
            Some("perf_fork") => {
                field("pid").zip(field("parent_pid")).map(|(pid, parent)| Self::Fork { pid, parent })
            }
            Some("perf_exec") => field("pid").map(|pid| Self::Exec { pid }),
            _ => {
                let context = |name| class.context_field(stream, name);
                let [kernel, user] = STACK_CONTEXTS.map(context);
                let has_stack = kernel.is_some() || user.is_some();
                let [pid, procname] = ["pid", "procname"].map(context);
                has_stack.then(|| Self::Stack(Box::new(StackFields { kernel, user, pid, procname })))
            }
        };
        kind.unwrap_or(Self::Other)
    }
}

/// Collects the elements of an array.
struct Addresses(Vec<u64>);

impl Visitor for Addresses {
    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        self.0.push(value);
    }

    fn signed(&mut self, _: &IntegerClass, value: i64) {
        self.0.push(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// An address is in what was mapped there last.
        #[test]
        fn the_last_mapping_counts(maps in prop::collection::vec((0_u64..40, 0_u64..20), 0..12)) {
            let mut mappings = Mappings::default();
            for (file, &(start, size)) in maps.iter().enumerate() {
                mappings.map(start, Mapping { end: start + size, file, offset: 1000 * file as u64 });
            }
            for address in 0..70 {
                let last = maps.iter().rposition(|(start, size)| (*start..start + size).contains(&address));
                let expect = last.map(|file| {
                    let (start, _) = maps[file];
                    Location::File(file, 1000 * file as u64 + address - start)
                });
                prop_assert_eq!(mappings.at(address), expect, "{:?} {}", maps, address);
            }
        }
    }
}
