//! Which calls are asked for.

use std::collections::BTreeSet;

use isochrone_kernel::{Half, HalfSyscall, Name, Syscall, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::errno::error_in;
use crate::gate::Gate;
use crate::instant::InCall;
use crate::options::Options;
use crate::window::{When, Window};

/// Which calls are asked for. An empty set: all.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Wanted {
    names: BTreeSet<Name>,
    errors: BTreeSet<u16>,
    /// Of an instant, all spans are heard: CPUs and durations are looked at here.
    gate: Option<Gate>,
}

impl Wanted {
    pub(super) fn new(options: &Options, when: When) -> Self {
        let calls = &options.calls;
        Self {
            names: calls.names.iter().map(Name::from).collect(),
            errors: calls.errors.iter().copied().collect(),
            gate: when.at.map(|_| Gate::new(options, Window::default())),
        }
    }

    fn name(&self, name: Option<&Name>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.contains(name))
    }

    /// Whether a call is one of them.
    pub(super) fn call(&self, call: &Syscall<'_>) -> bool {
        let error = || error_in(call.exit.ret).is_some_and(|error| self.errors.contains(&error));
        (self.errors.is_empty() || error())
            && self.name(Some(&call.entry.name))
            && self.gate.as_ref().is_none_or(|gate| gate.syscall(call).is_some())
    }

    /// Whether a call of which one end is missing is one of them. What came of it is not known.
    pub(super) fn half(&self, half: &HalfSyscall<'_>) -> bool {
        self.errors.is_empty()
            && self.name(half.name)
            && self.gate.as_ref().is_none_or(|gate| gate.half_syscall(half).is_some())
    }

    /// The same of one that was in progress at an instant.
    pub(super) fn in_progress(&self, thread: ThreadId, call: InCall<'_>, at: Time) -> bool {
        let half = if call.since.is_some() { Half::Begin } else { Half::End };
        // The gate does not ask for the CPU of a call that is known by half.
        self.half(&HalfSyscall { thread, cpu: 0, name: call.name, at, half, entry: None })
    }
}
