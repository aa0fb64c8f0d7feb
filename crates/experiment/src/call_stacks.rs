//! Stacks of calls of functions, as programs record them that are instrumented by their compiler
//! (`-finstrument-functions`, with LTTng's `liblttng-ust-cyg-profile`): how long each stack took, waits
//! included.

use isochrone_ctf::{Event, FieldRef};
use isochrone_time::{UnixNs, Window};
use rustc_hash::FxHashMap;

/// How the events of functions are called; behind it are a variant, `:` and entry or exit.
pub const FUNCTION_EVENTS: &str = "lttng_ust_cyg_profile";
/// How the events are called that say what programs are, and where they and libraries are mapped.
pub const MAPPING_EVENTS: &str = "lttng_ust_statedump:";

/// Functions of a stack that are followed; what is called inside more is time of the last of them.
const MAX_DEPTH: usize = 512;

/// A class of events: trace, stream class, event class.
type Class = (usize, usize, usize);

/// Stacks of all threads, and their times. Memory is linear in the stacks that differ, and in threads.
#[derive(Debug)]
pub struct CallStacks {
    /// Time outside of it does not count.
    window: Window<UnixNs>,
    classes: FxHashMap<Class, Kind>,
    origins: Vec<Origin>,
    /// By trace: chunks of one session have one origin.
    origin_of: FxHashMap<usize, usize>,
    processes: Vec<Process>,
    /// By origin and number: the process that has it now.
    process_of: FxHashMap<(usize, Number), usize>,
    threads: FxHashMap<(usize, i64), Thread>,
    nodes: Vec<Node>,
    node_of: FxHashMap<(usize, Frame), usize>,
    counts: StackCounts,
}

/// What of the events of functions could not be used.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StackCounts {
    /// Entries and exits of functions.
    pub events: u64,
    /// Those without the context that names the thread.
    pub of_no_thread: u64,
    /// Exits of functions whose entry is not there.
    pub not_entered: u64,
    /// Functions whose exit is not there although that of one is that called them.
    pub not_left: u64,
    /// Functions that had not ended when their thread recorded its last event: their time is counted up to
    /// it.
    pub open: u64,
    /// Calls below 512 functions, which are not followed.
    pub too_deep: u64,
    /// Processes of which several sessions recorded functions at one time: their times would add up.
    pub recorded_twice: u64,
}

/// Where events come from: a host, and a session of it.
#[derive(Debug)]
struct Origin {
    host: String,
    /// That of its traces; a trace without one is a session of its own.
    uuid: Option<u128>,
}

/// The number of a process, or of a thread of which no process is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Number {
    Process(i64),
    Thread(i64),
}

#[derive(Debug)]
enum Kind {
    Entry {
        thread: Ids,
        function: FieldRef,
    },
    /// `function`: the fast variant records none.
    Exit {
        thread: Ids,
        function: Option<FieldRef>,
    },
    Binary {
        process: Option<FieldRef>,
        base: FieldRef,
        size: FieldRef,
        path: FieldRef,
    },
    /// What a program is called, as it says of itself when it starts.
    Program {
        process: Option<FieldRef>,
        name: FieldRef,
    },
    Other,
}

/// The contexts that name a thread.
#[derive(Debug)]
struct Ids {
    thread: Option<FieldRef>,
    process: Option<FieldRef>,
    program: Option<FieldRef>,
}

#[derive(Debug)]
struct Process {
    /// The index of its origin.
    origin: usize,
    number: Number,
    program: Option<String>,
    /// Whether that is what the program says: a context has the name of a thread.
    is_named: bool,
    /// The times of its first and last entry or exit.
    recorded: Option<(UnixNs, UnixNs)>,
    /// Address, size and path of what is mapped.
    binaries: Vec<(u64, u64, String)>,
}

#[derive(Debug)]
struct Thread {
    /// The nodes of the functions that it is in, from the outermost on, with their addresses. Below
    /// [`MAX_DEPTH`] it is the last of them.
    stack: Vec<(usize, u64)>,
    root: usize,
    last: UnixNs,
}

/// A frame of a stack below which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    /// The index of a process.
    Process(usize),
    /// The address of a function.
    Function(u64),
}

#[derive(Debug)]
struct Node {
    below: Option<usize>,
    frame: Frame,
    /// Time of this stack itself, ns.
    own: u64,
}

/// A function of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'s> {
    /// Its address.
    pub address: u64,
    /// What is mapped there, and the offset in it, where the program recorded it (`lttng_ust_statedump`).
    pub binary: Option<(&'s str, u64)>,
}

impl CallStacks {
    /// No stacks yet. Time outside of a window does not count; events before it are needed all the same.
    pub fn new(window: Window<UnixNs>) -> Self {
        Self {
            window,
            classes: FxHashMap::default(),
            origins: Vec::new(),
            origin_of: FxHashMap::default(),
            processes: Vec::new(),
            process_of: FxHashMap::default(),
            threads: FxHashMap::default(),
            nodes: Vec::new(),
            node_of: FxHashMap::default(),
            counts: StackCounts::default(),
        }
    }

