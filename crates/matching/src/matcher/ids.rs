//! IP identifications that do not distinguish packets: raw sockets, packet generators and rewriting filters
//! write the same one into all they send, where systems count or draw one for each packet.
//!
//! Such an identification shows itself: different packets from one address to another have it, or equal ones
//! that are too far apart to be copies on the devices of a host. A packet of an identification that does so
//! within a window of it is judged without it. The window makes what is found the same, however packets come
//! in rounds: they are judged when so much after them has been read.

use std::collections::HashMap;

use isochrone_net::{PacketKey, known, protocol};
use isochrone_time::RawNs;

use super::WINDOW_NS;
use super::alignment::Alignment;
use super::pairing::SAME_PACKET_NS;
use super::stored_sighting::{StoredSighting, bit};

/// So many packets of an address pair are compared with the next one: senders may take turns.
const LAST: usize = 4;
/// Address pairs that are remembered before those without recent packets are forgotten.
const MAX_PAIRS: usize = 1 << 16;
/// Identifications that are remembered as worn before all are forgotten. One that is used for every packet is
/// found again at once.
const MAX_WORN: usize = 1 << 16;
/// Runs of a worn identification that are remembered.
const MAX_RUNS: usize = 16;
/// An address pair whose last packet is this long ago is the first to be forgotten.
const IDLE_NS: i64 = 60_000_000_000;

/// What is known of identifications.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// By clock, direction and addresses.
    pairs: HashMap<(u32, bool, u64), Pair>,
    /// By addresses and identification.
    worn: HashMap<(u64, u16), Vec<Run>>,
    /// The last packet of all, by clock.
    latest: HashMap<u32, RawNs>,
}

/// The last packets from one address to another.
#[derive(Debug, Default)]
struct Pair {
    last: [Option<Passed>; LAST],
    next: usize,
}

/// A packet that passed.
#[derive(Debug, Clone, Copy)]
struct Passed {
    id: u16,
    beginning: Beginning,
    time: RawNs,
    /// How often an equal one passed before, long enough ago to be another packet.
    again: u32,
}

/// What copies of a packet, its parts and what it is a part of have in common.
type Beginning = (u8, u64, (u16, u16), u32, u16);

/// Times at which an identification was used again, each within a window of the one before.
#[derive(Debug, Clone, Copy)]
struct Run {
    clock: u32,
    /// For equal packets; else for different ones.
    equal: bool,
    first: RawNs,
    last: RawNs,
}

impl Ids {
    /// Takes note of a packet. Those of a clock come in the order of time. `O(1)`.
    pub(super) fn note(&mut self, kept: &StoredSighting) {
        if !kept.key.knows(known::ID | known::ADDRESSES) || kept.key.ip_id == 0 {
            return;
        }
        let (id, time, sent) = (kept.key.ip_id, kept.time, kept.has(bit::SENT));
        let beginning = beginning(kept);
        let latest = self.latest.entry(kept.clock).or_insert(time);
        *latest = time.max(*latest);
        let pair = self.pairs.entry((kept.clock, sent, kept.key.addresses)).or_default();
        let mut again = 0;
        let mut equal = None;
        for known in pair.last.iter_mut().filter(|known| known.is_some_and(|known| known.id == id)) {
            let Some(before) = known.take() else { continue };
            let apart = time.saturating_since(before.time);
            if apart > WINDOW_NS {
                continue;
            }
            if before.beginning != beginning {
                equal = Some(false);
            } else if apart > SAME_PACKET_NS {
                again = before.again + 1;
                // The network may double a packet.
                if sent || again > 1 {
                    equal = equal.or(Some(true));
                }
            } else {
                again = before.again;
            }
        }
        let slot = pair.last.iter().position(Option::is_none).unwrap_or(pair.next);
        pair.last[slot] = Some(Passed { id, beginning, time, again });
        pair.next = (slot + 1) % LAST;
        if let Some(equal) = equal {
            self.wear(kept, equal);
        }
    }

    fn wear(&mut self, kept: &StoredSighting, equal: bool) {
        if self.worn.len() >= MAX_WORN {
            self.worn.clear();
        }
        let (clock, time) = (kept.clock, kept.time);
        let runs = self.worn.entry((kept.key.addresses, kept.key.ip_id)).or_default();
        let same = |run: &&mut Run| {
            (run.clock, run.equal) == (clock, equal) && time.saturating_since(run.last) <= WINDOW_NS
        };
        match runs.iter_mut().find(same) {
            Some(run) => run.last = time.max(run.last),
            None => {
                if runs.len() >= MAX_RUNS {
                    runs.remove(0);
                }
                runs.push(Run { clock, equal, first: time, last: time });
            }
        }
    }

    /// Marks those whose identification does not distinguish them from others. `O(n)`, and nothing where all
    /// do.
    pub(super) fn mark(&self, kept: &mut [StoredSighting], alignment: &Alignment) {
        if self.worn.is_empty() {
            return;
        }
        for kept in kept.iter_mut().filter(|kept| kept.key.knows(known::ID | known::ADDRESSES)) {
            let Some(runs) = self.worn.get(&(kept.key.addresses, kept.key.ip_id)) else { continue };
            let time = alignment.common(kept.clock as usize, kept.time);
            let near = |run: &&Run| {
                let [first, last] = [run.first, run.last].map(|at| alignment.common(run.clock as usize, at));
                first.saturating_sub(time) <= WINDOW_NS && time.saturating_sub(last) <= WINDOW_NS
            };
            // Of datagrams whose payloads are known, the payload distinguishes those that are not equal.
            let told_apart = kept.key.protocol == protocol::UDP && kept.has(bit::CHECKED);
            if runs.iter().filter(near).any(|run| run.equal || !told_apart) {
                kept.bits |= bit::WORN_ID;
            }
        }
    }

    /// Forgets address pairs when there are too many.
    pub(super) fn tidy(&mut self) {
        if self.pairs.len() > MAX_PAIRS {
            let latest = &self.latest;
            self.pairs.retain(|key, pair| {
                let last = pair.last.iter().flatten().map(|passed| passed.time).max();
                last >= latest.get(&key.0).map(|latest| latest.saturating_sub(IDLE_NS))
            });
        }
        if self.pairs.len() > MAX_PAIRS {
            self.pairs.clear();
        }
    }
}

fn beginning(kept: &StoredSighting) -> Beginning {
    let PacketKey { protocol, word, ports, size, .. } = kept.key;
    match protocol {
        protocol::TCP => (protocol, kept.key.seq().into(), ports, 0, 0),
        _ => (protocol, word, ports, size, kept.check),
    }
}
