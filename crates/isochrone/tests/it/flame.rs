//! Flame graphs: what they add up to, of waits and of functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isochrone_testkit::LttngTrace;
use serde_json::Value;
use uuid::Uuid;

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
    check(&["--symbols", "/dev/null"], "no functions: neither a program nor what `nm` prints");
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

const ENTRY: &str = "lttng_ust_cyg_profile:func_entry";
const EXIT: &str = "lttng_ust_cyg_profile:func_exit";
const NAME: &str = "lttng_ust_statedump:procname";
const BINARY: &str = "lttng_ust_statedump:bin_info";

/// A trace of a program on host h1, with such contexts.
fn program(session: u128, contexts: &[&str]) -> LttngTrace {
    let mut trace = LttngTrace::user_space("h1");
    let number = |name: &str| format!("integer {{ size = 64; align = 8; signed = true; }} _{name}; ");
    let address = |name: &str| format!("integer {{ size = 64; align = 8; base = 16; }} _{name}; ");
    let text = |name: &str| format!("string {{ encoding = UTF8; }} _{name}; ");
    trace.uuid(Uuid::from_u128(session)).define(ENTRY, &address("addr")).define(EXIT, &address("addr"));
    trace.define(NAME, &text("procname"));
    trace.define(BINARY, &(address("baddr") + &address("memsz") + &text("path")));
    if !contexts.is_empty() {
        let fields = contexts.iter().map(|name| if *name == "procname" { text(name) } else { number(name) });
        trace.context(&fields.collect::<String>());
    }
    trace
}

const CONTEXTS: [&str; 2] = ["vpid", "vtid"];

/// Entries (`true`) and exits of the functions of a thread at some times.
fn calls(trace: &mut LttngTrace, (pid, tid): (i64, i64), calls: &[(u64, bool, u64)]) {
    for &(at, is_entry, function) in calls {
        let who = [("context.vpid", pid.into()), ("context.vtid", tid.into()), ("addr", function.into())];
        trace.event(0, at, if is_entry { ENTRY } else { EXIT }, &who);
    }
}

fn says_name(trace: &mut LttngTrace, at: u64, pid: i64, name: &str) {
    let who = [("context.vpid", pid.into()), ("context.vtid", 99.into()), ("procname", name.into())];
    trace.event(0, at, NAME, &who);
}

