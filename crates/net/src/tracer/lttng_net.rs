//! The network tracepoints of LTTng-modules 2.9 and later: `net_dev_queue` and `net_if_receive_skb` with the
//! headers of network and transport in them.
//!
//! Three layouts exist over the versions: until 2.10 the protocol number chooses the transport header (TCP or
//! none), from 2.11 on a field of its own does, from 2.13 on there are UDP and ICMP as well. All of them are
//! variants whose tags the metadata name, so the fields are found by their names and never by position or
//! version.

use isochrone_ctf::Event;
use isochrone_ctf::plan::{EventPlan, StreamPlan};

use super::shapes::{Number, Part, Shapes};
use super::{Extractor, headers};
use crate::packet::{Carried, Direction, Flow, Seen};

/// A packet is handed to a device for sending.
pub(super) const QUEUE: &str = "net_dev_queue";
/// A packet has come from a device.
pub(super) const RECEIVE: &str = "net_if_receive_skb";
/// The same before LTTng-modules 2.7 renamed it, and for kernels' own name.
pub(super) const RECEIVE_OLD: &str = "netif_receive_skb";

/// The direction of an event by its name.
pub(super) fn direction(event: &str) -> Option<Direction> {
    match event {
        QUEUE => Some(Direction::Sent),
        RECEIVE | RECEIVE_OLD => Some(Direction::Received),
        _ => None,
    }
}

/// An event with headers in it.
pub(super) struct NetEvent {
    direction: Direction,
    shapes: Shapes,
}

pub(super) fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    // Tracers before 2.9 have the events without the headers.
    class.payload_field(stream, &["network_header"])?;
    NetEvent::new(class).map(|event| -> Box<dyn Extractor> { Box::new(event) })
}

/// Those of the `net_data_experimental` branch before 2.9, with the transport header in a variant `transport_fields`, whose
/// option for TCP is `thtype_tcp`. Only sequence number, acknowledgement number and flags are known to be in every version
/// of the branch; addresses, ports and lengths are taken where they have the names that the kernel's headers give them.
pub(super) fn experimental_extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    for name in ["seq", "ack_seq", "flags"] {
        class.payload_field(stream, &["transport_fields", "thtype_tcp", name])?;
    }
    NetEvent::new(class).map(|event| -> Box<dyn Extractor> { Box::new(event) })
}

impl NetEvent {
    /// For a class of one of the names, if it has what a TCP segment is known by.
    pub(super) fn new(class: &EventPlan) -> Option<Self> {
        let direction = direction(class.name.as_deref()?)?;
        let shapes = Shapes::of(class.payload.as_ref()?)?;
        let needed = [Number::Seq, Number::Ack, Number::Flags];
        let complete = needed.into_iter().all(|number| shapes.have(Part::Number(number)));
        complete.then_some(Self { direction, shapes })
    }
}

impl Extractor for NetEvent {
    fn seen(&self, event: &Event<'_>) -> Seen {
        headers::seen(event, &self.shapes)
    }

    fn flow(&self, event: &Event<'_>) -> Option<(Flow, Carried)> {
        headers::flow(event, &self.shapes)
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}
