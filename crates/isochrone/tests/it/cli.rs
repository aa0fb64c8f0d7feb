//! The binary as a user meets it: what works, and what each kind of bad input gets.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn isochrone(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("isochrone").unwrap();
    command.args(arguments);
    command
}

fn shop(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Runs a command; compares its status, and looks for texts in what it says on stderr.
fn check(arguments: &[&str], status: i32, stderr: &[&str]) -> String {
    let output = isochrone(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said: {said}");
    for text in stderr {
        assert!(said.contains(text), "{arguments:?} does not say `{text}` but: {said}");
    }
    String::from_utf8(output.stdout).unwrap()
}

/// A writable copy of one of the example's traces.
fn copy_of(name: &str, to: &Path) -> PathBuf {
    let from = Path::new(&shop(name)).join("kernel");
    fs::create_dir_all(to.join("kernel")).unwrap();
    for file in ["metadata", "ch_0"] {
        fs::write(to.join("kernel").join(file), fs::read(from.join(file)).unwrap()).unwrap();
    }
    to.to_owned()
}

#[test]
fn three_hosts_are_put_on_one_clock() {
    let (client, app, db) = (shop("client"), shop("app"), shop("db"));
    let report = check(&["sync", &client, &app, &db], 0, &[]);
    assert!(report.contains("3 hosts on the clock of h2, by 774 messages"), "{report}");
    let json = check(&["sync", "--format", "json", "--reference", "h3", &client, &app, &db], 0, &[]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["version"], 2);
    assert_eq!(json["reference"], "h3");
    // Client and database exchanged nothing.
    assert_eq!(json["links"].as_array().unwrap().len(), 2);
}

#[test]
fn corrections_come_from_files_that_end() {
    let client = shop("client");
    let events = |path: &str, expect: &str| {
        check(&["events", "--sync", path, &client], 2, &[&format!("cannot read {path}: {expect}")]);
    };
    events("/dev/zero", "not a regular file");
    events("/", "not a regular file");
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    events(pipe.to_str().unwrap(), "not a regular file");
    let large = directory.path().join("large");
    fs::File::create(&large).unwrap().set_len((256 << 20) + 1).unwrap();
    events(large.to_str().unwrap(), "it has more than 268435456 bytes, the most that are read");
}

#[test]
fn pairs_without_messages_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let run = |hosts: usize, expect: &str| {
        let mut list = format!("{hosts}\n");
        for (a, b) in (0..hosts).map(|a| (a, (a + 1) % hosts)) {
            for second in 0..3 {
                list += &format!("{a} {b} {second}.1 {second}.101\n{b} {a} {second}.2 {second}.201\n");
            }
        }
        fs::write(path("list"), list).unwrap();
        let report = check(&["sync", "--messages", &path("list"), "-o", &path("s.json")], 0, &[]);
        assert!(report.contains(expect), "{report}");
        let json: Value = serde_json::from_str(&fs::read_to_string(path("s.json")).unwrap()).unwrap();
        assert_eq!(json["links"].as_array().unwrap().len(), hosts);
        check(&["convert", "--sync", &path("s.json"), "--from", "0", "--to", "2", "1.5"], 0, &[]);
    };
    run(
        4,
        "\n0 and 2 exchanged no packet that both traced.\n1 and 3 exchanged no packet that both traced.\n",
    );
    run(50, "\n1,175 other pairs of hosts exchanged no packet that both traced.\n");
}

#[test]
fn threads_have_an_end() {
    let client = shop("client");
    let table = |threads: &str| check(&["analyze", "cputop", "--threads", threads, &client], 0, &[]);
    assert_eq!(table("1000000"), table("1"));
}

/// A path that does not exist is a mistake, and often the value of an option: nothing is read then, and nothing shown.
#[test]
fn a_missing_file_is_an_error_before_any_work() {
    let (client, app) = (shop("client"), shop("app"));
    let missing = ["cannot read /no/such/trace: no such file or directory"];
    for command in ["sync", "info", "events", "dump", "index"] {
        assert_eq!(check(&[command, "/no/such/trace"], 2, &missing), "");
    }
    assert_eq!(check(&["sync", &client, &app, "/no/such/trace"], 2, &missing), "");
    assert_eq!(check(&["analyze", "cputop", &client, "/no/such/trace"], 2, &missing), "");
    let value = ["cannot read 27: no such file", "the value of an option follows `=`"];
    assert_eq!(check(&["analyze", "irqstats", "--irq", "27", &app], 2, &value), "");
    let value = ["cannot read ms: no such file", "--min=10ms"];
    assert_eq!(check(&["analyze", "schedtop", "--min", "10", "ms", &app], 2, &value), "");
}

#[test]
fn an_empty_directory_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().to_str().unwrap();
    for command in ["sync", "info", "events"] {
        check(
            &[command, path],
            2,
            &[path, "no CTF trace found: no directory at or below it has a metadata file"],
        );
    }
    check(&["dump", path], 2, &["not a CTF trace: it has no metadata file"]);
}

