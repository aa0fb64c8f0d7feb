//! Reads, writes and openings of files, and the files that file descriptors named.

pub(crate) mod annotated_call;
pub(crate) mod call;
pub(crate) mod durations;
pub(crate) mod fd_annotation;
pub(crate) mod fd_names;
pub(crate) mod row;
