//! What `isochrone info` tells of traces: gathered in [`summary`], which is also the JSON; as text for people in [`text`].
//! The chunks of a rotated session are one there: [`session`]. What it tells of captures is little enough for one place: [`captured`]; so is
//! what is missing of hosts: [`coverage`].

pub(crate) mod captured;
pub(crate) mod coverage;
pub(crate) mod session;
pub(crate) mod summary;
pub(crate) mod text;
