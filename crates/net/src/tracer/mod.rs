//! Tracer families: which events record packets, and how. One file a family.

mod headers;
mod lttng_addons;
mod lttng_net;
mod lttv;
pub mod mpi;
pub mod pending;
mod shapes;

use isochrone_ctf::Event;
use isochrone_ctf::plan::{EventPlan, StreamPlan};

use crate::packet::{Carried, Direction, Flow, Seen};

/// Reads packets out of the events of one class.
pub trait Extractor: Send + Sync {
    /// What an event of the class records. Linear in its fields.
    fn seen(&self, event: &Event<'_>) -> Seen;
    /// From where to where a packet of the class goes, on the loopback device too, and what it carries, where
    /// the tracer shows addresses and ports. Linear in its fields.
    fn flow(&self, _: &Event<'_>) -> Option<(Flow, Carried)> {
        None
    }
    /// Which way the packets of this event class pass.
    fn direction(&self) -> Direction;
}

/// The extractor for an event class, if it is one that records packets with their headers. Linear in the
/// fields of the class: made once a class, not once an event.
pub fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    let families =
        [lttng_net::extractor, lttng_net::experimental_extractor, lttng_addons::extractor, lttv::extractor];
    families.into_iter().find_map(|family| family(stream, class))
}

/// Whether a stream records arrivals by two events each, of which the second may lie in another stream.
pub fn has_split_arrivals(stream: &StreamPlan) -> bool {
    stream.events.iter().any(|class| class.name.as_deref().is_some_and(lttv::is_half))
}

/// Names of the events of today's tracers that packets are taken from, for messages about what is missing.
pub fn event_names(direction: Direction) -> &'static [&'static str] {
    match direction {
        Direction::Sent => &[lttng_net::QUEUE, lttng_addons::OUT],
        Direction::Received => &[lttng_net::RECEIVE, lttng_net::RECEIVE_OLD, lttng_addons::IN],
    }
}

/// The direction of an event that some family takes packets with their headers from, by its name.
pub fn direction_of(event: &str) -> Option<Direction> {
    let families = [lttng_net::direction, lttng_addons::direction, lttv::direction];
    families.into_iter().find_map(|family| family(event))
}
