//! `usage`: CPUs, memory, disks and the network in steps of time.

use isochrone_testkit::{Generation, KernelScript};

use super::run::{analyze, check};

const SDA: u32 = 8 << 20;

/// From 500 ns to 3500 ns. CPU 0: thread 10 from 700 to 2200, idle until the end; before, nobody knows. A request of 4 KiB is at the disk
/// from 900 to 2400; a call at 1500 writes 64; a packet is sent at 2500, one comes at 3500; two pages at 2100.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "web").at(500).dump();
    host.at(700).switch(0, 10);
    host.at(900).block_issue(SDA, 7, 8);
    host.at(1400).enter("write", &[("fd", 3.into())]).after(100).exit("write", 64);
    host.at(2100).page_alloc(1);
    host.at(2200).switch(10, 0);
    host.at(2400).block_complete(SDA, 7, 8);
    host.at(2500).net_queue("eth0", 100);
    host.at(3500).net_receive("eth0", 40);
    host
}

#[test]
fn steps_add_up() {
    let columns =
        "begin_ns end_ns cpu_ns idle_ns unknown_ns read_bytes requests received_bytes sent_bytes net_pages";
    let rows = [
        "0 1000 300 0 200 0 0 0 0 0",
        "1000 2000 1000 0 0 0 0 0 0 0",
        "2000 3000 200 800 0 4096 1 0 100 2",
        "3000 4000 0 500 0 0 0 40 0 2",
    ];
    check(&host(), "usage --every 1us --table host", columns, &rows);
    check(&host(), "usage --every 4us --table host", columns, &["0 4000 1500 1300 200 4096 1 40 100 2"]);
    // What is asked for is cut at its borders.
    let rows = ["1000 2000 500 0 0 0 0 0 0 0", "2000 3000 200 210 0 4096 1 0 0 2"];
    check(&host(), "usage --every 1us --table host --begin @1500 --end @2410", columns, &rows[..]);
    let rows = ["0 1000 100", "1000 2000 1000", "2000 3000 400", "3000 4000 0"];
    check(&host(), "usage --every 1us --table disks", "begin_ns end_ns in_flight_ns", &rows);
    let rows = ["10 web 0 300 0 0 0", "10 web 1000 1000 64 0 0", "10 web 2000 200 0 4096 2"];
    let columns = "pid comm begin_ns cpu_ns written_bytes disk_read_bytes allocated_pages";
    check(&host(), "usage --every 1us --table processes", columns, &rows);
    let rows = ["0 0 300 60", "0 1000 1000 100", "0 2000 200 20", "0 3000 0 0"];
    check(&host(), "usage --every 1us --table cpus", "cpu begin_ns busy_ns percent", &rows);
    let rows = ["eth0 0 0 0", "eth0 1000 0 0", "eth0 2000 0 100", "eth0 3000 40 0"];
    check(
        &host(),
        "usage --every 1us --table interfaces",
        "interface begin_ns received_bytes sent_bytes",
        &rows,
    );
}

#[test]
fn lines_are_drawn() {
    let rows = [
        "CPU ? 1500 ? ? ▄█▃▁",
        "memory allocated ? ? ? 2 ▁▁█▁",
        "disk read 8:0 ? 4096 ? ▁▁█▁",
        "received eth0 ? 40 ? ▁▁▁█",
        "sent eth0 ? 100 ? ▁▁█▁",
        "CPU web (10) 1500 ? ? ▄█▃▁",
    ];
    check(&host(), "usage --every 1us", "resource of busy_ns bytes pages line", &rows);
    let text = analyze(&[&host()], "usage --every 1us").stdout;
    // Steps follow where they are few; else it is said how to see them.
    for heading in ["Hosts over time", "CPUs over time", "Processes over time", "Disks over time"] {
        assert!(text.contains(heading), "{text}");
    }
    let csv = analyze(&[&host()], "usage --every 2us --table cpus --format csv").stdout;
    assert_eq!(
        csv,
        "host,cpu,begin_ns,end_ns,busy_ns,idle_ns,unknown_ns,percent\nh1,0,0,2000,1300,0,200,86.66666666666667\nh1,0,2000,4000,200,1300,0,13.333333333333334\n"
    );
}

