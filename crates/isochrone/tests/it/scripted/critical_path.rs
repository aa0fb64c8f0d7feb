//! `critical-path`: each rule of the walk, on hosts small enough to check by eye.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::run::{analyze, rows};

/// Thread 10 from 110 to 400, on CPU 0. What it waits for:
///
/// * 125–145 a timer, and until 150 the CPU, on which nobody runs;
/// * 162–170 a lock that thread 20 holds, which works for itself; and until 172 the CPU, on which 20 still runs;
/// * 184–195 thread 30, which it woke at 180 to help;
/// * 211–230 a disk, and until 233 the CPU;
/// * 251–260 a pipe, into which 20 writes;
/// * 281–300 its child 40, which it forked at 270 and which ends;
/// * 321–330 a signal, which 20 sends;
/// * 351–360 nobody knows what, which an event wakes it from.
pub(super) fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web").process(30, "helper");
    let disk = [("dev", (8 << 20).into()), ("diskname", "sda".into())];
    host.at(50).dump_process(10).dump_file(10, 3, 0, "/data/x").event("lttng_statedump_block_device", &disk);
    host.at(90).switch(0, 10);
    let ends = FieldValue::Array(vec![4.into(), 5.into()]);
    host.at(100).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", ends)]);
    host.at(120).enter("nanosleep", &[]).after(5).switch(10, 0);
    host.at(144).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
    host.at(150).switch(0, 10).after(2).exit("nanosleep", 0);
    host.at(160).enter("futex", &[]).after(2).switch(10, 20);
    host.at(170).wake(10, 0).after(2).switch(20, 10).after(2).exit("futex", 0);
    host.at(180).wake(30, 0).after(2).enter("futex", &[]).after(2).switch(10, 30);
    host.at(195).wake(10, 0).after(2).switch(30, 10).after(1).exit("futex", 0);
    host.at(205).enter("pread64", &[("fd", 3.into()), ("count", 8.into())]);
    host.at(208).block_issue(8 << 20, 64, 8).after(3).switch(10, 0);
    host.at(228).irq_entry(27, "virtio0").after(1).block_complete(8 << 20, 64, 8).after(1).wake(10, 0);
    host.at(231).irq_exit(27).after(2).switch(0, 10).after(1).exit("pread64", 8);
    host.at(250).enter("read", &[("fd", 4.into()), ("count", 8.into())]).after(1).switch(10, 20);
    host.at(260).wake(10, 0).after(1).switch(20, 10).after(1).exit("read", 8);
    host.at(270).fork(10, 40, 40).after(1).wakeup_new(40, 0);
    host.at(280).enter("wait4", &[]).after(1).switch(10, 40);
    host.at(300).wake(10, 0).after(1).switch(40, 10).after(1).exit("wait4", 40);
    host.at(320).enter("pause", &[]).after(1).switch(10, 20);
    host.at(330).wake(10, 0).after(1).switch(20, 10).after(1).exit("pause", -4);
    host.at(351).switch(10, 20);
    host.at(360).wake(10, 0).after(1).switch(20, 10);
    host.at(410).switch(10, 0);
    host
}

