//! Tests of the rules of Linux for file descriptors, one by one.

mod names;
mod polls;
mod sockets;

use super::{Bound, ClosedBy, FileOp, FileSpan, Files, Uses};
use crate::calls::{Effect, ExitOutput, Opener, Use};
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::span::Spans;

#[derive(Debug, Default)]
struct Emitted(Vec<FileSpan>);

impl Spans for Emitted {
    fn file(&mut self, span: &FileSpan) {
        self.0.push(span.clone());
    }
    fn rename(&mut self, _: &ThreadAliases) {}
    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
    }
}

const END: Time = Time(1000);

fn thread(tid: i32) -> ThreadId {
    ThreadId::Thread { tid, born: PIECE_BEGIN }
}

fn call(tid: i32, at: i64, effect: Effect, ret: i64) -> FileOp {
    call_with_output(tid, at, effect, ret, ExitOutput::Nothing)
}

fn call_with_output(tid: i32, at: i64, effect: Effect, ret: i64, output: ExitOutput) -> FileOp {
    FileOp::Call {
        thread: thread(tid),
        at: Time(at),
        effect: Some(effect),
        name: None,
        ret,
        output,
        flow: None,
    }
}

fn unknown(tid: i32, at: i64, name: &str, ret: i64) -> FileOp {
    let (thread, output) = (thread(tid), ExitOutput::Nothing);
    FileOp::Call { thread, at: Time(at), effect: None, name: Some(name.into()), ret, output, flow: None }
}

fn opened(tid: i32, at: i64, path: &str, fd: i64) -> FileOp {
    let effect = Effect::Open { call: Opener::Openat, dir: None, path: path.into(), flags: 0 };
    call(tid, at, effect, fd)
}

fn opened_cloexec(tid: i32, at: i64, path: &str, fd: i64) -> FileOp {
    let effect = Effect::Open { call: Opener::Openat, dir: None, path: path.into(), flags: 0o200_0000 };
    call(tid, at, effect, fd)
}

fn closed(tid: i32, at: i64, fd: i32) -> FileOp {
    call(tid, at, Effect::Close { fd }, 0)
}

fn used(tid: i32, at: i64, fd: i32, what: Use, ret: i64) -> FileOp {
    call(tid, at, Effect::Use { fd, what }, ret)
}

fn duplicated(fd: i32, to: Option<i32>, close_on_exec: bool) -> Effect {
    Effect::Duplicate { call: if to.is_some() { Opener::Dup3 } else { Opener::Dup }, fd, to, close_on_exec }
}

fn fork(parent: i32, child: i32, at: i64, shares_table: bool) -> FileOp {
    FileOp::Fork { parent: thread(parent), child: thread(child), at: Time(at), shares_table, is_guess: false }
}

fn member(tid: i32, pid: i32) -> FileOp {
    FileOp::Member { thread: thread(tid), pid }
}

fn spans(ops: Vec<FileOp>) -> Vec<FileSpan> {
    let (mut files, mut emitted) = (Files::new(true), Emitted::default());
    for op in ops {
        files.note(op, &mut emitted);
    }
    assert!(files.is_settled());
    files.finish(END, &mut emitted);
    emitted.0.sort();
    emitted.0
}

/// A span in short form: `10 fd 3 [5 9] close /x`; round brackets are soft ends.
fn shown(span: &FileSpan) -> String {
    let open = if span.begin_bound == Bound::Hard { '[' } else { '(' };
    let close = if span.end_bound == Bound::Hard { ']' } else { ')' };
    let by = match span.closed_by {
        ClosedBy::Close => "close",
        ClosedBy::CloseRange => "range",
        ClosedBy::Replaced => "replaced",
        ClosedBy::Exec => "exec",
        ClosedBy::Exit => "exit",
        ClosedBy::Unseen => "unseen",
        ClosedBy::TraceEnd => "end",
    };
    let tid = span.thread.tid().unwrap_or(-1);
    let doubt = if span.is_doubtful { "? " } else { "" };
    let FileSpan { fd, begin, end, name, .. } = span;
    format!("{doubt}{tid} fd {fd} {open}{begin} {end}{close} {by} {name}").trim_end().to_owned()
}

