//! Samples by perf, as LTTng would have recorded them: events with the contexts `pid`, `procname`,
//! `callstack_kernel` and `callstack_user`; and which files are mapped where, which addresses of programs
//! are understood by.

use std::collections::HashMap;

use linux_perf_data::linux_perf_event_reader::{
    AttrFlags, EventRecord, Mmap2FileId, PerfEventType, RawData, RawDataU64, SampleFormat, SampleRecord,
    SoftwareCounterType,
};
use linux_perf_data::{AttributeDescription, DsoKey, PerfFile};

use crate::bytes::hex;
use crate::class::{Class, Machine, integer};
use crate::error::ImportError;

/// Markers among the addresses of a stack, as `linux/perf_event.h` has them: what follows is of the kernel,
/// of a program, or of neither.
const KERNEL: u64 = -128_i64 as u64;
const USER: u64 = -512_i64 as u64;
const MARKERS: u64 = -4095_i64 as u64;

/// `PROT_EXEC` of `mmap`.
const PROT_EXEC: u32 = 4;

/// The kernel's thread that runs where no other does.
const IDLE: i32 = 0;

/// Names of the events that say what is mapped where, in the order of their classes, behind those of samples.
const MAPPING: [&str; 3] = ["perf_mmap", "perf_fork", "perf_exec"];

/// Which of them.
#[derive(Debug, Clone, Copy)]
enum Mapping {
    Map,
    Fork,
    Exec,
}

/// What is sampled in a recording, and the threads by their names.
#[derive(Debug)]
pub(crate) struct Samples {
    machine: Machine,
    /// By index of the attribute.
    sampled: Vec<Option<Sampled>>,
    /// Where a record of an attribute has the length of its stack, if it has one.
    lengths: Vec<Option<usize>>,
    /// Number of events that are sampled.
    count: usize,
    /// Names of threads, as far as perf said them.
    names: HashMap<i32, Vec<u8>>,
    /// Of files, where the record that maps one has none.
    build_ids: HashMap<DsoKey, Vec<u8>>,
    body: Vec<u8>,
}

/// An event that is sampled.
#[derive(Debug)]
struct Sampled {
    /// Index of its class among those of samples.
    class: usize,
    name: String,
    has_ip: bool,
    has_period: bool,
    /// Stacks of the kernel and of programs.
    has_stack: [bool; 2],
}

impl Samples {
    /// What some attributes sample.
    ///
    /// # Errors
    /// Records do not say when files were mapped, so that addresses may be in what was mapped before.
    pub(crate) fn new(machine: Machine, file: &PerfFile) -> Result<Self, ImportError> {
        let lengths = file.event_attributes().iter().map(length_of_stack).collect::<Result<_, _>>()?;
        let mut count = 0;
        let sampled = file.event_attributes().iter().map(|attribute| {
            let sampled = Sampled::of(attribute, count)?;
            count += 1;
            Some(sampled)
        });
        let sampled: Vec<Option<Sampled>> = sampled.collect();
        let is_timed =
            |attribute: &AttributeDescription| attribute.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        if count > 0 && !file.event_attributes().iter().all(is_timed) {
            return Err(ImportError::Unsaid("when files were mapped"));
        }
        let build_ids = file.build_ids()?.into_iter().map(|(key, file)| (key, file.build_id)).collect();
        Ok(Self { machine, sampled, lengths, count, names: HashMap::new(), build_ids, body: Vec::new() })
    }

    /// Whether nothing is sampled: what is mapped where is of no use then.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether records of an attribute are samples.
    pub(crate) fn is_sampled(&self, attribute: usize) -> bool {
        self.sampled.get(attribute).is_some_and(Option::is_some)
    }

