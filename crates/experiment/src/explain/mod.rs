//! What the model of a host knows of an event: who its thread was, the call that it was in, what the
//! descriptors are that it names, and what the time went to of a call, a phase or a period that it ends. For
//! `isochrone events --explain`.
//!
//! Events come in the order of time, and the store of each host is read beside them ([`view`]).

mod class;
mod part;
mod spent;
mod view;

use std::fmt;

use isochrone_ctf::{Event, FieldRef};
use isochrone_kernel::Name;
use isochrone_store::{
    CallSpan, Cause, HostStore, OpenFile, State, Store, StoreError, ThreadInfo, ThreadRow,
};
use isochrone_time::RawNs;
use rustc_hash::FxHashMap;

use crate::events::TimedTrace;
use crate::experiment::Experiment;
use crate::model::ModelledHost;
use crate::periods::PeriodLog;
use crate::phases::of_periods;
use class::{Class, Kind};
pub use part::Relation;
use part::{Actor, Part};
use spent::Span;
use view::{Origin, View, is_made_at};

/// A thread as it was at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who<'e> {
    /// The thread.
    pub thread: &'e ThreadInfo,
    /// Its name then.
    pub comm: Option<&'e str>,
    /// The name of the first thread of its process then.
    pub process: Option<&'e str>,
}

/// A descriptor of a process at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor<'e> {
    /// Its number.
    pub fd: i32,
    /// What it is; `None`: not known.
    pub file: Option<&'e OpenFile>,
    /// Whether it may be another one: events are missing that would show it.
    pub is_doubtful: bool,
}

/// A system call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InCall<'e> {
    /// Its name, if known.
    pub name: Option<&'e str>,
    /// Since when, if known; raw time of the host.
    pub start: Option<RawNs>,
    /// Whether it surely is in it: else events are missing that may have ended it.
    pub is_sure: bool,
    /// The descriptor that it is about.
    pub fd: Option<Descriptor<'e>>,
}

/// Who ended a wait, or took a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By<'e> {
    /// A thread.
    Thread(Who<'e>),
    /// An interrupt, a softirq or a timer.
    Context(isochrone_kernel::Cause),
}

/// A part of the time of a call, a phase or a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSpent<'e> {
    /// What it went to.
    pub cause: Cause,
    /// The file, peer or call that was waited for; of CPU time, the mode. Empty where there is nothing to
    /// name.
    pub detail: Name,
    /// What `by` did.
    pub relation: Relation,
    /// Who; `None`: not known, or nobody.
    pub by: Option<By<'e>>,
    /// How often.
    pub count: u64,
    /// How long, ns.
    pub ns: u64,
}

/// What the time of a call, a phase or a period went to. The parts add up to all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Took<'e> {
    /// Its name.
    pub name: &'e str,
    /// When it started, raw time of the host.
    pub start: RawNs,
    /// How long it took, ns.
    pub ns: u64,
    /// The parts, the longest first.
    pub parts: Vec<TimeSpent<'e>>,
}

/// What is known of an event.
#[derive(Debug, Default)]
pub struct Explanation<'e> {
    /// The thread that it is of, if known.
    pub who: Option<Who<'e>>,
    /// Where its state is looked up, as few readers want it.
    state_at: Option<StateAt<'e>>,
    /// The call that it was in, if it was in one that is known.
    pub call: Option<InCall<'e>>,
    /// The descriptors that the event names, by field.
    pub fds: Vec<(&'e str, Descriptor<'e>)>,
    /// What it ends, and what the time since the start of that went to. Nothing where the start is not known.
    pub took: Vec<Took<'e>>,
}

impl Explanation<'_> {
    /// What the thread did, if known. Binary search.
    pub fn state(&self) -> Option<State> {
        self.state_at.as_ref()?.state()
    }
}

struct StateAt<'e> {
    part: &'e Part<'e>,
    thread: ThreadRow,
    at: RawNs,
    /// Whether it is the state that ends then.
    is_end: bool,
}

impl StateAt<'_> {
    fn state(&self) -> Option<State> {
        self.part.state(self.thread, self.at, self.is_end).map(|row| row.state)
    }
}

impl fmt::Debug for StateAt<'_> {
    /// The state that it leads to: the part is all of what is read of the store.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}

