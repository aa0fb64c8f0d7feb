//! Requests to disks: inserted into a queue, issued to the driver, complete.
//!
//! Part of a `PartialState`. A request is identified by device and first sector. Of several inserts of one
//! key, the last counts; of several issues, the last open one is completed first, as brackets are closed.
//! What a piece cannot resolve waits for the piece before: the insert of the first issue of a key, and what
//! was issued before the piece. When events are lost, all open requests are emitted as they are and dropped.
//!
//! The kernel merges queued requests, and only `block_rq_merge` reports it, which young tracers have. With
//! other tracers, a request that was merged into another one is emitted when another request is inserted with
//! its key, or at the end.

use serde::{Deserialize, Serialize};

use crate::canonical_map::CanonicalMap;
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::loss_tracker::LossCount;
use crate::span::Spans;

/// Device and first sector.
pub(crate) type RequestKey = (u32, u64);

/// A request to a disk, or what was seen of it: inserted into a queue, issued to the driver, complete. One
/// that was merged into another is never issued; one that a driver returned is issued once more, as another
/// request. If parts are completed separately, the first span is that of the request; the others have neither
/// `inserted` nor `issued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRequest {
    /// The device, as the kernel numbers it.
    pub device: u32,
    /// First sector.
    pub sector: u64,
    /// Number of sectors of 512 bytes.
    pub sectors: u32,
    /// Whether it writes.
    pub is_write: bool,
    /// Number of bytes, if recorded.
    pub bytes: Option<u32>,
    /// The thread that ran when it was inserted or, if that was not seen, issued: not always the one that
    /// caused it.
    pub thread: Option<ThreadId>,
    /// When it was inserted into a queue of the scheduler. Many never are.
    pub inserted: Option<Time>,
    /// When it was issued to the driver.
    pub issued: Option<Time>,
    /// When it was complete.
    pub completed: Option<Time>,
    /// The error that it was completed with, as a negative number; 0: none.
    pub error: i32,
    /// Whether only a part of it was complete then.
    pub is_partial: bool,
}

impl BlockRequest {
    /// When it was first seen.
    pub fn begin(&self) -> Time {
        self.inserted.or(self.issued).or(self.completed).unwrap_or_default()
    }

    /// When it was last seen.
    pub fn end(&self) -> Time {
        self.completed.or(self.issued).or(self.inserted).unwrap_or_default()
    }
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTransfer {
    /// Number of sectors of 512 bytes.
    pub sectors: u32,
    /// Bytes, if recorded.
    pub bytes: Option<u32>,
    /// Whether it is a write.
    pub is_write: bool,
}

/// An insert or an issue of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) at: Time,
    pub(crate) loss_count: LossCount,
    pub(crate) thread: ThreadId,
    pub(crate) transfer: BlockTransfer,
}

/// The end of an issued request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// It is complete, or a part of it.
    Complete { at: Time, loss_count: LossCount, transfer: BlockTransfer, error: i32 },
    /// The driver returns it: it will be issued once more.
    Requeued,
    /// Events are missing.
    Lost,
}

/// All requests of a host in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Nothing waits for earlier pieces: they have no requests, or events are missing since.
    is_cut: bool,
    tracks: CanonicalMap<RequestKey, RequestsAt>,
}

/// The requests of one key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct RequestsAt {
    head: Head,
    queue: Queue,
    /// Open issued requests, in order.
    issued: Vec<Issued>,
    /// Ends of requests that were issued before the piece.
    ends: Vec<End>,
}

/// What the piece does to the request that was queued when it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Head {
    /// Nothing.
    #[default]
    Untouched,
    /// It will never be issued.
    Dropped,
    /// It is issued, and how that ends.
    Issued(Start, Option<End>),
}

