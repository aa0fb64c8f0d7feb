//! Pairing sightings to messages.
//!
//! One wrong pair falsifies every bound, so only what is certain becomes a message; the rest is counted.
//! Sightings come in rounds (see [`mod@crate::rounds`]), are kept for a window of time, and are judged when
//! nothing can be added to them:
//!
//! | file | concept |
//! |---|---|
//! | `stored_sighting` | a sighting in 64 bytes |
//! | `flows` | what has left on each connection: whether a departure can be a repetition |
//! | `ids` | identifications that senders use again and again |
//! | `alignment` | roughly how the clocks stand to each other |
//! | `watermark` | when the sightings of a packet are complete |
//! | `pairing` | equal packets: origin, transit, destination, copies, translated addresses |
//! | `reassembly` | segments cut up or put together on their way |
//!
//! What comes out depends neither on the order of the sightings nor, for packets within the window, on the
//! rounds.

mod alignment;
mod flows;
mod ids;
mod pairing;
mod reassembly;
mod stored_sighting;
#[cfg(test)]
mod tests;
mod watermark;

use std::collections::BTreeMap;

use alignment::Alignment;
use flows::Flows;
use ids::Ids;
use pairing::MatchSink;
use reassembly::ReassemblyQueue;
use stored_sighting::{Mixed, StoredSighting, bit};
use watermark::Watermark;

use isochrone_net::{Direction, PacketKey, Sighting, StreamRef};
use isochrone_time::{RawNs, Window};

/// How long after a packet another copy of it, or its arrival, may be seen. Connections give up on a packet
/// later, but after such a time repeat it only every minute or so; identifications of datagrams wrap earlier
/// on busy hosts.
pub(crate) const WINDOW_NS: i64 = 20_000_000_000;
/// Sightings kept at most, 64 bytes each: 128 MiB. Reached where clocks are not tied to each other, so that
/// it is impossible to decide what may still be answered, and by traffic of a hundred thousand packets a
/// second.
const MAX_KEPT: usize = 1 << 21;
/// A key that comes again and again (datagrams of one length, without identification) is not kept longer than
/// this many windows: by then nothing about it can be certain.
const MAX_WINDOWS: i64 = 4;

/// A packet that left one host and arrived at another, by the raw times of the two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Clock of the sender.
    pub sender: usize,
    /// When it left.
    pub sent: RawNs,
    /// Clock of the receiver.
    pub receiver: usize,
    /// When it arrived.
    pub received: RawNs,
}

/// A message with the records at its ends.
///
/// What it proves are the times of [`End::time`]; [`End::raw`] and [`End::place`] lead back to the events. Of
/// a packet that left several times the departure is one that is surely not later than that of the copy that
/// arrived, not always that copy's own. The two keys need not be equal: tracers of different families record
/// different parts, segments are cut up on their way, and translators change addresses and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matched {
    /// Its departure.
    pub sent: End,
    /// Its arrival.
    pub received: End,
}

/// One end of a message: the record of a packet as it left or arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// Clock of the host.
    pub clock: usize,
    /// The raw time that counts in a proof: of an arrival the latest that the stamp can mean.
    pub time: RawNs,
    /// Raw time of the event: the one that a reader of its stream finds.
    pub raw: RawNs,
    /// The stream that holds the event.
    pub place: StreamRef,
    /// Sent at the one end, received at the other.
    pub direction: Direction,
    /// What the packet is known by there.
    pub key: PacketKey,
}

/// Where messages go as they are found. Nothing is kept of them unless it is here. What goes wrong there (a
/// full disk, say) is to be remembered there.
pub type MessageSink<'s> = &'s mut dyn FnMut(&Matched);

impl Matched {
    /// What it says of the two clocks.
    pub fn message(&self) -> Message {
        let Self { sent, received } = self;
        Message { sender: sent.clock, sent: sent.time, receiver: received.clock, received: received.time }
    }
}

