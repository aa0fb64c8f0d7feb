//! One file a command.

pub(crate) mod convert;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod info;
pub(crate) mod sync;
