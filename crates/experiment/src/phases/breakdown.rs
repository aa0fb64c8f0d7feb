//! Where the time of phases went: the states of their threads, cut at their ends, by call, by file or peer,
//! and by cause.
//!
//! The store is read in windows of a second, so that memory does not grow with the trace: what is kept are
//! the sums. The times of a phase's parts add up to its own, exactly; time of which the trace says nothing is
//! unknown.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::{CallSpan, HostStore, OpenFile, State, StateRow, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};

use isochrone_store::{Cause, PAGE_FAULT, is_on_path, is_poll};

/// How much of a trace is read at once, ns.
const WINDOW: i64 = 1 << 30;

/// One phase of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instance {
    /// Its name.
    pub(super) name: Name,
    /// The thread in the store, if known.
    pub(super) thread: Option<ThreadRow>,
    pub(super) start: RawNs,
    pub(super) end: RawNs,
}

/// Time by what a thread did, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) running: u64,
    pub(super) interrupted: u64,
    pub(super) wait_cpu: u64,
    pub(super) blocked: u64,
    pub(super) unknown: u64,
}

impl Spent {
    pub(super) fn total(&self) -> u64 {
        [self.running, self.interrupted, self.wait_cpu, self.blocked, self.unknown].iter().sum()
    }

    fn add(&mut self, state: State, ns: u64) {
        *match state {
            State::UserMode | State::Syscall | State::Running => &mut self.running,
            State::Interrupted => &mut self.interrupted,
            State::WaitCpu => &mut self.wait_cpu,
            State::Blocked => &mut self.blocked,
            State::Unknown | State::WaitFork | State::Dead => &mut self.unknown,
        } += ns;
    }
}

/// A number of calls, and the time in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) count: u64,
    pub(super) spent: Spent,
}

/// A file or the peer of a socket: its name and what it is.
pub(super) type FileName = (Option<Name>, Option<Name>);

/// The sums of a host, by name of the phase.
#[derive(Debug, Default)]
pub(super) struct Breakdown {
    /// By call; `None`: in none.
    pub(super) calls: BTreeMap<(Name, Option<Name>), Counted>,
    pub(super) files: BTreeMap<(Name, FileName), Counted>,
    /// By cause and detail: how often, and for how long, ns.
    pub(super) causes: BTreeMap<(Name, Cause, Name), (u64, u64)>,
}

/// The sums over instances, which are sorted by their starts.
pub(super) fn breakdown(store: &HostStore, instances: &[Instance]) -> Result<Breakdown, StoreError> {
    let mut sums = Breakdown::default();
    let mut active: Vec<&Instance> = Vec::new();
    let mut rest = instances.iter().peekable();
    let mut from = RawNs::MIN;
    loop {
        active.retain(|instance| instance.end > from);
        if active.is_empty() {
            match rest.peek() {
                Some(next) => from = from.max(next.start),
                None => return Ok(sums),
            }
        }
        let to = from.saturating_add(WINDOW);
        while let Some(next) = rest.next_if(|next| next.start < to) {
            if next.end > next.start {
                active.push(next);
            }
        }
        if !active.is_empty() {
            Loaded::read(store, Window::new(from, to), &active)?.add(&active, &mut sums)?;
        }
        from = to;
    }
}

/// What is read of a window.
struct Loaded<'s> {
    store: &'s HostStore,
    window: Window<RawNs>,
    /// By thread and start. A row that starts before the window starts one ns before it.
    rows: BTreeMap<ThreadRow, Vec<StateRow>>,
    /// By thread and start, whole.
    calls: BTreeMap<ThreadRow, Vec<CallSpan>>,
    /// By process and number, by start.
    files: BTreeMap<(i32, i32), Vec<OpenFile>>,
}

