//! Every option of every command changes the result, or is an error.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rayon::prelude::*;

use isochrone_testkit::LttngTrace;

use super::{Said, hosts, run, run_with, shop};

/// Options whose value says how the work is done and not what comes of it, or that say what is so anyway.
const NEUTRAL: [&str; 16] = [
    "--help",
    "--version",
    "--quiet",
    // Tried in `tables.rs`.
    "--wide",
    // Tried in `colours.rs`.
    "--no-pager",
    "--threads",
    "--chunks",
    "--gmt",
    "--write",
    // It counts where messages do not tell the rates.
    "--rate-prior",
    // Tried in `watch.rs`.
    "--state",
    "--listen",
    "--metrics-file",
    "--backfill",
    "--poll",
    "--wait-missing",
];

/// Values that make a difference where an option makes one.
fn values(option: &str) -> Vec<Vec<String>> {
    let one = |value: &str| vec![vec![option.to_owned(), value.to_owned()]];
    match option {
        "--sync" => one(kept()),
        // What shows no times reads some.
        "--timezone" => ["", " --begin 15:10:25"]
            .map(|more| format!("--timezone Asia/Tokyo{more}").split(' ').map(str::to_owned).collect())
            .to_vec(),
        "--begin" => one("06:10:24"),
        "--end" => one("06:10:26"),
        "--at" | "--from" => one("06:10:25"),
        "--host" => one("h2"),
        "--reference" | "--per-interface" => one("h1"),
        "--tid" | "--pid" | "--follow" => one("199"),
        "--procname" => one("appsrv"),
        "--cpu" | "--limit" => one("1"),
        "--min" => one("100us"),
        "--max" => one("5us"),
        "--minsize" => one("1000"),
        "--maxsize" => one("10"),
        "--every" | "--for" => one("3s"),
        "--irq" => vec![vec!["--irq=29".to_owned()]],
        "--softirq" => vec![vec!["--softirq=3".to_owned()]],
        "--fd" | "--bars" | "--request" => one("3"),
        "--service" => one("6379"),
        "--thread" => one("h2:199"),
        "--call" => one("read"),
        "--errno" => one("EAGAIN"),
        "--phase" => one("no*"),
        "--event" => one("sched_switch"),
        "--where" => one("prev_tid == 199"),
        "--fd-field" => vec![["--explain", "--fd-field", "prev_tid"].map(str::to_owned).to_vec()],
        "--pixels" => one("2"),
        "--store" => one("/no/such.store"),
        "--format" => one("json"),
        "--to" => one("h3"),
        // Of the columns and the tables, some.
        "--sort" => ["comm", "total", "count", "number", "cpu", "name", "fd", "of"]
            .into_iter()
            .flat_map(one)
            .collect(),
        "--table" => [
            "calls",
            "cpus",
            "fds",
            "freq",
            "log",
            "read",
            "soft",
            "processes",
            "total",
            "top",
            "names",
            "states",
            "syscalls",
        ]
        .into_iter()
        .flat_map(one)
        .collect(),
        "--clock" => one("steered:20"),
        "--resolution" => one("1ms"),
        "--wander" => one("0.5"),
        "--rate-prior" => one("100"),
        "--asymmetry" => one("0.9"),
        "--trust-clock" => one("h1,h2"),
        "--captured" => one("h1=way"),
        "--messages" | "--rtt" => one("/no/such/file"),
        "--method" => one("hull"),
        "--html" | "--output" => one("/proc/none/file"),
        "--traces" => one("/no/such/traces"),
        "--piece" => one("1/2"),
        "--buffer" => one("1MiB"),
        "--tracer" => one("ftrace"),
        "--skip" => one("web1"),
        "--ssh" => one("ssh -v"),
        "--on-host" => one("/tmp"),
        // Without a value it takes what stands behind it for one.
        "--cluster" => [one("127.0.0.1:1"), vec![vec![option.to_owned()]]].concat(),
        _ => vec![vec![option.to_owned()]],
    }
}

/// Corrections that choose another reference than the way does.
fn kept() -> &'static str {
    static KEPT: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    let (_, path) = KEPT.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sync.json").to_str().unwrap().to_owned();
        let said = run(&["sync", "-q", "--reference", "h2", "-o", &path, &shop("client"), &shop("app")]);
        assert_eq!(said.status, Some(0), "{}", said.err);
        (directory, path)
    });
    path
}

