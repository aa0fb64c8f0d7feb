//! Tables, reports of them, and the formats that they are written in.

pub(crate) mod cell;
pub mod csv;
pub mod json;
pub mod jsonl;
pub(crate) mod note;
pub(crate) mod report;
pub(crate) mod table;
