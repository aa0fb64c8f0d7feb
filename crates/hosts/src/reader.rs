//! The events of a window in the order of time, with the losses in their `trace_indices`.
//!
//! The order is total and the same for any cuts: by the time that an event counts as (see `cursor`), then by
//! the order of the host's sources, then by their place in the stream. A loss comes before all events of its
//! end or later, and that it begins comes after all events before it. `isochrone_ctf::merge` has the same
//! order; it is not used because losses are to be given among the events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isochrone_ctf::{Diagnostic, Event};
use isochrone_loser_tree::LoserTree;
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::cursor::{Broken, FoundLoss, StreamCursor};
use crate::host::Host;
use crate::losses::{LossKind, StreamLoss, StreamLossBegin};
use crate::source::EventSource;

/// Progress is reported once in this many bytes.
const PROGRESS_INTERVAL_BYTES: u64 = 1 << 20;

/// An event or a loss of a window.
#[derive(Debug, Clone, Copy)]
pub enum Item<'t> {
    /// An event.
    Event {
        /// The time that it counts as, raw ns: never before that of the item before it.
        time: RawNs,
        /// Number of its source in [`Host::sources`].
        source: usize,
        /// The event.
        event: Event<'t>,
    },
    /// From here on something is missing. It comes in the window that has this instant, and once more at the
    /// start of each later one into which the loss reaches.
    LossBegin(StreamLossBegin),
    /// Something was missing until here, of [`Host::losses`]. It comes once, in the window that has its end.
    Loss(StreamLoss),
}

/// An [`Item`] that borrows its event from the reader: an event is eleven words.
#[derive(Debug)]
pub enum ItemRef<'e, 't> {
    /// An event of a source.
    Event {
        /// The time that it counts as.
        time: RawNs,
        /// Number of its source.
        number: usize,
        /// Its source.
        source: &'e EventSource<'t>,
        /// The event.
        event: &'e Event<'t>,
    },
    /// See [`Item::LossBegin`].
    LossBegin(StreamLossBegin),
    /// See [`Item::Loss`].
    Loss(StreamLoss),
}

/// Called with the number of bytes of events that were read since the last call. Heads and padding of packets
/// are not counted.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// Is given each event that is read, after the index of its source in [`Host::sources`], in the order in
/// which they are read.
pub type Observer<'p> = Box<dyn FnMut(usize, &Event<'_>) + 'p>;

/// The events and losses of a window. Memory is a few words for each source.
pub struct HostEvents<'p, 't> {
    host: &'p Host<'t>,
    /// Events from its end on are in other windows; no event is at the end of time.
    window: Window<RawNs>,
    cursors: Vec<StreamCursor<'p, 't>>,
    /// The times of the next events of the cursors.
    order: LoserTree<RawNs>,
    /// Losses that the host knows of, by their ends.
    known: std::iter::Peekable<std::slice::Iter<'p, StreamLoss>>,
    /// Where losses begin that the host knows of.
    begins: std::iter::Peekable<std::slice::Iter<'p, StreamLossBegin>>,
    /// Losses found on the way that have begun or are about to.
    found: BinaryHeap<Reverse<StreamLossBegin>>,
    /// Packets that broke on the way.
    broken: BinaryHeap<Reverse<LateLoss>>,
    /// When the next begin or end of a loss is to be given.
    next_loss: Option<RawNs>,
    /// Whether the cursor of the first head has to continue.
    is_taken: bool,
    report: ReadReport,
    progress: Option<Progress<'p>>,
    observer: Option<Observer<'p>>,
    /// Bytes of events that were not reported yet.
    unreported_bytes: u64,
}

/// The loss of a packet that broke, by the order in which losses are given.
#[derive(Debug, PartialEq, Eq)]
struct LateLoss(StreamLoss, Broken);

