//! Traces that are read and written, good and bad.

#![allow(clippy::unwrap_used)] // A test may panic.

mod attributes;
mod bad_traces;
mod columns;
mod common;
mod copies;
mod corpus;
mod ctf_1_8;
mod event_times;
mod excerpts;
#[cfg(target_os = "linux")]
mod forgotten;
mod growing;
mod hostile;
mod json_metadata;
mod limits;
mod merge;
mod parts;
mod rewritten;
mod roundtrip;
mod roundtrip_schema;
mod shared_metadata;
mod strict_ctf_2;
mod text_plan;
mod wide_numbers;
mod written;
mod written_ctf_2;
