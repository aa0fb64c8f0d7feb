//! The spans around an instant, emitted to a consumer as the pass over the trace emits them: what shows the
//! state of a host at an instant (`isochrone_analysis`) needs no more than these.
//!
//! Of calls with a missing end, the ends next to the instant are emitted ([`crate::open_calls`]).

use isochrone_kernel::{Half, HalfSyscall, Name, Spans, Syscall, ThreadId, Unknown};
use isochrone_time::RawNs;

use crate::error::StoreError;
use crate::names::NameId;
use crate::replay::{Replay, entry, exit};
use crate::store::{HostStore, covering};
use crate::table::Row;
use crate::tables::{OpenCallRow, SyscallRow};

impl HostStore {
    /// Emits the spans that contain an instant to a consumer, with the ids of [`Self::thread_id`]: what the
    /// pass over the trace would emit of it. Descriptors that were open before they were first seen are among
    /// them. Each CPU is named once more, by an unknown time of no length. Reads the spans around the instant
    /// only, however long the trace is.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn emit_at(&self, at: RawNs, to: &mut impl Spans) -> Result<(), StoreError> {
        for &cpu in &self.entry().cpus {
            to.unknown(&Unknown { cpu, thread: None, begin: at, end: at });
        }
        let replay = Replay::new(self);
        let window = covering(at);
        replay.slices(window, to)?;
        replay.unknown(window, to)?;
        replay.off_cpus(window, to)?;
        replay.latencies(window, to)?;
        replay.irqs(window, to)?;
        replay.softirqs(window, to)?;
        replay.calls_at(at, to)?;
        replay.files(window, to)
    }
}

impl Replay<'_> {
    fn calls_at(&self, at: RawNs, to: &mut impl Spans) -> Result<(), StoreError> {
        let names = self.spans.call_names()?;
        let name_of = |NameId(name): NameId| names.get(name as usize);
        let mut call = |SyscallRow { thread, cpu, start, end, name, ret, .. }: SyscallRow| {
            let (Some(thread), Some(name)) = (self.id(thread), name_of(name)) else { return };
            let (entry, exit) = (entry(name), exit(ret));
            to.syscall(&Syscall { thread, cpu, begin: start, end, entry: &entry, exit: &exit });
        };
        // Any call shows that calls are traced.
        let has_whole = !self.spans.syscalls.covered().is_empty();
        if has_whole {
            call(SyscallRow::get(&self.spans.syscalls.read(0)?, 0));
        }
        let window = covering(at);
        self.spans.syscalls.overlapping(window, |view, row| {
            call(SyscallRow::get(view, row));
            Ok(())
        })?;
        let mut half = |thread: ThreadId, at: RawNs, half: Half, name: Option<&Name>| {
            to.half_syscall(&HalfSyscall { thread, cpu: 0, name, at, half, entry: None });
        };
        if !has_whole && !self.spans.open_calls.covered().is_empty() {
            let OpenCallRow { thread, from, until, .. } =
                OpenCallRow::get(&self.spans.open_calls.read(0)?, 0);
            match self.host.thread_id(thread) {
                Some(thread) if until <= at => half(thread, until, Half::End, None),
                Some(thread) if from > at => half(thread, from, Half::Begin, None),
                _ => {}
            }
        }
        self.spans.open_calls.overlapping(window, |view, row| {
            let OpenCallRow { thread, from, until, is_sure, start, name, .. } = OpenCallRow::get(view, row);
            let Some(thread) = self.host.thread_id(thread) else { return Ok(()) };
            let name = name.and_then(name_of);
            match (start, is_sure) {
                (Some(start), true) => half(thread, start, Half::Begin, name),
                (None, true) => half(thread, until, Half::End, name),
                // It was in the call until some time before the next one.
                (Some(start), false) => {
                    half(thread, start, Half::Begin, name);
                    half(thread, until, Half::Begin, None);
                }
                // It entered the call some time after the one before.
                (None, false) => {
                    half(thread, from, Half::End, None);
                    half(thread, until, Half::End, name);
                }
            }
            Ok(())
        })
    }
}
