//! Which packets of traces and captures are messages between hosts, and what else one pass over them shows.
//!
//! [`isochrone_files::Inputs`] finds and opens traces and captures; [`isochrone_hosts::clocks`] says which
//! clock stamps them; [`isochrone_net`] turns events and frames into packets, and the sources of this crate
//! turn packets into [`Sighting`](isochrone_net::Sighting)s (`extract` those of traces, [`mod@capture`] those
//! of captures). [`Recordings`] reads all sources side by side, in the rounds of `rounds`; `matcher` pairs
//! sightings to messages; `mpi` finds messages of MPI programs. [`text_messages`] reads lists of messages,
//! for which nothing has to be matched; [`exchanges`] pairs messages with their answers, and [`sample`] keeps
//! some for pictures. [`steering`] is what the same pass shows of who steers each clock, [`stamps`] what the
//! stamps resolve. [`survey`] shows what traces hold without decoding the fields of their events.

mod beyond;
pub mod capture;
mod chain;
pub mod exchanges;
mod extract;
mod facts;
mod matcher;
mod missing;
mod mpi;
mod needed;
mod packet_decoder;
mod reading;
mod rounds;
pub mod sample;
pub mod stamps;
pub mod steering;
mod stream_source;
pub mod text_messages;
pub mod traffic;
pub mod unmatched;

pub use capture::CaptureFacts;
pub use extract::{Extraction, extract, survey};
pub use facts::{StreamFacts, Tally, TraceFacts};
pub use matcher::{End, Matched, Message, MessageSink, PairCounts, Summary, Undirected};
pub use mpi::{MpiEnd, MpiMatched, MpiSummary};
pub use needed::NeededEvents;
pub use reading::{Reading, Recordings, clocks_of};
pub use rounds::{PacketSource, match_sources};
