//! `cputop`: who used the CPUs, and what nobody knows.

use isochrone_testkit::{Generation, KernelScript};

use super::run::{analyze, check};

const PROCESSES: &str = "pid tid comm cpu_ns unknown_ns migrations percent priorities";
const CPUS: &str = "cpu busy_ns idle_ns unknown_ns percent";

/// 100 ns, from 100 to 200. CPU 0: unknown until 120, though it was idle in the end, thread 11 until 150, thread 20
/// until the end. CPU 1: unknown until 140, when thread 20 leaves it, then idle until 190, then thread 10.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).cpus(2);
    host.process(10, "web").thread(11, 10, "pool").process(20, "db").priority(20, 39);
    host.at(100).cpu(0).dump();
    host.at(120).cpu(0).switch(0, 11);
    host.at(140).cpu(1).switch(20, 0);
    host.at(145).cpu(0).wake(20, 0).migrate(20, 0);
    host.at(150).cpu(0).preempt(11, 20);
    host.at(190).cpu(1).switch(0, 10);
    host.at(200).cpu(0).page_alloc(0);
    host
}

#[test]
fn by_thread() {
    for generation in Generation::ALL {
        let rows = ["20 20 db 50 40 1 50 39", "10 11 pool 30 0 0 30 20", "10 10 web 10 0 0 10 20"];
        check(&host(generation), "cputop", PROCESSES, &rows);
    }
}

#[test]
fn by_process() {
    let rows = ["20 20 db 50 40 1 50 39", "10 10 web 40 0 0 40 20"];
    check(&host(Generation::V2_13), "cputop --by-process", PROCESSES, &rows);
}

#[test]
fn by_cpu_and_of_the_host() {
    let host = host(Generation::V2_13);
    check(&host, "cputop --table cpus", CPUS, &["0 80 0 20 80", "1 10 50 40 10"]);
    check(&host, "cputop --table total", "cpus busy_ns idle_ns unknown_ns percent", &["2 90 50 60 45"]);
    check(&host, "cputop --table cpus --cpu 1", CPUS, &["1 10 50 40 10"]);
    check(&host, "cputop --cpu 1", "tid cpu_ns unknown_ns", &["10 10 0", "20 0 40"]);
    let said = analyze(&[&host], "cputop");
    assert!(said.stderr.contains("what CPUs did is not known for 60 ns on h1"), "{}", said.stderr);
}

#[test]
fn notes_show_durations_as_tables_do() {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2);
    host.process(10, "web").at(1_000_000).switch(0, 10);
    host.at(3_500_000).cpu(1).switch(0, 0);
    let said = analyze(&[&host], "cputop");
    assert!(said.stderr.contains("note: what CPUs did is not known for 2.500 ms on h1"), "{}", said.stderr);
    let said = analyze(&[&host], "cputop --format json");
    assert!(
        said.stdout.contains("\"notes\":[\"what CPUs did is not known for 2500000 ns on h1"),
        "{}",
        said.stdout
    );
    assert_eq!(said.stderr, "");
}

#[test]
fn in_a_window() {
    let host = host(Generation::V2_13);
    let window = "--begin @130 --end @160";
    let rows = ["11 20 0 66.66666666666667", "20 10 10 33.333333333333336"];
    check(&host, &format!("cputop {window}"), "tid cpu_ns unknown_ns percent", &rows);
    let rows = ["0 30 0 0 100", "1 0 20 10 0"];
    check(&host, &format!("cputop --table cpus {window}"), CPUS, &rows);
}

#[test]
fn some_threads() {
    let host = host(Generation::V2_13);
    let check = |arguments: &str, tids: &[&str]| check(&host, &format!("cputop {arguments}"), "tid", tids);
    check("--tid 11", &["11"]);
    check("--tid 11,20", &["20", "11"]);
    check("--procname db,w*", &["20", "10"]);
    check("--procname po?l", &["11"]);
    check("--procname nobody", &[]);
    check("--limit 1", &["20"]);
    check("--limit 0", &["20", "11", "10"]);
}

#[test]
fn what_happens_in_a_loss_is_unknown() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "a").process(20, "b");
    host.at(100).switch(0, 10);
    host.at(150).page_alloc(0);
    host.at(170).switch(10, 20);
    host.at(180).switch(20, 0);
    host.at(200).page_free(0);
    host.lose(0, 160, 190, 7);
    // From 160 to the event behind the loss nothing is known, and neither who runs from there on.
    check(&host, "cputop", "tid cpu_ns", &["10 60"]);
    let said = analyze(&[&host], "cputop --table cpus --format csv");
    assert_eq!(said.stdout, "host,cpu,busy_ns,idle_ns,unknown_ns,percent\nh1,0,60,0,40,60\n");
    assert_eq!(said.status, Some(0));
    for text in
        ["note: h1: 7 events were lost: what happened meanwhile is unknown", "not known for 40 ns on h1"]
    {
        assert!(said.stderr.contains(text), "{}", said.stderr);
    }
}

#[test]
fn a_thread_that_ends_and_its_number_are_two() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "sh").at(100).switch(0, 10);
    host.at(110).fork(10, 12, 12).switch(10, 12);
    host.at(120).exec("/bin/cut").after(10).process_exit().switch_dead(12, 10).process_free(12);
    host.at(140).fork(10, 12, 12).switch(10, 12);
    host.at(145).exec("/bin/sort").after(5).process_exit().switch_dead(12, 0);
    let rows = ["10 10 sh 20", "12 12 cut 20", "12 12 sort 10"];
    check(&host, "cputop", "pid tid comm cpu_ns", &rows);
}
