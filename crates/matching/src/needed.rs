//! Which events of a trace a synchronization looks at: an excerpt of a trace with these gives the messages,
//! the evidence of who steers the clock, and the resolution of the stamps that the trace gives.

use isochrone_ctf::{Event, Trace};
use isochrone_hosts::CpuReferences;
use isochrone_net::tracer;
use isochrone_net::tracer::mpi::mpi_reader;

use crate::facts::NamespaceWatch;
use crate::stamps::StampGrid;
use crate::steering::SteeringWatch;

/// Selects the events of one stream, packet after packet.
pub struct NeededEvents<'t> {
    classes: Vec<Class>,
    watch: Option<SteeringWatch<'t>>,
    namespaces: NamespaceWatch,
    grid: StampGrid,
    /// What shows which CPUs there are.
    cpus: CpuReferences,
    has_switch: bool,
    /// Whether the next switch shows how long the caller of a call that sets the clock ran.
    wants_switch: bool,
}

/// What events of a class are needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Nothing, unless a stamp shows more of the clock's resolution.
    Stamp,
    /// Packets of the network, messages of MPI programs.
    Message,
    /// What thread runs.
    Switch,
    /// Who steers the clock.
    Steering,
    /// The exit of any call.
    AnyExit,
    /// A pid namespace.
    Namespace,
}

impl<'t> NeededEvents<'t> {
    /// For the stream of an index. Linear in its event classes.
    pub fn new(trace: &'t Trace, stream: usize) -> Self {
        let plan = trace.stream_plan(stream);
        let watch = SteeringWatch::new(plan, trace.clock(stream));
        let namespaces = NamespaceWatch::new(plan);
        let kind = |index: usize, name: Option<&str>| match name {
            _ if tracer::extractor(plan, &plan.events[index]).is_some() => Class::Message,
            _ if mpi_reader(plan, &plan.events[index]).is_some() => Class::Message,
            _ if namespaces.watches(index) => Class::Namespace,
            _ if !watch.as_ref().is_some_and(|watch| watch.watches(index)) => Class::Stamp,
            Some("sched_switch") => Class::Switch,
            Some("exit_syscall") => Class::AnyExit,
            _ => Class::Steering,
        };
        let names = plan.events.iter().map(|class| class.name.as_deref()).enumerate();
        let classes = names.map(|(index, name)| kind(index, name)).collect();
        let grid = StampGrid::default();
        let cpus = CpuReferences::new(plan);
        Self { classes, watch, namespaces, grid, cpus, has_switch: false, wants_switch: false }
    }

    /// Whether [`Self::select`] has to be given the events of a class of the next packet.
    pub fn may_need(&self, class: usize) -> bool {
        !matches!(self.classes.get(class), Some(Class::Stamp)) || !self.is_settled()
    }

    /// Whether the classes of which [`Self::may_need`] says so stay the same after the next packet.
    pub fn is_settled(&self) -> bool {
        self.grid.is_finest() && self.cpus.is_done()
    }

    /// Sets the flags of the events of the next packet that are needed, in the order of the stream: the first
    /// and the last of the packet among them, which show between which times it has events. Those that are
    /// not to be given ([`Self::may_need`]) make no difference but as the first and the last. Linear.
    pub fn select(&mut self, events: &[Event<'_>], flags: &mut [bool]) {
        let mut last_switch = None;
        for (index, event) in events.iter().enumerate() {
            let kind = self.classes.get(event.class().index).copied().unwrap_or(Class::Stamp);
            let mut is_needed = self.refines_grid(event);
            is_needed |= !self.cpus.is_done() && self.cpus.see(event);
            match kind {
                Class::Stamp => {}
                Class::Message => is_needed = true,
                Class::Namespace => is_needed |= self.namespaces.see(event),
                Class::Switch => {
                    let concerns = self.watch.as_mut().is_some_and(|watch| watch.see(event));
                    is_needed |= concerns || self.wants_switch || !self.has_switch;
                    if concerns && let Some(last) = last_switch {
                        flags[last] = true;
                    }
                    (self.has_switch, self.wants_switch) = (true, false);
                    last_switch = Some(index);
                }
                Class::AnyExit | Class::Steering => {
                    let is_watched = kind == Class::Steering
                        || self.watch.as_ref().is_some_and(SteeringWatch::has_calls_under_way);
                    if is_watched {
                        (is_needed, self.wants_switch) = (true, true);
                        if let Some(last) = last_switch {
                            flags[last] = true;
                        }
                    }
                    if let Some(watch) = &mut self.watch {
                        watch.see(event);
                    }
                }
            }
            flags[index] |= is_needed;
        }
        // What a later packet refers to: who runs since when.
        for edge in [Some(0), last_switch, events.len().checked_sub(1)].into_iter().flatten() {
            if let Some(flag) = flags.get_mut(edge) {
                *flag = true;
            }
        }
    }

    /// Whether the stamp of an event shows a finer resolution than those before.
    fn refines_grid(&mut self, event: &Event<'_>) -> bool {
        if self.grid.is_finest() {
            return false;
        }
        let before = self.grid;
        if let Some(cycles) = event.cycles().and_then(|cycles| i64::try_from(cycles).ok()) {
            self.grid.see(cycles);
        }
        self.grid != before
    }
}
