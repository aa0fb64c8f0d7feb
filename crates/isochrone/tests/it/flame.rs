//! Flame graphs: what they add up to, of waits and of functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn shop() -> [PathBuf; 3] {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    ["client", "app", "db"].map(|host| example.join(host))
}

fn isochrone(cache: &Path, arguments: &[&str], traces: &[PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(arguments).args(traces).output().unwrap()
}

/// Collapsed stacks.
fn stacks(output: &Output) -> Vec<(Vec<String>, u64)> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let stack = |line: &str| {
        let (frames, value) = line.rsplit_once(' ').unwrap();
        (frames.split(';').map(str::to_owned).collect(), value.parse().unwrap())
    };
    text.lines().map(stack).collect()
}

/// Rows of a table of JSON, as cells by column.
fn rows(output: &Output, table: &str) -> Vec<BTreeMap<String, Value>> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["tables"].as_array().unwrap().iter().find(|it| it["name"] == table).unwrap();
    let names = found["columns"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let cells = |row: &Value| names.iter().cloned().zip(row.as_array().unwrap().iter().cloned()).collect();
    found["rows"].as_array().unwrap().iter().map(cells).collect()
}

fn text(cell: &Value) -> &str {
    cell.as_str().unwrap_or("?")
}

#[test]
fn waits_add_up_to_those_of_blocking() {
    let cache = tempfile::tempdir().unwrap();
    for filter in [&[][..], &["--procname", "wget"], &["--begin", "+2s", "--end", "-1s"]] {
        let blocking = [&["blocking", "--tree", "-q", "--format", "json"], filter].concat();
        let mut expect: BTreeMap<String, u64> = BTreeMap::new();
        let tree = rows(&isochrone(cache.path(), &blocking, &shop()), "tree");
        for row in tree.iter().filter(|row| row["depth"] == 0) {
            let program = format!("{} {}", text(&row["host"]), text(&row["comm"]));
            *expect.entry(program).or_default() += row["total_ns"].as_u64().unwrap();
        }
        let drawn = stacks(&isochrone(cache.path(), &[&["flame", "-q"], filter].concat(), &shop()));
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for (frames, ns) in &drawn {
            *found.entry(frames[0].clone()).or_default() += ns;
        }
        assert_eq!(found, expect, "{filter:?}");
        assert!(expect.len() >= if filter == ["--procname", "wget"] { 1 } else { 10 });
    }
    // A request waits for the server, which waits for a CPU meanwhile, on another host.
    let drawn = stacks(&isochrone(cache.path(), &["flame", "-q", "--procname", "wget"], &shop()));
    let is_across = |frames: &[String]| {
        frames[0] == "h1 wget" && frames.iter().any(|it| it.starts_with("h2 appsrv: wait-cpu"))
    };
    assert!(drawn.iter().any(|(frames, _)| is_across(frames)), "{drawn:?}");
    // Of one host, only what threads of that host waited for.
    let of_host = stacks(&isochrone(cache.path(), &["flame", "-q", "--host", "h3"], &shop()));
    assert!(!of_host.is_empty() && of_host.iter().all(|(frames, _)| frames[0].starts_with("h3 ")));
}

#[test]
fn a_picture_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("waits.svg");
    let to = to.to_str().unwrap();
    let said = isochrone(directory.path(), &["flame", "-q", "-o", to], &shop());
    assert!(said.status.success() && said.stdout.is_empty());
    let svg = std::fs::read_to_string(to).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("<title>h1 wget: "), "{svg}");
    assert!(svg.contains(" too narrow to be drawn</text>"), "{svg}");
    let printed = isochrone(directory.path(), &["flame", "-q", "--format", "svg"], &shop());
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), svg);
}

