//! Random clusters for tests of properties, and what their clocks do.
//!
//! Every seed gives another cluster: 2 to 50 hosts, mostly few, in a chain, a star, a mesh or a sparse graph, at times in
//! two islands; links of all kinds that [`crate::cluster`] knows. Clocks run up to 100 ppm fast or slow. Then either all of
//! them keep to a rule (their rates stay within a given distance of a constant), or one of them breaks it.

use crate::clock::SimClock;
use crate::cluster::{Cluster, Protocol, SimHost, SimLink};
use crate::random::Random;

/// Most hosts that are all linked to each other: links would else be too many.
const LARGEST_MESH: u64 = 8;
/// Rates are up to this far off, ppb.
const DRIFT_PPB: u32 = 100_000;
/// Periods of temperature, ns.
const PERIODS_NS: (u64, u64) = (30_000_000_000, 600_000_000_000);
/// A rate that wanders beyond the rule does so by no more than this, ppb, unless the rule itself is wider.
const WIDEST_WANDER_PPB: u64 = 10_000;
/// Changes of rates, ppb.
const SLEWS_PPB: (u64, u64) = (1_000, 100_000);
/// Steps and stops, ns.
const STEPS_NS: (u64, u64) = (100_000, 10_000_000_000);

/// What the clocks of a random cluster do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// All are straight lines.
    Straight,
    /// The rates of all wander as sines, by no more than the rule allows.
    Wandering,
    /// All are straight lines, one of them four times as fast as the others.
    Fourfold {
        /// The host.
        host: usize,
    },
    /// One clock is set forward.
    Stepped {
        /// The host.
        host: usize,
        /// True time.
        at_ns: i64,
        /// By how much.
        by_ns: i64,
    },
    /// One host stands still for a time, so that its clock is behind by that much afterwards.
    Stopped {
        /// The host.
        host: usize,
        /// True time.
        at_ns: i64,
        /// For how long.
        for_ns: i64,
    },
    /// One clock runs at another rate for a part of the time; by more than twice what the rule allows.
    Slewed {
        /// The host.
        host: usize,
        /// True time of the begin.
        from_ns: i64,
        /// True time of the end.
        to_ns: i64,
        /// How much faster it runs meanwhile, ppb.
        rate_ppb: i64,
    },
    /// The rate of one clock wanders as a sine, by more than twice what the rule allows and for half a period at least: no
    /// constant is within the rule of it.
    WanderingBeyond {
        /// The host.
        host: usize,
        /// Greatest distance of its rate from the mean, ppb.
        amplitude_ppb: u32,
        /// Period, ns.
        period_ns: u64,
    },
}

impl Behaviour {
    /// Whether the rates of all clocks stay within the rule.
    pub fn obeys(self) -> bool {
        matches!(self, Self::Straight | Self::Wandering | Self::Fourfold { .. })
    }

    /// The host whose clock breaks the rule.
    pub fn culprit(self) -> Option<usize> {
        match self {
            Self::Straight | Self::Wandering | Self::Fourfold { .. } => None,
            Self::Stepped { host, .. }
            | Self::Stopped { host, .. }
            | Self::Slewed { host, .. }
            | Self::WanderingBeyond { host, .. } => Some(host),
        }
    }
}

impl Cluster {
    /// A random cluster whose clocks keep to the rule that the rate of each stays within `wander_ppb` of a constant, or,
    /// for half of the seeds, one of whose clocks breaks it; and what they do. The same seed gives the same cluster.
    pub fn random(seed: u64, wander_ppb: u32) -> (Self, Behaviour) {
        if Random::new(seed).part(0).permille(500) {
            Self::random_obeying(seed, wander_ppb)
        } else {
            Self::random_violating(seed, wander_ppb)
        }
    }

    /// As [`Self::random`]; all clocks keep to the rule.
    pub fn random_obeying(seed: u64, wander_ppb: u32) -> (Self, Behaviour) {
        let mut random = Random::new(seed).part(1);
        let mut cluster = any_cluster(seed, &mut random);
        let behaviour = match random.below(if wander_ppb > 0 { 4 } else { 2 }) {
            0 if random.permille(300) => {
                let host = any_host(&cluster, &mut random);
                cluster.hosts[host].clock = straight(&mut random, 3_000_000_000);
                Behaviour::Fourfold { host }
            }
            0 | 1 => Behaviour::Straight,
            _ => {
                for host in 0..cluster.hosts.len() {
                    let amplitude = 1 + random.below(wander_ppb.into()) as u32;
                    let (period, phase) = (random.within(PERIODS_NS), random.bits() >> 24);
                    change(&mut cluster, host, |clock| clock.rate_sine(amplitude, period, phase));
                }
                Behaviour::Wandering
            }
        };
        (cluster, behaviour)
    }

