//! The binary on traces whose files are not what they should be: it never waits, says what is lost, and ends with status 1.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// Events of the host `client` of the example.
const EVENTS: usize = 70_495;

fn shop(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name).join("kernel")
}

/// A writable copy of the example's trace of `client`, index included, and the path of its stream file.
fn copy() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let from = shop("client");
    fs::create_dir(directory.path().join("index")).unwrap();
    for file in ["metadata", "ch_0", "index/ch_0.idx"] {
        fs::copy(from.join(file), directory.path().join(file)).unwrap();
    }
    let stream = directory.path().join("ch_0");
    (directory, stream)
}

fn mkfifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Changes a copy; then the number of events, the status, and what is said.
#[track_caller]
fn check(change: impl FnOnce(&Path, &Path), events: usize, status: i32, stderr: &[&str]) {
    let (directory, stream) = copy();
    change(directory.path(), &stream);
    let mut command = Command::cargo_bin("isochrone").unwrap();
    let output =
        command.arg("events").arg(directory.path()).timeout(Duration::from_secs(60)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    for text in stderr {
        assert!(said.contains(text), "`{text}` is not said but: {said}");
    }
    let lines = String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!((lines, output.status.code()), (events, Some(status)), "{said}");
}

#[test]
fn what_is_no_file_is_named_and_never_waited_for() {
    let replaced = |make: &dyn Fn(&Path), stderr: &str| {
        let change = |_: &Path, stream: &Path| {
            fs::remove_file(stream).unwrap();
            make(stream);
        };
        check(change, 0, 1, &["ch_0: cannot be read: ", stderr]);
    };
    replaced(&|path| symlink("/gone", path).unwrap(), "it is a link to a file that is not there");
    replaced(&|path| symlink("ch_0", path).unwrap(), "Too many levels of symbolic links");
    replaced(&|path| symlink("/dev/zero", path).unwrap(), "it is a device, not a file");
    replaced(&mkfifo, "it is a named pipe, not a file");
    let index = |directory: &Path, _: &Path| {
        fs::remove_file(directory.join("index/ch_0.idx")).unwrap();
        mkfifo(&directory.join("index/ch_0.idx"));
    };
    check(index, EVENTS, 0, &["ch_0.idx: index not used: cannot be read: it is a named pipe, not a file"]);
}

#[test]
fn files_of_other_traces_and_copies_are_not_merged() {
    let foreign = |directory: &Path, _: &Path| {
        fs::copy(shop("app").join("ch_0"), directory.join("ch_7")).map(drop).unwrap();
    };
    check(foreign, EVENTS, 1, &["ch_7: the file is not read: its packets are of the trace with the uuid "]);
    let twice =
        |directory: &Path, stream: &Path| fs::copy(stream, directory.join("ch_0.bak")).map(drop).unwrap();
    check(twice, EVENTS, 0, &["ch_0.bak: packet 0, byte 0: from here on, 4 packets are in ch_0 already"]);
}

#[test]
fn file_names_need_not_be_text() {
    let rename = |directory: &Path, stream: &Path| {
        fs::rename(stream, directory.join(OsStr::from_bytes(b"ch\xff_0"))).unwrap();
        fs::remove_dir_all(directory.join("index")).unwrap();
    };
    check(rename, EVENTS, 0, &[]);
}

#[test]
fn packets_that_only_the_index_has_are_losses() {
    let copied = isochrone_ctf::Trace::open(&shop("client")).unwrap();
    let packets = &copied.streams()[0].packets;
    let events = copied.events(0).within(0..2).count();
    let cut = |length: u64| {
        move |_: &Path, stream: &Path| {
            OpenOptions::new().write(true).open(stream).unwrap().set_len(length).unwrap();
        }
    };
    check(cut(packets[2].offset), events, 1, &["from here on, 2 packets that the index lists are lost"]);
    check(cut(0), 0, 1, &["ch_0, byte 0: from here on, 4 packets that the index lists are lost"]);
    let gone = |_: &Path, stream: &Path| fs::remove_file(stream).unwrap();
    check(gone, 0, 1, &["ch_0: there is no such stream file, and its index lists 4 packets"]);
}

#[test]
fn a_file_that_is_truncated_while_it_is_read_is_named() {
    let (directory, stream) = copy();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("isochrone"));
    let child = child.arg("events").arg(directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    // It has begun, and cannot end before somebody reads what it writes.
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    OpenOptions::new().write(true).open(&stream).unwrap().set_len(1).unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expect = format!("isochrone: {} became shorter while it was read\n", stream.display());
    assert_eq!((said, output.status.code()), (expect, Some(2)));
}
