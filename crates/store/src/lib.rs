//! Spans and states of hosts on disk, as Arrow files that any Arrow library opens, and that are read by thread and by time.
//!
//! [`SpanWriter`] consumes the spans of pieces in whatever order they come and writes them in batches, so that its memory does not
//! grow with the trace. When all pieces of a host are together, [`HostWriter::finish`] gives threads their final numbers, sweeps once over all spans in
//! the order of time and writes what each thread did from when to when ([`State`]), at full detail and in zoom levels.
//! [`Store`] reads it.
//!
//! A store is a directory: `store.json` ([`Manifest`]) and one directory for each host. It is written beside its place and renamed
//! when it is complete, so that a store is there as a whole or not at all. It can be deleted at any time.

mod batches;
mod error;
mod host_writer;
mod manifest;
mod merge;
mod messages;
mod packets;
mod state;
mod states;
mod store;
mod sweep;
mod table;
mod tables;
mod threads;
mod writer;
mod zoom;

pub use error::StoreError;
pub use host_writer::HostWriter;
pub use manifest::{HostEntry, Manifest, Source, TableEntry, VERSION};
pub use messages::{Message, MessageEnd, MessagesWriter};
pub use packets::Runner;
pub use state::{State, StateRow};
pub use store::{HostStore, Store, StoreWriter};
pub use threads::ThreadRow;
pub use writer::SpanWriter;
