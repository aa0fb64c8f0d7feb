//! Writes the events of a recording as a CTF trace: one stream for each CPU of a buffer.

use std::collections::HashMap;
use std::path::Path;

use isochrone_ctf::Value;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::write::{PacketHead, PacketWriter, StreamFile, TraceDirectory};

use crate::Imported;
use crate::bytes::until_nul;
use crate::calls::{self, End};
use crate::class::{Class, Damaged};
use crate::error::ImportError;
use crate::metadata;
use crate::packet;
use crate::recording::{Recorded, Sink};
use crate::threads::{self, Dump, ThreadList};

/// Packets are ended beyond this size, bits.
const PACKET_BITS: u64 = 256 << 13;
/// How packets of CTF begin.
const MAGIC: u64 = 0xc1fc_1fc1;

/// What becomes of the events of a recording.
#[derive(Debug)]
pub(crate) struct Classes {
    /// By the number of a format: the index of the class of its events, or the name of a device in them.
    by_id: Vec<Kind>,
    all: Vec<Class>,
    /// Indices of classes by the number of a call, and of calls that are in no table.
    calls: Vec<(HashMap<u32, usize>, usize)>,
    /// The index of the first class of a dump, if threads are listed.
    dump: Option<usize>,
    /// The index of the first class whose events come as they are written.
    written: usize,
    pub(crate) metadata: String,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// There is no such format.
    None,
    /// An event that is written.
    Class(usize),
    /// An end of a call, by its number: index of the table of classes, and where a record has the number.
    Call(usize, usize),
    /// A new thread: index of the class without its process, behind which that with it is; where a record has
    /// the thread's number.
    Fork(usize, usize),
    /// One whose packet another one has the headers of: where a record has its address, and the device's
    /// name.
    Device(usize, Option<usize>),
}

impl Classes {
    /// The classes of a recording. `written`: those whose events come as they are written.
    pub(crate) fn new(recorded: Recorded<'_>, written: Vec<Class>) -> Result<Self, ImportError> {
        let probes = recorded.formats.iter().filter_map(packet::probe);
        let probed: Vec<_> = probes.map(|probe| probe.direction).collect();
        let mut by_id = vec![Kind::None; usize::from(u16::MAX) + 1];
        let (mut all, mut calls) = (Vec::new(), Vec::new());
        // The tracer's own are of its other uses: marks and stacks.
        for format in recorded.formats.iter().filter(|format| format.system != "ftrace") {
            let offset = |name: &str| format.field(name).map(|field| field.offset);
            if let Some((end, number)) = End::of(format).zip(offset("id")) {
                let mut add = |call: &str| {
                    all.push(Class::of_call(format, end, call, recorded.machine)?);
                    Some(all.len() - 1)
                };
                let by_number = calls::of_machine(&recorded.host.machine);
                let by_number: HashMap<_, _> =
                    by_number.filter_map(|(number, call)| Some((number, add(call)?))).collect();
                if let Some(unknown) = add(calls::UNKNOWN) {
                    by_id[usize::from(format.id)] = Kind::Call(calls.len(), number);
                    calls.push((by_number, unknown));
                }
                continue;
            }
            by_id[usize::from(format.id)] = match Class::new(format, recorded.machine, &probed) {
                Some(class) => {
                    all.push(class);
                    let index = all.len() - 1;
                    match threads::child(format).filter(|_| recorded.lists_threads) {
                        Some(child) => {
                            all.extend(
                                Class::new(format, recorded.machine, &[]).map(Class::with_child_process),
                            );
                            Kind::Fork(index, child)
                        }
                        None => Kind::Class(index),
                    }
                }
                None => offset("skbaddr").map_or(Kind::None, |skb| Kind::Device(skb, offset("name"))),
            };
        }
        if all.is_empty() && written.is_empty() {
            return Err(ImportError::NoEvents);
        }
        let dump = recorded.lists_threads.then_some(all.len());
        if recorded.lists_threads {
            all.extend(threads::dump(recorded.machine));
        }
        let first_written = all.len();
        all.extend(written);
        let Recorded { machine, host, clock, .. } = recorded;
        let metadata = metadata::text(machine, host, clock, all.iter());
        Ok(Self { by_id, all, calls, dump, written: first_written, metadata })
    }
}

/// A trace that is being written.
pub(crate) struct TraceWriter<'p> {
    recorded: Recorded<'p>,
    classes: &'p Classes,
    plan: &'p Plan,
    directory: TraceDirectory,
    streams: Vec<Stream<'p>>,
    /// Indices of streams, by instance and CPU.
    known: HashMap<(String, u32), usize>,
    now: usize,
    /// An event's contexts and fields.
    body: Vec<u8>,
    /// The threads that are still to be written, before the next event.
    list: Option<ThreadList>,
    /// Processes of new threads whose events are still to come.
    forked: HashMap<i32, i32>,
    imported: Imported,
}

