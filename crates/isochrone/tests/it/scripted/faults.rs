//! `pagefaults`, and what other commands say of waits in page faults.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::run::check;

const DISK: u32 = 0x0fe0_0010;
const KERNEL: u64 = 0xffff_ffff_8100_0000;

/// Thread 10 maps `/data`, touches it, and waits for the disk; touches it again, and waits for something
/// else; then the kernel touches memory for it in a call.
fn host(untraced: &[&str]) -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).untraced(untraced);
    host.process(10, "web").process(11, "other").at(1).dump();
    let number = FieldValue::from;
    host.at(10).switch(0, 10);
    let path = [("dfd", number(-100)), ("filename", "/data".into())];
    host.at(11).enter("openat", &path).after(1).exit("openat", 3);
    let map = [("len", number(0x8000)), ("prot", number(1)), ("flags", number(1)), ("fd", number(3))];
    host.at(14).enter("mmap", &map).after(1).exit("mmap", 0x7000_0000);
    host.at(20).page_fault(0x7000_1000, 0x40_1000).after(2).block_insert(DISK, 8, 8);
    host.at(25).switch_state(10, 2, 0).after(5).block_issue(DISK, 8, 8);
    host.at(60).irq_entry(29, "disk").block_complete(DISK, 8, 8).after(1).wake(10, 0).after(1).irq_exit(29);
    host.at(70).switch(0, 10);
    host.at(80).page_fault(0x7000_2000, 0x40_1004).after(5).switch(10, 11);
    host.at(90).wake(10, 0).after(5).preempt(11, 10);
    host.at(100).enter("read", &[("fd", number(3))]).after(2).page_fault_kernel(0x7fff_0000, KERNEL);
    host.at(104).exit("read", 7);
    host.at(110).page_fault(0x7100_0000, 0x40_1008).after(10).preempt(10, 11);
    host
}

const THREADS: &str = "tid recorded user kernel minor major undetermined waited_ns";

#[test]
fn a_fault_lasts_until_its_thread_goes_on() {
    check(&host(&[]), "pagefaults", THREADS, &["10 4 3 1 3 1 0 41"]);
    check(
        &host(&[]),
        "pagefaults --table files",
        "pid memory file recorded minor major waited_ns",
        &["10 file /data 2 1 1 41", "10 ? ? 2 2 0 0"],
    );
    check(
        &host(&[]),
        "pagefaults --table instructions",
        "ip recorded major",
        &["0x401000 1 1", "0x401004 1 0", "0x401008 1 0", "0xffffffff81000000 1 0"],
    );
    check(&host(&[]), "pagefaults --begin @70 --end @99", THREADS, &["10 1 1 0 1 0 0 5"]);
}

#[test]
fn what_is_not_recorded_is_unknown() {
    // Without requests to disks no fault is known to be major, or not to be.
    check(&host(&["block_rq_insert"]), "pagefaults", THREADS, &["10 4 3 1 ? ? 4 41"]);
    // A call that is not recorded may be what waits.
    check(&host(&["syscall_entry_futex"]), "pagefaults", THREADS, &["10 4 3 1 ? ? 4 ?"]);
    check(&host(&["x86_exceptions_page_fault_user"]), "pagefaults", THREADS, &["10 1 0 1 1 0 0 0"]);
}

#[test]
fn waits_in_faults_are_named() {
    let expect = [
        "unknown 1 ? ? ?",
        "usermode 10 ? ? ?",
        "syscall 11 openat ? ?",
        "usermode 12 ? ? ?",
        "syscall 14 mmap ? ?",
        "usermode 15 ? ? ?",
        "blocked 25 page fault 0x70001000 /data",
        "wait-cpu 61 page fault 0x70001000 /data",
        "usermode 70 ? ? ?",
        "blocked 85 page fault 0x70002000 /data",
        "wait-cpu 90 page fault 0x70002000 /data",
        "usermode 95 ? ? ?",
        "syscall 100 read ? ?",
        "usermode 104 ? ? ?",
    ];
    check(&host(&[]), "states --tid 10", "state begin_ns syscall address memory", &expect);
    let expect = ["10 disk page fault 1 /data", "10 other page fault 1 /data"];
    check(&host(&[]), "blocking --table blocking --pid 10", "pid cause syscall count file", &expect);
}

/// While events are lost there may be more faults: what was counted is not all.
#[test]
fn lost_events_may_be_faults() {
    let mut host = host(&[]);
    host.lose(0, 30, 50, 3).at(50);
    host.new_packet(0);
    check(&host, "pagefaults", THREADS, &["10 4 ? ? ? ? ? ?"]);
}
