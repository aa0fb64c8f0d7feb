//! Packets of the network as hosts and switches saw them: one shape for the events of all tracers and for
//! captures, and the identity of a packet.
//!
//! The way through this crate: [`tracer`] finds the event classes that record packets and decodes their
//! events, one file a tracer family; [`captured`] does so with frames of captures. Both give [`Seen`]: a
//! [`Packet`], or why there is none. A [`PacketKey`] is what a packet is known by on its way: small enough to
//! be kept for many packets, and equal for two records of one packet by tracers that record the same parts. A
//! [`Sighting`] is a packet with its host, its time and the stream that holds its record.
//!
//! To decode events of one class:
//!
//! ```
//! use isochrone_ctf::Event;
//! use isochrone_ctf::plan::{EventPlan, StreamPlan};
//! use isochrone_net::{Packet, PacketKey, Seen, tracer};
//!
//! fn first_key(stream: &StreamPlan, class: &EventPlan, events: &[Event<'_>]) -> Option<PacketKey> {
//!     let extractor = tracer::extractor(stream, class)?; // once a class
//!     events.iter().find_map(|event| match extractor.seen(event) {
//!         Seen::Packet(packet) => Some(packet.key()),
//!         _ => None,
//!     })
//! }
//! ```
//!
//! Nothing here is kept, read from a disk or matched: this crate knows no hosts, no clocks and no messages.

pub mod captured;
pub mod key;
mod packet;
mod sighting;
pub mod tracer;

pub use key::{PacketKey, known};
pub use packet::{
    Carried, Datagram, Direction, Echo, Flow, Packet, Seen, Segment, Transport, flags, protocol,
};
pub use sighting::{Origin, Sighting, StreamRef};
