//! Chunks that do not fit what the others show, and those that are asked for what they do not have: unknown
//! or refused, and never another answer.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{chunks, copy, isochrone, ok, pack, text, without_paths};
use crate::common::shared;

/// Commands that read pieces, each of which warns of what does not fit.
const READERS: [&[&str]; 8] = [
    &["analyze", "syscallstats"],
    &["states"],
    &["phases"],
    &["critical-path"],
    &["accounting"],
    &["blocking"],
    &["messages"],
    &["summary"],
];

/// The chunks of a real session of one host in a directory of their own.
fn session(of: &str, work: &Path) -> Vec<PathBuf> {
    let archives = work.join("session/archives");
    copy(&shared().join("data").join(of), &archives);
    chunks(&archives)
}

/// Maps each chunk alone.
fn pieces(chunks: &[PathBuf], what: &[&str], work: &Path) -> Vec<PathBuf> {
    let map = |(number, chunk): (usize, &PathBuf)| {
        let piece = work.join(format!("{number}.piece"));
        let output = isochrone(work, &[&["map", "-q"], what, &[text(chunk), "-o", text(&piece)]].concat());
        // 1: of damaged ones.
        assert!(output.status.code() <= Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        piece
    };
    chunks.iter().enumerate().map(map).collect()
}

fn paths(files: &[PathBuf]) -> Vec<&str> {
    files.iter().map(|file| text(file)).collect()
}

/// A chunk at either end that lacks the file of a CPU: its time is unknown, and in the range of the answer.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn a_misfit_at_either_end_is_unknown() {
    for is_last in [false, true] {
        let work = tempfile::tempdir().unwrap();
        let chunks = session("vm/rot2/h1/archives", work.path());
        let odd = if is_last { chunks.last() } else { chunks.first() }.unwrap();
        for file in ["kernel/ch_1", "kernel/index/ch_1.idx"] {
            fs::remove_file(odd.join(file)).unwrap();
        }
        let pieces = pieces(&chunks, &["spans"], work.path());
        let whole = work.path().join("session");
        let cputop = |paths: &[&str]| {
            let analyze = ["analyze", "cputop", "-q", "--format", "json"];
            let report: Value =
                serde_json::from_slice(&isochrone(work.path(), &[&analyze[..], paths].concat()).stdout)
                    .unwrap();
            let time = |index: usize| report["range"][index].as_i64().unwrap();
            let total = report["tables"].as_array().unwrap().iter().find(|table| table["name"] == "total");
            (time(0), time(1), total.unwrap()["rows"][0][4].as_i64().unwrap())
        };
        let (start, end, unknown) = cputop(&[text(&whole)]);
        let (piece_start, piece_end, of_pieces) = cputop(&paths(&pieces));
        // Events outside of the core are in the excerpt, and what packets say is a little wider than a core.
        let near = |one: i64, other: i64| (one - other).abs() < 1_000_000;
        assert!(near(start, piece_start) && near(end, piece_end), "{start} {end}: {piece_start} {piece_end}");
        assert!(of_pieces >= unknown && of_pieces > 1_000_000_000, "{of_pieces} of {unknown}");
        for command in READERS {
            let output = isochrone(work.path(), &[command, &paths(&pieces)[..]].concat());
            let said = String::from_utf8(output.stderr).unwrap();
            let warnings = said.matches("have streams of CPUs that it does not have: what happened").count();
            assert_eq!((warnings, output.status.code()), (1, Some(1)), "{command:?}: {said}");
        }
    }
}

/// Chunks outside of the window of an analysis are mapped as those in it are: they show threads and files.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn of_certain_times() {
    let work = tempfile::tempdir().unwrap();
    let chunks = session("vm/rot2/h1/archives", work.path());
    let windows: [&[&str]; 3] = [
        &["--begin", "05:56:50", "--end", "2026-11-20 05:56:53.5"],
        &["--end", "05:56:47"],
        &["--begin", "05:57:00.5"],
    ];
    let kinds = "cputop,syscallstats,schedlog,irqstats,fds";
    for times in windows {
        let pieces = pieces(&chunks, &[&[kinds], times].concat(), work.path());
        let analyze = ["analyze", kinds, "-q", "--format", "json"];
        let whole = work.path().join("session");
        let expected = ok(work.path(), &[&analyze[..], times, &[text(&whole)]].concat());
        let found = ok(work.path(), &[&analyze[..], &paths(&pieces)].concat());
        assert!(expected == found, "{times:?}");
    }
    // Each chunk starts at another time.
    let relative = pieces(&chunks, &["cputop", "--begin", "+1s"], work.path());
    let output = isochrone(work.path(), &[&["analyze", "cputop"], &paths(&relative)[..]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("were mapped"), "{said}");
}

