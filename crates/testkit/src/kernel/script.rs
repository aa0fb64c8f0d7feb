//! Scripted kernel traces: who there is, what happens when, and what of it was lost.
//!
//! A [`KernelScript`] keeps what [`super::at`] says; on writing, [`super::simulator`] plays it in the order
//! of time and [`super::stream_writer`] writes the streams of the CPUs.

use std::fs;
use std::path::Path;

use super::at::{Action, At};
use super::catalogue::Catalogue;
use super::generation::Generation;
use super::simulator::Simulator;
use super::stream_writer::{Limits, StreamWriter};
use super::tasks::{Inner, SimTask, TaskTable};
use crate::assign::Given;
use crate::error::{Misuse, TestkitError};
use crate::lttng::LttngTrace;
use crate::metadata::{Channel, EventHeader};
use crate::stream::HeadValues;
use isochrone_ctf::schema::ByteOrder;

/// Largest packets, in bits.
const PACKET_BITS: u64 = 256 * 1024 * 8;

/// A kernel trace as LTTng-modules of some [`Generation`] write it, described in a few lines.
///
/// Names, priorities and processes of threads are said once and filled in wherever events repeat them. What
/// happens may be described in any order: it is sorted by time, and what happens at the same time keeps the
/// order of the script. Mistakes (a call or field that no generation has, a CPU that is not there) are
/// reported by [`Self::write`].
///
/// ```
/// use isochrone_testkit::{Generation, KernelScript};
/// # let directory = tempfile::tempdir()?;
/// let mut script = KernelScript::new("h1", Generation::V2_13).cpus(2).contexts(true);
/// script.process(10, "sh").thread(11, 10, "sh");
/// script.at(100).cpu(0).switch(0, 10);
/// script.at(110).cpu(0).enter("openat", &[("dfd", (-100).into()), ("filename", "/etc/passwd".into())]);
/// script.at(120).cpu(0).exit("openat", 3).wake(11, 1);
/// script.at(130).cpu(1).switch(0, 11);
/// script.lose(0, 120, 190, 7);
/// script.at(200).cpu(0).switch(10, 0);
/// script.write(directory.path())?;
/// let trace = isochrone_ctf::Trace::open(directory.path())?;
/// assert_eq!((trace.events(0).count(), trace.losses(0).len()), (5, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct KernelScript {
    host: String,
    generation: Generation,
    cpus: u32,
    contexts: bool,
    long_bits: u32,
    byte_order: ByteOrder,
    aligned: bool,
    packet_events: u64,
    without: Vec<u32>,
    untraced: Vec<String>,
    channels: Vec<Channel>,
    who: TaskTable,
    /// CPUs, and whom they run at the begin.
    runs: Vec<(u32, i32)>,
    /// CPUs that come up late, and when.
    late: Vec<(u32, u64)>,
    items: Vec<Item>,
    /// The time that was spoken of last.
    now: u64,
}

/// Something on one CPU at one time.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) time: u64,
    pub(crate) cpu: u32,
    pub(crate) what: What,
}

/// What an item is.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Action(Action),
    Cut,
    /// Events discarded until a time; how many, or all that the script has.
    Lose {
        to: u64,
        count: Option<u64>,
    },
}

impl KernelScript {
    /// A host with one CPU: little-endian with 64-bit words, without contexts, packets of at most 256 KiB.
    pub fn new(host: &str, generation: Generation) -> Self {
        Self {
            host: host.to_owned(),
            generation,
            cpus: 1,
            contexts: false,
            long_bits: 64,
            byte_order: ByteOrder::Little,
            aligned: false,
            packet_events: u64::MAX,
            without: Vec::new(),
            untraced: Vec::new(),
            channels: vec![Channel::only()],
            who: TaskTable::default(),
            runs: Vec::new(),
            late: Vec::new(),
            items: Vec::new(),
            now: 0,
        }
    }

    /// The number of CPUs.
    #[must_use]
    pub fn cpus(mut self, count: u32) -> Self {
        self.cpus = count;
        self
    }

