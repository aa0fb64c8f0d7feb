//! `iolog`, `iolatencytop`, `iolatencystats`, `iolatencyfreq`, `iousagetop`: calls, disks and interfaces.

use isochrone_testkit::{Generation, KernelScript};

use super::run::{check, check_all};

/// The device of `sda`, and of a disk that no dump names.
const SDA: u32 = 8 << 20;
const OTHER: u32 = 252 << 20 | 1;

/// A web server of two threads from 100 on. It opens `/x` as 3, reads 64 of it, sends 40 on a connection that it accepts, moves 30 from
/// the file into it with `sendfile`; the other thread writes 20 into a descriptor that nobody saw opened and waits for the disk. Two requests
/// to `sda`, one to another disk; packets of `eth0`.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation);
    host.process(10, "web").thread(11, 10, "pool");
    host.at(100)
        .dump()
        .event("lttng_statedump_block_device", &[("dev", SDA.into()), ("diskname", "sda".into())]);
    host.at(110).switch(0, 10);
    let path = [("dfd", (-100).into()), ("filename", "/x".into())];
    host.at(120).enter("openat", &path).after(5).exit("openat", 3);
    host.at(130).enter("read", &[("fd", 3.into()), ("count", 99.into())]).after(10).exit("read", 64);
    host.at(150).enter("socket", &[("family", 2.into()), ("type", 1.into())]).after(1).exit("socket", 4);
    host.at(160).enter("accept4", &[("fd", 4.into())]).after(20).exit("accept4", 5);
    host.at(190).enter("sendto", &[("fd", 5.into())]).net_queue("eth0", 106).after(4).exit("sendto", 40);
    let files = [("in_fd", 3.into()), ("out_fd", 5.into())];
    host.at(200).enter("sendfile64", &files).after(6).exit("sendfile64", 30);
    host.at(210).enter("read", &[("fd", 3.into())]).after(2).exit("read", -5);
    host.at(220).block_insert(SDA, 100, 8).after(5).block_issue(SDA, 100, 8);
    host.at(230).switch(10, 11);
    host.at(240).enter("writev", &[("fd", 7.into()), ("vlen", 3.into())]).after(3).exit("writev", 20);
    host.at(250).block_issue(SDA, 900, 2).after(15).block_complete(SDA, 900, 2);
    host.at(270).enter("fsync", &[("fd", 3.into())]);
    host.at(280).block_complete(SDA, 100, 8).net_receive("eth0", 60);
    host.at(290).exit("fsync", 0).after(1).block_issue(OTHER, 1, 1).after(4).block_complete(OTHER, 1, 1);
    host.at(300).enter("close", &[("fd", 3.into())]).after(1).exit("close", 0);
    host
}

const LOG: &str = "begin_ns duration_ns syscall kind bytes error tid fd path to_fd to_path";

#[test]
fn every_call() {
    let rows = [
        "120 5 openat open ? ? 10 3 /x ? ?",
        "130 10 read read 64 ? 10 3 /x ? ?",
        "150 1 socket open ? ? 10 4 AF_INET SOCK_STREAM listening ? ?",
        "160 20 accept4 open ? ? 10 5 AF_INET SOCK_STREAM ? ?",
        "190 4 sendto write 40 ? 10 5 AF_INET SOCK_STREAM ? ?",
        "200 6 sendfile64 transfer 30 ? 10 3 /x 5 AF_INET SOCK_STREAM",
        "210 2 read read ? EIO 10 3 /x ? ?",
        // As many bytes as it returns, whatever it was given.
        "240 3 writev write 20 ? 11 7 ? ? ?",
        "270 20 fsync sync ? ? 11 3 /x ? ?",
        "300 1 close close ? ? 11 3 /x ? ?",
    ];
    for generation in [Generation::V2_5, Generation::V2_8, Generation::V2_13, Generation::V2_14] {
        check(&host(generation), "iolog", LOG, &rows);
    }
    let host = host(Generation::V2_13);
    check(&host, "iolog --tid 11", LOG, &rows[7..]);
    check(&host, "iolog --minsize 40", LOG, &[rows[1], rows[4]]);
    check(&host, "iolog --maxsize 30 --procname web", LOG, &rows[5..6]);
    check(&host, "iolog --min 10", LOG, &[rows[1], rows[3], rows[8]]);
    check(&host, "iolatencytop --table open --limit 1", LOG, &rows[3..4]);
    check(&host, "iolatencytop --table read", LOG, &[rows[1], rows[6]]);
    check(&host, "iolatencytop --table transfer", LOG, &rows[5..6]);
    check(&host, "iolatencytop --table sync --tid 10", LOG, &[]);
}

