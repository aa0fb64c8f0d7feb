//! Random links and clusters whose clocks are steered, and what is known of their daemons: cases for tests of guarantees.
//!
//! [`crate::steered`] makes the clocks, [`crate::exchange`] the messages. Unlike [`crate::cluster`] there are no packets: a
//! case is a list of messages, with the truth beside it.

use crate::clock::SimClock;
use crate::daemon::Daemon;
use crate::exchange::{Exchange, SimMessage};
use crate::random::Random;
use crate::random_cluster::topology;
use crate::steered::{Evidence, SteeredClock};

/// Lengths of traces, s.
const SECONDS: (u64, u64) = (10, 1_200);

/// A host of such a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeredHost {
    /// Its clock.
    pub clock: SteeredClock,
    /// What is known of its daemon.
    pub evidence: Evidence,
}

impl SteeredHost {
    /// A host with such a daemon, of which a random part is known.
    fn random(daemon: Daemon, seconds: u64, random: &mut Random) -> Self {
        let evidence = match random.below(4) {
            0 => Evidence::Nothing,
            1 | 2 if daemon.steers_by_calls() => Evidence::Calls,
            _ => Evidence::Daemon,
        };
        Self { clock: SteeredClock::random(daemon, seconds, random), evidence }
    }

    /// Whether what is assumed of its clock is true; see [`SteeredClock::is_kept`].
    pub fn is_kept(&self, wander_ppb: u32) -> bool {
        self.clock.is_kept(self.evidence, wander_ppb)
    }
}

/// Hosts with steered clocks, and what they send each other.
///
/// ```
/// use isochrone_testkit::{Daemon, SteeredCluster};
/// let link = SteeredCluster::random_link(Daemon::Adjtime, 7, 1_000);
/// assert_eq!((link.hosts.len(), link.hosts[1].clock.daemon), (2, Daemon::Adjtime));
/// assert!(link.messages().len() <= 1_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeredCluster {
    /// The hosts.
    pub hosts: Vec<SteeredHost>,
    /// The links between them.
    pub exchanges: Vec<Exchange>,
    /// How long they are watched, from true time zero on.
    pub seconds: u64,
    seed: u64,
}

impl SteeredCluster {
    /// Two hosts, the second with this daemon; the first one is straight in most cases. At most so many messages.
    pub fn random_link(daemon: Daemon, seed: u64, most: u64) -> Self {
        let mut random = Random::new(seed).part(3);
        let first = if random.permille(700) { Daemon::None } else { any_daemon(&mut random) };
        Self::random_with(&[first, daemon], &[(0, 1)], seed, most, &mut random)
    }

    /// Three to six hosts in a chain, a star, a mesh or a tree with some more links, each with a daemon of its own; a third of
    /// them has none. At most so many messages per link.
    pub fn random(seed: u64, most: u64) -> Self {
        let mut random = Random::new(seed).part(4);
        let count = 3 + random.below(4);
        let daemon = |random: &mut Random| match random.below(3) {
            0 => Daemon::None,
            _ => any_daemon(random),
        };
        let daemons: Vec<Daemon> = (0..count).map(|_| daemon(&mut random)).collect();
        let pairs = topology(0, count, &mut random);
        Self::random_with(&daemons, &pairs, seed, most, &mut random)
    }

    fn random_with(
        daemons: &[Daemon],
        pairs: &[(usize, usize)],
        seed: u64,
        most: u64,
        random: &mut Random,
    ) -> Self {
        let seconds = random.within(SECONDS);
        let hosts = daemons.iter().map(|&daemon| SteeredHost::random(daemon, seconds, random)).collect();
        let mut exchange = |&(a, b): &(usize, usize)| {
            let ends = if random.permille(500) { [a, b] } else { [b, a] };
            Exchange::random(ends, seconds, most, random)
        };
        let exchanges = pairs.iter().map(&mut exchange).collect();
        Self { hosts, exchanges, seconds, seed }
    }

