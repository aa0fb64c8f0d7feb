//! The events of a piece in the order of time, with the losses in their places.
//!
//! The order is total and the same for any cuts: by the time that an event counts as (see [`crate::lane`]), then by the
//! order of the host's sources, then by their place in the stream. A loss comes before all events of its end or later.
//! `isochrone_ctf::merge` has the same order; it is not used because packets that break are to be told among the events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isochrone_ctf::Event;
use isochrone_kernel::Time;

use crate::border::Piece;
use crate::host::Host;
use crate::lane::{Broken, Lane};
use crate::losses::Loss;
use crate::report::Report;

/// Progress is told once in so many bytes.
const TELL_EVERY: u64 = 1 << 20;

/// What a piece consists of.
#[derive(Debug, Clone, Copy)]
pub enum Item<'t> {
    /// An event.
    Event {
        /// The time that it counts as, raw ns: never before that of the item before it.
        time: Time,
        /// Number of its source in [`Host::sources`].
        source: usize,
        /// The event.
        event: Event<'t>,
    },
    /// Something is missing. It comes once, in the piece that has its end.
    Loss(Loss),
}

/// As [`Item`], with the event where it lies in the reader: it is eleven words.
pub(crate) enum Place<'e, 't> {
    Event { time: Time, lane: &'e Lane<'e, 't>, event: &'e Event<'t> },
    Loss(Loss),
}

/// Hears how many bytes of events were read since it was told last. Those of heads and padding of packets are not told.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// The events and losses of a piece. Memory is a few words for each source.
pub struct PieceEvents<'p, 't> {
    host: &'p Host<'t>,
    piece: Piece,
    /// Events from here on are in other pieces; no event is at the end of time.
    until: Time,
    lanes: Vec<Lane<'p, 't>>,
    /// The time of the next event of each lane, the first one last.
    order: Vec<Head>,
    /// Losses that the host knows of, the first one last.
    known: std::iter::Peekable<std::slice::Iter<'p, Loss>>,
    /// Packets that broke on the way.
    broken: BinaryHeap<Reverse<Late>>,
    /// When the next loss is to be told.
    next_loss: Option<Time>,
    /// Whether the lane of the first head has to go on.
    is_taken: bool,
    report: Report,
    progress: Option<Progress<'p>>,
    /// Bytes of events that nobody was told of.
    untold: u64,
}

/// The next event of a lane. The first one is the greatest: the complement of its time, above that of the number of the
/// lane. As one number they take one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head(i128);

impl Head {
    #[inline]
    fn new(time: Time, lane: usize) -> Self {
        Self(!(i128::from(time) << 64 | lane as i128))
    }

    #[inline]
    fn time(self) -> Time {
        (!self.0 >> 64) as Time
    }

    #[inline]
    fn lane(self) -> usize {
        !self.0 as usize
    }
}

/// A packet that broke, in the order in which they are told.
#[derive(Debug, PartialEq, Eq)]
struct Late(Broken);

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.loss.cmp(&other.0.loss)
    }
}

impl<'t> Host<'t> {
    /// The events and losses of a piece.
    pub fn read<'p>(&'p self, piece: Piece) -> PieceEvents<'p, 't> {
        let from = piece.from.time();
        let first = self.losses().partition_point(|loss| loss.to < from);
        let mut events = PieceEvents {
            host: self,
            piece,
            until: piece.to.time(),
            lanes: Vec::new(),
            order: Vec::new(),
            known: self.losses()[first..].iter().peekable(),
            broken: BinaryHeap::new(),
            next_loss: None,
            is_taken: false,
            report: Report::default(),
            progress: None,
            untold: 0,
        };
        if piece.is_empty() {
            events.known = [].iter().peekable();
            return events;
        }
        for (number, source) in self.sources().iter().enumerate() {
            if source.packet_at(from) >= source.packets.end {
                continue;
            }
            let (mut lane, time) = Lane::new(source, number, piece);
            events.take_broken(&mut lane.broken);
            if let Some(time) = time.filter(|&time| time < events.until) {
                events.order.push(Head::new(time, events.lanes.len()));
                events.lanes.push(lane);
            }
        }
        events.order.sort_unstable();
        events.look_for_loss();
        events
    }
}

