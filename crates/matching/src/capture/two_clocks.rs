//! Captures whose frames of two directions were stamped by two clocks: hardware that counts International
//! Atomic Time beside a kernel that counts UTC, say, 37 s apart.
//!
//! One clock shows no answer before what it answers, wherever it looks from. So answers that all come more
//! than a second too early, and by about as much, while those of the other direction are as late, were
//! stamped by another clock. An acknowledgement of exactly the last byte of a segment, and the reply of an
//! echo, are answers; each counts by the first frame of its numbers.

use std::collections::HashMap;

use isochrone_capture::Frame;
use isochrone_net::key::digest;
use isochrone_net::{Packet, Seen, Transport, captured, flags};

/// Questions, and answers, from the start of a capture that are kept at most.
const MAX_KEPT: usize = 1 << 14;
/// What no network and no late stamp explains, ns.
const TOO_EARLY_NS: i64 = 1_000_000_000;
/// Answers of a direction that must show it, and how many of a hundred.
const MIN_ANSWERS: usize = 4;
const MIN_PERCENT: usize = 90;
/// By how much Atomic Time is ahead of UTC since 2017, ns, and how near a difference must be to be called by
/// it.
const TAI_NS: i64 = 37_000_000_000;
const NEAR_NS: i64 = 1_000_000_000;

/// How far the delays of answers are from each other, ns: what networks and late acknowledgements take.
const SPREAD_NS: i64 = 500_000_000;

/// A direction: digests of its addresses, and of those of the other one.
type Way = (u64, u64);

/// A question, as its direction writes it: its ports, and the number that the answer has.
type Question = (Way, (u16, u16), u64);

/// Questions and answers from the start of a capture.
#[derive(Debug, Default)]
pub(super) struct Answers {
    questions: HashMap<Question, i64>,
    answers: HashMap<Question, i64>,
}

impl Answers {
    /// Takes a frame; `O(1)`.
    pub(super) fn add(&mut self, frame: &Frame) {
        let Seen::Packet(Packet { addresses: Some((source, destination)), transport, .. }) =
            captured::held(&frame.content)
        else {
            return;
        };
        let (there, back) = (digest(&source, &destination), digest(&destination, &source));
        let at = frame.stamp.earliest_ns;
        match transport {
            Transport::Tcp(segment) => {
                let Some((from, to)) = segment.ports else { return };
                let counts =
                    [flags::SYN, flags::FIN].iter().filter(|&flag| segment.flags & flag != 0).count();
                let length = segment.payload.unwrap_or_default().wrapping_add(counts as u32);
                // A byte alone can be one that was acknowledged before: it asks whether the other end is
                // alive.
                if length > 1 || counts > 0 {
                    let end = segment.seq.wrapping_add(length);
                    keep(&mut self.questions, ((there, back), (from, to), end.into()), at);
                }
                if segment.flags & flags::ACK != 0 {
                    keep(&mut self.answers, ((back, there), (to, from), segment.ack.into()), at);
                }
            }
            Transport::Echo(echo) => {
                let number = u64::from(echo.sequence) | 1 << 32;
                let ports = (echo.identifier, 0);
                match echo.reply {
                    false => keep(&mut self.questions, ((there, back), ports, number), at),
                    true => keep(&mut self.answers, ((back, there), ports, number), at),
                }
            }
            Transport::Udp(_) => {}
        }
    }

    /// How far the two clocks are apart, ns, if there are two. `O(n log n)` in what was kept.
    pub(super) fn apart(&self) -> Option<i64> {
        let mut delays: HashMap<Way, Vec<i64>> = HashMap::new();
        for (question, asked) in &self.questions {
            if let Some(answered) = self.answers.get(question) {
                delays.entry(question.0).or_default().push(answered.saturating_sub(*asked));
            }
        }
        let mut early: Vec<i64> = Vec::new();
        for (way, of_way) in &delays {
            let is_late = |back: &Vec<i64>| is_most(back, |delay| delay > TOO_EARLY_NS);
            if is_most(of_way, |delay| delay < -TOO_EARLY_NS)
                && delays.get(&(way.1, way.0)).is_none_or(is_late)
            {
                early.extend(of_way);
            }
        }
        early.sort_unstable();
        let usual = *early.get(early.len() / 2)?;
        let is_usual = |delay: i64| delay.abs_diff(usual) <= SPREAD_NS.unsigned_abs();
        (early.len() >= MIN_ANSWERS && is_most(&early, is_usual)).then(|| usual.saturating_neg())
    }
}

/// Whether nearly all delays are so.
fn is_most(delays: &[i64], is_so: impl Fn(i64) -> bool) -> bool {
    delays.iter().filter(|&&delay| is_so(delay)).count() * 100 >= delays.len() * MIN_PERCENT
}

/// Why a capture of two clocks is of no use.
pub(super) fn why(apart_ns: i64) -> String {
    let seconds = (apart_ns + 50_000_000) / 100_000_000;
    let (seconds, tenths) = (seconds / 10, seconds % 10);
    let atomic = match (apart_ns - TAI_NS).abs() < NEAR_NS {
        true => ": Atomic Time, of hardware, beside UTC",
        false => "",
    };
    format!(
        "frames of its two directions were stamped by two clocks, {seconds}.{tenths} s apart{atomic}; \
         answers come before what they answer. It is left out: \
         record with stamps of one clock (tcpdump -j host)"
    )
}

/// Keeps the first of its number.
fn keep(all: &mut HashMap<Question, i64>, number: Question, at: i64) {
    if all.len() < MAX_KEPT || all.contains_key(&number) {
        all.entry(number).and_modify(|first| *first = (*first).min(at)).or_insert(at);
    }
}