fn check(ops: Vec<FileOp>, expect: &[&str]) {
    let mut lines: Vec<String> = spans(ops).iter().map(shown).collect();
    lines.sort();
    let mut expect: Vec<&str> = expect.to_vec();
    expect.sort_unstable();
    assert_eq!(lines, expect);
}

#[test]
fn files_are_opened_and_closed() {
    check(vec![opened(10, 5, "/x", 3), closed(10, 9, 3)], &["10 fd 3 [5 9] close /x"]);
    check(vec![opened(10, 5, "/x", 3)], &["10 fd 3 [5 1000) end /x"]);
    // What was open before is recorded at its first use.
    check(vec![used(10, 5, 0, Use::Read, 7), closed(10, 9, 0)], &["10 fd 0 (5 9] close"]);
    check(vec![closed(10, 9, 4)], &["10 fd 4 (9 9] close"]);
    // Failures change nothing; a failing close has closed, unless there was nothing.
    check(vec![opened(10, 5, "/x", -2)], &[]);
    check(
        vec![opened(10, 5, "/x", 3), call(10, 9, Effect::Close { fd: 3 }, -4)],
        &["10 fd 3 [5 9] close /x"],
    );
    check(
        vec![opened(10, 5, "/x", 3), call(10, 9, Effect::Close { fd: 3 }, -9)],
        &["10 fd 3 [5 1000) end /x"],
    );
    check(vec![used(10, 5, 9, Use::Read, -9)], &[]);
    // A number that is reused was free.
    check(
        vec![opened(10, 5, "/x", 3), opened(10, 9, "/y", 3)],
        &["10 fd 3 [5 9) unseen /x", "10 fd 3 [9 1000) end /y"],
    );
    // Impossible values are harmless.
    check(vec![opened(10, 5, "/x", i64::MAX), used(10, 6, -3, Use::Read, 1), closed(10, 7, -1)], &[]);
}

#[test]
fn uses_are_counted() {
    let ops = vec![
        opened(10, 5, "/x", 3),
        used(10, 6, 3, Use::Read, 100),
        used(10, 7, 3, Use::Write, 5),
        used(10, 8, 3, Use::Read, -11),
        used(10, 8, 3, Use::Other, 0),
        call(10, 9, Effect::Transfer { from: 3, to: 4 }, 50),
    ];
    let spans = spans(ops);
    let three = Uses { reads: 2, read_bytes: 150, writes: 1, written_bytes: 5, others: 1, errors: 1 };
    let four = Uses { writes: 1, written_bytes: 50, ..Uses::default() };
    let uses: Vec<_> = spans.iter().map(|span| (span.fd, span.uses)).collect();
    assert_eq!(uses, [(3, three), (4, four)]);
}

#[test]
fn descriptors_are_duplicated() {
    let dup = |to, ret, cloexec| call(10, 7, duplicated(3, to, cloexec), ret);
    let original = "10 fd 3 [5 1000) end /x";
    check(vec![opened(10, 5, "/x", 3), dup(None, 4, false)], &[original, "10 fd 4 [7 1000) end /x"]);
    check(
        vec![opened(10, 5, "/x", 3), opened(10, 6, "/y", 1), dup(Some(1), 1, false)],
        &[original, "10 fd 1 [6 7] replaced /y", "10 fd 1 [7 1000) end /x"],
    );
    check(vec![opened(10, 5, "/x", 3), dup(Some(3), 3, false)], &[original]);
    // Close-on-exec is of the descriptor, not of the file.
    check(
        vec![
            opened_cloexec(10, 5, "/x", 3),
            dup(None, 4, false),
            FileOp::Exec { thread: thread(10), at: Time(9) },
        ],
        &["10 fd 3 [5 9] exec /x", "10 fd 4 [7 1000) end /x"],
    );
    check(
        vec![opened(10, 5, "/x", 3), dup(None, 4, true), FileOp::Exec { thread: thread(10), at: Time(9) }],
        &[original, "10 fd 4 [7 9] exec /x"],
    );
}

