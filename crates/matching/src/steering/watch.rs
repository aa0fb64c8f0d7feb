//! Watches one stream for events that show what steers the clock: the list of processes, switches, calls.
//!
//! [`mod@crate::extract`] shows every event of a watched class to a [`SteeringWatch`] in the same pass that
//! finds packets. `sched_switch` is the most frequent of all events, so that what is usual costs some ten
//! instructions; whatever is rare is apart.

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Event, FieldRef};
use isochrone_time::{RawNs, Window};

use super::daemons::{self, Comm, DAEMONS, Means};
use super::evidence::{Call, Calls, Half, MAX_DUMPS, StreamEvidence, Traced};

/// `CLOCK_REALTIME`: setting its rate is setting that of `CLOCK_MONOTONIC`, which stamps traces. Other clocks
/// do not matter.
const REALTIME: i64 = 0;
/// Calls under way on a CPU that are remembered.
const MAX_UNDER_WAY: usize = 64;

/// What is looked for in the events of a class.
enum Watcher {
    Switch(Box<Switch>),
    Enter(Box<End>),
    Exit(Box<End>),
    /// Old tracers have one class for the exits of all calls.
    AnyExit(Box<End>),
    Listed(Box<Listed>),
    ListBegins,
    ListEnds,
}

/// The names in `sched_switch`.
struct Switch {
    prev: FieldRef,
    next: FieldRef,
}

/// One end of a call that may set the clock.
struct End {
    procname: Option<FieldRef>,
    tid: Option<FieldRef>,
    /// `which_clock` at the entry, `ret` at the exit.
    value: Option<FieldRef>,
}

/// A thread in the list of processes.
struct Listed {
    name: FieldRef,
    tid: Option<FieldRef>,
}

/// A call that was entered on this CPU.
struct OpenCall {
    entry: Half,
    /// The last switch before it, in cycles.
    switch: Option<u64>,
}

/// Watches a stream.
pub(crate) struct SteeringWatch<'t> {
    stamps: &'t ClockClass,
    /// By event class.
    watchers: Vec<Option<Watcher>>,
    /// The last switch, in cycles.
    switch: Option<u64>,
    /// Who runs since then.
    current: Comm,
    /// Since when a daemon runs.
    on: Option<RawNs>,
    under_way: Vec<OpenCall>,
    /// Whether a caller was identified by a switch alone.
    identified_by_switch: bool,
    evidence: StreamEvidence,
}

impl<'t> SteeringWatch<'t> {
    /// `None` where no clock stamps the events.
    pub(crate) fn new(plan: &StreamPlan, stamps: Option<&'t ClockClass>) -> Option<Self> {
        let mut traced = Traced::default();
        for name in plan.events.iter().filter_map(|class| class.name.as_deref()) {
            traced.switches |= name == "sched_switch";
            match entered(name) {
                Some("adjtimex") => traced.adjtimex = true,
                Some("clock_adjtime") => traced.clock_adjtime = true,
                _ => {}
            }
        }
        Some(Self {
            stamps: stamps?,
            watchers: plan.events.iter().map(|class| Watcher::new(plan, class)).collect(),
            switch: None,
            current: Comm::default(),
            on: None,
            under_way: Vec::new(),
            identified_by_switch: false,
            evidence: StreamEvidence { traced, ..StreamEvidence::default() },
        })
    }

    /// Whether there is something to see in the events of a class.
    pub(crate) fn watches(&self, class: usize) -> bool {
        self.watchers.get(class).is_some_and(Option::is_some)
    }

    /// Whether a call that sets the clock was entered and has not returned.
    pub(crate) fn has_calls_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Looks at an event. Returns whether it is a switch from or to a thread that may be a daemon, or one
    /// while a daemon runs.
    #[inline]
    pub(crate) fn see(&mut self, event: &Event<'_>) -> bool {
        match &self.watchers[event.class().index] {
            None => false,
            Some(Watcher::Switch(fields)) => {
                let (prev, next) = (comm(event, &fields.prev), comm(event, &fields.next));
                let before = std::mem::replace(&mut self.switch, event.cycles());
                self.current = next;
                let concerns = daemons::may_be(&prev) || daemons::may_be(&next) || self.on.is_some();
                if concerns {
                    self.switch_of_daemon(&prev, &next, before);
                }
                concerns
            }
            Some(_) => {
                self.see_rare(event);
                false
            }
        }
    }