impl<'p, 't> PieceEvents<'p, 't> {
    /// The piece.
    pub fn piece(&self) -> Piece {
        self.piece
    }

    /// Tells somebody how it goes on.
    #[must_use]
    pub fn with_progress(self, progress: Option<Progress<'p>>) -> Self {
        Self { progress, ..self }
    }

    /// What has been read so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What has been read, at the end.
    pub fn into_report(self) -> Report {
        if let Some(progress) = self.progress {
            progress(self.untold);
        }
        self.report
    }

    /// Takes over what broke in a lane, if it is this piece that tells it.
    #[cold]
    fn take_broken(&mut self, broken: &mut Vec<Broken>) {
        let here = broken.drain(..).filter(|broken| self.piece.contains(broken.loss.to));
        self.broken.extend(here.map(|broken| Reverse(Late(broken))));
        self.look_for_loss();
    }

    /// Finds out when the next loss is to be told.
    fn look_for_loss(&mut self) {
        let known = self.known.peek().map(|loss| loss.to).filter(|&to| self.piece.contains(to));
        let broken = self.broken.peek().map(|Reverse(late)| late.0.loss.to);
        self.next_loss = known.into_iter().chain(broken).min();
    }

    /// The next loss, which is there.
    #[cold]
    fn loss(&mut self) -> Option<Loss> {
        let piece = self.piece;
        let known = self.known.peek().copied().copied().filter(|loss| piece.contains(loss.to));
        let broken = self.broken.peek().map(|Reverse(late)| late.0.loss);
        let is_broken = broken.is_some_and(|broken| known.is_none_or(|known| broken < known));
        let loss = if is_broken {
            let Reverse(Late(broken)) = self.broken.pop()?;
            let source = self.host.sources().get(broken.loss.source);
            if let Some(diagnostic) = source.and_then(|source| broken.diagnostic(source)) {
                self.report.note(&diagnostic);
            }
            broken.loss
        } else {
            self.known.next();
            known?
        };
        self.report.lose(loss.what);
        self.report.missing.extend(self.host.missing_stream(&loss));
        self.look_for_loss();
        Some(loss)
    }

    /// Lets the lane of the last event go on.
    #[inline]
    fn go_on(&mut self) {
        self.is_taken = false;
        let Some(number) = self.order.last().map(|head| head.lane()) else { return };
        let lane = &mut self.lanes[number];
        let time = lane.advance();
        if !lane.broken.is_empty() {
            let mut broken = std::mem::take(&mut lane.broken);
            self.take_broken(&mut broken);
        }
        let Some(time) = time.filter(|&time| time < self.until) else {
            self.order.pop();
            return;
        };
        // Its new place is near: most streams have events all the time.
        let head = Head::new(time, number);
        let Some((mut place, others)) = self.order.split_last_mut() else { return };
        for other in others.iter_mut().rev().take_while(|other| **other > head) {
            *place = *other;
            place = other;
        }
        *place = head;
    }

    /// The next event or loss.
    #[inline]
    pub(crate) fn next_place(&mut self) -> Option<Place<'_, 't>> {
        if self.is_taken {
            self.go_on();
        }
        let Some(&head) = self.order.last() else {
            return self.next_loss.and_then(|_| self.loss()).map(Place::Loss);
        };
        let time = head.time();
        if self.next_loss.is_some_and(|loss| loss <= time) {
            return self.loss().map(Place::Loss);
        }
        self.is_taken = true;
        let lane = &self.lanes[head.lane()];
        let event = lane.head()?;
        self.report.events += 1;
        if let Some(progress) = self.progress {
            self.untold += event.size();
            if self.untold >= TELL_EVERY {
                progress(std::mem::take(&mut self.untold));
            }
        }
        Some(Place::Event { time, lane, event })
    }
}

impl<'t> Iterator for PieceEvents<'_, 't> {
    type Item = Item<'t>;

    #[inline]
    fn next(&mut self) -> Option<Item<'t>> {
        Some(match self.next_place()? {
            Place::Event { time, lane, event } => Item::Event { time, source: lane.number(), event: *event },
            Place::Loss(loss) => Item::Loss(loss),
        })
    }
}
