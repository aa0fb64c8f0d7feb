//! The tables of queries as a directory of Parquet files, for engines that know nothing of traces:
//! `isochrone index --parquet`.
//!
//! [`write()`] writes it, its [`files`] one after the other, [`Directory`] reads it, and [`manifest`] lists
//! its files.
//! A file has rows of one host and one day: `TABLE/host=NAME/day=2026-11-20/part-0.parquet`, as Hive names
//! them. `docs/parquet.md` is its documentation.

mod files;
mod manifest;
mod read;
mod shape;
mod write;

pub(crate) use read::{Directory, is_one};
pub(crate) use write::{Options, Written, check, write};
