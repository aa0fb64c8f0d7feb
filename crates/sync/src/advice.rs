//! What a host's traces lack for synchronization, and how to record it next time.

use crate::hosts::HostClock;
use crate::record::Direction;
use crate::tracer;
use crate::traffic::{Passed, Traffic};

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
pub fn for_hosts(clocks: &[HostClock], traffic: &[Traffic]) -> Vec<Advice> {
    clocks.iter().filter_map(|clock| for_host(clock, traffic)).collect()
}

fn for_host(clock: &HostClock, traffic: &[Traffic]) -> Option<Advice> {
    // What a capture lacks, no tracer can be told to record.
    if clock.traces.is_empty() {
        return None;
    }
    let mut total = Traffic::default();
    clock.traces.iter().for_each(|&trace| total.join(traffic[trace]));
    let sides = [
        Side {
            verb: "leaves",
            event: "net_dev_queue",
            direction: Direction::Sent,
            passed: total.of(Direction::Sent),
        },
        Side {
            verb: "arrives",
            event: "net_if_receive_skb",
            direction: Direction::Received,
            passed: total.of(Direction::Received),
        },
    ];
    let lacking: Vec<&Side> = sides.iter().filter(|side| side.passed.packets == 0).collect();
    if lacking.is_empty() {
        return None;
    }
    let missing: Vec<String> = lacking.iter().map(|side| side.missing()).collect();
    let mut commands = Vec::new();
    let events: Vec<&str> =
        lacking.iter().filter(|side| !side.passed.declared).map(|side| side.event).collect();
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
    passed: Passed,
}

impl Side {
    /// Whether packets were recorded, all without headers.
    fn hides_headers(&self) -> bool {
        self.passed.bare > 0 && self.passed.other == 0
    }

    fn missing(&self) -> String {
        let Self { verb, event, direction, passed } = self;
        if passed.headerless && !passed.declared {
            return format!(
                "its {event} events hold no packet headers, so nothing shows which packet {verb}: \
                 LTTng-modules 2.9 or later record them"
            );
        }
        if !passed.declared {
            let names = tracer::event_names(*direction).join(", ");
            return format!("no network event shows what {verb} (any of {names})");
        }
        if self.hides_headers() {
            return format!(
                "{} packets were traced of what {verb}, none of them with its headers",
                passed.bare
            );
        }
        match passed.other {
            0 => format!("no packet {verb} in the time it was traced"),
            other => {
                format!(
                    "of what {verb}, {other} packets were traced and none is TCP, UDP or an ICMP echo: only these are \
                     matched"
                )
            }
        }
    }
}
