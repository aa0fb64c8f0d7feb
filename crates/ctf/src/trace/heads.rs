//! What is said to the kernel while heads of packets are read: a head is a few bytes of a packet of, mostly,
//! hundreds of KiB. Around each the kernel would read as much as it does for a file that is read onward, so
//! that opening a trace would read most of it from the disk. Heads are read alone instead, and those of the
//! next packets are asked for before they are looked at: tracers give all packets of a file one size.

use std::iter::StepBy;
use std::ops::Range;

use crate::mapping::{Access, FileMap};

/// Packets that are smaller than this are read onward: their heads lie so close that the pages between them
/// cost less than to ask for each page.
const LEAST_BYTES: usize = 1 << 16;

/// Heads that are asked for before they are looked at: enough to keep a disk busy, and few to be wrong about
/// where sizes change.
const AHEAD: usize = 32;

/// More than most heads have: what a larger one lacks is waited for.
const HEAD_BYTES: usize = 512;

/// How far the heads of a file have been asked for.
#[derive(Debug)]
pub(super) struct Heads {
    access: Access,
    /// Size of the packet before.
    bytes: usize,
    /// Where the next head is that was not asked for.
    next: usize,
}

/// Says that heads of a file are read from a byte on.
pub(super) fn begin(map: &FileMap, at: usize) {
    map.expect(Access::Scattered);
    map.read_ahead(at, HEAD_BYTES);
}

/// Says that all of a file may be read.
pub(super) fn end(map: &FileMap) {
    map.expect(Access::Onward);
}

impl Heads {
    /// After [`begin`].
    pub(super) fn new() -> Self {
        Self { access: Access::Scattered, bytes: 0, next: 0 }
    }

    /// A packet of a file was found.
    pub(super) fn packet(&mut self, map: &FileMap, offset: u64, bytes: u64) {
        let (access, heads) = self.advice(offset as usize, bytes as usize, map.bytes().len());
        if let Some(access) = access {
            map.expect(access);
        }
        heads.for_each(|head| map.read_ahead(head, HEAD_BYTES));
    }

    /// What to say after a packet of a file of this length: how it is read from now on, if that changes, and
    /// where heads are to be read.
    fn advice(
        &mut self,
        offset: usize,
        bytes: usize,
        length: usize,
    ) -> (Option<Access>, StepBy<Range<usize>>) {
        let access = if bytes < LEAST_BYTES { Access::Onward } else { Access::Scattered };
        let changed = (access != self.access).then_some(access);
        let end = offset.saturating_add(bytes);
        if bytes != self.bytes {
            self.next = end;
        }
        (self.access, self.bytes) = (access, bytes);
        let first = self.next.max(end);
        let until = match access {
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

    /// What is said after each of some packets, which follow each other in a file.
    #[track_caller]
    fn check(sizes: &[usize], length: usize, expect: &[(Option<Access>, &[usize])]) {
        let (mut heads, mut offset) = (Heads::new(), 0);
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
        check(&[LARGE; 3], 3 * LARGE, &[(None, &at(1..3)), (None, &[]), (None, &[])]);
        check(&[LARGE], LARGE, &[(None, &[])]);
    }

    #[test]
    fn small_packets_are_read_onward() {
        let (onward, scattered) = (Some(Access::Onward), Some(Access::Scattered));
        check(&[4096; 3], 1 << 30, &[(onward, &[]), (None, &[]), (None, &[])]);
        check(&[0, 0], 1 << 30, &[(onward, &[]), (None, &[])]);
        let length = 4096 + 2 * LARGE;
        check(&[4096, LARGE, LARGE], length, &[(onward, &[]), (scattered, &[4096 + LARGE]), (None, &[])]);
    }

    #[test]
    fn another_size_is_taken_to_be_that_of_the_next_packets() {
        let check = |first: usize, second: usize| {
            let (mut heads, length) = (Heads::new(), 1 << 30);
            let _ = heads.advice(0, first, length);
            let (access, at) = heads.advice(first, second, length);
            let expect: Vec<usize> = (1..=AHEAD).map(|n| first + n * second).collect();
            assert_eq!((access, at.collect::<Vec<usize>>()), (None, expect));
        };
        check(LARGE, 2 * LARGE);
        check(2 * LARGE, LARGE);
        // Sizes of nonsense cost nothing.
        let (access, at) = Heads::new().advice(7, usize::MAX, 100);
        assert_eq!((access, at.count()), (None, 0));
    }
}