#[test]
fn a_truncated_stream_costs_the_packet_that_was_cut() {
    let directory = tempfile::tempdir().unwrap();
    let app = copy_of("app", &directory.path().join("app"));
    let file = fs::File::options().write(true).open(app.join("kernel/ch_0")).unwrap();
    file.set_len(1_500_000).unwrap();
    let app = app.to_str().unwrap();
    let told = ["ch_0: packet 1, byte 1048576", "a packet of 688128 bytes was cut off"];
    let report = check(&["sync", &shop("client"), app], 1, &told);
    assert!(report.contains("2 hosts on the clock of "), "{report}");
    let info = check(&["info", "--format", "json", app], 1, &told);
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["traces"][0]["events"], 21_880);
    assert_eq!(info["traces"][0]["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn metadata_errors_name_line_and_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("broken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("metadata"), "/* CTF 1.8 */\ntrace {\n\tmajor = 1\n\tminor = 8;\n};\n").unwrap();
    let path = path.to_str().unwrap();
    let told = ["metadata:4:2: expected `;`", "\n   minor = 8;\n   ^"];
    check(&["info", path], 2, &told);
    let report = check(&["sync", path, &shop("client"), &shop("app")], 1, &told);
    assert!(report.contains("2 hosts on the clock of "));
}

#[test]
fn hosts_that_never_talk_are_islands() {
    let report = check(&["sync", &shop("client"), &shop("db")], 1, &[]);
    assert!(report.contains("The hosts fall into 2 islands"), "{report}");
    assert!(report.contains("h1 and h3 exchanged no packet that both traced."), "{report}");
}

#[test]
fn a_trace_named_twice_is_used_once() {
    let (client, app) = (shop("client"), shop("app"));
    let inner = format!("{client}/kernel");
    let report = check(&["sync", &client, &app, &inner], 0, &["was named twice and is used once"]);
    assert!(report.contains("2 hosts on the clock of "));
    let directory = tempfile::tempdir().unwrap();
    let copy = copy_of("client", &directory.path().join("copy"));
    let report = check(&["sync", &client, &app, copy.to_str().unwrap()], 0, &["is a copy of"]);
    assert!(report.contains("2 hosts on the clock of "));
    check(
        &["sync", &client, &client],
        0,
        &["all traces are of one clock, that of h1: there is nothing to synchronize"],
    );
}

#[test]
fn an_unknown_reference_is_refused() {
    let told = ["no host is called `h9`; there are h1, h2"];
    check(&["sync", "--reference", "h9", &shop("client"), &shop("app")], 2, &told);
}

#[test]
fn times_go_there_and_back_within_their_bounds() {
    let directory = tempfile::tempdir().unwrap();
    let sync = directory.path().join("sync.json");
    let sync = sync.to_str().unwrap();
    check(&["sync", "-q", "-o", sync, &shop("client"), &shop("app"), &shop("db")], 0, &[]);
    let convert = |from: &str, to: &str, raw: i64| -> (i64, i64, i64) {
        let raw = raw.to_string();
        let arguments =
            ["convert", "--sync", sync, "--from", from, "--to", to, "--raw", "--format", "json", &raw];
        let json: Value = serde_json::from_str(&check(&arguments, 0, &[])).unwrap();
        let bounds = &json[0]["bounds_ns"];
        (json[0]["to_ns"].as_i64().unwrap(), bounds[0].as_i64().unwrap(), bounds[1].as_i64().unwrap())
    };
    for raw in [20_000_000_000, 23_456_789_012, 25_000_000_000] {
        let (there, lo, hi) = convert("h1", "h3", raw);
        assert!(lo <= there && there <= hi);
        let (back, lo, hi) = convert("h3", "h1", there);
        assert!((back - raw).abs() <= 2, "{back} is not {raw}");
        assert!(lo <= raw && raw <= hi);
    }
    check(&["convert", "--sync", sync, "--from", "h1", "--raw", "1"], 1, &[]);
    check(
        &["convert", "--sync", sync, "--from", "h9", "1"],
        2,
        &["no host is called `h9`; there are h1, h2, h3"],
    );
    check(&["convert", "--sync", sync, "--from", "h1", "soon"], 2, &["`soon` is not a valid time"]);
}

