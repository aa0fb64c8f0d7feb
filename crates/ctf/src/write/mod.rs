//! Writing: metadata from a schema ([`metadata()`], by `tsdl` or by `json` with `json_classes`), traces from
//! values ([`TraceDirectory`] and [`PacketWriter`]), traces again from what was read ([`rewrite_trace`], also
//! as CTF 2: [`to_ctf_2`]), copies on another clock
//! ([`copy_trace`]), parts of a trace as traces ([`cut_trace`]), and excerpts ([`ExcerptWriter`]).
//!
//! [`encode()`] is the inverse of [`crate::plan::walk()`]; both follow the same compiled plan.

mod copy;
mod ctf_2;
mod cut;
mod encode;
mod excerpt;
mod files;
mod json;
mod json_classes;
mod json_text;
mod metadata;
mod packet;
mod sharing;
mod tsdl;

pub use copy::{CopySummary, NewClock, copy_trace, rewrite_trace, rewrite_trace_as};
pub use ctf_2::to_ctf_2;
pub use cut::{CutSummary, Selection, cut_trace};
pub use encode::{BitWriter, EncodeError, encode};
pub use excerpt::{Choose, ClassCount, ExcerptFile, ExcerptWriter, SeenPacket};
pub use files::{StreamFile, TraceDirectory};
pub use metadata::{Inexpressible, metadata};
pub use packet::{PacketHead, PacketWriter, WrittenPacket};
