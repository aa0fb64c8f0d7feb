//! System calls that are under way: entries wait for their exits.
//!
//! Part of a `Chunk`. Where events do not tell whose they are, a call is kept by the CPU that it was made on: whoever runs there
//! made it, by whatever name. The thread that leaves the CPU takes it along and brings it to the CPU where it runs next. So
//! calls follow the switches alone. Where events tell their thread, that keeps its calls and switches do not matter.
//!
//! What a keeper has when a piece begins is known to the piece before. Until then it is handed on like a call
//! ([`Held::Of`]), and what happens to it is due ([`Due`]) when that is merged.
//!
//! An exit is that of an entry only if nothing between them can be missing: if nobody else can have run on the CPU in the
//! meantime, or else if all CPUs were recorded ([`Seen::is_of_call`]).

use serde::{Deserialize, Serialize};

use crate::calls::{Effect, Entry, Exit, clone_flag, is_about_files};
use crate::chunk::{Chunk, Turn};
use crate::completeness::Epoch;
use crate::files::{Files, Returned};
use crate::happening::Moment;
use crate::id::{Renames, ThreadId, Time};
use crate::keyed::Keyed;
use crate::span::{Half, HalfSyscall, Spans, Syscall};

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
    entry: Entry,
    seen: Seen,
    /// Whether it has made a thread: it makes one only.
    has_forked: bool,
}

/// Where and when an entry or an exit was, and whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    thread: ThreadId,
    at: Time,
    cpu: u32,
    /// The last turn of the CPU before it; `None` in the piece.
    turn: Option<Turn>,
    epoch: Epoch,
}

/// What a piece knows of its end, for what comes after it.
pub(crate) struct Seam {
    losses: u64,
    turns: Keyed<u32, Option<Turn>>,
    /// Of CPUs that are not among these.
    unseen: Option<Turn>,
}

/// What happens to a call that a piece does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    /// It makes a thread.
    forked: Option<(ThreadId, Seen)>,
    end: Option<End>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum End {
    /// It ends.
    Exit { seen: Seen, exit: Exit },
    /// Another call begins in its place: its end is lost.
    Unseen,
}

/// What happens to the calls that keepers had when the piece began.
pub(crate) type Dues = Keyed<Keeper, Due>;

impl Held {
    fn shift(&mut self, seam: &Seam) {
        if let Self::Call(open) = self {
            open.seen.shift(seam);
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        match self {
            Self::Before | Self::Nothing => {}
            Self::Of(keeper) => *keeper = keeper.renamed(renames),
            Self::Call(open) => open.seen.thread = renames.of(open.seen.thread),
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
    fn shift(&mut self, seam: &Seam) {
        if let Some((_, seen)) = &mut self.forked {
            seen.shift(seam);
        }
        if let Some(End::Exit { seen, .. }) = &mut self.end {
            seen.shift(seam);
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        if let Some((child, _)) = &mut self.forked {
            *child = renames.of(*child);
        }
        if let Some(End::Exit { seen, .. }) = &mut self.end {
            seen.thread = renames.of(seen.thread);
        }
    }

    /// Puts what happens later behind what happens first.
    pub(crate) fn append(&mut self, later: Self) {
        self.forked = self.forked.or(later.forked);
        self.end = self.end.take().or(later.end);
    }

    /// Tells of an end that has no begin at the begin of the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        if let Some(End::Exit { seen, exit, .. }) = &self.end {
            seen.tell_end(exit, spans);
        }
    }
}

impl Open {
    /// It makes a thread. Returns the flags, if it is a call that does so.
    fn fork(&mut self, seen: Seen) -> Option<u64> {
        if !seen.is_of_call(self.seen) || self.has_forked {
            return None;
        }
        self.has_forked = true;
        self.entry.effect.clone_flags()
    }

    /// Tells that it has ended. Returns the entry if the exit is that of the same call.
    fn close(&self, seen: Seen, exit: &Exit, spans: &mut impl Spans) -> Option<&Entry> {
        let Self { entry, seen: Seen { at: begin, .. }, .. } = self;
        let names_agree = exit.name.as_ref().is_none_or(|name| *name == entry.name);
        if !seen.is_of_call(self.seen) || !names_agree {
            self.tell_begin(spans);
            seen.tell_end(exit, spans);
            return None;
        }
        let Seen { thread, at: end, cpu, .. } = seen;
        spans.syscall(&Syscall { thread, cpu, begin: *begin, end, entry, exit });
        Some(entry)
    }

    fn tell_begin(&self, spans: &mut impl Spans) {
        let (Seen { thread, at, cpu, .. }, entry) = (self.seen, &self.entry);
        let (name, entry) = (Some(&entry.name), Some(entry));
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::Begin, entry });
    }
}

