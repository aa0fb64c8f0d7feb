//! Rendering that several commands share.

mod assumptions;
mod calm;
pub(crate) mod complaints;
pub(crate) mod events;
pub(crate) mod figures;
mod happenings;
pub(crate) mod info;
pub(crate) mod plain;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod time;
