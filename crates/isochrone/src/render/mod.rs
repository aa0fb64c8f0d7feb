//! Rendering that several commands share.

pub(crate) mod complaints;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod info;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod time;