/// The options of a command, as its help lists them.
fn options(command: &[&str]) -> BTreeSet<String> {
    let help = run(&[command, &["--help"]].concat()).out;
    let listed = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let long = line
            .strip_prefix("--")
            .or_else(|| line.split_once(", --").filter(|(short, _)| short.len() == 2)?.1.into())?;
        let name = long.split([' ', '=', '[', '<']).next()?;
        Some(format!("--{name}"))
    });
    listed.collect()
}

/// Checks a command, given as it is typed: what stands before its options, and what stands behind them.
fn check(command: &[&str], behind: &[&str]) {
    let cache = tempfile::tempdir().unwrap();
    check_by(command, |between| {
        let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
        run_with(&variables, &[command, between, behind].concat())
    });
}

/// The same of a command that writes a file, whose name stands behind all.
fn check_file(command: &[&str], behind: &[&str]) {
    check_by(command, |between| {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let said = run(&[command, between, behind, &["-o", file.to_str().unwrap()]].concat());
        let written = std::fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Said { out: said.out + &written.unwrap_or_default(), ..said }
    });
}

/// Checks a command by what comes of it with some options.
fn check_by(command: &[&str], run: impl Fn(&[&str]) -> Said + Sync) {
    let plain = run(&[]);
    assert_eq!(plain.status, Some(0), "{command:?}: {}", plain.err);
    let is_across = command.get(1).is_some_and(|name| *name == "critical-path");
    let named = match command.get(1) {
        Some(_) if is_across => &command[1..2],
        Some(&"eval") => &command[..2],
        _ => &command[..1],
    };
    let options = options(named);
    assert!(options.len() >= 3, "{command:?}: {options:?}");
    // All messages between two hosts are of each of them; of three, it is tried in `questions.rs`.
    let is_neutral =
        |option: &str| NEUTRAL.contains(&option) || (named == ["messages"].as_slice() && option == "--host");
    options.par_iter().filter(|option| !is_neutral(option)).for_each(|option| {
        let mut said = Vec::new();
        for value in values(option) {
            let value: Vec<&str> = value.iter().map(String::as_str).collect();
            let with = run(&value);
            let is_error = with.status == Some(2) && with.out.is_empty() && !with.err.is_empty();
            if is_error || with.out != plain.out {
                // An error is one of the option's own.
                let told = option.trim_start_matches('-');
                let is_named = with.err.contains(told)
                    || with.err.contains("required arguments were not provided:\n  --")
                    || option == "--store"
                    || option == "--output"
                    || option == "--messages"
                    || option == "--trust-clock";
                if !is_error
                    || is_named
                    || with.err.contains("no table is called")
                    || with.err.contains("no capture")
                {
                    return;
                }
            }
            said.push(with.err);
        }
        panic!("{command:?}: {option} changes nothing, and is no error: {said:?}");
    });
}

