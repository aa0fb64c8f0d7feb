//! Hosts small enough to check by eye, cut in three at all of their events: what is emitted of calls, and which threads there were.
//!
//! A loss is reported at its end, but a switch is missing before. Until then a CPU is thought to run a thread that runs elsewhere.

use std::collections::BTreeMap;

use isochrone_hosts::Hosts;
use isochrone_pipeline::Cuts;
use isochrone_testkit::{Generation, KernelScript};

use super::model::{Mapped, bytes, difference, map, merge_two, times, whole};
use crate::common::open;
use isochrone_kernel::Span;

/// Checks what is emitted of calls, and the names of threads, and that no cut changes anything.
fn check(host: &KernelScript, calls: &[&str], names: &[(i32, &str)]) {
    let directory = tempfile::tempdir().unwrap();
    host.write(directory.path()).unwrap();
    let traces = open(directory.path());
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    assert_eq!(told_of_calls(whole(host)), calls);
    let finished = whole(host).model.finish();
    let retired = finished.spans.recorded.0.iter().filter_map(|span| match span {
        Span::Retired(it) => Some((it.thread, &it.facts)),
        _ => None,
    });
    let threads: BTreeMap<_, _> = finished.threads.iter().chain(retired).collect();
    let found: Vec<(i32, &str)> = threads
        .iter()
        .filter_map(|(thread, facts)| {
            Some((thread.tid().filter(|&tid| tid > 0)?, facts.names.last()?.as_str()))
        })
        .collect();
    assert_eq!(found, names);

    let expect = bytes(whole(host));
    let times = times(host);
    for (place, &first) in times.iter().enumerate() {
        for &second in &times[place..] {
            let cuts = Cuts::At(vec![first, second]);
            for left_first in [true, false] {
                let pieces = map(host, &cuts).into_iter();
                let merged = match left_first {
                    true => pieces.reduce(merge_two),
                    false => pieces.rev().reduce(|right, left| merge_two(left, right)),
                }
                .unwrap();
                let difference = difference(&expect, &bytes(merged));
                assert_eq!(difference, None, "cut at {first} and {second}, left first: {left_first}");
            }
        }
    }
}

fn told_of_calls(part: Mapped) -> Vec<String> {
    let finished = part.model.finish();
    let mut lines: Vec<String> = Vec::new();
    let number = |tid: Option<i32>| tid.map_or("?".to_owned(), |tid| tid.to_string());
    for recorded in finished.spans.recorded.0 {
        match recorded {
            Span::Syscall(call) => {
                let (thread, name) = (number(call.thread.tid()), &call.entry.name);
                lines.push(format!("{thread} {name} {}..{}", call.begin, call.end));
            }
            Span::HalfSyscall(call) => {
                let (thread, at, half) = (call.thread, call.at, call.half);
                let name = call.name.as_deref().unwrap_or("?");
                lines.push(format!("{} {name} {half:?} {at}", number(thread.tid())));
            }
            _ => {}
        }
    }
    lines.sort_unstable();
    lines
}

/// Thread 10 runs on CPU 0; that it left it, and 20 came, is lost. It reads on CPU 1 while 20 writes.
#[test]
fn two_calls_that_seem_to_be_of_one_thread() {
    let mut host = KernelScript::new("h1", Generation::V2_8).cpus(2).contexts(false);
    host.process(10, "web").process(20, "db");
    host.at(100).switch(0, 10);
    host.at(210).switch(10, 20);
    host.at(300).cpu(1).switch(0, 10).after(10).enter("read", &[("fd", 3.into())]);
    host.at(320).enter("write", &[("fd", 3.into())]);
    host.at(330).cpu(1).exit("read", 5);
    host.at(340).exit("write", 5);
    host.at(350).enter("close", &[("fd", 3.into())]).after(10).switch(20, 0);
    host.at(370).cpu(1).switch(10, 20).after(10).exit("close", 0);
    host.at(500).page_alloc(0);
    host.lose_scripted(0, 200, 250);
    let calls = ["10 read 310..330", "10 write 320..340", "20 close 350..380"];
    check(&host, &calls, &[(10, "web"), (20, "db")]);
}

/// Which thread executes a program is unknown until then: with the program it gets the number of its process.
#[test]
fn who_executes_a_program_is_who_runs() {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(1).contexts(false);
    host.process(10, "web").thread(11, 10, "worker");
    host.runs(0, 11);
    host.at(100).page_alloc(0);
    host.lose(0, 200, 300, 4);
    host.at(310).enter("execve", &[]).after(10).exec("/bin/ls").after(10).exit("execve", 0);
    host.at(400).switch(10, 0);
    let calls = ["10 execve 310..330"];
    check(&host, &calls, &[(10, "ls")]);
}

/// Old tracers do not record who executes a program. Here 10 seems to, and is seen elsewhere by its name before and after.
#[test]
fn the_last_name_counts() {
    let mut host = KernelScript::new("h1", Generation::V2_1).cpus(2).contexts(false);
    host.process(10, "web").process(20, "db");
    host.at(100).switch(0, 10);
    host.at(210).switch(10, 20);
    host.at(300).cpu(1).switch(0, 10);
    host.at(320).exec("/bin/ls");
    host.at(330).cpu(1).wake(10, 1);
    host.at(500).page_alloc(0);
    host.lose_scripted(0, 200, 250);
    check(&host, &[], &[(10, "web")]);
}
