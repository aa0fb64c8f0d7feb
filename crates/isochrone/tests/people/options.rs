//! Every option of every command changes the result, or is an error.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::{run, shop};

/// Options whose value says how the work is done and not what comes of it, or that say what is so anyway.
const NEUTRAL: [&str; 8] = [
    "--help",
    "--version",
    "--quiet",
    "--threads",
    "--chunks",
    "--gmt",
    "--write",
    // It counts where messages do not tell the rates.
    "--rate-prior",
];

/// Values that make a difference where an option makes one.
fn values(option: &str) -> Vec<Vec<String>> {
    let one = |value: &str| vec![vec![option.to_owned(), value.to_owned()]];
    match option {
        "--sync" => one(kept()),
        "--timezone" => one("Asia/Tokyo"),
        "--begin" => one("06:10:24"),
        "--end" => one("06:10:26"),
        "--at" => one("06:10:25"),
        "--host" => one("h2"),
        "--reference" => one("h1"),
        "--tid" | "--pid" => one("199"),
        "--procname" => one("appsrv"),
        "--cpu" | "--limit" => one("1"),
        "--min" => one("100us"),
        "--max" => one("5us"),
        "--irq" => vec![vec!["--irq=29".to_owned()]],
        "--softirq" => vec![vec!["--softirq=3".to_owned()]],
        "--fd" | "--bars" => one("3"),
        "--call" => one("read"),
        "--errno" => one("EAGAIN"),
        "--event" => one("sched_switch"),
        "--where" => one("prev_tid == 199"),
        "--pixels" => one("2"),
        "--store" => one("/no/such.store"),
        "--format" => one("json"),
        "--to" => one("h3"),
        // Of the columns and the tables, some.
        "--sort" => ["comm", "count", "number", "cpu", "name", "fd"].into_iter().flat_map(one).collect(),
        "--table" => {
            ["cpus", "fds", "freq", "log", "soft", "processes", "total", "top", "names", "states", "syscalls"]
                .into_iter()
                .flat_map(one)
                .collect()
        }
        "--clock" => one("steered:20"),
        "--wander" => one("0.5"),
        "--rate-prior" => one("100"),
        "--asymmetry" => one("0.9"),
        "--trust-clock" => one("h1,h2"),
        "--captured" => one("h1=way"),
        "--messages" | "--output" => one("/no/such/file"),
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
fn options(command: &str) -> BTreeSet<String> {
    let help = run(&[command, "--help"]).out;
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

/// Checks a command, given as it is typed without its traces.
fn check(command: &[&str], hosts: &[&str]) {
    let traces: Vec<String> = hosts.iter().map(|host| shop(host)).collect();
    let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
    let plain = run(&[command, &traces].concat());
    assert_eq!(plain.status, Some(0), "{command:?}: {}", plain.err);
    let options = options(command[0]);
    assert!(options.len() > 3, "{command:?}: {options:?}");
    options.par_iter().filter(|option| !NEUTRAL.contains(&option.as_str())).for_each(|option| {
        let mut said = Vec::new();
        for value in values(option) {
            let value: Vec<&str> = value.iter().map(String::as_str).collect();
            let with = run(&[command, &value, &traces].concat());
            let is_error = with.status == Some(2) && with.out.is_empty() && !with.err.is_empty();
            if is_error || with.out != plain.out {
                // An error is one of the option's own.
                let told = option.trim_start_matches('-');
                let is_named = with.err.contains(told)
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

#[test]
fn of_analyses() {
    for analysis in [
        "cputop",
        "fds",
        "irqfreq",
        "irqlog",
        "irqstats",
        "processes",
        "schedfreq",
        "schedlog",
        "schedstats",
        "schedtop",
        "syscalls",
        "syscallstats",
    ] {
        check(&["analyze", analysis], &["client", "app"]);
    }
}

#[test]
fn of_events() {
    check(&["events"], &["client", "app"]);
}

#[test]
fn of_sync() {
    // With a message whose time is shown.
    check(&["sync"], &["client", "app", "db"]);
}

#[test]
fn of_info() {
    check(&["info"], &["client", "app"]);
}
