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

#[test]
fn too_many_steps() {
    let mut host = host();
    host.at(1_000_000_000).irq_entry(1, "timer").irq_exit(1);
    let said = analyze(&[&host], "usage --every 1us");
    assert_eq!(said.status, Some(2));
    assert!(said.stderr.contains("--every: 1000001 steps are too many"), "{}", said.stderr);
    assert!(analyze(&[&host], "usage --every 10ns").stderr.contains("less than 1us"));
}
