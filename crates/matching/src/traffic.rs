//! What traces show of the network: packets that leave and arrive, and how much of each a tracer recorded.

use isochrone_ctf::Trace;
use isochrone_net::{Direction, tracer};

use crate::facts::TraceFacts;

/// What a trace shows of packets, by direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    sent: Passed,
    received: Passed,
}

/// What a trace shows of packets in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passed {
    /// Packets that can be matched.
    pub packets: u64,
    /// Packets of protocols that are not matched.
    pub other: u64,
    /// Packets that were recorded without their headers.
    pub bare: u64,
    /// Packets whose headers were recorded, but not when they came: the tracer lost that event.
    pub unstamped: u64,
    /// Whether the metadata declare an event with packet headers.
    pub declared: bool,
    /// Whether they declare such an event without headers, as tracers before LTTng-modules 2.9 do.
    pub headerless: bool,
}

impl Traffic {
    /// What passed in a direction.
    pub fn of(&self, direction: Direction) -> Passed {
        match direction {
            Direction::Sent => self.sent,
            Direction::Received => self.received,
        }
    }

    pub(crate) fn of_mut(&mut self, direction: Direction) -> &mut Passed {
        match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        }
    }

    /// Adds what another source shows.
    pub fn join(&mut self, other: Self) {
        self.sent.join(other.sent);
        self.received.join(other.received);
    }
}

impl Passed {
    fn join(&mut self, other: Self) {
        self.packets += other.packets;
        self.other += other.other;
        self.bare += other.bare;
        self.unstamped += other.unstamped;
        self.declared |= other.declared;
        self.headerless |= other.headerless;
    }
}

/// Events that show packets with their headers pass in a direction, whatever the protocol: what a
/// [`crate::survey`] can know without a look into the packets. Linear in the event classes of all streams.
pub fn packet_events(trace: &Trace, facts: &TraceFacts, direction: Direction) -> u64 {
    let streams = facts.streams.iter().enumerate().map(|(stream, facts)| (trace.stream_plan(stream), facts));
    let classes = streams.flat_map(|(plan, facts)| {
        plan.events.iter().zip(&facts.classes).map(move |(class, tally)| (plan, class, tally))
    });
    classes
        .filter(|(_, class, tally)| {
            tally.count > 0 && class.name.as_deref().and_then(tracer::direction_of) == Some(direction)
        })
        .filter(|(plan, class, _)| tracer::extractor(plan, class).is_some())
        .map(|(_, _, tally)| tally.count)
        .sum()
}
