//! `fds`: descriptors of what has no path: sockets, pipes, and what else Linux makes.

use isochrone_testkit::Generation::{self, V2_1, V2_8, V2_13, V2_14};
use isochrone_testkit::{FieldValue, KernelScript};

use super::files::{CLOEXEC, host};
use super::run::{call, check};

const COLUMNS: &str = "fd kind name opened_by close_on_exec";
const AF_UNIX: i32 = 1;
const AF_INET: i32 = 2;
const AF_INET6: i32 = 10;
const STREAM: i32 = 1;
const DATAGRAM: i32 = 2;

fn made(generations: &[Generation], act: impl Fn(&mut KernelScript), expect: &[&str]) {
    for &generation in generations {
        let mut host = host(generation);
        act(&mut host);
        check(&host, "fds", COLUMNS, expect);
    }
}

fn socket(host: &mut KernelScript, at: u64, family: i32, kind: i32, fd: i64) {
    call(host, at, "socket", &[("family", family.into()), ("type", kind.into())], fd);
}

#[test]
fn sockets_have_peers() {
    let connected = |host: &mut KernelScript| {
        socket(host, 10, AF_INET, STREAM | CLOEXEC, 3);
        let peer: [(&str, FieldValue); 4] = [
            ("fd", 3.into()),
            ("family", AF_INET.into()),
            ("dport", 80.into()),
            ("v4addr", [10, 0, 0, 1].into()),
        ];
        call(host, 20, "connect", &peer, 0);
        // A connection that is under way is one.
        socket(host, 30, AF_INET6, STREAM, 4);
        let peer: [(&str, FieldValue); 4] = [
            ("fd", 4.into()),
            ("family", AF_INET6.into()),
            ("dport", 443.into()),
            ("v6addr", [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()),
        ];
        call(host, 40, "connect", &peer, -115);
        socket(host, 50, AF_UNIX, DATAGRAM, 5);
    };
    let expect = [
        "3 socket AF_INET SOCK_STREAM → 10.0.0.1:80 socket yes",
        "4 socket AF_INET6 SOCK_STREAM → [2001:db8::1]:443 socket no",
        "5 socket AF_UNIX SOCK_DGRAM socket no",
    ];
    made(&[V2_8, V2_13, V2_14], connected, &expect);
}

#[test]
fn accepted_sockets_show_who_called() {
    let accepted = |host: &mut KernelScript| {
        socket(host, 10, AF_INET, STREAM, 3);
        call(host, 12, "listen", &[("fd", 3.into())], 0);
        let peer: [(&str, FieldValue); 3] =
            [("family", AF_INET.into()), ("sport", 4711.into()), ("v4addr", [10, 0, 0, 2].into())];
        host.at(14).enter("accept", &[("fd", 3.into())]).after(1).exit_with("accept", 4, &peer);
        let flagged = [("fd", 3.into()), ("flags", CLOEXEC.into())];
        host.at(16).enter("accept4", &flagged).after(1).exit_with("accept4", 5, &peer);
    };
    let expect = [
        "3 socket AF_INET SOCK_STREAM listening socket no",
        "4 socket AF_INET SOCK_STREAM → 10.0.0.2:4711 accept no",
        "5 socket AF_INET SOCK_STREAM → 10.0.0.2:4711 accept4 yes",
    ];
    made(&[V2_13, V2_14], accepted, &expect);
    let silent = [
        "3 socket AF_INET SOCK_STREAM listening socket no",
        "4 socket AF_INET SOCK_STREAM accept no",
        "5 socket AF_INET SOCK_STREAM accept4 yes",
    ];
    made(&[V2_1], accepted, &silent);
}

#[test]
fn pairs_know_each_other() {
    let pairs = |host: &mut KernelScript| {
        let sockets = [("family", AF_UNIX.into()), ("type", STREAM.into())];
        host.at(10).enter("socketpair", &sockets).after(1).exit_with(
            "socketpair",
            0,
            &[("socket", [3, 4].into())],
        );
        host.at(20).enter("pipe", &[]).after(1).exit_with("pipe", 0, &[("fildes", [5, 6].into())]);
        let flags = [("flags", CLOEXEC.into())];
        host.at(30).enter("pipe2", &flags).after(1).exit_with("pipe2", 0, &[("fildes", [7, 8].into())]);
    };
    let expect = [
        "3 socket AF_UNIX SOCK_STREAM ↔ fd 4 socketpair no",
        "4 socket AF_UNIX SOCK_STREAM ↔ fd 3 socketpair no",
        "5 pipe pipe 6 → 5 pipe no",
        "6 pipe pipe 6 → 5 pipe no",
        "7 pipe pipe 8 → 7 pipe2 yes",
        "8 pipe pipe 8 → 7 pipe2 yes",
    ];
    made(&[V2_8, V2_13, V2_14], pairs, &expect);
    // Old tracers do not tell the numbers.
    made(&[V2_1], pairs, &[]);
}

#[test]
fn other_things_have_a_kind() {
    let things = |host: &mut KernelScript| {
        call(host, 10, "eventfd", &[], 3);
        call(host, 12, "eventfd2", &[("flags", CLOEXEC.into())], 4);
        call(host, 14, "epoll_create1", &[("flags", CLOEXEC.into())], 5);
        call(host, 16, "epoll_create", &[("size", 1.into())], 6);
        call(host, 18, "timerfd_create", &[("clockid", 1.into())], 7);
        call(host, 20, "signalfd4", &[("ufd", (-1).into())], 8);
        call(host, 22, "inotify_init", &[], 9);
    };
    let expect = [
        "3 eventfd anon_inode:[eventfd] eventfd no",
        "4 eventfd anon_inode:[eventfd] eventfd2 yes",
        "5 epoll anon_inode:[eventpoll] epoll_create1 yes",
        "6 epoll anon_inode:[eventpoll] epoll_create no",
        "7 timerfd anon_inode:[timerfd] timerfd_create no",
        "8 signalfd anon_inode:[signalfd] signalfd4 no",
        "9 inotify anon_inode:inotify inotify_init no",
    ];
    made(&Generation::ALL, things, &expect);
    let memory = |host: &mut KernelScript| {
        call(host, 10, "memfd_create", &[("uname", "cache".into()), ("flags", 1.into())], 3);
    };
    made(&[V2_14], memory, &["3 memfd /memfd:cache memfd_create yes"]);
    // Older ones tell its number, but no text.
    made(&[V2_8, V2_13], memory, &["3 memfd /memfd: memfd_create yes"]);
}
