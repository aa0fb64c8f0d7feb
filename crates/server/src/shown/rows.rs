//! The rows of the time graph: hosts, and below each its CPUs, disks, processes and threads, and phases of threads.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use isochrone_kernel::{Name, Namespace};
use isochrone_store::StoreError;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Host;

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Host,
    Cpu,
    Disk,
    Process,
    Thread,
    Phase,
}

impl Kind {
    /// Its name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Phase => "phase",
        }
    }

    /// Whether rows of this kind have states of their own.
    pub(crate) fn has_states(self) -> bool {
        !matches!(self, Self::Host | Self::Process)
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// Its number, and its place.
    pub(crate) id: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) kind: Kind,
    /// Place of the host.
    pub(crate) host: usize,
    pub(crate) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tid: Option<i32>,
    /// The container of a thread, in words, if it is known to be in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) container: Option<String>,
    /// Life, since the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begin: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<i64>,
    /// Number of the thread in the store, of threads and their phases; of the device, of disks.
    #[serde(skip)]
    pub(crate) number: u32,
}

/// All rows, and where they are.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    /// By host and number of the thread.
    threads: FxHashMap<(usize, u32), u32>,
    cpus: FxHashMap<(usize, u32), u32>,
    /// By place of the host.
    hosts: Vec<u32>,
    /// Names of phases: those of one name have one colour.
    pub(crate) phases: BTreeSet<Name>,
}

impl Rows {
    /// The rows of some hosts, in the order of the tree. `at`: a raw time of a host, since the origin.
    pub(crate) fn new(
        hosts: &[Host<'_, '_>],
        at: impl Fn(&Host<'_, '_>, i64) -> i64,
    ) -> Result<Self, StoreError> {
        let mut rows = Self::default();
        for (place, host) in hosts.iter().enumerate() {
            rows.add(place, host, |raw| at(host, raw))?;
        }
        Ok(rows)
    }

    fn add(&mut self, place: usize, host: &Host<'_, '_>, at: impl Fn(i64) -> i64) -> Result<(), StoreError> {
        let life = (Some(at(host.range.0)), Some(at(host.range.1)));
        let top = self.push(Row { label: host.name.clone(), ..row(Kind::Host, place, None, life) });
        self.hosts.push(top);
        for &cpu in &host.store.entry().cpus {
            let label = format!("CPU {cpu}");
            let id = self.push(Row { label, cpu: Some(cpu), ..row(Kind::Cpu, place, Some(top), life) });
            self.cpus.insert((place, cpu), id);
        }
        for &device in &host.store.entry().block_devices {
            let label = format!("disk {}", host.store.entry().disk_name(device));
            self.push(Row { label, number: device, ..row(Kind::Disk, place, Some(top), life) });
        }
        let with_phases = &host.store.entry().phase_threads;
        self.phases.extend(host.store.phase_names()?);
        // By pid: the numbers of the threads.
        let mut processes: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for (number, thread) in (0..).zip(host.store.threads()) {
            if let Some(pid) = thread.pid.or(thread.tid).filter(|_| thread.tid.is_some()) {
                processes.entry(pid).or_default().push(number);
            }
        }
        for (pid, threads) in processes {
            let known = host.store.threads();
            let main = threads.iter().rev().find(|&&it| known[it as usize].tid == Some(pid));
            let parent = if let [_] = threads.as_slice() {
                top
            } else {
                let first = main.or(threads.first()).and_then(|&it| known[it as usize].comm.clone());
                let begin = threads.iter().map(|&it| known[it as usize].begin).min();
                let end = threads.iter().map(|&it| known[it as usize].end).max();
                let life = (begin.map(&at), end.map(&at));
                let label = first.unwrap_or_else(|| "?".to_owned());
                self.push(Row { label, pid: Some(pid), ..row(Kind::Process, place, Some(top), life) })
            };
            for number in threads {
                let thread = &known[number as usize];
                let label = thread.comm.clone().unwrap_or_else(|| "?".to_owned());
                let life = (Some(at(thread.begin)), Some(at(thread.end)));
                let here = row(Kind::Thread, place, Some(parent), life);
                let container = thread.inner.filter(|inner| inner.level > 0).map(container);
                let id = self.push(Row { label, pid: Some(pid), tid: thread.tid, container, number, ..here });
                self.threads.insert((place, number), id);
                if with_phases.binary_search(&number).is_ok() {
                    let label = "phases".to_owned();
                    self.push(Row { label, number, ..row(Kind::Phase, place, Some(id), life) });
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, row: Row) -> u32 {
        let id = self.all.len() as u32;
        self.all.push(Row { id, ..row });
        id
    }

    /// The row of a number.
    pub(crate) fn get(&self, id: u32) -> Option<&Row> {
        self.all.get(id as usize)
    }

    /// The row of a thread.
    pub(crate) fn of_thread(&self, host: usize, number: u32) -> Option<u32> {
        self.threads.get(&(host, number)).copied()
    }

    /// The row of a CPU, else of its host.
    pub(crate) fn of_cpu(&self, host: usize, cpu: Option<u32>) -> u32 {
        let row = cpu.and_then(|cpu| self.cpus.get(&(host, cpu)).copied());
        row.unwrap_or_else(|| self.hosts.get(host).copied().unwrap_or_default())
    }

    /// The row of a host.
    pub(crate) fn of_host(&self, host: usize) -> Option<u32> {
        self.hosts.get(host).copied()
    }

    /// How people name a row: with its host, and the number of a thread.
    pub(crate) fn title(&self, id: u32) -> String {
        let Some(row) = self.get(id) else { return String::new() };
        let host = self.of_host(row.host).and_then(|host| self.get(host)).map_or("", |host| &host.label);
        match (row.kind, row.tid.or(row.pid)) {
            (Kind::Host, _) => host.to_owned(),
            (_, Some(number)) => format!("{host} {} {number}", row.label),
            (_, None) => format!("{host} {}", row.label),
        }
    }
}

/// A container by its pid namespace, and the numbers of a thread there.
fn container(inner: Namespace) -> String {
    let namespace =
        inner.inode.map_or_else(|| "pid namespace".to_owned(), |id| format!("pid namespace {id}"));
    let pid = inner.vpid.map(|vpid| format!(", pid {vpid}")).unwrap_or_default();
    format!("{namespace}{pid}, tid {} there", inner.vtid)
}

fn row(kind: Kind, host: usize, parent: Option<u32>, (begin, end): (Option<i64>, Option<i64>)) -> Row {
    Row {
        id: 0,
        parent,
        kind,
        host,
        label: String::new(),
        cpu: None,
        pid: None,
        tid: None,
        container: None,
        begin,
        end,
        number: 0,
    }
}
