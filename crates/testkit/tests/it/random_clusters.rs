//! Random clusters: clocks do what is said of them, physics holds, and simulating is fast.

use std::collections::HashSet;

use isochrone_testkit::{Behaviour, Cluster, Protocol, SimClock};

/// The rule: rates stay within 0.1 ppm of a constant.
const WANDER_PPB: u32 = 100;

/// The least and the greatest mean rate of a clock over tenths of a second, ppb.
fn rates(clock: &SimClock, seconds: u64) -> (i64, i64) {
    let at = |n: u64| clock.raw(n as i64 * 100_000_000);
    let rates = (0..seconds * 10).map(|n| (at(n + 1) - at(n) - 100_000_000) * 10);
    (rates.clone().min().unwrap(), rates.max().unwrap())
}

/// Half of how far the rates of a clock lie apart: how far they are from the best constant. Rounding to nanoseconds
/// takes or gives 10 ppb.
fn wander(clock: &SimClock, seconds: u64) -> i64 {
    let (least, most) = rates(clock, seconds);
    (most - least) / 2
}

#[test]
fn clocks_keep_to_the_rule_or_break_it() {
    let mut kinds = HashSet::new();
    for seed in 0..400 {
        let (cluster, behaviour) = Cluster::random(seed, WANDER_PPB);
        kinds.insert(std::mem::discriminant(&behaviour));
        let wanders: Vec<i64> =
            cluster.hosts.iter().map(|host| wander(&host.clock, cluster.seconds)).collect();
        for (host, &wander) in wanders.iter().enumerate() {
            if behaviour.culprit() == Some(host) {
                assert!(wander > i64::from(WANDER_PPB) - 10, "{seed}: {wander} ppb of {behaviour:?}");
            } else {
                assert!(wander <= i64::from(WANDER_PPB) + 10, "{seed}: {wander} ppb of {behaviour:?}");
            }
        }
        let fast: Vec<usize> = (0..wanders.len())
            .filter(|&host| rates(&cluster.hosts[host].clock, 1).0 > 2_000_000_000)
            .collect();
        let expect = if let Behaviour::Fourfold { host } = behaviour { vec![host] } else { Vec::new() };
        assert_eq!(fast, expect, "{seed}");
        assert_eq!(behaviour.obeys(), behaviour.culprit().is_none());
    }
    assert_eq!(kinds.len(), 7, "every kind occurs");
}

#[test]
fn a_rule_of_straight_lines_is_kept_by_straight_lines() {
    for seed in 0..100 {
        let (cluster, behaviour) = Cluster::random_obeying(seed, 0);
        assert!(matches!(behaviour, Behaviour::Straight | Behaviour::Fourfold { .. }));
        assert!(cluster.hosts.iter().all(|host| wander(&host.clock, cluster.seconds) <= 10));
    }
}

/// Groups of hosts that links tie together.
fn islands(cluster: &Cluster) -> usize {
    let mut island: Vec<usize> = (0..cluster.hosts.len()).collect();
    for link in &cluster.links {
        let (from, to) = (island[link.a], island[link.b]);
        island.iter_mut().filter(|island| **island == from).for_each(|island| *island = to);
    }
    island.iter().collect::<HashSet<_>>().len()
}

#[test]
fn clusters_are_of_all_kinds() {
    let clusters: Vec<Cluster> = (0..500).map(|seed| Cluster::random(seed, WANDER_PPB).0).collect();
    let sizes: HashSet<usize> = clusters.iter().map(|cluster| cluster.hosts.len()).collect();
    assert!(sizes.contains(&2) && sizes.iter().all(|size| (2..=50).contains(size)), "{sizes:?}");
    assert!(sizes.iter().any(|&size| size > 30));
    let found: Vec<usize> = clusters.iter().map(islands).collect();
    assert!(found.iter().all(|&islands| islands == 1 || islands == 2));
    assert!((10..100).contains(&found.iter().filter(|&&islands| islands == 2).count()));
    let links: Vec<_> = clusters.iter().flat_map(|cluster| &cluster.links).collect();
    let share = |have: usize| have * 100 / links.len();
    let protocols = [Protocol::Tcp, Protocol::Udp, Protocol::Echo]
        .map(|protocol| share(links.iter().filter(|link| link.protocol == protocol).count()));
    assert!(protocols.iter().all(|&share| share >= 5) && protocols[0] > 70, "{protocols:?}");
    assert!(share(links.iter().filter(|link| link.one_way).count()) >= 2);
    assert!(share(links.iter().filter(|link| link.offload).count()) >= 10);
    for link in links {
        assert!((50..=3000).contains(&link.messages));
        assert!(link.min_delay_ns.iter().all(|delay| (20_000..=400_000).contains(delay)));
    }
}

#[test]
fn no_message_arrives_before_it_was_sent() {
    let mut messages = 0;
    for seed in 0..150 {
        let (cluster, behaviour) = Cluster::random(seed, WANDER_PPB);
        let simulation = cluster.simulate().unwrap();
        let again = Cluster::random(seed, WANDER_PPB).0.simulate().unwrap();
        assert_eq!(simulation, again, "{seed}");
        for packet in &simulation.packets {
            let link = &cluster.links[packet.link];
            let shortest = link.min_delay_ns[usize::from(packet.from == link.b)];
            for arrival in simulation.arrivals(packet) {
                assert!(arrival.received_true - packet.sent_true >= shortest, "{seed}: {packet:?}");
            }
        }
        // Clocks do not go back: packets in true order have stamps in order.
        for host in 0..cluster.hosts.len() {
            let stamps: Vec<i64> = simulation.sent(host).map(|packet| packet.sent_raw).collect();
            assert!(stamps.is_sorted(), "{seed}: {behaviour:?}");
            assert!(stamps.iter().all(|&raw| raw > 0));
        }
        messages += simulation.messages().count();
    }
    assert!(messages > 300_000, "{messages}");
}