#[test]
fn how_long() {
    let host = host(Generation::V2_13);
    let columns = "kind count min_ns max_ns total_ns";
    let rows = [
        "open 3 1 20 26",
        "read 2 2 10 12",
        "write 2 3 4 7",
        "transfer 1 6 6 6",
        "sync 1 20 20 20",
        "close 1 1 1 1",
    ];
    check(&host, "iolatencystats --table calls", columns, &rows);
    // From issue to completion: the first request was inserted at 220.
    let rows = ["sda 2 15 55 70", "252:1 1 4 4 4"];
    check(&host, "iolatencystats --table disks", "disk count min_ns max_ns total_ns", &rows);
    check(&host, "iolatencystats --table disks --minsize 4096", "disk count", &["sda 1"]);
    let arguments =
        "iolatencyfreq --table freq --linear --bars 2 --tid 10,11 --min 3 --minsize 20 --maxsize 1MiB";
    // Between 3 ns and 4 ns there is room for one row.
    let rows = [
        "calls read 10 10 1",
        "calls write 3 4 2",
        "calls transfer 6 6 1",
        "disk sda 15 34 1",
        "disk sda 35 55 1",
        "disk 252:1 4 4 1",
    ];
    check(&host, arguments, "of name lo_ns hi_ns count", &rows);
}

#[test]
fn how_much() {
    let host = host(Generation::V2_13);
    let columns = "tid comm read_bytes written_bytes file_read_bytes net_written_bytes other_written_bytes reads writes";
    let rows = ["10 web 94 70 94 70 0 2 2", "11 pool 0 20 0 0 20 0 1"];
    check(&host, "iousagetop", columns, &rows);
    check(&host, "iousagetop --by-process", columns, &["10 web 94 90 94 70 20 2 3"]);
    let rows = ["/x file 94 0 2 0", "AF_INET SOCK_STREAM socket 0 70 0 2", "? ? 0 20 0 1"];
    check(&host, "iousagetop --table files", "path kind read_bytes written_bytes reads writes", &rows);
    let rows = ["10 4096 0 1 0", "11 1536 0 2 0"];
    check(&host, "iousagetop --table blocks", "tid read_bytes written_bytes reads writes", &rows);
    let rows = ["sda 2 10 5120 0 0 70", "252:1 1 1 512 0 0 4"];
    let columns = "disk requests sectors read_bytes written_bytes flushes service_ns";
    check(&host, "iousagetop --table disks", columns, &rows);
    let columns = "interface received_bytes sent_bytes received_packets sent_packets";
    check(&host, "iousagetop --table interfaces", columns, &["eth0 60 106 1 1"]);
}

/// Where the queues of network devices are not traced, what is handed to their drivers counts.
#[test]
fn packets_of_devices_without_their_queues() {
    let mut host = KernelScript::new("h1", Generation::V2_8).untraced(&["net_dev_queue"]);
    host.at(10).net_send("eth0", 50).after(5).net_receive("eth0", 20);
    check(&host, "iousagetop --table interfaces", "interface received_bytes sent_bytes", &["eth0 20 50"]);
    let mut both = KernelScript::new("h1", Generation::V2_8);
    both.at(10).net_queue("eth0", 50).net_send("eth0", 50);
    check(&both, "iousagetop --table interfaces", "interface received_bytes sent_bytes", &["eth0 0 50"]);
}

#[test]
fn of_two_hosts() {
    let (one, mut other) = (host(Generation::V2_13), KernelScript::new("h2", Generation::V2_13));
    other.process(10, "db").at(100).switch(0, 10);
    other.at(110).enter("read", &[("fd", 3.into())]).after(30).exit("read", 500);
    other.at(150).switch(10, 0);
    let rows = ["h2 10 db 500", "h1 10 web 94", "h1 11 pool 0"];
    check_all(&[&one, &other], "iousagetop --no-sync", "host tid comm read_bytes", &rows);
    let rows = ["h2 30 500", "h1 10 64", "h1 2 ?"];
    check_all(&[&one, &other], "iolatencytop --no-sync --table read", "host duration_ns bytes", &rows);
}
