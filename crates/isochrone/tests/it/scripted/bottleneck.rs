//! `bottleneck`: what each resource did, exactly, and which one is the bottleneck.

use isochrone_testkit::{Generation, KernelScript};

use super::loopback::{Loopback, has_read};
use super::run::check;

const SDA: u32 = 8 << 20;
const COLUMNS: &str = "resource of busy_ns wait_ns waited_ns queued_ns errors unknown_ns requests_ns";

fn verdict(host: &KernelScript, arguments: &str, expect: &str) {
    check(host, &format!("bottleneck {arguments}"), "resource of because verdict", &[expect]);
}

/// From 100 to 1100. Thread 10 runs until 230 and from 1010, and waits for a request meanwhile, which is
/// queued at 210, issued at 220 and complete at 1001; it can run at 1002.
fn reads(untraced: &[&str]) -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true).untraced(untraced);
    host.process(10, "db");
    host.at(100).switch(0, 10).after(100).enter("pread64", &[("fd", 3.into())]);
    host.at(210).block_insert(SDA, 64, 8).after(10).block_issue(SDA, 64, 8).after(10).switch(10, 0);
    host.at(1000).irq_entry(27, "virtio0").after(1).block_complete(SDA, 64, 8).after(1).wake(10, 0);
    host.at(1003).irq_exit(27).after(7).switch(0, 10).after(1).exit("pread64", 8);
    host.at(1100).switch(10, 0);
    host
}

#[test]
fn a_busy_disk() {
    let host = reads(&[]);
    let rows = [
        "CPU ? 220 8 8 8 ? 0 ?",
        "disk 8:0 781 772 772 791 0 0 ?",
        "memory kswapd ? ? ? ? ? 0 ?",
        "memory page faults ? 0 0 ? ? 0 ?",
        "locks ? ? 0 0 ? ? 0 ?",
    ];
    check(&host, "bottleneck --table resources", COLUMNS, &rows);
    let sentence = "disk 8:0: 78 % busy, in 77 % of the time a thread waits for it, 0.8 on average, \
        0.8 requests at once on average";
    verdict(&host, "--table verdicts", &format!("disk 8:0 saturated {sentence}"));
    // In steps, which start at whole multiples; the first and the last are cut.
    let columns = "begin_ns end_ns busy_ns wait_ns waited_ns queued_ns unknown_ns";
    let steps = super::run::analyze(&[&host], "bottleneck --table steps --every 1us --format json");
    assert_eq!(steps.status, Some(0), "{}", steps.stderr);
    let found = super::run::rows(&steps.stdout, &format!("resource {columns}"));
    let disk: Vec<&str> = found.iter().filter_map(|row| row.strip_prefix("disk ")).collect();
    assert_eq!(disk, ["0 1000 780 770 770 790 0", "1000 2000 1 2 2 1 0"]);
    // A part of it is that part: the wait goes on after its end.
    let rows = ["CPU ? 30 0 0 0 ? 0 ?", "disk 8:0 280 270 270 290 0 0 ?"];
    let said =
        super::run::analyze(&[&host], "bottleneck --table resources --begin @200 --end @500 --format json");
    assert_eq!(super::run::rows(&said.stdout, COLUMNS)[..2], rows);
}

/// From 100 to 1100, all on one CPU: 10 runs, 20 can run from 150 on, 30 from 200 on, and 10 again from 500.
#[test]
fn a_queue_for_the_cpu() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "a").process(20, "b").process(30, "c");
    host.at(100).switch(0, 10).after(50).wake(20, 0).after(50).wake(30, 0);
    host.at(500).preempt(10, 20).after(400).switch(20, 30).after(100).switch(30, 10).after(100).switch(10, 0);
    let rows = [
        "CPU ? 1000 1550 850 1550 ? 0 ?",
        "memory kswapd ? ? ? ? ? 0 ?",
        "memory page faults ? 0 0 ? ? 0 ?",
        "locks ? ? 0 0 ? ? 0 ?",
    ];
    check(&host, "bottleneck --table resources", COLUMNS, &rows);
    let sentence = "CPU: 100 % busy, in 85 % of the time a thread waits for it, 1.6 on average";
    verdict(&host, "--table verdicts", &format!("CPU ? saturated {sentence}"));
}

/// Threads that have nothing to do wait for locks, too: by itself that is no bottleneck.
#[test]
fn a_lock_that_no_request_waits_for() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "a").process(20, "b");
    host.at(100).switch(0, 10).after(100).enter("futex", &[]).after(1).switch(10, 0);
    host.at(699).switch(0, 20).after(1).wake(10, 0).after(1).switch(20, 10).after(1).exit("futex", 0);
    host.at(800).switch(10, 0);
    let rows = [
        "CPU ? 202 1 1 1 ? 0 ?",
        "memory kswapd ? ? ? ? ? 0 ?",
        "memory page faults ? 0 0 ? ? 0 ?",
        "locks ? ? 499 499 ? ? 0 ?",
    ];
    check(&host, "bottleneck --table resources", COLUMNS, &rows);
    let sentence = "nothing is saturated; the busiest is CPU: 29 % busy, in 0.1 % of the time a thread \
        waits for it, 0.0 on average";
    verdict(&host, "--table verdicts", &format!("? ? nothing {sentence}"));
}

/// A request from 100 to 421, whose server waits for a lock from 121 to 400.
#[test]
fn a_lock_that_a_request_waits_for() {
    let (mut host, mut connection) = Loopback::asked();
    host.process(30, "holder");
    connection.waits(&mut host, 110, (10, 20));
    has_read(&mut host, 112);
    host.at(120).enter("futex", &[]).after(1).switch(20, 0);
    host.at(390).switch(0, 30).after(10).wake(20, 0).after(1).switch(30, 20).after(1).exit("futex", 0);
    connection.answers(&mut host, 410, Some(10));
    host.at(420).switch(20, 10);
    has_read(&mut host, 421);
    host.at(430).switch(10, 0);
    let sentence = "locks: 87 % of the time of requests, work or wait (1 requests, 0.00 s in all)";
    verdict(&host, "--table verdicts", &format!("locks ? requests {sentence}"));
}

/// What is missing is unknown, and says that there may be a bottleneck.
#[test]
fn what_is_lost_is_unknown() {
    let mut host = reads(&[]);
    host.lose(0, 300, 900, 5);
    let rows = ["CPU ? 130 8 8 8 ? 90 ?"];
    let said = super::run::analyze(&[&host], "bottleneck --table resources --format json");
    assert_eq!(super::run::rows(&said.stdout, COLUMNS)[..1], rows);
}

/// Without the events of a resource there is no verdict of it, and it says what is missing.
#[test]
fn what_was_not_recorded_is_named() {
    let host = reads(&["block_rq_insert", "block_rq_issue", "block_rq_complete"]);
    let sentence = "nothing that was recorded is saturated; the busiest is CPU: 22 % busy, in 0.8 % of the \
        time a thread waits for it, 0.0 on average; not recorded: requests to disks";
    verdict(&host, "--table verdicts", &format!("? ? unknown {sentence}"));
    let said = super::run::analyze(&[&host], "bottleneck --table resources --format json");
    assert_eq!(super::run::rows(&said.stdout, COLUMNS)[1], "disk ? ? ? ? ? ? 0 ?");
}