/// The stream of a CPU.
struct Stream<'p> {
    cpu: u32,
    writer: PacketWriter<'p>,
    file: StreamFile,
    is_open: bool,
    /// Time of the last event.
    last: u64,
    sequence: u64,
    discarded: u64,
    /// Events were lost that no packet has counted yet.
    is_unreported: bool,
    /// The last packet that was seen with its device: its address, and the name of that.
    device: (u64, Vec<u8>),
}

impl<'p> TraceWriter<'p> {
    pub(crate) fn create(
        path: &Path,
        recorded: Recorded<'p>,
        classes: &'p Classes,
        plan: &'p Plan,
    ) -> Result<Self, ImportError> {
        Ok(Self {
            recorded,
            classes,
            plan,
            directory: TraceDirectory::begin(path)?,
            streams: Vec::new(),
            known: HashMap::new(),
            now: 0,
            body: Vec::new(),
            list: None,
            forked: HashMap::new(),
            imported: Imported::default(),
        })
    }

    /// Ends all streams, and makes the directory a trace.
    pub(crate) fn finish(mut self) -> Result<Imported, ImportError> {
        // What is lost behind the last event of a CPU may be anything until the others end.
        let end = self.streams.iter().map(|stream| stream.last).max().unwrap_or_default();
        for mut stream in self.streams {
            stream.close()?;
            if stream.is_unreported {
                stream.open(end)?;
                stream.close()?;
            }
            stream.file.close()?;
        }
        if self.imported.events == 0 {
            return Err(ImportError::NoEvents);
        }
        self.directory.metadata(&self.classes.metadata)?;
        self.imported.are_calls_numbers = !self.classes.calls.is_empty();
        self.imported.has_unix_time = self.recorded.clock.offset.is_some();
        self.imported.is_clock_of_cpu = self.recorded.clock.is_of_cpu;
        self.recorded.clock.name.clone_into(&mut self.imported.clock);
        Ok(self.imported)
    }

    /// Writes the event of a class with what is in the body.
    fn write(&mut self, index: usize, ns: u64) -> Result<(), ImportError> {
        let stream = &mut self.streams[self.now];
        if stream.is_open && stream.writer.content_bits() >= PACKET_BITS {
            stream.close()?;
        }
        stream.open(ns)?;
        stream.writer.event(&self.plan.streams[0].events[index], ns, None)?;
        stream.writer.body_bytes(&self.body);
        stream.last = ns;
        Ok(())
    }

    /// Writes the list of threads that is still to be written, before an event of the CPU that is not
    /// before it. The thread of the event ran then, too: a switch is an event of the thread that it leaves.
    fn dump_list(&mut self, ns: u64, thread: Result<u32, Damaged>) -> Result<(), ImportError> {
        let is_due = |list: &ThreadList| list.at.is_none_or(|at| at <= ns);
        let Ok(thread) = thread else { return Ok(()) };
        let Some(list) = self.list.take_if(|list| is_due(list)) else { return Ok(()) };
        let at = list.at.unwrap_or(ns).max(self.streams[self.now].last);
        self.dump(at, thread, &list)
    }

    /// Writes a list of threads, while a thread runs.
    fn dump(&mut self, ns: u64, thread: u32, list: &ThreadList) -> Result<(), ImportError> {
        let Some(first) = self.classes.dump else { return Ok(()) };
        let machine = self.recorded.machine;
        let mut put = |event: Dump, fields: &dyn Fn(&mut Vec<u8>)| {
            self.body.clear();
            self.body.extend_from_slice(&machine.order.four(thread));
            fields(&mut self.body);
            self.write(first + event as usize, ns)
        };
        let whole = list.is_complete();
        if whole {
            put(Dump::Start, &|_| ())?;
        }
        for thread in &list.threads {
            put(Dump::Thread, &|out| thread.fields(machine, out))?;
        }
        if whole {
            put(Dump::End, &|_| ())?;
        }
        Ok(())
    }

    /// Remembers the device of a packet.
    fn device(&mut self, record: &[u8], skb: usize, name: Option<usize>) {
        let order = self.recorded.machine.order;
        let word = |at: usize, size: usize| record.get(at..at + size).map(|bytes| order.number(bytes));
        let (Some(skb), Some(at)) = (word(skb, self.recorded.machine.long), name.and_then(|at| word(at, 4)))
        else {
            return;
        };
        let name = record.get((at & 0xffff) as usize..).map(until_nul).unwrap_or_default();
        let known = &mut self.streams[self.now].device;
        known.0 = skb;
        known.1.clear();
        known.1.extend_from_slice(name);
    }
}