    /// The clocks of all hosts.
    pub fn clocks(&self) -> Vec<&SimClock> {
        self.hosts.iter().map(|host| &host.clock.clock).collect()
    }

    /// All messages, link by link. The same cluster gives the same ones.
    pub fn messages(&self) -> Vec<SimMessage> {
        let random = Random::new(self.seed);
        let clock = |host: usize| &self.hosts[host].clock.clock;
        let of = |(number, exchange): (usize, &Exchange)| {
            let clocks = [clock(exchange.asks), clock(exchange.answers)];
            exchange.messages(clocks, self.seconds, &mut random.part(100 + number as u64))
        };
        self.exchanges.iter().enumerate().flat_map(of).collect()
    }

    /// Half the sum of the least delays there and back between two hosts, over the links where it is least: half as wide as
    /// what messages alone can show of two clocks, however many there are. `None` if no links lead there.
    pub fn ideal_half_width(&self, from: usize, to: usize) -> Option<i64> {
        let mut least = vec![None; self.hosts.len()];
        *least.get_mut(from)? = Some(0);
        // A shortest way has fewer links than there are hosts.
        for _ in &self.hosts {
            for exchange in &self.exchanges {
                let cost = exchange.floors_ns.iter().sum::<i64>() / 2;
                for (a, b) in [(exchange.asks, exchange.answers), (exchange.answers, exchange.asks)] {
                    let through = least[a].map(|so_far: i64| so_far + cost);
                    least[b] = [least[b], through].into_iter().flatten().min();
                }
            }
        }
        *least.get(to)?
    }
}

/// Some daemon, or what else moves a clock.
fn any_daemon(random: &mut Random) -> Daemon {
    Daemon::ALL[1 + random.below(Daemon::ALL.len() as u64 - 1) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_give_the_same_again() {
        for seed in 0..5 {
            let (first, again) = (SteeredCluster::random(seed, 400), SteeredCluster::random(seed, 400));
            assert_eq!(first, again);
            assert_eq!(first.messages(), again.messages());
            assert_ne!(first, SteeredCluster::random(seed + 1, 400));
        }
    }

    #[test]
    fn clusters_are_of_all_kinds() {
        let all: Vec<SteeredCluster> = (0..200).map(|seed| SteeredCluster::random(seed, 100)).collect();
        let hosts: Vec<&SteeredHost> = all.iter().flat_map(|cluster| &cluster.hosts).collect();
        for daemon in Daemon::ALL {
            let of: Vec<_> = hosts.iter().filter(|host| host.clock.daemon == daemon).collect();
            let share = of.len() * 100 / hosts.len();
            let usual = if daemon == Daemon::None { 25..42 } else { 5..16 };
            assert!(usual.contains(&share), "{daemon:?}: {share} %");
            let told = [Evidence::Calls, Evidence::Daemon, Evidence::Nothing]
                .map(|evidence| of.iter().any(|host| host.evidence == evidence));
            assert_eq!(told, [daemon.steers_by_calls(), true, true], "{daemon:?}");
        }
        for count in 3..=6 {
            assert!(all.iter().any(|cluster| cluster.hosts.len() == count), "{count}");
        }
        assert!(all.iter().all(|cluster| cluster.exchanges.len() + 1 >= cluster.hosts.len()));
    }

    #[test]
    fn the_ideal_is_the_shortest_way() {
        let mut cluster = SteeredCluster::random_link(Daemon::None, 1, 100);
        cluster.hosts = vec![cluster.hosts[0].clone(); 4];
        let link =
            |asks, answers, floors_ns| Exchange { asks, answers, floors_ns, ..cluster.exchanges[0].clone() };
        cluster.exchanges = vec![link(0, 1, [10, 20]), link(2, 1, [30, 40]), link(0, 2, [100, 200])];
        let ideal = |from, to| cluster.ideal_half_width(from, to);
        assert_eq!([ideal(0, 2), ideal(2, 0), ideal(1, 1), ideal(0, 3)], [Some(50), Some(50), Some(0), None]);
    }
}
