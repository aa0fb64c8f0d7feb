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
    let of = |pick: fn(&TraceFacts) -> (u64, u64)| {
        let picked = clock.traces.iter().map(|&trace| pick(&facts[trace]));
        picked.fold((0, 0), |sum, add| (sum.0 + add.0, sum.1 + add.1))
    };
    let packets = of(|f| f.packets);
    let bare = of(|f| f.bare);
    let declared = of(|f| (u64::from(f.declared.0), u64::from(f.declared.1)));
    let mut missing = Vec::new();
    let mut commands = Vec::new();
    let mut events = Vec::new();
    let sides = [
        (Direction::Sent, packets.0, bare.0, declared.0, "net_dev_queue"),
        (Direction::Received, packets.1, bare.1, declared.1, "net_if_receive_skb"),
    ];
    for (direction, packets, bare, declared, event) in sides {
        let verb = if direction == Direction::Sent { "leave" } else { "arrive" };
        if packets > 0 {
            continue;
        }
        if declared == 0 {
            let names = tracer::event_names(direction).join(", ");
            missing.push(format!("no event with packet headers shows what {verb}s (any of {names})"));
            events.push(event);
        } else if bare > 0 && direction == Direction::Received {
            missing.push(format!("none of the {bare} packets that {verb} carries a TCP header"));
            commands.push("ethtool -K DEVICE gro on   # the kernel shows headers of arriving packets only then".to_owned());
        } else {
            missing.push(format!("no TCP packet was seen to {verb} while it was traced"));
        }
    }
    if !events.is_empty() {
        commands.insert(0, format!("lttng enable-event --kernel {}", events.join(",")));
    }
    let host = clock.host.clone();
    (!missing.is_empty()).then(|| Advice { host, missing: missing.join("; "), commands })
}
