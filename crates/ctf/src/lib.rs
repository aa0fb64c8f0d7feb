#![doc = include_str!("../README.md")]
//!
//! # The way of a trace through this crate
//!
//! [`Trace::open`] reads the metadata, lowers them to a [`schema::Schema`], compiles that to a [`plan::Plan`]
//! and finds the packets; packets decode to [`Event`] views; fields are pulled out of events by
//! [`FieldRef`]s, gathered into [`Columns`] or pushed to a [`Visitor`]. [`merge`] puts events of many streams
//! in time order, [`dump`], [`text`] and [`json`] show them in bounded memory ([`room`]), [`mod@write`]
//! writes packets. [`live`] follows sessions of a relay daemon while they are recorded.

mod bits;
mod columns;
pub mod digits;
pub mod dump;
mod error;
mod floats;
pub mod json;
mod json_metadata;
pub mod live;
mod lower;
mod mapping;
pub mod merge;
mod metadata;
mod metadata_text;
pub mod plan;
pub mod room;
pub mod schema;
pub mod text;
mod text_error;
pub mod text_plan;
mod trace;
mod tsdl;
mod value;
pub mod write;

pub use columns::Columns;
pub use error::{DecodeError, Error, Reason};
pub use isochrone_diagnostic::{Diagnostic, FileError, Severity};
pub use mapping::Truncations;
#[cfg(unix)]
pub use mapping::{exit_on_truncation, survive_truncation};
pub use plan::{FieldRef, Text, Visitor};
pub use trace::{
    Counter, Event, Found, Growth, Loss, Lost, MissingFile, Packet, PacketCounters, PacketEvents, Position,
    Schemas, Stream, StreamEvents, Trace, TraceReport, find_traces, index,
};
pub use value::{Value, ValueVisitor};

/// Understands the text of metadata: for callers that write traces and have no file yet.
///
/// # Errors
/// The text is neither TSDL nor the JSON of CTF 2, or says something impossible.
///
/// ```
/// let schema = isochrone_ctf::parse_metadata(
///     "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
///      stream { event.header := struct { integer { size = 8; } id; }; };
///      event { name = tick; fields := struct { integer { size = 32; } n; }; };",
/// )?;
/// assert_eq!(schema.streams[0].events[0].name.as_deref(), Some("tick"));
/// # Ok::<(), isochrone_ctf::Error>(())
/// ```
pub fn parse_metadata(text: &str) -> Result<schema::Schema, Error> {
    metadata_text::schema(text, std::path::Path::new("metadata")).map(|(schema, _)| schema)
}