impl Seen {
    /// Whether no other call can have been in between, if this is the exit after an entry or what a call did.
    fn is_of_call(self, entry: Self) -> bool {
        (self.cpu, self.turn) == (entry.cpu, entry.turn) || self.epoch.agrees(entry.epoch)
    }

    fn shift(&mut self, seam: &Seam) {
        self.epoch.shift(seam.losses);
        self.turn = self.turn.or_else(|| seam.turns.get(&self.cpu).copied().unwrap_or(seam.unseen));
    }

    fn tell_end(self, exit: &Exit, spans: &mut impl Spans) {
        let Self { thread, at, cpu, .. } = self;
        let name = exit.name.as_ref();
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::End, entry: None });
    }

    /// What files are told of a call that has ended.
    fn returned<'c>(self, entry: Option<&'c Entry>, exit: &'c Exit) -> Option<Returned<'c>> {
        let Self { thread, at, .. } = self;
        let (effect, name) = match entry {
            Some(entry) => (Some(&entry.effect), None),
            None => (None, exit.name.as_ref()),
        };
        let concerns_files =
            effect.is_none_or(Effect::concerns_files) && name.is_none_or(|name| is_about_files(name));
        concerns_files.then_some(Returned { thread, at, effect, name, ret: exit.ret, made: &exit.made })
    }
}

/// What calls need of a chunk, beside those who keep them.
pub(crate) struct Ledger<'c, S> {
    pub(crate) is_first: bool,
    pub(crate) dues: &'c mut Dues,
    pub(crate) spans: &'c mut S,
}

