//! Between which times the events of a packet lie, as far as the packet and its neighbours show and its
//! tracer can be believed. An event elsewhere means that the packet is damaged: a wrong time at its start
//! moves all its events by a wrap of their few bits, which is seconds.

use super::Packet;
use crate::plan::EventTime;
use crate::schema::{ClockClass, EnvironmentValue, Schema, StreamClass};

/// Events may lie so far outside of what packets say, ns. LTTng up to 2.3 stamps the start of a packet before
/// it has closed the one before, which is microseconds; of the public corpus, the worst is 842 ns. What is to
/// be noticed is far more: 27 bits of a nanosecond clock wrap after 134 ms.
const SLACK_NS: i128 = 1_000_000;

/// What the times of the packets of one stream class are good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeRule {
    /// [`SLACK_NS`] in cycles.
    slack: u64,
    begins: bool,
    ends: Ends,
}

/// How far the end of a packet can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// No event is later.
    Firm,
    /// No event is later than it and the start of the next packet.
    OrNext,
    /// The same, and nothing is known of the last packet.
    OnlyNext,
    /// Not at all.
    Never,
}

impl TimeRule {
    /// The rule for a stream class. A class without a clock has no times that mean anything.
    pub(super) fn of(schema: &Schema, class: &StreamClass) -> Self {
        let Some(clock) = class.clock.and_then(|clock| schema.clocks.get(clock)) else {
            return Self { slack: 0, begins: false, ends: Ends::Never };
        };
        let (begins, ends) = tracer(schema);
        Self { slack: slack(clock), begins, ends }
    }

    /// The times that events of one packet of a stream can have, before its first event.
    pub(super) fn times(self, packets: &[Packet], number: usize) -> EventTime {
        let Some(packet) = packets.get(number) else { return EventTime::new(0) };
        let before = number.checked_sub(1).and_then(|before| packets.get(before)).and_then(sane_end);
        let next = packets.get(number + 1).and_then(Packet::begin);
        let earliest = packet.begin().filter(|_| self.begins);
        let earliest = earliest.map(|begin| before.map_or(begin, |end| end.min(begin)));
        let latest = sane_end(packet).filter(|_| !packet.has_narrow_end()).and_then(|end| match self.ends {
            Ends::Firm => Some(end),
            Ends::OrNext => Some(next.map_or(end, |next| next.max(end))),
            Ends::OnlyNext => next.map(|next| next.max(end)),
            Ends::Never => None,
        });
        EventTime {
            now: packet.begin().unwrap_or(0),
            earliest: earliest.map_or(0, |time| time.saturating_sub(self.slack)),
            latest: latest.map_or(u64::MAX, |time| time.saturating_add(self.slack)),
        }
    }
}

/// The end of a packet. Where a tracer was killed it is 0 or nonsense, and means nothing.
fn sane_end(packet: &Packet) -> Option<u64> {
    packet.end().filter(|&end| end > 0 && packet.begin().is_none_or(|begin| begin <= end))
}

fn slack(clock: &ClockClass) -> u64 {
    clock.cycles(SLACK_NS).unwrap_or(u64::MAX)
}

/// Whether the begins of a tracer's packets can be believed, and how far their ends.
fn tracer(schema: &Schema) -> (bool, Ends) {
    let number = |name: &str| match schema.environment.get(name) {
        Some(&EnvironmentValue::Integer(number)) => Some(number),
        _ => None,
    };
    let version = ["tracer_major", "tracer_minor", "tracer_patchlevel", "tracer_patch"].map(number);
    let [Some(major), Some(minor), patch, other_patch] = version else { return (true, Ends::OrNext) };
    let version = (major, minor, patch.or(other_patch).unwrap_or(0));
    match schema.environment_text("tracer_name") {
        // The end was taken from the event whose writer came last to its packet, which need not be the last
        // event.
        Some("lttng-modules") if version < (2, 9, 13) => (true, Ends::OnlyNext),
        Some("lttng-modules") if ((2, 10, 0)..(2, 10, 10)).contains(&version) => (true, Ends::OnlyNext),
        Some("lttng-ust") if version < (2, 11, 0) => (true, Ends::OnlyNext),
        Some("lttng-modules" | "lttng-ust") => (true, Ends::Firm),
        // The begin was taken after the first event.
        Some("barectf") if version < (2, 3, 1) => (false, Ends::Never),
        _ => (true, Ends::OrNext),
    }
}
