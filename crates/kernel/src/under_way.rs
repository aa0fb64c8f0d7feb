//! System calls that are under way: entries wait for their exits.
//!
//! Part of a `Chunk`. Where events do not tell whose they are, a call is kept by the CPU that it was made on: whoever runs there
//! made it, by whatever name. The thread that leaves the CPU takes it along and brings it to the CPU where it runs next. So
//! calls follow the switches alone. Where events tell their thread, that keeps its calls and switches do not matter.
//!
//! What a keeper has when a piece begins is known to the piece before. Until then it is handed on like a call
//! ([`Held::Of`]), and what happens to it is due ([`Due`]) when that is merged.

use serde::{Deserialize, Serialize};

use crate::calls::{Entry, Exit, clone_flag};
use crate::chunk::Chunk;
use crate::files::Files;
use crate::happening::Moment;
use crate::id::{Renames, ThreadId, Time};
use crate::keyed::Keyed;
use crate::span::{Half, HalfSyscall, Spans, Syscall};
use crate::thread::Epoch;

/// Who keeps a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Keeper {
    /// A CPU: the call of whoever runs there.
    Cpu(u32),
    /// A thread that has left its CPU.
    Off(ThreadId),
    /// A thread whose events tell that they are its own.
    Named(ThreadId),
}

/// What a keeper has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Held {
    /// Still what it had when the piece began: in the first piece, nothing.
    #[default]
    Before,
    /// What another keeper had when the piece began, or it itself, after a while elsewhere.
    Of(Keeper),
    /// Not in the first piece, which has one word for it.
    Nothing,
    Call(Open),
}

/// A call that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Open {
    thread: ThreadId,
    entry: Entry,
    at: Time,
    epoch: Epoch,
    /// Whether it has made a thread: it makes one only.
    has_forked: bool,
}

/// An exit, with where and when it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) thread: ThreadId,
    pub(crate) exit: Exit,
    pub(crate) at: Time,
    pub(crate) cpu: u32,
}

/// What happens to a call that a piece does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    /// It makes a thread.
    forked: Option<(ThreadId, Epoch)>,
    end: Option<End>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum End {
    /// It ends.
    Exit { ended: Ended, epoch: Epoch },
    /// Another call begins in its place: its end is lost.
    Unseen,
}

/// What happens to the calls that keepers had when the piece began.
pub(crate) type Dues = Keyed<Keeper, Due>;

impl Held {
    /// Puts what was there later in its place, where there is anything.
    pub(crate) fn overwrite(&mut self, later: Self) {
        if later != Self::Before {
            *self = later;
        }
    }

    fn shift(&mut self, losses: Epoch) {
        if let Self::Call(open) = self {
            open.epoch += losses;
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        match self {
            Self::Before | Self::Nothing => {}
            Self::Of(keeper) => *keeper = keeper.renamed(renames),
            Self::Call(open) => open.thread = renames.of(open.thread),
        }
    }

    /// Tells of a call that has no end at the end of the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        if let Self::Call(open) = self {
            open.tell_begin(spans);
        }
    }
}

impl Keeper {
    pub(crate) fn renamed(self, renames: &Renames) -> Self {
        match self {
            Self::Cpu(_) => self,
            Self::Off(thread) => Self::Off(renames.of(thread)),
            Self::Named(thread) => Self::Named(renames.of(thread)),
        }
    }
}

impl Due {
    pub(crate) fn shift(&mut self, losses: Epoch) {
        if let Some((_, epoch)) = &mut self.forked {
            *epoch += losses;
        }
        if let Some(End::Exit { epoch, .. }) = &mut self.end {
            *epoch += losses;
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        if let Some((child, _)) = &mut self.forked {
            *child = renames.of(*child);
        }
        if let Some(End::Exit { ended, .. }) = &mut self.end {
            ended.thread = renames.of(ended.thread);
        }
    }

    /// Puts what happens later behind what happens first.
    pub(crate) fn append(&mut self, later: Self) {
        self.forked = self.forked.or(later.forked);
        self.end = self.end.take().or(later.end);
    }

    /// Tells of an end that has no begin at the begin of the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        if let Some(End::Exit { ended, .. }) = &self.end {
            ended.tell(spans);
        }
    }
}

