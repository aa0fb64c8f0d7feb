//! Recordings by perf, `perf.data`: the events of tracepoints and of dynamic probes (`perf sched record`,
//! `perf trace record`, `perf record -e`), samples of other events (`perf record -g`), and the threads that
//! it lists.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use linux_perf_data::linux_perf_event_reader::{EventRecord, PerfClock, PerfEventType, RecordType};
use linux_perf_data::{Endianness, Feature, PerfFileReader, PerfFileRecord};

use crate::bytes::Order;
use crate::class::{Class, Machine};
use crate::clock::Clock;
use crate::error::ImportError;
use crate::event_format::EventFormat;
use crate::perf_sections;
use crate::recording::{Host, Sink};
use crate::samples::Samples;
use crate::threads::{ListedThread, ThreadList};
use crate::trace_dat;

/// A recording.
pub(crate) struct PerfData {
    reader: PerfFileReader<BufReader<File>>,
    machine: Machine,
    formats: Vec<EventFormat>,
    host: Host,
    clock: Clock,
    samples: Samples,
}

impl PerfData {
    /// Opens a recording; reads what describes its events.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let mut file = File::open(path)?;
        perf_sections::check(&mut file)?;
        let reader = PerfFileReader::parse_file(BufReader::new(file))?;
        let about = &reader.perf_file;
        let (machine, formats) = match about.feature_section_data(Feature::TRACING_DATA) {
            Some(data) => trace_dat::formats_of_perf(data)?,
            // Nothing but samples, whose numbers are as wide on all machines.
            None => (Machine { order: order_of(about.endian()), long: 8 }, Vec::new()),
        };
        let samples = Samples::new(machine, about)?;
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let host = Host {
            name: text(about.hostname()?),
            release: text(about.os_release()?),
            machine: text(about.arch()?),
            tracer: "perf",
            tracer_version: text(about.perf_version()?),
        };
        let clock = about.event_attributes().first().map_or(PerfClock::Default, |it| it.attr.clock);
        let times = about.clock_data()?;
        let offset =
            times.and_then(|it| i64::try_from(it.wall_clock_ns.checked_sub(it.clockid_time_ns)?).ok());
        let clock = Clock::of_perf(clock, offset)?;
        Ok(Self { reader, machine, formats, host, clock, samples })
    }

    /// The classes of what is written without a description of its events.
    pub(crate) fn written(&self) -> Vec<Class> {
        self.samples.classes()
    }

    /// What describes the events.
    pub(crate) fn parts(&mut self) -> (Machine, Vec<EventFormat>, Host, Clock) {
        (self.machine, std::mem::take(&mut self.formats), self.host.clone(), self.clock)
    }

    /// Passes all events on, in the order of time, as far as perf wrote them so.
    pub(crate) fn read(&mut self, sink: &mut dyn Sink, progress: &dyn Fn(u64)) -> Result<(), ImportError> {
        let PerfFileReader { perf_file, record_iter } = &mut self.reader;
        let samples = &mut self.samples;
        let is_tracepoint: Vec<bool> = perf_file
            .event_attributes()
            .iter()
            .map(|it| matches!(it.attr.type_, PerfEventType::Tracepoint(_)))
            .collect();
        let mut before = Some(Before::default());
        while let Some(record) = record_iter.next_record(perf_file)? {
            let PerfFileRecord::EventRecord { attr_index, record } = record else { continue };
            progress(record.data.len() as u64);
            let about = record.common_data().map_err(ImportError::Read)?;
            let cpu = || about.cpu.ok_or(ImportError::Unsaid("on which CPU they were recorded"));
            // What perf found itself, before it recorded, has no time.
            let is_found = about.timestamp.unwrap_or_default() == 0;
            match record.record_type {
                RecordType::FORK
                | RecordType::COMM
                | RecordType::MMAP
                | RecordType::MMAP2
                | RecordType::EXIT => {
                    let record = record.parse().map_err(ImportError::Read)?;
                    let mapping = if samples.is_empty() { None } else { samples.mapping(&record) };
                    match (record, before.as_mut().filter(|_| is_found)) {
                        (record, Some(before)) => before.add(&record, mapping),
                        (record, None) => {
                            if let EventRecord::Fork(fork) = record {
                                sink.forked(fork.tid, fork.pid);
                            }
                            let at = about.timestamp.filter(|_| !is_found);
                            if let (Some((class, body)), Some(at)) = (mapping, at) {
                                sink.stream("", cpu()?)?;
                                sink.written(at, class, body)?;
                            }
                        }
                    }
                }
                RecordType::SAMPLE => {
                    let is_sampled = samples.is_sampled(attr_index);
                    if !is_sampled && is_tracepoint.get(attr_index) != Some(&true) {
                        continue;
                    }
                    samples.check(attr_index, record.data)?;
                    let EventRecord::Sample(sample) = record.parse().map_err(ImportError::Read)? else {
                        continue;
                    };
                    let at = sample.timestamp.ok_or(ImportError::Unsaid("when they were recorded"))?;
                    let cpu = cpu()?;
                    sink.stream("", cpu)?;
                    if let Some(mut before) = before.take() {
                        let mapped = std::mem::take(&mut before.mapped);
                        sink.threads(before.list());
                        mapped.iter().try_for_each(|(class, body)| sink.written(at, *class, body))?;
                    }
                    if is_sampled {
                        let (class, body) = samples.sample(attr_index, cpu, &sample)?;
                        sink.written(at, class, body)?;
                    } else {
                        let raw = sample.raw.ok_or(ImportError::Unsaid("what their fields hold"))?;
                        sink.event(at, &raw.as_slice())?;
                    }
                }
                RecordType::LOST => {
                    let EventRecord::Lost(lost) = record.parse().map_err(ImportError::Read)? else {
                        continue;
                    };
                    sink.stream("", cpu()?)?;
                    sink.lost(Some(lost.count))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What perf found before it recorded: threads, whose parents come in records of their own, and what is
/// mapped.
#[derive(Default)]
struct Before {
    parents: HashMap<i32, i32>,
    threads: Vec<ListedThread>,
    /// Classes and bodies of events.
    mapped: Vec<(usize, Vec<u8>)>,
}

fn order_of(endian: Endianness) -> Order {
    match endian {
        Endianness::LittleEndian => Order::Little,
        Endianness::BigEndian => Order::Big,
    }
}

impl Before {
    fn add(&mut self, record: &EventRecord<'_>, mapping: Option<(usize, &[u8])>) {
        match record {
            EventRecord::Fork(fork) => {
                self.parents.insert(fork.tid, fork.ppid);
            }
            EventRecord::Comm(comm) => self.threads.push(ListedThread {
                tid: comm.tid,
                pid: comm.pid,
                ppid: 0,
                name: comm.name.as_slice().into_owned(),
            }),
            // What a process has of its parent is listed with its own.
            EventRecord::Mmap(_) | EventRecord::Mmap2(_) => {
                self.mapped.extend(mapping.map(|(class, body)| (class, body.to_vec())));
            }
            _ => {}
        }
    }

    /// Those of which all is known.
    fn list(self) -> ThreadList {
        let of = |thread: ListedThread| {
            // Of a thread that is not its process's first, perf says that the process itself is the parent.
            let &ppid = self.parents.get(&thread.pid)?;
            Some(ListedThread { ppid, ..thread })
        };
        ThreadList { threads: self.threads.into_iter().filter_map(of).collect(), at: None }
    }
}
