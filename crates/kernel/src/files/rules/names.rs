//! Tests of kinds and names of descriptors.

use super::{call, call_with_output, check, closed, member, opened, spans, thread, unknown, used};
use crate::calls::{Address, Created, Effect, ExitOutput, Opener, Paired, Use};
use crate::files::{DumpOwner, FileKind, FileOp, OpenedBy};
use crate::id::Time;

#[test]
fn paths_are_resolved() {
    let at = |dir, path: &str| {
        let effect = Effect::Open { call: Opener::Openat, dir, path: path.into(), flags: 0 };
        spans(vec![opened(10, 1, "/dir", 3), opened(10, 1, "/", 4), call(10, 2, effect, 9)])[2]
            .name
            .to_string()
    };
    assert_eq!(at(Some(3), "x"), "/dir/x");
    assert_eq!(at(Some(4), "x"), "/x");
    assert_eq!(at(Some(3), "/x"), "/x");
    assert_eq!(at(Some(7), "x"), "fd 7 → x");
    assert_eq!(at(None, "x"), "x");
    assert_eq!(at(Some(3), ""), "");
}

#[test]
fn sockets_know_their_peers() {
    let create = Effect::Create {
        call: Opener::Socket,
        what: Created::Socket { family: 2, kind: 1, protocol: 6 },
        close_on_exec: false,
    };
    let address = |host: u8, port| Address::Ip { ip: [10, 0, 0, host].into(), port };
    let connect = |ret| call(10, 2, Effect::Connect { fd: 3, peer: Some(address(2, 80)) }, ret);
    let name = |ops: Vec<FileOp>, fd| {
        spans(ops).into_iter().find(|span| span.fd == fd).map(|span| span.name.to_string()).unwrap()
    };
    for (ret, expect) in [
        (0, "AF_INET SOCK_STREAM → 10.0.0.2:80"),
        (-115, "AF_INET SOCK_STREAM → 10.0.0.2:80"),
        (-111, "AF_INET SOCK_STREAM"),
    ] {
        assert_eq!(name(vec![call(10, 1, create.clone(), 3), connect(ret)], 3), expect);
    }
    let server = vec![
        call(10, 1, create, 3),
        call(10, 2, Effect::Bind { fd: 3, local: Some(address(1, 80)) }, 0),
        call(10, 3, Effect::Listen { fd: 3 }, 0),
        call_with_output(
            10,
            4,
            Effect::Accept { call: Opener::Accept4, fd: 3, close_on_exec: true },
            5,
            ExitOutput::Peer(address(9, 4711)),
        ),
    ];
    assert_eq!(name(server.clone(), 3), "AF_INET SOCK_STREAM 10.0.0.1:80 listening");
    assert_eq!(name(server, 5), "AF_INET SOCK_STREAM 10.0.0.1:80 → 10.0.0.9:4711");
    let pair = Effect::Pair {
        call: Opener::Socketpair,
        what: Paired::Sockets { family: 1, kind: 2, protocol: 0 },
        close_on_exec: false,
    };
    let pair = vec![call_with_output(10, 1, pair, 0, ExitOutput::Pair(3, 4))];
    assert_eq!(name(pair, 4), "AF_UNIX SOCK_DGRAM ↔ fd 3");
    let pipe = Effect::Pair { call: Opener::Pipe2, what: Paired::Pipe, close_on_exec: false };
    let pipe = vec![call_with_output(10, 1, pipe, 0, ExitOutput::Pair(3, 4))];
    assert_eq!((name(pipe.clone(), 3), name(pipe, 4)), ("pipe 4 → 3".to_owned(), "pipe 4 → 3".to_owned()));
}

#[test]
fn the_dump_shows_what_is_open() {
    let file =
        |owner, fd, flags, name: &str| FileOp::DumpFile { owner, at: Time(2), fd, flags, name: name.into() };
    let owner = |tid, table| FileOp::DumpOwner { thread: thread(tid), table };
    let of_thread = DumpOwner::Thread(thread(10));
    check(
        vec![file(of_thread, 3, Some(0o200_0000), "/x"), FileOp::Exec { thread: thread(10), at: Time(9) }],
        &["10 fd 3 (2 9] exec /x"],
    );
    // Both threads are attached to the table, whichever comes first.
    let table = DumpOwner::Table(7);
    check(
        vec![owner(10, 7), owner(11, 7), file(table, 3, None, "/x"), closed(11, 5, 3)],
        &["11 fd 3 (2 5] close /x"],
    );
    check(
        vec![file(table, 3, None, "/x"), owner(10, 7), owner(11, 7), closed(11, 5, 3)],
        &["11 fd 3 (2 5] close /x"],
    );
    check(vec![owner(10, 7), file(table, 3, None, "/x")], &["10 fd 3 (2 1000) end /x"]);
    // Threads of one process that do not share a table.
    check(
        vec![
            member(10, 10),
            member(11, 10),
            owner(10, 7),
            owner(11, 8),
            file(table, 3, None, "/x"),
            closed(11, 5, 3),
        ],
        &["10 fd 3 (2 1000) end /x", "11 fd 3 (5 5] close"],
    );
    // What was used before the dump recorded it gets its name.
    check(vec![used(10, 1, 3, Use::Read, 1), file(of_thread, 3, None, "/x")], &["10 fd 3 (1 1000) end /x"]);
    let kinds = [
        ("socket:[123]", FileKind::Socket(Box::default())),
        ("pipe:[5]", FileKind::Pipe { is_read: None, other: None }),
        ("anon_inode:[eventpoll]", FileKind::Epoll),
        ("anon_inode:inotify", FileKind::Inotify),
        ("/dev/null", FileKind::File),
    ];
    for (name, kind) in kinds {
        assert_eq!(spans(vec![file(of_thread, 3, None, name)])[0].kind, kind);
    }
}

#[test]
fn exits_alone_show_a_little() {
    check(
        vec![
            unknown(10, 5, "openat", 3),
            unknown(10, 6, "socket", 4),
            unknown(10, 7, "close", 0),
            unknown(10, 8, "read", 9),
        ],
        &["10 fd 3 [5 1000) end", "10 fd 4 [6 1000) end socket"],
    );
    check(vec![unknown(10, 5, "openat", -2), unknown(10, 6, "fcntl", 3), unknown(10, 7, "nonsense", 3)], &[]);
    let spans = spans(vec![unknown(10, 5, "epoll_create1", 3)]);
    assert_eq!(
        (&spans[0].kind, spans[0].opened_by),
        (&FileKind::Epoll, OpenedBy::Call(Opener::EpollCreate1))
    );
}