/// The picture of the documents is what the command writes.
#[test]
fn the_picture_of_the_documents_is_current() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("flame.svg");
    let said = isochrone(
        directory.path(),
        &["flame", "-q", "--procname", "wget", "-o", to.to_str().unwrap()],
        &shop(),
    );
    assert!(said.status.success());
    let svg = std::fs::read_to_string(to).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/flame.svg");
    if std::env::var_os("ISOCHRONE_UPDATE_DOCS").is_some() {
        std::fs::write(&kept, &svg).unwrap();
    }
    assert_eq!(svg, std::fs::read_to_string(kept).unwrap());
}

#[test]
fn what_is_missing_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expect: &str| {
        let said = isochrone(cache.path(), &[&["flame"], arguments].concat(), &shop());
        let text = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{arguments:?}");
        assert!(text.contains(expect), "{arguments:?}: {text}");
    };
    check(
        &["--of", "functions"],
        "no program recorded its functions: compile it with -finstrument-functions",
    );
    check(&["--symbols", "/dev/null"], "no functions: not what `nm` prints");
    check(&["--host", "h9"], "no host is called `h9`");
}

/// The inclusive times of functions by their addresses: each exit with the entry before it that it is of.
fn inclusive(events: &Output) -> (BTreeMap<String, u64>, usize) {
    let mut stack: Vec<(u64, u64)> = Vec::new();
    let (mut all, mut open, mut last): (BTreeMap<String, u64>, _, _) = (BTreeMap::new(), 0, 0);
    for line in String::from_utf8(events.stdout.clone()).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let at = event["time_ns"].as_u64().unwrap();
        last = at;
        if event["event"].as_str().unwrap().ends_with(":func_entry") {
            stack.push((event["payload"]["addr"].as_u64().unwrap(), at));
        } else {
            let (function, since) = stack.pop().unwrap();
            *all.entry(format!("{function:#x}")).or_default() += at - since;
        }
    }
    while let Some((function, since)) = stack.pop() {
        open += 1;
        *all.entry(format!("{function:#x}")).or_default() += last - since;
    }
    (all, open)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn functions_take_the_time_between_entry_and_exit() {
    let cache = tempfile::tempdir().unwrap();
    let data = crate::common::shared().join("data/ctf/traces/tc/cyg-profile");
    let names = data.join("cyg-profile-mapping.txt");
    for trace in ["glxgears-cyg-profile", "glxgears-cyg-profile-fast"] {
        let trace = [data.join(trace)];
        let events = isochrone(
            cache.path(),
            &["events", "-q", "--format", "json", "--event", "lttng_ust_cyg_profile*"],
            &trace,
        );
        let (expect, open) = inclusive(&events);
        let said = isochrone(cache.path(), &["flame"], &trace);
        let drawn = stacks(&said);
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for (frames, ns) in &drawn {
            assert_eq!(frames[0], "loki glxgears");
            // A function that calls itself has the time of both calls.
            for frame in &frames[1..] {
                *found.entry(frame.clone()).or_default() += ns;
            }
        }
        assert_eq!(found, expect);
        assert!(found.len() > 10);
        let notes = String::from_utf8(said.stderr).unwrap();
        assert!(
            notes.contains(&format!(
                "had not ended: their time is that up to the last event of their thread: {open}"
            )),
            "{notes}"
        );
        let symbols = names.to_str().unwrap();
        let named = stacks(&isochrone(cache.path(), &["flame", "-q", "--symbols", symbols], &trace));
        assert_eq!(named.iter().map(|(_, ns)| ns).sum::<u64>(), drawn.iter().map(|(_, ns)| ns).sum::<u64>());
        assert!(named.iter().all(|(frames, _)| frames[1] == "main"), "{named:?}");
        assert!(named.iter().any(|(frames, _)| frames.last().unwrap() == "draw_gears"), "{named:?}");
        // Half of the time is there once, whichever half it is.
        let total = |options: &[&str]| {
            let arguments = [&["flame", "-q"], options].concat();
            stacks(&isochrone(cache.path(), &arguments, &trace)).iter().map(|(_, ns)| ns).sum::<u64>()
        };
        assert_eq!(total(&["--end", "+2s"]) + total(&["--begin", "+2s"]), total(&[]));
    }
}