/// Two requests at a disk, from 1000 to 2500 and from 1500 to 3000, and one that only flushes; the first one reads, the second one writes.
#[test]
fn disks() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "web").at(500).switch(0, 10);
    host.at(1000).block_issue(SDA, 100, 8);
    let write = [("dev", SDA.into()), ("sector", 900.into()), ("nr_sector", 2.into()), ("rwbs", 1.into())];
    host.at(1500)
        .event("block_rq_issue", &[&write[..], &[("bytes", 1024.into()), ("tid", 10.into())]].concat());
    host.at(2500).block_complete(SDA, 100, 8);
    host.at(2600).block_issue(SDA, 0, 0).after(100).block_complete(SDA, 0, 0);
    host.at(3000).event("block_rq_complete", &write);
    host.at(3900).switch(10, 0);
    let columns = "begin_ns read_bytes written_bytes requests flushes in_flight_ns mean_in_flight";
    // In each step of 1 µs: 1000 + 500 ns, then 500 + 1000 and the 100 of the flush.
    let rows = ["0 0 0 0 0 0 0", "1000 0 0 0 0 1500 1.5", "2000 4096 0 1 1 1600 1.6", "3000 0 1024 1 0 0 0"];
    check(&host, "usage --every 1us --table disks", columns, &rows);
    // One that ends later is not in it. Means are over whole steps.
    let rows = ["0 0 0 0 0 0 0", "1000 0 0 0 0 1000 1", "2000 4096 0 1 0 500 0.8333333333333334"];
    check(&host, "usage --every 1us --table disks --end @2600", columns, &rows);
}

/// While events are lost, nobody knows what the CPU does: not busy and not idle; `percent` is what was surely busy.
#[test]
fn lost_events() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "web").at(0).switch(0, 10);
    host.at(1400).page_alloc(0);
    host.at(2200).switch(10, 0).after(300).switch(0, 10);
    host.at(3000).switch(10, 0);
    host.lose(0, 1500, 2000, 4).at(2000);
    host.new_packet(0);
    let rows = ["0 0 1000 0 0 100", "0 1000 500 0 500 50", "0 2000 500 300 200 50"];
    check(&host, "usage --every 1us --table cpus", "cpu begin_ns busy_ns idle_ns unknown_ns percent", &rows);
}

#[test]
fn filters() {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2);
    host.process(10, "web").process(20, "db");
    host.at(0).cpu(0).dump().switch(0, 10);
    host.at(100).cpu(1).switch(0, 20).net_queue("eth0", 50);
    host.at(600).cpu(1).switch(20, 0);
    host.at(900).cpu(0).switch(10, 0).net_queue("eth0", 30);
    let check = |arguments: &str, columns: &str, expect: &[&str]| {
        check(&host, &format!("usage --every 1us {arguments}"), columns, expect);
    };
    check("--table processes --pid 20", "pid begin_ns cpu_ns", &["20 0 500"]);
    check("--table processes --procname w*", "pid begin_ns cpu_ns", &["10 0 900"]);
    check("--table cpus --cpu 1", "cpu begin_ns busy_ns", &["1 0 500"]);
    check("--table host --cpu 1", "begin_ns cpu_ns sent_bytes", &["0 500 50"]);
}

#[test]
fn too_many_steps() {
    let mut host = host();
    host.at(1_000_000_000).irq_entry(1, "timer").irq_exit(1);
    let said = analyze(&[&host], "usage --every 1us");
    assert_eq!(said.status, Some(2));
    assert!(said.stderr.contains("--every: 1000001 steps are too many"), "{}", said.stderr);
    assert!(analyze(&[&host], "usage --every 10ns").stderr.contains("less than 1us"));
}
