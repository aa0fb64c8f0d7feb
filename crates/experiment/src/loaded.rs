//! What a store says of some threads of a host in a window of time: their states, calls and descriptors, and
//! what their time went to. For the parts of phases ([`crate::phases()`]) and for what is known of events
//! ([`crate::Explainer`]).

use isochrone_kernel::Name;
use isochrone_store::{
    CallSpan, Cause, Descriptors, HostStore, OpenFile, State, StateRow, StoreError, ThreadRow, is_on_path,
    is_poll,
};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

/// What is read of a window.
#[derive(Debug)]
pub(crate) struct Loaded<'s> {
    pub(crate) store: &'s HostStore,
    pub(crate) window: Window<RawNs>,
    /// By thread and start. A row that starts before the window starts one ns before it.
    pub(crate) rows: FxHashMap<ThreadRow, Vec<StateRow>>,
    /// By thread and start, whole.
    pub(crate) calls: FxHashMap<ThreadRow, Vec<CallSpan>>,
    files: Descriptors,
}

impl<'s> Loaded<'s> {
    /// Reads a window of some threads, which are sorted. Linear in what overlaps it.
    pub(crate) fn read(
        store: &'s HostStore,
        window: Window<RawNs>,
        threads: &[ThreadRow],
    ) -> Result<Self, StoreError> {
        // One ns more separates what starts exactly at the start of the window from what continues.
        let wider = Window::new(window.start.saturating_sub(1), window.end);
        let (mut rows, mut calls) = (FxHashMap::default(), FxHashMap::default());
        for row in store.states(threads, wider)? {
            rows.entry(row.thread).or_insert_with(Vec::new).push(row);
        }
        for call in store.calls_between(threads, wider)? {
            if let Some(thread) = call.thread {
                calls.entry(thread).or_insert_with(Vec::new).push(call);
            }
        }
        Ok(Self { store, window, rows, calls, files: store.descriptors(wider)? })
    }

    /// What a descriptor of a thread is at an instant, if that is known.
    pub(crate) fn file(&self, thread: ThreadRow, fd: i32, at: RawNs) -> Option<&OpenFile> {
        let who = self.store.thread(thread)?;
        self.files.at(who.pid.or(who.tid)?, fd, at)
    }

    /// What the time of a row went to, and more of it.
    pub(crate) fn cause(&self, row: &StateRow) -> Result<(Cause, Name), StoreError> {
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

/// The first port that Linux gives to sockets that connect, by default.
const EPHEMERAL: u16 = 32_768;

/// The cause of a wait for a file.
fn of_file(file: &OpenFile) -> Cause {
    Cause::of_file(file.kind.as_deref(), &file.name, file.peer.is_some())
}

/// The displayed name of a file: of a socket its peer. The ephemeral port of a client is left out: it differs
/// each time.
pub(crate) fn shown(file: &OpenFile) -> Option<Name> {
    let Some(peer) = &file.peer else {
        return Some(Name::from(file.name.as_str())).filter(|name| !name.is_empty());
    };
    let port = |address: &str| address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let is_ephemeral = |address: &str| port(address).is_some_and(|port| port >= EPHEMERAL);
    let is_client = is_ephemeral(peer) && file.local.as_deref().is_some_and(|local| !is_ephemeral(local));
    let host = peer.rsplit_once(':').map(|(host, _)| host).filter(|_| is_client);
    Some(Name::from(host.unwrap_or(peer)))
}
