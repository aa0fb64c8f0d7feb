//! Records many Linux hosts at once, over the system's own `ssh` or on this machine, and collects what was
//! recorded. The command `isochrone record` shows what comes of it.
//!
//! Each host has one connection for the whole recording. A script ([`script`]) runs at its other end, is
//! spoken to by lines, and removes all that it made when the connection ends, whatever the reason. Nothing is
//! installed on a host, and nothing is left there.
//!
//! | module | what for |
//! |---|---|
//! | [`recipe`] | what is recorded, by purpose |
//! | [`script`] | the script of a host, and the quoting of arguments |
//! | [`target`] | names of hosts: how to reach them, and where their recordings go |
//! | [`remote`] | a host that is spoken to |
//! | [`checks`] | what is missing on a host, and the line that mends it |
//! | [`probe`] | round trips between hosts during the recording |
//! | [`session`] | all hosts together: each step on all of them at once |

pub mod checks;
pub mod probe;
pub mod recipe;
pub mod remote;
pub mod script;
pub mod session;
pub mod target;