#[test]
fn a_foreign_file_is_no_sync_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.json");
    let run = |content: &str, told: &str| {
        fs::write(&path, content).unwrap();
        check(&["events", "--sync", path.to_str().unwrap(), &shop("db")], 2, &[told]);
    };
    run("nonsense", "not a sync.json: expected");
    run("{\"version\": 7}", "version 7 is not known");
    run("{\"version\": 1}", "missing field");
}

#[test]
fn events_are_filtered() {
    let lines = |arguments: &[&str]| -> Vec<String> {
        let db = shop("db");
        let arguments: Vec<&str> = ["events"].iter().chain(arguments).copied().chain([db.as_str()]).collect();
        check(&arguments, 0, &[]).lines().map(str::to_owned).collect()
    };
    let all = lines(&["--event", "net_*"]);
    assert!(all.len() > 500 && all.iter().all(|line| line.contains("h3 net_")));
    check(&["events", "--host", "h1", &shop("db")], 2, &["no host is called `h1`; there are h3"]);
    let begin = "2026-11-20T06:10:18Z";
    let some = lines(&["--event", "net_*", "--begin", begin, "--end", "1795155019.0"]);
    assert!(!some.is_empty() && some.len() < all.len());
    assert!(some.iter().all(|line| line.starts_with("[06:10:18.")));
    let json = lines(&["--event", "sched_switch", "--format", "json", "--end", "2026-11-20T06:10:17Z"]);
    for line in &json {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["event"], "sched_switch");
        assert!(event["payload"]["next_tid"].is_i64());
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let sync = directory.path().join("sync.json");
    let sync = sync.to_str().unwrap();
    let db = shop("db");
    check(&["sync", "-q", "-o", sync, &shop("app"), &db], 0, &[]);
    let commands: [&[&str]; 4] = [
        &["events", &db],
        &["info", "--format", "json", &db],
        &["sync", "--format", "json", &db],
        &["convert", "--sync", sync, "--from", "h2", "--format", "json", "1795155082.0"],
    ];
    for arguments in commands {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("isochrone"))
            .args(arguments)
            .arg("--quiet")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}

#[test]
fn copies_collide_or_exist_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("together");
    let target = target.to_str().unwrap();
    let (client, app) = (shop("client"), shop("app"));
    let (inner, other) = (format!("{client}/kernel"), format!("{app}/kernel"));
    check(&["sync", "--write", target, &inner, &other], 2, &["would both be written to", "kernel_"]);
    assert!(!Path::new(target).exists());
    check(&["sync", "--write", target, &client, &app], 0, &[]);
    assert!(Path::new(target).join("client_/kernel/metadata").is_file());
    check(&["sync", "--write", target, &client, &app], 2, &["exists already; nothing was written"]);
    // Copies keep the names of their hosts, and are not taken for their originals' time line by mistake.
    let sync = directory.path().join("sync.json");
    let sync = sync.to_str().unwrap();
    check(&["sync", "-q", "-o", sync, &client, &app], 0, &[]);
    let copy = Path::new(target).join("app_");
    let of_copy =
        check(&["events", "--sync", sync, "--event", "sched_switch", copy.to_str().unwrap()], 0, &[]);
    let of_original = check(&["events", "--sync", sync, "--event", "sched_switch", &app], 0, &[]);
    assert_eq!(of_copy, of_original);
}

