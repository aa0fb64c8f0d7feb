//! `isochrone info`: the content of traces, gathered in [`summary`], which is also the JSON, and as text in [`text`], where the chunks of a
//! rotated session are one: [`session`]. Captures are in [`captured`], and what hosts lack in [`coverage`].

pub(crate) mod captured;
pub(crate) mod coverage;
pub(crate) mod session;
pub(crate) mod summary;
pub(crate) mod text;
