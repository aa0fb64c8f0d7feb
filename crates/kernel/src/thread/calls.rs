//! The system calls of one thread: entries wait for their exits.

use serde::{Deserialize, Serialize};

use super::Epoch;
use crate::calls::{Entry, Exit, clone_flag};
use crate::files::Files;
use crate::id::{Renames, ThreadId, Time};
use crate::span::{Half, HalfSyscall, Spans, Syscall};

/// One thread's calls in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Calls {
    head: Option<Head>,
    open: Option<Open>,
    /// The thread that was forked by a call that had begun before.
    forked: Option<(ThreadId, Epoch)>,
}

/// The first that a piece shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Head {
    Entry,
    Exit { ended: Ended, epoch: Epoch },
}

/// An exit, with where and when it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) at: Time,
    pub(crate) cpu: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    entry: Entry,
    at: Time,
    epoch: Epoch,
    /// Whether it has made a thread: it makes one only.
    has_forked: bool,
}

impl Calls {
    pub(crate) fn shift(&mut self, losses: Epoch) {
        if let Some(Head::Exit { epoch, .. }) = &mut self.head {
            *epoch += losses;
        }
        if let Some(open) = &mut self.open {
            open.epoch += losses;
        }
        if let Some((_, epoch)) = &mut self.forked {
            *epoch += losses;
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        if let Some((thread, _)) = &mut self.forked {
            *thread = renames.of(*thread);
        }
    }

    fn is_untouched(&self) -> bool {
        self.head.is_none()
    }

    /// It forks. Returns the flags of the call that does so, where it is known.
    pub(crate) fn fork(&mut self, child: ThreadId, epoch: Epoch) -> Option<u64> {
        if self.is_untouched() {
            self.forked.get_or_insert((child, epoch));
            return None;
        }
        let open = self.open.as_mut().filter(|open| open.epoch == epoch && !open.has_forked)?;
        open.has_forked = true;
        open.entry.effect.clone_flags()
    }

    pub(crate) fn enter(
        &mut self,
        thread: ThreadId,
        entry: Entry,
        at: Time,
        epoch: Epoch,
        spans: &mut impl Spans,
    ) {
        self.head.get_or_insert(Head::Entry);
        let before = self.open.replace(Open { entry, at, epoch, has_forked: false });
        tell_begin(thread, before.as_ref(), spans);
    }

    /// Returns the entry where that is known.
    pub(crate) fn exit(
        &mut self,
        thread: ThreadId,
        ended: Ended,
        epoch: Epoch,
        spans: &mut impl Spans,
    ) -> Option<Entry> {
        let open = self.open.take();
        if self.head.is_none() {
            self.head = Some(Head::Exit { ended, epoch });
            return None;
        }
        close(thread, open, &ended, epoch, spans)
    }

    /// Adds what came next, which has been shifted by the losses of this piece. Returns what that tells of the calls that
    /// cross the seam.
    pub(crate) fn append(&mut self, thread: ThreadId, right: Self, spans: &mut impl Spans) -> Joined {
        let mut joined = Joined::default();
        if let Some((child, epoch)) = right.forked {
            joined.forked = self.fork(child, epoch).map(|flags| (child, flags));
        }
        let Some(head) = right.head else { return joined };
        match (&mut self.head, head) {
            (none @ None, head) => *none = Some(head),
            (Some(_), Head::Entry) => tell_begin(thread, self.open.take().as_ref(), spans),
            (Some(_), Head::Exit { ended, epoch }) => {
                let at = ended.at;
                let entry = close(thread, self.open.take(), &ended, epoch, spans);
                joined.entry = entry.map(|entry| (entry, at));
            }
        }
        self.open = right.open;
        joined
    }

    /// Tells what is open at either end of the trace.
    pub(crate) fn finish(&self, thread: ThreadId, spans: &mut impl Spans) {
        if let Some(Head::Exit { ended, .. }) = &self.head {
            tell_end(thread, ended, spans);
        }
        tell_begin(thread, self.open.as_ref(), spans);
    }
}

/// What a merge has found out of a thread's calls.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// The call whose exit only was known, and the time of that.
    pub(crate) entry: Option<(Entry, Time)>,
    /// The thread that a call has made, and the flags of the call.
    pub(crate) forked: Option<(ThreadId, u64)>,
}

impl Joined {
    /// Tells the files that hold what was known in part.
    pub(crate) fn tell(self, thread: ThreadId, files: &mut Files) {
        if let Some((entry, at)) = self.entry {
            files.fill(thread, at, &entry.effect);
        }
        if let Some((child, flags)) = self.forked {
            files.share(child, flags & clone_flag::FILES != 0);
        }
    }
}

/// Tells of a call that is over.
fn close(
    thread: ThreadId,
    open: Option<Open>,
    ended: &Ended,
    epoch: Epoch,
    spans: &mut impl Spans,
) -> Option<Entry> {
    let Some(open) = open else {
        tell_end(thread, ended, spans);
        return None;
    };
    let names_agree = ended.exit.name.as_ref().is_none_or(|name| *name == open.entry.name);
    if open.epoch != epoch || !names_agree {
        tell_begin(thread, Some(&open), spans);
        tell_end(thread, ended, spans);
        return None;
    }
    let Open { entry, at, .. } = open;
    spans.syscall(&Syscall {
        thread,
        cpu: ended.cpu,
        begin: at,
        end: ended.at,
        entry: &entry,
        exit: &ended.exit,
    });
    Some(entry)
}

fn tell_begin(thread: ThreadId, open: Option<&Open>, spans: &mut impl Spans) {
    if let Some(open) = open {
        spans.half_syscall(&HalfSyscall {
            thread,
            name: Some(&open.entry.name),
            at: open.at,
            half: Half::Begin,
        });
    }
}

fn tell_end(thread: ThreadId, ended: &Ended, spans: &mut impl Spans) {
    spans.half_syscall(&HalfSyscall {
        thread,
        name: ended.exit.name.as_ref(),
        at: ended.at,
        half: Half::End,
    });
}
