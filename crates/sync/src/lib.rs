//! Putting the clocks of hosts on one: what messages between them say of their clocks.
//!
//! [`synchronize()`] reads traces and captures with `isochrone-matching`; `steering` concludes from the
//! traces what is assumed of each clock; `links` collects the messages of each pair of clocks for
//! `isochrone-clock`, whose answer `assemble` puts into an
//! [`Artefact`](isochrone_corrections::artefact::Artefact), the `sync.json`. [`Continued`] does the same
//! chunk by chunk, for sessions that are still recorded. [`evaluation`] judges a synchronization by its
//! messages; [`copies`] writes synchronized copies of traces.
//!
//! Nothing is printed here: what a person should know comes back as values.

pub mod advice;
mod assemble;
mod clock_groups;
mod continued;
pub mod copies;
mod error;
pub mod evaluation;
mod links;
mod notes;
mod options;
mod shifted;
mod steering;
mod synchronize;

pub use continued::{Continued, KeptSync};
pub use error::SyncError;
pub use options::{Datagrams, Options};
pub use steering::{ClockChoice, MissingEvidence, Untraced};
pub use synchronize::{
    Matching, Outcome, Sinks, match_only, synchronize, synchronize_into, synchronize_messages,
    synchronize_messages_with, synchronize_with,
};
