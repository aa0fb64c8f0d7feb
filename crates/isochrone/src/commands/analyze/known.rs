//! A host as the tables of analyses need it: its model, and its time on the clock that was asked for.

use isochrone_analysis::{Asked, Host, Who};
use isochrone_hosts::Host as Traced;
use isochrone_kernel::{BEGIN, Facts, Finished, ThreadId, Time};
use isochrone_sync::apply::Clock;

/// A host of which everything has been read.
pub(super) struct Known<'t> {
    name: String,
    /// Unix time of its clock's zero, ns.
    offset_ns: i64,
    /// The way to the reference's time.
    clock: Option<&'t Clock>,
    pub(super) model: Finished<Asked>,
}

impl<'t> Known<'t> {
    pub(super) fn new(host: &Traced<'_>, clock: Option<&'t Clock>, model: Finished<Asked>) -> Self {
        let name = clock.map_or(&host.name, |clock| &clock.entry.host).clone();
        Self { name, offset_ns: host.offset_ns, clock, model }
    }
}

impl Host for Known<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<(Time, Time)> {
        self.model.range
    }

    fn unix_ns(&self, raw: Time) -> i128 {
        match self.clock {
            Some(clock) => clock.unix_ns(raw),
            None => i128::from(raw) + i128::from(self.offset_ns),
        }
    }

    fn thread(&self, thread: ThreadId) -> Option<Who<'_>> {
        let facts = self.model.threads.get(thread)?;
        Some(Who {
            tid: thread.tid(),
            pid: facts.pid,
            leader: self.model.threads.leader(thread),
            ppid: facts.parent,
            comm: facts.comm.as_deref().map(Into::into),
            is_kernel: facts.is_kernel,
            born: born(thread, facts),
            died: facts.dead.or(facts.exited),
        })
    }

    fn threads(&self) -> Vec<ThreadId> {
        let named = |thread: &ThreadId| matches!(thread, ThreadId::Thread { .. });
        self.model.threads.iter().map(|(thread, _)| thread).filter(named).collect()
    }
}

/// When a thread was seen to begin.
fn born(thread: ThreadId, facts: &Facts) -> Option<Time> {
    match thread {
        ThreadId::Thread { born, .. } if born != BEGIN && facts.was_forked => Some(born),
        _ => None,
    }
}
