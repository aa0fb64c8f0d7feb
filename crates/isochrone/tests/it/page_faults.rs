//! Page faults on a real trace whose programs counted them themselves (`vm/fault1`).

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::unpacked;

/// The pid of the program that read a mapped file first, and faults that read from the disk, as it counted.
const FIRST: (i64, i64) = (194, 935);
/// That of the one which touched a part of it again.
const AGAIN: (i64, i64) = (191, 127);
/// That of the one which touched memory without a file, and its faults then.
const ANONYMOUS: (i64, i64) = (192, 3_073);

/// The rows of a table, as maps of columns to values.
fn rows(trace: &Path, arguments: &str, table: &str) -> Vec<serde_json::Map<String, Value>> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .env("XDG_CACHE_HOME", trace.parent().unwrap())
        .args(arguments.split_whitespace())
        .args(["--format", "json"])
        .arg(trace)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let table = tables.iter().find(|it| it["name"] == table).unwrap();
    let names: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let row = |row: &Value| {
        let cells = row.as_array().unwrap().iter().cloned();
        names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn programs_counted_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let trace = unpacked("vm/fault1", directory.path()).join("h1");
    let by_process = rows(&trace, "analyze pagefaults --by-process --limit 1000", "pagefaults");
    let of = |pid: i64| by_process.iter().find(|row| row["pid"] == pid).unwrap();
    for (pid, major) in [FIRST, AGAIN] {
        assert_eq!(of(pid)["major"], major, "{:?}", of(pid));
    }
    assert!(of(ANONYMOUS.0)["user"].as_i64().unwrap() >= ANONYMOUS.1);
    // Its own program was read from a disk when it started; nothing while it touched memory.
    let truth = std::fs::read_to_string(trace.join("../logs/h1.pf.jsonl")).unwrap();
    let truth: Vec<Value> = truth.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let phase = truth.iter().find(|it| it["what"] == "anon").unwrap();
    let offset = 1_795_630_687_205_304_327_i128;
    let time = |name: &str| {
        let ns = offset + i128::from(phase[name].as_i64().unwrap());
        format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    };
    let window = format!("--begin {} --end {}", time("begin_mono_ns"), time("end_mono_ns"));
    let then = rows(&trace, &format!("analyze pagefaults --pid 192 {window}"), "pagefaults");
    assert_eq!(then[0]["major"], 0);
    // They read the clock after they had asked for the count.
    assert!((ANONYMOUS.1 - 1..=ANONYMOUS.1).contains(&then[0]["user"].as_i64().unwrap()), "{then:?}");

    // They waited for the disk as long as `blocking` says, and for which file.
    let waits = rows(&trace, "blocking --limit 10000", "blocking");
    for (pid, _) in [FIRST, AGAIN] {
        let in_faults = waits.iter().filter(|row| row["pid"] == pid && row["syscall"] == "page fault");
        let of_file = in_faults.clone().filter(|row| row["file"] == "/data/f").count();
        assert!(of_file > 0, "{pid}: {:?}", in_faults.collect::<Vec<_>>());
        let waited: i64 = in_faults.map(|row| row["total_ns"].as_i64().unwrap()).sum();
        // There a wait ends with `sched_wakeup`, here with `sched_waking` before it.
        let in_faults = of(pid)["waited_ns"].as_i64().unwrap();
        assert!((waited * 97 / 100..=waited).contains(&in_faults), "{pid}: {in_faults} of {waited}");
    }
    let files = rows(&trace, "analyze pagefaults --pid 194 --table files", "files");
    let most = files.iter().max_by_key(|row| row["major"].as_i64()).unwrap();
    assert_eq!((most["memory"].as_str(), most["major"].as_i64()), (Some("file"), Some(935)), "{most:?}");

    // Lives of processes have their faults: all of those that started after the first switch of the CPU.
    let page = directory.path().join("summary.html");
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .env("XDG_CACHE_HOME", directory.path())
        .args(["summary", "-q", "-o"])
        .args([&page, &trace])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(">page faults</text>") && page.contains(">1,108</text>"));
    // Of those which were there at first, the CPU time is at least what is known.
    assert!(page.contains(">≥ ") && page.contains("class=\"unknown\""));
    assert_eq!(of(FIRST.0)["recorded"], 1_108);
}