/// The queue of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Queue {
    /// The request that was queued before the piece; nothing if earlier pieces are cut off.
    #[default]
    Before,
    Empty,
    Request(Start),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Issued {
    insert: Insert,
    issue: Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Insert {
    Known(Option<Start>),
    /// Known only to the piece before: the one in the head.
    Before,
}

impl Requests {
    /// The requests of a piece that begins; `is_first`: no piece comes before.
    pub(crate) fn new(is_first: bool) -> Self {
        Self { is_cut: is_first, tracks: CanonicalMap::default() }
    }

    /// The requests of a missing piece.
    pub(crate) fn missing() -> Self {
        Self::new(true)
    }

    pub(crate) fn insert(&mut self, key: RequestKey, insert: Start, spans: &mut impl Spans) {
        let track = self.tracks.or_default(key);
        track.drop_queued(key, self.is_cut, spans);
        track.queue = Queue::Request(insert);
    }

    /// The queued request is merged into another one.
    pub(crate) fn merge(&mut self, key: RequestKey, spans: &mut impl Spans) {
        self.tracks.or_default(key).drop_queued(key, self.is_cut, spans);
        self.tidy(key);
    }

    pub(crate) fn issue(&mut self, key: RequestKey, issue: Start) {
        let track = self.tracks.or_default(key);
        let insert = track.take_queued(self.is_cut);
        if insert == Insert::Before {
            track.head = Head::Issued(issue, None);
        }
        track.issued.push(Issued { insert, issue });
    }

    pub(crate) fn end(&mut self, key: RequestKey, end: End, spans: &mut impl Spans) {
        self.tracks.or_default(key).end(key, end, self.is_cut, spans);
        self.tidy(key);
    }

    /// Removes the entry of a key that has no requests left.
    fn tidy(&mut self, key: RequestKey) {
        if self.tracks.get(&key).is_some_and(|track| *track == RequestsAt::default()) {
            self.tracks.remove(&key);
        }
    }

    /// Events are missing: whatever is open may have ended. Linear in what is open.
    pub(crate) fn on_loss(&mut self, spans: &mut impl Spans) {
        self.is_cut = true;
        self.tracks.retain(|&key, track| {
            if let Queue::Request(insert) = track.queue {
                emit(key, Some(insert), None, None, spans);
            }
            track.queue = Queue::Before;
            while !track.issued.is_empty() {
                track.end(key, End::Lost, true, spans);
            }
            *track != RequestsAt::default()
        });
    }

    /// Appends the next piece, which has been shifted by the losses of this one.
    pub(crate) fn append(&mut self, right: Self, spans: &mut impl Spans) {
        let mut there = right.tracks.into_sorted();
        for (key, track) in &mut there {
            self.tracks.or_default(*key).settle(*key, track, self.is_cut, spans);
        }
        if right.is_cut {
            self.on_loss(spans);
        }
        for (key, track) in there {
            let here = self.tracks.or_default(key);
            match track.queue {
                Queue::Before => {}
                Queue::Empty if self.is_cut => here.queue = Queue::Before,
                queue => here.queue = queue,
            }
            here.issued.extend(track.issued);
            self.tidy(key);
        }
    }

    /// Adds the losses of the pieces before.
    pub(crate) fn shift(&mut self, losses: u64) {
        let end = |end: &mut End| {
            if let End::Complete { loss_count, .. } = end {
                loss_count.shift(losses);
            }
        };
        self.change(|start| start.loss_count.shift(losses), end);
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        self.change(|start| aliases.change(&mut start.thread), |_| {});
    }

    fn change(&mut self, mut start: impl FnMut(&mut Start), mut end: impl FnMut(&mut End)) {
        for (_, RequestsAt { head, queue, issued, ends }) in self.tracks.unordered_mut() {
            if let Head::Issued(issue, ending) = head {
                start(issue);
                ending.iter_mut().for_each(&mut end);
            }
            if let Queue::Request(insert) = queue {
                start(insert);
            }
            for Issued { insert, issue } in issued {
                if let Insert::Known(Some(insert)) = insert {
                    start(insert);
                }
                start(issue);
            }
            ends.iter_mut().for_each(&mut end);
        }
    }

    /// Emits all that is open at either end of the trace.
    pub(crate) fn finish(mut self, spans: &mut impl Spans) {
        self.on_loss(spans);
        let mut first = Self::new(true);
        first.append(self, spans);
    }
}

impl RequestsAt {
    /// Issues the queued request. `is_cut`: nothing waits for earlier pieces.
    fn take_queued(&mut self, is_cut: bool) -> Insert {
        let empty = if is_cut { Queue::Before } else { Queue::Empty };
        match std::mem::replace(&mut self.queue, empty) {
            Queue::Request(insert) => Insert::Known(Some(insert)),
            Queue::Before if !is_cut => Insert::Before,
            Queue::Before | Queue::Empty => Insert::Known(None),
        }
    }

    /// The queued request will never be issued.
    fn drop_queued(&mut self, key: RequestKey, is_cut: bool, spans: &mut impl Spans) {
        match self.take_queued(is_cut) {
            Insert::Known(None) => {}
            Insert::Known(insert) => emit(key, insert, None, None, spans),
            Insert::Before => self.head = Head::Dropped,
        }
    }

    fn end(&mut self, key: RequestKey, end: End, is_cut: bool, spans: &mut impl Spans) {
        match self.issued.pop() {
            Some(Issued { insert: Insert::Known(insert), issue }) => {
                emit(key, insert, Some(issue), Some(end), spans);
            }
            Some(Issued { insert: Insert::Before, issue }) => self.head = Head::Issued(issue, Some(end)),
            None if is_cut => emit(key, None, None, Some(end), spans),
            None => self.ends.push(end),
        }
    }

    /// Applies what the next piece, `right`, does to requests of earlier pieces.
    fn settle(&mut self, key: RequestKey, right: &mut Self, is_cut: bool, spans: &mut impl Spans) {
        for end in right.ends.drain(..) {
            self.end(key, end, is_cut, spans);
        }
        match right.head {
            Head::Untouched => {}
            Head::Dropped => self.drop_queued(key, is_cut, spans),
            Head::Issued(issue, end) => match (self.take_queued(is_cut), end) {
                (Insert::Before, _) => self.head = right.head,
                (Insert::Known(insert), Some(end)) => emit(key, insert, Some(issue), Some(end), spans),
                (insert, None) => {
                    let mut open = right.issued.iter_mut();
                    if let Some(issued) = open.find(|issued| issued.insert == Insert::Before) {
                        issued.insert = insert;
                    }
                }
            },
        }
    }
}

/// Emits what is known of a request, in parts if events may be missing in between.
fn emit(
    key: RequestKey,
    insert: Option<Start>,
    issue: Option<Start>,
    end: Option<End>,
    spans: &mut impl Spans,
) {
    if let (Some(inserted), Some(issued)) = (insert, issue)
        && !inserted.loss_count.no_loss_between(issued.loss_count)
    {
        emit(key, insert, None, None, spans);
        return emit(key, None, issue, end, spans);
    }
    if let (Some(issued), Some(End::Complete { loss_count, .. })) = (issue, end)
        && !issued.loss_count.no_loss_between(loss_count)
    {
        emit(key, insert, issue, None, spans);
        return emit(key, None, None, end, spans);
    }
    let complete = match end {
        Some(End::Complete { at, transfer, error, .. }) => Some((at, transfer, error)),
        Some(End::Requeued | End::Lost) | None => None,
    };
    let first = insert.or(issue);
    let Some(transfer) = issue.or(insert).map(|start| start.transfer).or(complete.map(|end| end.1)) else {
        return;
    };
    let (device, sector) = key;
    spans.block_request(&BlockRequest {
        device,
        sector,
        sectors: transfer.sectors,
        bytes: transfer.bytes,
        is_write: transfer.is_write,
        thread: first.map(|start| start.thread),
        inserted: insert.map(|insert| insert.at),
        issued: issue.map(|issue| issue.at),
        completed: complete.map(|end| end.0),
        error: complete.map_or(0, |end| end.2),
        is_partial: complete.is_some_and(|end| end.1.sectors < transfer.sectors),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PIECE_BEGIN;

    #[derive(Default)]
    struct Told(Vec<String>);

    impl Spans for Told {
        fn block_request(&mut self, it: &BlockRequest) {
            let time = |at: Option<Time>| at.map_or("-".to_owned(), |at| at.to_string());
            let rest = if it.is_partial { " part" } else { "" };
            let thread = it.thread.and_then(ThreadId::tid).unwrap_or(0);
            let [inserted, issued, completed] = [it.inserted, it.issued, it.completed].map(time);
            self.0.push(format!("{}@{thread} {inserted} {issued} {completed}{rest}", it.sector));
        }
        fn rename(&mut self, _: &ThreadAliases) {}
        fn absorb(&mut self, _: Self) {}
    }

    /// `i5` inserts at sector 5, `s5` issues there, `c5` completes, `p5` completes a part, `m5` merges, `r5`
    /// requeues, `x` loses events. Each is at the time of its key and by the thread of the same number.
    fn play(requests: &mut Requests, step: &str, at: Time, losses: &mut u64, emitted: &mut Told) {
        let loss_count = {
            let mut loss_count = LossCount::ZERO;
            loss_count.shift(*losses);
            loss_count
        };
        let transfer = |sectors| BlockTransfer { sectors, bytes: None, is_write: false };
        let start = Start {
            at,
            loss_count,
            thread: ThreadId::Thread { tid: at.ns() as i32, born: PIECE_BEGIN },
            transfer: transfer(8),
        };
        let key = || (1, step[1..].parse().unwrap());
        let complete = |sectors| End::Complete { at, loss_count, transfer: transfer(sectors), error: 0 };
        match step.as_bytes()[0] {
            b'i' => requests.insert(key(), start, emitted),
            b's' => requests.issue(key(), start),
            b'm' => requests.merge(key(), emitted),
            b'r' => requests.end(key(), End::Requeued, emitted),
            b'c' => requests.end(key(), complete(8), emitted),
            b'p' => requests.end(key(), complete(3), emitted),
            _ => {
                *losses += 1;
                requests.on_loss(emitted);
            }
        }
    }

    /// Checks the requests that a script emits, for all cuts in three pieces.
    fn check(script: &str, expect: &[&str]) {
        let steps: Vec<&str> = script.split(' ').collect();
        let mut whole: Option<Requests> = None;
        for first in (0..=steps.len()).rev() {
            for second in first..=steps.len() {
                let mut emitted = Told::default();
                let mut pieces = [Requests::new(true), Requests::new(false), Requests::new(false)];
                let mut losses = [0; 3];
                for (at, step) in steps.iter().enumerate() {
                    let piece = usize::from(at >= first) + usize::from(at >= second);
                    play(&mut pieces[piece], step, Time(at as i64), &mut losses[piece], &mut emitted);
                }
                let [mut left, mut middle, mut right] = pieces;
                if second % 2 == 0 {
                    middle.shift(losses[0]);
                    left.append(middle, &mut emitted);
                    right.shift(losses[0] + losses[1]);
                    left.append(right, &mut emitted);
                } else {
                    right.shift(losses[1]);
                    middle.append(right, &mut emitted);
                    middle.shift(losses[0]);
                    left.append(middle, &mut emitted);
                }
                let whole = whole.get_or_insert_with(|| left.clone());
                assert_eq!(left, *whole, "{script}, cut at {first} and {second}");
                left.finish(&mut emitted);
                emitted.0.sort();
                assert_eq!(emitted.0, expect, "{script}, cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn requests_are_inserted_issued_complete() {
        // The thread that inserts is recorded, not the one that issues.
        check("i5 s5 c5", &["5@0 0 1 2"]);
        check("s5 c5", &["5@0 - 0 1"]);
        check("i5 i7 s7 s5 c7 c5", &["5@0 0 3 5", "7@1 1 2 4"]);
        check("i5 s5 c5 i5 s5 c5", &["5@0 0 1 2", "5@3 3 4 5"]);
        // Two of one key: the last is completed first.
        check("s5 s5 c5 c5", &["5@0 - 0 3", "5@1 - 1 2"]);
    }

    #[test]
    fn what_is_incomplete_is_reported() {
        check("i5", &["5@0 0 - -"]);
        check("i5 s5", &["5@0 0 1 -"]);
        check("c5", &["5@0 - - 0"]);
        check("i5 i5 s5 c5", &["5@0 0 - -", "5@1 1 2 3"]);
        check("i5 s5 p5 c8", &["5@0 0 1 2 part", "8@0 - - 3"]);
        // It was merged into another one.
        check("i5 i7 m7 s5 c5", &["5@0 0 3 4", "7@1 1 - -"]);
        check("m5 s5 c5", &["5@1 - 1 2"]);
    }

    #[test]
    fn a_driver_may_give_a_request_back() {
        check("i5 s5 r5 i5 s5 c5", &["5@0 0 1 -", "5@3 3 4 5"]);
        check("r5 s5 c5", &["5@1 - 1 2"]);
    }

    #[test]
    fn nothing_is_joined_over_a_loss() {
        check("i5 x s5 c5", &["5@0 0 - -", "5@2 - 2 3"]);
        check("i5 s5 x c5", &["5@0 - - 3", "5@0 0 1 -"]);
        check("x c5 i5 x s5 x c5", &["5@0 - - 1", "5@0 - - 6", "5@2 2 - -", "5@4 - 4 -"]);
    }
}
