//! `schedlog`, `schedtop`, `schedstats` and `schedfreq`: threads that wait for a CPU.

use isochrone_testkit::{Generation, KernelScript};

use super::run::check;

const LOG: &str = "wakeup_ns switch_ns latency_ns priority cpu tid comm waker_tid waker_comm";

/// Thread 10 wakes 20 at 110, which gets the CPU at 130; 20 wakes 10 at 140 and 150, which runs at 200. Thread 30 is
/// made at 160 and runs on CPU 1 at 165.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).cpus(2);
    host.process(10, "web").process(20, "db").priority(20, 39);
    host.at(100).cpu(0).switch(0, 10);
    host.at(110).wake(20, 0).after(20).switch(10, 20);
    host.at(140).wake(10, 0).after(10).wake(10, 0);
    host.at(160).fork(20, 30, 30).wakeup_new(30, 1).after(5).cpu(1).switch(0, 30);
    host.at(200).cpu(0).preempt(20, 10);
    host
}

const DB: &str = "110 130 20 39 0 20 db 10 web";
const WEB: &str = "140 200 60 20 0 10 web 20 db";
const NEW: &str = "160 165 5 39 1 30 db 20 db";

#[test]
fn one_by_one() {
    for generation in Generation::ALL {
        check(&host(generation), "schedlog", LOG, &[DB, WEB, NEW]);
    }
    let host = host(Generation::V2_13);
    let check = |arguments: &str, expect: &[&str]| check(&host, arguments, LOG, expect);
    check("schedlog --min 20", &[DB, WEB]);
    check("schedlog --max 20", &[DB, NEW]);
    check("schedlog --tid 20", &[DB]);
    check("schedlog --procname d*", &[DB, NEW]);
    check("schedlog --cpu 1", &[NEW]);
    check("schedlog --begin @131 --end @200", &[NEW]);
    check("schedtop", &[WEB, DB, NEW]);
    check("schedtop --limit 2", &[WEB, DB]);
    check("schedtop --limit 1 --tid 30,20", &[DB]);
}

#[test]
fn counted() {
    let host = host(Generation::V2_13);
    let stats = "count min_ns avg_ns max_ns total_ns";
    check(&host, "schedstats --table total", stats, &["3 5 28.333333333333332 60 85"]);
    let rows = ["10 web 1 60 60 20", "20 db 1 20 20 39", "30 db 1 5 5 39"];
    check(&host, "schedstats --table threads", "tid comm count min_ns max_ns priorities", &rows);
    let rows = ["20 1 60", "39 2 25"];
    check(&host, "schedstats --table priorities", "priority count total_ns", &rows);
}

#[test]
fn distributed() {
    let host = host(Generation::V2_13);
    let rows = ["3 20 60"];
    check(&host, "schedfreq --table quantiles", "count p50_ns max_ns", &rows);
    let rows = ["20 1 60", "39 2 20"];
    check(&host, "schedfreq --table priority_quantiles", "priority count max_ns", &rows);
    let rows = ["10 60 60 1", "20 20 20 1", "30 5 5 1"];
    check(&host, "schedfreq --table thread_freq", "tid lo_ns hi_ns count", &rows);
    let rows = ["5 32 2", "33 60 1"];
    check(&host, "schedfreq --table freq --linear --bars 2", "lo_ns hi_ns count", &rows);
}

/// A thread that had to leave its CPU waits for it without a wake-up: that is no row here. Nor is a wait in which events were lost.
#[test]
fn waits_without_a_row() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "web").process(20, "db");
    host.at(100).switch(0, 10).after(10).preempt(10, 20).after(20).preempt(20, 10);
    host.at(140).wake(20, 0).after(5).switch(10, 20);
    host.at(160).wake(10, 0);
    host.at(220).switch(20, 10);
    host.lose(0, 170, 200, 2).at(200);
    host.new_packet(0);
    check(&host, "schedlog", "tid wakeup_ns switch_ns latency_ns", &["20 140 145 5"]);
    check(&host, "schedstats --table total", "count total_ns", &["1 5"]);
}
