//! What is said to the kernel while heads of packets are read: a head is a few bytes of a packet of, mostly,
//! hundreds of KiB. Around each the kernel would read as much as it does for a file that is read onward, so
//! that opening a trace would read most of it from the disk. Heads are read alone instead, and those of the
//! next packets are asked for before they are looked at: tracers give all packets of a file one size. To ask
//! takes longer than to look at what is in memory: it is done while heads turn out to be slow to read.

use std::iter::StepBy;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::mapping::{Access, FileMap};

/// Packets that are smaller than this are read onward: their heads lie so close that the pages between them
/// cost less than to ask for each page.
const LEAST_BYTES: usize = 1 << 16;

/// Heads that are asked for before they are looked at: enough to keep a disk busy, and few to be wrong about
/// where sizes change.
const AHEAD: usize = 32;

/// More than most heads have: what a larger one lacks is waited for.
const HEAD_BYTES: usize = 512;

/// A head that takes longer was not in memory: one that is takes less than a microsecond.
const SLOW: Duration = Duration::from_micros(20);

/// Packets after a slow head that are asked for.
const ASKED: usize = 256;

/// How far the heads of a file have been asked for.
#[derive(Debug)]
pub(super) struct Heads {
    /// When the head before was looked at.
    since: Instant,
    /// Packets that are still asked for.
    left: usize,
    access: Access,
    /// Size of the packet before.
    bytes: usize,
    /// Where the next head is that was not asked for.
    next: usize,
}

/// Files that are smaller are read onward: they take few reads, and a session that is rotated has thousands.
const LEAST_FILE: usize = 1 << 20;

/// Says that heads of a file are read from a byte on.
pub(super) fn begin(map: &FileMap, at: usize) {
    if access(map.bytes().len()) == Access::Scattered {
        map.expect(Access::Scattered);
        map.read_ahead(at, HEAD_BYTES);
    }
}

/// Says that all of a file may be read.
pub(super) fn end(map: &FileMap) {
    if access(map.bytes().len()) == Access::Scattered {
        map.expect(Access::Onward);
    }
}

/// How the heads of a file of this length are read, as long as its packets are not small.
fn access(length: usize) -> Access {
    if length < LEAST_FILE { Access::Onward } else { Access::Scattered }
}

impl Heads {
    /// Of a file of this length, after [`begin`].
    pub(super) fn new(length: usize) -> Self {
        Self { since: Instant::now(), left: 0, access: access(length), bytes: 0, next: 0 }
    }

    /// A packet of a file was found.
    pub(super) fn packet(&mut self, map: &FileMap, offset: u64, bytes: u64) {
        self.took(self.since.elapsed());
        let (access, heads) = self.advice(offset as usize, bytes as usize, map.bytes().len());
        if let Some(access) = access {
            map.expect(access);
        }
        heads.for_each(|head| map.read_ahead(head, HEAD_BYTES));
        self.since = Instant::now();
    }

    /// A head took so long.
    fn took(&mut self, time: Duration) {
        self.left = if time > SLOW { ASKED } else { self.left.saturating_sub(1) };
    }

