//! `critical-path --thread`: causes of waits that no other thread ends, and what is unknown. Times are ns.

use isochrone_testkit::{Generation, KernelScript};

use super::critical_path::{End, segment};
use super::run::check;

const STEPS: &str = "begin_ns end_ns tid cause detail";

/// Thread 10 is on CPU 0 from 90 to 400, with a disk `sda`, but for what a test says.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web");
    let disk = [("dev", (8 << 20).into()), ("diskname", "sda".into())];
    host.at(50).event("lttng_statedump_block_device", &disk).dump_file(10, 3, 2, "socket:[100]");
    host.at(90).switch(0, 10);
    host.at(400).switch(10, 0);
    host
}

/// The path of thread 10 from 100 to 300.
fn path(host: &KernelScript, expect: &[&str]) {
    check(host, "critical-path --thread 10 --begin @100 --end @300 --table path", STEPS, expect);
}

/// It waits from 151 on; what ends that comes at 180, and it runs again at 190.
fn waits(call: &str, ends: impl Fn(&mut KernelScript)) -> KernelScript {
    let mut host = host();
    let on: &[_] = if call == "read" { &[("fd", 3.into())] } else { &[] };
    host.at(150).enter(call, on).after(1).switch(10, 0);
    ends(&mut host);
    host.at(190).switch(0, 10).after(1).exit(call, 1);
    host
}

/// An interrupt that is no disk's, and the disk's where its requests are not traced.
#[test]
fn interrupts() {
    let ended = |name: &'static str| {
        waits("read", move |host| {
            host.at(178).irq_entry(27, name).after(1).block_complete(8 << 20, 64, 8);
            host.at(180).wake(10, 0).after(1).irq_exit(27);
        })
    };
    let around = |wait: &str| {
        let before = "100 151 10 cpu user 50 ns, read 1 ns".to_owned();
        let ready = "180 190 10 wait-cpu swapper/0 ran".to_owned();
        [before, wait.to_owned(), ready, "190 300 10 cpu user 109 ns, read 1 ns".to_owned()]
    };
    let check = |host: &KernelScript, wait: &str| path(host, &around(wait).each_ref().map(String::as_str));
    let mut with_request = ended("virtio0");
    with_request.at(140).block_issue(8 << 20, 64, 8);
    check(&with_request, "151 180 10 disk read of disk sda, 4096 bytes");
    let untraced = with_request.clone().untraced(&["block_rq_issue", "block_rq_complete"]);
    check(&untraced, "151 180 10 irq virtio0");
    // A softirq of disks, whatever is known of its request.
    let softirq = waits("read", |host| {
        host.at(179).softirq_entry(4).after(1).wake(10, 0).after(1).softirq_exit(4);
    });
    check(&softirq, "151 180 10 disk ?");
    let timer = waits("pause", |host| {
        host.at(179).softirq_entry(1).after(1).wake(10, 0).after(1).softirq_exit(1);
    });
    path(
        &timer,
        &[
            "100 151 10 cpu user 50 ns, pause 1 ns",
            "151 180 10 sleep pause",
            "180 190 10 wait-cpu swapper/0 ran",
            "190 300 10 cpu user 109 ns, pause 1 ns",
        ],
    );
}

/// A packet from a host that is not traced: until it is here, it is on the network; then the kernel receives it.
#[test]
fn packets_from_elsewhere() {
    let (here, there): (End, End) = (([10, 0, 0, 1], 40_000), ([10, 0, 0, 9], 8_001));
    let host = waits("read", |host| {
        host.at(177).softirq_entry(3).after(1).event("net_if_receive_skb", &segment(there, here, 1, 1));
        host.at(180).wake(10, 0).after(1).softirq_exit(3);
    });
    let columns = "begin_ns end_ns tid cause";
    let expect = [
        "100 151 10 cpu",
        "151 178 10 network",
        "178 180 10 softirq",
        "180 190 10 wait-cpu",
        "190 300 10 cpu",
    ];
    check(&host, "critical-path --thread 10 --begin @100 --end @300 --table path", columns, &expect);
}

