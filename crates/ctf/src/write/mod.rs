//! Writing packets: from values ([`PacketWriter`]), or as copies of a trace on another clock ([`copy_trace`]).
//!
//! [`encode()`] is the inverse of [`crate::plan::walk()`]; both follow the same compiled plan.

mod copy;
mod ctf_2;
mod encode;
mod files;
mod json;
mod json_classes;
mod metadata;
mod packet;
mod tsdl;

pub use copy::{CopySummary, NewClock, copy_trace, rewrite_trace, rewrite_trace_as};
pub use ctf_2::to_ctf_2;
pub use encode::{BitWriter, EncodeError, encode};
pub use files::{StreamFile, TraceDirectory};
pub use metadata::{Inexpressible, metadata};
pub use packet::{PacketHead, PacketWriter, WrittenPacket};