impl Sink for TraceWriter<'_> {
    fn stream(&mut self, instance: &str, cpu: u32) -> Result<(), ImportError> {
        let is_now = self.streams.get(self.now).is_some_and(|stream| stream.cpu == cpu);
        if is_now && instance.is_empty() {
            return Ok(());
        }
        if let Some(&index) = self.known.get(&(instance.to_owned(), cpu)) {
            self.now = index;
            return Ok(());
        }
        // Names of instances are those of directories; only their number matters in the trace.
        let number = self.known.keys().filter(|(name, _)| name != instance).map(|(name, _)| name);
        let number = number.collect::<std::collections::BTreeSet<_>>().len();
        let name = if instance.is_empty() { format!("ch_{cpu}") } else { format!("instance{number}_{cpu}") };
        self.now = self.streams.len();
        self.known.insert((instance.to_owned(), cpu), self.now);
        self.streams.push(Stream {
            cpu,
            writer: PacketWriter::new(self.plan, 0),
            file: self.directory.stream_file(&name)?,
            is_open: false,
            last: 0,
            sequence: 0,
            discarded: 0,
            is_unreported: false,
            device: (0, Vec::new()),
        });
        Ok(())
    }

    fn event(&mut self, ns: u64, record: &[u8]) -> Result<(), ImportError> {
        let order = self.recorded.machine.order;
        let id = record.get(..2).map_or(0, |bytes| order.number(bytes) as usize);
        let mut process = None;
        let index = match self.classes.by_id[id] {
            Kind::Class(index) => index,
            Kind::Call(table, at) => {
                let number = record.get(at..at + 4).map(|bytes| order.number(bytes) as u32);
                let (by_number, unknown) = &self.classes.calls[table];
                number.and_then(|number| by_number.get(&number)).copied().unwrap_or(*unknown)
            }
            Kind::Fork(index, at) => {
                let child = record.get(at..at + 4).map(|bytes| order.number(bytes) as i32);
                process = child.and_then(|child| self.forked.remove(&child));
                index + usize::from(process.is_some())
            }
            Kind::Device(skb, name) => {
                self.device(record, skb, name);
                return Ok(());
            }
            Kind::None => {
                self.imported.unknown += 1;
                return Ok(());
            }
        };
        let class = &self.classes.all[index];
        self.dump_list(ns, class.thread_of(record))?;
        let stream = &self.streams[self.now];
        let packet = class.packet.and_then(|at| record.get(at..at + 8)).map(|it| order.number(it));
        let device = if packet == Some(stream.device.0) { &*stream.device.1 } else { b"" };
        self.body.clear();
        let is_back = ns < stream.last;
        if is_back || class.put(record, device, &mut self.body).is_err() {
            self.imported.damaged += 1;
            return self.lost(Some(1));
        }
        self.body.extend(process.iter().flat_map(|&process| order.four(process as u32)));
        self.write(index, ns)?;
        self.imported.events += 1;
        Ok(())
    }

    fn written(&mut self, ns: u64, class: usize, body: &[u8]) -> Result<(), ImportError> {
        if ns < self.streams[self.now].last {
            self.imported.damaged += 1;
            return self.lost(Some(1));
        }
        let thread = body.get(..4).map(|bytes| self.recorded.machine.order.number(bytes) as u32);
        self.dump_list(ns, thread.ok_or(Damaged))?;
        self.body.clear();
        self.body.extend_from_slice(body);
        self.write(self.classes.written + class, ns)?;
        self.imported.events += 1;
        Ok(())
    }

    fn threads(&mut self, list: ThreadList) {
        self.list = Some(list);
    }

    fn forked(&mut self, tid: i32, pid: i32) {
        self.forked.insert(tid, pid);
    }

    fn lost(&mut self, count: Option<u64>) -> Result<(), ImportError> {
        let stream = &mut self.streams[self.now];
        stream.close()?;
        stream.discarded += count.unwrap_or(1);
        stream.is_unreported = true;
        self.imported.lost += count.unwrap_or(1);
        self.imported.uncounted += u64::from(count.is_none());
        Ok(())
    }
}

impl Stream<'_> {
    /// Begins a packet, unless one is open.
    fn open(&mut self, at: u64) -> Result<(), ImportError> {
        if self.is_open {
            return Ok(());
        }
        let value = |name: &str| match name {
            "packet_seq_num" => self.sequence,
            "events_discarded" => self.discarded,
            "cpu_id" => self.cpu.into(),
            _ => 0,
        };
        let context = metadata::CONTEXT.map(|name| Value::Unsigned(value(name)));
        let header = [MAGIC, 0].map(Value::Unsigned);
        self.writer.begin(PacketHead {
            header: Some(Value::Struct(header.into())),
            context: Some(Value::Struct(context.into())),
            begin: at,
        })?;
        self.is_open = true;
        self.is_unreported = false;
        self.sequence += 1;
        self.last = self.last.max(at);
        Ok(())
    }

    /// Ends the packet that is open.
    fn close(&mut self) -> Result<(), ImportError> {
        if std::mem::take(&mut self.is_open) {
            let packet = self.writer.finish(self.last, 0)?;
            self.file.append(&packet)?;
        }
        Ok(())
    }
}
