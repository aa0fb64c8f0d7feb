//! Calls that wait for descriptors, `poll`, `select` and `epoll`: requested and ready descriptors.
//!
//! LTTng 2.13 records what user space passes, 2.8 does not: with old tracers nothing is known.

use isochrone_ctf::plan::{EventPlan, Name as FieldName, StreamPlan};
use isochrone_ctf::schema::{ByteOrder, IntegerClass};
use isochrone_ctf::{Event, FieldRef, Visitor};
use serde::{Deserialize, Serialize};

/// Most descriptors that are kept of one call.
pub const MAX_WAITED: usize = 64;

/// Events of `poll` that the sets of `select` stand for: `POLLIN`, `POLLOUT`, `POLLPRI`.
const SETS: [(&str, u32); 3] = [("readfds", 1), ("writefds", 4), ("exceptfds", 2)];

/// A descriptor, and its requested or ready events (`POLLIN` is 1, `POLLOUT` 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Waited {
    /// The descriptor.
    pub fd: i32,
    /// The events.
    pub events: u32,
}

/// Requested or ready descriptors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitedSet {
    /// The first ones: [`MAX_WAITED`] at most.
    pub first: Box<[Waited]>,
    /// Number of descriptors.
    pub count: u32,
}

/// An event that `epoll_wait` returns: the program's data of a descriptor, and its ready events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EpollReady {
    /// The program's data: any number.
    pub data: u64,
    /// The events.
    pub events: u32,
}

/// A change of an epoll set by `epoll_ctl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EpollChange {
    /// Adds a descriptor, or changes its events.
    Set {
        /// The events.
        events: u32,
        /// The program's data, if recorded.
        data: Option<u64>,
    },
    /// Removes a descriptor.
    Remove,
}

const EPOLL_CTL_ADD: i64 = 1;
const EPOLL_CTL_DEL: i64 = 2;
const EPOLL_CTL_MOD: i64 = 3;

impl EpollChange {
    /// The change of a call with this operation and this event.
    pub(super) fn of(op: i64, event: Option<EpollReady>) -> Option<Self> {
        match op {
            EPOLL_CTL_DEL => Some(Self::Remove),
            EPOLL_CTL_ADD | EPOLL_CTL_MOD => Some(Self::Set {
                events: event.map_or(0, |event| event.events),
                data: event.map(|event| event.data),
            }),
            _ => None,
        }
    }
}

/// The fields that hold descriptors to wait for.
#[derive(Debug, Default)]
pub(super) struct WaitedFields {
    fds: Option<FieldRef>,
    count: Option<FieldRef>,
    sets: [Option<FieldRef>; 3],
    event: Option<FieldRef>,
}

impl WaitedFields {
    pub(super) fn find(stream: &StreamPlan, class: &EventPlan) -> Self {
        let field = |name: &str| class.payload_field(stream, &[name]);
        Self {
            fds: field("fds"),
            count: field("nfds"),
            sets: SETS.map(|(name, _)| field(name)),
            event: field("event"),
        }
    }

    /// The descriptors that `poll` and `select` request. Linear in the size of the event.
    pub(super) fn asked(&self, event: &Event<'_>) -> Option<WaitedSet> {
        let all = self.waited(event)?;
        let emitted = self.count.as_ref().and_then(|field| event.unsigned(field)).unwrap_or_default() as u32;
        Some(WaitedSet { count: all.count.max(emitted), ..all })
    }

    /// The ready ones of them.
    pub(super) fn ready(&self, event: &Event<'_>) -> Option<WaitedSet> {
        self.waited(event)
    }

    fn waited(&self, event: &Event<'_>) -> Option<WaitedSet> {
        if let Some(field) = &self.fds {
            let items = Items::read(event, field);
            let all = items.all.iter().filter(|item| item.events != 0 && item.fd >= 0);
            return Some(WaitedSet::of(all.map(|item| Waited { fd: item.fd, events: item.events })));
        }
        let mut bits = Bits::default();
        for (field, (_, events)) in self.sets.iter().zip(SETS) {
            bits.events = events;
            event.visit_field(field.as_ref()?, &mut bits)?;
        }
        // The words of big-endian machines have their bytes in another order.
        (!bits.is_big).then(|| WaitedSet::of(bits.all.into_iter()))
    }

