//! `events --follow`: the events of some threads and of all that they make.

use std::process::Command;

use isochrone_testkit::{Generation, KernelScript};

/// The names of the events that are shown, each with its time.
fn events(host: &KernelScript, arguments: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    host.write(directory.path()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    let output = command.args(["events", "-q"]).args(arguments).arg(directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = |line: &str| {
        let time = &line[16..19];
        format!("{time} {}", line.split(" h1 ").nth(1).unwrap().split(':').next().unwrap())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(shown).collect()
}

/// Thread 10 forks 20, which writes after that and ends; 30 is another program, which wakes 20. A later 20 is nobody's child.
fn host(contexts: bool) -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(contexts);
    host.process(10, "sh").process(30, "db").at(100).switch(0, 10);
    host.at(110).enter("clone", &[]).fork(10, 20, 20).after(1).exit("clone", 20);
    host.at(120).switch(10, 30);
    host.at(130).enter("getpid", &[]).after(1).exit("getpid", 30).after(1).wake(20, 0);
    host.at(140).switch(30, 20);
    host.at(150).enter("write", &[("fd", 1.into())]).after(1).exit("write", 1);
    host.at(160).process_exit().switch_dead(20, 30).process_free(20);
    host.at(170).fork(30, 20, 20).switch(30, 20);
    host.at(180).enter("close", &[("fd", 1.into())]).after(1).exit("close", 0);
    host
}

#[test]
fn threads_and_what_they_make() {
    for contexts in [true, false] {
        let all = events(&host(contexts), &["--follow", "10"]);
        let calls: Vec<&str> =
            all.iter().map(String::as_str).filter(|name| name.contains("syscall")).collect();
        let expect = [
            "110 syscall_entry_clone",
            "111 syscall_exit_clone",
            "150 syscall_entry_write",
            "151 syscall_exit_write",
        ];
        assert_eq!(calls, expect, "{contexts}: {all:?}");
        for name in [
            "110 sched_process_fork",
            "120 sched_switch",
            "132 sched_waking",
            "140 sched_switch",
            "160 sched_process_exit",
        ] {
            assert!(all.iter().any(|event| event == name), "{contexts}: {name} of {all:?}");
        }
        // Whom it follows it knows from before the window.
        let window =
            events(&host(contexts), &["--follow", "10", "--begin", "0.000000145", "--event", "syscall*"]);
        assert_eq!(window, expect[2..], "{contexts}");
        let other = events(&host(contexts), &["--follow", "30", "--event", "syscall*"]);
        let expect = [
            "130 syscall_entry_getpid",
            "131 syscall_exit_getpid",
            "180 syscall_entry_close",
            "181 syscall_exit_close",
        ];
        assert_eq!(other, expect, "{contexts}");
    }
}