impl PartialOrd for LateLoss {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LateLoss {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// This many diagnostics are kept; the others are counted.
const MAX_DIAGNOSTICS: usize = 1000;

/// What was read of some windows. The same for any windows that make up the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReport {
    /// Events.
    pub events: u64,
    /// Times in which something is missing.
    pub losses: u64,
    /// Packets that could not be decoded to their ends.
    pub broken_packets: u64,
    /// Why they could not: of the first ones, in the order of time.
    pub diagnostics: Vec<String>,
}

impl ReadReport {
    /// Counts a loss.
    pub(crate) fn count_loss(&mut self, what: LossKind) {
        self.losses += 1;
        self.broken_packets += u64::from(what == LossKind::UndecodableTail);
    }

    /// Notes why a packet could not be decoded.
    pub(crate) fn note(&mut self, diagnostic: &Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic.to_string());
        }
    }

    /// Adds what was read of the next window.
    pub fn absorb(&mut self, right: Self) {
        self.events += right.events;
        self.losses += right.losses;
        self.broken_packets += right.broken_packets;
        self.diagnostics.extend(right.diagnostics);
        self.diagnostics.truncate(MAX_DIAGNOSTICS);
    }
}

impl<'t> Host<'t> {
    /// The events and losses of a window.
    pub fn read<'p>(&'p self, window: Window<RawNs>) -> HostEvents<'p, 't> {
        let from = window.start;
        let first = self.losses().partition_point(|loss| loss.to < from);
        let (before, begins) =
            self.loss_starts().split_at(self.loss_starts().partition_point(|begin| begin.at <= from));
        let mut events = HostEvents {
            host: self,
            window,
            cursors: Vec::new(),
            order: LoserTree::new([]),
            known: self.losses()[first..].iter().peekable(),
            begins: begins.iter().peekable(),
            found: BinaryHeap::new(),
            broken: BinaryHeap::new(),
            next_loss: None,
            is_taken: false,
            report: ReadReport::default(),
            progress: None,
            observer: None,
            unreported_bytes: 0,
        };
        if window.is_empty() {
            events.known = [].iter().peekable();
            events.begins = [].iter().peekable();
            return events;
        }
        // Losses that began before and continue.
        let go_on = before.iter().filter(|begin| begin.reaches_into(window));
        events.found.extend(go_on.map(|&begin| Reverse(begin)));
        let mut times = Vec::new();
        for (number, source) in self.sources().iter().enumerate() {
            if source.packet_at(from) >= source.packets.end {
                continue;
            }
            let (mut cursor, time) = StreamCursor::new(source, number, window);
            events.take_found_losses(&mut cursor.found);
            if let Some(time) = time.filter(|&time| time < window.end) {
                times.push(Some(time));
                events.cursors.push(cursor);
            }
        }
        events.order = LoserTree::new(times);
        events.update_next_loss();
        events
    }
}

impl<'p, 't> HostEvents<'p, 't> {
    /// Reports progress.
    #[must_use]
    pub fn with_progress(self, progress: Option<Progress<'p>>) -> Self {
        Self { progress, ..self }
    }

    /// Gives the events to somebody else, too.
    #[must_use]
    pub fn with_observer(self, observer: Option<Observer<'p>>) -> Self {
        Self { observer, ..self }
    }

    /// What has been read, at the end.
    pub fn into_report(self) -> ReadReport {
        if let Some(progress) = self.progress {
            progress(self.unreported_bytes);
        }
        self.report
    }

    /// Takes over what a cursor found, as far as this window reports it.
    #[cold]
    fn take_found_losses(&mut self, found: &mut Vec<FoundLoss>) {
        for FoundLoss { loss, at, broken } in found.drain(..) {
            let begin = StreamLossBegin { at, loss };
            if at <= loss.to && (begin.reaches_into(self.window) || begin.is_in(self.window)) {
                self.found.push(Reverse(begin));
            }
            if let Some(broken) = broken.filter(|_| self.window.contains(loss.to)) {
                self.broken.push(Reverse(LateLoss(loss, broken)));
            }
        }
        self.update_next_loss();
    }

    /// When the next loss ends that this window reports.
    fn next_end(&mut self) -> Option<RawNs> {
        let known = self.known.peek().map(|loss| loss.to).filter(|&to| self.window.contains(to));
        let broken = self.broken.peek().map(|Reverse(late)| late.0.to);
        known.into_iter().chain(broken).min()
    }

