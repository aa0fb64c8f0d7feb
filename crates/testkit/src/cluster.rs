//! Clusters of hosts with wrong clocks, the links between them, and the truth about both.
//!
//! [`crate::traffic`] simulates the packets, [`crate::packets`] writes them as traces.

use crate::clock::SimClock;
use crate::error::Misuse;
use crate::random::Random;
use crate::traffic::Simulation;

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimHost {
    /// Name: the `hostname` of its trace and the directory it is written to.
    pub name: String,
    /// What it takes for the time.
    pub clock: SimClock,
    /// Cycles of its trace clock per second.
    pub frequency: u64,
    /// Cycles by which its trace clock goes on at once.
    pub tick: u64,
    /// Number of CPUs; each link is handled by one of them.
    pub cpus: u32,
    /// Whether it sends through a virtual network: its tracer sees each packet leave through `eth0.42` and some
    /// microseconds later through `eth0`, and its frames have a tag.
    pub vlan: bool,
    /// Whether its tracer sees packets arrive without their headers, as it does where the kernel does not merge what it
    /// receives, or where tags are not taken off by the device.
    pub headerless: bool,
}

/// What a link carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// A TCP connection.
    #[default]
    Tcp,
    /// UDP datagrams between two ports; what is sent again is a datagram of the same content.
    Udp,
    /// Echo requests of the first host, and the replies of the second: ICMP of either version. Nothing is sent again.
    Echo,
}

/// A link between two hosts: one connection. A host that is linked to itself talks to itself over its loopback device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimLink {
    /// Index of the one host.
    pub a: usize,
    /// Index of the other host.
    pub b: usize,
    /// Packets sent in both directions together, those sent again not counted.
    pub messages: u64,
    /// Shortest way from a to b and from b to a.
    pub min_delay_ns: [i64; 2],
    /// Mean of the exponentially distributed rest of the way.
    pub mean_extra_ns: u64,
    /// So many of a thousand packets wait in a queue besides.
    pub tail_permille: u32,
    /// Mean of the exponentially distributed wait in the queue.
    pub tail_mean_ns: u64,
    /// So many of a thousand packets never arrive and are not sent again.
    pub lost_permille: u32,
    /// So many of a thousand packets are sent twice; of half of these, the first never arrives.
    pub retransmitted_permille: u32,
    /// Whether only a sends.
    pub one_way: bool,
    /// How many of a thousand packets b sends, where both do.
    pub back_permille: u32,
    /// What it carries.
    pub protocol: Protocol,
    /// Whether TCP leaves segmentation to the devices: half of the departures are of up to 64 KiB, and arrive in segments,
    /// some of them merged again.
    pub offload: bool,
    /// Whether a is behind a translator of addresses: b knows it by another address and another port.
    pub translated: bool,
}

/// Hosts, links, and how long they are watched. True time begins at 0.
///
/// All parts are public and can be changed freely; methods set what all links have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The hosts.
    pub hosts: Vec<SimHost>,
    /// The links.
    pub links: Vec<SimLink>,
    /// How long messages are sent.
    pub seconds: u64,
    /// What all chance follows from.
    pub seed: u64,
}

impl SimLink {
    /// A link with 1000 messages, 50 µs and 200 µs more on average for each, no losses.
    pub fn between(a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            messages: 1000,
            min_delay_ns: [50_000; 2],
            mean_extra_ns: 200_000,
            tail_permille: 0,
            tail_mean_ns: 20_000_000,
            lost_permille: 0,
            retransmitted_permille: 0,
            one_way: false,
            back_permille: 500,
            protocol: Protocol::Tcp,
            offload: false,
            translated: false,
        }
    }
}

impl SimHost {
    /// A host called `h<number>` with a clock of 1 GHz that has run for up to some hours, up to 50 ppm too fast or too
    /// slow; the host is wrong about Unix time by up to 10 ms.
    pub fn drawn(number: usize, random: &mut Random) -> Self {
        let mut within = |limit: i64| random.below(2 * limit as u64 + 1) as i64 - limit;
        let offset = 10_000_000_000_000 + within(9_900_000_000_000);
        let clock = SimClock::new(offset, within(50_000)).unix_error(within(10_000_000));
        Self {
            name: format!("h{number}"),
            clock,
            frequency: 1_000_000_000,
            tick: 1,
            cpus: 1,
            vlan: false,
            headerless: false,
        }
    }
}

impl Cluster {
    /// Hosts with clocks drawn from the seed, and these pairs of them linked; watched for a minute.
    pub fn with_links(hosts: usize, links: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let links = links.into_iter().map(|(a, b)| SimLink::between(a, b)).collect();
        let empty = Vec::with_capacity(hosts);
        let mut cluster = Self { hosts: empty, links, seconds: 60, seed: 1 };
        cluster.draw_hosts(hosts);
        cluster
    }

