//! Programs of MPI: a rank that polls waits for the one that sends. Two ranks on one host, each on a CPU of its own all the time.

use std::fs;
use std::path::Path;

use isochrone_testkit::{EventHeader, FieldValue, Generation, KernelScript, LttngTrace};

use super::run::{analyze_in, rows};

const NUMBER: &str = "integer { size = 32; align = 8; signed = true; }";

/// Rank 0 is thread 10, rank 1 thread 20. Rank 0 receives from 100 to 160, and has the message at 155, which rank 1 sends at 132; it receives again from 200 to
/// 205, and has at 204 what was sent at 170.
fn ranks(directory: &Path) {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2).contexts(true);
    host.process(10, "ring").process(20, "ring");
    for (cpu, tid) in [(0, 10), (1, 20)] {
        host.at(90).cpu(cpu).switch(0, tid);
        host.at(400).cpu(cpu).switch(tid, 0);
    }
    let mut program = LttngTrace::user_space("h1");
    program.header(EventHeader::Large).cpus(2).context(&format!("{NUMBER} _vtid;"));
    let number = |name: &&str| format!("{NUMBER} _{name};");
    let numbers = |names: &[&str]| names.iter().map(number).collect::<Vec<_>>().join("\n");
    program.define("mpi:init", &numbers(&["rank", "size"]));
    program.define("mpi:msg", &numbers(&["rank", "is_send", "peer", "tag", "bytes"]));
    for name in ["mpi:begin", "mpi:end"] {
        program.define(name, "string { encoding = UTF8; } _func;");
    }
    let mut event = |at: u64, rank: i32, name: &str, fields: &[(&str, FieldValue)]| {
        let vtid = [("context.vtid", [10, 20][rank as usize].into())];
        program.event(rank as u32, at, name, &[fields, &vtid].concat());
    };
    for rank in [0, 1] {
        event(95, rank, "mpi:init", &[("rank", rank.into()), ("size", 2.into())]);
    }
    for (from, has, to) in [(100, 155, 160), (200, 204, 205)] {
        event(from, 0, "mpi:begin", &[("func", "MPI_Recv".into())]);
        let message = [("rank", 0.into()), ("is_send", 0.into()), ("peer", 1.into()), ("tag", 7.into())];
        event(has, 0, "mpi:msg", &[&message[..], &[("bytes", 8.into())]].concat());
        event(to, 0, "mpi:end", &[("func", "MPI_Recv".into())]);
    }
    for at in [132, 170] {
        event(at - 2, 1, "mpi:begin", &[("func", "MPI_Send".into())]);
        let message = [("rank", 1.into()), ("is_send", 1.into()), ("peer", 0.into()), ("tag", 7.into())];
        event(at, 1, "mpi:msg", &[&message[..], &[("bytes", 8.into())]].concat());
        event(at + 8, 1, "mpi:end", &[("func", "MPI_Send".into())]);
    }
    let [kernel, user_space] = ["kernel", "ust"].map(|name| directory.join(name));
    fs::create_dir(&kernel).unwrap();
    fs::create_dir(&user_space).unwrap();
    host.write(&kernel).unwrap();
    program.write(&user_space).unwrap();
}

fn check(arguments: &str, columns: &str, expect: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    ranks(directory.path());
    let said = analyze_in(directory.path(), &format!("{arguments} --format json"));
    assert_eq!(rows(&said.stdout, columns), expect, "{arguments}: {}", said.stderr);
}

#[test]
fn waits_for_the_rank_that_sends() {
    let columns = "tid begin_ns end_ns wait_ns cause syscall ended_by_tid";
    let expect = ["10 100 155 55 socket MPI_Recv 20", "10 200 204 4 socket MPI_Recv 20"];
    check("blocking --table waits", columns, &expect);
    check("blocking --table ended", "pid cause count total_ns by_pid", &["10 socket 2 59 20"]);
    check("ipc", "from_pid to_pid kind count waited_ns", &["20 10 socket 2 59"]);
}

/// The first call goes on at the rank that sends, until the call began; what was sent before the second call is on its way.
#[test]
fn calls_as_requests() {
    let expect = [
        "1 100 132 20 cpu",
        "1 132 155 ? network",
        "1 155 160 10 cpu",
        "2 200 204 ? network",
        "2 204 205 10 cpu",
    ];
    check("critical-path --phase *Recv --table path", "request begin_ns end_ns tid cause", &expect);
    check("phases", "phase count total_ns", &["mpi MPI_Recv 2 65", "mpi MPI_Send 2 20"]);
}
