//! Tracer families: which events tell of packets, and how. One file a family.

mod lttng_addons;
mod lttng_net;

use isochrone_ctf::Event;
use isochrone_ctf::plan::{EventPlan, StreamPlan};

use crate::record::{Direction, Packet};

/// What an event tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A packet that can be told from all others.
    Packet(Packet),
    /// A packet of a protocol that is not matched.
    OtherProtocol,
    /// A packet without its headers.
    NoHeader,
    /// A packet that never leaves the host.
    Loopback,
}

/// Reads packets out of the events of one class.
pub trait Extractor: Send + Sync {
    /// What an event tells of.
    fn seen(&self, event: &Event<'_>) -> Seen;
    /// Which way the packets of this event class pass.
    fn direction(&self) -> Direction;
}

/// The extractor for an event class, if it is one that tells of packets and holds their headers.
pub fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    lttng_net::extractor(stream, class).or_else(|| lttng_addons::extractor(stream, class))
}

/// Names of the events that any family takes packets from, for telling users what is missing.
pub fn event_names(direction: Direction) -> &'static [&'static str] {
    match direction {
        Direction::Sent => &[lttng_net::QUEUE, lttng_addons::OUT],
        Direction::Received => &[lttng_net::RECEIVE, lttng_net::RECEIVE_OLD, lttng_addons::IN],
    }
}

/// The direction of an event that some family takes packets from, by its name.
pub fn direction_of(event: &str) -> Option<Direction> {
    [Direction::Sent, Direction::Received]
        .into_iter()
        .find(|&direction| event_names(direction).contains(&event))
}
