//! From one row to another: to the other end of a message, to who is woken, to who woke.

use serde::Serialize;

use super::rows::Kind;
use super::{Clock, Shown};
use crate::error::ApiError;

/// What is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Message,
    /// The next thread that this one wakes.
    Wakeup,
    /// Who woke this thread last.
    Waker,
}

/// Where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct There {
    pub(crate) row: u32,
    pub(crate) at: i64,
    pub(crate) text: String,
}

/// How far a wake-up is looked for, ns: it is read window by window, of twice the length each.
const FIRST_NS: i64 = 10_000_000;

impl Shown<'_> {
    /// Follows something from a row at an instant since the origin.
    ///
    /// # Errors
    /// There is nothing to follow, or the store cannot be read.
    pub(crate) fn follow(&self, id: u32, at: i64, what: What, clock: Clock) -> Result<There, ApiError> {
        let row = self.row(id)?;
        match what {
            What::Message => self.follow_message(id, at, clock),
            What::Wakeup | What::Waker if row.kind == Kind::Thread => {
                self.follow_wakeup(id, at, what == What::Waker, clock)
            }
            What::Wakeup | What::Waker => Err(ApiError::missing("only threads wake and are woken")),
        }
    }

    fn follow_message(&self, id: u32, at: i64, clock: Clock) -> Result<There, ApiError> {
        let time = |message: &super::messages::Message, end: usize| {
            self.at(message.hosts[end].into(), message.raw[end], clock)
        };
        let ends = self.messages.all.iter().flat_map(|message| [(message, 0), (message, 1)]);
        let of_row = ends.filter(|(message, end)| message.rows[*end] == id);
        // The state says which of them are meant; without one, the nearest is.
        let state = self.state_at(id, at, clock, super::state_at::Which::At).ok();
        let rank = |message: &super::messages::Message, end: usize| {
            let when = time(message, end);
            let is_inside = state.as_ref().is_some_and(|state| state.begin <= when && when <= state.end);
            (!is_inside, when.abs_diff(at))
        };
        let near = of_row.min_by_key(|(message, end)| rank(message, *end));
        let (message, end) = near.ok_or_else(|| {
            ApiError::missing(format!("{} sent and received no message", self.rows.title(id)))
        })?;
        let other = 1 - end;
        let verb = if other == 1 { "received by" } else { "sent by" };
        Ok(There {
            row: message.rows[other],
            at: time(message, other),
            text: format!("{verb} {}", self.rows.title(message.rows[other])),
        })
    }

    fn follow_wakeup(&self, id: u32, at: i64, is_waker: bool, clock: Clock) -> Result<There, ApiError> {
        let whole = self.extent.1.saturating_sub(self.extent.0);
        let mut length = FIRST_NS;
        loop {
            let window = match is_waker {
                true => (at.saturating_sub(length), at.saturating_add(1)),
                false => (at, at.saturating_add(length)),
            };
            let rows: &[u32] = if is_waker { &[id] } else { &[] };
            let (_, found) = self.wakeups(rows, window, clock, usize::MAX)?;
            let found = match is_waker {
                true => found.iter().rfind(|wakeup| wakeup.0.is_some()),
                false => found.iter().find(|wakeup| wakeup.0 == Some(id)),
            };
            if let Some(wakeup) = found {
                let (row, verb) = match is_waker {
                    true => (wakeup.0.unwrap_or(id), "woken by"),
                    false => (wakeup.1, "wakes"),
                };
                return Ok(There { row, at: wakeup.2, text: format!("{verb} {}", self.rows.title(row)) });
            }
            if length > whole {
                let verb = if is_waker { "is woken by nobody before" } else { "wakes nobody after" };
                return Err(ApiError::missing(format!("{} {verb} that", self.rows.title(id))));
            }
            length = length.saturating_mul(8);
        }
    }
}