/// A trace.
#[derive(Debug, Clone, Copy)]
struct Source {
    /// The place of its host.
    view: usize,
    is_user: bool,
}

/// Explains the events of hosts, in the order of time.
#[derive(Debug)]
pub struct Explainer<'s> {
    views: Vec<View<'s>>,
    /// By trace; `None`: of no host of the store.
    sources: Vec<Option<Source>>,
    /// By trace, stream class and event class.
    classes: FxHashMap<(usize, usize, usize), Class>,
    fd_fields: &'s [String],
    /// By host: events whose thread is not known.
    unknown: Vec<u64>,
}

/// The usual number of rows of the store that are read at once of each host.
pub const PART_ROWS: u64 = 1 << 16;

/// Opens all hosts of a store.
///
/// # Errors
/// One cannot be read.
pub fn stored_hosts(store: &Store) -> Result<Vec<HostStore>, StoreError> {
    store.manifest().hosts.iter().map(|entry| store.host(entry)).collect()
}

impl<'s> Explainer<'s> {
    /// Of the events of some traces of an experiment, whose hosts are in a store. `fd_fields`: more names of
    /// fields that are descriptors;
    /// `part_rows`: the number of rows of the store that are in memory of each host, about, beside what is
    /// open. No result depends on it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn new(
        experiment: &Experiment<'_>,
        traces: &[TimedTrace<'_>],
        stores: &'s [HostStore],
        fd_fields: &'s [String],
        part_rows: u64,
    ) -> Result<Self, StoreError> {
        let mut views = Vec::with_capacity(stores.len());
        let mut sources = vec![None; traces.len()];
        for store in stores {
            let Some(host) = experiment.hosts().iter().find(|host| host.traced.id == store.entry().id) else {
                continue;
            };
            let of_kernel = |place: usize| {
                let is_it = |number: usize| host.traced.trace_indices[number] == place;
                host.traced.sources().iter().any(|source| source.is_kernel && is_it(source.trace_number))
            };
            for (source, trace) in sources.iter_mut().zip(traces) {
                if host.traced.trace_indices.contains(&trace.place) {
                    *source = Some(Source { view: views.len(), is_user: !of_kernel(trace.place) });
                }
            }
            views.push(View::new(store, host.traced.has_kernel(), part_rows)?);
        }
        let unknown = vec![0; views.len()];
        Ok(Self { views, sources, classes: FxHashMap::default(), fd_fields, unknown })
    }

    /// Adds the periods of a host, by its identity.
    pub fn add_periods(&mut self, host: &str, periods: &ModelledHost<'_, PeriodLog>) {
        if let Some(view) = self.views.iter_mut().find(|view| view.store.entry().id == host) {
            view.add_periods(of_periods(view.store, periods));
        }
    }

    /// What is known of the next event of a trace, on a CPU, if that is known, at a raw time of its host.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn explain<'e>(
        &'e mut self,
        trace: usize,
        cpu: Option<u32>,
        at: Option<RawNs>,
        event: &Event<'_>,
    ) -> Result<Explanation<'e>, StoreError> {
        let (Some(Source { view: number, is_user }), Some(at)) = (self.sources[trace], at) else {
            return Ok(Explanation::default());
        };
        self.views[number].reach(at)?;
        let stream_class = event.trace().streams()[event.stream()].class;
        let class = self
            .classes
            .entry((trace, stream_class, event.class().index))
            .or_insert_with(|| Class::of(event, is_user, self.fd_fields));
        let (view, unknown) = (&self.views[number], &mut self.unknown[number]);
        let Some(part) = view.part.as_ref().filter(|part| !part.is_over(at)) else {
            *unknown += 1;
            return Ok(Explanation::default());
        };
        let number = |field: &FieldRef| event.signed(field).and_then(|number| i32::try_from(number).ok());
        let is_end = matches!(class.kind, Kind::Switch | Kind::CallExit);
        let origin = Origin { cpu, tid: class.tid.as_ref().and_then(number), is_user, is_end };
        let Some(thread) = view.thread_of(part, origin, at) else {
            *unknown += 1;
            return Ok(Explanation::default());
        };
        let fd = |field: &FieldRef| number(field).filter(|fd| *fd >= 0);
        let descriptor = |fd: i32, at| view.descriptor(part, thread, fd, at);
        let fields =
            class.fds.iter().filter_map(|(name, field)| Some((name.as_str(), descriptor(fd(field)?, at))));
        let mut fds: Vec<_> = fields.collect();
        let made = class.ret.as_ref().and_then(fd).map(|fd| descriptor(fd, at));
        fds.extend(made.filter(|it| it.file.is_some_and(|file| is_made_at(file, at))).map(|it| ("ret", it)));
        let call = match &class.kind {
            Kind::CallExit => part.ended_call(thread, at),
            _ => part.call_at(thread, at),
        };
        let ended = match &class.kind {
            Kind::CallExit => call.map(|it| (&it.name, it.start)),
            Kind::PhaseEnd(stem) => part.ended_phase(thread, at, stem).map(|it| (&it.name, it.start)),
            Kind::Switch | Kind::Other => None,
        };
        let periods = view.ended_periods(thread, at).iter().map(|(name, start)| (name, *start));
        let took = |(name, start): (&'e Name, RawNs)| view.took(part, name, Span { thread, start, end: at });
        let took = ended.into_iter().chain(periods).map(took).collect::<Result<_, _>>()?;
        Ok(Explanation {
            who: view.who(thread, at),
            state_at: Some(StateAt { part, thread, at, is_end }),
            call: view.call(part, thread, at, call, class.kind == Kind::CallExit),
            fds,
            took,
        })
    }

    /// The hosts with events whose thread is not known, and how many.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, u64)> {
        let hosts = self.views.iter().map(|view| view.store.entry().name.as_str());
        hosts.zip(self.unknown.iter().copied()).filter(|(_, count)| *count > 0)
    }
}