/// Checks a command of traces of the example.
fn check_on(command: &[&str], hosts: &[&str]) {
    let traces: Vec<String> = hosts.iter().map(|host| shop(host)).collect();
    check(command, &traces.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn of_analyses() {
    for analysis in [
        "cputop",
        "fds",
        "iolatencyfreq",
        "iolatencystats",
        "iolatencytop",
        "iolog",
        "iousagetop",
        "irqfreq",
        "irqlog",
        "irqstats",
        "memtop",
        "processes",
        "schedfreq",
        "schedlog",
        "schedstats",
        "schedtop",
        "syscalls",
        "syscallstats",
        "usage",
    ] {
        check_on(&["analyze", analysis], &["client", "app"]);
    }
}

#[test]
fn of_states() {
    // By its own name and by that of `analyze`.
    check_on(&["states"], &["client", "app"]);
    check_on(&["analyze", "states"], &["client", "app"]);
}

/// The helps of analyses that are commands name nothing that does not apply to them.
#[test]
fn helps_name_what_applies() {
    let traces = [shop("client"), shop("app")];
    for command in ["states", "phases"] {
        let listed = options(&[command]);
        assert!(listed.contains("--tid") && !listed.contains("--around"), "{listed:?}");
        listed.par_iter().filter(|option| *option != "--help").for_each(|option| {
            for value in values(option) {
                let value = value.iter().map(String::as_str);
                let typed: Vec<&str> = [command].into_iter().chain(value).collect();
                let said = run(&[typed, traces.iter().map(String::as_str).collect()].concat());
                let refusal = format!("does not apply to {command}");
                assert!(!said.err.contains(&refusal), "{command} {option}: {}", said.err);
            }
        });
    }
}

#[test]
fn of_questions_across_hosts() {
    for command in ["critical-path", "accounting", "blocking", "bottleneck", "ipc", "messages"] {
        check_on(&[command], &["client", "app"]);
    }
    // By the name of `analyze`, too.
    check_on(&["analyze", "critical-path"], &["client", "app"]);
}

#[test]
fn of_events() {
    check_on(&["events"], &["client", "app"]);
}

#[test]
fn of_sync() {
    // With a message whose time is shown.
    check_on(&["sync"], &["client", "app", "db"]);
}

#[test]
fn of_sync_eval() {
    check_on(&["sync", "eval"], &["client", "app"]);
}

#[test]
fn of_info() {
    // A session that was rotated: its chunks can be shown together or apart.
    let directory = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::kernel("web1");
    for second in 1..9_u64 {
        trace.event(0, second * 1_000_000_000, "sched_switch", &[("next_tid", 9.into())]);
    }
    trace.write_rotated(directory.path(), &[3_000_000_000, 6_000_000_000]).unwrap();
    check(&["info"], &[directory.path().to_str().unwrap()]);
}

#[test]
fn of_index() {
    check_on(&["index"], &["client", "app"]);
}

#[test]
fn of_watch() {
    let directory = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::kernel("web1");
    trace.cpus(2);
    for at in 0..90_u64 {
        let next = 9 + at % 3;
        let fields =
            [("prev_tid", (9 + (at + 2) % 3).into()), ("next_tid", next.into()), ("next_comm", "a".into())];
        trace.event(at as u32 % 2, 1_000_000_000 + at * 100_000_000, "sched_switch", &fields);
    }
    trace.write_rotated(directory.path(), &[3_000_000_000, 6_000_000_000]).unwrap();
    let archives = directory.path().join("archives");
    for chunk in 0..3 {
        std::fs::rename(archives.join(chunk.to_string()), archives.join(format!("T-T-{chunk}"))).unwrap();
    }
    check(&["watch", "cputop", "--once"], &[directory.path().to_str().unwrap()]);
}

#[test]
fn of_record() {
    check(&["record", "--print"], &[]);
}

#[test]
fn of_map() {
    for analysis in ["cputop", "syscallstats", "irqstats", "iolatencystats", "schedlog"] {
        check_file(&["map", analysis], &[&shop("client")]);
    }
    // The name of an option may also be that of one of another command.
    let written = |more: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("piece");
        let said = run(&[&["map", "cputop", &shop("client"), "-o", file.to_str().unwrap()], more].concat());
        assert_eq!(said.status, Some(0), "{more:?}: {}", said.err);
        std::fs::read(file).unwrap()
    };
    let whole = written(&[]);
    for more in [["--piece", "1/2"], ["--from", "06:10:25"], ["--to", "06:10:25"]] {
        assert_ne!(written(&more), whole, "{more:?}");
    }
}

#[test]
fn of_merge() {
    let directory = tempfile::tempdir().unwrap();
    let pieces = ["1/2", "2/2"].map(|piece| {
        let file = directory.path().join(piece.replace('/', "-"));
        let file = file.to_str().unwrap().to_owned();
        let said = run(&["map", "cputop", &shop("client"), "--piece", piece, "-o", &file]);
        assert_eq!(said.status, Some(0), "{}", said.err);
        file
    });
    check_file(&["merge"], &[&pieces[0], &pieces[1]]);
    let nowhere = run(&["merge", &pieces[0], &pieces[1], "-o", "/proc/none/file"]);
    assert!(nowhere.status == Some(2) && nowhere.err.contains("/proc/none"), "{}", nowhere.err);
}

#[test]
fn of_export() {
    check_on(&["export", "--to", "chrome"], &["client", "app"]);
    check_on(&["export", "--to", "openmetrics"], &["client", "app"]);
    // With the server's host: without it, requests have no name.
    check_on(&["export", "--to", "otlp"], &["client", "app"]);
}

#[test]
fn of_summary() {
    check_on(&["summary"], &["client", "app"]);
}

#[test]
fn of_convert() {
    let [client, app, db] = hosts();
    // A number that is a Unix time and, with --raw, one of the host's own clock.
    let command = ["convert", "--from", "h1", "1795155030500000000"];
    check(&command, &["--traces", &client, &app, &db]);
    let from = |host: &str| run(&["convert", "--from", host, command[3], "--traces", &client, &app, &db]).out;
    assert_ne!(from("h1"), from("h3"));
}

#[test]
fn of_order() {
    let [client, app, _] = hosts();
    // Numbers that are Unix times on the clock of h1, to which these two are synchronized, and, with --raw, values of the hosts' own clocks.
    let command = ["order", "h1", "1795155030650300000", "h2", "1795155030650500000"];
    check(&command, &["--traces", &client, &app]);
}