#[test]
fn programs_are_exchanged() {
    let exec = |at| FileOp::Exec { thread: thread(10), at: Time(at) };
    let on = |on| call(10, 7, Effect::CloseOnExec { fd: 3, on }, 0);
    check(vec![opened(10, 5, "/x", 3), on(true), exec(9)], &["10 fd 3 [5 9] exec /x"]);
    check(vec![opened_cloexec(10, 5, "/x", 3), on(false), exec(9)], &["10 fd 3 [5 1000) end /x"]);
    // Recorded by the event, and once more by the exit of the call.
    check(
        vec![opened_cloexec(10, 5, "/x", 3), exec(9), call(10, 10, Effect::Exec, 0)],
        &["10 fd 3 [5 9] exec /x"],
    );
    // The other threads of the process have ended, though without events.
    check(
        vec![
            member(10, 10),
            member(11, 10),
            opened(11, 5, "/x", 3),
            exec(9),
            FileOp::Exit { thread: thread(10), at: Time(12) },
        ],
        &["11 fd 3 [5 12] exit /x"],
    );
    // A thread that shares a table with another process has its own from now on.
    check(
        vec![opened_cloexec(11, 5, "/x", 3), fork(11, 10, 6, true), exec(9)],
        &["11 fd 3 [5 1000) end /x", "10 fd 3 [9 9] exec /x"],
    );
}