    /// Several channels: their names, and the begins of the names of the events that each records; the first
    /// one has those that no other takes. Losses and packets that the script asks for are those of all
    /// channels of the CPU.
    #[must_use]
    pub fn channels(mut self, channels: &[(&str, &[&str])]) -> Self {
        let channel = |(name, events): &(&str, &[&str])| Channel {
            name: (*name).to_owned(),
            events: events.iter().map(|&begin| begin.to_owned()).collect(),
        };
        self.channels = channels.iter().map(channel).collect();
        self
    }

    /// Whether every event has the contexts `tid`, `pid` and `procname`.
    #[must_use]
    pub fn contexts(mut self, contexts: bool) -> Self {
        self.contexts = contexts;
        self
    }

    /// The size of the machine's words: 32 or 64 bits.
    #[must_use]
    pub fn bits(mut self, bits: u32) -> Self {
        self.long_bits = bits;
        self
    }

    /// Whether the machine has its highest bytes first.
    #[must_use]
    pub fn big_endian(mut self, big: bool) -> Self {
        self.byte_order = if big { ByteOrder::Big } else { ByteOrder::Little };
        self
    }

    /// Whether numbers are aligned to their size, as on ARM, or packed.
    #[must_use]
    pub fn aligned(mut self, aligned: bool) -> Self {
        self.aligned = aligned;
        self
    }

    /// The largest number of events in a packet.
    #[must_use]
    pub fn packet_events(mut self, events: u64) -> Self {
        self.packet_events = events;
        self
    }

    /// Leaves out the streams of these CPUs, as if their files were lost.
    #[must_use]
    pub fn without_streams(mut self, cpus: &[u32]) -> Self {
        self.without = cpus.to_vec();
        self
    }

    /// Leaves out these events, and says nothing of them in the metadata, as if they were not enabled.
    #[must_use]
    pub fn untraced(mut self, events: &[&str]) -> Self {
        self.untraced = events.iter().map(|&event| event.to_owned()).collect();
        self
    }

    /// The version of the tracer.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// There is a process with one thread. Its parent is process 1.
    pub fn process(&mut self, pid: i32, name: &str) -> &mut Self {
        self.thread(pid, pid, name)
    }

    /// There is a thread of a process.
    pub fn thread(&mut self, tid: i32, pid: i32, name: &str) -> &mut Self {
        self.who.put(SimTask::new(tid, pid, name));
        self
    }

    /// There is a thread of the kernel's own.
    pub fn kernel_thread(&mut self, tid: i32, name: &str) -> &mut Self {
        self.who.put(SimTask::kernel(tid, name));
        self
    }

    /// Who made the process of this thread.
    pub fn parent(&mut self, tid: i32, parent: i32) -> &mut Self {
        self.who.change(tid).parent = parent;
        self
    }

    /// The priority of a thread as the tracer counts: 20 where nothing is said.
    pub fn priority(&mut self, tid: i32, priority: i32) -> &mut Self {
        self.who.change(tid).priority = priority;
        self
    }

    /// A thread has other numbers in a namespace: dumps and forks record them.
    pub fn namespace(&mut self, tid: i32, vtid: i32, vpid: i32, ns: u32) -> &mut Self {
        self.who.change(tid).inner = Some(Inner { vtid, vpid, ns });
        self
    }

    /// A process has the table of file descriptors of another one.
    pub fn shares_files(&mut self, tid: i32, with: i32) -> &mut Self {
        self.who.change(tid).table = self.who.get(0, with).table;
        self
    }

    /// Whom a CPU runs at the begin. It need not be said where a switch shows it: the CPU runs who leaves it
    /// first, or its idle task. It must be said where a thread gets another number by an exec before that.
    pub fn runs(&mut self, cpu: u32, tid: i32) -> &mut Self {
        self.runs.push((cpu, tid));
        self
    }

    /// A CPU comes up at a time, ns: its streams begin there, with their first packets. What the script has
    /// of it before that, and what names it, is not written.
    pub fn comes_up(&mut self, cpu: u32, time: u64) -> &mut Self {
        self.late.push((cpu, time));
        self
    }

    /// When a CPU comes up, if it does so late.
    fn since(&self, cpu: u32) -> Option<u64> {
        self.late.iter().find(|late| late.0 == cpu).map(|late| late.1)
    }

