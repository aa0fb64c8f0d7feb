//! Which trace events are messages between hosts, and what the messages say of the hosts' clocks.
//!
//! The way through this crate: [`Inputs`] finds and opens traces; [`isochrone_hosts::clocks`] says which clock stamps them;
//! [`isochrone_net`] turns events and frames into packets, and the sources of this crate them into
//! [`Sighting`](isochrone_net::Sighting)s (`extract` those of traces, [`mod@capture`] those of captures); [`rounds`] reads all sources side by side; [`matching`] pairs
//! sightings to messages; `steering` says by the traces what is assumed of each clock; [`synchronize()`] hands the messages to `isochrone-clock` and puts the answer into an [`artefact::Artefact`], the `sync.json`. [`apply`] reads
//! events and times through an artefact, [`copies`] writes synchronized copies of traces, [`output`] files. [`survey`] shows what traces
//! hold without a look into their events. [`text_messages`] reads lists of messages, for which nothing has to be matched.
//!
//! Nothing is printed here: what a person should know comes back as values.

pub mod advice;
pub mod apply;
pub mod artefact;
mod assemble;
mod beyond;
pub mod capture;
mod continued;
pub mod copies;
mod error;
pub mod evaluation;
pub mod exchanges;
mod extract;
mod facts;
mod input;
mod links;
pub mod matching;
mod mpi;
mod namespaces;
mod network_look;
mod notes;
mod options;
pub mod output;
pub mod picture;
mod refused;
pub mod resolution;
pub mod rounds;
pub mod sample;
mod shifted;
mod steering;
mod synchronize;
pub mod text_messages;
pub mod traffic;
mod trusted;
pub mod unfinished;
mod unmatched;
mod useless;

pub use capture::{CaptureFacts, InputCapture};
pub use continued::{Continued, KeptSync};
pub use error::SyncError;
pub use extract::{Extraction, extract, survey};
pub use facts::{StreamFacts, Tally, TraceFacts};
pub use input::{InputTrace, Inputs};
pub use mpi::{MpiEnd, MpiMatched, MpiSummary};
pub use options::Options;
pub use refused::{Refused, RefusedKind};
pub use rounds::{PacketSource, match_sources};
pub use steering::{ClockChoice, MissingEvidence, Untraced};
pub use synchronize::{
    Matching, Outcome, Sinks, clocks_of, match_only, mpi_messages, synchronize, synchronize_into,
    synchronize_messages, synchronize_messages_with, synchronize_with,
};

/// Called with the number of bytes of the traces that were read since the last call, from several threads.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);
