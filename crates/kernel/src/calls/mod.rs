//! System calls: their arguments and results, as far as the model needs them. `isochrone-strace` has their
//! text.
//!
//! [`EntryDecoder`] and [`ExitDecoder`] are made once for an event class and then decode its events.
//! `catalog` has the calls that concern file descriptors, `numbers` the names of calls without an event
//! class, `effect` the effects of calls.

mod address;
mod catalog;
mod effect;
mod entry;
mod exit;
mod fields;
mod numbers;
mod object;
#[cfg(test)]
mod tests;
mod waiting;

use isochrone_strace::ArgumentValues;
pub use isochrone_strace::signal_name;
use serde::{Deserialize, Serialize};

use crate::id::Name;

pub use address::Address;
pub(crate) use catalog::created_by;
pub use catalog::{is_about_files, use_of};
pub use effect::{
    Created, Effect, ExitOutput, FileAction, Opener, Paired, Sharing, Use, clone_flag, open_flag,
};
pub use entry::{EntryDecoder, call_of_entry};
pub use exit::ExitDecoder;
pub(crate) use fields::Numbers;
pub use object::Object;
pub use waiting::{EpollChange, EpollReady, MAX_WAITED, Waited, WaitedSet};

/// Calls that continue where a signal came. Tracers record no exit of them; they do nothing else.
pub const WITHOUT_EXIT: [&str; 2] = ["rt_sigreturn", "sigreturn"];

/// The entry of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the call: `openat`.
    pub name: Name,
    /// Its effect on file descriptors if it succeeds.
    pub effect: Effect,
    /// Its arguments (`AT_FDCWD, "/etc/passwd", O_RDONLY`), if they were requested.
    pub arguments: Option<ArgumentValues>,
}

/// The exit of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Name of the call; `None` for `exit_syscall` of LTTng up to 2.2.
    pub name: Option<Name>,
    /// What it returned; -4095 … -1 are errors.
    pub ret: i64,
    /// What it records besides its result.
    pub output: ExitOutput,
    /// Its output arguments, if they were requested.
    pub arguments: Option<ArgumentValues>,
}
