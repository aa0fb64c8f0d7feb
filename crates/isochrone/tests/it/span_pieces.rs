//! Pieces with spans, mapped by processes of their own and merged in any order: the store of them is that of the traces, whatever reads it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::shared;

/// A place for pieces, stores and caches.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs a command with a cache of its own.
    fn run(&self, cache: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(arguments).env("XDG_CACHE_HOME", self.file(cache)).output().unwrap()
    }

    /// What a command that succeeds prints.
    fn ok(&self, cache: &str, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(cache, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn refused(&self, arguments: &[&str], expect: &[&str]) {
        let output = self.run("refused", arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        for text in expect {
            assert!(said.contains(text), "`{text}` is not in: {said}");
        }
    }

    /// Maps the spans of traces in so many pieces.
    fn map(&self, traces: &[&str], pieces: usize) -> Vec<String> {
        let map = |number: usize| {
            let (piece, file) = (format!("{number}/{pieces}"), self.file(&format!("{number}.piece")));
            let arguments = ["map", "-q", "spans", "--piece", &piece, "-o", &file];
            self.ok("none", &[&arguments[..], traces].concat());
            file
        };
        (1..=pieces).map(map).collect()
    }
}

fn words(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

/// All that is read from a store, of traces and of their pieces.
fn check(traces: &[PathBuf], pieces: usize) {
    let place = Place::new();
    let traces: Vec<String> = traces.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    let traces = words(&traces);
    let mut files = place.map(&traces, pieces);
    assert!(!Path::new(&place.file("none")).exists(), "`map` makes no store");
    // Some of them are merged, and not in their order.
    files.rotate_left(pieces / 2);
    if pieces > 2 {
        let both = place.file("both.piece");
        let (first, last) = (files.remove(0), files.pop().unwrap());
        place.ok("none", &["merge", "-q", &last, &first, "-o", &both]);
        files.push(both);
    }
    let files = words(&files);
    let commands: [&[&str]; 6] = [
        &["analyze", "-q", "states", "--format", "csv"],
        &["analyze", "-q", "phases", "--format", "json"],
        &["analyze", "-q", "processes", "--at", "06:10:25", "--format", "json"],
        &["analyze", "-q", "cputop", "--format", "json"],
        &["messages", "-q", "--format", "json"],
        &["export", "-q", "--format", "perfetto"],
    ];
    for command in commands {
        // Not every trace has that instant, or phases: what is refused is refused of both.
        let (of_traces, of_pieces) = (
            place.run("of-traces", &[command, &traces].concat()),
            place.run("of-pieces", &[command, &files].concat()),
        );
        let said = String::from_utf8_lossy(&of_pieces.stderr).into_owned();
        assert_eq!(of_pieces.status.code(), of_traces.status.code(), "{command:?}: {said}");
        assert!(of_pieces.stdout == of_traces.stdout, "{command:?} of {traces:?} in {pieces} pieces");
    }
}

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

fn corpus(part: &str) -> PathBuf {
    shared().join("data").join(part)
}

#[test]
fn of_the_example() {
    check(&[shop()], 1);
    check(&[shop()], 5);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_three_machines() {
    check(&[corpus("vm/chain3")], 3);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_rotated_sessions_with_phases() {
    check(&[corpus("vm/rot2/h1"), corpus("vm/rot2/h2")], 4);
    check(&[corpus("vm/phases3")], 2);
}

/// Copies a directory tree.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// What is in the pieces is not read again: events that are changed after they were mapped do not matter.
#[test]
fn the_traces_are_not_read_again() {
    let place = Place::new();
    let host = place.directory.path().join("app");
    copy(&shop().join("app"), &host);
    let trace = host.to_str().unwrap();
    let states = ["analyze", "-q", "states", "--format", "csv"];
    let expect = place.ok("before", &[&states[..], &[trace]].concat());
    let files = place.map(&[trace], 3);
    let channel = host.join("kernel/ch_0");
    let mut bytes = fs::read(&channel).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 2000].fill(0xff);
    fs::write(&channel, bytes).unwrap();
    let damaged = place.run("of-traces", &[&states[..], &[trace]].concat());
    assert!(damaged.stdout != expect, "the change is one that matters");
    assert!(place.ok("of-pieces", &[&states[..], &words(&files)].concat()) == expect);
}

#[test]
fn a_store_is_made_of_pieces_by_hand() {
    let place = Place::new();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    let files = place.map(&[shop], 2);
    let store = place.file("store");
    let said = place.ok("none", &[&["index", "-q", "-o", &store], &words(&files)[..]].concat());
    let expect = place.ok("none", &["index", "-q", "-o", &place.file("other"), shop]);
    let lines = |said: &[u8]| {
        String::from_utf8(said.to_vec()).unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // Sizes depend on how rows lie in batches.
    let counts = |said: &[u8]| -> Vec<String> {
        lines(said).iter().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    };
    assert_eq!(counts(&said), counts(&expect));
    let states = ["analyze", "-q", "states", "--format", "csv"];
    let whole = place.ok("of-traces", &[&states[..], &[shop]].concat());
    assert!(place.ok("none", &[&states[..], &[&store]].concat()) == whole);
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    let files = place.map(&[shop], 3);
    let [one, two, three] = [&*files[0], &files[1], &files[2]];
    place.refused(&["analyze", "states", one, three], &["pieces of h1 are missing"]);
    place.refused(&["analyze", "states", one, shop], &["cannot be combined with traces"]);
    let kept = place.file("kept.piece");
    place.ok("none", &["map", "-q", "cputop", "--piece", "1/1", shop, "-o", &kept]);
    place
        .refused(&["merge", one, &kept, "-o", &place.file("x")], &["holds spans and", "kept.piece does not"]);
    place.refused(&["map", "spans", "--begin", "06:10:25", shop, "-o", &kept], &["--begin does not apply"]);
    place.refused(&["map", "spans,cputop", shop, "-o", &kept], &["`spans` serves all analyses"]);
    place.refused(&["merge", one, one, "-o", &place.file("x")], &["is named twice"]);
    // Of some hosts alone, when all are there.
    let app = Path::new(shop).join("app");
    let alone = place.file("app.piece");
    place.ok("none", &["map", "-q", "spans", "--piece", "1/1", "-o", &alone, app.to_str().unwrap()]);
    place.ok("alone", &["analyze", "-q", "states", &alone]);
    // Traces that are not what they were when they were mapped.
    let moved = place.directory.path().join("moved");
    copy(&app, &moved);
    let piece = place.file("moved.piece");
    place.ok("none", &["map", "-q", "spans", "--piece", "1/1", "-o", &piece, moved.to_str().unwrap()]);
    fs::remove_file(moved.join("kernel/ch_0")).unwrap();
    place.refused(&["analyze", "states", &piece], &["were not mapped of its traces as they are now"]);
    fs::remove_dir_all(&moved).unwrap();
    place.refused(&["analyze", "states", &piece], &["which no longer exists"]);
    // A damaged file.
    let mut bytes = fs::read(two).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(two, bytes).unwrap();
    place.refused(&["analyze", "states", one, two, three], &["the checksum is wrong"]);
}
