//! What I/O calls acted on, as far as the table of calls has no column for it: the writer keeps it, and the
//! replay gives it back.

use std::collections::VecDeque;

use isochrone_kernel::Name;
use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput, FileAction, Opener, Paired};
use isochrone_time::RawNs;
use rustc_hash::FxHashMap;

/// What a call acted on: see the table `call_targets`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) fd: Option<i32>,
    pub(crate) to_fd: Option<i32>,
    pub(crate) path: Option<Name>,
}

impl Target {
    /// That of a call; `None`: its row has all.
    pub(crate) fn of(entry: &Entry, exit: &Exit) -> Option<Self> {
        let (fd, to_fd, path) = match &entry.effect {
            Effect::Transfer { to, .. } => (None, Some(*to), None),
            Effect::CloseRange { first, .. } => (i32::try_from(*first).ok(), None, None),
            Effect::Pair { .. } => match exit.output {
                ExitOutput::Pair(one, to_fd) => (Some(one), Some(to_fd), None),
                _ => (None, None, None),
            },
            Effect::Open { path, .. }
                if !path.is_empty() && !i32::try_from(exit.ret).is_ok_and(|ret| ret >= 0) =>
            {
                (None, None, Some(path.clone()))
            }
            _ => return None,
        };
        Some(Self { fd, to_fd, path })
    }

    /// The effect of its call, and what that wrote to memory.
    fn effect(self, action: FileAction, from: Option<i32>) -> (Effect, ExitOutput) {
        let Self { fd, to_fd, path } = self;
        let call = Opener::Open;
        let effect = match (action, path) {
            (FileAction::Transfers, _) => {
                Effect::Transfer { from: from.unwrap_or(-1), to: to_fd.unwrap_or(-1) }
            }
            (FileAction::Closes, _) => {
                let first = fd.and_then(|fd| u32::try_from(fd).ok()).unwrap_or(u32::MAX);
                Effect::CloseRange { first, last: u32::MAX, flags: 0 }
            }
            (_, Some(path)) => Effect::Open { call, dir: None, path, flags: 0 },
            (_, None) => Effect::Pair { call, what: Paired::Pipe, close_on_exec: false },
        };
        let pair = fd.zip(to_fd).filter(|_| action == FileAction::Opens);
        (effect, pair.map_or_else(ExitOutput::default, |(one, to_fd)| ExitOutput::Pair(one, to_fd)))
    }
}

/// What tells calls apart: of those that are equal in it, it does not matter which acted on what. The numbers
/// of the thread and of the name, start, end and result.
pub(crate) type Key = (u32, RawNs, RawNs, u32, i64);

/// What calls acted on.
#[derive(Debug, Default)]
pub(crate) struct Targets(FxHashMap<Key, VecDeque<Target>>);

impl Targets {
    pub(crate) fn add(&mut self, call: Key, target: Target) {
        self.0.entry(call).or_default().push_back(target);
    }

    /// The effect of a call, and what it wrote to memory. Each call is asked for once.
    pub(crate) fn effect(
        &mut self,
        call: Key,
        (action, fd): (FileAction, Option<i32>),
    ) -> (Effect, ExitOutput) {
        let may_have = matches!(action, FileAction::Opens | FileAction::Closes | FileAction::Transfers);
        match self.0.get_mut(&call).filter(|_| may_have).and_then(VecDeque::pop_front) {
            Some(target) => target.effect(action, fd),
            None => (action.effect(fd), ExitOutput::default()),
        }
    }
}
