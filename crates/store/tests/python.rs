//! A store is opened by another Arrow library, which finds the same rows. Needs Python's `pyarrow`.
#![allow(clippy::unwrap_used)] // A test may panic.

mod common;

use std::process::Command;

use common::{build, open, shared};
use isochrone_pipeline::Cuts;
use isochrone_store::Store;

/// Reads all tables, checks a join of spans with threads, and prints rows and the time on CPUs of each host.
const READ: &str = r#"
import os, sys, pyarrow as pa, pyarrow.compute as pc, pyarrow.ipc as ipc
store = sys.argv[1]
for host in sorted(d for d in os.listdir(store) if os.path.isdir(os.path.join(store, d))):
    read = lambda name: ipc.open_file(pa.memory_map(os.path.join(store, host, name + ".arrow"))).read_all()
    for name in sorted(f[:-6] for f in os.listdir(os.path.join(store, host))):
        print(host, name, read(name).num_rows)
    slices, names, threads = read("slices"), read("thread_names"), read("threads")
    joined = slices.join(names, "thread", "number").rename_columns(slices.column_names + ["row"])
    joined = joined.join(threads.select(["number", "tid"]), "row", "number")
    on_cpu = joined.filter(pc.is_valid(joined["tid"]))
    print(host, "cpu_ns", pc.sum(pc.subtract(on_cpu["end"], on_cpu["begin"])).as_py())
    states = read("states")
    busy = states.filter(pc.is_in(states["state"], pa.array([1, 2, 3], pa.uint8())))
    print(host, "states_ns", pc.sum(pc.subtract(busy["end"], busy["begin"])).as_py())
"#;

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn another_library_opens_it() {
    let has_pyarrow = Command::new("python3").args(["-c", "import pyarrow"]).output();
    if !has_pyarrow.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "needs python3 with pyarrow");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    build(&open(&shared("vm/web2")), &Cuts::Times(3), &path);
    let output = Command::new("python3").args(["-c", READ]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let store = Store::open(&path).unwrap();
    for host in &store.manifest().hosts {
        for table in &host.tables {
            let line = format!("{} {} {}", host.directory, table.name, table.rows);
            assert!(printed.lines().any(|printed| printed == line), "{line} is not in\n{printed}");
        }
        let figure = |name: &str| {
            let begin = format!("{} {name} ", host.directory);
            printed.lines().find_map(|line| line.strip_prefix(&begin)).map(str::to_owned)
        };
        assert!(figure("cpu_ns").is_some_and(|ns| ns != "0"));
        assert_eq!(figure("cpu_ns"), figure("states_ns"));
    }
}
