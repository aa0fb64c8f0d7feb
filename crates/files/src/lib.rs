//! The files that a user names: traces and captures, found, opened and used once ([`Inputs`]); and files that
//! are written, whole or not at all, and never over what is read ([`output`]). Files of mapped chunks
//! ([`piece`]) hold excerpts of traces, which are opened as traces are.

mod captures;
mod excerpt;
mod inputs;
mod kept_recordings;
pub mod output;
mod packed;
pub mod piece;
mod recorded;
mod search;
mod spans;

pub use captures::{InputCapture, is_capture};
pub use excerpt::{
    ClassContent, EXCERPT, ExcerptError, ExcerptHead, OpenedExcerpt, StreamContent, excerpt_section,
    open_excerpt, traces_of_chunks,
};
pub use inputs::{ExcerptOf, InputTrace, Inputs, UnknownCapture};
pub use isochrone_import::list_beside;
pub use kept_recordings::{Conversions, KeptRecording, set_conversions};
pub use packed::{PackedError, is_packed, open_packed, unpack};
pub use recorded::{RecordingError, open_recording, recording};
pub use search::below;