#[test]
fn ranges_are_closed() {
    let range = |first, last, flags| call(10, 9, Effect::CloseRange { first, last, flags }, 0);
    let three = || vec![opened(10, 1, "/x", 3), opened(10, 2, "/y", 4), opened(10, 3, "/z", 5)];
    let with = |op| three().into_iter().chain([op]).collect::<Vec<_>>();
    check(
        with(range(4, u32::MAX, 0)),
        &["10 fd 3 [1 1000) end /x", "10 fd 4 [2 9] range /y", "10 fd 5 [3 9] range /z"],
    );
    let ends = ["10 fd 3 [1 1000) end /x", "10 fd 4 [2 1000) end /y", "10 fd 5 [3 1000) end /z"];
    check(with(range(4, 3, 0)), &ends);
    check(with(range(u32::MAX, u32::MAX, 0)), &ends);
    let marked = spans(with(range(4, 4, 4)));
    assert_eq!(marked.iter().map(|span| span.close_on_exec).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn tables_are_shared_and_copied() {
    let exit = |tid, at| FileOp::Exit { thread: thread(tid), at: Time(at) };
    // A further thread closes what the first one opened; all is closed when the last one ends.
    check(
        vec![
            opened(10, 1, "/x", 3),
            opened(10, 2, "/y", 4),
            fork(10, 11, 5, true),
            closed(11, 6, 3),
            exit(10, 7),
            exit(11, 8),
        ],
        &["10 fd 3 [1 6] close /x", "10 fd 4 [2 8] exit /y"],
    );
    check(
        vec![opened(10, 1, "/x", 3), fork(10, 11, 5, false), closed(11, 6, 3), closed(10, 7, 3)],
        &["10 fd 3 [1 7] close /x", "11 fd 3 [5 6] close /x"],
    );
    check(
        vec![
            opened(10, 1, "/x", 3),
            fork(10, 11, 5, true),
            call(11, 6, Effect::Unshare { flags: 0x400 }, 0),
            closed(11, 7, 3),
        ],
        &["10 fd 3 [1 1000) end /x", "11 fd 3 [6 7] close /x"],
    );
    // Threads of one process share, whenever the process is recorded.
    check(
        vec![member(10, 10), member(11, 10), opened(10, 1, "/x", 3), closed(11, 2, 3)],
        &["10 fd 3 [1 2] close /x"],
    );
    check(
        vec![
            opened(10, 1, "/x", 3),
            opened(11, 2, "/y", 4),
            member(10, 10),
            member(11, 10),
            closed(10, 5, 4),
            closed(11, 6, 3),
        ],
        &["10 fd 3 [1 6] close /x", "11 fd 4 [2 5] close /y"],
    );
    // The leader has ended, its process has not.
    check(
        vec![
            member(10, 10),
            member(11, 10),
            opened(10, 1, "/x", 3),
            exit(10, 2),
            exit(10, 2),
            member(12, 10),
            exit(11, 3),
            closed(12, 5, 3),
        ],
        &["10 fd 3 [1 5] close /x"],
    );
    let process = spans(vec![member(11, 10), opened(11, 1, "/x", 3)]);
    assert_eq!(process[0].process, Some(10));
}

#[test]
fn losses_leave_doubts() {
    let lost = FileOp::Lost { at: Time(5) };
    check(
        vec![opened(10, 1, "/x", 3), lost, opened(10, 6, "/y", 4), closed(10, 8, 3)],
        &["? 10 fd 3 [1 8] close /x", "10 fd 4 [6 1000) end /y"],
    );
    // What is opened and closed during a loss may be two files.
    let begins = |at, to| FileOp::LossBegins { at: Time(at), to: Time(to) };
    check(
        vec![
            opened(10, 1, "/x", 3),
            opened(10, 2, "/w", 5),
            closed(10, 3, 5),
            begins(4, 9),
            opened(10, 5, "/y", 4),
            closed(10, 7, 3),
            closed(10, 8, 4),
            FileOp::Lost { at: Time(9) },
            opened(10, 9, "/z", 6),
        ],
        &[
            "10 fd 5 [2 3] close /w",
            "10 fd 6 [9 1000) end /z",
            "? 10 fd 3 [1 7] close /x",
            "? 10 fd 4 [5 8] close /y",
        ],
    );
    // A stream that ends after the last event hides nothing.
    check(vec![opened(10, 1, "/x", 3), begins(1001, i64::MAX)], &["10 fd 3 [1 1000) end /x"]);
    check(vec![opened(10, 1, "/x", 3), begins(999, i64::MAX)], &["? 10 fd 3 [1 1000) end /x"]);
}

#[test]
fn losses_may_hide_who_shares_a_table() {
    let lost = || FileOp::Lost { at: Time(2) };
    // A thread that appears after a loss may have been cloned in it by any other one, sharing its table.
    check(
        vec![
            opened(10, 1, "/a", 8),
            lost(),
            opened(10, 3, "/x", 3),
            closed(11, 4, 3),
            opened(10, 6, "/y", 4),
            closed(10, 7, 3),
            closed(10, 9, 4),
        ],
        &[
            "10 fd 4 [6 9] close /y",
            "? 10 fd 3 [3 7] close /x",
            "? 10 fd 8 [1 1000) end /a",
            "? 11 fd 3 (4 4] close",
        ],
    );
    // Not shared as far as is known: what it keeps may be a copy.
    let alone = |at| call(10, at, Effect::Unshare { flags: 0x400 }, 0);
    check(
        vec![opened(10, 1, "/a", 8), lost(), opened(10, 3, "/x", 3), alone(5), closed(10, 7, 3)],
        &["? 10 fd 3 [3 7] close /x", "? 10 fd 8 [1 1000) end /a"],
    );
    check(vec![opened(10, 3, "/x", 3), alone(5), closed(10, 7, 3)], &["10 fd 3 [3 7] close /x"]);
    // A number that is open cannot be opened again: another table has it.
    check(
        vec![
            opened(10, 1, "/a", 8),
            lost(),
            opened(10, 3, "/x", 3),
            opened(10, 5, "/y", 3),
            closed(10, 7, 3),
        ],
        &["? 10 fd 3 [3 5) unseen /x", "? 10 fd 3 [5 7] close /y", "? 10 fd 8 [1 1000) end /a"],
    );
}

#[test]
fn a_call_that_began_in_the_piece_before_is_filled() {
    let mut emitted = Emitted::default();
    let mut left = Files::new(true);
    left.note(used(10, 1, 3, Use::Read, 1), &mut emitted);
    let mut right = Files::new(false);
    right.note(unknown(10, 5, "openat", 4), &mut emitted);
    right.note(unknown(11, 6, "read", 5), &mut emitted);
    right.note(unknown(11, 7, "mmap", 5), &mut emitted);
    right.fill(
        thread(10),
        Time(5),
        &Effect::Open { call: Opener::Openat, dir: None, path: "/x".into(), flags: 0 },
        None,
    );
    right.fill(thread(11), Time(6), &Effect::Use { fd: 9, what: Use::Read }, None);
    right.fill(thread(11), Time(7), &Effect::Nothing, None);
    left.append(right, &mut emitted);
    assert!(left.is_settled());
    left.finish(END, &mut emitted);
    let mut lines: Vec<String> = emitted.0.iter().map(shown).collect();
    lines.sort();
    assert_eq!(lines, ["10 fd 3 (1 1000) end", "10 fd 4 [5 1000) end /x", "11 fd 9 (6 1000) end"]);
}

#[test]
fn a_thread_whose_maker_began_in_the_piece_before_shares() {
    let check = |shares, expect: &[&str]| {
        let mut emitted = Emitted::default();
        let mut left = Files::new(true);
        left.note(opened(10, 1, "/x", 3), &mut emitted);
        let mut right = Files::new(false);
        let (parent, child, at) = (thread(10), thread(11), Time(5));
        let fork = FileOp::Fork { parent, child, at, shares_table: false, is_guess: true };
        right.note(fork, &mut emitted);
        right.note(closed(11, 6, 3), &mut emitted);
        right.share(thread(11), shares);
        left.append(right, &mut emitted);
        left.finish(END, &mut emitted);
        assert_eq!(emitted.0.iter().map(shown).collect::<Vec<_>>(), expect);
    };
    check(true, &["10 fd 3 [1 6] close /x"]);
    check(false, &["11 fd 3 [5 6] close /x", "10 fd 3 [1 1000) end /x"]);
}

#[test]
fn threads_that_nobody_knows_wait_for_their_names() {
    let mut emitted = Emitted::default();
    let mut files = Files::new(true);
    let running = ThreadId::Unidentified { cpu: 0, since: PIECE_BEGIN };
    let mut op = opened(10, 5, "/x", 3);
    let mut aliases = ThreadAliases::default();
    aliases.add(thread(10), running);
    op.rename(&aliases);
    files.note(op, &mut emitted);
    files.note(closed(10, 9, 3), &mut emitted);
    assert!(!files.is_settled() && emitted.0.is_empty());
    let mut aliases = ThreadAliases::default();
    aliases.add(running, thread(10));
    files.rename(&aliases);
    files.settle(&mut emitted);
    assert!(files.is_settled());
    assert_eq!(emitted.0.iter().map(shown).collect::<Vec<_>>(), ["10 fd 3 [5 9] close /x"]);
}

#[test]
fn a_descriptor_of_two_tables_that_are_one() {
    // Both openings were seen: it was closed in between.
    check(
        vec![member(10, 10), opened(10, 5, "/x", 3), opened(11, 7, "/y", 3), member(11, 10)],
        &["10 fd 3 [5 7) unseen /x", "11 fd 3 [7 1000) end /y"],
    );
    check(
        vec![opened(11, 4, "/x", 3), member(10, 10), opened(10, 5, "/y", 3), member(11, 10)],
        &["11 fd 3 [4 5) unseen /x", "10 fd 3 [5 1000) end /y"],
    );
}