/// A handshake: the kernel answers the client's SYN by itself, in a softirq of CPU 1, from 111 to 113.
#[test]
fn handshakes() {
    let (client, server): (End, End) = (([127, 0, 0, 1], 40_000), ([127, 0, 0, 1], 8_001));
    let segment = |from: End, to: End, seq: u32, flags: u32| {
        let mut packet = segment(from, to, seq, 0);
        let own = ["name", "network_header.ipv4.tot_len", "network_header.ipv4.transport_header.tcp.flags"];
        packet.retain(|(name, _)| !own.contains(name));
        packet.extend([(own[0], "lo".into()), (own[1], 40.into()), (own[2], flags.into())]);
        packet
    };
    let (syn, answer) = (segment(client, server, 1, 0x02), segment(server, client, 9, 0x12));
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2).contexts(true);
    host.process(10, "client").at(80).switch(0, 10);
    host.at(85).cpu(1).irq_entry(1, "keyboard").after(1).irq_exit(1);
    host.at(90).enter("socket", &[("family", 2.into()), ("type", 1.into())]).after(1).exit("socket", 3);
    let peer =
        [("fd", 3.into()), ("family", 2.into()), ("dport", 8_001.into()), ("v4addr", [127, 0, 0, 1].into())];
    host.at(100).enter("connect", &peer).after(1).event("net_dev_queue", &syn).after(4).switch(10, 0);
    host.at(110).cpu(1).softirq_entry(3).after(1).event("net_if_receive_skb", &syn);
    host.at(113).cpu(1).event("net_dev_queue", &answer).after(1).softirq_exit(3);
    host.at(120).softirq_entry(3).after(1).event("net_if_receive_skb", &answer);
    host.at(123).wake(10, 0).after(1).softirq_exit(3);
    host.at(130).switch(0, 10).after(1).exit("connect", 0);
    host.at(400).switch(10, 0);
    let expect = [
        "95 101 10 cpu",
        "101 111 ? network",
        "111 113 ? softirq",
        "113 121 ? network",
        "121 123 10 softirq",
        "123 130 10 wait-cpu",
        "130 140 10 cpu",
    ];
    let arguments = "critical-path --thread 10 --begin @95 --end @140 --table path";
    check(&host, arguments, "begin_ns end_ns tid cause", &expect);
}

/// Interrupts of the time on a CPU are in it. Where the thread has to leave, `detail` says for whom.
#[test]
fn on_and_off_the_cpu() {
    let mut host = host();
    host.at(120).irq_entry(1, "keyboard").after(10).irq_exit(1);
    host.at(150).preempt(10, 20).after(20).preempt(20, 10);
    let expect = [
        "100 150 10 cpu user or kernel 40 ns, interrupts 10 ns",
        "150 170 10 wait-cpu web 20 ran",
        "170 300 10 cpu user or kernel",
    ];
    path(&host, &expect);
}

/// From 160 to 200 events are lost: the thread may have done anything until one shows that it runs, at 220.
#[test]
fn lost_events() {
    let mut host = host();
    host.at(170).enter("nanosleep", &[]).after(1).switch(10, 20);
    host.at(220).preempt(20, 10);
    host.lose(0, 160, 200, 2).at(200);
    // The tracer counts them at the end of the packet.
    host.new_packet(0);
    path(&host, &["100 160 10 cpu user or kernel", "160 220 10 unknown ?", "220 300 10 cpu user or kernel"]);
}

/// Without wake-ups a wait ends where the thread runs, and its call says what it was.
#[test]
fn without_wake_ups() {
    let mut host = host().untraced(&["sched_waking", "sched_wakeup"]);
    host.at(150).enter("futex", &[]).after(1).switch(10, 20);
    host.at(180).wake(10, 0).after(10).preempt(20, 10).after(1).exit("futex", 0);
    let expect = [
        "100 151 10 cpu user 50 ns, futex 1 ns",
        "151 190 10 lock futex",
        "190 300 10 cpu user 109 ns, futex 1 ns",
    ];
    path(&host, &expect);
}