    /// Speaks of a time, ns, on CPU 0 unless [`At::cpu`] names another.
    pub fn at(&mut self, time: u64) -> At<'_> {
        self.now = time;
        At::new(self, time)
    }

    /// The events of a CPU between two times, ns, are lost: the packet before ends at `from`, the one after
    /// it begins at `to` and says that so many events were discarded. Events that the script has between the
    /// two are not written.
    pub fn lose(&mut self, cpu: u32, from: u64, to: u64, count: u64) -> &mut Self {
        self.item(from, cpu, What::Lose { to, count: Some(count) });
        self
    }

    /// As [`Self::lose`]; as many events as the script has there, a dump counted as one.
    pub fn lose_scripted(&mut self, cpu: u32, from: u64, to: u64) -> &mut Self {
        self.item(from, cpu, What::Lose { to, count: None });
        self
    }

    /// A packet of this CPU ends here, at the time that was spoken of last, and the next one begins. Where
    /// none has begun, an empty one is written.
    pub fn new_packet(&mut self, cpu: u32) -> &mut Self {
        self.item(self.now, cpu, What::Cut);
        self
    }

    pub(crate) fn item(&mut self, time: u64, cpu: u32, what: What) {
        self.items.push(Item { time, cpu, what });
    }

    /// The time that was spoken of last.
    pub(crate) fn spoken(&mut self) -> &mut u64 {
        &mut self.now
    }

    /// Times of the acts of a CPU from the begin, ascending.
    pub(crate) fn times(&self, cpu: u32) -> Vec<u64> {
        let acts = self.items.iter().filter(|item| item.cpu == cpu && matches!(item.what, What::Action(_)));
        let mut times: Vec<u64> = acts.map(|item| item.time).collect();
        times.sort_unstable();
        times
    }

    /// Writes the trace into a directory: `metadata`, `ch_<cpu>` and `index/ch_<cpu>.idx` (or what
    /// [`Self::channels`] says). It can be written again.
    ///
    /// # Errors
    /// The script has a mistake, or a file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), TestkitError> {
        let catalogue = Catalogue::new(self.generation, self.long_bits).without(&self.untraced);
        let (uuid, compiled) = self.describe(&catalogue).into_compiled()?;
        let indexes = directory.join("index");
        fs::create_dir_all(&indexes).map_err(|source| TestkitError::io(&indexes, source))?;
        let metadata = directory.join("metadata");
        fs::write(&metadata, &compiled.text).map_err(|source| TestkitError::io(&metadata, source))?;

        let limits = Limits { events: self.packet_events, bits: PACKET_BITS };
        let mut tapes: Vec<Vec<StreamWriter<'_>>> = Vec::new();
        // By CPU: a writer for each channel, none where its streams are left out.
        for cpu in 0..self.cpus {
            let mut of_cpu = Vec::new();
            for (channel, it) in (0..).zip(&self.channels).filter(|_| !self.without.contains(&cpu)) {
                let head = HeadValues { uuid: *uuid.as_bytes(), channel, cpu };
                of_cpu.push(StreamWriter::create(directory, &it.name, head, &compiled, limits)?);
            }
            tapes.push(of_cpu);
        }
        if let Some(first) = self.sorted().first() {
            for (cpu, writers) in (0..).zip(&mut tapes) {
                let begin = self.since(cpu).unwrap_or(first.time);
                for writer in writers {
                    writer.begin(begin);
                }
            }
        }
        self.play(&mut |cpu, told| {
            let writers = &mut tapes[cpu as usize];
            match told {
                _ if writers.is_empty() => Ok(()),
                CpuItem::Event { name, .. } if self.untraced.contains(&name) => Ok(()),
                CpuItem::Event { time, name, mut fields } => {
                    catalogue.fit(&name, &mut fields);
                    let class = compiled.class(&name)?;
                    let body = compiled.body(&name, class, &fields)?;
                    writers[compiled.channel(class)].event(time, class, &body)
                }
                CpuItem::Cut(at) => writers.iter_mut().try_for_each(|writer| writer.cut(at)),
                CpuItem::Lose { from, to, count } => {
                    writers.iter_mut().try_for_each(|writer| writer.lose(from, to, count))
                }
            }
        })?;
        let end = tapes.iter().flatten().map(StreamWriter::last).max().unwrap_or_default();
        tapes.into_iter().flatten().try_for_each(|writer| writer.finish(end))
    }

    fn describe(&self, catalogue: &Catalogue) -> LttngTrace {
        let mut trace = LttngTrace::kernel(&self.host);
        catalogue.declare(&mut trace, self.contexts);
        trace
            .header(EventHeader::Large)
            .channels(self.channels.clone())
            .byte_order(self.byte_order)
            .aligned(self.aligned)
            .environment("tracer_minor", self.generation.minor().into())
            .environment("tracer_patchlevel", 0.into())
            .environment("kernel_release", self.generation.kernel_release().into());
        trace
    }

    /// Emits all events of all CPUs, in the order of time.
    fn play<'s>(
        &'s self,
        tell: &mut dyn FnMut(u32, CpuItem<'s>) -> Result<(), TestkitError>,
    ) -> Result<(), TestkitError> {
        let order = self.sorted();
        let cpus = self.cpus;
        if let Some(item) = order.iter().find(|item| item.cpu >= cpus) {
            return Err(Misuse::NoCpu { cpu: item.cpu, cpus }.into());
        }
        let mut simulator = Simulator::new(self.generation, self.contexts, self.start());
        let mut lost = vec![None; cpus as usize];
        for (n, item) in order.iter().enumerate() {
            let Item { time, cpu, .. } = **item;
            let until = &mut lost[cpu as usize];
            let is_lost = until.is_some_and(|until| time < until);
            match &item.what {
                What::Action(action) => {
                    for (name, fields) in simulator.play(cpu, action) {
                        let names_late = |&(late, since): &(u32, u64)| {
                            let is_it =
                                |(name, value): &Given<'_>| name.ends_with("_cpu") && *value == late.into();
                            time < since && fields.iter().any(is_it)
                        };
                        if !is_lost && !self.late.iter().any(names_late) {
                            tell(cpu, CpuItem::Event { time, name, fields })?;
                        }
                    }
                }
                What::Cut if is_lost => {}
                What::Cut => tell(cpu, CpuItem::Cut(time))?,
                What::Lose { to, .. } if is_lost || *to < time => {
                    return Err(Misuse::BackInTime {
                        cpu,
                        cycles: (*to).min(time),
                        last: until.unwrap_or(time),
                    }
                    .into());
                }
                What::Lose { to, count } => {
                    *until = Some(*to);
                    let count = count.unwrap_or_else(|| {
                        // Dumps apart, an act is an event.
                        let rest = order[n..].iter().take_while(|other| other.time < *to);
                        let acts =
                            rest.filter(|other| other.cpu == cpu && matches!(other.what, What::Action(_)));
                        acts.count() as u64
                    });
                    tell(cpu, CpuItem::Lose { from: time, to: *to, count })?;
                }
            }
        }
        Ok(())
    }

    /// By time; at the same time in the order of the script, but losses begin after all events.
    fn sorted(&self) -> Vec<&Item> {
        let is_up = |item: &&Item| self.since(item.cpu).is_none_or(|since| item.time >= since);
        let mut order: Vec<&Item> = self.items.iter().filter(is_up).collect();
        let loses = |item: &Item| matches!(item.what, What::Lose { to, .. } if to > item.time);
        order.sort_by_key(|item| (item.time, loses(item)));
        order
    }

    /// Who is there at the begin. Each CPU runs who leaves it first.
    fn start(&self) -> TaskTable {
        let mut who = self.who.clone();
        who.cpus(self.cpus);
        let mut known = vec![false; self.cpus as usize];
        for &(cpu, tid) in &self.runs {
            who.run(cpu, tid);
            if let Some(known) = known.get_mut(cpu as usize) {
                *known = true;
            }
        }
        for item in self.sorted() {
            if let What::Action(Action::Switch { prev, .. }) = item.what
                && !std::mem::replace(&mut known[item.cpu as usize], true)
            {
                who.run(item.cpu, prev);
            }
        }
        who
    }
}

/// What goes into the stream of a CPU.
pub(crate) enum CpuItem<'s> {
    Event { time: u64, name: String, fields: Vec<Given<'s>> },
    Cut(u64),
    Lose { from: u64, to: u64, count: u64 },
}