    /// Each host is linked to the next.
    pub fn chain(hosts: usize) -> Self {
        Self::with_links(hosts, (1..hosts).map(|b| (b - 1, b)))
    }

    /// Each host is linked to every other.
    pub fn mesh(hosts: usize) -> Self {
        Self::with_links(hosts, (1..hosts).flat_map(|b| (0..b).map(move |a| (a, b))))
    }

    /// The first host is linked to every other.
    pub fn star(hosts: usize) -> Self {
        Self::with_links(hosts, (1..hosts).map(|b| (0, b)))
    }

    fn draw_hosts(&mut self, count: usize) {
        let random = Random::new(self.seed).part(u64::MAX - 1);
        self.hosts = (0..count).map(|n| SimHost::drawn(n, &mut random.part(n as u64))).collect();
    }

    /// Another seed: the hosts (with their clocks) are drawn anew.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self.draw_hosts(self.hosts.len());
        self
    }

    /// How long messages are sent.
    #[must_use]
    pub fn seconds(mut self, seconds: u64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Packets per link.
    #[must_use]
    pub fn messages(self, messages: u64) -> Self {
        self.each_link(|link| link.messages = messages)
    }

    /// Losses on every link, in thousandths.
    #[must_use]
    pub fn lossy(self, permille: u32) -> Self {
        self.each_link(|link| link.lost_permille = permille)
    }

    /// Retransmissions on every link, in thousandths.
    #[must_use]
    pub fn retransmitting(self, permille: u32) -> Self {
        self.each_link(|link| link.retransmitted_permille = permille)
    }

    /// On every link only the first host sends.
    #[must_use]
    pub fn one_way(self) -> Self {
        self.each_link(|link| link.one_way = true)
    }

    /// Changes every link.
    #[must_use]
    pub fn each_link(mut self, change: impl FnMut(&mut SimLink)) -> Self {
        self.links.iter_mut().for_each(change);
        self
    }

    /// Replaces the clock of a host, if there is such a host.
    #[must_use]
    pub fn clock(mut self, host: usize, clock: SimClock) -> Self {
        if let Some(host) = self.hosts.get_mut(host) {
            host.clock = clock;
        }
        self
    }

    /// A host by its index.
    ///
    /// # Errors
    /// There is no such host.
    pub fn host(&self, host: usize) -> Result<&SimHost, Misuse> {
        self.hosts.get(host).ok_or(Misuse::NoHost(host))
    }

    /// Sends the messages.
    ///
    /// # Errors
    /// A link names a host that does not exist.
    pub fn simulate(&self) -> Result<Simulation, Misuse> {
        Simulation::of(self)
    }

    /// What the clock of `b` shows when that of `a` shows a given time, both in raw ns: right to a nanosecond of
    /// rounding on either side.
    ///
    /// # Errors
    /// There is no such host.
    pub fn truth(&self, a: usize, b: usize) -> Result<impl Fn(i64) -> i64 + use<'_>, Misuse> {
        let (a, b) = (&self.host(a)?.clock, &self.host(b)?.clock);
        Ok(|raw_a| b.raw(a.true_ns(raw_a)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topologies_link_what_they_say() {
        let pairs = |cluster: Cluster| cluster.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>();
        assert_eq!(pairs(Cluster::chain(3)), [(0, 1), (1, 2)]);
        assert_eq!(pairs(Cluster::mesh(3)), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(pairs(Cluster::star(3)), [(0, 1), (0, 2)]);
        assert_eq!(Cluster::chain(1).links, []);
    }

    #[test]
    fn truth_is_the_clocks_own() {
        let cluster = Cluster::mesh(3).clock(1, SimClock::new(7, 0).step(500, 100).slew(1_000, 40_000));
        let there = cluster.truth(0, 1).unwrap();
        let back = cluster.truth(1, 0).unwrap();
        for t in [0, 499, 500, 1_000, 60_000_000_000] {
            let [a, b] = [0, 1].map(|host| cluster.hosts[host].clock.raw(t));
            assert!(there(a).abs_diff(b) <= 1 || t == 499, "{t}");
            assert!(back(b).abs_diff(a) <= 2, "{t}");
        }
        assert!(matches!(cluster.truth(0, 3), Err(Misuse::NoHost(3))));
    }

    #[test]
    fn seeds_draw_hosts_and_traffic() {
        let cluster = Cluster::chain(2).messages(50);
        assert_eq!(cluster.simulate().unwrap(), cluster.clone().simulate().unwrap());
        let other = cluster.clone().seeded(2);
        assert_ne!(cluster.hosts, other.hosts);
        assert_ne!(cluster.simulate().unwrap(), other.simulate().unwrap());
    }
}
