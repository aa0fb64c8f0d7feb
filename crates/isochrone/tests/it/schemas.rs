//! What commands write as JSON has the shapes that `docs/schemas` describes: on the example, and on real clusters beside the project.

use std::path::{Path, PathBuf};
use std::process::Command;

use jsonschema::Validator;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn schema(name: &str) -> Validator {
    let text = std::fs::read_to_string(root().join(format!("docs/schemas/{name}.json"))).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// What a command prints, document by document.
fn documents(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).arg("-q").args(arguments).output().unwrap();
    let status = output.status.code();
    assert!(matches!(status, Some(0 | 1)), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    documents.collect::<Result<_, _>>().unwrap()
}

/// Checks all that a command prints, which are so many documents at least.
fn check(name: &str, arguments: &[&str], at_least: usize) {
    let (schema, found) = (schema(name), documents(arguments));
    assert!(found.len() >= at_least, "{arguments:?}: {}", found.len());
    for document in &found {
        let wrong: Vec<String> =
            schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{arguments:?} is not as docs/schemas/{name}.json says: {wrong:#?}");
    }
}

fn shop() -> String {
    root().join("examples/shop").to_str().unwrap().to_owned()
}

#[test]
fn of_the_example() {
    let shop = &shop();
    check("sync", &["sync", "--format", "json", shop], 1);
    check("info", &["info", "--format", "json", shop], 1);
    let times = ["--from", "h1", "--to", "h3", "06:10:30.5", "06:10:31", "--traces", shop];
    check("convert", &[&["convert", "--format", "json"], &times[..]].concat(), 1);
    let order = |late: &str| {
        check(
            "order",
            &["order", "--format", "json", "h1", "06:11:30.6503", "h2", late, "--traces", shop],
            1,
        );
    };
    ["06:11:30.6513", "06:11:30.6505", "06:11:30.65031", "07:00"].into_iter().for_each(order);
    check("event", &["events", "--format", "json", "--bounds", "--end", "06:11:22", shop], 1000);
    check("event", &["events", "--format", "json", "--no-sync", "--end", "06:10:22", shop], 1000);
    check("event", &["events", "--format", "json", "--explain", "--end", "06:11:22", shop], 1000);
}

#[test]
fn of_all_reports() {
    let shop = &shop();
    let all = documents(&["analyze", "cputop", "--format", "json", shop]);
    assert_eq!(all.len(), 1);
    let analyses = [
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
        "periodfreq",
        "periodlog",
        "periodstats",
        "periodtop",
        "processes",
        "schedfreq",
        "schedlog",
        "schedstats",
        "schedtop",
        "syscalls",
        "syscallstats",
        "usage",
    ];
    check("report", &["analyze", &analyses.join(","), "--format", "json", shop], analyses.len());
    check("row", &["analyze", "schedtop,usage", "--format", "jsonl", shop], 1000);
    for name in ["states", "phases", "critical-path", "accounting", "blocking", "ipc", "messages"] {
        check("report", &["analyze", name, "--format", "json", shop], 1);
    }
    check("report", &["analyze", "schedlog", "--bounds", "--format", "json", shop], 1);
    check("report", &["analyze", "processes", "--at", "06:11:25", "--format", "json", shop], 1);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_real_clusters() {
    // Steps, slews, captures, losses, refused links, user space, other tracers.
    let data = root().join("../shared/data");
    for traces in ["vm/ping5", "vm/step2", "vm/lossy2", "vm/mpi4", "scp", "ust", "ctf/traces"] {
        let path = data.join(traces);
        let path = path.to_str().unwrap();
        check("info", &["info", "--format", "json", path], 1);
        if traces.starts_with("vm") || traces == "scp" {
            check("sync", &["sync", "--format", "json", path], 1);
        }
    }
}

/// Other shapes are refused.
#[test]
fn schemas_say_something() {
    let shop = &shop();
    let check = |name: &str, arguments: &[&str], change: &dyn Fn(&mut Value)| {
        let mut document = documents(arguments).remove(0);
        let schema = schema(name);
        assert!(schema.is_valid(&document));
        change(&mut document);
        assert!(!schema.is_valid(&document), "{name}");
    };
    let sync = ["sync", "--format", "json", shop];
    check("sync", &sync, &|it| it["version"] = 3.into());
    check("sync", &sync, &|it| it["clocks"][0]["knots"][0][1] = 1.5.into());
    check("sync", &sync, &|it| it["links"][0]["quality"] = "good".into());
    check("sync", &sync, &|it| it["more"] = 1.into());
    let report = ["analyze", "cputop", "--format", "json", shop];
    check("report", &report, &|it| it["tables"][0]["rows"][0][0] = Value::Array(Vec::new()));
    check("report", &report, &|it| it["tables"][0]["columns"][0]["unit"] = "m".into());
    check("info", &["info", "--format", "json", shop], &|it| it["traces"][0]["packets"] = (-1).into());
}