    /// Adds an event of a trace; those of each thread in the order of their times.
    pub fn add(&mut self, source: usize, host_name: &str, at: UnixNs, event: &Event<'_>) {
        let stream_class = event.trace().streams()[event.stream()].class;
        let class = (source, stream_class, event.class().index);
        let origin = *self.origin_of.entry(source).or_insert_with(|| {
            let uuid = event.trace().schema().uuid.map(|uuid| uuid.as_u128());
            let is_it = |it: &Origin| uuid.is_some() && (it.host.as_str(), it.uuid) == (host_name, uuid);
            self.origins.iter().position(is_it).unwrap_or_else(|| {
                self.origins.push(Origin { host: host_name.to_owned(), uuid });
                self.origins.len() - 1
            })
        });
        match self.classes.entry(class).or_insert_with(|| Kind::of(event)) {
            Kind::Other => {}
            Kind::Binary { process, base, size, path } => {
                let pid = process.as_ref().and_then(|field| event.signed(field));
                let found = (event.unsigned(base), event.unsigned(size), event.text(path));
                let (Some(pid), (Some(base), Some(size), Some(path))) = (pid, found) else { return };
                let path = String::from_utf8_lossy(path).into_owned();
                let number = Number::Process(pid);
                let process = process_of(&mut self.processes, &mut self.process_of, (origin, number));
                self.processes[process].binaries.push((base, size, path));
            }
            Kind::Program { process, name } => {
                let pid = process.as_ref().and_then(|field| event.signed(field));
                let (Some(pid), Some(name)) = (pid, event.text(name)) else { return };
                let name = String::from_utf8_lossy(name).into_owned();
                self.begins(origin, Number::Process(pid), name);
            }
            Kind::Entry { thread, function } => {
                self.counts.events += 1;
                let Some(address) = event.unsigned(function) else { return };
                match thread.of(event) {
                    Some(ids) => self.enter(origin, &ids, at, address),
                    None => self.counts.of_no_thread += 1,
                }
            }
            Kind::Exit { thread, function } => {
                self.counts.events += 1;
                let address = function.as_ref().and_then(|field| event.unsigned(field));
                match thread.of(event) {
                    Some(ids) => self.leave(origin, &ids, at, address),
                    None => self.counts.of_no_thread += 1,
                }
            }
        }
    }

    /// A program says its name. Another one than before was executed under the same number: it begins with
    /// no functions and no mappings.
    fn begins(&mut self, origin: usize, number: Number, name: String) {
        let mut index = process_of(&mut self.processes, &mut self.process_of, (origin, number));
        let before = &self.processes[index];
        if before.is_named && before.program.as_ref() != Some(&name) {
            self.process_of.remove(&(origin, number));
            index = process_of(&mut self.processes, &mut self.process_of, (origin, number));
        }
        let process = &mut self.processes[index];
        (process.program, process.is_named) = (Some(name), true);
    }

    fn enter(&mut self, origin: usize, ids: &ThreadIds<'_>, at: UnixNs, address: u64) {
        let key = self.thread(origin, ids, at);
        let Some(thread) = self.threads.get_mut(&key) else { return };
        let mut at = thread.stack.last().map_or(thread.root, |(node, _)| *node);
        match thread.stack.len() < MAX_DEPTH {
            true => at = node(&mut self.nodes, &mut self.node_of, Some(at), Frame::Function(address)),
            false => self.counts.too_deep += 1,
        }
        thread.stack.push((at, address));
    }

    fn leave(&mut self, origin: usize, ids: &ThreadIds<'_>, at: UnixNs, address: Option<u64>) {
        let key = self.thread(origin, ids, at);
        let Some(thread) = self.threads.get_mut(&key) else { return };
        let entered = match address {
            Some(address) => thread.stack.iter().rposition(|(_, entered)| *entered == address),
            None => thread.stack.len().checked_sub(1),
        };
        match entered {
            Some(index) => {
                self.counts.not_left += (thread.stack.len() - 1 - index) as u64;
                thread.stack.truncate(index);
            }
            None => self.counts.not_entered += 1,
        }
    }

    /// The thread of an event, with its time up to then.
    fn thread(&mut self, origin: usize, ids: &ThreadIds<'_>, at: UnixNs) -> (usize, i64) {
        let number = ids.process.map_or(Number::Thread(ids.thread), Number::Process);
        let process = process_of(&mut self.processes, &mut self.process_of, (origin, number));
        let known = &mut self.processes[process];
        if let (None, Some(name)) = (&known.program, ids.program) {
            known.program = Some(String::from_utf8_lossy(name).into_owned());
        }
        known.recorded = Some((known.recorded.map_or(at, |(first, _)| first), at));
        let root = node(&mut self.nodes, &mut self.node_of, None, Frame::Process(process));
        let key = (process, ids.thread);
        let thread = self.threads.entry(key).or_insert(Thread { stack: Vec::new(), root, last: at });
        if let Some((node, _)) = thread.stack.last() {
            let (start, end) = (thread.last.max(self.window.start), at.min(self.window.end));
            self.nodes[*node].own += u64::try_from(end.saturating_since(start)).unwrap_or(0);
        }
        thread.last = at;
        key
    }