    /// A thread of a daemon, or one that is called like one at first sight, leaves the CPU or gets it.
    #[inline(never)]
    fn switch_of_daemon(&mut self, prev: &Comm, next: &Comm, before: Option<u64>) {
        let Some(now) = self.switch.and_then(|cycles| self.raw(cycles)) else { return };
        let left = daemons::find(prev);
        // Who was not seen to come was called otherwise then: it is a daemon since some instant of this run.
        let begin = self.on.take().or_else(|| {
            left?;
            Some(before.and_then(|cycles| self.raw(cycles)).unwrap_or(RawNs::MIN))
        });
        if let Some(begin) = begin {
            self.ran(left, begin, now);
        }
        if let Some(daemon) = daemons::find(next) {
            self.evidence.ran.entry(daemon).or_insert(now);
            self.on = (DAEMONS[daemon].means == Means::Calls).then_some(now);
        }
    }

    /// A run of a daemon is over; without a name, it was called otherwise at its end.
    fn ran(&mut self, daemon: Option<usize>, begin: RawNs, end: RawNs) {
        if let Some(daemon) = daemon {
            let first = self.evidence.ran.entry(daemon).or_insert(begin);
            *first = begin.min(*first);
        }
        if daemon.is_none_or(|daemon| DAEMONS[daemon].means == Means::Calls) {
            self.evidence.runs.add(Window::new(begin, end));
        }
    }

    #[inline(never)]
    fn see_rare(&mut self, event: &Event<'_>) {
        let watchers = std::mem::take(&mut self.watchers);
        let at = event.cycles().and_then(|cycles| self.raw(cycles));
        if let (Some(watcher), Some(at)) = (&watchers[event.class().index], at) {
            self.see_watched(watcher, event, at);
        }
        self.watchers = watchers;
    }

    fn see_watched(&mut self, watcher: &Watcher, event: &Event<'_>, at: RawNs) {
        let integer = |field: &Option<FieldRef>| field.as_ref().and_then(|field| event.signed(field));
        let dump = &mut self.evidence.dump;
        match watcher {
            Watcher::ListBegins if dump.begins.len() < MAX_DUMPS => dump.begins.push(at),
            Watcher::ListEnds if dump.ends.len() < MAX_DUMPS => dump.ends.push(at),
            Watcher::Listed(fields) => {
                dump.names.entry(daemons::named(&comm(event, &fields.name))).or_insert(at);
                dump.last = Some(at);
                if integer(&fields.tid) == Some(1) {
                    dump.init.get_or_insert(at);
                }
            }
            Watcher::Enter(end) => {
                let counts = integer(&end.value).is_none_or(|clock| clock == REALTIME);
                let entry = self.half(event, end, at, counts);
                if self.under_way.len() < MAX_UNDER_WAY {
                    self.under_way.push(OpenCall { entry, switch: self.switch });
                } else {
                    self.evidence.calls.overflow = true;
                }
            }
            Watcher::Exit(end) => {
                let exit = self.half(event, end, at, integer(&end.value).is_none_or(|ret| ret >= 0));
                match self.under_way.iter().rposition(|known| known.entry.fits(&exit)) {
                    Some(known) => self.left(known, &exit),
                    None => {
                        let Calls { left, overflow, .. } = &mut self.evidence.calls;
                        Calls::half(left, overflow, exit);
                    }
                }
            }
            Watcher::AnyExit(end) if !self.under_way.is_empty() => {
                let exit = self.half(event, end, at, integer(&end.value).is_none_or(|ret| ret >= 0));
                // Of another call, perhaps: it must be the same thread, or no other thread may have run
                // meanwhile.
                let is_its = |known: &OpenCall| match known.entry.tid.zip(exit.tid) {
                    Some((a, b)) => a == b,
                    None => known.switch == self.switch,
                };
                if let Some(known) = self.under_way.iter().rposition(is_its) {
                    self.left(known, &exit);
                }
            }
            Watcher::Switch(_) | Watcher::ListBegins | Watcher::ListEnds | Watcher::AnyExit(_) => {}
        }
    }

    /// A call that is under way ends.
    fn left(&mut self, known: usize, exit: &Half) {
        let OpenCall { entry, .. } = self.under_way.swap_remove(known);
        if entry.counts && exit.counts {
            self.evidence.calls.add(Call { start: entry.at, end: exit.at, caller: entry.caller });
        }
    }