impl Open {
    /// It makes a thread. Returns the flags, if it is a call that does so.
    fn fork(&mut self, epoch: Epoch) -> Option<u64> {
        if self.epoch != epoch || self.has_forked {
            return None;
        }
        self.has_forked = true;
        self.entry.effect.clone_flags()
    }

    /// Ends it, and tells of that. Returns the entry if the exit is that of the same call.
    fn close(self, ended: &Ended, epoch: Epoch, spans: &mut impl Spans) -> Option<Entry> {
        let names_agree = ended.exit.name.as_ref().is_none_or(|name| *name == self.entry.name);
        if self.epoch != epoch || !names_agree {
            self.tell_begin(spans);
            ended.tell(spans);
            return None;
        }
        let Self { entry, at: begin, .. } = self;
        let &Ended { thread, ref exit, at: end, cpu } = ended;
        spans.syscall(&Syscall { thread, cpu, begin, end, entry: &entry, exit });
        Some(entry)
    }

    fn tell_begin(&self, spans: &mut impl Spans) {
        let (thread, name) = (self.thread, Some(&self.entry.name));
        spans.half_syscall(&HalfSyscall { thread, name, at: self.at, half: Half::Begin });
    }
}

impl Ended {
    fn tell(&self, spans: &mut impl Spans) {
        let (thread, name) = (self.thread, self.exit.name.as_ref());
        spans.half_syscall(&HalfSyscall { thread, name, at: self.at, half: Half::End });
    }
}

impl<S: Spans> Chunk<S> {
    /// Who keeps the calls of a thread that an event comes from.
    pub(crate) fn keeper(thread: ThreadId, moment: &Moment<'_>) -> Keeper {
        match moment.tid {
            Some(tid) if tid != 0 => Keeper::Named(thread),
            _ => Keeper::Cpu(moment.cpu),
        }
    }

    /// A call begins.
    pub(crate) fn begin_call(&mut self, keeper: Keeper, thread: ThreadId, entry: Entry, at: Time) {
        let epoch = self.losses;
        self.put(keeper, Held::Call(Open { thread, entry, at, epoch, has_forked: false }));
    }

    /// A call ends. Returns its entry where that is known.
    pub(crate) fn end_call(&mut self, keeper: Keeper, ended: Ended) -> Option<Entry> {
        let epoch = self.losses;
        match self.take(keeper) {
            Held::Call(open) => open.close(&ended, epoch, &mut self.spans),
            Held::Of(before) => {
                self.dues.or_default(before).end.get_or_insert(End::Exit { ended, epoch });
                None
            }
            Held::Before | Held::Nothing => {
                ended.tell(&mut self.spans);
                None
            }
        }
    }

    /// A call makes a thread. Returns the flags of the call, where it is known.
    pub(crate) fn fork_in_call(&mut self, keeper: Keeper, child: ThreadId) -> Option<u64> {
        let (epoch, is_first) = (self.losses, self.is_first());
        let before = match self.held(keeper) {
            Held::Call(open) => return open.fork(epoch),
            Held::Before if !is_first => keeper,
            Held::Before | Held::Nothing => return None,
            Held::Of(before) => *before,
        };
        self.dues.or_default(before).forked.get_or_insert((child, epoch));
        None
    }

    /// One thread leaves a CPU and another one comes: each takes its call along.
    pub(crate) fn switch_calls(&mut self, cpu: u32, prev: ThreadId, next: ThreadId) {
        let left = self.take(Keeper::Cpu(cpu));
        match prev {
            ThreadId::Thread { .. } => self.put(Keeper::Off(prev), left),
            // It makes no calls: a switch is missing.
            _ => self.drop_call(left),
        }
        if let ThreadId::Thread { .. } = next {
            let brought = self.take(Keeper::Off(next));
            self.set(Keeper::Cpu(cpu), brought);
        }
    }