/// What is written of some traces: the lines of stdout, stderr and the status.
fn flame(traces: &mut [LttngTrace], options: &[&str]) -> (Vec<String>, String, Option<i32>) {
    let directory = tempfile::tempdir().unwrap();
    let write = |(number, trace): (usize, &mut LttngTrace)| {
        let path = directory.path().join(number.to_string());
        trace.write(&path).unwrap();
        path
    };
    let paths: Vec<PathBuf> = traces.iter_mut().enumerate().map(write).collect();
    let said = isochrone(directory.path(), &[&["flame"], options].concat(), &paths);
    let [out, err] = [said.stdout, said.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (out.lines().map(str::to_owned).collect(), err, said.status.code())
}

#[test]
fn a_program_that_another_one_executes_begins_anew() {
    let mut trace = program(1, &CONTEXTS);
    says_name(&mut trace, 500, 7, "first");
    calls(&mut trace, (7, 7), &[(1_000, true, 0x10), (1_500, true, 0x11), (1_700, false, 0x11)]);
    says_name(&mut trace, 2_000, 7, "second");
    calls(&mut trace, (7, 7), &[(3_000, true, 0x20), (3_400, false, 0x20)]);
    // The same name again is the same program: a list of all is made when it is asked for.
    says_name(&mut trace, 3_450, 7, "second");
    calls(&mut trace, (7, 7), &[(3_500, true, 0x20), (3_600, false, 0x20)]);
    let (lines, notes, status) = flame(&mut [trace], &[]);
    assert_eq!(lines, ["h1 first;0x10 500", "h1 first;0x10;0x11 200", "h1 second;0x20 500"]);
    assert!(notes.contains("had not ended: their time is that up to the last event of their thread: 1"));
    assert_eq!(status, Some(0));
}

#[test]
fn a_process_that_two_sessions_record_is_not_counted_twice() {
    let session = |number: u128, from: u64| {
        let mut trace = program(number, &CONTEXTS);
        calls(&mut trace, (7, 7), &[(from, true, 0x10), (from + 500, false, 0x10)]);
        trace
    };
    let (lines, said, status) = flame(&mut [session(1, 1_000), session(2, 1_200)], &[]);
    assert_eq!((lines.len(), status), (0, Some(2)), "{said}");
    assert!(said.contains("several sessions recorded the functions of a process at one time"), "{said}");
    // One after the other is no contradiction, and neither are chunks of one session.
    for other in [session(2, 2_000), session(1, 2_000)] {
        let (lines, said, _) = flame(&mut [session(1, 1_000), other], &[]);
        assert_eq!(lines, ["h1 ?;0x10 1000"], "{said}");
    }
}

/// Exits below a very deep stack are missing: the next exit of an outer function ends all of them.
#[test]
fn stacks_are_right_again_after_a_loss() {
    for depth in [10, 2_000] {
        let mut trace = program(1, &CONTEXTS);
        calls(&mut trace, (7, 7), &[(1_000, true, 0x1), (1_001, true, 0x2)]);
        let deep: Vec<_> = (0..depth).map(|number| (1_002 + number, true, 0x3)).collect();
        calls(&mut trace, (7, 7), &deep);
        let more = [(10_000, false, 0x2), (20_000, true, 0x4), (50_000, false, 0x4), (50_000, false, 0x1)];
        calls(&mut trace, (7, 7), &more);
        let (lines, notes, _) = flame(&mut [trace], &[]);
        assert!(lines.contains(&"h1 ?;0x1;0x4 30000".to_owned()), "{depth}: {lines:?}");
        assert!(lines.contains(&"h1 ?;0x1 10001".to_owned()), "{depth}: {lines:?}");
        let missing = if depth < 1_000 { "10" } else { "2,000" };
        assert!(notes.contains(&format!("they end with what called them: {missing}\n")), "{notes}");
    }
}

/// Without a context, an event or a thread that was asked for: what is missing is named, and no time is made
/// up.
#[test]
fn what_functions_lack_is_named() {
    let of = |contexts: &[&str], options: &[&str]| {
        let mut trace = program(1, contexts);
        for (at, name, function) in [(1_000, ENTRY, 0x10_u64), (2_000, EXIT, 0x10)] {
            let mut fields = vec![("addr", function.into())];
            for name in contexts {
                fields.push(match *name {
                    "vpid" => ("context.vpid", 7.into()),
                    "vtid" => ("context.vtid", i64::MIN.into()),
                    _ => ("context.procname", "p".into()),
                });
            }
            trace.event(0, at, name, &fields);
        }
        flame(&mut [trace], options)
    };
    assert_eq!(of(&["vpid", "vtid", "procname"], &[]).0, ["h1 p;0x10 1000"]);
    // The least number of all is no reason to end.
    assert_eq!(of(&["vtid"], &[]).0, ["h1 ?;0x10 1000"]);
    for contexts in [&[][..], &["vpid"], &["procname"]] {
        let (lines, said, status) = of(contexts, &[]);
        assert_eq!((lines.len(), status), (0, Some(2)), "{contexts:?}");
        assert!(said.contains("have no context `vtid`"), "{contexts:?}: {said}");
    }
    let (lines, said, status) = of(&["vpid", "vtid"], &["--pid", "8"]);
    assert_eq!((lines.len(), status), (0, Some(0)), "{said}");
    assert!(said.contains("no event that was looked at is of a process 8"), "{said}");
    assert!(!said.contains("no program recorded"), "{said}");
    // Only one of the two events.
    let mut entries = program(1, &CONTEXTS);
    calls(&mut entries, (7, 7), &[(1_000, true, 0x10), (1_500, true, 0x11)]);
    let (lines, said, _) = flame(&mut [entries], &[]);
    assert_eq!(lines, ["h1 ?;0x10 500"]);
    assert!(
        said.contains("had not ended: their time is that up to the last event of their thread: 2"),
        "{said}"
    );
    let mut exits = program(1, &CONTEXTS);
    calls(&mut exits, (7, 7), &[(1_000, false, 0x10), (1_500, false, 0x11)]);
    let (lines, said, _) = flame(&mut [exits], &[]);
    assert!(lines.is_empty() && said.contains("whose entry is not in the traces"), "{lines:?} {said}");
    let mut lossy = program(1, &CONTEXTS);
    calls(&mut lossy, (7, 7), &[(1_000, true, 0x10)]);
    lossy.discard(0, 5).end_packet(0);
    calls(&mut lossy, (7, 7), &[(2_000, false, 0x10)]);
    let (_, said, _) = flame(&mut [lossy], &[]);
    assert!(said.contains("5 events were lost"), "{said}");
}

/// Names are of the file that they were given for; without one they are refused where there are several.
#[test]
fn symbols_name_functions_of_their_file_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("names");
    std::fs::write(&file, "0000000000400010 0000000000000010 T work\n").unwrap();
    let traces = |pids: &[i64]| {
        let mut trace = program(1, &CONTEXTS);
        for (number, &pid) in (0..).zip(pids) {
            let at = 1_000 * (number + 1);
            let path = format!("/bin/p{pid}");
            let who = [
                ("context.vpid", pid.into()),
                ("context.vtid", pid.into()),
                ("baddr", 0x40_0000_u64.into()),
                ("memsz", 0x1000_u64.into()),
                ("path", path.as_str().into()),
            ];
            trace.event(0, at, BINARY, &who);
            calls(&mut trace, (pid, pid), &[(at + 100, true, 0x40_0010), (at + 200, false, 0x40_0010)]);
        }
        [trace]
    };
    let names = file.to_str().unwrap();
    let of_p7 = format!("p7={names}");
    assert_eq!(flame(&mut traces(&[7]), &["--symbols", names]).0, ["h1 ?;work 100"]);
    assert_eq!(flame(&mut traces(&[7, 8]), &["--symbols", &of_p7]).0, ["h1 ?;p8+0x10 100", "h1 ?;work 100"]);
    let (_, said, status) = flame(&mut traces(&[7, 8]), &["--symbols", names]);
    assert_eq!(status, Some(2));
    assert!(said.contains("give NAME=FILE for one of /bin/p7, /bin/p8"), "{said}");
}

/// A damaged byte is never a panic, and costs what it makes unreadable.
#[test]
fn a_damaged_byte_is_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let mut trace = program(1, &CONTEXTS);
    says_name(&mut trace, 500, 7, "p");
    let nested = [(1_000, true, 0x10), (1_200, true, 0x11), (1_700, false, 0x11), (2_000, false, 0x10)];
    calls(&mut trace, (7, 7), &nested);
    let path = directory.path().join("trace");
    trace.write(&path).unwrap();
    let stream = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    let stream = stream.filter(|path| path.is_file()).find(|path| !path.ends_with("metadata")).unwrap();
    let whole = std::fs::read(&stream).unwrap();
    for at in (0..whole.len().min(400)).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&stream, bytes).unwrap();
        let said = isochrone(directory.path(), &["flame", "--of", "functions"], std::slice::from_ref(&path));
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(matches!(said.status.code(), Some(0..=2)) && !text.contains("panicked"), "{at}: {text}");
    }
}
