//! What goes out from some rows and comes in to them in a window: messages and wake-ups, as a list to follow.
//!
//! Used by: the panel of flows.

use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::follow::Wakeup;
use super::messages::Message;
use super::rows::RowKind;
use super::state_at::duration;
use super::{Clock, ExperimentView};
use crate::error::Result;
use crate::works::next_part;

/// Flows of one answer.
const MAX_FLOWS: usize = 5000;

/// Ends of messages whose sockets are looked up: in a window with more, messages are of what ran alone.
const MAX_LOOKED_UP: usize = 200;

/// Whether something goes out from a row or comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    In,
    Out,
}

/// A message or a wake-up: its kind, its direction, the row and the instant of its end here, those of its
/// other end, and what is known besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Flow(&'static str, Direction, u32, SinceOrigin, u32, SinceOrigin, String);

/// The flows of an area.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FlowList {
    /// How many there are.
    total: usize,
    /// By time, the first ones.
    flows: Vec<Flow>,
    /// Ends of messages, listed or not, of which it was not looked up whose sockets they are.
    not_looked_up: usize,
}

impl ExperimentView<'_> {
    /// The messages and wake-ups with an end in a window, its end included, of a row that is one of `rows`
    /// or below one of them: the first `limit`. A message is of the thread whose socket it is, where that is
    /// known, else of what ran. Linear in all messages and in the wake-ups of the window.
    pub(crate) fn flows(
        &self,
        rows: &[u32],
        window: Window<SinceOrigin>,
        clock: Clock,
        limit: usize,
        work: &Work,
    ) -> Result<FlowList> {
        let mut all = FlowList::default();
        // What ends a state is at its end.
        let window = Window::new(window.start, window.end.saturating_add(1));
        self.add_messages(rows, window, clock, work, &mut all)?;
        let is_asked = |row: u32| self.rows.is_below(row, rows);
        for Wakeup(from, to, at, cause) in self.wakeups_of(window, clock, |_| true)? {
            if is_asked(to) {
                all.flows.push(Flow("wakeup", Direction::In, to, at, from, at, cause.to_owned()));
            }
            if is_asked(from) {
                all.flows.push(Flow("wakeup", Direction::Out, from, at, to, at, cause.to_owned()));
            }
        }
        all.flows.sort_by_key(|flow| (flow.3, flow.2, flow.1));
        all.total = all.flows.len();
        all.flows.truncate(limit.min(MAX_FLOWS));
        Ok(all)
    }

    fn add_messages(
        &self,
        rows: &[u32],
        window: Window<SinceOrigin>,
        clock: Clock,
        work: &Work,
        all: &mut FlowList,
    ) -> Result<()> {
        let messages = self.messages()?;
        let ends_of = |list: &'_ [Message]| {
            let ends = list.iter().flat_map(|message| [0, 1].map(|end| (*message, end)));
            let is_inside = |at: SinceOrigin| window.start <= at && at < window.end;
            ends.filter(|(message, end)| is_inside(self.times_of(message, clock)[*end])).collect::<Vec<_>>()
        };
        let hosts: Vec<usize> = rows.iter().filter_map(|row| Some(self.rows.get(*row)?.host)).collect();
        let mut ends = ends_of(&messages.all);
        ends.retain(|(message, end)| hosts.contains(&usize::from(message.hosts[*end])));
        let looks_up = ends.len() <= MAX_LOOKED_UP;
        work.expect(ends.len() as u64);
        for (message, end) in ends {
            next_part(work)?;
            let ran = message.rows[end];
            let (here, there) = match looks_up {
                true => (self.owner_of(&message, end)?, self.owner_of(&message, 1 - end)?),
                false => (ran, message.rows[1 - end]),
            };
            // What a CPU did is of the CPU, too; of a thread that only ran meanwhile, a message is not.
            let is_of_cpu = self.rows.get(ran).is_some_and(|row| row.kind != RowKind::Thread);
            let is_listed = self.rows.is_below(here, rows) || is_of_cpu && self.rows.is_below(ran, rows);
            if is_listed {
                self.add_message("message", &message, (end, here, there), clock, all);
            }
            let is_unknown = |end: usize| !looks_up && !self.is_sender(&message, end);
            all.not_looked_up += usize::from(is_unknown(end) || is_listed && is_unknown(1 - end));
        }
        for (message, end) in ends_of(&messages.mpi) {
            if self.rows.is_below(message.rows[end], rows) {
                let (here, there) = (message.rows[end], message.rows[1 - end]);
                self.add_message("mpi", &message, (end, here, there), clock, all);
            }
        }
        Ok(())
    }

    /// Whether an end of a message is surely of the thread that ran: it sent it.
    fn is_sender(&self, message: &Message, end: usize) -> bool {
        end == 0 && self.rows.get(message.rows[end]).is_some_and(|row| row.kind == RowKind::Thread)
    }

    /// The row that an end of a message is of: of the thread whose socket it is, if that is known.
    fn owner_of(&self, message: &Message, end: usize) -> Result<u32> {
        let owner = match self.is_sender(message, end) {
            true => None,
            false => self.socket_owner(message, end)?,
        };
        Ok(owner.unwrap_or(message.rows[end]))
    }

    fn add_message(
        &self,
        kind: &'static str,
        message: &Message,
        (end, here, there): (usize, u32, u32),
        clock: Clock,
        all: &mut FlowList,
    ) {
        let times = self.times_of(message, clock);
        let direction = if end == 0 { Direction::Out } else { Direction::In };
        let mut details: Vec<String> = Vec::new();
        if let Some((.., likely)) = self.bounds(message, clock) {
            details.push(format!("usually within {}", duration(likely)));
        }
        for (row, ran) in [(here, message.rows[end]), (there, message.rows[1 - end])] {
            if row != ran {
                details.push(format!("{} ran", self.rows.title(ran)));
            }
        }
        let text = details.join(", ");
        all.flows.push(Flow(kind, direction, here, times[end], there, times[1 - end], text));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tests::ask_example;

    /// Each message of a thread is a flow of it, and the same as one of the other end; so are wake-ups.
    #[test]
    fn flows_have_two_ends() {
        ask_example(|view| {
            let work = Work::default();
            let of = |rows: &[u32]| view.flows(rows, view.extent, Clock::Common, usize::MAX, &work);
            let hosts: Vec<u32> = (0..view.hosts.len()).filter_map(|host| view.rows.of_host(host)).collect();
            let all = of(&hosts)?;
            let (packets, mpi) = (view.messages()?.all.len(), view.messages()?.mpi.len());
            let count = |kind: &str, direction| {
                all.flows.iter().filter(|flow| flow.0 == kind && flow.1 == direction).count()
            };
            assert_eq!(all.total.min(MAX_FLOWS), all.flows.len());
            let whole = all.total <= MAX_FLOWS;
            for direction in [Direction::In, Direction::Out] {
                assert!(!whole || count("message", direction) == packets);
                assert!(!whole || count("mpi", direction) == mpi);
            }
            assert!(all.flows.is_sorted_by_key(|flow| flow.3));
            // Of one thread, in a time with few messages.
            let message = view.messages()?.all[packets / 2];
            let at = message.common[1];
            let around = Window::new(at.saturating_sub(5_000_000), at.saturating_add(5_000_000));
            let few = |rows: &[u32]| view.flows(rows, around, Clock::Common, usize::MAX, &work);
            let near = few(&hosts)?;
            let received = near.flows.iter().find(|flow| {
                (flow.0, flow.1, flow.3, flow.5) == ("message", Direction::In, at, message.common[0])
            });
            let received = received.expect("the message is there");
            assert_eq!(near.not_looked_up, 0);
            assert!(few(&[received.2])?.flows.contains(received));
            let kinds: BTreeSet<&str> = near.flows.iter().map(|flow| flow.0).collect();
            assert_eq!(kinds, BTreeSet::from(["message", "wakeup"]));
            assert!(few(&[])?.flows.is_empty());
            Ok(())
        });
    }
}