#[test]
fn copies_are_not_written_among_their_originals() {
    let directory = tempfile::tempdir().unwrap();
    let client = copy_of("client", &directory.path().join("all/client"));
    copy_of("app", &directory.path().join("all/app"));
    let (all, client) = (directory.path().join("all"), client.to_str().unwrap().to_owned());
    let all = all.to_str().unwrap();
    let told = ["which is to be copied: choose another directory"];
    check(&["sync", "--write", &format!("{client}/together"), &client, &shop("app")], 2, &told);
    check(&["sync", "--write", all, all], 2, &told);
}

#[test]
fn an_empty_trace_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("metadata"), "").unwrap();
    let path = path.to_str().unwrap();
    check(&["info", path], 2, &["the metadata are empty"]);
    check(&["sync", path, &shop("client"), &shop("app")], 1, &["the metadata are empty"]);
    // Metadata without packets.
    let silent = copy_of("db", &directory.path().join("silent"));
    fs::write(silent.join("kernel/ch_0"), "").unwrap();
    let silent = silent.to_str().unwrap();
    check(&["sync", silent, &shop("client"), &shop("app")], 1, &["silent/kernel: it holds no events"]);
    check(&["sync", silent], 2, &["no trace holds events with times", "silent/kernel: it holds no events"]);
}

#[test]
fn two_boots_of_a_host_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    // Another boot: another clock uuid, another offset.
    let reboot = copy_of("client", &directory.path().join("reboot"));
    let metadata = fs::read(reboot.join("kernel/metadata")).unwrap();
    let (uuid, offset) = (b"f40f69c3-f448-4e6e-b33b-f9e20e9d64f0", b"1795155002608724159");
    let edit = |text: Vec<u8>, old: &[u8], new: &[u8]| -> Vec<u8> {
        let at = text.windows(old.len()).position(|window| window == old).unwrap();
        [&text[..at], new, &text[at + old.len()..]].concat()
    };
    let edited = edit(metadata.clone(), uuid, b"00000000-f448-4e6e-b33b-f9e20e9d64f0");
    fs::write(reboot.join("kernel/metadata"), edit(edited, offset, b"1795255002608724159")).unwrap();
    let reboot = reboot.to_str().unwrap();
    let sync = |arguments: &[&str]| -> Value {
        let json = check(arguments, 1, &["several hosts are called h1; h1#2 is the one of "]);
        serde_json::from_str(&json).unwrap()
    };
    let (client, app) = (shop("client"), shop("app"));
    let one = sync(&["sync", "--format", "json", &client, reboot, &app]);
    let other = sync(&["sync", "--format", "json", reboot, &app, &client]);
    assert_eq!(one, other, "names do not depend on the order of the arguments");
    let hosts: Vec<&str> =
        one["clocks"].as_array().unwrap().iter().map(|c| c["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["h1", "h1#2", "h2"]);

    // The same boot after the wall clock was set: one clock, and a note.
    let later = directory.path().join("later");
    fs::create_dir_all(later.join("kernel")).unwrap();
    fs::write(later.join("kernel/metadata"), edit(metadata, offset, b"1795158602608724159")).unwrap();
    let stream = fs::read(Path::new(&client).join("kernel/ch_0")).unwrap();
    // Its second packet alone: another recording of the same clock.
    let size = usize::try_from(u64::from_le_bytes(stream[56..64].try_into().unwrap()) / 8).unwrap();
    fs::write(later.join("kernel/ch_0"), &stream[size..]).unwrap();
    let plain = check(&["sync", "--format", "json", &client, &app], 0, &[]);
    let told = ["h1: the clock offsets of its traces differ by 3600000000000 ns: its wall clock was set"];
    let stepped = check(&["sync", "--format", "json", &client, &app, later.to_str().unwrap()], 0, &told);
    let (plain, stepped): (Value, Value) =
        (serde_json::from_str(&plain).unwrap(), serde_json::from_str(&stepped).unwrap());
    assert_eq!(plain["links"], stepped["links"]);
    for (plain, stepped) in
        plain["clocks"].as_array().unwrap().iter().zip(stepped["clocks"].as_array().unwrap())
    {
        assert_eq!(plain["knots"], stepped["knots"], "nothing else changes");
        assert_eq!(plain["interval"], stepped["interval"]);
    }
}
