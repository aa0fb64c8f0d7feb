//! Round trips of small UDP packets between hosts during a recording: bounds of clocks are tight then where
//! programs send nothing. The packets are recorded like any others.

use crate::remote::Answers;

/// Round trips of a pair at the start and at the end of a recording.
pub const TRIPS_AT_ENDS: u32 = 100;
/// Round trips of a pair each few seconds.
pub const TRIPS_BETWEEN: u32 = 20;
/// Up to this many hosts, every pair has round trips; of more, each host with a few.
const MAX_ALL_PAIRS: usize = 8;
/// With how many of the next hosts, where there are many.
const NEXT: [usize; 3] = [1, 2, 5];
/// Bytes of a packet with the header of UDP.
pub const DATAGRAM_BYTES: u32 = 32 + 8;
/// Bytes of a packet with the headers of UDP, IPv4 and Ethernet.
const PACKET_BYTES: u64 = DATAGRAM_BYTES as u64 + 20 + 14;

/// The pairs of hosts that have round trips, by number, the one that sends first. All pairs of up to eight
/// hosts, a sparse graph that ties all of them of more: linear in the number of hosts.
pub fn pairs(hosts: usize) -> Vec<(usize, usize)> {
    if hosts <= MAX_ALL_PAIRS {
        return (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| (a, b))).collect();
    }
    (0..hosts).flat_map(|a| NEXT.map(|next| (a, (a + next) % hosts))).collect()
}

/// What came of the round trips of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trips {
    /// How many came back.
    pub count: u64,
    /// The least time of one, ns, as the program that sent it measured; `None`: none came back.
    pub least_ns: Option<u64>,
}

impl Trips {
    /// Adds more of the same pair.
    pub fn add(&mut self, more: Self) {
        self.count += more.count;
        self.least_ns = self.least_ns.into_iter().chain(more.least_ns).min();
    }

    /// Bytes that went over the network, there and back.
    pub fn bytes(&self) -> u64 {
        self.count * 2 * PACKET_BYTES
    }
}

/// The command for a host: so many round trips to each of these addresses and ports.
pub fn command(trips: u32, peers: &[(String, u16)]) -> String {
    let peers: Vec<String> = peers.iter().map(|(address, port)| format!("{address}/{port}")).collect();
    format!("probe {trips} {}", peers.join(" "))
}

/// What a host answered, in the order of the peers that it was given.
pub fn trips(answers: &Answers) -> Vec<Trips> {
    let of = |text: &str| {
        let mut words = text.split(' ').skip(1).map(|word| word.parse::<u64>().ok());
        let (count, least) = (words.next()??, words.next()??);
        Some(Trips { count, least_ns: (count > 0).then_some(least) })
    };
    answers.all("trips").map(|text| of(text).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_tied_to_every_other() {
        for hosts in 2..40 {
            let pairs = pairs(hosts);
            assert!(pairs.iter().all(|&(a, b)| a != b && a < hosts && b < hosts), "{hosts}: {pairs:?}");
            assert!(pairs.len() <= (hosts * 3).max(28), "{hosts}");
            let mut tied = vec![0];
            for _ in 0..hosts {
                let more = |&(a, b): &(usize, usize)| tied.contains(&a) != tied.contains(&b);
                let Some(&(a, b)) = pairs.iter().find(|pair| more(pair)) else { break };
                tied.push(if tied.contains(&a) { b } else { a });
            }
            assert_eq!(tied.len(), hosts);
        }
    }

    #[test]
    fn answers_are_read() {
        let answer = |text: &str| Answers(vec![("trips".to_owned(), text.to_owned())]);
        let read = |text: &str| trips(&answer(text))[0];
        assert_eq!(read("10.0.0.2/53124 20 91342"), Trips { count: 20, least_ns: Some(91_342) });
        assert_eq!(read("10.0.0.2/53124 0 0"), Trips::default());
        assert_eq!(read("nonsense"), Trips::default());
        let mut sum = read("a/1 20 91");
        sum.add(read("a/1 0 0"));
        sum.add(read("a/1 2 90"));
        assert_eq!((sum.count, sum.least_ns), (22, Some(90)));
        assert_eq!(command(20, &[("10.0.0.2".to_owned(), 9)]), "probe 20 10.0.0.2/9");
    }
}
