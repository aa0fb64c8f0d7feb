//! Names of file descriptors: what a descriptor of a thread was at an instant, by the spans of descriptors.
//!
//! A host opens many, and a log asks for them in the order of time: they are a sorted list of a few words
//! each.

use indexmap::IndexSet;
use isochrone_kernel::files::{Bound, FileKind, FileSpan};
use isochrone_kernel::{Name, ThreadId};
use isochrone_time::RawNs;
use rustc_hash::FxBuildHasher;

use crate::host::{HostContext, ThreadIdentity};
use crate::needs::Need;
use crate::output::note::Note;
use crate::storage::log_rows::LogRows;

/// What a descriptor is, in a few words; `None` where it is unknown.
pub(crate) fn name(file: &FileSpan) -> Option<&Name> {
    known(&file.name)
}

/// A name, unless it is empty: then it is unknown.
fn known(name: &Name) -> Option<&Name> {
    Some(name).filter(|name| !name.is_empty())
}

/// What shows which thread a packet is of, and so the addresses of its socket.
const OF_SOCKETS: [Need; 4] = [Need::Packets, Need::Switches, Need::HardInterrupts, Need::Softirqs];

/// Says which hosts have sockets whose addresses may be unknown because something was not recorded. Linear in
/// the descriptors of these.
pub(crate) fn notes<'h>(
    hosts: impl Iterator<Item = (&'h dyn HostContext, &'h LogRows<FileSpan>)>,
) -> Vec<Note> {
    let lacks = |host: &dyn HostContext| OF_SOCKETS.into_iter().any(|need| host.lacks(need));
    let has_sockets =
        |files: &LogRows<FileSpan>| files.sorted().any(|file| matches!(file.kind, FileKind::Socket(_)));
    let hosts = hosts.filter(|(host, files)| lacks(*host) && has_sockets(files));
    let hosts: Vec<&str> = hosts.map(|(host, _)| host.name()).collect();
    if hosts.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "{}: packets, switches, interrupts and softirqs were not all recorded: addresses of sockets that no call shows are unknown; before the next \
         recording, type: {}; {}; {}",
        hosts.join(", "),
        Need::Packets.command(),
        Need::Switches.command(),
        Need::Interrupts.command()
    );
    vec![Note::default().text(&text)]
}

/// The process whose table of descriptors a thread has, as far as its number goes: all threads of a process
/// have the same one.
fn owner(host: &dyn HostContext, thread: ThreadId) -> Option<i32> {
    let who = ThreadIdentity::of(host, thread);
    who.pid.or(who.tid)
}

/// What a descriptor refers to, and what that is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NamedFile {
    pub(crate) kind: FileKind,
    name: Name,
}

impl NamedFile {
    /// What it is, in a few words; `None` where it is unknown.
    pub(crate) fn name(&self) -> Option<&Name> {
        known(&self.name)
    }
}

/// The life of a descriptor.
#[derive(Debug)]
struct Life {
    owner: i32,
    fd: i32,
    begin: RawNs,
    end: RawNs,
    /// Its place among the different ones.
    what: u32,
    begin_bound: Bound,
    /// Since when it may be another one.
    doubtful_from: Option<RawNs>,
}

impl Life {
    fn key(&self) -> (i32, i32) {
        (self.owner, self.fd)
    }
}

/// The descriptors of a host by process and number.
pub(crate) struct FdNames<'a> {
    host: &'a dyn HostContext,
    /// By process, number and begin.
    lives: Vec<Life>,
    different: Vec<NamedFile>,
}

impl<'a> FdNames<'a> {
    /// Those of a host. Memory: forty bytes for each span, and what the different ones take.
    pub(crate) fn new(host: &'a dyn HostContext, files: &LogRows<FileSpan>) -> Self {
        let mut lives = Vec::new();
        let mut different: IndexSet<NamedFile, FxBuildHasher> = IndexSet::default();
        // What was open once may be another file since.
        let files = Some(files).filter(|_| !host.lacks(Need::Descriptors));
        for file in files.into_iter().flat_map(LogRows::sorted) {
            let Some(owner) = file.process.or_else(|| owner(host, file.thread)) else { continue };
            let FileSpan { fd, begin, end, begin_bound, kind, name, doubtful_from, .. } = file;
            let what = different.insert_full(NamedFile { kind, name }).0 as u32;
            lives.push(Life { owner, fd, begin, end, what, begin_bound, doubtful_from });
        }
        // Stable: of spans with the same times the last one in their own order counts.
        lives.sort_by_key(|life| (life.key(), life.begin, life.end));
        Self { host, lives, different: different.into_iter().collect() }
    }

    /// What a thread's descriptor is called at an instant, if that is known.
    pub(crate) fn name(&self, thread: ThreadId, fd: i32, at: RawNs) -> Option<Name> {
        self.file(thread, fd, at)?.name().cloned()
    }

    /// What a thread's descriptor is at an instant, if that is known: not where events are missing since it
    /// was opened. One that was first seen later was the same before, unless its begin was seen. Logarithmic.
    pub(crate) fn file(&self, thread: ThreadId, fd: i32, at: RawNs) -> Option<&NamedFile> {
        let key = (owner(self.host, thread)?, fd);
        let next = self.lives.partition_point(|life| (life.key(), life.begin) <= (key, at));
        let is_its = |life: &&Life| life.key() == key;
        let before = next.checked_sub(1).map(|place| &self.lives[place]).filter(is_its);
        let here = before.filter(|life| at < life.end);
        let later = || self.lives.get(next).filter(is_its).filter(|life| life.begin_bound == Bound::Soft);
        // A span of no length is one that was closed as soon as it was seen.
        let closed = || before.filter(|life| life.end == at);
        let life = here.or_else(closed).or_else(later)?;
        if life.doubtful_from.is_some_and(|from| at >= from) {
            return None;
        }
        self.different.get(life.what as usize)
    }
}
