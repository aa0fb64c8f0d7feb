//! Tests of epoll sets: what is in them, and what is ready.

use super::*;
use crate::calls::{Created, EpollChange, EpollReady, WaitedSet};
use crate::span::Poll;

#[derive(Debug, Default)]
struct Polls(Vec<Poll>);

impl Spans for Polls {
    fn poll(&mut self, poll: &Poll) {
        self.0.push(poll.clone());
    }
    fn rename(&mut self, _: &ThreadAliases) {}
    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
    }
}

/// The set has descriptor 3.
fn made_set() -> FileOp {
    let effect = Effect::Create { call: Opener::EpollCreate1, what: Created::Epoll, close_on_exec: false };
    call(10, 1, effect, 3)
}

/// Adds a descriptor to the set with the program's data.
fn put(at: i64, fd: i32, data: u64) -> FileOp {
    let change = EpollChange::Set { events: 1, data: Some(data) };
    call(10, at, Effect::EpollControl { set: 3, fd, change }, 0)
}

fn taken(at: i64, fd: i32) -> FileOp {
    call(10, at, Effect::EpollControl { set: 3, fd, change: EpollChange::Remove }, 0)
}

/// A wait returns these of the set, by data.
fn waited(at: i64, ready: &[u64]) -> FileOp {
    let all = ready.iter().map(|&data| EpollReady { data, events: 1 }).collect();
    call_with_output(10, at, Effect::EpollWait { set: 3 }, ready.len() as i64, ExitOutput::EpollReady(all))
}

fn fds(set: &WaitedSet) -> Vec<i32> {
    set.first.iter().map(|waited| waited.fd).collect()
}

/// Checks each wait, `in the set: ready of how many`, executed at once and when a later piece is appended.
fn check(ops: Vec<FileOp>, expect: &[&str]) {
    let mut at_once = (Files::new(true), Polls::default());
    let mut later = (Files::new(false), Polls::default());
    for op in ops {
        at_once.0.note(op.clone(), &mut at_once.1);
        later.0.note(op, &mut later.1);
    }
    let mut appended = Polls::default();
    Files::new(true).append(later.0, &mut appended);
    for Polls(polls) in [at_once.1, appended] {
        let shown = polls.iter().map(|poll| {
            assert_eq!((poll.set, poll.waited.count), (Some(3), poll.waited.first.len() as u32));
            format!("{:?}: {:?} of {}", fds(&poll.waited), fds(&poll.ready), poll.ready.count)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expect);
    }
}

#[test]
fn a_set_shows_what_is_ready() {
    check(
        vec![made_set(), opened(10, 2, "/x", 4), put(3, 4, 0xbeef), waited(5, &[0xbeef])],
        &["[4]: [4] of 1"],
    );
    // A descriptor whose adding was not seen is ready with unknown data.
    check(vec![made_set(), waited(5, &[0xbeef])], &["[]: [] of 1"]);
    check(vec![waited(5, &[0xbeef])], &["[]: [] of 1"]);
    // A descriptor that was there before.
    check(vec![made_set(), put(3, 7, 7), put(4, 8, 8), waited(5, &[8])], &["[7, 8]: [8] of 1"]);
    // Its data changes.
    check(vec![made_set(), put(3, 7, 1), put(4, 7, 2), waited(5, &[1, 2])], &["[7]: [7] of 2"]);
    check(vec![made_set(), put(3, 7, 1), taken(4, 7), waited(5, &[1])], &["[]: [] of 1"]);
}

#[test]
fn closed_descriptors_leave_a_set() {
    let put_and_closed = || vec![made_set(), opened(10, 2, "/x", 4), put(3, 4, 4), closed(10, 5, 4)];
    check([put_and_closed(), vec![waited(9, &[])]].concat(), &["[]: [] of 0"]);
    // A new descriptor of its number is not in the set until it is added.
    let again = || [put_and_closed(), vec![opened(10, 6, "/y", 4)]].concat();
    check([again(), vec![waited(9, &[])]].concat(), &["[]: [] of 0"]);
    check([again(), vec![put(7, 4, 4), waited(9, &[4])]].concat(), &["[4]: [4] of 1"]);
}

#[test]
fn failures_and_timeouts_show_nothing() {
    let bare = |ret| call(10, 5, Effect::EpollWait { set: 3 }, ret);
    check(vec![made_set(), bare(0), bare(-4)], &[]);
}
