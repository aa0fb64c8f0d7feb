//! Spans and states of hosts on disk, as Arrow files that any Arrow library opens, and that are read by
//! thread and by time.
//!
//! [`SpanWriter`] consumes the spans of pieces in any order and writes them in batches, so that its memory
//! does not grow with the trace. When all pieces of a host are merged, [`HostWriter::finish`] gives threads
//! their final numbers, sweeps once over all spans in the order of time and writes zoom levels of the states
//! of each thread ([`State`]). [`Store`] reads it: states of a window in full detail are derived from the
//! spans that overlap it, as is what a host did at an instant ([`HostStore::emit_at`]).
//!
//! A store is a directory: `store.json` ([`Manifest`]) and one directory for each host. It is written under a
//! temporary name and renamed when it is complete, so that it exists as a whole or not at all. It can be
//! deleted at any time.

mod batches;
mod call_target;
mod cause;
mod cell;
mod checked;
mod columns;
mod error;
mod host_writer;
mod instant;
mod interval_stack;
mod lookups;
mod losses;
mod manifest;
mod mappings;
mod merge;
mod messages;
mod names;
mod open_calls;
mod open_files;
mod replay;
mod span_rows;
mod spans;
mod staging;
mod state;
mod states;
mod store;
mod sums;
mod sweep;
mod table;
mod tables;
mod threads;
mod waited_faults;
mod whole_state;
mod writer;
mod zoom;

pub use cause::{Cause, PAGE_FAULT, is_on_path, is_poll};
pub use columns::{TableColumns, TableFile};
pub use error::StoreError;
pub use host_writer::HostWriter;
pub use lookups::OpenCall;
pub use losses::{Loss, Missing};
pub use manifest::{HostEntry, Manifest, Recorded, Source, TableEntry};
pub use mappings::{MappedNow, MappingSpan};
pub use messages::{MessageEnd, MessagesWriter, MpiMessageEnd, MpiWriter, Runners};
pub use open_files::{Descriptors, OpenFile};
pub use replay::Replay;
pub use span_rows::{ForkSpan, HandlerSpan, ObjectUseSpan, PacketSpan, PollSpan, WakeupSpan};
pub use staging::{remove_left, remove_unfinished};
pub use state::{State, StateRow};
pub use store::{HostStore, Store, StoreWriter};
pub use sums::{Buckets, CallSum, Sums, Totals};
pub use table::{ColumnInfo, ColumnKind, TableInfo};
pub use tables::{
    BlockSpan, CallSpan, FaultSpan, Message, MpiMessage, OffSpan, PacketTakenSpan, PagesSpan, PhaseSpan,
    SliceSpan, UnknownSpan, VERSION, span_tables, tables,
};
pub use threads::{ThreadInfo, ThreadName, ThreadRow};
pub use waited_faults::{WaitedFault, WaitedFaults};
pub use writer::SpanWriter;
