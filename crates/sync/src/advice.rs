//! What a host's traces lack for synchronization, and how to record it next time.

use crate::extract::TraceFacts;
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
    let facts: Vec<&TraceFacts> = clock.traces.iter().map(|&trace| &facts[trace]).collect();
    let sides = [
        Side {
            verb: "leaves",
            event: "net_dev_queue",
            direction: Direction::Sent,
            packets: facts.iter().map(|f| f.packets.0).sum(),
            bare: facts.iter().map(|f| f.bare.0).sum(),
            declared: facts.iter().any(|f| f.declared.0),
            headerless: facts.iter().any(|f| f.headerless.0),
        },
        Side {
            verb: "arrives",
            event: "net_if_receive_skb",
            direction: Direction::Received,
            packets: facts.iter().map(|f| f.packets.1).sum(),
            bare: facts.iter().map(|f| f.bare.1).sum(),
            declared: facts.iter().any(|f| f.declared.1),
            headerless: facts.iter().any(|f| f.headerless.1),
        },
    ];
    let lacking: Vec<&Side> = sides.iter().filter(|side| side.packets == 0).collect();
    if lacking.is_empty() {
        return None;
    }
    let missing: Vec<String> = lacking.iter().map(|side| side.missing()).collect();
    let mut commands = Vec::new();
    let events: Vec<&str> = lacking.iter().filter(|side| !side.declared).map(|side| side.event).collect();
    if !events.is_empty() {
        commands.push(format!("lttng enable-event --kernel {}", events.join(",")));
    }
    if lacking.iter().any(|side| side.direction == Direction::Received && side.declared && side.bare > 0) {
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
    packets: u64,
    bare: u64,
    declared: bool,
    headerless: bool,
}

impl Side {
    fn missing(&self) -> String {
        let Self { verb, bare, .. } = self;
        if self.headerless && !self.declared {
            return format!(
                "its {} events hold no packet headers, so nothing shows which packet {verb}: \
                 LTTng-modules 2.9 or later record them",
                self.event
            );
        }
        if !self.declared {
            let names = tracer::event_names(self.direction).join(", ");
            return format!("no network event shows what {verb} (any of {names})");
        }
        match bare {
            0 => format!("no packet {verb} in the time it was traced"),
            _ => format!(
                "none of the {bare} packets of which a network event shows that it {verb} carries a TCP header"
            ),
        }
    }
}
