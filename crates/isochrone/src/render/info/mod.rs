//! What `isochrone info` tells of traces: gathered in [`summary`], which is also the JSON; as text for people in [`text`].
//! What it tells of captures is little enough for one place: [`captured`]; so is what is missing of hosts: [`coverage`].

pub(crate) mod captured;
pub(crate) mod coverage;
pub(crate) mod summary;
pub(crate) mod text;
