//! `iolog`, `iolatencystats`, `iousagetop`: what has no bytes, no path, no sectors, or no end, and what several processes share.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::run::{call, check};

const SDA: u32 = 8 << 20;

fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").process(20, "db").at(90).switch(0, 10);
    host
}

/// A file that is not there has the path that was asked for; a call whose end is missing is no row, but one of `syscalls`.
#[test]
fn calls_that_fail_or_do_not_end() {
    let mut host = host();
    let missing = [("dfd", (-100).into()), ("filename", "/missing".into())];
    call(&mut host, 100, "openat", &missing, -2);
    call(&mut host, 110, "read", &[("fd", 0.into())], 0);
    host.at(120).enter("fsync", &[("fd", 4.into())]);
    let rows = ["100 openat open ? ENOENT ? /missing", "110 read read 0 ? 0 ?"];
    check(&host, "iolog", "begin_ns syscall kind bytes error fd path", &rows);
    // What has no bytes has no size either; the end of a file has.
    check(&host, "iolog --minsize 0", "begin_ns", &["110"]);
    let rows = ["100 openat 1", "110 read 1", "120 fsync ?"];
    check(&host, "syscalls", "begin_ns syscall duration_ns", &rows);
}

/// Requests without sectors are flushes, and no latency; those whose issue or completion is not there are left out.
#[test]
fn requests_that_move_nothing_or_have_no_end() {
    let mut host = host();
    host.at(100).block_issue(SDA, 64, 8).after(20).block_complete(SDA, 64, 8);
    host.at(130).block_issue(SDA, 0, 0).after(5).block_complete(SDA, 0, 0);
    host.at(140).block_complete(SDA, 900, 8);
    host.at(150).block_issue(SDA, 950, 8);
    host.at(160).switch(10, 0);
    check(&host, "iolatencystats --table disks", "disk count total_ns", &["8:0 1 20"]);
    let columns = "disk requests sectors read_bytes flushes service_ns avg_ns ns_per_sector";
    check(&host, "iousagetop --table disks", columns, &["8:0 1 8 4096 1 20 20 2.5"]);
    // A driver that gives a request back, and gets it again: the time is from the last issue.
    host.at(200).block_issue(SDA, 300, 8).after(10).event("block_rq_requeue", &request(300, 8));
    host.at(230).block_issue(SDA, 300, 8).after(7).block_complete(SDA, 300, 8);
    check(&host, "iolatencystats --table disks", "disk count min_ns max_ns", &["8:0 2 7 20"]);
}

fn request(sector: u64, sectors: u32) -> [(&'static str, FieldValue); 3] {
    [("dev", SDA.into()), ("sector", sector.into()), ("nr_sector", sectors.into())]
}

/// Files are files, directories and what has a path; Internet sockets are the network; pipes, UNIX sockets and what nobody knows are other.
#[test]
fn what_bytes_went_through() {
    let mut host = host();
    let open = [("dfd", (-100).into()), ("filename", "/x".into())];
    call(&mut host, 100, "openat", &open, 3);
    host.at(102).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", [4, 5].into())]);
    call(&mut host, 104, "socket", &[("family", 2.into()), ("type", 1.into())], 6);
    call(&mut host, 106, "socket", &[("family", 1.into()), ("type", 1.into())], 7);
    for (at, fd, bytes) in [(110, 3, 1), (120, 4, 10), (130, 6, 100), (140, 7, 1_000), (150, 8, 10_000)] {
        call(&mut host, at, "read", &[("fd", fd.into())], bytes);
        call(&mut host, at + 5, "write", &[("fd", fd.into())], 2 * bytes);
    }
    let columns = "tid read_bytes written_bytes file_read_bytes file_written_bytes net_read_bytes \
                   net_written_bytes other_read_bytes other_written_bytes";
    check(&host, "iousagetop", columns, &["10 11111 22222 1 2 100 200 11010 22020"]);
}

/// One path is one file, whoever has it open; what has no path is of its process.
#[test]
fn files_of_several_processes() {
    let mut host = host();
    let open = [("dfd", (-100).into()), ("filename", "/x".into())];
    call(&mut host, 100, "openat", &open, 3);
    call(&mut host, 110, "read", &[("fd", 3.into())], 5);
    call(&mut host, 120, "read", &[("fd", 9.into())], 1);
    host.at(130).switch(10, 20);
    call(&mut host, 140, "openat", &open, 4);
    call(&mut host, 150, "read", &[("fd", 4.into())], 7);
    call(&mut host, 160, "read", &[("fd", 9.into())], 2);
    let columns = "path pid read_bytes reads processes owners";
    let rows = [
        "/x ? 12 2 2 fd 3 in web (10), fd 4 in db (20)",
        "? 20 2 1 1 fd 9 in db (20)",
        "? 10 1 1 1 fd 9 in web (10)",
    ];
    check(&host, "iousagetop --table files", columns, &rows);
}

/// The sixteen first of those that had a file are named, the others counted.
#[test]
fn files_of_many_processes() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    let open = [("dfd", (-100).into()), ("filename", "/x".into())];
    let mut last = 0;
    for pid in 10..28 {
        host.process(pid, "web").at(100 * pid as u64).switch(last, pid);
        call(&mut host, 100 * pid as u64 + 10, "openat", &open, 3);
        call(&mut host, 100 * pid as u64 + 20, "read", &[("fd", 3.into())], 1);
        last = pid;
    }
    let named: Vec<String> = (10..26).map(|pid| format!("fd 3 in web ({pid})")).collect();
    let expect = format!("/x 18 18 {}, and 2 more", named.join(", "));
    check(&host, "iousagetop --table files", "path read_bytes processes owners", &[&expect]);
}