impl<S: Spans> Ledger<'_, S> {
    /// What a keeper has. It has nothing afterwards.
    fn take(&self, held: &mut Held, keeper: Keeper) -> Held {
        match held {
            Held::Before if self.is_first => Held::Nothing,
            Held::Before => {
                *held = Held::Nothing;
                Held::Of(keeper)
            }
            _ => std::mem::replace(held, self.nothing()),
        }
    }

    /// A keeper loses what it has, and its end was not seen.
    pub(crate) fn drop(&mut self, held: &mut Held, keeper: Keeper) {
        match held {
            Held::Nothing => return,
            Held::Before if self.is_first => return,
            Held::Before => self.lose(keeper),
            Held::Of(before) => self.lose(*before),
            Held::Call(open) => open.tell_begin(self.spans),
        }
        *held = self.nothing();
    }

    fn lose(&mut self, before: Keeper) {
        self.dues.or_default(before).end.get_or_insert(End::Unseen);
    }

    /// One keeper gives what it has to another.
    pub(crate) fn hand_on(&mut self, (from, giver): (&mut Held, Keeper), (to, taker): (&mut Held, Keeper)) {
        self.drop(to, taker);
        match self.take(from, giver) {
            Held::Nothing => {}
            held => *to = held,
        }
    }

    fn nothing(&self) -> Held {
        if self.is_first { Held::Before } else { Held::Nothing }
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

    /// Where and when an event was, and whose.
    pub(crate) fn seen(&mut self, thread: ThreadId, moment: &Moment<'_>) -> Seen {
        let Moment { time: at, cpu, .. } = *moment;
        let turn = self.cpus.or_default(cpu).turn;
        Seen { thread, at, cpu, turn, epoch: self.complete.epoch(at) }
    }

    /// What is known at the end of the piece.
    pub(crate) fn seam(&self) -> Seam {
        let turns = self.cpus.unordered().map(|(cpu, there)| (cpu, there.turn)).collect();
        Seam { losses: self.complete.losses(), turns, unseen: self.unseen_cpu().turn }
    }

    /// A call begins.
    pub(crate) fn begin_call(&mut self, keeper: Keeper, seen: Seen, entry: Entry) {
        let (held, mut ledger, _) = self.held(keeper);
        ledger.drop(held, keeper);
        *held = Held::Call(Open { entry, seen, has_forked: false });
    }

    /// A call ends.
    pub(crate) fn end_call(&mut self, keeper: Keeper, seen: Seen, exit: &Exit) {
        let (held, ledger, files) = self.held(keeper);
        let before = match held {
            Held::Call(open) => {
                let entry = open.close(seen, exit, ledger.spans);
                if let Some(call) = seen.returned(entry, exit) {
                    files.returned(&call, ledger.spans);
                }
                *held = ledger.nothing();
                return;
            }
            Held::Of(before) => Some(*before),
            Held::Before if !ledger.is_first => Some(keeper),
            Held::Before | Held::Nothing => None,
        };
        match before {
            Some(before) => {
                let end = || End::Exit { seen, exit: exit.clone() };
                ledger.dues.or_default(before).end.get_or_insert_with(end);
            }
            None => seen.tell_end(exit, ledger.spans),
        }
        if let Some(call) = seen.returned(None, exit) {
            files.returned(&call, ledger.spans);
        }
        *held = ledger.nothing();
    }

    /// A call makes a thread. Returns the flags of the call, where it is known.
    pub(crate) fn fork_in_call(&mut self, keeper: Keeper, (child, seen): (ThreadId, Seen)) -> Option<u64> {
        let (held, ledger, _) = self.held(keeper);
        let before = match held {
            Held::Call(open) => return open.fork(seen),
            Held::Before if !ledger.is_first => keeper,
            Held::Before | Held::Nothing => return None,
            Held::Of(before) => *before,
        };
        ledger.dues.or_default(before).forked.get_or_insert((child, seen));
        None
    }

    /// A thread that names itself has another name from now on.
    pub(crate) fn move_call(&mut self, from: ThreadId, to: ThreadId) {
        let (from, to) = (Keeper::Named(from), Keeper::Named(to));
        let call = self.take(from);
        let (held, mut ledger, _) = self.held(to);
        ledger.drop(held, to);
        self.set(to, call);
    }

    /// Adds what came next: `changed` is what keepers have there, where that is not what they had before. What is due to calls
    /// that are here is done to them.
    pub(crate) fn append_calls(&mut self, changed: Vec<(Keeper, Held)>, seam: &Seam, right: &mut Self) {
        let mut before: Keyed<Keeper, Held> =
            changed.iter().map(|&(keeper, _)| (keeper, self.take(keeper))).collect();
        for (keeper, mut due) in std::mem::take(&mut right.dues).into_unordered() {
            due.shift(seam);
            let held = before.remove(&keeper).unwrap_or_else(|| self.take(keeper));
            let held = self.settle(due, held, &mut right.files);
            before.insert(keeper, held);
        }
        let mut after = Vec::with_capacity(changed.len());
        for (keeper, mut held) in changed {
            if let Held::Of(other) = held {
                held = before.remove(&other).unwrap_or(Held::Nothing);
            } else {
                held.shift(seam);
            }
            after.push((keeper, held));
        }
        // What is left was not changed, or it is nothing and what follows overwrites it.
        for (keeper, held) in before.into_unordered().chain(after) {
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
        if let Some((child, seen)) = due.forked
            && let Some(flags) = open.fork(seen)
        {
            files.share(child, flags & clone_flag::FILES != 0);
        }
        match due.end {
            None => return Held::Call(open),
            Some(End::Unseen) => open.tell_begin(&mut self.spans),
            Some(End::Exit { seen, exit }) => {
                if let Some(entry) = open.close(seen, &exit, &mut self.spans) {
                    files.fill(seen.thread, seen.at, &entry.effect);
                }
            }
        }
        Held::Nothing
    }

    /// What a keeper has, and what is needed to change it.
    fn held(&mut self, keeper: Keeper) -> (&mut Held, Ledger<'_, S>, &mut Files) {
        let is_first = self.is_first();
        let Self { cpus, threads, dues, files, spans, .. } = self;
        let held = match keeper {
            Keeper::Cpu(cpu) => &mut cpus.or_default(cpu).call,
            Keeper::Off(thread) => &mut threads.or_default(thread).call_off,
            Keeper::Named(thread) => &mut threads.or_default(thread).call,
        };
        (held, Ledger { is_first, dues, spans }, files)
    }

    fn take(&mut self, keeper: Keeper) -> Held {
        let (held, ledger, _) = self.held(keeper);
        ledger.take(held, keeper)
    }

    fn set(&mut self, keeper: Keeper, value: Held) {
        let (held, ledger, _) = self.held(keeper);
        *held = if matches!(value, Held::Nothing) { ledger.nothing() } else { value };
    }
}