    /// When the next loss begins that this window reports.
    fn next_begin(&mut self) -> Option<StreamLossBegin> {
        let known = self.begins.peek().map(|&&begin| begin).filter(|begin| begin.is_in(self.window));
        let found = self.found.peek().map(|&Reverse(begin)| begin);
        known.into_iter().chain(found).min()
    }

    /// Finds out when the next begin or end of a loss is to be given.
    fn update_next_loss(&mut self) {
        let begin = self.next_begin().map(|begin| begin.at);
        self.next_loss = self.next_end().into_iter().chain(begin).min();
    }

    /// The next begin or end of a loss, which is there. Of both at one time the start comes first: the
    /// instant before is its.
    #[cold]
    fn loss(&mut self) -> Option<ItemRef<'_, 't>> {
        let begin = self.next_begin();
        let place = match (begin, self.next_end()) {
            (Some(begin), end) if end.is_none_or(|end| begin.at <= end) => {
                if self.found.peek() == Some(&Reverse(begin)) {
                    self.found.pop();
                } else {
                    self.begins.next();
                }
                ItemRef::LossBegin(begin)
            }
            _ => ItemRef::Loss(self.loss_end()?),
        };
        self.update_next_loss();
        Some(place)
    }

    fn loss_end(&mut self) -> Option<StreamLoss> {
        let window = self.window;
        let known = self.known.peek().copied().copied().filter(|loss| window.contains(loss.to));
        let broken = self.broken.peek().map(|Reverse(late)| late.0);
        let is_broken = broken.is_some_and(|broken| known.is_none_or(|known| broken < known));
        let loss = if is_broken {
            let Reverse(LateLoss(loss, broken)) = self.broken.pop()?;
            let source = self.host.sources().get(loss.source);
            if let Some(diagnostic) = source.and_then(|source| broken.diagnostic(source)) {
                self.report.note(&diagnostic);
            }
            loss
        } else {
            self.known.next();
            known?
        };
        self.report.count_loss(loss.what);
        Some(loss)
    }

    /// Lets the cursor of the last event continue.
    #[inline]
    fn go_on(&mut self) {
        self.is_taken = false;
        let Some((_, number)) = self.order.first() else { return };
        let cursor = &mut self.cursors[number];
        let time = cursor.advance();
        if !cursor.found.is_empty() {
            let mut found = std::mem::take(&mut cursor.found);
            self.take_found_losses(&mut found);
        }
        match time.filter(|&time| time < self.window.end) {
            Some(time) => self.order.replace_first(time),
            None => self.order.remove_first(),
        }
    }

    /// The next event or loss.
    // Where it is inlined into the loop over all events, the item is never written.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn next_ref(&mut self) -> Option<ItemRef<'_, 't>> {
        if self.is_taken {
            self.go_on();
        }
        let Some((time, number)) = self.order.first() else {
            return if self.next_loss.is_some() { self.loss() } else { None };
        };
        if self.next_loss.is_some_and(|loss| loss <= time) {
            return self.loss();
        }
        self.is_taken = true;
        let cursor = &self.cursors[number];
        let event = cursor.head()?;
        self.report.events += 1;
        if let Some(progress) = self.progress {
            self.unreported_bytes += event.size();
            if self.unreported_bytes >= PROGRESS_INTERVAL_BYTES {
                progress(std::mem::take(&mut self.unreported_bytes));
            }
        }
        if let Some(observer) = &mut self.observer {
            observer(cursor.number(), event);
        }
        Some(ItemRef::Event { time, number: cursor.number(), source: cursor.source(), event })
    }
}

impl<'t> Iterator for HostEvents<'_, 't> {
    type Item = Item<'t>;

    #[inline]
    fn next(&mut self) -> Option<Item<'t>> {
        Some(match self.next_ref()? {
            ItemRef::Event { time, number, event, .. } => Item::Event { time, source: number, event: *event },
            ItemRef::LossBegin(begin) => Item::LossBegin(begin),
            ItemRef::Loss(loss) => Item::Loss(loss),
        })
    }
}