/// What is known of a clock before anything is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traced {
    /// From its first record to its last, as far as known.
    pub span: Window<RawNs>,
    /// What it believes Unix time to be, less its raw time, ns.
    pub offset_ns: i64,
    /// Raw times between which its tracer has lost events.
    pub losses: Vec<Window<RawNs>>,
}

/// What became of the packets of a sender that a receiver saw too, or may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Certain messages.
    pub messages: u64,
    /// Of these, segments that were cut up or put together on their way.
    pub offloaded: u64,
    /// Of these, packets whose addresses or ports were translated on their way.
    pub translated: u64,
    /// Packets seen at both that could not be paired with certainty.
    pub ambiguous: u64,
}

/// Packets that two clocks saw, both from the same side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Undirected {
    /// Both as received.
    pub received: u64,
    /// Both as sent.
    pub sent: u64,
    /// Both as received and sent on.
    pub passed_on: u64,
}

/// Result of the matching besides the messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// By sender and receiver.
    pub pairs: BTreeMap<(usize, usize), PairCounts>,
    /// By two clocks, the lower first: packets that both saw, where it is unknown which saw them first.
    pub undirected: BTreeMap<(usize, usize), Undirected>,
    /// By clock: sightings that no sighting on another host answers.
    pub unmatched: Vec<u64>,
    /// Of these, sightings that were given up before their time because there were too many.
    pub expired: u64,
}

/// Turns sightings into messages, round by round.
#[derive(Debug)]
pub struct Matcher {
    alignment: Alignment,
    flows: Flows,
    ids: Ids,
    mixed: Mixed,
    /// Sightings of clocks that have not been read so far.
    early: Vec<StoredSighting>,
    /// Sightings that can still be added to, in the order of [`StoredSighting::compare`].
    kept: Vec<StoredSighting>,
    waiting: ReassemblyQueue,
    summary: Summary,
    most_kept: usize,
}

/// Sightings of one packet that are still taken for one each of some hosts on its way.
const MAX_TO_TIE: usize = 8;

/// While not all clocks are tied, packets that have been answered wait for the others, too, up to one part in
/// this many of all room.
const UNTIED_PART: usize = 8;

/// The common time that lies some windows before another; the end of all time has none before it.
fn windows_before(watermark: i64, windows: i64) -> i64 {
    match watermark {
        i64::MAX => i64::MAX,
        watermark => watermark.saturating_sub(windows * WINDOW_NS),
    }
}

impl Summary {
    fn pair(&mut self, sender: usize, receiver: usize) -> &mut PairCounts {
        self.pairs.entry((sender, receiver)).or_default()
    }

    /// All messages.
    pub fn messages(&self) -> u64 {
        self.pairs.values().map(|pair| pair.messages).sum()
    }
}

impl Matcher {
    /// For the sightings of these clocks.
    pub fn new(clocks: &[Traced]) -> Self {
        Self {
            alignment: Alignment::new(clocks),
            flows: Flows::new(clocks.iter().map(|clock| &clock.losses)),
            ids: Ids::default(),
            mixed: Mixed::default(),
            early: Vec::new(),
            kept: Vec::new(),
            waiting: ReassemblyQueue::default(),
            summary: Summary { unmatched: vec![0; clocks.len()], ..Summary::default() },
            most_kept: MAX_KEPT,
        }
    }

    /// Roughly, the raw times of all clocks at the instant `ahead_ns` after the one up to which all of them
    /// have been read.
    pub fn limits(&self, read: &[RawNs], ahead_ns: i64) -> Vec<RawNs> {
        let times = read.iter().enumerate().map(|(clock, &time)| self.alignment.common(clock, time));
        let until = times.min().unwrap_or(i64::MAX).saturating_add(ahead_ns);
        (0..read.len()).map(|clock| self.alignment.raw(clock, until)).collect()
    }