#[test]
fn each_wait_by_what_ended_it() {
    let said =
        analyze(&[&host()], "critical-path --thread 10 --begin @110 --end @400 --table path --format json");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let rows = rows(&said.stdout, "begin_ns end_ns tid comm cause detail");
    let expect = [
        "110 125 10 sh cpu user 10 ns, nanosleep 5 ns",
        "125 145 10 sh sleep nanosleep",
        "145 150 10 sh wait-cpu swapper/0 ran",
        "150 162 10 sh cpu user 8 ns, futex 2 ns, nanosleep 2 ns",
        "162 170 10 sh lock futex, held by web 20",
        "170 172 10 sh wait-cpu web 20 ran",
        "172 180 10 sh cpu user 6 ns, futex 2 ns",
        // It woke the helper, and the helper woke it: what the helper did is the path.
        "180 184 30 helper wait-cpu sh 10 ran",
        "184 195 30 helper cpu user or kernel",
        "195 197 10 sh wait-cpu helper 30 ran",
        "197 211 10 sh cpu user 7 ns, pread64 6 ns, futex 1 ns",
        "211 230 10 sh disk read of disk sda, 4096 bytes",
        "230 233 10 sh wait-cpu swapper/0 ran",
        "233 251 10 sh cpu user 16 ns, pread64 1 ns, read 1 ns",
        "251 260 10 sh pipe read fd 4 (pipe 5 → 4), ended by web 20",
        "260 261 10 sh wait-cpu web 20 ran",
        "261 270 10 sh cpu user 8 ns, read 1 ns",
        // So did the child, from its fork on.
        "270 281 40 sh wait-cpu sh 10 ran",
        "281 300 40 sh cpu user or kernel",
        "300 301 10 sh wait-cpu sh 40 ran",
        "301 321 10 sh cpu user 18 ns, pause 1 ns, wait4 1 ns",
        "321 330 10 sh signal pause, ended by web 20",
        "330 331 10 sh wait-cpu web 20 ran",
        "331 351 10 sh cpu user 19 ns, pause 1 ns",
        "351 360 10 sh other ended by web 20",
        "360 361 10 sh wait-cpu web 20 ran",
        "361 400 10 sh cpu user",
    ];
    assert_eq!(rows, expect, "{}", said.stderr);
}

pub(super) const US: u64 = 1_000;
/// Bytes of each request and each answer.
pub(super) const BYTES: u32 = 100;

/// One end of a connection: address and port.
pub(super) type End = ([u8; 4], u32);

/// A TCP segment with data, as the kernel's network events have it.
pub(super) fn segment(from: End, to: End, seq: u32, ack: u32) -> Vec<(&'static str, FieldValue)> {
    vec![
        ("skbaddr", 1.into()),
        ("len", (BYTES + 66).into()),
        ("name", "eth0".into()),
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.version", 4.into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.tot_len", (BYTES + 40).into()),
        ("network_header.ipv4.protocol", 6.into()),
        ("network_header.ipv4.saddr", from.0.into()),
        ("network_header.ipv4.daddr", to.0.into()),
        ("network_header.ipv4.transport_header_type", "tcp".into()),
        ("network_header.ipv4.transport_header.tcp.source_port", from.1.into()),
        ("network_header.ipv4.transport_header.tcp.dest_port", to.1.into()),
        ("network_header.ipv4.transport_header.tcp.seq", seq.into()),
        ("network_header.ipv4.transport_header.tcp.ack_seq", ack.into()),
        ("network_header.ipv4.transport_header.tcp.data_offset", 5.into()),
        ("network_header.ipv4.transport_header.tcp.flags", 0x18.into()),
    ]
}

/// A device has taken a segment with so many bytes.
pub(super) fn taken(bytes: u32) -> Vec<(&'static str, FieldValue)> {
    vec![("skbaddr", 1.into()), ("rc", 0.into()), ("len", (bytes + 66).into()), ("name", "eth0".into())]
}

