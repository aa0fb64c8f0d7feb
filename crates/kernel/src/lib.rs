//! Linux as LTTng shows it: kernel events become spans, and the models of pieces of a trace merge exactly.
//!
//! [`Decoder`] turns CTF events of all generations of the tracer into [`KernelEvent`]s. A [`PartialState`] is made from those of one
//! piece of a host's trace; what can be said at once goes to a consumer of [`Spans`], and what depends on what was
//! before is kept. [`PartialState::merge`] stitches a piece to the next.
//!
//! The law of this crate: the model of a whole trace equals the merged models of any partition of it, byte for byte. Nothing
//! here reads files or prints.

mod begin_end;
mod border;
pub mod calls;
mod canonical_map;
mod completeness;
mod contexts;
mod decode;
mod event;
pub mod files;
mod finished;
mod id;
mod in_flight;
mod interrupts;
mod merge;
mod numbered;
mod partial_state;
mod requests;
mod retire;
mod scheduling;
mod span;
mod thread;
mod tid_table;
mod timeline;

#[cfg(test)]
mod testing;

pub use border::{Border, CpuLoss, CpuLossBegin};
pub use canonical_map::CanonicalMap;
pub use contexts::Context;
pub use decode::{Decoder, EventDecoder, cpu_of};
pub use event::{BlockStep, EventContext, KernelEvent, Namespace, PrevState, TaskRef};
pub use finished::{Finished, Threads};
pub use id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
pub use merge::MergeError;
pub use partial_state::PartialState;
pub use requests::Asked;
pub use retire::{Retired, WithThreads};
pub use span::{
    BlockRequest, Cause, Half, HalfSyscall, Irq, Migration, NetPacket, OffCpu, OffCpuReason,
    OwnedHalfSyscall, OwnedSyscall, PageAllocation, Phase, Poll, Recorder, SchedLatency, Slice, Softirq,
    Span, Spans, Syscall, ThreadChange, ThreadEvent, Unknown, Wakeup,
};
pub use thread::Facts;
