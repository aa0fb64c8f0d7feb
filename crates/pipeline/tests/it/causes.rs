//! What wakes threads, which sockets talk to whom, what calls wait for, and what disks do: hosts small enough to check by eye.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::BTreeMap;

use crate::common::open;
use isochrone_hosts::Hosts;
use isochrone_kernel::calls::Address;
use isochrone_kernel::files::FileKind;
use isochrone_kernel::{Cause, Recorder, Span, ThreadId};
use isochrone_pipeline::{Cuts, Plan, run};
use isochrone_testkit::{FieldValue, Generation, KernelScript};

/// All that is told of a script, cut in several ways.
fn recorded(script: &KernelScript) -> Vec<Vec<Span>> {
    let directory = tempfile::tempdir().unwrap();
    script.write(directory.path()).unwrap();
    let traces = open(directory.path());
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let all = [Cuts::Whole, Cuts::Times(2), Cuts::Times(3), Cuts::Times(7), Cuts::Times(30)];
    let recorded = all.iter().map(|cuts| {
        let part = run(host, &Plan::new(host, cuts), 1, Recorder::default, None).unwrap();
        part.model.finish().spans.0
    });
    recorded.collect()
}

fn script(generation: Generation) -> KernelScript {
    let mut script = KernelScript::new("h", generation).cpus(2);
    script.process(10, "sh").process(20, "web").runs(0, 10).runs(1, 20);
    script
}

#[test]
fn the_innermost_context_wakes() {
    for generation in Generation::ALL {
        let mut script = script(generation);
        // Nobody knows what was under way when the trace began.
        script.at(100).wake(20, 1);
        script.at(110).enter("getpid", &[]).after(1).wake(20, 1).after(1).exit("getpid", 10);
        script.at(120).irq_entry(27, "eth0").after(1).wake(20, 1).after(1).irq_exit(27);
        script.at(130).softirq_entry(3).after(1).wake(20, 1).after(1).softirq_exit(3);
        script.at(140).softirq_entry(1).after(1).timer_entry().after(1).wake(20, 1).after(1).timer_exit();
        script.at(150).softirq_exit(1).after(1).irq_entry(1, "tick").after(1).hrtimer_entry();
        script.at(160).wake(20, 1).after(1).hrtimer_exit().after(1).irq_exit(1);
        script.at(170).switch(10, 0).after(1).wake(20, 1);
        let thread = if generation.has_waking() { Cause::Thread } else { Cause::Unknown };
        let mut expect = vec![
            Cause::Unknown,
            thread,
            Cause::Irq(27),
            Cause::Softirq(3),
            Cause::Timer,
            Cause::Timer,
            thread,
        ];
        if generation.has_vectors() {
            script.at(180).vector_entry("local_timer", 236).after(1).wake(20, 1);
            script.at(190).vector_exit("local_timer", 236).after(1).vector_entry("reschedule", 253);
            script.at(200).wakeup(20, 1).after(1).vector_exit("reschedule", 253);
            expect.extend([Cause::Timer, Cause::Ipi(253)]);
        }
        for spans in recorded(&script) {
            let mut wakes: Vec<_> = spans
                .iter()
                .filter_map(|span| match span {
                    Span::Wakeup(wake) => Some((wake.at, wake.cause)),
                    _ => None,
                })
                .collect();
            wakes.sort_unstable();
            let causes: Vec<Cause> = wakes.into_iter().map(|wake| wake.1).collect();
            assert_eq!(causes, expect, "{generation:?}");
        }
    }
}