    /// The classes of all events: of each that is sampled, and of mappings.
    pub(crate) fn classes(&self) -> Vec<Class> {
        if self.is_empty() {
            return Vec::new();
        }
        let (int, long, word) = (integer(4, true), integer(8, false), integer(4, false));
        let hex = "integer { size = 64; align = 8; signed = 0; base = 16; }";
        let sampled = self.sampled.iter().flatten().map(|sampled| {
            let mut context = format!("{int} _pid; string _procname; ");
            for (name, has) in ["callstack_kernel", "callstack_user"].into_iter().zip(sampled.has_stack) {
                if has {
                    context += &format!("{word} __{name}_length; {hex} _{name}[__{name}_length]; ");
                }
            }
            let ip = if sampled.has_ip { format!("{hex} _ip; ") } else { String::new() };
            let period = if sampled.has_period { format!("{long} _period; ") } else { String::new() };
            let mut class = Class::without_record(&sampled.name, ip + &period, self.machine);
            class.context = context;
            class
        });
        let fields = [
            format!("{int} _pid; {hex} _start; {hex} _size; {hex} _offset; string _path; string _build_id; "),
            format!("{int} _pid; {int} _parent_pid; "),
            format!("{int} _pid; "),
        ];
        let mapping = MAPPING
            .into_iter()
            .zip(fields)
            .map(|(name, text)| Class::without_record(name, text, self.machine));
        sampled.chain(mapping).collect()
    }

    /// Checks that a record has the whole stack that it says it has.
    pub(crate) fn check(&self, attribute: usize, record: RawData<'_>) -> Result<(), ImportError> {
        let Some(&Some(at)) = self.lengths.get(attribute) else { return Ok(()) };
        let length = record.get(at..at + 8).map(|bytes| self.machine.order.number(&bytes.as_slice()));
        match length {
            Some(length) if length <= record.len() as u64 / 8 => Ok(()),
            _ => Err(ImportError::Perf("a stack of calls is longer than its sample".to_owned())),
        }
    }

    /// The class of a sample and what its event holds.
    pub(crate) fn sample(
        &mut self,
        attribute: usize,
        cpu: u32,
        sample: &SampleRecord<'_>,
    ) -> Result<(usize, &[u8]), ImportError> {
        let unsaid = || ImportError::Unsaid("which thread they were recorded of");
        let Some(Some(sampled)) = self.sampled.get(attribute) else { return Err(unsaid()) };
        let (tid, pid) = sample.tid.zip(sample.pid).ok_or_else(unsaid)?;
        let order = self.machine.order;
        let out = &mut self.body;
        out.clear();
        out.extend_from_slice(&order.four(tid as u32));
        out.extend_from_slice(&order.four(pid as u32));
        match self.names.get(&tid) {
            _ if tid == IDLE => out.extend_from_slice(format!("swapper/{cpu}").as_bytes()),
            Some(name) => out.extend_from_slice(name),
            None => {}
        }
        out.push(0);
        let stacks = stacks(sample.callchain);
        for (stack, _) in stacks.iter().zip(sampled.has_stack).filter(|(_, has)| *has) {
            out.extend_from_slice(&order.four(stack.len() as u32));
            out.extend(stack.iter().flat_map(|&address| order.eight(address)));
        }
        for (number, has) in [(sample.ip, sampled.has_ip), (sample.period, sampled.has_period)] {
            if has {
                out.extend_from_slice(&order.eight(number.unwrap_or_default()));
            }
        }
        Ok((sampled.class, out))
    }

    /// The class of what a record says of mappings, the thread that it is of, and what its event holds.
    /// `None`: nothing of them. Remembers names of threads.
    pub(crate) fn mapping(&mut self, record: &EventRecord<'_>) -> Option<(usize, &[u8])> {
        self.body.clear();
        let which = match record {
            EventRecord::Mmap(map) if map.is_executable && map.pid >= 0 => {
                self.put(&[map.tid, map.pid]);
                let key = DsoKey::detect(&map.path.as_slice(), map.cpu_mode);
                self.put_file([map.address, map.length, map.page_offset], &map.path.as_slice(), key, None);
                Mapping::Map
            }
            EventRecord::Mmap2(map) if map.protection & PROT_EXEC != 0 && map.pid >= 0 => {
                self.put(&[map.tid, map.pid]);
                let build_id = match &map.file_id {
                    Mmap2FileId::BuildId(id) => Some(&**id),
                    Mmap2FileId::InodeAndVersion(_) => None,
                };
                let key = DsoKey::detect(&map.path.as_slice(), map.cpu_mode);
                let range = [map.address, map.length, map.page_offset];
                self.put_file(range, &map.path.as_slice(), key, build_id);
                Mapping::Map
            }
            EventRecord::Fork(fork) => {
                if let Some(name) = self.names.get(&fork.ptid).cloned() {
                    self.names.insert(fork.tid, name);
                }
                if fork.pid == fork.ppid {
                    return None;
                }
                self.put(&[fork.tid, fork.pid, fork.ppid]);
                Mapping::Fork
            }
            EventRecord::Comm(comm) => {
                self.names.insert(comm.tid, comm.name.as_slice().into_owned());
                if !comm.is_execve {
                    return None;
                }
                self.put(&[comm.tid, comm.pid]);
                Mapping::Exec
            }
            EventRecord::Exit(exit) => {
                self.names.remove(&exit.tid);
                return None;
            }
            _ => return None,
        };
        Some((self.count + which as usize, &self.body))
    }