    /// What to say after a packet of a file of this length: how it is read from now on, if that changes, and
    /// where heads are to be read.
    fn advice(
        &mut self,
        offset: usize,
        bytes: usize,
        length: usize,
    ) -> (Option<Access>, StepBy<Range<usize>>) {
        let access = if bytes < LEAST_BYTES { Access::Onward } else { access(length) };
        let changed = (access != self.access).then_some(access);
        let end = offset.saturating_add(bytes);
        if bytes != self.bytes {
            self.next = end;
        }
        (self.access, self.bytes) = (access, bytes);
        let first = self.next.max(end);
        let until = match access {
            _ if self.left == 0 => first,
            Access::Onward => first,
            Access::Scattered => end.saturating_add(bytes.saturating_mul(AHEAD)).min(length),
        };
        let heads = (first..until).step_by(bytes.max(1));
        self.next = first.saturating_add(heads.len().saturating_mul(bytes));
        (changed, heads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 4 * LEAST_BYTES;

    /// Of a large file whose heads are slow to read.
    fn slow() -> Heads {
        let mut heads = Heads::new(LEAST_FILE);
        heads.took(2 * SLOW);
        heads
    }

    /// What is said after each of some packets, which follow each other in a file.
    #[track_caller]
    fn check(sizes: &[usize], length: usize, expect: &[(Option<Access>, &[usize])]) {
        let (mut heads, mut offset) = (slow(), 0);
        let said: Vec<_> = sizes
            .iter()
            .map(|&bytes| {
                let (access, at) = heads.advice(offset, bytes, length);
                offset += bytes;
                (access, at.collect::<Vec<usize>>())
            })
            .collect();
        let expect: Vec<_> = expect.iter().map(|&(access, at)| (access, at.to_vec())).collect();
        assert_eq!(said, expect);
    }

    #[test]
    fn each_head_is_asked_for_once_and_before_it_is_looked_at() {
        let at = |packets: Range<usize>| packets.map(|n| n * LARGE).collect::<Vec<usize>>();
        let (whole, step) = (at(1..1 + AHEAD), |n: usize| at(n..n + 1));
        check(
            &[LARGE; 3],
            100 * LARGE,
            &[(None, &whole), (None, &step(AHEAD + 1)), (None, &step(AHEAD + 2))],
        );
        // Nothing is asked for after the end.
        check(&[LARGE; 4], 4 * LARGE, &[(None, &at(1..4)), (None, &[]), (None, &[]), (None, &[])]);
    }

    #[test]
    fn small_packets_are_read_onward() {
        let (onward, scattered) = (Some(Access::Onward), Some(Access::Scattered));
        check(&[4096; 3], 1 << 30, &[(onward, &[]), (None, &[]), (None, &[])]);
        check(&[0, 0], 1 << 30, &[(onward, &[]), (None, &[])]);
        let (length, rest) = (4096 + 4 * LARGE, [4096 + LARGE, 4096 + 2 * LARGE, 4096 + 3 * LARGE]);
        check(&[4096, LARGE, LARGE], length, &[(onward, &[]), (scattered, &rest), (None, &[])]);
        // And small files.
        let mut small = Heads::new(LEAST_FILE - 1);
        small.took(2 * SLOW);
        let (access, at) = small.advice(0, LARGE, LEAST_FILE - 1);
        assert_eq!((access, at.count()), (None, 0));
    }

    #[test]
    fn another_size_is_taken_to_be_that_of_the_next_packets() {
        let check = |first: usize, second: usize| {
            let (mut heads, length) = (slow(), 1 << 30);
            let _ = heads.advice(0, first, length);
            let (access, at) = heads.advice(first, second, length);
            let expect: Vec<usize> = (1..=AHEAD).map(|n| first + n * second).collect();
            assert_eq!((access, at.collect::<Vec<usize>>()), (None, expect));
        };
        check(LARGE, 2 * LARGE);
        check(2 * LARGE, LARGE);
        // Sizes of nonsense cost nothing.
        let (access, at) = slow().advice(7, usize::MAX, 2 << 20);
        assert_eq!((access, at.count()), (None, 0));
    }

    #[test]
    fn heads_that_are_in_memory_are_not_asked_for() {
        let (mut heads, length) = (Heads::new(1 << 30), 1 << 30);
        let mut asked = |packet: usize, time| {
            heads.took(time);
            heads.advice(packet * LARGE, LARGE, length).1.len()
        };
        assert_eq!((0..5).map(|n| asked(n, SLOW)).sum::<usize>(), 0);
        assert_eq!(asked(5, 2 * SLOW), AHEAD);
        assert_eq!((6..5 + ASKED).map(|n| asked(n, SLOW)).sum::<usize>(), ASKED - 1);
        assert_eq!((5 + ASKED..1000).map(|n| asked(n, SLOW)).sum::<usize>(), 0);
        assert_eq!(asked(1000, 2 * SLOW), AHEAD);
    }
}
