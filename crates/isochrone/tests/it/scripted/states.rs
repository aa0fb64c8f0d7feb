//! `states`: what a thread did, from its begin to its end, on a host small enough to check by eye.

use isochrone_testkit::{Generation, KernelScript};

use super::run::check;

const ROWS: &str = "tid state begin_ns end_ns cpu syscall fd waker_tid";

/// Thread 10 of a host with one CPU, by time:
///
/// * until 100 nobody knows; then it runs;
/// * 110–142 in `read` of descriptor 3: until 115 on the CPU, until 130 it waits, until 140 for the CPU, because 20 has woken it;
/// * 150–156 an interrupt;
/// * 170–180 it has to leave the CPU to 20;
/// * 190 it makes 40, which is woken at 195, runs from 200 to 210 and ends;
/// * 230–250 events are lost; from 260 on it runs again, until 300.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web");
    host.at(50).irq_entry(1, "keyboard").after(5).irq_exit(1);
    host.at(100).switch(0, 10);
    host.at(110).enter("read", &[("fd", 3.into())]).after(5).switch(10, 20);
    host.at(130).wake(10, 0).after(10).preempt(20, 10).after(2).exit("read", 8);
    host.at(150).irq_entry(1, "keyboard").after(6).irq_exit(1);
    host.at(170).preempt(10, 20).after(10).preempt(20, 10);
    host.at(190).fork(10, 40, 40).after(5).wakeup_new(40, 0).after(5).preempt(10, 40);
    host.at(208).process_exit().after(2).switch_dead(40, 10);
    host.at(240).enter("getpid", &[]);
    host.at(260).preempt(20, 10);
    host.at(300).switch(10, 0);
    host.lose(0, 230, 250, 3).at(250);
    // The tracer counts them at the end of the packet.
    host.new_packet(0);
    host
}

#[test]
fn by_thread() {
    let expect = [
        "10 unknown 50 100 ? ? ? ?",
        "10 usermode 100 110 0 ? ? ?",
        "10 syscall 110 115 0 read 3 ?",
        "10 blocked 115 130 ? read 3 ?",
        "10 wait-cpu 130 140 ? read 3 20",
        "10 syscall 140 142 0 read 3 ?",
        "10 usermode 142 150 0 ? ? ?",
        "10 interrupted 150 156 0 ? ? ?",
        "10 usermode 156 170 0 ? ? ?",
        "10 wait-cpu 170 180 ? ? ? ?",
        "10 usermode 180 200 0 ? ? ?",
        "10 wait-cpu 200 210 ? ? ? ?",
        "10 usermode 210 230 0 ? ? ?",
        "10 unknown 230 260 ? ? ? ?",
        "10 usermode 260 300 0 ? ? ?",
    ];
    check(&host(), "states --tid 10", ROWS, &expect);
    let expect = [
        "40 wait-fork 190 195 ? ? ? ?",
        "40 wait-cpu 195 200 ? ? ? 10",
        "40 running 200 210 0 ? ? ?",
        "40 dead 210 300 ? ? ? ?",
    ];
    check(&host(), "states --tid 40", ROWS, &expect);
}

#[test]
fn in_a_window() {
    let columns = "state begin_ns end_ns";
    let expect = ["blocked 120 130", "wait-cpu 130 140", "syscall 140 141"];
    check(&host(), "states --tid 10 --begin @120 --end @141", columns, &expect);
}

/// States that are as long as a pixel stay as they are; of shorter ones that follow each other in a pixel, the one that fills most of it remains.
#[test]
fn as_many_as_a_picture_shows() {
    let check = |pixels: u32, expect: &[&str]| {
        let arguments = format!("states --tid 10 --begin @100 --end @200 --pixels {pixels}");
        check(&host(), &arguments, "state begin_ns end_ns", expect);
    };
    let ends = ["wait-cpu 170 180", "usermode 180 200"];
    // Pixels of 10 ns: 8 ns in user mode are more than the 2 of the call before.
    let expect = [
        "usermode 100 110",
        "syscall 110 115",
        "blocked 115 130",
        "wait-cpu 130 140",
        "usermode 140 150",
        "interrupted 150 156",
        "usermode 156 170",
    ];
    check(10, &[&expect[..], &ends].concat());
    // Of 20 ns: the 15 of the wait that begins there, and 8 and 14 in user mode around an interrupt of 6.
    let expect = ["blocked 100 130", "wait-cpu 130 140", "usermode 140 170"];
    check(5, &[&expect[..], &ends].concat());
}

/// What is not traced is a part of what surrounds it; without all calls it is unknown whether a thread is in one.
#[test]
fn what_is_not_traced() {
    let host = |untraced: &[&str]| host().untraced(untraced);
    let check = |untraced: &[&str], expect: &[&str]| {
        let columns = "state begin_ns end_ns waker_tid";
        check(&host(untraced), "states --tid 10 --begin @100 --end @170", columns, expect);
    };
    check(
        &["syscall_entry_read", "syscall_exit_read"],
        &[
            "running 100 115 ?",
            "blocked 115 130 ?",
            "wait-cpu 130 140 20",
            "running 140 150 ?",
            "interrupted 150 156 ?",
            "running 156 170 ?",
        ],
    );
    check(
        &["sched_waking", "irq_handler_entry", "irq_handler_exit"],
        &[
            "usermode 100 110 ?",
            "syscall 110 115 ?",
            "blocked 115 140 ?",
            "syscall 140 142 ?",
            "usermode 142 170 ?",
        ],
    );
}
