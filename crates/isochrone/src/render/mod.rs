//! Rendering that several commands share.

pub(crate) mod complaints;
pub(crate) mod figures;
pub(crate) mod time;
