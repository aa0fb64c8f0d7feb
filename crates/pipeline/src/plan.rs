//! Where to cut the trace of a host.
//!
//! Any cuts give the same result; these differ in how even the work is. Gaps are pieces of their own in every
//! plan, so that they are handled alike.

use crate::border::{Border, Piece};
use isochrone_hosts::{EventSource, Host};
use isochrone_time::RawNs;

/// Maximum number of pieces.
pub const MAX_PIECES: usize = 1 << 16;

/// Pieces for each thread: so that they are done at about the same time, though not all pieces take equally
/// long.
const PIECES_PER_THREAD: usize = 4;

/// Smaller pieces than this are made only where threads had nothing to do otherwise: to merge them costs what
/// it takes to read them.
const PIECE_BYTES: u64 = 4 << 20;

/// Ways to cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cuts {
    /// One piece.
    Whole,
    /// A number of pieces of equal length in time.
    Times(usize),
    /// A number of pieces of nearly equal size in bytes.
    Bytes(usize),
    /// Pieces that begin at these raw times, ns, in any order.
    At(Vec<RawNs>),
    /// A number of pieces that begin where packets do.
    Packets(usize),
    /// The effective archives of a rotated session: each begins when all streams have turned to the next
    /// chunk.
    Archives,
}

/// A piece of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its borders.
    pub piece: Piece,
    /// Whether everything in it is missing.
    pub is_gap: bool,
}

/// The pieces of a host, one after the other: from [`Border::Begin`] to [`Border::End`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// Cuts a host's trace. Cuts at equal times are one; those within a gap are left out.
    pub fn new(host: &Host<'_>, cuts: &Cuts) -> Self {
        let mut times = times(host, cuts);
        for gap in host.gaps() {
            times.retain(|&time| time <= gap.start || time >= gap.end);
            times.extend([gap.start, gap.end]);
        }
        times.sort_unstable();
        times.dedup();
        let inner = times.into_iter().map(Border::At);
        let borders: Vec<Border> = [Border::Begin].into_iter().chain(inner).chain([Border::End]).collect();
        let step = |pair: &[Border]| {
            let piece = Piece { from: pair[0], to: pair[1] };
            Step { piece, is_gap: host.gaps().iter().any(|gap| *gap == piece.window()) }
        };
        Self { steps: borders.windows(2).map(step).collect() }
    }

    /// A plan that keeps `threads` threads busy.
    pub fn for_threads(host: &Host<'_>, threads: usize) -> Self {
        Self::of_bytes(host, if threads > 1 { pieces(host.bytes(), threads) } else { 1 })
    }

    /// Plans of many hosts whose pieces are one queue for `threads` threads: together they have about as many
    /// pieces as one host of their size, so that many small hosts are not cut at all.
    pub fn for_hosts<'h, 't: 'h>(hosts: impl IntoIterator<Item = &'h Host<'t>>, threads: usize) -> Vec<Self> {
        let hosts: Vec<&Host<'_>> = hosts.into_iter().collect();
        let bytes: Vec<u64> = hosts.iter().map(|host| host.bytes()).collect();
        hosts.iter().zip(shares(&bytes, threads)).map(|(host, pieces)| Self::of_bytes(host, pieces)).collect()
    }

    fn of_bytes(host: &Host<'_>, pieces: usize) -> Self {
        Self::new(host, &if pieces > 1 { Cuts::Bytes(pieces) } else { Cuts::Whole })
    }

    /// A piece alone, cut for `threads` threads. `None` where the piece is empty.
    pub fn of_piece(host: &Host<'_>, piece: Piece, threads: usize) -> Option<Self> {
        let piece = outside_gaps(host, piece);
        if piece.is_empty() {
            return None;
        }
        let before = |border: Border| match border {
            Border::Begin => 0,
            Border::At(time) => bytes_before(host, time),
            Border::End => host.bytes(),
        };
        let (from, to) = (before(piece.from), before(piece.to));
        let bytes = to.saturating_sub(from);
        let parts = if threads > 1 { pieces(bytes, threads) } else { 1 };
        let inner = (1..parts)
            .filter_map(|n| byte_cut(host, from + (u128::from(bytes) * n as u128 / parts as u128) as u64));
        let borders = [piece.from, piece.to].into_iter().filter(|border| matches!(border, Border::At(_)));
        let is_inside = |time: &RawNs| piece.from < Border::At(*time) && Border::At(*time) < piece.to;
        let cuts = inner.filter(is_inside).chain(borders.map(Border::time)).collect();
        Self::new(host, &Cuts::At(cuts)).within(piece)
    }

    /// A piece alone, cut at some raw times. `None` where the piece is empty.
    pub fn of_piece_at(host: &Host<'_>, piece: Piece, mut cuts: Vec<RawNs>) -> Option<Self> {
        let piece = outside_gaps(host, piece);
        let borders = [piece.from, piece.to].into_iter().filter(|border| matches!(border, Border::At(_)));
        cuts.extend(borders.map(Border::time));
        if piece.is_empty() { None } else { Self::new(host, &Cuts::At(cuts)).within(piece) }
    }

    /// The pieces within a piece; `None` where there are none. What the piece cuts through is left out.
    pub fn within(&self, piece: Piece) -> Option<Self> {
        let is_inside = |step: &&Step| piece.from <= step.piece.from && step.piece.to <= piece.to;
        let steps: Vec<Step> = self.steps.iter().filter(is_inside).copied().collect();
        (!steps.is_empty()).then_some(Self { steps })
    }

    /// The pieces in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// The piece of a number, counted from 1, of `of` pieces of nearly equal size in bytes that are the whole
