//! What the traces of hosts lack for synchronization, and how to record it next time: packets, and what shows
//! who steers the clock.

use std::collections::HashSet;

use isochrone_hosts::clocks::HostClock;
use isochrone_net::{Direction, tracer};

use crate::steering::{MissingEvidence, Verdict};
use isochrone_matching::traffic::{Passed, Traffic};

/// What hosts lack, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The hosts, by name.
    pub hosts: Vec<String>,
    /// What is missing, a sentence without its full stop.
    pub missing: String,
    /// Commands to type on each of these hosts before the next recording.
    pub commands: Vec<String>,
}

/// Advice for every host that saw no usable packet leave or arrive, or that does not show who steers its
/// clock. Hosts that lack the same are listed together. `tied`: hosts that messages of programs tie to
/// others, which need no packets.
pub(crate) fn for_hosts(
    clocks: &[HostClock],
    traffic: &[Traffic],
    verdicts: &[Verdict],
    tied: &HashSet<usize>,
) -> Vec<Advice> {
    let untied = clocks.iter().enumerate().filter(|(number, _)| !tied.contains(number));
    let packets = untied.filter_map(|(_, clock)| for_host(clock, traffic));
    let of_clocks = clocks.iter().zip(verdicts);
    let steering = of_clocks.filter_map(|(clock, verdict)| Some(on_steering(clock, verdict.lack?)));
    let mut all: Vec<Advice> = Vec::new();
    for advice in packets.chain(steering) {
        let same =
            |known: &&mut Advice| (&known.missing, &known.commands) == (&advice.missing, &advice.commands);
        match all.iter_mut().find(same) {
            Some(known) => known.hosts.extend(advice.hosts),
            None => all.push(advice),
        }
    }
    all
}

/// What would show who steers the clock.
fn on_steering(clock: &HostClock, lack: MissingEvidence) -> Advice {
    let hosts = vec![clock.host.clone()];
    let untraced = match lack {
        MissingEvidence::Traced(untraced) => untraced,
        MissingEvidence::Constancy => {
            let missing = "a time daemon has the kernel change the rate of the clock at any time, which makes bounds wider; \
                           they are tighter with chronyd, whose calls can be traced, with more messages, \
                           and best while no \
                           daemon runs";
            return Advice { hosts, missing: missing.to_owned(), commands: Vec::new() };
        }
    };
    let wanted = [
        (untraced.list, "lttng enable-event --kernel 'lttng_statedump_*'   # who is there"),
        // Of these two one is enough where a list is.
        (untraced.switches && untraced.calls, "lttng enable-event --kernel sched_switch   # who runs"),
        (
            untraced.calls,
            "lttng enable-event --kernel --syscall clock_adjtime,adjtimex   # who sets the clock",
        ),
    ];
    let commands = wanted.iter().filter(|(lacks, _)| *lacks).map(|(_, command)| (*command).to_owned());
    let missing = "the traces do not tell well enough who steers the clock, which makes bounds wider; --clock HOST=free \
                   declares that nobody does";
    Advice { hosts, missing: missing.to_owned(), commands: commands.collect() }
}

fn for_host(clock: &HostClock, traffic: &[Traffic]) -> Option<Advice> {
    // What a capture lacks, no tracer can be set to record.
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
    Some(Advice { hosts: vec![clock.host.clone()], missing: missing.join("; "), commands })
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
                    "of what {verb}, {other} packets were traced and none is TCP, UDP or an ICMP echo: \
                     only these are \
                     matched"
                )
            }
        }
    }
}
