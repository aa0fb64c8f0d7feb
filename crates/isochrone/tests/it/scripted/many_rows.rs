//! Logs of more rows than memory keeps: the same with and without a temporary file, and whatever the trace is cut into.

use std::path::Path;
use std::process::{Command, Output};

use isochrone_testkit::{Generation, KernelScript};

/// So many files are opened, read twice and closed: four calls each.
const FILES: u64 = 12_000;

/// A process that opens `/data/0`, `/data/1`, …, each as descriptor 3.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "reader");
    host.at(100).switch(0, 10);
    for file in 0..FILES {
        let path = format!("/data/{file}");
        let path = [("dfd", (-100).into()), ("filename", path.as_str().into())];
        let read = |count: u32| [("fd", 3.into()), ("count", count.into())];
        let at = 1_000 + file * 100;
        host.at(at).enter("openat", &path).after(5).exit("openat", 3);
        for (after, ret) in [(10, 4_096), (20, 0)] {
            host.at(at + after).enter("read", &read(4_096)).after(5).exit("read", ret);
        }
        host.at(at + 30).enter("close", &[("fd", 3.into())]).after(5).exit("close", 0);
    }
    host
}

/// Asks for four logs in one pass; temporary files are in a directory.
fn logs(trace: &Path, temporary: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("TMPDIR", temporary).args(["analyze", "syscalls,iolog,fds,iousagetop"]);
    command.args(arguments).arg(trace).output().unwrap()
}

#[test]
fn rows_that_are_too_many_for_memory() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, temporary) = (directory.path().join("trace"), directory.path().join("tmp"));
    std::fs::create_dir(&trace).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    host().write(&trace).unwrap();
    let one_piece = ["--threads", "1", "--format"];
    for format in ["csv", "json", "text"] {
        let put_aside = logs(&trace, &temporary, &[&one_piece[..], &[format]].concat());
        assert!(put_aside.status.success() && put_aside.stderr.is_empty(), "{put_aside:?}");
        if format == "csv" {
            let text = String::from_utf8_lossy(&put_aside.stdout);
            let with = |what: &str| text.lines().filter(|line| line.contains(what)).count() as u64;
            assert_eq!(with("\"openat(AT_FDCWD, \"\"/data/"), FILES);
            assert_eq!(with("\"read(3</data/"), 2 * FILES);
            // In the log of I/O calls three times by descriptor and once as what was opened; among the descriptors; among the files.
            assert_eq!(with(",/data/"), (4 + 1 + 1) * FILES);
            assert!(text.contains("\"read(3</data/11999>, 4096) = 4096\""));
        }
        let cut = logs(&trace, &temporary, &["--threads", "2", "--chunks", "5", "--format", format]);
        assert!(cut.stdout == put_aside.stdout, "{format}: in pieces");
        // Where no file can be made, the rows stay in memory, and it is said.
        let nowhere = logs(&trace, &directory.path().join("nowhere"), &[&one_piece[..], &[format]].concat());
        assert!(nowhere.status.success() && nowhere.stdout == put_aside.stdout, "{format}: {nowhere:?}");
        let said = String::from_utf8_lossy(&nowhere.stderr);
        assert!(
            said.starts_with("note: rows are kept in memory, because they cannot be written to"),
            "{said}"
        );
    }
    // Nothing of it has a name, and nothing stays.
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}
