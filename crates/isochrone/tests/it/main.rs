//! The program as it is run.

#![allow(clippy::unwrap_used)] // A test may panic.

mod bottleneck;
mod captures;
mod chunks;
mod cli;
mod common;
mod damaged_files;
mod damaged_stores;
mod explained;
mod foreign_times;
mod hosts;
mod info;
mod linux_reference;
mod live;
mod lttng_analyses;
mod methods;
mod mpi;
mod nightly;
mod outputs;
mod page_faults;
mod peers;
mod people;
mod phases;
mod pieces;
mod poor_answers;
mod poor_channels;
mod poor_states;
mod poor_traces;
mod programs;
mod python;
mod readme;
mod record;
mod recordings;
mod relay;
mod safe_outputs;
mod schemas;
mod scripted;
mod server;
mod shared;
mod span_pieces;
mod store;
mod sync;
mod terminal;
mod wait_tree;
mod watch;