/// together. Some are empty where there are too many; and no cut is in a gap.
pub fn nth_piece(host: &Host<'_>, number: usize, of: usize) -> Piece {
    let border = |number: usize| match number {
        0 => Border::Begin,
        number if number >= of => Border::End,
        number => {
            let bytes = u128::from(host.bytes()) * number as u128 / of as u128;
            byte_cut(host, bytes as u64).map_or(Border::End, Border::At)
        }
    };
    outside_gaps(host, Piece { from: border(number.saturating_sub(1)), to: border(number) })
}

/// The same piece, but that borders within a gap are at its end.
fn outside_gaps(host: &Host<'_>, piece: Piece) -> Piece {
    let moved = |border: Border| {
        let mut gaps = host.gaps().iter().map(|gap| (Border::At(gap.start), Border::At(gap.end)));
        gaps.find(|&(start, end)| start < border && border < end).map_or(border, |(_, end)| end)
    };
    Piece { from: moved(piece.from), to: moved(piece.to) }
}

/// Number of pieces that keep `threads` threads busy.
fn pieces(bytes: u64, threads: usize) -> usize {
    let most = threads.saturating_mul(PIECES_PER_THREAD);
    usize::try_from(bytes / PIECE_BYTES).unwrap_or(most).clamp(threads, most)
}

/// Number of pieces of each of some hosts, whose bytes these are, so that `threads` threads are busy until
/// all is done.
fn shares(bytes: &[u64], threads: usize) -> Vec<usize> {
    if threads < 2 {
        return vec![1; bytes.len()];
    }
    let whole = bytes.iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
    let all = pieces(whole, threads);
    // Below `all`, as no host has more bytes than all have.
    let share = |&bytes: &u64| (bytes as u128 * all as u128).div_ceil(u128::from(whole.max(1))) as usize;
    let mut shares: Vec<usize> = bytes.iter().map(|bytes| share(bytes).max(1)).collect();
    // The last one is begun when others are nearly done: each of the threads gets a part of it.
    if let Some(last) = shares.last_mut() {
        *last = (*last).max(threads);
    }
    shares
}

/// Where pieces are to begin, in any order.
fn times(host: &Host<'_>, cuts: &Cuts) -> Vec<RawNs> {
    let Some((begin, end)) = host.extent() else { return Vec::new() };
    let inner = |pieces: usize| 1..pieces.clamp(1, MAX_PIECES);
    match cuts {
        Cuts::Whole => Vec::new(),
        Cuts::At(times) => times.clone(),
        Cuts::Archives => host.archives().iter().skip(1).map(|archive| archive.switched).collect(),
        Cuts::Times(pieces) => {
            let span = i128::from(end.ns()) - i128::from(begin.ns());
            let cut = |n| i128::from(begin.ns()) + span * n as i128 / *pieces as i128;
            inner(*pieces).map(|n| RawNs(cut(n) as i64)).collect()
        }
        Cuts::Bytes(pieces) => {
            let all = u128::from(host.bytes());
            let cut = |n| time_of_byte(host, (all * n as u128 / *pieces as u128) as u64, begin, end);
            inner(*pieces).map(cut).collect()
        }
        Cuts::Packets(pieces) => {
            let begins = host.sources().iter().flat_map(EventSource::packet_begins);
            let mut begins: Vec<RawNs> = begins.collect();
            begins.sort_unstable();
            begins.dedup();
            inner((*pieces).min(begins.len()))
                .map(|n| begins[begins.len() * n / (*pieces).min(begins.len())])
                .collect()
        }
    }
}

/// The first raw time before which there are `bytes` bytes; `None` where there are no packets.
fn byte_cut(host: &Host<'_>, bytes: u64) -> Option<RawNs> {
    let (begin, end) = host.extent()?;
    Some(time_of_byte(host, bytes, begin, end))
}

/// The first raw time before which there are `bytes` bytes, between two.
fn time_of_byte(host: &Host<'_>, bytes: u64, begin: RawNs, end: RawNs) -> RawNs {
    let (mut low, mut high) = (begin, end);
    while low < high {
        let middle = RawNs(low.ns().midpoint(high.ns()));
        if bytes_before(host, middle) < bytes { low = middle + 1 } else { high = middle }
    }
    low
}

fn bytes_before(host: &Host<'_>, time: RawNs) -> u64 {
    host.sources().iter().map(|source| source.bytes_before(time)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_many_where_they_are_large() {
        let check = |mebibytes: u64, threads, expect| assert_eq!(pieces(mebibytes << 20, threads), expect);
        check(0, 2, 2);
        check(8, 2, 2);
        check(20, 2, 5);
        check(1000, 2, 8);
        check(0, usize::MAX, usize::MAX);
    }

    #[test]
    fn many_hosts_share_the_pieces() {
        let check = |mebibytes: &[u64], threads, expect: &[usize]| {
            let bytes: Vec<u64> = mebibytes.iter().map(|size| size << 20).collect();
            assert_eq!(shares(&bytes, threads), expect, "{mebibytes:?} on {threads}");
        };
        check(&[], 4, &[]);
        check(&[100, 100], 1, &[1, 1]);
        // One host is cut as if it were alone.
        check(&[8], 2, &[2]);
        check(&[20], 2, &[5]);
        check(&[1000], 2, &[8]);
        // Many small ones are not cut, but for the last.
        check(&[2, 2, 2], 2, &[1, 1, 2]);
        check(&[0, 0, 0], 3, &[1, 1, 3]);
        // A large one among small ones is.
        check(&[1000, 1, 1], 2, &[8, 1, 2]);
        check(&[1, 1000], 4, &[1, 16]);
        check(&[u64::MAX >> 20, u64::MAX >> 20], 2, &[8, 8]);
    }
}
