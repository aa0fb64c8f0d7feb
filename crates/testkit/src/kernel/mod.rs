//! Scripted and random kernel traces, as LTTng-modules of several generations write them.
//!
//! A test says what happens with the methods of [`At`]; [`KernelScript`] writes it with the event classes, fields and
//! numbers of a [`Generation`]. [`RandomKernel`] makes such scripts of a seed.

mod at;
mod call_event;
mod call_table;
mod calls;
mod catalogue;
mod events;
mod generation;
mod random;
mod script;
mod simulator;
mod spec;
mod stream_writer;
mod tasks;

pub use at::At;
pub use generation::Generation;
pub use random::RandomKernel;
pub use script::KernelScript;
