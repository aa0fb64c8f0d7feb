//! A host while it is exported: its store, its clock and its tracks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;

use isochrone_store::{HostStore, SliceSpan, StateRow, ThreadInfo, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{TimedHost, Timing, steps};

use super::counters::Counters;
use super::{ExportError, ExportInput, PART_ROWS};
use crate::timeline::{Flow, Lanes, Timeline, Track, TrackKind};

/// Tracks of a thread.
#[derive(Debug)]
pub(super) struct ThreadTracks {
    /// Its own track, with its calls.
    pub(super) track: Track,
    pub(super) states: Track,
    pub(super) calls: Lanes,
    pub(super) phases: Lanes,
    /// Its state at the end of the last part, which may continue in the next one, and the flow that ends
    /// where it starts.
    pub(super) state: Option<(StateRow, Option<Flow>)>,
}

/// Tracks of a CPU.
#[derive(Debug)]
pub(super) struct CpuTracks {
    pub(super) track: Track,
    /// Threads that ran.
    pub(super) running: Lanes,
    /// Interrupts and softirqs, and packets that they handled.
    pub(super) interrupts: Lanes,
}

impl CpuTracks {
    /// A track for interrupts.
    pub(super) fn interrupts_kind(&self) -> TrackKind<'static> {
        TrackKind::Under { parent: self.track, name: "interrupts" }
    }
}

/// What the CPUs of a host run, while its time is passed as events of the scheduler.
#[derive(Debug)]
pub(super) struct Sched {
    /// The number of the host's CPU 0 among those of all hosts.
    pub(super) first_cpu: u32,
    /// What each CPU runs, and until when.
    pub(super) runs: BTreeMap<u32, SliceSpan>,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host<'e> {
    /// Index among the hosts.
    pub(super) index: u32,
    pub(super) name: String,
    /// Number in the table of messages.
    pub(super) number: u32,
    pub(super) store: HostStore,
    pub(super) timing: Timing<'e>,
    /// The time that is exported.
    pub(super) window: Window<RawNs>,
    /// Its heading.
    pub(super) track: Track,
    /// By number; `None` of idle tasks.
    pub(super) threads: Vec<Option<ThreadTracks>>,
    /// Numbers of threads that have tracks.
    pub(super) numbers: Vec<ThreadRow>,
    pub(super) cpus: BTreeMap<u32, CpuTracks>,
    pub(super) disks: BTreeMap<u32, Lanes>,
    pub(super) counters: Counters,
    /// `None`: it has no events of the scheduler.
    pub(super) sched: Option<Sched>,
}

impl<'e> Host<'e> {
    /// Opens a host and adds tracks for it, its processes and its threads. `None`: it has no events, or no
    /// clock.
    pub(super) fn open<T: Timeline>(
        input: &ExportInput<'_, 'e>,
        timed: &TimedHost<'e>,
        index: u32,
        to: &mut T,
    ) -> Result<Option<Self>, ExportError> {
        let entry = input.store.manifest().hosts.iter().find(|entry| entry.id == timed.traced.id);
        let (Some(entry), Some(timing)) = (entry, timed.timing) else { return Ok(None) };
        let Some(Window { start: first, end: last }) = entry.range else { return Ok(None) };
        // The last event is in the window.
        let window = input.times.on(timing).window.clip(Window::new(first, last.saturating_add(1)));
        if window.is_empty() {
            return Ok(None);
        }
        let counters = Counters::new(steps(input.step_ns(), input.times, timed, timing)?);
        let name = timed.name();
        let track = to.track(&TrackKind::Host { host: index, name })?;
        let mut host = Self {
            index,
            name: name.to_owned(),
            number: entry.number,
            store: input.store.host(entry)?,
            timing,
            window,
            track,
            threads: Vec::new(),
            numbers: Vec::new(),
            cpus: BTreeMap::new(),
            disks: BTreeMap::new(),
            counters,
            sched: None,
        };
        host.add_threads(to)?;
        Ok(Some(host))
    }

