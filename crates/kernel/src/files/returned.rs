//! Calls that returned, and their normal form: most calls only use a descriptor.

use isochrone_net::Flow;

use crate::calls::{Effect, ExitOutput, Use};
use crate::id::{Name, ThreadId, Time};
use crate::span::file::Uses;

const EBADF: i64 = -9;
const EINTR: i64 = -4;
const EALREADY: i64 = -114;
const EINPROGRESS: i64 = -115;

/// A call that returned, with borrowed fields: what is not kept is not copied. `FileOp::Call` is the owned
/// form.
#[derive(Debug, Clone, Copy)]
pub struct Returned<'c> {
    /// The thread.
    pub thread: ThreadId,
    /// When it returned.
    pub at: Time,
    /// Its effect; `None`: its entry is in an earlier piece, or was lost.
    pub effect: Option<&'c Effect>,
    /// Its name, if the exit records it.
    pub name: Option<&'c Name>,
    /// Its result.
    pub ret: i64,
    /// What the exit records besides the result.
    pub output: &'c ExitOutput,
    /// The first packet that it sent, if its effect is known.
    pub flow: Option<&'c Flow>,
}

/// A use of a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneUse<'c> {
    pub(super) thread: ThreadId,
    pub(super) at: Time,
    pub(super) fd: i32,
    pub(super) outcome: UseOutcome,
    /// The first packet that it sent.
    pub(super) flow: Option<&'c Flow>,
}

/// The kind of a use, with its amount.
#[derive(Debug, Clone, Copy)]
pub(super) enum UseOutcome {
    /// Number of bytes that were read.
    Read(u64),
    /// Number of bytes that were written.
    Write(u64),
    Other,
    Failed,
}

/// A call in its normal form.
pub(super) enum Step<'c> {
    /// No effect.
    Nothing,
    /// A use of a descriptor.
    Use(OneUse<'c>),
    /// Uses of two.
    Uses(OneUse<'c>, OneUse<'c>),
    /// Another operation: [`Returned::to_op`].
    More,
}

impl<'c> Returned<'c> {
    /// The normal form: what does not matter is left out, so that it cannot make a difference.
    #[inline]
    pub(super) fn step(&self) -> Step<'c> {
        let &Self { thread, at, effect: Some(effect), ret, flow, .. } = self else { return Step::More };
        let one = |fd, outcome| OneUse { thread, at, fd, outcome, flow: None };
        let done = |what| match what {
            _ if ret < 0 => UseOutcome::Failed,
            Use::Read => UseOutcome::Read(ret as u64),
            Use::Write => UseOutcome::Write(ret as u64),
            Use::Other => UseOutcome::Other,
        };
        match *effect {
            Effect::Nothing
            | Effect::Clone { .. }
            | Effect::Poll { .. }
            | Effect::Object { fd: None, .. } => Step::Nothing,
            // Nothing was open there. With other errors it is unknown whether the kernel looked up the
            // descriptor first.
            Effect::Use { .. }
            | Effect::Object { .. }
            | Effect::Transfer { .. }
            | Effect::EpollWait { .. }
            | Effect::EpollControl { .. }
                if ret == EBADF =>
            {
                Step::Nothing
            }
            Effect::Use { fd, what: what @ Use::Write } => Step::Use(OneUse { flow, ..one(fd, done(what)) }),
            Effect::Use { fd, what } => Step::Use(one(fd, done(what))),
            Effect::Object { fd: Some(fd), .. } => Step::Use(one(fd, done(Use::Other))),
            Effect::Transfer { from, to } => {
                Step::Uses(one(from, done(Use::Read)), OneUse { flow, ..one(to, done(Use::Write)) })
            }
            Effect::Map { fd: Some(fd), .. } if ret < 0 && ret != EBADF => {
                Step::Use(one(fd, UseOutcome::Failed))
            }
            Effect::EpollWait { .. } if matches!(self.output, ExitOutput::EpollReady(_)) => Step::More,
            Effect::EpollWait { set } => Step::Use(one(set, done(Use::Other))),
            Effect::EpollControl { set, .. } if ret < 0 => Step::Use(one(set, UseOutcome::Failed)),
            _ if ret >= 0 => Step::More,
            // Linux closes a descriptor whatever the result is, unless there was none.
            Effect::Close { .. } if ret != EBADF => Step::More,
            Effect::Connect { .. } if matches!(ret, EINTR | EALREADY | EINPROGRESS) => Step::More,
            Effect::Connect { fd, .. }
            | Effect::Bind { fd, .. }
            | Effect::Listen { fd }
            | Effect::Accept { fd, .. }
                if ret != EBADF =>
            {
                Step::Use(one(fd, UseOutcome::Failed))
            }
            _ => Step::Nothing,
        }
    }
}

impl Uses {
    /// Adds one use.
    #[inline]
    pub(super) fn count(&mut self, outcome: UseOutcome) {
        let (calls, bytes) = match outcome {
            UseOutcome::Read(bytes) => (&mut self.reads, Some((&mut self.read_bytes, bytes))),
            UseOutcome::Write(bytes) => (&mut self.writes, Some((&mut self.written_bytes, bytes))),
            UseOutcome::Other => (&mut self.others, None),
            UseOutcome::Failed => (&mut self.errors, None),
        };
        *calls = calls.saturating_add(1);
        if let Some((sum, bytes)) = bytes {
            *sum = sum.saturating_add(bytes);
        }
    }
}
