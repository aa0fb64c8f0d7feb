//! `processes`: who was there; and what each thread did at an instant.

use isochrone_testkit::{Generation, KernelScript};

use super::run::check;

const STATES: &str = "tid comm state since_ns cpu mode syscall syscall_since_ns interrupt waker_tid";

/// Two CPUs. Thread 10 runs from 100 on, is interrupted from 110 to 115, reads from 120 on, and waits for the disk
/// until 150, when an interrupt of CPU 1 wakes it, which thread 20 ran; it runs at 160. Thread 20 runs on CPU 1 from
/// 105 to 155, then waits for nothing.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).cpus(2);
    host.process(10, "web").process(20, "db").kernel_thread(3, "ksoftirqd/0").parent(20, 10);
    host.at(90).dump();
    host.at(100).switch(0, 10);
    host.at(105).cpu(1).switch(0, 20);
    host.at(110).irq_entry(27, "virtio").after(5).irq_exit(27);
    host.at(120).enter("read", &[("fd", 3.into())]).after(10).switch_state(10, 2, 0);
    host.at(150).cpu(1).irq_entry(5, "disk").wake(10, 0).after(2).irq_exit(5);
    host.at(155).cpu(1).switch(20, 0);
    host.at(160).switch(0, 10).after(5).exit("read", 7);
    host.at(170).fork(10, 30, 30).wakeup_new(30, 0);
    host.at(180).preempt(10, 30);
    host.at(190).exec("/bin/ls").after(5).process_exit().switch_dead(30, 10);
    host.at(200).page_alloc(0);
    host
}

#[test]
fn who_was_there() {
    for generation in Generation::ALL {
        let rows = [
            "3 3 ksoftirqd/0 2 yes ? ? 0 0",
            "10 10 web 1 no ? ? 55 1",
            "20 20 db 10 no ? ? 50 0",
            "30 30 ls 10 no 170 195 15 0",
        ];
        let columns = "pid tid comm ppid kernel begin_ns end_ns cpu_ns syscalls";
        check(&host(generation), "processes", columns, &rows);
    }
    let host = host(Generation::V2_13);
    let rows = ["10 100 200", "30 180 195"];
    check(&host, "processes --tid 10,30", "tid first_seen_ns last_seen_ns", &rows);
    check(&host, "processes --procname l*", "tid", &["30"]);
    check(&host, "processes --end @169", "tid", &["3", "10", "20"]);
}

#[test]
fn what_each_thread_did() {
    for generation in Generation::ALL {
        let host = host(generation);
        let at = |at: u64, tid: i32, expect: &str| {
            check(&host, &format!("processes --at @{at} --tid {tid}"), STATES, &[expect]);
        };
        at(105, 10, "10 web running 100 0 user ? ? ? ?");
        at(112, 10, "10 web interrupted 100 0 user ? ? IRQ 27 virtio ?");
        at(125, 10, "10 web running 100 0 syscall read 120 ? ?");
        at(140, 10, "10 web uninterruptible 130 ? syscall read 120 ? ?");
        at(155, 10, "10 web woken 150 ? syscall read 120 ? 20");
        at(160, 10, "10 web running 160 0 syscall read 120 ? ?");
        at(165, 10, "10 web running 160 0 user ? ? ? ?");
        at(151, 20, "20 db interrupted 105 1 user ? ? IRQ 5 disk ?");
        at(160, 20, "20 db blocked 155 ? ? ? ? ? ?");
        at(175, 30, "30 web woken 170 ? ? ? ? ? 10");
    }
    for generation in Generation::ALL {
        let preempted = "10 web preempted 180 ? ? ? ? ? ?";
        check(&host(generation), "processes --at @185 --tid 10", STATES, &[preempted]);
    }
}

/// What a thread is that left its CPU at 150, by what the kernel says of it.
#[test]
fn off_the_cpu() {
    for (state, expect) in
        [(1, "blocked"), (2, "uninterruptible"), (4, "stopped"), (8, "stopped"), (256, "preempted")]
    {
        let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
        host.process(10, "web").at(100).switch(0, 10).after(50).switch_state(10, state, 0);
        host.at(200).softirq_entry(1).after(1).softirq_exit(1);
        check(&host, "processes --at @170 --tid 10", "state since_ns", &[&format!("{expect} 150")]);
    }
}

/// After a loss, what a thread did is unknown until its next event.
#[test]
fn after_lost_events() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").process(20, "db");
    host.at(100).switch(0, 10);
    host.at(150).enter("getpid", &[]).after(1).switch(10, 20);
    host.at(220).preempt(20, 10);
    host.at(300).switch(10, 0);
    host.lose(0, 140, 200, 2).at(200);
    host.new_packet(0);
    for (at, expect) in [(130, "running 100"), (170, "unknown ?"), (210, "unknown ?"), (230, "running 220")] {
        check(&host, &format!("processes --at @{at} --tid 10"), "state since_ns", &[expect]);
    }
}

#[test]
fn what_each_cpu_ran() {
    let host = host(Generation::V2_13);
    let running = |at: u64, expect: &[&str]| {
        let columns = "cpu tid comm since_ns mode syscall interrupt interrupt_since_ns";
        check(&host, &format!("processes --at @{at} --table running"), columns, expect);
    };
    running(95, &["0 ? ? 90 unknown ? ? ?", "1 ? ? 90 unknown ? ? ?"]);
    running(125, &["0 10 web 100 syscall read ? ?", "1 20 db 105 user ? ? ?"]);
    running(151, &["0 0 swapper/0 130 idle ? ? ?", "1 20 db 105 user ? IRQ 5 disk 150"]);
    // Not yet made, or no more.
    check(&host, "processes --at @150", "tid", &["3", "10", "20"]);
    check(&host, "processes --at @198", "tid", &["3", "10", "20"]);
    check(&host, "processes --at @150 --cpu 1", "tid state", &["20 interrupted"]);
}
