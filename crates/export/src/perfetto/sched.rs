//! Events of the scheduler as Ftrace records them: Perfetto makes its tables `sched` and `thread_state` of
//! these.
//!
//! They are written in bundles, each of one CPU, whose times are by a clock of our sequence of packets that
//! shows Unix ns.

use std::io::{self, Write};

use super::messages::{
    FTRACE_CLOCK_GLOBAL, FtraceEvent, FtraceEventBundle, IN_INTERRUPT, SEQUENCE_CLOCK, STATES_SINCE,
    SwitchEvent, SystemInfo, TracePacket, Utsname, WakingEvent, task_state,
};
use super::{Perfetto, timestamp};
use crate::timeline::{LeftAs, SchedSwitch, SchedWaking, Task};

/// Events of a bundle.
const BUNDLE: usize = 512;

/// The id of a thread, which fits: see `MAX_HOSTS`.
fn pid(id: i64) -> i32 {
    id as i32
}

pub(super) fn switch(switch: &SchedSwitch<'_>) -> FtraceEvent {
    let SchedSwitch { at, prev, prev_state, next, .. } = *switch;
    let state = match prev_state {
        LeftAs::Runnable => task_state::RUNNABLE,
        LeftAs::Interruptible => task_state::INTERRUPTIBLE,
        LeftAs::Uninterruptible => task_state::UNINTERRUPTIBLE,
        LeftAs::Stopped => task_state::STOPPED,
        LeftAs::Dead => task_state::DEAD,
        LeftAs::Unknown => task_state::UNKNOWN,
    };
    FtraceEvent {
        timestamp: Some(timestamp(at.0)),
        pid: u32::try_from(prev.id).ok(),
        sched_switch: Some(SwitchEvent {
            prev_comm: Some(prev.name.to_owned()),
            prev_pid: Some(pid(prev.id)),
            prev_prio: prev.priority,
            prev_state: Some(state),
            next_comm: Some(next.name.to_owned()),
            next_pid: Some(pid(next.id)),
            next_prio: next.priority,
        }),
        ..FtraceEvent::default()
    }
}

pub(super) fn waking(waking: &SchedWaking<'_>) -> FtraceEvent {
    let SchedWaking { at, waker, is_by_interrupt, woken, .. } = *waking;
    let Task { id, name, priority } = woken;
    FtraceEvent {
        timestamp: Some(timestamp(at.0)),
        pid: u32::try_from(waker).ok(),
        common_flags: Some(if is_by_interrupt { IN_INTERRUPT } else { 0 }),
        sched_waking: Some(WakingEvent { comm: Some(name.to_owned()), pid: Some(pid(id)), prio: priority }),
        ..FtraceEvent::default()
    }
}

impl<W: Write> Perfetto<W> {
    /// Adds an event of a CPU, and writes its bundle when that is full.
    pub(super) fn add_sched(&mut self, cpu: u32, event: FtraceEvent) -> io::Result<()> {
        if self.sched.is_empty() {
            self.start_sched(event.timestamp.unwrap_or_default())?;
        }
        let events = self.sched.entry(cpu).or_default();
        events.push(event);
        if events.len() < BUNDLE {
            return Ok(());
        }
        let events = std::mem::take(events);
        self.bundle(cpu, events)
    }

    /// Writes what is left.
    pub(super) fn finish_sched(&mut self) -> io::Result<()> {
        std::mem::take(&mut self.sched).into_iter().try_for_each(|(cpu, events)| self.bundle(cpu, events))
    }

    fn bundle(&mut self, cpu: u32, event: Vec<FtraceEvent>) -> io::Result<()> {
        if event.is_empty() {
            return Ok(());
        }
        let bundle = FtraceEventBundle { cpu: Some(cpu), event, ftrace_clock: Some(FTRACE_CLOCK_GLOBAL) };
        self.packet(TracePacket { ftrace_events: Some(bundle), ..TracePacket::default() })
    }

    /// The clock of bundles shows what Unix time is; states have the numbers of today's kernels.
    fn start_sched(&mut self, at: u64) -> io::Result<()> {
        let utsname = Utsname { sysname: Some("Linux".to_owned()), release: Some(STATES_SINCE.to_owned()) };
        let system_info = Some(SystemInfo { utsname: Some(utsname) });
        self.packet(TracePacket { system_info, ..TracePacket::default() })?;
        self.snapshot(at, (SEQUENCE_CLOCK, at))
    }
}
