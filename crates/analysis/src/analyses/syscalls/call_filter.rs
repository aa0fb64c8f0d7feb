//! Which calls are requested.

use std::collections::BTreeSet;

use isochrone_kernel::{Half, HalfSyscall, Name, Syscall, ThreadId};
use isochrone_strace::error_in;
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use crate::options::Options;
use crate::snapshot::CurrentCall;
use crate::span_filter::SpanFilter;
use crate::window::When;

/// Which calls are requested. An empty list: all.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallFilter {
    names: Vec<WildMatch>,
    errors: BTreeSet<u16>,
    /// Of an instant, all spans come: CPUs and durations are looked at here.
    span_filter: Option<SpanFilter>,
}

impl CallFilter {
    pub(super) fn new(options: &Options, when: When) -> Self {
        let calls = &options.calls;
        Self {
            names: calls.names.clone(),
            errors: calls.errors.iter().copied().collect(),
            span_filter: when.at.map(|_| SpanFilter::new(options, Window::ALL)),
        }
    }

    fn name(&self, name: Option<&Name>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.iter().any(|set| set.matches(name)))
    }

    /// Whether a call is one of them.
    pub(super) fn call(&self, call: &Syscall<'_>) -> bool {
        let error = || error_in(call.exit.ret).is_some_and(|error| self.errors.contains(&error));
        (self.errors.is_empty() || error())
            && self.name(Some(&call.entry.name))
            && self.span_filter.as_ref().is_none_or(|span_filter| span_filter.syscall(call).is_some())
    }

    /// Whether a call whose entry or exit is missing is one of them. Its result is unknown.
    pub(super) fn half(&self, half: &HalfSyscall<'_>) -> bool {
        self.errors.is_empty()
            && self.name(half.name)
            && self.span_filter.as_ref().is_none_or(|span_filter| span_filter.half_syscall(half).is_some())
    }

    /// The same of one that was in progress at an instant.
    pub(super) fn in_progress(&self, thread: ThreadId, call: CurrentCall<'_>, at: RawNs) -> bool {
        let half = if call.since.is_some() { Half::Begin } else { Half::End };
        // The filter does not use the CPU of a call whose entry or exit is missing.
        self.half(&HalfSyscall { thread, cpu: 0, name: call.name, at, half, entry: None })
    }
}