    fn put(&mut self, numbers: &[i32]) {
        let order = self.machine.order;
        self.body.extend(numbers.iter().flat_map(|&number| order.four(number as u32)));
    }

    /// Appends where a file is mapped: address, size and offset in it; its path, and its build ID in
    /// hexadecimal digits, which is empty where it is unknown.
    fn put_file(&mut self, range: [u64; 3], path: &[u8], key: Option<DsoKey>, build_id: Option<&[u8]>) {
        let order = self.machine.order;
        self.body.extend(range.iter().flat_map(|&number| order.eight(number)));
        self.body.extend_from_slice(path);
        self.body.push(0);
        let build_id = build_id.or_else(|| self.build_ids.get(&key?).map(Vec::as_slice));
        self.body.extend_from_slice(hex(build_id.unwrap_or_default()).as_bytes());
        self.body.push(0);
    }
}

/// Where records of an attribute have the length of their stack: behind numbers of 8 bytes.
fn length_of_stack(attribute: &AttributeDescription) -> Result<Option<usize>, ImportError> {
    let format = attribute.attr.sample_format;
    if format.contains(SampleFormat::READ) {
        return Err(ImportError::Perf(
            "it has samples with values of counters (`:S`), which are not read".to_owned(),
        ));
    }
    let before = [
        SampleFormat::IDENTIFIER,
        SampleFormat::IP,
        SampleFormat::TID,
        SampleFormat::TIME,
        SampleFormat::ADDR,
        SampleFormat::ID,
        SampleFormat::STREAM_ID,
        SampleFormat::CPU,
        SampleFormat::PERIOD,
    ];
    let count = before.into_iter().filter(|it| format.contains(*it)).count();
    Ok(format.contains(SampleFormat::CALLCHAIN).then_some(8 * count))
}

/// The addresses of a stack, innermost first: those of the kernel and those of the program.
fn stacks(chain: Option<RawDataU64<'_>>) -> [Vec<u64>; 2] {
    let mut stacks = [Vec::new(), Vec::new()];
    let mut now = None;
    for address in chain.into_iter().flat_map(|chain| (0..chain.len()).filter_map(move |at| chain.get(at))) {
        match address {
            KERNEL => now = Some(0),
            USER => now = Some(1),
            // Of a hypervisor or of a guest, whose addresses are other ones.
            MARKERS.. => now = None,
            _ => {
                if let Some(now) = now {
                    stacks[now].push(address);
                }
            }
        }
    }
    stacks
}

impl Sampled {
    fn of(attribute: &AttributeDescription, class: usize) -> Option<Self> {
        let AttributeDescription { attr, name, .. } = attribute;
        let is_sampled = !matches!(
            attr.type_,
            PerfEventType::Tracepoint(_) | PerfEventType::Software(SoftwareCounterType::Dummy)
        );
        let has = |what| attr.sample_format.contains(what);
        is_sampled.then(|| Self {
            class,
            name: name.clone().unwrap_or_else(|| "perf_sample".to_owned()),
            has_ip: has(SampleFormat::IP),
            has_period: has(SampleFormat::PERIOD),
            // A copy of a program's stack is not the stack of its calls.
            has_stack: [true, !has(SampleFormat::STACK_USER)].map(|it| it && has(SampleFormat::CALLCHAIN)),
        })
    }
}
