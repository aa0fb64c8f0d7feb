//! What `isochrone info` tells of traces: gathered in [`summary`], which is also the JSON; as text for people in [`text`].

pub(crate) mod summary;
pub(crate) mod text;