    fn half(&mut self, event: &Event<'_>, end: &End, at: RawNs, counts: bool) -> Half {
        let recorded = end.procname.as_ref().map(|field| daemons::named(&comm(event, field)));
        let by_switch = || self.switch.map(|_| daemons::named(&self.current));
        self.identified_by_switch |= recorded.is_none();
        let caller = recorded.or_else(by_switch);
        let tid = end.tid.as_ref().and_then(|field| event.signed(field));
        Half { at, caller, tid, counts }
    }

    fn raw(&self, cycles: u64) -> Option<RawNs> {
        i64::try_from(self.stamps.raw_ns(cycles)).ok().map(RawNs)
    }

    /// All that was seen, when the stream has been read; `span` and `losses` of the stream.
    pub(crate) fn finish(
        mut self,
        span: Option<Window<RawNs>>,
        losses: Vec<Window<RawNs>>,
    ) -> StreamEvidence {
        let Some(span) = span else { return StreamEvidence::default() };
        self.evidence.switches = self.switch.is_some();
        if let Some(begin) = self.on.take() {
            self.ran(None, begin, span.end);
        }
        for run in &mut self.evidence.runs.spans {
            run.start = run.start.max(span.start);
        }
        self.evidence.ran.values_mut().for_each(|first| *first = span.start.max(*first));
        let Calls { whole, entered, left, overflow } = &mut self.evidence.calls;
        for OpenCall { entry, .. } in self.under_way {
            Calls::half(entered, overflow, entry);
        }
        // Where a switch may be missing, it is unknown who ran.
        if self.identified_by_switch && !losses.is_empty() {
            let of_calls = whole.iter_mut().map(|call| &mut call.caller);
            let of_halves = entered.iter_mut().chain(left).map(|half| &mut half.caller);
            of_calls.chain(of_halves).for_each(|caller| *caller = None);
        }
        StreamEvidence { span: Some(span), losses, ..self.evidence }
    }
}

/// The event that has a process of the list.
pub(super) const LISTED_PROCESS: &str = "lttng_statedump_process_state";

impl Watcher {
    fn new(plan: &StreamPlan, class: &EventPlan) -> Option<Self> {
        let field = |name: &str| class.payload_field(plan, &[name]);
        let context = |name: &str| class.context_field(plan, name);
        let end = |value: &str| {
            let (procname, tid) = (context("procname"), context("tid"));
            Box::new(End { procname, tid, value: field(value) })
        };
        Some(match class.name.as_deref()? {
            "sched_switch" => {
                Self::Switch(Box::new(Switch { prev: field("prev_comm")?, next: field("next_comm")? }))
            }
            LISTED_PROCESS => Self::Listed(Box::new(Listed { name: field("name")?, tid: field("tid") })),
            "lttng_statedump_start" => Self::ListBegins,
            "lttng_statedump_end" => Self::ListEnds,
            "exit_syscall" => Self::AnyExit(end("ret")),
            name if entered(name).is_some() => Self::Enter(end("which_clock")),
            name if left(name).is_some() => Self::Exit(end("ret")),
            _ => return None,
        })
    }
}

/// The call that sets the clock which an event of this name is the entry of.
fn entered(event: &str) -> Option<&str> {
    let native = event.strip_prefix("compat_").unwrap_or(event);
    setter(native.strip_prefix("syscall_entry_").or_else(|| native.strip_prefix("sys_"))?)
}

/// The call that sets the clock which an event of this name is the exit of.
fn left(event: &str) -> Option<&str> {
    setter(event.strip_prefix("compat_").unwrap_or(event).strip_prefix("syscall_exit_")?)
}

/// `settimeofday` and `clock_settime` are none: they set `CLOCK_REALTIME` alone.
fn setter(call: &str) -> Option<&str> {
    ["adjtimex", "clock_adjtime", "clock_adjtime64"].contains(&call).then_some(call)
}

/// The name of a thread in an event.
#[inline]
fn comm(event: &Event<'_>, field: &FieldRef) -> Comm {
    match event.text_head(field) {
        Some(comm) => *comm,
        None => elsewhere(event, field),
    }
}

/// A name that is no array of 16 bytes at a constant place.
#[inline(never)]
fn elsewhere(event: &Event<'_>, field: &FieldRef) -> Comm {
    event.text(field).map(daemons::named).unwrap_or_default()
}
