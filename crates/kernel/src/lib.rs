//! Linux as LTTng shows it: kernel events become spans, and the models of pieces of a trace merge exactly.
//!
//! [`Decoder`] turns CTF events of all generations of the tracer into [`KernelEvent`]s. A [`PartialState`] is
//! made from the events of one piece of a host's trace; spans that are complete in the piece go to a consumer
//! of [`Spans`], and what depends on earlier or later pieces is kept. [`PartialState::merge`] joins a piece
//! to the next.
//!
//! The merge invariant: the model of a whole trace equals the merged models of any partition of it, byte for
//! byte. Nothing here reads files or prints.

mod address_spaces;
mod begin_end;
mod border;
mod call_owner;
mod call_owners;
pub mod calls;
mod canonical_map;
mod contexts;
mod cpu;
mod decode;
mod dense_map;
mod disk;
mod event;
pub mod files;
mod finished;
mod id;
mod in_flight;
mod interrupts;
mod loss_tracker;
mod merge;
mod missed;
mod partial_state;
mod periods;
mod program_events;
mod programs;
mod requests;
mod retire;
mod scheduling;
pub mod scratch;
mod span;
mod thread;
mod tid_table;
mod timeline;
mod with_threads;

#[cfg(test)]
mod testing;

pub use address_spaces::{AddressSpaces, Region, range_around};
pub use border::{Border, CpuLoss, CpuLossBegin};
pub use canonical_map::CanonicalMap;
pub use contexts::Context;
pub use decode::{Decoder, EventDecoder, cpu_of, is_page_fault};
pub use disk::device_numbers;
pub use event::{BlockStep, EventContext, FaultEvent, ForkEvent, KernelEvent, NO_CPU, PrevState, TaskRef};
pub use finished::{Finished, Threads};
pub use id::{Name, Namespace, PIECE_BEGIN, ThreadAliases, ThreadId};
pub use merge::MergeError;
pub use missed::Missed;
pub use partial_state::PartialState;
pub use periods::PeriodTally;
pub use program_events::ProgramLoss;
pub use programs::SwitchCoverage;
pub use requests::BlockTransfer;
pub use span::*;
pub use thread::{Facts, Names};
pub use with_threads::WithThreads;
