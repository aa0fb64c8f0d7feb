//! The files that a user names: traces and captures, found, opened and used once ([`Inputs`]); and files that
//! are written, whole or not at all, and never over what is read ([`output`]).

mod captures;
mod inputs;
pub mod output;

pub use captures::{InputCapture, is_capture};
pub use inputs::{InputTrace, Inputs, UnknownCapture};