    /// As [`Self::random`]; one clock breaks the rule.
    pub fn random_violating(seed: u64, wander_ppb: u32) -> (Self, Behaviour) {
        let mut random = Random::new(seed).part(2);
        let mut cluster = any_cluster(seed, &mut random);
        let host = any_host(&cluster, &mut random);
        let span = cluster.seconds as i64 * 1_000_000_000;
        // Somewhere in the middle, so that much is known before and after.
        let mut moment = |from: i64, to: i64| span / 100 * (from + random.below((to - from) as u64) as i64);
        let (at_ns, to_ns) = (moment(20, 60), moment(65, 90));
        let beyond = |widest: (u64, u64)| {
            (widest.0.max(u64::from(wander_ppb) * 2 + 1), widest.1.max(u64::from(wander_ppb) * 4 + 4))
        };
        let behaviour = match random.below(4) {
            0 => Behaviour::Stepped { host, at_ns, by_ns: random.within(STEPS_NS) as i64 },
            1 => {
                let for_ns = (random.within(STEPS_NS) as i64).min(span / 4);
                Behaviour::Stopped { host, at_ns, for_ns }
            }
            2 => {
                let size = random.within(beyond(SLEWS_PPB)) as i64;
                let rate_ppb = random.either_way(size);
                Behaviour::Slewed { host, from_ns: at_ns, to_ns, rate_ppb }
            }
            _ => {
                let amplitude_ppb = random.within(beyond((1, WIDEST_WANDER_PPB))) as u32;
                let longest = PERIODS_NS.1.min(2 * span as u64).max(PERIODS_NS.0 + 1);
                let period_ns = random.within((PERIODS_NS.0, longest));
                Behaviour::WanderingBeyond { host, amplitude_ppb, period_ns }
            }
        };
        let phase = random.bits() >> 24;
        change(&mut cluster, host, |clock| match behaviour {
            Behaviour::Stepped { at_ns, by_ns, .. } => clock.step(at_ns, by_ns),
            Behaviour::Stopped { at_ns, for_ns, .. } => clock.stop(at_ns, for_ns),
            Behaviour::Slewed { from_ns, to_ns, rate_ppb, .. } => {
                clock.slew(from_ns, rate_ppb).slew(to_ns, -rate_ppb)
            }
            Behaviour::WanderingBeyond { amplitude_ppb, period_ns, .. } => {
                clock.rate_sine(amplitude_ppb, period_ns, phase)
            }
            Behaviour::Straight | Behaviour::Wandering | Behaviour::Fourfold { .. } => clock,
        });
        (cluster, behaviour)
    }
}

fn change(cluster: &mut Cluster, host: usize, change: impl FnOnce(SimClock) -> SimClock) {
    if let Some(host) = cluster.hosts.get_mut(host) {
        host.clock = change(host.clock.clone());
    }
}

/// A clock that has run for some minutes to hours, so much too fast.
pub(crate) fn straight(random: &mut Random, rate_ppb: i64) -> SimClock {
    let offset = random.within((100_000_000_000, 50_000_000_000_000)) as i64;
    let unix_error = random.around(10_000_000);
    SimClock::new(offset, rate_ppb).unix_error(unix_error)
}

fn any_host(cluster: &Cluster, random: &mut Random) -> usize {
    random.below(cluster.hosts.len() as u64) as usize
}

/// Hosts with straight clocks, and links.
fn any_cluster(seed: u64, random: &mut Random) -> Cluster {
    // Three of four have up to seven hosts.
    let count = if random.permille(750) { 2 + random.below(6) } else { random.within((8, 50)) };
    let islands = count >= 4 && random.permille(100);
    let border = if islands { 2 + random.below(count - 3) } else { count };
    let mut pairs = topology(0, border, random);
    pairs.extend(topology(border, count - border, random));
    let mut cluster = Cluster::with_links(count as usize, pairs);
    for number in 0..cluster.hosts.len() {
        let rate = random.around(DRIFT_PPB);
        let clock = straight(random, rate);
        let cpus = 1 + random.below(2) as u32;
        cluster.hosts[number] = SimHost { clock, cpus, ..SimHost::drawn(number, random) };
    }
    (cluster.seed, cluster.seconds) = (seed, random.within((20, 600)));
    cluster.links.iter_mut().for_each(|link| shape(link, random));
    cluster
}

/// Pairs of hosts from the first one on that tie all of them together.
pub(crate) fn topology(first: u64, count: u64, random: &mut Random) -> Vec<(usize, usize)> {
    let kind = random.below(4);
    let mut pairs: Vec<(u64, u64)> = match kind {
        _ if count < 2 => Vec::new(),
        0 => (1..count).map(|b| (b - 1, b)).collect(),
        1 => (1..count).map(|b| (0, b)).collect(),
        2 if count <= LARGEST_MESH => (1..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
        // A tree, and some more links.
        _ => {
            let mut pairs: Vec<_> = (1..count).map(|b| (random.below(b), b)).collect();
            for _ in 0..random.below(count) {
                let b = 1 + random.below(count - 1);
                pairs.push((random.below(b), b));
            }
            pairs
        }
    };
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(a, b)| ((first + a) as usize, (first + b) as usize)).collect()
}

/// Draws what a link is like.
fn shape(link: &mut SimLink, random: &mut Random) {
    link.messages = random.within((50, 3000));
    let delay = random.within((20_000, 400_000)) as i64;
    // Ways there and back differ by up to a factor of four.
    let asymmetric = delay * (1000 + random.within((1, 3000)) as i64) / 1000;
    link.min_delay_ns = if random.permille(500) { [delay, asymmetric] } else { [asymmetric, delay] };
    link.min_delay_ns.iter_mut().for_each(|delay| *delay = (*delay).min(400_000));
    link.mean_extra_ns = random.within((5_000, 500_000));
    link.tail_permille = if random.permille(300) { random.below(50) as u32 } else { 0 };
    link.lost_permille = if random.permille(300) { random.below(100) as u32 } else { 0 };
    link.retransmitted_permille = if random.permille(300) { random.below(50) as u32 } else { 0 };
    link.one_way = random.permille(50);
    link.back_permille = match random.below(10) {
        0 => 5 + random.below(45) as u32,
        1 => 950 + random.below(45) as u32,
        _ => 500,
    };
    link.protocol = match random.below(10) {
        0 => Protocol::Udp,
        1 => Protocol::Echo,
        _ => Protocol::Tcp,
    };
    link.offload = random.permille(150);
    link.translated = random.permille(50);
}