/// What was wrong with the trace is reported of its piece, in the same words.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn what_is_wrong_with_a_trace_is_kept() {
    let work = tempfile::tempdir().unwrap();
    let chunk = session("vm/rot2/h1/archives", work.path()).remove(1);
    let kernel = chunk.join("kernel");
    fs::remove_file(kernel.join("ch_1")).unwrap();
    let stream = fs::read(kernel.join("ch_0")).unwrap();
    fs::write(kernel.join("ch_0"), &stream[..stream.len() - 8192]).unwrap();
    let pieces = pieces(std::slice::from_ref(&chunk), &["cputop"], work.path());
    let said = |path: &Path| {
        let output = isochrone(work.path(), &["analyze", "cputop", "-q", text(path)]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let of_trace = said(&chunk);
    assert!(of_trace.1.contains("ch_1: there is no such stream file, and its index lists"), "{}", of_trace.1);
    assert!(of_trace.1.contains("ch_0: packet 1, byte"), "{}", of_trace.1);
    assert_eq!(of_trace, said(&pieces[0]));
}

/// Which periods lost events of programs were in, only the traces show: of the pieces they are refused.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn periods_that_lost_events_may_hide_are_refused() {
    let work = tempfile::tempdir().unwrap();
    let chunks = session("vm/phases3/h2/archives", work.path());
    let stream = chunks[2].join("ust/uid/0/64-bit/uch_0");
    let bytes = fs::read(&stream).unwrap();
    fs::write(&stream, &bytes[..bytes.len() - 4096]).unwrap();
    let read = "read : $evt.$name == \"syscall_entry_read\" : $evt.$name == \"syscall_exit_read\" && \
                $evt.$ctx.tid == $begin.$evt.$ctx.tid";
    let pieces = pieces(&chunks, &["spans", "--period", read], work.path());
    let of = |more: &[&str]| {
        let analyze = ["analyze", "-q", "--limit", "0", "periodlog"];
        isochrone(work.path(), &[&analyze[..], more, &paths(&pieces)].concat())
    };
    let output = of(&["--period", read]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{said}");
    assert!(said.contains("h2") && said.contains("events of programs are missing"), "{said}");
    let others = of(&[]);
    assert!(others.status.code() == Some(1) && !others.stdout.is_empty());
}

/// What only the index of a stream file shows to be lost, pieces show, too.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn what_indexes_show_is_kept() {
    // The file of a CPU, and how many bytes are left of it: up to the end of a packet.
    for (host, chunk, left) in [("h2", 2, 1_052_672), ("h1", 2, 4096), ("h1", 5, 4096)] {
        let work = tempfile::tempdir().unwrap();
        let chunks = session(&format!("vm/rot2/{host}/archives"), work.path());
        let stream = chunks[chunk].join("kernel/ch_0");
        let bytes = fs::read(&stream).unwrap();
        assert!(bytes.len() > left, "{}", stream.display());
        fs::write(&stream, &bytes[..left]).unwrap();
        let pieces = pieces(&chunks, &["spans"], work.path());
        let merged = work.path().join("merged");
        isochrone(work.path(), &[&["merge", "-q"], &paths(&pieces)[..], &["-o", text(&merged)]].concat());
        let whole = work.path().join("session");
        let commands: [&[&str]; 5] =
            [&["info"], &["states"], &["analyze", "fds"], &["analyze", "cputop"], &["blocking"]];
        for command in commands {
            let of = |path: &Path| {
                let output = isochrone(work.path(), &[command, &["--format", "json", text(path)]].concat());
                let lost = String::from_utf8(output.stderr).unwrap().contains("1 packet was lost");
                (output.status.code(), lost, without_paths(&String::from_utf8(output.stdout).unwrap()))
            };
            assert_eq!(of(&whole), of(&merged), "{command:?} of {host} {chunk}");
        }
    }
}

/// Times outside of all chunks are refused where the pieces are read.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn times_outside_of_all_chunks_are_refused() {
    let work = tempfile::tempdir().unwrap();
    let chunks = session("vm/rot2/h1/archives", work.path());
    let whole = work.path().join("session");
    for times in [["--at", "05:56:44"], ["--begin", "05:57:05"], ["--end", "05:56:40"]] {
        let kind = if times[0] == "--at" { "fds" } else { "syscallstats" };
        let pieces = pieces(&chunks[..2], &[&[kind], &times[..]].concat(), work.path());
        let of = |more: &[&str]| isochrone(work.path(), &[&["analyze", kind], more].concat());
        let (found, expected) = (of(&paths(&pieces)), of(&[&times[..], &[text(&whole)]].concat()));
        let said = String::from_utf8(found.stderr).unwrap();
        assert_eq!((found.status.code(), expected.status.code()), (Some(2), Some(2)), "{said}");
        assert!(found.stdout.is_empty() && said.contains("outside the traces, which run from"), "{said}");
    }
}

