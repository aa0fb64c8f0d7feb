//! `isochrone info`: the content of traces, gathered in [`summary`], which is also the JSON, and as text in [`text`], where the chunks of a
//! rotated session are one: [`session`]. Captures are in [`captured`], and what hosts lack in [`coverage`].

use std::io::{self, Write};

use crate::render::figures;

pub(crate) mod captured;
pub(crate) mod coverage;
pub(crate) mod session;
pub(crate) mod summary;
pub(crate) mod text;

/// A line of the head.
fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {label:<12} {text}")
}

fn duration(ns: i128) -> String {
    figures::duration(i64::try_from(ns).unwrap_or(i64::MAX))
}