    /// A thread that names itself has another name from now on.
    pub(crate) fn move_call(&mut self, from: ThreadId, to: ThreadId) {
        let call = self.take(Keeper::Named(from));
        self.put(Keeper::Named(to), call);
    }

    /// Adds what came next: `changed` is what keepers have there, where that is not what they had before. What is due to calls
    /// that are here is done to them.
    pub(crate) fn append_calls(&mut self, changed: Vec<(Keeper, Held)>, right: &mut Self) {
        let mut before: Keyed<Keeper, Held> =
            changed.iter().map(|&(keeper, _)| (keeper, self.take(keeper))).collect();
        for (keeper, mut due) in std::mem::take(&mut right.dues).into_sorted() {
            due.shift(self.losses);
            let held = before.remove(&keeper).unwrap_or_else(|| self.take(keeper));
            let held = self.settle(due, held, &mut right.files);
            before.insert(keeper, held);
        }
        let mut after = Vec::with_capacity(changed.len());
        for (keeper, mut held) in changed {
            if let Held::Of(other) = held {
                held = before.remove(&other).unwrap_or(Held::Nothing);
            } else {
                held.shift(self.losses);
            }
            after.push((keeper, held));
        }
        // What is left was not changed, or it is nothing and what follows overwrites it.
        for (keeper, held) in before.into_sorted().into_iter().chain(after) {
            self.set(keeper, held);
        }
    }

    /// Does to a call what is due to it. Returns it if it goes on.
    fn settle(&mut self, due: Due, held: Held, files: &mut Files) -> Held {
        let mut open = match held {
            Held::Call(open) => open,
            Held::Of(before) => {
                let goes_on = due.end.is_none();
                self.dues.or_default(before).append(due);
                return if goes_on { held } else { Held::Nothing };
            }
            Held::Before | Held::Nothing => {
                due.finish(&mut self.spans);
                return Held::Nothing;
            }
        };
        if let Some((child, epoch)) = due.forked
            && let Some(flags) = open.fork(epoch)
        {
            files.share(child, flags & clone_flag::FILES != 0);
        }
        match due.end {
            None => return Held::Call(open),
            Some(End::Unseen) => open.tell_begin(&mut self.spans),
            Some(End::Exit { ended, epoch }) => {
                if let Some(entry) = open.close(&ended, epoch, &mut self.spans) {
                    files.fill(ended.thread, ended.at, &entry.effect);
                }
            }
        }
        Held::Nothing
    }

    fn held(&mut self, keeper: Keeper) -> &mut Held {
        match keeper {
            Keeper::Cpu(cpu) => &mut self.cpus.or_default(cpu).call,
            Keeper::Off(thread) => &mut self.threads.or_default(thread).call_off,
            Keeper::Named(thread) => &mut self.threads.or_default(thread).call,
        }
    }

    fn take(&mut self, keeper: Keeper) -> Held {
        let is_first = self.is_first();
        let held = self.held(keeper);
        match held {
            Held::Before if is_first => Held::Nothing,
            Held::Before => {
                *held = Held::Nothing;
                Held::Of(keeper)
            }
            _ if is_first => std::mem::take(held),
            _ => std::mem::replace(held, Held::Nothing),
        }
    }

    fn put(&mut self, keeper: Keeper, held: Held) {
        let before = self.take(keeper);
        self.set(keeper, held);
        self.drop_call(before);
    }

    fn set(&mut self, keeper: Keeper, held: Held) {
        let is_nothing = self.is_first() && matches!(held, Held::Nothing);
        *self.held(keeper) = if is_nothing { Held::Before } else { held };
    }

    /// Nobody keeps a call any more, and its end was not seen.
    fn drop_call(&mut self, held: Held) {
        match held {
            Held::Before | Held::Nothing => {}
            Held::Of(before) => {
                self.dues.or_default(before).end.get_or_insert(End::Unseen);
            }
            Held::Call(open) => open.tell_begin(&mut self.spans),
        }
    }
}