    /// Says that sightings of a clock may be missing between raw times that reading has just come to.
    pub fn lose(&mut self, clock: usize, losses: &[Window<RawNs>]) {
        for &loss in losses {
            self.flows.lose(clock, loss);
        }
    }

    /// Takes the sightings of a round, in any order, and gives out the messages that are certain. `read`: by
    /// clock, the raw time up to which all of its sightings have come, [`RawNs::MAX`] at its end.
    /// `O(n log n)` in the sightings of the window.
    pub fn round(
        &mut self,
        sightings: impl IntoIterator<Item = Sighting>,
        read: &[RawNs],
        sink: MessageSink<'_>,
    ) {
        self.early.extend(sightings.into_iter().map(|sighting| StoredSighting::new(&sighting)));
        self.take_in(read);
        self.tie();
        self.give_out(read, false, sink);
        if self.kept.len() > self.most_kept {
            self.give_out(read, true, sink);
        }
        if self.kept.len() > self.most_kept {
            self.give_up();
        }
        self.flows.tidy();
        self.ids.tidy();
    }

    /// Forgets everything: one packet after the other has the same key.
    fn give_up(&mut self) {
        self.summary.expired += self.kept.len() as u64;
        for kept in self.kept.drain(..) {
            self.summary.unmatched[kept.clock as usize] += 1;
        }
    }

    /// Judges what is left.
    pub fn finish(mut self, sink: MessageSink<'_>) -> Summary {
        let end = vec![RawNs::MAX; self.summary.unmatched.len()];
        self.round([], &end, sink);
        self.summary
    }

    /// Puts what has been read of all sources of a clock among what is kept.
    fn take_in(&mut self, read: &[RawNs]) {
        let mixed = self.mixed;
        let mut ready: Vec<StoredSighting> =
            self.early.extract_if(.., |k| k.time <= read[k.clock as usize]).collect();
        ready.sort_unstable_by(|a, b| {
            let by_time = (a.clock, a.time).cmp(&(b.clock, b.time));
            by_time.then_with(|| a.compare(b, mixed)).then_with(|| a.compare_places(b))
        });
        // One sighting in two overlapping traces of a host is one.
        ready.dedup_by(|later, first| later.is_again(first));
        for kept in &mut ready {
            self.mixed.note(kept);
            self.ids.note(kept);
            if kept.has(bit::SENT) {
                self.flows.depart(kept);
            }
        }
        let mixed = self.mixed;
        ready.sort_by(|a, b| a.compare(b, mixed));
        self.kept.append(&mut ready);
        // Two sorted runs are merged.
        self.kept.sort_by(|a, b| a.compare(b, mixed));
    }

    /// Learns from pairs that are likely how clocks stand to each other that nothing has tied so far.
    fn tie(&mut self) {
        if self.alignment.is_whole() {
            return;
        }
        let mixed = self.mixed;
        let mut pair = |a: &StoredSighting, b: &StoredSighting| {
            let (sent, received) = if a.has(bit::SENT) { (a, b) } else { (b, a) };
            let (from, to) = (sent.clock as usize, received.clock as usize);
            let apart = self.alignment.island(from) != self.alignment.island(to);
            if apart && sent.has(bit::SENT) && !received.has(bit::SENT) && sent.agrees(received) {
                self.alignment.learn((from, sent.time), (to, received.time));
            }
        };
        for same in self.kept.chunk_by(|a, b| a.loosest(mixed) == b.loosest(mixed)) {
            match same {
                [_] => {}
                [a, b] => pair(a, b),
                more => more.chunk_by(|a, b| a.identity() == b.identity()).for_each(|equal| {
                    // One departure and one arrival, and perhaps a host on the way.
                    if equal.len() <= MAX_TO_TIE {
                        for (at, a) in equal.iter().enumerate() {
                            equal[at + 1..].iter().for_each(|b| pair(a, b));
                        }
                    }
                }),
            }
        }
        self.alignment.settle();
    }

