//! Reads a store with another Arrow library, which must find the same rows. Needs Python's `pyarrow`.

use std::collections::BTreeMap;
use std::process::Command;

use crate::common::{build, open, shared};
use isochrone_ctf::Trace;
use isochrone_hosts::Hosts;
use isochrone_kernel::{Recorder, Span};
use isochrone_pipeline::{Cuts, Plan, run};
use isochrone_store::{StateRow, Store, ThreadRow};

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
    for name in ("syscalls", "irqs", "half_syscalls"):
        for counted in pc.value_counts(read(name)["name"].cast(pa.string())).to_pylist():
            print(host, "counted", name, counted["values"], counted["counts"])
    zoom = read("states-zoom0")
    print(host, "zoom_ns", pc.sum(pc.subtract(zoom["end"], zoom["begin"])).as_py())
"#;

#[test]
#[cfg_attr(not(all(shared_data, python_arrow)), ignore = "needs ../shared/data and python3 with pyarrow")]
fn another_library_opens_it() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    let traces = open(&shared("vm/web2"));
    let names = names(&traces);
    build(&traces, &Cuts::Times(3), &path);
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
        let there = store.host(host).unwrap();
        let threads: Vec<ThreadRow> = (0..there.threads().len() as u32).map(ThreadRow).collect();
        let states = there.states(&threads, host.range.unwrap()).unwrap();
        let sum = |keep: &dyn Fn(&StateRow) -> bool| {
            let kept = states.iter().filter(|row| keep(row));
            Some(kept.map(|row| row.end - row.start).sum::<i64>().to_string())
        };
        assert_eq!(figure("cpu_ns"), sum(&|row| row.state.is_on_cpu()));
        assert_eq!(figure("zoom_ns"), sum(&|_| true));
        // Names are in dictionaries, which grow from batch to batch.
        for (table, counts) in &names[&host.name] {
            for (name, count) in counts {
                let line = format!("{} counted {table} {name} {count}", host.directory);
                assert!(printed.lines().any(|printed| printed == line), "{line} is not in\n{printed}");
            }
        }
    }
}

/// Number of rows of each table by name, by host and table.
fn names(traces: &[Trace]) -> BTreeMap<String, BTreeMap<&'static str, BTreeMap<String, u64>>> {
    let hosts = Hosts::group(traces);
    let counts = hosts.hosts.iter().map(|host| {
        let part = run(host, &Plan::new(host, &Cuts::Whole), 1, Recorder::default, None).unwrap();
        let mut counts: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
        for span in part.model.finish().spans.0 {
            let (table, name) = match &span {
                Span::Syscall(call) => ("syscalls", call.entry.name.as_str()),
                Span::Irq(irq) => ("irqs", irq.name.as_str()),
                Span::HalfSyscall(half) => {
                    ("half_syscalls", half.name.as_ref().map_or("None", |name| name.as_str()))
                }
                _ => continue,
            };
            *counts.entry(table).or_default().entry(name.to_owned()).or_default() += 1;
        }
        (host.name.clone(), counts)
    });
    counts.collect()
}
