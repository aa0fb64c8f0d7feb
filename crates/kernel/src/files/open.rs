//! A descriptor that is open.

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use super::op::{Sent, Tally, keep_first};
use super::returned::{OneUse, UseOutcome};
use super::watched::Watched;
use crate::id::{Name, ThreadId, Time};
use crate::span::file::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy, Uses};

/// An open descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenFile {
    /// When it was opened, or first seen.
    pub(super) begin: Time,
    pub(super) opened_by: OpenedBy,
    pub(super) close_on_exec: bool,
    /// Number of losses by then.
    pub(super) losses: u64,
    /// The first use and its thread.
    pub(super) first_use: Option<(Time, ThreadId)>,
    pub(super) uses: Uses,
    /// The first packet that was sent by a call on it.
    pub(super) sent: Option<Box<Sent>>,
    /// The contents of an epoll set. Another descriptor of it has a copy of its own.
    pub(super) watched: Option<Box<Watched>>,
    pub(super) about: About,
}

/// What is known of an open descriptor apart from its uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct About {
    /// The thread that opened it; `None` if that was not seen.
    pub(super) thread: Option<ThreadId>,
    pub(super) kind: FileKind,
    /// Empty: the default of the kind.
    pub(super) name: Name,
    /// When it was made, of what has no path that says which one it is.
    pub(super) made: Option<Time>,
}

impl OpenFile {
    /// A descriptor that exists, whose opening was not seen.
    pub(super) fn sighted(at: Time, losses: u64) -> Self {
        Self {
            begin: at,
            opened_by: OpenedBy::Unknown,
            close_on_exec: false,
            losses,
            first_use: None,
            uses: Uses::default(),
            sent: None,
            watched: None,
            about: About::default(),
        }
    }

    /// A descriptor that is opened now.
    pub(super) fn new(thread: ThreadId, at: Time, opened_by: OpenedBy, about: About, losses: u64) -> Self {
        let about = About { thread: Some(thread), ..about };
        Self { opened_by, about, ..Self::sighted(at, losses) }
    }

    /// A duplicate of it, with the same doubt.
    pub(super) fn copy(&self, thread: ThreadId, at: Time, opened_by: OpenedBy) -> Self {
        let (sent, watched) = (self.sent.clone(), self.watched.clone());
        Self { sent, watched, ..Self::new(thread, at, opened_by, self.about.clone(), self.losses) }
    }

    /// Marks it as doubtful: as if it was opened before all losses.
    pub(super) fn doubt(&mut self) {
        self.losses = 0;
    }

    /// Counts uses. The result does not depend on their order.
    pub(super) fn count(&mut self, thread: ThreadId, tally: &Tally) {
        self.uses.add(&tally.uses);
        self.used(thread, tally.first);
        if let Some(sent) = &tally.sent {
            keep_first(&mut self.sent, **sent);
        }
    }

    /// As [`Self::count`], of one.
    #[inline]
    pub(super) fn count_use(&mut self, one: &OneUse<'_>) {
        self.count_one(one.thread, one.at, one.outcome);
        if let Some(flow) = one.flow {
            self.sent(one.at, flow);
        }
    }

    /// Records that a call on it sent a packet and returned at `at`.
    pub(super) fn sent(&mut self, at: Time, flow: &Flow) {
        keep_first(&mut self.sent, (at, *flow));
    }

    #[inline]
    fn count_one(&mut self, thread: ThreadId, at: Time, outcome: UseOutcome) {
        self.uses.count(outcome);
        self.used(thread, at);
    }

    /// Records a use. Equal times are ordered by the thread, not by which came first.
    #[inline]
    fn used(&mut self, thread: ThreadId, at: Time) {
        if self.first_use.is_none_or(|first| (at, thread) < first) {
            self.first_use = Some((at, thread));
        }
        if self.opened_by == OpenedBy::Unknown {
            self.begin = self.begin.min(at);
        }
    }

    /// Records an operation that is no mere use.
    pub(super) fn touch(&mut self, thread: ThreadId, at: Time) {
        self.count_one(thread, at, UseOutcome::Other);
    }

    /// Merges with what is known of the same descriptor: two tables turned out to be one. If both openings
    /// were seen, they were two files one after the other: the later one stays, and the first is returned.
    pub(super) fn unite(&mut self, other: Self) -> Option<Self> {
        if self.begin_bound() == Bound::Hard && other.begin_bound() == Bound::Hard {
            let is_later = (other.begin, other.about.thread) > (self.begin, self.about.thread);
            return Some(if is_later { std::mem::replace(self, other) } else { other });
        }
        let (first, uses, sent) = (other.first_use, other.uses, other.sent.clone());
        let watched = other.watched.clone();
        if self.begin_bound() == Bound::Soft && other.begin_bound() == Bound::Hard {
            let before = std::mem::replace(self, other);
            self.first_use = before.first_use;
            self.uses = before.uses;
            self.sent = before.sent;
            self.watched = before.watched;
        } else if self.begin_bound() == Bound::Soft {
            self.begin = self.begin.min(other.begin);
            self.about.thread = self.about.thread.or(other.about.thread);
            self.learn(other.about.name, other.about.kind);
        }
        self.uses.add(&uses);
        self.watched = self.watched.take().or(watched);
        if let Some(sent) = sent {
            keep_first(&mut self.sent, *sent);
        }
        self.first_use = [self.first_use, first].into_iter().flatten().min();
        None
    }

    /// Sets a name and a kind if none was known.
    pub(super) fn learn(&mut self, name: Name, kind: FileKind) {
        let about = &mut self.about;
        if about.name.is_empty() {
            about.name = name;
        }
        if about.kind == FileKind::Unknown {
            about.kind = kind;
        }
    }

    fn begin_bound(&self) -> Bound {
        match self.opened_by {
            OpenedBy::Unknown | OpenedBy::Dump => Bound::Soft,
            OpenedBy::Inherited | OpenedBy::Call(_) => Bound::Hard,
        }
    }

    /// The span of the descriptor when it ends; `None` if no thread is known that had it and none
    /// closed it ([`FileEnd::closer`]).
    pub(super) fn end(self, fd: i32, process: Option<i32>, end: FileEnd) -> Option<FileSpan> {
        let begin_bound = self.begin_bound();
        let About { thread, mut kind, name, .. } = self.about;
        if let (FileKind::Socket(socket), Some(sent)) = (&mut kind, &self.sent) {
            socket.learn(&sent.1);
        }
        let thread = thread.or(self.first_use.map(|first| first.1)).or(end.closer)?;
        let end_bound = match end.by {
            ClosedBy::Unseen | ClosedBy::TraceEnd => Bound::Soft,
            _ => Bound::Hard,
        };
        Some(FileSpan {
            thread,
            process,
            fd,
            begin: self.begin,
            end: end.at.max(self.begin),
            begin_bound,
            end_bound,
            name: if name.is_empty() { kind.default_name(fd) } else { name },
            kind,
            opened_by: self.opened_by,
            closed_by: end.by,
            close_on_exec: self.close_on_exec,
            is_doubtful: end.losses > self.losses,
            doubtful_from: end.doubtful_from.map(|from| from.max(self.begin)),
            uses: self.uses,
        })
    }
}

/// The end of a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileEnd {
    pub(super) at: Time,
    pub(super) by: ClosedBy,
    pub(super) closer: Option<ThreadId>,
    /// Number of losses so far.
    pub(super) losses: u64,
    /// Since when the descriptor that ends is doubtful; not known before it is emitted.
    pub(super) doubtful_from: Option<Time>,
}
