//! Which trace events are messages between hosts, and what the messages say of the hosts' clocks.
//!
//! The way through this crate: [`Inputs`] finds and opens traces; [`isochrone_hosts::clocks`] says which clock stamps them; [`tracer`]
//! turns events into [`record::Sighting`]s of packets, [`mod@capture`] does so with captures; [`rounds`] reads all sources side by side; [`matching`] pairs
//! sightings to messages; `steering` says by the traces what is assumed of each clock; [`synchronize()`] hands the messages to `isochrone-clock` and puts the answer into an [`artefact::Artefact`], the `sync.json`. [`apply`] reads
//! events and times through an artefact, [`copies`] writes synchronized copies of traces, [`output`] files. [`survey`] tells what traces
//! hold without a look into their events. [`text_messages`] reads lists of messages, for which nothing has to be matched.
//!
//! Nothing is printed here: what a person should know comes back as values.

pub mod advice;
pub mod apply;
pub mod artefact;
mod assemble;
pub mod capture;
pub mod copies;
mod extract;
mod facts;
mod input;
mod links;
pub mod matching;
mod notes;
mod options;
pub mod output;
pub mod record;
pub mod rounds;
mod steering;
mod synchronize;
pub mod text_messages;
pub mod tracer;
pub mod traffic;
mod trusted;

pub use capture::{CaptureFacts, InputCapture};
pub use extract::{Extraction, extract, survey};
pub use facts::{StreamFacts, Tally, TraceFacts};
pub use input::{InputTrace, Inputs, Refused};
pub use options::Options;
pub use rounds::{Source, match_sources};
pub use steering::{ClockChoice, Lack, Untraced};
pub use synchronize::{Outcome, SyncError, synchronize, synchronize_messages};

/// Told how many bytes of the traces have been read since the last call; called from several threads.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);
