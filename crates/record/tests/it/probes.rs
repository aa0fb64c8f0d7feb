//! Packets between hosts: whichever program a host has, another one understands it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How a program is run, what answers packets with it, and what sends them.
const PROGRAMS: [(&str, &str, &str, &str); 2] = [
    ("python3", "-c", include_str!("../../src/respond.py"), include_str!("../../src/probe.py")),
    ("perl", "-e", include_str!("../../src/respond.pl"), include_str!("../../src/probe.pl")),
];

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The port that a program has written to a file.
fn port(file: &Path) -> String {
    for _ in 0..500 {
        if let Ok(port) = std::fs::read_to_string(file) {
            return port.trim_end().to_owned();
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("no port");
}

#[test]
#[cfg_attr(not(python3), ignore = "needs python3 and perl")]
fn round_trips_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    for (program, option, respond, _) in PROGRAMS {
        let file = directory.path().join(program);
        let command = Command::new(program).args([option, respond]).arg(&file).stdin(Stdio::null()).spawn();
        let _running = Running(command.unwrap());
        let here = format!("127.0.0.1/{}", port(&file));
        for (other, option, _, probe) in PROGRAMS {
            let sent =
                Command::new(other).args([option, probe, "20", &here, "127.0.0.1/1"]).output().unwrap();
            let said = String::from_utf8_lossy(&sent.stdout).into_owned();
            let trips: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("trips=")).collect();
            let [answered, silent] = trips[..] else { panic!("{program}, {other}: {said}") };
            assert!(answered.starts_with(&format!("{here} 20 ")), "{program}, {other}: {said}");
            assert_eq!(silent, "127.0.0.1/1 0 0", "{program}, {other}");
        }
    }
}

/// A program that answers ends with the script that started it.
#[test]
#[cfg_attr(not(python3), ignore = "needs python3 and perl")]
fn who_answers_ends_with_the_script() {
    let directory = tempfile::tempdir().unwrap();
    for (program, option, respond, _) in PROGRAMS {
        let file = directory.path().join(program);
        let script = "\"$@\" </dev/null >/dev/null 2>&1 & echo $!; sleep 2";
        let mut parent = Command::new("sh");
        parent.args(["-c", script, "sh", program, option, respond]).arg(&file);
        let child = parent.output().unwrap().stdout;
        let child = String::from_utf8(child).unwrap();
        assert!(file.exists(), "{program} had no time to start");
        let process = Path::new("/proc").join(child.trim_end());
        let is_over = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(50));
            !process.exists()
        });
        assert!(is_over, "{program} goes on");
    }
}