    /// Judges all that nothing can be added to, or where there is too much of it the older half, and forgets
    /// it.
    fn give_out(&mut self, read: &[RawNs], crowded: bool, sink: MessageSink<'_>) {
        let mut watermark =
            Watermark::new(&self.alignment, read, self.kept.len() < self.most_kept / UNTIED_PART);
        if crowded {
            watermark = watermark.crowded(&self.alignment, &self.kept);
        }
        self.ids.mark(&mut self.kept, &self.alignment);
        let (mixed, waiting) = (self.mixed, &mut self.waiting);
        let mut sink = MatchSink { sink, summary: &mut self.summary, alignment: &mut self.alignment };
        for same in self.kept.chunk_by_mut(|a, b| a.loosest(mixed) == b.loosest(mixed)) {
            judge_key(same, &watermark, &mut sink, mixed);
        }
        self.kept.retain(|kept| {
            if kept.has(bit::DONE) && !kept.has(bit::ANSWERED) {
                if kept.carries_bytes() {
                    waiting.add(StoredSighting { bits: kept.bits & !bit::DONE, ..*kept });
                } else {
                    sink.summary.unmatched[kept.clock as usize] += 1;
                    sink.summary.expired += u64::from(watermark.is_forced());
                }
            }
            !kept.has(bit::DONE)
        });
        waiting.judge(&mut sink, watermark.of_waiting());
        self.alignment.settle();
    }

    /// Sightings in memory.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.early.len() + self.kept.len() + self.waiting.len()
    }
}

/// Judges the sightings of one key as far as they are complete. Those that follow each other within the
/// window belong together.
fn judge_key(same: &mut [StoredSighting], watermark: &Watermark, sink: &mut MatchSink<'_>, mixed: Mixed) {
    let common =
        |kept: &StoredSighting, alignment: &Alignment| alignment.common(kept.clock as usize, kept.time);
    let times = same.iter().map(|kept| common(kept, sink.alignment));
    let (first, last) = times.fold((i64::MAX, i64::MIN), |(lo, hi), at| (lo.min(at), hi.max(at)));
    // Nearly always; the slice is in its order.
    if last.saturating_sub(first) <= WINDOW_NS {
        judge_cluster(same, last, watermark, sink);
        return;
    }
    same.sort_by_key(|kept| common(kept, sink.alignment));
    let times: Vec<i64> = same.iter().map(|kept| common(kept, sink.alignment)).collect();
    let is_near =
        |end: usize| times.get(end).is_some_and(|next| next.saturating_sub(times[end - 1]) <= WINDOW_NS);
    let mut begin = 0;
    while begin < same.len() {
        let is_long = |end: usize| times[end].saturating_sub(times[begin]) > MAX_WINDOWS * WINDOW_NS;
        let mut end = begin + 1;
        while is_near(end) && !is_long(end) {
            end += 1;
        }
        // What is cut hangs together with what follows, which is as uncertain.
        if is_near(end) || same[begin..end].iter().any(|kept| kept.has(bit::CROWDED)) {
            for kept in &mut same[begin..end + usize::from(is_near(end))] {
                kept.bits |= bit::CROWDED;
            }
        }
        let cluster = &mut same[begin..end];
        cluster.sort_by(|a, b| a.compare(b, mixed));
        judge_cluster(cluster, times[end - 1], watermark, sink);
        begin = end;
    }
    same.sort_by(|a, b| a.compare(b, mixed));
}

/// Judges sightings of one key that belong together, in their order, if they are complete.
fn judge_cluster(cluster: &mut [StoredSighting], last: i64, watermark: &Watermark, sink: &mut MatchSink<'_>) {
    if watermark.is_past(sink.alignment, cluster, last) {
        let crowded = cluster.iter().any(|kept| kept.has(bit::CROWDED));
        for kept in cluster.iter_mut().filter(|_| crowded) {
            kept.bits |= bit::CROWDED;
        }
        sink.judge(cluster);
        for kept in cluster {
            kept.bits |= bit::DONE;
        }
    }
}
