//! Linux as LTTng shows it: kernel events become spans, and the models of pieces of a trace merge exactly.
//!
//! [`Decoder`] turns CTF events of all generations of the tracer into [`Happening`]s. A [`Chunk`] is made from those of one
//! piece of a host's trace; what can be said at once goes to a consumer of [`Spans`], and what depends on what was
//! before is kept. [`Chunk::merge`] stitches a piece to the next.
//!
//! The law of this crate: the model of a whole trace equals the merged models of any partition of it, byte for byte. Nothing
//! here reads files or prints.

mod border;
mod brackets;
pub mod calls;
mod chunk;
mod completeness;
mod decode;
pub mod files;
mod finished;
mod happening;
mod id;
mod interrupts;
mod keyed;
mod lives;
mod merge;
mod numbered;
mod scheduling;
mod span;
mod thread;
mod timeline;
mod under_way;

#[cfg(test)]
mod testing;

pub use border::{Border, Loss, LossBegin};
pub use chunk::Chunk;
pub use decode::{Decoder, Known, cpu_of};
pub use finished::{Finished, Threads};
pub use happening::{Happening, Left, Moment, Namespace, Party};
pub use id::{BEGIN, Name, Renames, ThreadId, Time};
pub use keyed::Keyed;
pub use merge::MergeError;
pub use span::{
    BlockRequest, Half, HalfSyscall, Irq, Latency, Migration, NetPacket, Off, OwnedHalfSyscall, OwnedSyscall,
    Pages, Phase, Recorder, Slice, Softirq, Span, Spans, Syscall, ThreadChange, ThreadEvent, Unknown, Wakeup,
    Why,
};
pub use thread::Facts;