    /// What `epoll_wait` returns: the first ones.
    pub(super) fn epoll_ready(&self, event: &Event<'_>) -> Option<Box<[EpollReady]>> {
        let items = Items::read(event, self.fds.as_ref()?);
        let ready = items.all.iter().map(|item| EpollReady { data: item.data, events: item.events });
        Some(ready.take(MAX_WAITED).collect())
    }

    /// What `epoll_ctl` passes.
    pub(super) fn epoll_event(&self, event: &Event<'_>) -> Option<EpollReady> {
        let items = Items::read(event, self.event.as_ref()?);
        items.all.first().map(|item| EpollReady { data: item.data, events: item.events })
    }
}

impl WaitedSet {
    /// Descriptors by number, each once. Those of `select` come set by set.
    fn of(all: impl Iterator<Item = Waited>) -> Self {
        let mut all: Vec<Waited> = all.collect();
        all.sort_unstable();
        all.dedup_by(|later, first| {
            let is_same = later.fd == first.fd;
            if is_same {
                first.events |= later.events;
            }
            is_same
        });
        let count = all.len() as u32;
        all.truncate(MAX_WAITED);
        Self { first: all.into(), count }
    }
}

/// Structures of one event, or those of an array of them.
#[derive(Debug, Default)]
struct Items {
    all: Vec<Item>,
    next: Part,
}

#[derive(Debug, Default, Clone, Copy)]
struct Item {
    fd: i32,
    data: u64,
    events: u32,
}

#[derive(Debug, Default, Clone, Copy)]
enum Part {
    Fd,
    Data,
    Events,
    #[default]
    Other,
}

impl Items {
    fn read(event: &Event<'_>, field: &FieldRef) -> Self {
        let mut items = Self::default();
        // If the field cannot be read, there are none.
        event.visit_field(field, &mut items).unwrap_or_default();
        items
    }

    fn put(&mut self, value: u64) {
        let part = std::mem::take(&mut self.next);
        // A structure outside of an array. Old tracers have a number in its place: its address.
        if self.all.is_empty() && !matches!(part, Part::Other) {
            self.all.push(Item::default());
        }
        let Some(item) = self.all.last_mut() else { return };
        match part {
            Part::Fd => item.fd = value as i32,
            Part::Data => item.data = value,
            Part::Events => item.events = value as u32,
            Part::Other => {}
        }
    }
}

impl Visitor for Items {
    fn element(&mut self, _: u64) {
        self.all.push(Item::default());
    }

    fn member(&mut self, _: usize, name: &FieldName) {
        self.next = match name.shown() {
            "fd" => Part::Fd,
            "u64" => Part::Data,
            "raw_events" => Part::Events,
            _ => Part::Other,
        };
    }

    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        self.put(value);
    }

    fn signed(&mut self, _: &IntegerClass, value: i64) {
        self.put(value as u64);
    }
}

/// The bits of a set of descriptors, as bytes.
#[derive(Debug, Default)]
struct Bits {
    all: Vec<Waited>,
    events: u32,
    element: u64,
    is_big: bool,
}

impl Visitor for Bits {
    fn element(&mut self, index: u64) {
        self.element = index;
    }

    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.is_big |= class.byte_order == ByteOrder::Big;
        let size = class.size.min(64);
        for bit in (0..size).filter(|bit| value >> bit & 1 == 1) {
            let fd = self.element.saturating_mul(size.into()).saturating_add(bit.into());
            if let Ok(fd) = i32::try_from(fd) {
                self.all.push(Waited { fd, events: self.events });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_each_descriptor_once() {
        let of = |all: &[(i32, u32)]| WaitedSet::of(all.iter().map(|&(fd, events)| Waited { fd, events }));
        let set = of(&[(3, 1), (5, 1), (3, 4)]);
        assert_eq!(*set.first, [Waited { fd: 3, events: 5 }, Waited { fd: 5, events: 1 }]);
        let many: Vec<(i32, u32)> = (0..1000).map(|fd| (fd, 1)).collect();
        let set = of(&many);
        assert_eq!((set.first.len(), set.count), (MAX_WAITED, 1000));
    }
}