impl View<'_> {
    fn who(&self, thread: ThreadRow, at: RawNs) -> Option<Who<'_>> {
        let it = self.store.thread(thread)?;
        let leader = it.pid.filter(|_| it.pid != it.tid).and_then(|pid| self.numbered(pid, at));
        let process = match leader {
            Some(leader) => self.store.thread(leader).and_then(|leader| leader.comm_at(at)),
            None => it.comm_at(at).filter(|_| it.pid.is_some() && it.pid == it.tid),
        };
        Some(Who { thread: it, comm: it.comm_at(at), process })
    }

    fn descriptor<'p>(&self, part: &'p Part<'_>, thread: ThreadRow, fd: i32, at: RawNs) -> Descriptor<'p> {
        match self.file(part, thread, fd, at) {
            Some((file, is_doubtful)) => Descriptor { fd, file: Some(file), is_doubtful },
            None => Descriptor { fd, file: None, is_doubtful: false },
        }
    }

    /// The call of a thread at an instant: a whole one that is found already, or one of which an end is
    /// missing. `is_exit`: it returns then.
    fn call<'p>(
        &'p self,
        part: &'p Part<'_>,
        thread: ThreadRow,
        at: RawNs,
        whole: Option<&'p CallSpan>,
        is_exit: bool,
    ) -> Option<InCall<'p>> {
        // Its descriptor is that of its entry: it may be closed by now.
        let fd = |fd: Option<i32>, since| fd.map(|fd| self.descriptor(part, thread, fd, since));
        if let Some(it) = whole {
            return Some(InCall {
                name: Some(&it.name),
                start: Some(it.start),
                is_sure: true,
                fd: fd(it.fd, it.start),
            });
        }
        let it = part.open_call(thread, at, is_exit)?;
        let name = it.name.as_deref().filter(|name| !name.is_empty());
        Some(InCall { name, start: it.start, is_sure: it.is_sure, fd: fd(it.fd, it.start.unwrap_or(at)) })
    }

    fn took<'p>(&'p self, part: &'p Part<'_>, name: &'p str, span: Span) -> Result<Took<'p>, StoreError> {
        let ns = (span.end - span.start).max(0) as u64;
        let parts = self.spent(part, span)?.into_parts(ns).into_iter();
        let by = |actor: Actor| match actor {
            Actor::Thread(thread) => self.who(thread, span.end).map(By::Thread),
            Actor::Context(context) => Some(By::Context(context)),
        };
        let parts = parts.map(|((cause, detail, relation, actor), (count, ns))| TimeSpent {
            cause,
            detail,
            relation,
            by: actor.and_then(by),
            count,
            ns,
        });
        Ok(Took { name, start: span.start, ns, parts: parts.collect() })
    }
}
