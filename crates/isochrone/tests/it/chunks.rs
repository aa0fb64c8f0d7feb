//! Chunks of real rotated sessions, each mapped where nothing else is, and merged in a random order: every
//! command shows what it shows of the session.

mod misfits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isochrone_testkit::Random;
use serde_json::Value;

use crate::common::shared;

/// Analyses that need nothing but the chunks.
const ANALYSES: &str = "cputop,fds,iolatencystats,iolog,iousagetop,irqstats,memtop,periodlog,processes,\
                        schedfreq,schedstats,syscalls,syscallstats";

/// Commands that read traces or a store.
const COMMANDS: [&[&str]; 11] = [
    &["info"],
    &["analyze", "cputop,syscallstats,schedlog,irqstats,periodstats,usage"],
    &["states"],
    // From the first event and to the last one, which pieces hold.
    &["states", "--begin", "+1ms", "--end", "-1ms"],
    &["phases"],
    &["critical-path"],
    &["accounting"],
    &["blocking"],
    &["ipc"],
    &["messages"],
    &["sync"],
];

/// A program with a cache of its own.
fn isochrone(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(arguments).output().unwrap()
}

/// What a command that succeeds prints.
fn ok(cache: &Path, arguments: &[&str]) -> String {
    let output = isochrone(cache, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The chunks below a directory: those of rotated sessions, and traces that are whole.
fn chunks(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut inner: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    inner.retain(|path| path.is_dir());
    inner.sort();
    match directory.file_name().is_some_and(|name| name == "archives") {
        true => found.extend(inner),
        false if inner.iter().any(|path| path.join("metadata").exists()) => found.push(directory.to_owned()),
        false => inner.iter().for_each(|path| found.extend(chunks(path))),
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// Maps each chunk of a session alone, and merges the pieces two by two. Gives the merged file, and the sizes
/// of each chunk and its piece.
fn map_alone(session: &Path, what: &[&str], work: &Path, random: &mut Random) -> (PathBuf, Vec<(u64, u64)>) {
    let (mut files, mut sizes) = (Vec::new(), Vec::new());
    for (number, chunk) in chunks(session).into_iter().enumerate() {
        let alone = work.join("alone").join(format!("{number:03}"));
        copy(&chunk, &alone);
        let piece = work.join(format!("{number}.piece"));
        // On one thread, excerpts are made in another way.
        let threads = if random.permille(500) { "1" } else { "2" };
        let how = ["map", "-q", "--threads", threads];
        ok(work, &[&how[..], what, &[text(&alone), "-o", text(&piece)]].concat());
        sizes.push((size(&alone), fs::metadata(&piece).unwrap().len()));
        fs::remove_dir_all(&alone).unwrap();
        files.push(piece);
    }
    assert!(files.len() > 1, "{}", session.display());
    let mut step = 0;
    while files.len() > 1 {
        let [one, other] = [(), ()].map(|()| files.remove(random.below(files.len() as u64) as usize));
        let both = work.join(format!("step{step}"));
        ok(work, &["merge", "-q", text(&one), text(&other), "-o", text(&both)]);
        files.push(both);
        step += 1;
    }
    (files.remove(0), sizes)
}

fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|it| if it.path().is_dir() { size(&it.path()) } else { it.metadata().unwrap().len() }).sum()
}

/// A document of JSON without the paths of traces.
fn without_paths(text: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !["path", "directory", "argument"].contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(text).unwrap();
    strip(&mut value);
    value
}

/// Every command shows the same of a session and of its chunks.
fn check_commands(session: &Path, seed: u64) {
    let [work, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let (merged, sizes) = map_alone(session, &["spans"], work.path(), &mut Random::new(seed));
    for (chunk, piece) in sizes {
        // Where the kernel was traced.
        assert!(piece * 4 <= chunk || chunk < 200_000, "{}: {piece} of {chunk} bytes", session.display());
    }
    for command in COMMANDS {
        let [whole, found] = [session, merged.as_path()].map(|path| {
            let output =
                isochrone(cache.path(), &[command, &["-q", "--format", "json", text(path)]].concat());
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        });
        assert_eq!(whole.0, found.0, "{command:?} of {}", session.display());
        if whole.1 != found.1 {
            assert_eq!(
                without_paths(&whole.1),
                without_paths(&found.1),
                "{command:?} of {}",
                session.display()
            );
        }
    }
}

/// Analyses that the chunks were mapped for are those of the session.
fn check_analyses(session: &Path, seed: u64) {
    let work = tempfile::tempdir().unwrap();
    let (merged, _) = map_alone(session, &[ANALYSES], work.path(), &mut Random::new(seed));
    let analyze = ["analyze", "-q", ANALYSES, "--format", "json", "--no-sync"];
    let whole = ok(work.path(), &[&analyze[..], &[text(session)]].concat());
    let found = ok(work.path(), &[&analyze[..], &[text(&merged)]].concat());
    assert!(whole == found, "{}", session.display());
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn of_two_rotated_machines() {
    let session = shared().join("data/vm/rot2");
    check_commands(&session, 1);
    check_analyses(&session, 2);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn of_a_machine_with_programs() {
    check_commands(&shared().join("data/vm/phases3"), 3);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn of_programs() {
    let session = shared().join("data/ust/rotated");
    check_commands(&session, 4);
    check_analyses(&session, 5);
}

/// Pieces with spans have the arguments of calls where they were mapped for `syscalls` too.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn spans_with_the_arguments_of_calls() {
    let [work, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let session = shared().join("data/vm/rot2");
    let map = |what: &str, seed| {
        let to = work.path().join(what);
        fs::create_dir(&to).unwrap();
        map_alone(&session, &[what], &to, &mut Random::new(seed)).0
    };
    let [with, without] = [("spans,syscalls", 7), ("spans", 8)].map(|(what, seed)| map(what, seed));
    let begin = ["--begin", "2026-11-20 05:56:50", "--end", "2026-11-20 05:56:58"];
    let asked: [&[&str]; 4] = [
        &["analyze", "syscalls,syscallstats", "--format", "json"],
        &[&["analyze", "syscalls", "--format", "csv"], &begin[..]].concat(),
        &["analyze", "syscalls", "--around", "--errno", "EAGAIN", "--format", "json"],
        &["states", "--format", "json"],
    ];
    for command in asked {
        let of = |path: &Path| ok(cache.path(), &[command, &["-q", text(path)]].concat());
        assert!(of(&session) == of(&with), "{command:?}");
    }
    let refused = |path: &Path, command: &[&str], expect: &str| {
        let output = isochrone(cache.path(), &[command, &["-q", text(path)]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{command:?}: {said}");
        assert!(said.contains(expect), "{command:?}: {said}");
    };
    refused(&without, &["analyze", "syscalls"], "map `spans,syscalls`");
    let period = ["--period", "io : $evt.$name == \"syscall_entry_read\""];
    let why = "give the same --period (and --period-captures) to `isochrone map spans`";
    refused(&with, &[&["analyze", "cputop"], &period[..]].concat(), why);
    refused(&with, &[&["phases"], &period[..]].concat(), why);
}

/// Chunks that are mapped with periods have them, also those that reach from one chunk into others, and
/// nothing else is different.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn spans_with_periods() {
    let [work, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let session = shared().join("data/vm/rot2");
    let read = "read : $evt.$name == \"syscall_entry_read\" : $evt.$name == \"syscall_exit_read\" && \
                $evt.$ctx.tid == $begin.$evt.$ctx.tid";
    // Until a parent ends: across chunks; and one that has no end.
    let parent = "parent : $evt.$name == \"sched_process_fork\" : $evt.$name == \"sched_process_exit\" && \
                  $evt.tid == $begin.$evt.parent_tid";
    let open = "open : $evt.$name == \"sched_process_exec\" : $evt.$name == \"sched_process_fork\" && \
                $evt.parent_tid == -5";
    let captures = "read : fd = $evt.fd";
    let periods = ["--period", read, "--period", parent, "--period", open, "--period-captures", captures];
    let with = map_alone(&session, &[&["spans"], &periods[..]].concat(), work.path(), &mut Random::new(9)).0;
    let info = isochrone(cache.path(), &["info", text(&with)]);
    let notes = String::from_utf8(info.stderr).unwrap();
    assert!(notes.contains("mapped for spans, with the periods read, parent, open"), "{notes}");
    let log = ["analyze", "periodlog", "--limit", "0"];
    let json: Value = serde_json::from_str(&ok(
        cache.path(),
        &[&log[..], &periods, &["-q", "--format", "json", text(&session)]].concat(),
    ))
    .unwrap();
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    assert!(rows.len() > 2000, "{}", rows.len());
    let asked: [Vec<&str>; 5] = [
        [&log[..], &periods].concat(),
        [&["analyze", "cputop,syscallstats,periodstats"], &periods[..]].concat(),
        [&["phases"], &periods[..]].concat(),
        // Periods that are not asked for are not there.
        vec!["analyze", "periodstats,schedlog"],
        vec!["phases"],
    ];
    for command in asked {
        let of = |path: &Path| {
            let output =
                isochrone(cache.path(), &[&command[..], &["-q", "--format", "json", text(path)]].concat());
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        assert_eq!(of(&session), of(&with), "{command:?}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn pieces_are_small() {
    let work = tempfile::tempdir().unwrap();
    let session = shared().join("data/vm/rot2");
    let (_, sizes) = map_alone(&session, &["cputop,syscallstats"], work.path(), &mut Random::new(6));
    for (chunk, piece) in sizes {
        assert!(piece * 20 <= chunk, "{piece} of {chunk} bytes");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn what_is_missing_is_said() {
    let [work, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let archives = shared().join("data/vm/rot2/h1/archives");
    let mut pieces = Vec::new();
    for (number, chunk) in chunks(&archives).into_iter().enumerate() {
        let piece = work.path().join(format!("{number}.piece"));
        ok(work.path(), &["map", "-q", "spans", text(&chunk), "-o", text(&piece)]);
        pieces.push((chunk, piece));
    }
    // All but the third, as pieces and as a session.
    let session = work.path().join("session/archives");
    for (number, (chunk, _)) in pieces.iter().enumerate().filter(|(number, _)| *number != 2) {
        copy(chunk, &session.join(format!("{number}")));
    }
    let merged = work.path().join("merged");
    let files: Vec<&str> = pieces
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != 2)
        .map(|(_, (_, piece))| text(piece))
        .collect();
    let output = isochrone(cache.path(), &[&["merge", "-o", text(&merged)], &files[..]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("h1: a chunk is missing from 2026-11-20 05:56:5"), "{said}");
    for command in [&["analyze", "cputop,syscallstats"][..], &["states"]] {
        let [whole, found] = [&session, &merged]
            .map(|path| ok(cache.path(), &[command, &["-q", "--format", "json", text(path)]].concat()));
        assert!(whole == found, "{command:?}");
    }
    // Events are in the traces.
    let output = isochrone(cache.path(), &["events", text(&merged)]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("mapped pieces hold a part of the events only"), "{said}");
}

/// A chunk as `tar --zstd` or `tar` packs it.
fn pack(chunk: &Path, to: &Path) {
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_dir_all("chunk", chunk).unwrap();
    let bytes = tar.into_inner().unwrap();
    let is_compressed = to.extension().is_some_and(|extension| extension == "zst");
    fs::write(to, if is_compressed { zstd::encode_all(bytes.as_slice(), 3).unwrap() } else { bytes })
        .unwrap();
}

/// Chunks that are packed are read as they are.
#[test]
fn packed_traces_are_read_as_they_are() {
    let [work, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let packed: Vec<PathBuf> = [("client", "zst"), ("app", "tar"), ("db", "zst")]
        .map(|(host, extension)| {
            let path = work.path().join(format!("{host}.{extension}"));
            pack(&shop.join(host), &path);
            path
        })
        .to_vec();
    let hosts: Vec<PathBuf> = ["client", "app", "db"].map(|host| shop.join(host)).to_vec();
    let of = |command: &[&str], paths: &[PathBuf]| {
        let paths: Vec<&str> = paths.iter().map(|path| text(path)).collect();
        ok(cache.path(), &[command, &["-q", "--format", "json"], &paths].concat())
    };
    for command in [&["info"][..], &["sync"], &["states"], &["analyze", "cputop"], &["critical-path"]] {
        let [whole, found] = [&hosts, &packed].map(|paths| without_paths(&of(command, paths)));
        assert_eq!(whole, found, "{command:?}");
    }
    let events = |paths: &[PathBuf]| of(&["events"], paths);
    assert!(events(&hosts) == events(&packed));
    let pieces: Vec<PathBuf> = [&hosts[2], &packed[2]]
        .map(|chunk| {
            let piece = work.path().join(format!("{}.piece", chunk.file_name().unwrap().display()));
            ok(cache.path(), &["map", "-q", "spans", text(chunk), "-o", text(&piece)]);
            piece
        })
        .to_vec();
    let [whole, found] = [&pieces[..1], &pieces[1..]].map(|piece| of(&["states"], piece));
    assert!(whole == found);
    // A file that is cut gives nothing, and says so.
    let cut = work.path().join("cut.tar.zst");
    let bytes = fs::read(&packed[0]).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - bytes.len() / 8]).unwrap();
    let output = isochrone(cache.path(), &["info", text(&cut)]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("cannot be unpacked: "), "{said}");
    // Copies and parts of them are those of the traces, named by the files.
    let to = |name: &str| work.path().join(name);
    for (command, option) in [(&["sync"][..], "--write"), (&["cut", "--begin", "+1s", "--end", "+2s"], "-o")]
    {
        let directories = [(&hosts, "whole"), (&packed, "packed")].map(|(paths, name)| {
            let directory = to(&format!("{name}-{}", command[0]));
            let paths = paths.iter().map(|path| text(path));
            let arguments = command.iter().copied().chain([option, text(&directory), "-q"]).chain(paths);
            ok(cache.path(), &arguments.collect::<Vec<_>>());
            directory
        });
        assert!(directories[1].join("client.zst_").is_dir());
        let [whole, found] = directories.map(|directory| of(&["events", "--no-sync"], &[directory]));
        assert!(!whole.is_empty() && whole == found, "{command:?}");
    }
}

/// Pieces that were written once are read by every later version: their excerpts always, their models since
/// these have names; those of before are refused in words.
#[test]
fn pieces_of_earlier_versions_are_read() {
    let cache = tempfile::tempdir().unwrap();
    let of_crate = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = of_crate.join("tests/it/data/pieces");
    let analyze = ["analyze", "cputop"];
    let others = ["syscallstats", "iousagetop", "pagefaults"].map(|name| ["analyze", name]);
    let [calls, files, faults] = &others;
    let written: [(&str, &str, &[&[&str]]); 10] = [
        ("layout5-form2-spans.piece", "shop/db", &[&["info"]]),
        ("layout5-form2-analyses.piece", "shop", &[&["info"], &["sync"]]),
        ("layout5-form3-spans.piece", "shop/db", &[&["info"]]),
        ("layout5-form3-analyses.piece", "shop", &[&["info"], &["sync"]]),
        ("layout5-form4-spans.piece", "shop/db", &[&["info"]]),
        ("layout5-form4-analyses.piece", "shop", &[&["info"], &["sync"]]),
        ("layout5-model1-spans.piece", "shop/db", &[&["info"], &["states"], &analyze, &["blocking"]]),
        ("layout5-model1-analyses.piece", "shop", &[&["info"], &["sync"], &analyze, calls, files, faults]),
        ("layout5-model2-spans.piece", "shop/db", &[&["info"], &["states"], &analyze, files, &["blocking"]]),
        ("layout5-model2-analyses.piece", "shop", &[&["info"], &["sync"], &analyze, calls, files, faults]),
    ];
    assert_eq!(fs::read_dir(&directory).unwrap().count(), written.len());
    for (name, traces, commands) in written {
        let paths = [of_crate.join("../../examples").join(traces), directory.join(name)];
        for command in commands {
            let [mut whole, mut found] = paths.each_ref().map(|path| {
                let arguments = [*command, &["-q", "--format", "json", text(path)]].concat();
                without_paths(&ok(cache.path(), &arguments))
            });
            if name.contains("model1") && command.last() == Some(&"iousagetop") {
                // It has flushes of disks apart from their ends, and says so.
                for report in [&mut whole, &mut found] {
                    report["tables"].as_array_mut().unwrap().retain(|table| table["name"] != "disks");
                }
                let said = isochrone(cache.path(), &[*command, &["-q", text(&paths[1])]].concat()).stderr;
                let said = String::from_utf8(said).unwrap();
                assert!(said.contains("did not count flushes of disks: map the chunk again"), "{said}");
            }
            assert_eq!(whole, found, "{command:?} of {name}");
        }
        if name.contains("form") {
            let output = isochrone(cache.path(), &[&analyze[..], &["-q", text(&paths[1])]].concat());
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                output.status.code() == Some(2) && said.contains("map the chunk again with this"),
                "{said}"
            );
        }
    }
}
