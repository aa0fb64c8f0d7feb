//! Tests of the addresses of sockets: from calls, and from the packets that calls send.

use std::net::SocketAddr;

use isochrone_net::Flow;

use super::*;
use crate::calls::{Address, Created};
use crate::files::FileKind;

const OWN: &str = "10.0.0.1:4711";
const PEER: &str = "10.0.0.2:80";

fn address(text: &str) -> Option<Address> {
    let address: SocketAddr = text.parse().ok()?;
    Some(Address::Ip { ip: address.ip(), port: address.port() })
}

fn made_socket(family: u16, kind: u16) -> FileOp {
    let what = Created::Socket { family, kind, protocol: 0 };
    call(10, 1, Effect::Create { call: Opener::Socket, what, close_on_exec: false }, 3)
}

/// A call that sends a packet from one address to another.
fn sends(at: i64, effect: Effect, protocol: u8, from: &str, to: &str) -> FileOp {
    let flow = Flow { protocol, source: from.parse().unwrap(), destination: to.parse().unwrap() };
    match call(10, at, effect, 0) {
        FileOp::Call { thread, at, effect, name, ret, output, .. } => {
            FileOp::Call { thread, at, effect, name, ret, output, flow: Some(Box::new(flow)) }
        }
        other => other,
    }
}

fn written(at: i64, from: &str, to: &str) -> FileOp {
    sends(at, Effect::Use { fd: 3, what: Use::Write }, 6, from, to)
}

fn connected(to: &str) -> FileOp {
    call(10, 2, Effect::Connect { fd: 3, peer: address(to) }, 0)
}

/// Checks both addresses of descriptor 3, executed at once and when a later piece is appended.
fn check(ops: Vec<FileOp>, local: &str, peer: &str) {
    let later = {
        let (mut first, mut files, mut emitted) = (Files::new(true), Files::new(false), Emitted::default());
        for op in &ops {
            files.note(op.clone(), &mut emitted);
        }
        first.append(files, &mut emitted);
        first.finish(END, &mut emitted);
        emitted.0
    };
    for all in [spans(ops), later] {
        let span = all.iter().find(|span| span.fd == 3).unwrap();
        let FileKind::Socket(socket) = &span.kind else { panic!("{span:?}") };
        assert_eq!((socket.local, socket.peer), (address(local), address(peer)));
    }
}

#[test]
fn a_connecting_socket_learns_its_port() {
    let syn = |protocol| sends(2, Effect::Connect { fd: 3, peer: address(PEER) }, protocol, OWN, PEER);
    check(vec![made_socket(2, 1), syn(6)], OWN, PEER);
    // The tracer does not record the address of the call.
    let bare = sends(2, Effect::Connect { fd: 3, peer: None }, 6, OWN, PEER);
    check(vec![made_socket(2, 1), bare], OWN, PEER);
    // A stream socket sends no datagrams.
    check(vec![made_socket(2, 1), syn(17)], "", PEER);
    // IPv4-mapped IPv6.
    let v6 = "[::ffff:10.0.0.2]:80";
    let mapped = sends(2, Effect::Connect { fd: 3, peer: address(v6) }, 6, "[::ffff:10.0.0.1]:4711", v6);
    check(vec![made_socket(10, 1), mapped], OWN, v6);
}

#[test]
fn packets_of_others_are_not_its_own() {
    check(vec![made_socket(2, 1), connected(PEER), written(5, "10.0.0.1:9", "10.0.0.9:2049")], "", PEER);
    check(vec![made_socket(1, 1), written(5, OWN, PEER)], "", "");
    let listens = call(10, 2, Effect::Listen { fd: 3 }, 0);
    check(vec![made_socket(2, 1), listens, written(5, OWN, PEER)], "", "");
    let bound = call(10, 2, Effect::Bind { fd: 3, local: address("10.0.0.1:99") }, 0);
    check(vec![made_socket(2, 1), bound, written(5, OWN, PEER)], "10.0.0.1:99", "");
}

#[test]
fn the_first_packet_tells() {
    let ops = vec![made_socket(2, 1), written(6, "10.0.0.1:5", PEER), written(5, OWN, PEER)];
    check(ops, OWN, PEER);
    // A datagram shows the socket's own address, not its later peers.
    let datagram = sends(5, Effect::Use { fd: 3, what: Use::Write }, 17, OWN, PEER);
    check(vec![made_socket(2, 2), datagram.clone()], OWN, "");
    check(vec![made_socket(2, 2), connected(PEER), datagram], OWN, PEER);
    // Any address of the host, and a port.
    let bound = call(10, 2, Effect::Bind { fd: 3, local: address("0.0.0.0:4711") }, 0);
    check(vec![made_socket(2, 1), bound, written(5, OWN, PEER)], OWN, PEER);
}

#[test]
fn an_accepted_socket_learns_its_own_address() {
    let listening = call(10, 2, Effect::Listen { fd: 3 }, 0);
    let accept = Effect::Accept { call: Opener::Accept4, fd: 3, close_on_exec: false };
    let accepted = call_with_output(10, 3, accept, 4, ExitOutput::Peer(address(PEER).unwrap()));
    let answers = sends(5, Effect::Use { fd: 4, what: Use::Write }, 6, OWN, PEER);
    let all = spans(vec![made_socket(2, 1), listening, accepted, answers]);
    let span = all.iter().find(|span| span.fd == 4).unwrap();
    let FileKind::Socket(socket) = &span.kind else { panic!("{span:?}") };
    assert_eq!((socket.local, socket.peer), (address(OWN), address(PEER)));
    assert_eq!(span.name, "AF_INET SOCK_STREAM 10.0.0.1:4711 → 10.0.0.2:80");
}
