//! Recordings by perf, `perf.data`: the events of tracepoints and of dynamic probes (`perf sched record`,
//! `perf trace record`, `perf record -e`), and the threads that it lists. Samples of other events are left
//! out.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use linux_perf_data::linux_perf_event_reader::{EventRecord, PerfClock, PerfEventType, RecordType};
use linux_perf_data::{Feature, PerfFileReader, PerfFileRecord};

use crate::class::Machine;
use crate::clock::Clock;
use crate::error::ImportError;
use crate::event_format::EventFormat;
use crate::perf_sections;
use crate::recording::{Host, Sink};
use crate::threads::{ListedThread, ThreadList};
use crate::trace_dat;

/// A recording.
pub(crate) struct PerfData {
    reader: PerfFileReader<BufReader<File>>,
    machine: Machine,
    formats: Vec<EventFormat>,
    host: Host,
    clock: Clock,
}

impl PerfData {
    /// Opens a recording; reads what describes its events.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let mut file = File::open(path)?;
        perf_sections::check(&mut file)?;
        let reader = PerfFileReader::parse_file(BufReader::new(file))?;
        let data = reader.perf_file.feature_section_data(Feature::TRACING_DATA);
        let (machine, formats) = trace_dat::formats_of_perf(data.ok_or(ImportError::NoEvents)?)?;
        let about = &reader.perf_file;
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
        Ok(Self { reader, machine, formats, host, clock })
    }

    /// What describes the events.
    pub(crate) fn parts(&mut self) -> (Machine, Vec<EventFormat>, Host, Clock) {
        (self.machine, std::mem::take(&mut self.formats), self.host.clone(), self.clock)
    }

    /// Passes all events on, in the order of time, as far as perf wrote them so.
    pub(crate) fn read(&mut self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let PerfFileReader { perf_file, record_iter } = &mut self.reader;
        let is_tracepoint: Vec<bool> = perf_file
            .event_attributes()
            .iter()
            .map(|it| matches!(it.attr.type_, PerfEventType::Tracepoint(_)))
            .collect();
        let mut before = Some(Before::default());
        while let Some(record) = record_iter.next_record(perf_file)? {
            let PerfFileRecord::EventRecord { attr_index, record } = record else { continue };
            let about = record.common_data().map_err(ImportError::Read)?;
            let cpu = || about.cpu.ok_or(ImportError::Unsaid("on which CPU they were recorded"));
            // What perf found itself, before it recorded, has no time.
            let is_found = about.timestamp.unwrap_or_default() == 0;
            match record.record_type {
                RecordType::FORK | RecordType::COMM => {
                    let record = record.parse().map_err(ImportError::Read)?;
                    match (record, before.as_mut().filter(|_| is_found)) {
                        (record, Some(before)) => before.add(&record),
                        (EventRecord::Fork(fork), None) => sink.forked(fork.tid, fork.pid),
                        _ => {}
                    }
                }
                RecordType::SAMPLE if is_tracepoint.get(attr_index) == Some(&true) => {
                    let EventRecord::Sample(sample) = record.parse().map_err(ImportError::Read)? else {
                        continue;
                    };
                    if let Some(before) = before.take() {
                        sink.threads(before.list());
                    }
                    let at = sample.timestamp.ok_or(ImportError::Unsaid("when they were recorded"))?;
                    let raw = sample.raw.ok_or(ImportError::Unsaid("what their fields hold"))?;
                    sink.stream("", cpu()?)?;
                    sink.event(at, &raw.as_slice())?;
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

/// The threads that perf found before it recorded: parents come in records of their own.
#[derive(Default)]
struct Before {
    parents: HashMap<i32, i32>,
    threads: Vec<ListedThread>,
}

impl Before {
    fn add(&mut self, record: &EventRecord<'_>) {
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
        ThreadList { threads: self.threads.into_iter().filter_map(of).collect() }
    }
}