/// Threads 10 and 11 of h1 ask thread 20 of h2 on a connection each, every millisecond, eight times. In µs after the begin of the millisecond:
///
/// * 10 asks at 0; its request leaves at 10, arrives at 110, wakes 20 at 115, which runs from 120 on and answers: from 310 to 410;
/// * 11 asks at 50; its request arrives at 160 while 20 is busy, which reads it at 331 and answers: from 510 to 610.
///
/// The device of h1 takes a packet after 6, that of h2 after 4.
pub(super) fn hosts() -> [KernelScript; 2] {
    let [mut h1, mut h2] = ["h1", "h2"].map(|name| {
        let mut host = KernelScript::new(name, Generation::V2_13).cpus(2).contexts(true);
        host.process(if name == "h1" { 10 } else { 20 }, if name == "h1" { "client" } else { "server" });
        host
    });
    h1.thread(11, 10, "client");
    let server: End = ([10, 0, 0, 2], 8_001);
    let clients: [End; 2] = [([10, 0, 0, 1], 40_000), ([10, 0, 0, 1], 40_001)];
    for (fd, inode) in [(3, 100), (4, 101)] {
        let name = format!("socket:[{inode}]");
        h1.at(900 * US + fd as u64).dump_file(10, fd, 2, &name);
        h2.at(900 * US + fd as u64).dump_file(20, fd, 2, &name);
    }
    h1.at(950 * US).cpu(0).switch(0, 10);
    h1.at(950 * US).cpu(1).switch(0, 11);
    h2.at(950 * US).cpu(0).switch(0, 20);
    h2.at(960 * US).cpu(0).enter("read", &[("fd", 3.into())]).after(2 * US).switch(20, 0);
    let size = |call: &str| if call == "write" { vec![("count", BYTES.into())] } else { Vec::new() };
    let on = |fd: i32, call: &str| [vec![("fd", fd.into())], size(call)].concat();
    for number in 0..8 {
        let at = |us: u64| 1_000 * US * (1 + number) + us * US;
        let [asked, answered] = [1_000, 500_000].map(|first: u32| first + number as u32 * BYTES);
        for (place, (tid, fd, begin, arrives, leaves)) in
            [(10, 3, 0, 110, 310), (11, 4, 50, 160, 510)].into_iter().enumerate()
        {
            let cpu = place as u32;
            let client = clients[place];
            h1.at(at(begin)).cpu(cpu).enter("write", &on(fd, "write"));
            h1.at(at(begin + 10)).cpu(cpu).event("net_dev_queue", &segment(client, server, asked, answered));
            h1.at(at(begin + 16)).cpu(cpu).event("net_dev_xmit", &taken(BYTES));
            h1.at(at(begin + 20)).cpu(cpu).exit("write", BYTES.into());
            h1.at(at(begin + 30)).cpu(cpu).enter("read", &on(fd, "read")).after(2 * US).switch(tid, 0);
            let request = segment(client, server, asked, answered);
            h2.at(at(arrives - 1)).cpu(0).softirq_entry(3).after(US).event("net_if_receive_skb", &request);
            if place == 0 {
                h2.at(at(115)).cpu(0).wake(20, 0).after(US).softirq_exit(3);
                h2.at(at(120)).cpu(0).switch(0, 20).after(US).exit("read", BYTES.into());
            } else {
                h2.at(at(161)).cpu(0).softirq_exit(3);
                h2.at(at(330)).cpu(0).enter("read", &on(fd, "read")).after(US).exit("read", BYTES.into());
            }
            h2.at(at(leaves - 10)).cpu(0).enter("write", &on(fd, "write"));
            let answer = segment(server, client, answered, asked + BYTES);
            h2.at(at(leaves)).cpu(0).event("net_dev_queue", &answer);
            h2.at(at(leaves + 4)).cpu(0).event("net_dev_xmit", &taken(BYTES));
            h2.at(at(leaves + 10)).cpu(0).exit("write", BYTES.into());
            h1.at(at(leaves + 99)).cpu(cpu).softirq_entry(3).after(US).event("net_if_receive_skb", &answer);
            h1.at(at(leaves + 105)).cpu(cpu).wake(tid, cpu).after(US).softirq_exit(3);
            h1.at(at(leaves + 110)).cpu(cpu).switch(0, tid).after(US).exit("read", BYTES.into());
        }
        h2.at(at(530)).cpu(0).enter("read", &on(3, "read")).after(2 * US).switch(20, 0);
    }
    [h1, h2]
}

#[test]
fn through_packets_to_other_hosts() {
    let [h1, h2] = hosts();
    let said = analyze(&[&h1, &h2], "critical-path --table path --format json");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let rows = rows(&said.stdout, "request host tid cause");
    let of = |request: &str| -> Vec<String> {
        let prefix = format!("{request} ");
        rows.iter().filter_map(|row| row.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    // The fifth of each client. Times on the common clock are as sure as 16 messages make them.
    let through =
        ["h1 10 cpu", "h1 ? network", "h2 20 softirq", "h2 20 wait-cpu", "h2 20 cpu", "h2 ? network"];
    let back = ["h1 10 softirq", "h1 10 wait-cpu", "h1 10 cpu"];
    assert_eq!(of("9"), [&through[..], &back].concat(), "{}", said.stderr);
    // It was not woken by the request, which it holds from its arrival on.
    let through = ["h1 11 cpu", "h1 ? network", "h2 20 cpu", "h2 ? network"];
    let back = ["h1 11 softirq", "h1 11 wait-cpu", "h1 11 cpu"];
    assert_eq!(of("10"), [&through[..], &back].concat());
}
