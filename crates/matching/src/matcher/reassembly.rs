//! Segments that offload (TSO, GSO, GRO) cut up or put together on their way, paired by their bytes.
//!
//! A reception proves that each of its bytes left before it. The first departure of a byte that nothing sent
//! before ([`bit::FRESH_BYTES`]) is a bound for every arrival of it, whatever was repeated; the last of the
//! bytes that an arrival holds left last, so its departure is the tightest. Where that is not known, the
//! identifications show it: those of the parts of a segment run on from its own.

use isochrone_net::known;
use isochrone_time::RawNs;

use super::pairing::MatchSink;
use super::stored_sighting::{StoredSighting, bit};
use super::watermark::median;
use super::windows_before;

/// Segments that wait for others with their bytes: 2¹⁹ take 32 MiB.
pub(super) const MAX_WAITING: usize = 1 << 19;
/// By how much the clocks' rough relation may be wrong: an arrival is not paired with departures that are
/// later by more.
const SLACK_NS: i64 = 1_000_000_000;
/// No network cuts segments into smaller parts than this.
const SMALLEST_PART: i32 = 64;
/// So many departures before an arrival are searched for one whose identification it carries on.
const MAX_SEARCHED: usize = 1024;

/// Segments that wait for others with their bytes: no equal one answered them.
#[derive(Debug, Default)]
pub(super) struct ReassemblyQueue {
    segments: Vec<StoredSighting>,
}

impl ReassemblyQueue {
    pub(super) fn add(&mut self, kept: StoredSighting) {
        self.segments.push(kept);
    }

