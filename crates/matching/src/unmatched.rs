//! Why hosts that saw the same packets have no messages: what is missing to know which saw them first, and
//! which declarations of captures would show it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use isochrone_hosts::clocks::HostClock;

use crate::capture::{CaptureFacts, Station};
use crate::matcher::{Summary, Undirected};
use isochrone_files::InputCapture;

/// By two clocks, the lower first: why packets that both saw are no messages, a sentence without its full
/// stop. Of pairs with a capture alone: that a host has what a switch sent it and another one, too, is not
/// reported.
pub fn reasons(
    clocks: &[HostClock],
    summary: &Summary,
    captures: &[InputCapture],
    facts: &[CaptureFacts],
) -> BTreeMap<(usize, usize), String> {
    let captures = &Captures { inputs: captures, facts };
    let without = |pair: &(usize, usize)| {
        let messages = |from, to| summary.pairs.get(&(from, to)).map_or(0, |counts| counts.messages);
        messages(pair.0, pair.1) == 0 && messages(pair.1, pair.0) == 0
    };
    let pairs = summary.undirected.iter().filter(|(pair, _)| without(pair));
    pairs
        .filter_map(|(&(a, b), &counts)| Some(((a, b), reason([&clocks[a], &clocks[b]], counts, captures)?)))
        .collect()
}

/// The captures among the inputs, and what is known of them.
struct Captures<'c> {
    inputs: &'c [InputCapture],
    facts: &'c [CaptureFacts],
}

fn reason(pair: [&HostClock; 2], counts: Undirected, captures: &Captures<'_>) -> Option<String> {
    let captured = pair.map(|clock| clock.captures.first().copied());
    if captured == [None, None] {
        return None;
    }
    let [a, b] = pair.map(|clock| clock.host.as_str());
    let Undirected { received, sent, passed_on } = counts;
    let both = |packets: u64| match packets {
        1 => format!("1 packet is in both {a} and {b}"),
        packets => format!("{packets} packets are in both {a} and {b}"),
    };
    if sent > 0 {
        return Some(format!(
            "{}, and each of the two says that it sent what is in both: they were taken at one host, or it \
             is wrong where one of them was taken, which --captured \
             corrects",
            both(sent + received)
        ));
    }
    if received == 0 {
        let what =
            "and each of the two passed on what is in both, so that it is not known which of them was first";
        return (passed_on > 0).then(|| format!("{}, {what}", both(passed_on)));
    }
    let is_on_the_way = |capture: &&usize| captures.facts[**capture].places.is_on_the_way();
    if !captured.iter().flatten().any(|capture| is_on_the_way(&capture)) {
        return Some(format!(
            "{}, and each of the two received what is in both from elsewhere, which does not tell which of \
             them was first",
            both(received)
        ));
    }
    let both = both(received);
    Some(match said(captured, captures).as_slice() {
        [] => {
            let named = captured.iter().flatten().filter(is_on_the_way);
            let named = named.map(|&capture| captures.inputs[capture].host());
            let inline: Vec<String> = named.map(|name| format!("--captured {name}=inline")).collect();
            format!(
                "{both}, but of frames that were captured on the way it is only proven that they were \
                 received; {}, where it is an inline tap or a software \
                 bridge, says that it sent them on after their stamps",
                inline.join(" or ")
            )
        }
        lines => format!(
            "{both}, but it is not known which of the two was first; say where they were taken: {}",
            lines.join(", or the other way round: ")
        ),
    })
}

/// What can be said of captures that may each be at either of two stations.
fn said(captured: [Option<usize>; 2], captures: &Captures<'_>) -> Vec<String> {
    let of = |capture: Option<usize>| {
        let capture = capture?;
        Some((captures.inputs[capture].host(), captures.facts[capture].places.either()?))
    };
    let option = |name: &str, station: Station| format!("--captured {name}={station}");
    match captured.map(of) {
        [Some((a, of_a)), Some((b, of_b))] => {
            // The second one is taken at the other end, whose packets come from other addresses.
            let line = |(station, addresses): (Station, &[IpAddr])| {
                let is_other =
                    |(_, others): &&(Station, &[IpAddr])| !others.iter().any(|ip| addresses.contains(ip));
                let (other, _) = of_b.iter().find(is_other).unwrap_or(&of_b[1]);
                format!("{} {}", option(&a, station), option(&b, *other))
            };
            of_a.map(line).into()
        }
        [Some((name, of)), None] | [None, Some((name, of))] => {
            of.map(|(station, _)| option(&name, station)).into()
        }
        [None, None] => Vec::new(),
    }
}