    /// What of the events could not be used.
    pub fn counts(&self) -> StackCounts {
        let open = self.threads.values().map(|thread| thread.stack.len() as u64).sum();
        StackCounts { open, recorded_twice: self.recorded_twice(), ..self.counts }
    }

    fn recorded_twice(&self) -> u64 {
        let recorded = self.processes.iter().filter_map(|process| {
            let (first, last) = process.recorded?;
            Some((&self.origins[process.origin].host, process.number, first, last, process.origin))
        });
        let mut recorded: Vec<_> = recorded.collect();
        recorded.sort_unstable();
        let is_twice = |pair: &&[(&String, Number, UnixNs, UnixNs, usize)]| {
            let [(host, number, _, last, origin), (next, same, first, _, other)] = pair else { return false };
            (host, number) == (next, same) && first <= last && origin != other
        };
        recorded.windows(2).filter(is_twice).count() as u64
    }

    /// All stacks with their own times, ns: the host, the program if it is known, and the functions from the
    /// outermost on.
    pub fn each(&self, mut with: impl FnMut(&str, Option<&str>, &[Function<'_>], u64)) {
        for node in self.nodes.iter().filter(|node| node.own > 0) {
            let mut addresses = Vec::new();
            let below = |node: &&Node| Some(&self.nodes[node.below?]);
            let root = std::iter::successors(Some(node), below).find_map(|node| match node.frame {
                Frame::Process(index) => Some(index),
                Frame::Function(address) => {
                    addresses.push(address);
                    None
                }
            });
            let Some(process) = root.map(|index| &self.processes[index]) else { continue };
            let functions: Vec<Function<'_>> =
                addresses.iter().rev().map(|&address| process.function(address)).collect();
            with(&self.origins[process.origin].host, process.program.as_deref(), &functions, node.own);
        }
    }
}

fn process_of(
    processes: &mut Vec<Process>,
    process_of: &mut FxHashMap<(usize, Number), usize>,
    key: (usize, Number),
) -> usize {
    *process_of.entry(key).or_insert_with(|| {
        let (origin, number) = key;
        let (program, is_named, recorded, binaries) = (None, false, None, Vec::new());
        processes.push(Process { origin, number, program, is_named, recorded, binaries });
        processes.len() - 1
    })
}

fn node(
    nodes: &mut Vec<Node>,
    node_of: &mut FxHashMap<(usize, Frame), usize>,
    below: Option<usize>,
    frame: Frame,
) -> usize {
    *node_of.entry((below.unwrap_or(usize::MAX), frame)).or_insert_with(|| {
        nodes.push(Node { below, frame, own: 0 });
        nodes.len() - 1
    })
}

impl Process {
    fn function(&self, address: u64) -> Function<'_> {
        // The last one that was mapped there.
        let found = self.binaries.iter().rev().find_map(|(base, size, path)| {
            let offset = address.checked_sub(*base).filter(|offset| offset < size)?;
            Some((path.as_str(), offset))
        });
        Function { address, binary: found }
    }
}

/// The thread of an event.
struct ThreadIds<'e> {
    thread: i64,
    process: Option<i64>,
    program: Option<&'e [u8]>,
}

impl Ids {
    fn of_class(event: &Event<'_>) -> Self {
        let context = |name| event.class().context_field(event.stream_plan(), name);
        Self { thread: context("vtid"), process: context("vpid"), program: context("procname") }
    }

    fn of<'e>(&self, event: &Event<'e>) -> Option<ThreadIds<'e>> {
        let number = |field: &Option<FieldRef>| event.signed(field.as_ref()?);
        let program = self.program.as_ref().and_then(|field| event.text(field));
        Some(ThreadIds { thread: number(&self.thread)?, process: number(&self.process), program })
    }
}

impl Kind {
    fn of(event: &Event<'_>) -> Self {
        let (class, stream) = (event.class(), event.stream_plan());
        let field = |name| class.payload_field(stream, &[name]);
        let name = event.name().unwrap_or_default();
        let of_function = name.strip_prefix(FUNCTION_EVENTS);
        match of_function.map(|rest| rest.trim_start_matches("_fast")) {
            Some(":func_entry") => match field("addr") {
                Some(function) => Self::Entry { thread: Ids::of_class(event), function },
                None => Self::Other,
            },
            Some(":func_exit") => Self::Exit { thread: Ids::of_class(event), function: field("addr") },
            _ => Self::of_mapping(name, event),
        }
    }

    /// Of the events by which a program says what it is, and what is mapped where.
    fn of_mapping(name: &str, event: &Event<'_>) -> Self {
        let (class, stream) = (event.class(), event.stream_plan());
        let field = |name| class.payload_field(stream, &[name]);
        let process = class.context_field(stream, "vpid");
        match name.strip_prefix(MAPPING_EVENTS) {
            Some("procname") => field("procname").map_or(Self::Other, |name| Self::Program { process, name }),
            Some("bin_info") => match (field("baddr"), field("memsz"), field("path")) {
                (Some(base), Some(size), Some(path)) => Self::Binary { process, base, size, path },
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}