    /// Pairs the arrivals that nothing can be added for. `watermark` is the common time up to which all was
    /// read.
    pub(super) fn judge(&mut self, sink: &mut MatchSink<'_>, watermark: i64) {
        let flow = |kept: &StoredSighting| (kept.key.addresses, kept.key.ports);
        let order = |kept: &StoredSighting| {
            (flow(kept), kept.clock, kept.bits & bit::SENT, kept.time, kept.key.seq())
        };
        self.segments.sort_by_key(order);
        // An arrival waits a window longer than it was kept for its equal, a departure yet another one.
        let is_full = self.segments.len() > MAX_WAITING;
        let crowded = is_full.then(|| median(sink.alignment, &self.segments)).flatten();
        let arrivals = crowded.unwrap_or(i64::MIN).max(windows_before(watermark, 2));
        let departures = crowded.unwrap_or(i64::MIN).max(windows_before(watermark, 3));
        for segments in self.segments.chunk_by_mut(|a, b| flow(a) == flow(b)) {
            judge_flow(segments, sink, arrivals);
        }
        let MatchSink { summary, alignment, .. } = sink;
        self.segments.retain(|kept| {
            let time = alignment.common(kept.clock as usize, kept.time);
            let done = kept.has(bit::DONE) || (kept.has(bit::SENT) && time <= departures);
            if done && kept.bits & (bit::ANSWERED | bit::AMBIGUOUS) == 0 {
                summary.unmatched[kept.clock as usize] += 1;
                summary.expired += u64::from(crowded.is_some());
            }
            !done
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }
}

/// The segments of one direction of a connection, by host, direction and time.
fn judge_flow(segments: &mut [StoredSighting], sink: &mut MatchSink<'_>, until: i64) {
    let mut departures: Vec<Departures> = Vec::new();
    let mut arrivals: Vec<std::ops::Range<usize>> = Vec::new();
    let mut begin = 0;
    let runs: Vec<usize> = segments
        .chunk_by(|a, b| (a.clock, a.bits & bit::SENT) == (b.clock, b.bits & bit::SENT))
        .map(<[StoredSighting]>::len)
        .collect();
    for length in runs {
        let run = begin..begin + length;
        begin = run.end;
        if segments[run.start].has(bit::SENT) {
            departures.push(Departures::new(segments, run));
        } else {
            arrivals.push(run);
        }
    }
    let has_arrivals =
        |from: &Departures| arrivals.iter().any(|run| segments[run.start].clock as usize == from.clock);
    let origins: Vec<bool> = departures.iter().map(|from| !has_arrivals(from)).collect();
    // Two hosts cannot both be the origin.
    if origins.iter().filter(|&&origin| origin).count() > 1 {
        departures.clear();
    }
    for run in arrivals {
        let to = segments[run.start].clock as usize;
        let passes_on = departures.iter().any(|from| from.clock == to);
        for place in run {
            let arrival = segments[place];
            let time = sink.alignment.common(to, arrival.time);
            if time > until {
                break;
            }
            segments[place].bits |= bit::DONE;
            for (from, &origin) in departures.iter().zip(&origins).filter(|(from, _)| from.clock != to) {
                if !origin && passes_on {
                    continue;
                }
                let latest = sink.alignment.raw(from.clock, time.saturating_add(SLACK_NS));
                let Some(found) = from.cover(segments, &arrival, latest, origin) else { continue };
                segments[found].bits |= bit::ANSWERED;
                segments[place].bits |= bit::ANSWERED;
                let pair = sink.summary.pair(from.clock, to);
                pair.messages += 1;
                pair.offloaded += 1;
                if arrival.has(bit::AMBIGUOUS) {
                    pair.ambiguous = pair.ambiguous.saturating_sub(1);
                }
                sink.message(&segments[found], &arrival);
            }
        }
    }
}

/// The departures of a host in one direction of a connection.
struct Departures {
    clock: usize,
    /// Their range of indices, in the order of time.
    all: std::ops::Range<usize>,
    /// Those of fresh bytes: their places, and their sequence numbers without wrapping.
    fresh: Vec<(usize, i64)>,
}

impl Departures {
    fn new(segments: &[StoredSighting], all: std::ops::Range<usize>) -> Self {
        let mut fresh: Vec<(usize, i64)> = Vec::new();
        for place in all.clone().filter(|&place| segments[place].has(bit::FRESH_BYTES)) {
            let position = fresh.last().map_or(0, |&(last, position)| {
                let step = segments[place].key.seq().wrapping_sub(segments[last].key.seq());
                position + i64::from(step.cast_signed())
            });
            fresh.push((place, position));
        }
        Self { clock: segments[all.start].clock as usize, all, fresh }
    }

    /// The departure to pair with an arrival, of those up to a raw time. Only an origin surely has the first
    /// copy.
    fn cover(
        &self,
        segments: &[StoredSighting],
        arrival: &StoredSighting,
        latest: RawNs,
        origin: bool,
    ) -> Option<usize> {
        let known = self.fresh.partition_point(|&(place, _)| segments[place].time <= latest);
        if let Some((&(near, base), fresh)) = self.fresh[..known].split_last().filter(|_| origin) {
            let begin =
                base + i64::from(arrival.key.seq().wrapping_sub(segments[near].key.seq()).cast_signed());
            let all = &self.fresh[..=fresh.len()];
            let holding = |byte: i64| {
                let (place, position) = all[all.partition_point(|&(_, at)| at <= byte).checked_sub(1)?];
                (byte - position < i64::from(segments[place].key.size)).then_some(place)
            };
            let end = begin + i64::from(arrival.key.size);
            if let Some(place) = holding(end - 1).or_else(|| holding(begin)) {
                return Some(place);
            }
        }
        let known = self.all.start + segments[self.all.clone()].partition_point(|kept| kept.time <= latest);
        let searched = known.saturating_sub(MAX_SEARCHED).max(self.all.start)..known;
        searched.into_iter().find(|&place| is_part(&segments[place], arrival))
    }
}

/// Whether an arrival is a part of a departure by its bytes and its identification.
fn is_part(whole: &StoredSighting, part: &StoredSighting) -> bool {
    let offset = part.key.seq().wrapping_sub(whole.key.seq());
    let further = part.key.ip_id.wrapping_sub(whole.key.ip_id).cast_signed();
    let runs_on = match offset {
        0 => further == 0,
        _ => further > 0 && i32::from(further) <= offset.cast_signed() / SMALLEST_PART,
    };
    whole.has_unique_id() && part.key.knows(known::ID) && offset < whole.key.size && runs_on
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::matcher::tests::{MS, S, Seen, check, clocks, matched, settled, tcp};
    use isochrone_net::{Sighting, flags};
    use isochrone_time::RawNs;

    /// A segment of three parts from host 0, its parts at host 1.
    fn super_segment(first: u32, id: Option<u16>) -> Vec<Seen> {
        let with_id = |seen: Seen, part: u16| match id {
            Some(id) => seen.id(id.wrapping_add(part)),
            None => seen,
        };
        let whole = tcp(0, '>', 10).seq(first).payload(3000).flags(flags::ACK | flags::PSH);
        let part = |n: u16| {
            let last = if n == 2 { flags::PSH } else { 0 };
            let seq = first.wrapping_add(1000 * u32::from(n));
            with_id(tcp(1, '<', 100 + i64::from(n)).seq(seq).payload(1000).flags(flags::ACK | last), n)
        };
        vec![with_id(whole, 0), part(0), part(1), part(2)]
    }

    #[test]
    fn parts_of_a_segment_are_paired_by_their_bytes() {
        let all = [(0, 10, 1, 100), (0, 10, 1, 101), (0, 10, 1, 102)];
        for first in [1, u32::MAX - 1500, u32::MAX - 2999] {
            let opened = |scene: Vec<Seen>| {
                let syn = tcp(0, '>', 0).seq(first.wrapping_sub(1)).ack(0).payload(0).flags(flags::SYN);
                [scene, vec![syn]].concat()
            };
            // By what has left before; by identifications, which may wrap as well.
            let summary = check(&opened(super_segment(first, None)), &all, 0);
            assert_eq!(summary.pairs[&(0, 1)].offloaded, 3);
            check(&super_segment(first, Some(65535)), &all, 0);
            check(&super_segment(first, None), &[], 0);
            // Whatever is lost of it.
            check(&opened(super_segment(first, None)[..2].to_vec()), &all[..1], 0);
            let lost_first =
                [&super_segment(first, Some(7))[..1], &super_segment(first, Some(7))[2..]].concat();
            check(&lost_first, &all[1..], 0);
            // Sent again as a whole: the first departure is a bound for all; identifications show the second.
            let again = |id: Option<u16>| {
                let mut again = super_segment(first, id);
                for seen in &mut again {
                    seen.0.time += 300 * MS;
                    seen.0.raw = seen.0.time;
                }
                again
            };
            let later = all.map(|(a, sent, b, received)| (a, sent, b, received + 300 * MS));
            let both = [all, later].concat();
            // Whichever copy a part is of, it left after the first departure: the first arrivals alone are
            // certain.
            let scene = opened([super_segment(first, None), again(None)].concat());
            let (found, summary) =
                matched(&clocks(&[]), &scene.into_iter().map(Seen::done).collect::<Vec<_>>(), S);
            assert!(
                found.iter().all(|m| both.contains(&(m.sender, m.sent.ns(), m.receiver, m.received.ns()))),
                "{found:?}"
            );
            assert!(summary.messages() >= 3);
            let scene = [super_segment(first, Some(7)), again(Some(30))].concat();
            let found = matched(&clocks(&[]), &scene.into_iter().map(Seen::done).collect::<Vec<_>>(), S).0;
            assert!(found.iter().all(|m| m.sent == RawNs(10) || m.received > RawNs(300 * MS)), "{found:?}");
            assert_eq!(found.len(), 6);
            // The second copy's departure alone proves nothing of the first one's parts.
            let mut orphans = super_segment(first, Some(7));
            orphans.remove(0);
            orphans.push(again(Some(30)).remove(0));
            check(&orphans, &[], 0);
        }
    }

    #[test]
    fn segments_put_together_are_paired_with_the_last_of_them() {
        let part = |n: u32| tcp(0, '>', 10 + i64::from(n)).seq(1 + 1000 * n).payload(1000);
        let merged = tcp(1, '<', 100).payload(3000);
        let scene = settled(vec![part(0), part(1), part(2), merged.clone()]);
        check(&scene, &[(0, 12, 1, 100)], 0);
        // The last one's departure was not recorded.
        check(&settled(vec![part(0), merged]), &[(0, 10, 1, 100)], 0);
    }

    /// A departure as `(parts of 100 bytes, which earlier one it repeats if any, lost parts, delays, put
    /// together)`.
    type Step = (u32, Option<prop::sample::Index>, u8, u64, bool);

    /// What a sender and a receiver see of some departures, 10 ms apart, whose parts take up to 300 ms.
    fn scene(steps: &[Step], ids: bool) -> Vec<Seen> {
        let mut seen = settled(Vec::new());
        let mut left: Vec<(u32, u32)> = Vec::new();
        let (mut next, mut id) = (1, 1u16);
        for (n, (parts, again, lost, delays, together)) in steps.iter().enumerate() {
            let time = (n as i64 + 1) * 10 * MS;
            let (seq, parts) = match again.as_ref().filter(|_| !left.is_empty()) {
                // Again, as a whole or only its begin.
                Some(which) => (which.get(&left).0, which.get(&left).1.min(*parts)),
                None => (next, *parts),
            };
            left.push((seq, parts));
            next = next.max(seq + 100 * parts);
            let identified = |seen: Seen, part: u32| if ids { seen.id(id + part as u16) } else { seen };
            seen.push(identified(tcp(0, '>', time).seq(seq).payload(100 * parts), 0));
            let arrive = |part: u32| time + 1 + (delays >> (8 * part) & 255) as i64 * MS * 300 / 256;
            let mut arrived: Vec<(u32, u32, i64)> = Vec::new();
            for part in (0..parts).filter(|part| lost >> part & 1 == 0) {
                match arrived.last_mut().filter(|last| *together && last.0 + last.1 == part) {
                    Some(last) => *last = (last.0, last.1 + 1, last.2.max(arrive(part))),
                    None => arrived.push((part, 1, arrive(part))),
                }
            }
            seen.extend(arrived.into_iter().map(|(part, count, at)| {
                identified(tcp(1, '<', at).seq(seq + 100 * part).payload(100 * count), part)
            }));
            id += parts as u16;
        }
        seen
    }

    proptest! {
        /// Whatever is lost, repeated, cut and put together, nothing arrives before it left, and every
        /// arrival shows something.
        #[test]
        fn bytes_never_arrive_before_they_left(
            steps in prop::collection::vec(
                (
                    1u32..5,
                    prop::option::weighted(0.4, any::<prop::sample::Index>()),
                    any::<u8>(),
                    any::<u64>(),
                    any::<bool>(),
                ),
                1..40,
            ),
            ids in any::<bool>(),
            skipped in 0usize..20,
        ) {
            let mut sightings: Vec<Sighting> = scene(&steps, ids).into_iter().map(Seen::done).collect();
            let arrivals = sightings.iter().filter(|sighting| sighting.clock == 1).count() as u64;
            let (messages, _) = matched(&clocks(&[]), &sightings, S);
            prop_assert!(messages.iter().all(|message| message.sent < message.received));
            prop_assert_eq!(arrivals == 0, messages.is_empty());
            // The sender's trace begins in the middle.
            if ids {
                let begin = skipped as i64 * 10 * MS;
                sightings.retain(|sighting| sighting.clock == 1 || sighting.time > RawNs(begin));
                let (messages, _) = matched(&clocks(&[]), &sightings, S);
                prop_assert!(messages.iter().all(|message| message.sent < message.received));
            }
        }
    }
}
