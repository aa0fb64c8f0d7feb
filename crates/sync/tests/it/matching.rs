//! Every message found in simulated clusters is one: what left at its one end had not arrived at the other
//! before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use isochrone_files::Inputs;
use isochrone_matching::{Matched, Message};
use isochrone_sync::{Options, synchronize, synchronize_with};
use isochrone_testkit::{Cluster, Family, SimClock, Simulation};
use isochrone_time::RawNs;

/// What a message is judged by: true times by clock and raw time.
struct Truth {
    sent: BTreeMap<(usize, RawNs), i64>,
    received: BTreeMap<(usize, RawNs), i64>,
    /// Copies that arrived, as messages.
    packets: BTreeSet<Message>,
}

impl Truth {
    fn of(simulation: &Simulation) -> Self {
        let mut truth = Self { sent: BTreeMap::new(), received: BTreeMap::new(), packets: BTreeSet::new() };
        for packet in &simulation.packets {
            truth.sent.insert((packet.from, RawNs(packet.sent_raw)), packet.sent_true);
            if let Some((received, received_true)) = packet.received_raw.map(RawNs).zip(packet.received_true)
            {
                truth.received.insert((packet.to, received), received_true);
                let (sender, receiver) = (packet.from, packet.to);
                truth.packets.insert(Message { sender, sent: RawNs(packet.sent_raw), receiver, received });
            }
        }
        truth
    }
}

/// Least shares of the packets that arrived that must be found, in percent.
fn check(cluster: &Cluster, family: Family, least_percent: usize) {
    let root = tempfile::tempdir().unwrap();
    let simulation = cluster.write(root.path(), family).unwrap();
    let arguments: Vec<PathBuf> = cluster.hosts.iter().map(|host| root.path().join(&host.name)).collect();
    let (hosts, messages, summary) = crate::common::messages_of(&arguments);
    let number = |name: &String| cluster.hosts.iter().position(|host| host.name == *name).unwrap();
    let numbers: Vec<usize> = hosts.iter().map(number).collect();
    let truth = Truth::of(&simulation);
    for message in &messages {
        let (sender, receiver) = (numbers[message.sender], numbers[message.receiver]);
        let left = truth.sent[&(sender, message.sent)];
        let arrived = truth.received[&(receiver, message.received)];
        assert!(left <= arrived, "{family:?}: {message:?} left at {left} and arrived at {arrived}");
        if family == Family::IPV4 {
            assert!(truth.packets.contains(&Message { sender, receiver, ..*message }), "{message:?}");
        }
    }
    let (found, arrived) = (messages.len(), truth.packets.len());
    assert!(found * 100 >= arrived * least_percent, "{family:?}: {found} of {arrived}");
    // Streams of traces, read in rounds of their own, give the same.
    let outcome = synchronize(&Inputs::open(&arguments), &Options::default(), &|_| {}).unwrap();
    assert_eq!(outcome.packets, summary);
}

#[test]
fn no_message_is_acausal_whatever_is_lost_and_repeated() {
    for seed in 0..8 {
        let cluster = Cluster::mesh(3).seeded(seed).seconds(30).messages(400);
        let poor = cluster.clone().lossy(100).retransmitting(150).each_link(|link| link.tail_permille = 50);
        check(&cluster, Family::IPV4, 100);
        check(&cluster, Family::IPV6, 99);
        check(&cluster, Family::Addons, 100);
        check(&poor, Family::IPV4, 100);
        check(&poor, Family::IPV6, 80);
        check(&poor, Family::Addons, 60);
    }
}

#[test]
fn clocks_that_are_wrong_about_unix_time_find_each_other() {
    // By an hour: the traces do not overlap; by some seconds: they do.
    for error in [3_600_000_000_000, -7_000_000_000, 15_000_000_000] {
        let clock = SimClock::new(77_000_000_000, 20_000).unix_error(error);
        let cluster = Cluster::chain(3).seconds(40).messages(500).clock(1, clock);
        check(&cluster, Family::IPV4, 100);
        check(&cluster, Family::IPV6, 98);
    }
}

/// The messages of traces, and the corrections that follow.
fn synchronized(directory: &Path) -> (Vec<Message>, String) {
    let inputs = Inputs::open(&[directory.to_owned()]);
    let mut messages = Vec::new();
    let mut sink = |matched: &Matched| messages.push(matched.message());
    let outcome = synchronize_with(&inputs, &Options::default(), &|_| (), &mut sink).unwrap();
    messages.sort_unstable();
    let clocks = outcome.clocks.iter().map(|it| (&it.entry.host, it.interval.rows())).collect::<Vec<_>>();
    (messages, format!("{clocks:?}"))
}

/// Chunks of a session are read one after the other, a whole trace at once: both have the same packets.
#[test]
fn chunks_of_sessions_give_the_messages_of_whole_traces() {
    for cluster in [Cluster::mesh(4), Cluster::star(5).lossy(80).retransmitting(80)] {
        let cluster = cluster.seconds(12).messages(600);
        let root = tempfile::tempdir().unwrap();
        let [whole, rotated] = ["whole", "rotated"].map(|name| root.path().join(name));
        let simulation = cluster.write(&whole, Family::IPV4).unwrap();
        for (number, host) in cluster.hosts.iter().enumerate() {
            let mut trace = cluster.trace(&simulation, number, Family::IPV4, |_| ()).unwrap();
            let turn = |second: i64| host.clock.raw(second * 1_000_000_000) as u64;
            trace.write_rotated(&rotated.join(&host.name), &(1..12).map(turn).collect::<Vec<_>>()).unwrap();
        }
        let [whole, rotated] = [&whole, &rotated].map(|directory| synchronized(directory));
        assert!(whole.0.len() > 1_000, "{} messages", whole.0.len());
        assert!(whole == rotated, "{} messages, {} in chunks", whole.0.len(), rotated.0.len());
    }
}