#[test]
fn sockets_learn_their_addresses_from_packets() {
    let own = "10.0.0.1:4711".parse().unwrap();
    let peer = "10.0.0.2:80".parse().unwrap();
    let other = "10.0.0.3:99".parse().unwrap();
    let mut script = script(Generation::V2_13);
    let sockets = [("family", 2.into()), ("type", 1.into()), ("protocol", 0.into())];
    script.at(100).enter("socket", &sockets).after(1).exit("socket", 3);
    let to: FieldValue = [10_u8, 0, 0, 2].into();
    let address = [("fd", 3.into()), ("family", 2.into()), ("dport", 80.into()), ("v4addr", to)];
    // An answer to somebody else is sent in a softirq that comes first.
    script.at(110).enter("connect", &address).after(1).softirq_entry(3).after(1);
    script.at(120).net_queue_tcp("eth0", 60, (own, other)).after(1).softirq_exit(3);
    script.at(130).net_queue_tcp("eth0", 60, (own, peer)).after(1).exit("connect", 0);
    script.at(140).enter("close", &[("fd", 3.into())]).after(1).exit("close", 0);
    for spans in recorded(&script) {
        let names: Vec<_> = spans
            .iter()
            .filter_map(|span| match span {
                Span::File(file) if matches!(file.kind, FileKind::Socket(_)) => Some(file.name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(names, ["AF_INET SOCK_STREAM 10.0.0.1:4711 → 10.0.0.2:80"]);
        let flows = spans.iter().filter(|span| matches!(span, Span::Packet(packet) if packet.flow.is_some()));
        assert_eq!(flows.count(), 2);
    }
}

#[test]
fn waits_and_requests_are_reported() {
    let mut script = script(Generation::V2_13);
    let fd = |fd: i32, events: u32| FieldValue::Array(vec![fd.into(), events.into()]);
    let asked = FieldValue::Array(vec![fd(3, 1), fd(4, 1)]);
    script.at(100).enter("poll", &[("nfds", 2.into()), ("fds", asked)]).after(1).switch(10, 0);
    script.at(110).cpu(1).block_insert(8, 64, 8).after(1).switch(20, 0).after(1).block_issue(8, 64, 8);
    script.at(120).irq_entry(24, "vda").after(1).block_complete(8, 64, 8).after(1).wake(10, 0);
    script.at(130).irq_exit(24).after(1).switch(0, 10);
    script.at(140).exit_with("poll", 1, &[("fds", FieldValue::Array(vec![fd(4, 1)]))]);
    let web = ThreadId::Thread { tid: 20, born: isochrone_kernel::PIECE_BEGIN };
    for spans in recorded(&script) {
        let lines: Vec<_> = spans
            .iter()
            .filter_map(|span| match span {
                Span::Poll(it) => {
                    let fds = |set: &isochrone_kernel::calls::WaitedSet| {
                        set.first.iter().map(|waited| waited.fd).collect::<Vec<_>>()
                    };
                    Some(format!("{} {:?} {:?}", it.at, fds(&it.waited), fds(&it.ready)))
                }
                Span::BlockRequest(it) => {
                    assert_eq!(
                        (it.thread, it.bytes, it.error, it.is_partial),
                        (Some(web), Some(4096), 0, false)
                    );
                    Some(format!("{:?} {:?} {:?}", it.inserted, it.issued, it.completed))
                }
                _ => None,
            })
            .collect();
        let mut lines = lines;
        lines.sort();
        assert_eq!(lines, ["140 [3, 4] [4]", "Some(110) Some(112) Some(121)"]);
    }
}

/// Real hosts: what wakes their threads is known but for the first instants, and connections know both their ends.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn real_hosts_show_causes_and_addresses() {
    let traces = open(&crate::common::shared("vm/chain3"));
    for host in &Hosts::group(&traces).hosts {
        let part = run(host, &Plan::new(host, &Cuts::Times(3)), 2, Recorder::default, None).unwrap();
        let spans = part.model.finish().spans.0;
        let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut learned, mut bare) = (0, Vec::new());
        let mut requests = (0, 0);
        for span in &spans {
            match span {
                Span::Wakeup(wake) => {
                    let cause = match wake.cause {
                        Cause::Thread => "thread",
                        Cause::Irq(_) => "irq",
                        Cause::Softirq(_) => "softirq",
                        Cause::Timer => "timer",
                        Cause::Ipi(_) | Cause::Vector(_) => "vector",
                        Cause::Unknown => "unknown",
                    };
                    *causes.entry(cause).or_default() += 1;
                }
                Span::File(file) => {
                    let FileKind::Socket(socket) = &file.kind else { continue };
                    // Of those whose listening socket was there before the trace, only the peer is known at first.
                    let may_be_tcp = socket.family.is_none_or(|family| family == 2)
                        && socket.kind.is_none_or(|kind| kind == 1)
                        && matches!(socket.peer, Some(Address::Ip { .. }));
                    if may_be_tcp && file.uses.written_bytes > 0 {
                        match (socket.local, socket.peer) {
                            (Some(_), Some(_)) => learned += 1,
                            _ => bare.push(file),
                        }
                    }
                }
                Span::BlockRequest(it) if it.completed.is_some() => {
                    requests.0 += 1;
                    requests.1 += usize::from(it.inserted.is_some() && it.issued.is_some());
                }
                _ => {}
            }
        }
        let name = &host.name;
        println!("{name}: {causes:?}, sockets {learned}, bare {}, requests {requests:?}", bare.len());
        let all: usize = causes.values().sum();
        let unknown = causes.get("unknown").copied().unwrap_or_default();
        assert!(unknown * 100 < all, "{name}: {causes:?}");
        assert!(
            ["thread", "softirq", "timer"].iter().all(|cause| causes.contains_key(cause)),
            "{name}: {causes:?}"
        );
        assert!(learned > 10, "{name}: {learned}");
        assert!(bare.len() * 20 < learned, "{name}: {learned}, without addresses: {bare:#?}");
        assert!(requests.1 * 10 > requests.0 * 9, "{name}: {requests:?}");
    }
}