    /// Adds tracks of all processes with their threads, by pid.
    fn add_threads<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        let mut processes: BTreeMap<i32, Vec<ThreadRow>> = BTreeMap::new();
        for (number, thread) in (0..).map(ThreadRow).zip(self.store.threads()) {
            self.threads.push(None);
            if let Some(tid) = thread.tid {
                processes.entry(thread.pid.unwrap_or(tid)).or_default().push(number);
                self.numbers.push(number);
            }
        }
        let host = self.index;
        for (pid, numbers) in processes {
            let thread = |number: ThreadRow| self.store.thread(number);
            // Several processes may have had a pid, one after the other: it is named after the last.
            let main =
                numbers.iter().rev().filter_map(|&number| thread(number)).find(|it| it.tid == Some(pid));
            let name = name_of(main.or_else(|| thread(*numbers.first()?)));
            to.track(&TrackKind::Process { host, pid, name, host_name: &self.name })?;
            for number in numbers {
                let Some((it, tid)) = thread(number).and_then(|it| Some((it, it.tid?))) else { continue };
                let track = to.track(&TrackKind::Thread { host, pid, tid, name: name_of(Some(it)) })?;
                let states = to.track(&TrackKind::Under { parent: track, name: "state" })?;
                let (calls, phases) = (Lanes::of(track), Lanes::default());
                self.threads[number.index()] =
                    Some(ThreadTracks { track, states, calls, phases, state: None });
            }
        }
        Ok(())
    }

    /// Parts of its time: together they hold all that starts in the window.
    pub(super) fn parts(&self) -> Vec<Window<RawNs>> {
        self.store.parts(self.window, PART_ROWS)
    }

    /// The first and the last instant of its time.
    pub(super) fn ends(&self) -> (RawNs, RawNs) {
        (self.window.start, RawNs(self.window.end.0 - 1))
    }

    /// A raw time on the common clock, no earlier than 1970.
    #[inline]
    pub(super) fn common(&self, raw: RawNs) -> UnixNs {
        UnixNs(self.timing.unix(raw).0.clamp(0, i64::MAX.into()))
    }

    /// A span on the common clock.
    #[inline]
    pub(super) fn span(&self, start: RawNs, end: RawNs) -> Window<UnixNs> {
        Window::new(self.common(start), self.common(end))
    }

    /// The tracks of a thread. `None`: it is an idle task, or was never identified.
    pub(super) fn thread(&mut self, number: Option<ThreadRow>) -> Option<&mut ThreadTracks> {
        self.threads.get_mut(number?.index())?.as_mut()
    }

    /// The track of a thread, unless it is an idle task or was never identified.
    pub(super) fn track_of(&self, number: Option<ThreadRow>) -> Option<Track> {
        Some(self.threads.get(number?.index())?.as_ref()?.track)
    }

    /// The name of a thread.
    pub(super) fn name_of(&self, number: Option<ThreadRow>) -> &str {
        name_of(number.and_then(|number| self.store.thread(number)))
    }

    /// Adds the tracks of a CPU, unless there are some; gives its number back.
    pub(super) fn add_cpu<T: Timeline>(&mut self, cpu: u32, to: &mut T) -> io::Result<u32> {
        if let Entry::Vacant(free) = self.cpus.entry(cpu) {
            let track = to.track(&TrackKind::Under { parent: self.track, name: &format!("CPU {cpu}") })?;
            free.insert(CpuTracks { track, running: Lanes::of(track), interrupts: Lanes::default() });
        }
        Ok(cpu)
    }

    /// The first track of the interrupts of a CPU, for packets and wake-ups that belong to no thread.
    pub(super) fn interrupts_of<T: Timeline>(&mut self, cpu: u32, to: &mut T) -> io::Result<Track> {
        let cpu = self.add_cpu(cpu, to)?;
        let Some(tracks) = self.cpus.get_mut(&cpu) else { return Ok(self.track) };
        if let Some(track) = tracks.interrupts.first() {
            return Ok(track);
        }
        let track = to.track(&tracks.interrupts_kind())?;
        tracks.interrupts = Lanes::of(track);
        Ok(track)
    }

    /// Ends all that is open.
    pub(super) fn finish<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        for index in 0..self.numbers.len() {
            let number = self.numbers[index];
            self.emit_last_state(number, to)?;
            if let Some(tracks) = self.thread(Some(number)) {
                tracks.calls.finish(to)?;
                tracks.phases.finish(to)?;
            }
        }
        for cpu in self.cpus.values_mut() {
            cpu.running.finish(to)?;
            cpu.interrupts.finish(to)?;
        }
        self.disks.values_mut().try_for_each(|disk| disk.finish(to))
    }
}

/// The name of a thread.
pub(super) fn name_of(thread: Option<&ThreadInfo>) -> &str {
    thread.and_then(|thread| thread.comm.as_deref()).unwrap_or("?")
}
