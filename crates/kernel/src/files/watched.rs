//! The descriptors of an epoll set.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls::{EpollChange, EpollReady, MAX_WAITED, Waited, WaitedSet};
use crate::id::Time;

/// Limit of descriptors in a set: more than a process may usually have open, and bad input cannot make it
/// grow.
const MAX_MEMBERS: usize = 1 << 16;

/// The descriptors in a set, as `epoll_ctl` adds them. One that is closed leaves the set, so it counts only
/// as long as the descriptor is the one that was added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watched {
    members: BTreeMap<i32, Member>,
    /// By the program's data.
    by_data: BTreeMap<u64, i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Member {
    since: Time,
    events: u32,
    data: Option<u64>,
}

impl Watched {
    /// Applies an `epoll_ctl` that returned. Logarithmic.
    pub(super) fn change(&mut self, fd: i32, at: Time, change: EpollChange) {
        if let Some(Member { data: Some(data), .. }) = self.members.remove(&fd)
            && self.by_data.get(&data) == Some(&fd)
        {
            self.by_data.remove(&data);
        }
        if let EpollChange::Set { events, data } = change
            && self.members.len() < MAX_MEMBERS
        {
            self.members.insert(fd, Member { since: at, events, data });
            if let Some(data) = data {
                self.by_data.insert(data, fd);
            }
        }
    }

    /// The descriptors in the set: the first ones, and how many. `opened`: when a descriptor was opened, if
    /// it is open. Linear in the set.
    pub(super) fn waited(&self, opened: impl Fn(i32) -> Option<Time>) -> WaitedSet {
        let is_there =
            |(fd, member): &(&i32, &Member)| opened(**fd).is_some_and(|opened| opened <= member.since);
        let mut there = self.members.iter().filter(is_there);
        let first = there.by_ref().take(MAX_WAITED);
        let first: Box<[Waited]> = first.map(|(&fd, member)| Waited { fd, events: member.events }).collect();
        let count = first.len() as u32 + there.count() as u32;
        WaitedSet { first, count }
    }

    /// The ready descriptors, by the program's data, as far as known. `count`: how many there are.
    pub(super) fn ready(&self, ready: &[EpollReady], count: u32) -> WaitedSet {
        let fd =
            |event: &EpollReady| Some(Waited { fd: *self.by_data.get(&event.data)?, events: event.events });
        WaitedSet { first: ready.iter().filter_map(fd).collect(), count }
    }
}
