//! Answers on traces that tests write, small enough to add up by hand: threads that follow each other under
//! one tid, phases of MPI programs.

use std::fs;
use std::path::Path;

use isochrone_experiment::Work;
use isochrone_store::State;
use isochrone_testkit::{EventHeader, FieldValue, Generation, KernelScript, LttngTrace};
use isochrone_time::{RawNs, Window};
use serde_json::json;

use super::rows::RowKind;
use super::{Clock, ExperimentView};
use crate::error::Result;
use crate::tests::{ask, served};

/// Writes traces, and asks a session of them.
fn check(write: impl Fn(&Path), job: impl FnOnce(&ExperimentView<'_>) -> Result<()> + Send + 'static) {
    let (traces, stores) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(traces.path());
    let (_router, session) = served(&[traces.path().to_owned()], stores.path().to_owned());
    ask(&session, job);
}

/// The rows of threads of a name.
fn threads(view: &ExperimentView<'_>, name: &str) -> Vec<u32> {
    let rows = view.rows.all.iter().filter(|row| row.kind == RowKind::Thread && row.label == name);
    rows.map(|row| row.id).collect()
}

/// Two processes of the number 20, one after the other: the first runs from 110 to 120, the second from 150
/// to 190.
fn reused(directory: &Path) {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh");
    host.at(90).switch(0, 10);
    host.at(100).fork(10, 20, 20).after(2).wakeup_new(20, 0);
    host.at(110).switch(10, 20).after(2).exec("/bin/first");
    host.at(118).process_exit().after(2).switch_dead(20, 10).after(2).process_free(20);
    host.at(140).fork(10, 20, 20).after(2).wakeup_new(20, 0);
    host.at(150).switch(10, 20).after(2).exec("/bin/second");
    host.at(190).switch(20, 10);
    host.at(200).switch(10, 0);
    host.write(directory).unwrap();
}

#[test]
fn threads_of_one_tid_are_two() {
    check(reused, |view| {
        let (first, second) = (threads(view, "first"), threads(view, "second"));
        let ([first], [second]) = (first.as_slice(), second.as_slice()) else {
            panic!("{first:?} {second:?}")
        };
        let mut numbers = Vec::new();
        for (row, on_cpu) in [(*first, 10), (*second, 40)] {
            let sums = view.statistics(Some(&[row]), view.extent, &Work::default())?;
            let [thread] = sums.threads.as_slice() else { panic!("{:?}", sums.threads) };
            let of = |state: State| thread.by_state[state as usize];
            assert_eq!(of(State::UserMode) + of(State::Syscall) + of(State::Running), on_cpu, "{thread:?}");
            // The query is of this one alone: tids do not tell them apart.
            let number = view.row(row)?.thread.unwrap().0;
            let command = json!(sums)["command"].as_str().unwrap().to_owned();
            assert!(
                command.contains(&format!("thread IN ({number})")) && !command.contains("tid ="),
                "{command}"
            );
            numbers.push(number);
        }
        assert_ne!(numbers[0], numbers[1]);
        Ok(())
    });
}

/// Rank 0 is thread 10, rank 1 thread 20, from 90 to 400 each on a CPU. Rank 0 receives from 100 to 160,
/// waiting from 110 to 150 in it, and from 200 to 205; rank 1 sends from 130 to 140.
fn ranks(directory: &Path) {
    const NUMBER: &str = "integer { size = 32; align = 8; signed = true; }";
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2).contexts(true);
    host.process(10, "ring").process(20, "ring");
    for (cpu, tid) in [(0, 10), (1, 20)] {
        host.at(90).cpu(cpu).switch(0, tid);
        host.at(400).cpu(cpu).switch(tid, 0);
    }
    let mut program = LttngTrace::user_space("h1");
    program.header(EventHeader::Large).cpus(2).context(&format!("{NUMBER} _vtid;"));
    program.define("mpi:init", &format!("{NUMBER} _rank; {NUMBER} _size;"));
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
    // By time, as they are recorded.
    for (at, rank, event_name, call) in [
        (100, 0, "mpi:begin", "MPI_Recv"),
        (110, 0, "mpi:begin", "MPI_Wait"),
        (130, 1, "mpi:begin", "MPI_Send"),
        (140, 1, "mpi:end", "MPI_Send"),
        (150, 0, "mpi:end", "MPI_Wait"),
        (160, 0, "mpi:end", "MPI_Recv"),
        (200, 0, "mpi:begin", "MPI_Recv"),
        (205, 0, "mpi:end", "MPI_Recv"),
    ] {
        event(at, rank, event_name, &[("func", call.into())]);
    }
    let [kernel, user_space] = ["kernel", "ust"].map(|name| directory.join(name));
    fs::create_dir(&kernel).unwrap();
    fs::create_dir(&user_space).unwrap();
    host.write(&kernel).unwrap();
    program.write(&user_space).unwrap();
}

/// What opening costs does not depend on the number of messages.
#[test]
fn messages_are_read_when_they_are_needed() {
    check(reused, |view| {
        assert!(view.messages.get().is_none());
        view.messages()?;
        assert!(view.messages.get().is_some());
        Ok(())
    });
}

#[test]
fn phases_are_added_up_by_thread_in_a_window() {
    check(ranks, |view| {
        let rows = threads(view, "ring");
        let at = |ns: i64| view.at(0, RawNs(ns), Clock::Common);
        let sums = |rows: Option<&[u32]>, start: i64, end: i64| {
            let phases = view.phases_of(rows, Window::new(at(start), at(end)), &Work::default());
            let phases = json!(phases.unwrap());
            let of = |thread: &serde_json::Value| {
                let list = thread["phases"].as_array().unwrap().iter();
                let list: Vec<String> = list
                    .map(|it| format!("{} {} {} {}", it["phase"], it["count"], it["total_ns"], it["max_ns"]))
                    .collect();
                format!("{} of {}: {}", thread["outside_ns"], thread["all_ns"], list.join(", "))
                    .replace('"', "")
            };
            phases["threads"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        let whole = [
            // One phase within another counts for both, and its time is outside of none.
            "245 of 310: mpi MPI_Recv 2 65 60, mpi MPI_Wait 1 40 40",
            "300 of 310: mpi MPI_Send 1 10 10",
        ];
        assert_eq!(sums(None, 90, 400), whole);
        assert_eq!(sums(Some(&rows[1..]), 90, 400), whole[1..]);
        // Phases are cut as the window cuts them.
        let cut = "40 of 80: mpi MPI_Recv 2 40 38, mpi MPI_Wait 1 28 28";
        assert_eq!(sums(None, 122, 202)[0], cut);
        Ok(())
    });
}