/// Snapshots of one buffer have events in common: these are unknown where the snapshots were mapped apart,
/// and other hosts are as they are.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn overlapping_snapshots_are_unknown() {
    let work = tempfile::tempdir().unwrap();
    let archive = shared().join("data/vm/snap2.tar.zst");
    let unpacked = std::process::Command::new("tar")
        .args(["--zstd", "-xf", text(&archive), "-C", text(work.path())])
        .status();
    assert!(unpacked.unwrap().success());
    let hosts = ["h1", "h2"].map(|host| work.path().join("snap2").join(host));
    let entries = hosts.iter().flat_map(|host| fs::read_dir(host).unwrap());
    let mut snapshots: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    snapshots.retain(|path| path.is_dir());
    snapshots.sort();
    let pieces = pieces(&snapshots, &["spans"], work.path());
    let merged = work.path().join("merged");
    isochrone(work.path(), &[&["merge", "-q"], &paths(&pieces)[..], &["-o", text(&merged)]].concat());
    let of = |host: &str, paths: &[&str]| {
        let analyze = ["analyze", "-q", "--no-sync", "--format", "json", "cputop", "--host", host];
        let output = isochrone(work.path(), &[&analyze[..], paths].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    let all: Vec<&str> = hosts.iter().map(|host| text(host)).collect();
    let doubles = of("h1", &[text(&merged)]);
    let said = String::from_utf8(doubles.2).unwrap();
    assert!(
        said.contains("h1: mapped alone, and other traces of the host have events in its time"),
        "{said}"
    );
    assert_eq!(doubles.0, Some(1), "{said}");
    let (found, whole) = (of("h2", &[text(&merged)]), of("h2", &all));
    assert_eq!(found.1, whole.1);
}

/// One chunk that is mapped twice is one: at two places, packed, and by a program of before.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn a_chunk_that_is_mapped_twice_is_one() {
    let work = tempfile::tempdir().unwrap();
    let chunk = session("vm/rot2/h1/archives", work.path()).remove(2);
    // A packet that breaks while it is read, and one that was cut off.
    let stream = chunk.join("kernel/ch_0");
    let mut bytes = fs::read(&stream).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xff);
    fs::write(&stream, &bytes).unwrap();
    let other = chunk.join("kernel/ch_1");
    let bytes = fs::read(&other).unwrap();
    fs::write(&other, &bytes[..4096]).unwrap();
    let elsewhere = work.path().join("elsewhere");
    copy(&chunk, &elsewhere);
    let packed = work.path().join("chunk.tar");
    pack(&chunk, &packed);
    let all = [chunk, elsewhere, packed.clone(), packed];
    let pieces = pieces(&all, &["cputop"], work.path());
    // Where it was unpacked is gone.
    assert_eq!(fs::read(&pieces[2]).unwrap(), fs::read(&pieces[3]).unwrap());
    let of = |paths: &[&str]| {
        let output = isochrone(work.path(), &[&["analyze", "cputop", "--format", "json"], paths].concat());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let one = of(&[text(&pieces[0])]);
    for several in [&pieces[..2], &pieces[1..3], &pieces[..]] {
        let (found, said) = of(&paths(several));
        assert_eq!(found, one.0);
        assert!(!said.contains("mapped alone, and"), "{said}");
    }
    let said = of(&[text(&pieces[2])]).1;
    assert!(said.contains("kernel/ch_1, byte 4096: the last packet") && !said.contains("unpacked"), "{said}");
    // The example, mapped by this program and by the one before.
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/pieces");
    let [old, new] = ["model1", "model2"].map(|name| directory.join(format!("layout5-{name}-spans.piece")));
    assert_eq!(of(&[text(&old), text(&new)]).0, of(&[text(&new)]).0);
}

/// Tables and the range are of the hosts that were traced in the time that is asked for.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn hosts_that_were_not_traced_then_are_left_out() {
    let cache = tempfile::tempdir().unwrap();
    let times = ["--begin", "05:56:46.6", "--end", "05:56:46.8"];
    let rot2 = shared().join("data/vm/rot2");
    let analyze = ["analyze", "cputop", "--no-sync", "--format", "json"];
    let report: Value =
        serde_json::from_str(&ok(cache.path(), &[&analyze[..], &times, &[text(&rot2)]].concat())).unwrap();
    let range = report["range"].as_array().unwrap();
    assert_eq!(range[1].as_i64().unwrap() - range[0].as_i64().unwrap(), 200_000_000);
    let tables = report["tables"].as_array().unwrap();
    assert!(tables.iter().flat_map(|table| table["rows"].as_array().unwrap()).all(|row| row[0] == "h1"));
    let notes = report["notes"].to_string();
    assert!(notes.contains("h2: nothing was traced in the time that was asked for"), "{notes}");
}
