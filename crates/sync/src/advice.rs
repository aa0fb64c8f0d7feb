//! What a host's traces lack for synchronization, and how to record it next time.

use crate::extract::{TraceFacts, Traffic};
use crate::hosts::HostClock;
use crate::record::Direction;
use crate::tracer;

/// Why a host has nothing to match in a direction, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The host.
    pub host: String,
    /// What is missing, a sentence without its full stop.
    pub missing: String,
    /// Commands to type on that host before the next recording.
    pub commands: Vec<String>,
}

/// Advice for every host that saw no usable packet leave or arrive.
pub fn for_hosts(clocks: &[HostClock], facts: &[TraceFacts]) -> Vec<Advice> {
    clocks.iter().filter_map(|clock| for_host(clock, facts)).collect()
}

fn for_host(clock: &HostClock, facts: &[TraceFacts]) -> Option<Advice> {
    let total = |pick: fn(&TraceFacts) -> Traffic| {
        let mut total = Traffic::default();
        clock.traces.iter().for_each(|&trace| total.join(pick(&facts[trace])));
        total
    };
    let sides = [
        Side {
            verb: "leaves",
            event: "net_dev_queue",
            direction: Direction::Sent,
            traffic: total(|f| f.sent),
        },
        Side {
            verb: "arrives",
            event: "net_if_receive_skb",
            direction: Direction::Received,
            traffic: total(|f| f.received),
        },
    ];
    let lacking: Vec<&Side> = sides.iter().filter(|side| side.traffic.packets == 0).collect();
    if lacking.is_empty() {
        return None;
    }
    let missing: Vec<String> = lacking.iter().map(|side| side.missing()).collect();
    let mut commands = Vec::new();
    let events: Vec<&str> =
        lacking.iter().filter(|side| !side.traffic.declared).map(|side| side.event).collect();
    if !events.is_empty() {
        commands.push(format!("lttng enable-event --kernel {}", events.join(",")));
    }
    if lacking.iter().any(|side| side.direction == Direction::Received && side.hides_headers()) {
        commands.push(
            "ethtool -K DEVICE gro on   # only then does the kernel show the headers of what arrives"
                .to_owned(),
        );
    }
    Some(Advice { host: clock.host.clone(), missing: missing.join("; "), commands })
}

/// What a host's traces hold about one direction.
struct Side {
    verb: &'static str,
    /// The event to enable.
    event: &'static str,
    direction: Direction,
    traffic: Traffic,
}

impl Side {
    /// Whether packets were recorded, all without headers.
    fn hides_headers(&self) -> bool {
        self.traffic.bare > 0 && self.traffic.other == 0
    }

    fn missing(&self) -> String {
        let Self { verb, event, direction, traffic } = self;
        if traffic.headerless && !traffic.declared {
            return format!(
                "its {event} events hold no packet headers, so nothing shows which packet {verb}: \
                 LTTng-modules 2.9 or later record them"
            );
        }
        if !traffic.declared {
            let names = tracer::event_names(*direction).join(", ");
            return format!("no network event shows what {verb} (any of {names})");
        }
        if self.hides_headers() {
            return format!(
                "{} packets were traced of what {verb}, none of them with its headers",
                traffic.bare
            );
        }
        match traffic.other {
            0 => format!("no packet {verb} in the time it was traced"),
            other => {
                format!("of what {verb}, {other} packets were traced and none is TCP: only TCP is matched")
            }
        }
    }
}