impl<'s> Loaded<'s> {
    fn read(store: &'s HostStore, window: Window<RawNs>, active: &[&Instance]) -> Result<Self, StoreError> {
        let mut threads: Vec<ThreadRow> = active.iter().filter_map(|instance| instance.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        // One ns more separates what starts exactly at the start of the window from what continues.
        let wider = Window::new(window.start.saturating_sub(1), window.end);
        let (mut rows, mut calls, mut files) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for row in store.states(&threads, wider)? {
            rows.entry(row.thread).or_insert_with(Vec::new).push(row);
        }
        for call in store.calls_between(&threads, wider)? {
            if let Some(thread) = call.thread {
                calls.entry(thread).or_insert_with(Vec::new).push(call);
            }
        }
        for file in store.files(wider)? {
            let thread = || store.thread(file.thread?);
            if let Some(owner) = file.process.or_else(|| thread()?.pid).or_else(|| thread()?.tid) {
                files.entry((owner, file.fd)).or_insert_with(Vec::new).push(file);
            }
        }
        Ok(Self { store, window, rows, calls, files })
    }

    fn add(&self, active: &[&Instance], sums: &mut Breakdown) -> Result<(), StoreError> {
        for instance in active {
            let part = self.window.clip(Window::new(instance.start, instance.end));
            let mut covered = 0;
            if let Some(thread) = instance.thread {
                covered = self.add_states(instance, thread, part, sums)?;
                self.add_counts(instance, thread, part, sums);
            }
            // Before the thread was known, or without one.
            let unknown = ((part.end - part.start) as u64).saturating_sub(covered);
            if unknown > 0 {
                sums.calls.entry((instance.name.clone(), None)).or_default().spent.unknown += unknown;
                let is_new = instance.start >= self.window.start;
                sums.wait(instance, (Cause::Unknown, Name::default()), unknown, is_new);
            }
        }
        Ok(())
    }

    /// Adds the states of a phase's part; returns how much of it they cover, ns.
    fn add_states(
        &self,
        instance: &Instance,
        thread: ThreadRow,
        Window { start, end }: Window<RawNs>,
        sums: &mut Breakdown,
    ) -> Result<u64, StoreError> {
        let Some(rows) = self.rows.get(&thread) else { return Ok(0) };
        let mut covered = 0;
        let first = rows.partition_point(|row| row.end <= start);
        for row in rows[first..].iter().take_while(|row| row.start < end) {
            let ns = (row.end.min(end) - row.start.max(start)) as u64;
            covered += ns;
            let call = row.syscall.as_deref().filter(|call| *call != PAGE_FAULT).map(Name::from);
            sums.calls.entry((instance.name.clone(), call)).or_default().spent.add(row.state, ns);
            if let Some(fd) = row.fd {
                let file = self.file_name(thread, fd, row.start);
                sums.files.entry((instance.name.clone(), file)).or_default().spent.add(row.state, ns);
            }
            let is_new = row.start >= self.window.start || instance.start >= self.window.start;
            sums.wait(instance, self.cause(row)?, ns, is_new);
        }
        Ok(covered)
    }

    /// Counts the calls that a phase's part is the first to see of the phase.
    fn add_counts(&self, instance: &Instance, thread: ThreadRow, part: Window<RawNs>, sums: &mut Breakdown) {
        let calls = self.calls.get(&thread).map_or(&[][..], Vec::as_slice);
        let overlap = calls.iter().filter(|call| call.start < part.end && call.end > part.start);
        for call in overlap.filter(|call| call.start.max(instance.start) >= self.window.start) {
            let key = (instance.name.clone(), Some(call.name.clone()));
            sums.calls.entry(key).or_default().count += 1;
            if let Some(fd) = call.fd {
                let file = self.file_name(thread, fd, call.start);
                sums.files.entry((instance.name.clone(), file)).or_default().count += 1;
            }
        }
    }

    /// What a descriptor of a thread is at an instant, if that is known.
    fn file(&self, thread: ThreadRow, fd: i32, at: RawNs) -> Option<&OpenFile> {
        let who = self.store.thread(thread)?;
        let files = self.files.get(&(who.pid.or(who.tid)?, fd))?;
        let next = files.partition_point(|file| file.start <= at);
        let here = files[..next].last().filter(|file| at < file.end);
        // One that was first seen later was the same before, unless its start was seen.
        let later =
            || files.get(next).filter(|file| file.start_bound == isochrone_kernel::files::Bound::Soft);
        here.or_else(later)
    }

    fn file_name(&self, thread: ThreadRow, fd: i32, at: RawNs) -> FileName {
        self.file(thread, fd, at)
            .map_or((None, None), |file| (shown(file), file.kind.as_deref().map(Name::from)))
    }

    /// What the time of a row went to, and more of it.
    fn cause(&self, row: &StateRow) -> Result<(Cause, Name), StoreError> {
        let text = |text: &'static str| Name::const_new(text);
        Ok(match row.state {
            State::UserMode => (Cause::Cpu, text("user")),
            State::Syscall => (Cause::Cpu, text("system")),
            State::Running => (Cause::Cpu, text("user or system")),
            State::Interrupted => (Cause::Irq, Name::default()),
            State::WaitCpu => (Cause::WaitCpu, Name::default()),
            State::Blocked => self.blocked(row)?,
            State::Unknown | State::WaitFork | State::Dead => (Cause::Unknown, Name::default()),
        })
    }

    fn blocked(&self, row: &StateRow) -> Result<(Cause, Name), StoreError> {
        let call = row.syscall.as_deref().unwrap_or_default();
        if is_poll(call) {
            return self.polled(row, call);
        }
        let file = row.fd.and_then(|fd| self.file(row.thread, fd, row.start));
        let detail = file.and_then(shown).unwrap_or_else(|| Name::from(call));
        if let Some(cause) = Cause::of_call(call).or_else(|| file.map(of_file)) {
            return Ok((cause, detail));
        }
        if is_on_path(call) {
            return Ok((Cause::Disk, Name::from(call)));
        }
        Ok((Cause::of_waker(self.waker(row)?), Name::from(call)))
    }

    /// Who ended a wait. Its end may lie in a later window.
    fn waker(&self, row: &StateRow) -> Result<Option<isochrone_kernel::Cause>, StoreError> {
        let mut end = row.end;
        if end >= self.window.end {
            end = self.store.whole_state(row.thread, row.start)?.map_or(end, |whole| whole.end);
        }
        self.store.wake_cause(row.thread, end)
    }

    /// A wait for several descriptors is for those that were ready in the end.
    fn polled(&self, row: &StateRow, call: &str) -> Result<(Cause, Name), StoreError> {
        let calls = self.calls.get(&row.thread).map_or(&[][..], Vec::as_slice);
        let index = calls.partition_point(|call| call.start <= row.start.max(self.window.start));
        let here = index.checked_sub(1).map(|index| &calls[index]).filter(|call| call.end > row.start);
        let Some(here) = here else { return Ok((Cause::Other, Name::from(call))) };
        let ready = self.store.ready_at(row.thread, here.end)?;
        let files = ready
            .iter()
            .flatten()
            .filter_map(|&fd| self.file(row.thread, fd, here.end.min(self.window.end - 1)));
        let mut causes: Vec<(Cause, Option<Name>)> = files.map(|file| (of_file(file), shown(file))).collect();
        causes.sort();
        causes.dedup_by_key(|(cause, _)| *cause);
        Ok(match causes.as_slice() {
            [(cause, name)] => (*cause, name.clone().unwrap_or_else(|| Name::from(call))),
            // Nothing was ready: its time was over.
            [] if here.ret == 0 => (Cause::Sleep, Name::from(call)),
            _ => (Cause::Other, Name::from(call)),
        })
    }
}

impl Breakdown {
    fn wait(&mut self, instance: &Instance, (cause, detail): (Cause, Name), ns: u64, is_new: bool) {
        let (count, total) = self.causes.entry((instance.name.clone(), cause, detail)).or_default();
        *count += u64::from(is_new);
        *total += ns;
    }
}

/// The first port that Linux gives to sockets that connect, by default.
const EPHEMERAL: u16 = 32_768;

/// The cause of a wait for a file.
fn of_file(file: &OpenFile) -> Cause {
    Cause::of_file(file.kind.as_deref(), &file.name, file.peer.is_some())
}

/// The displayed name of a file: of a socket its peer. The ephemeral port of a client is left out: it differs
/// each time.
fn shown(file: &OpenFile) -> Option<Name> {
    let Some(peer) = &file.peer else {
        return Some(Name::from(file.name.as_str())).filter(|name| !name.is_empty());
    };
    let port = |address: &str| address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let is_ephemeral = |address: &str| port(address).is_some_and(|port| port >= EPHEMERAL);
    let is_client = is_ephemeral(peer) && file.local.as_deref().is_some_and(|local| !is_ephemeral(local));
    let host = peer.rsplit_once(':').map(|(host, _)| host).filter(|_| is_client);
    Some(Name::from(host.unwrap_or(peer)))
}
