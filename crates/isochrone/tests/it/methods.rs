//! `sync --method`, `sync eval` and `sync --dry-run`: what others have published, held against their own figures.

use std::path::Path;
use std::process::Command;

use crate::common::shared;
use serde_json::Value;

/// What a run writes, and its exit status; parts of the work may be refused.
fn run(arguments: &[&str]) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

fn json(arguments: &[&str]) -> Value {
    let (out, err, status) = run(&[arguments, &["-q", "--format", "json"]].concat());
    assert!(status < 2, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

fn shop() -> [String; 3] {
    ["client", "app", "db"].map(|host| format!("{}/../../examples/shop/{host}", env!("CARGO_MANIFEST_DIR")))
}

/// As C's `%g` shows a number: six digits.
fn six_digits(value: f64) -> String {
    format!("{:.5e}", if value == 0.0 { 0.0 } else { value })
}

/// The number after a word of a line; spaces may stand between its sign and its digits.
fn after(line: &str, word: &str) -> f64 {
    let rest = line.split_once(word).unwrap_or_else(|| panic!("{word} in {line}")).1.trim_start();
    let (sign, rest) = match rest.as_bytes().first() {
        Some(b'-') => (-1.0, rest[1..].trim_start()),
        Some(b'+') => (1.0, rest[1..].trim_start()),
        _ => (1.0, rest),
    };
    sign * rest.split([' ', ')']).next().unwrap().parse::<f64>().unwrap()
}

fn decimal(formula: &Value, part: &str) -> f64 {
    formula[part].as_str().unwrap().parse().unwrap()
}

/// LTTV's own unit tests: what it printed for each of them, built without GLPK, to all digits that it printed.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn hulls_are_those_of_lttv() {
    let lttv = shared().join("data/lttv");
    for test in 1..=12 {
        let printed = std::fs::read_to_string(lttv.join(format!("test{test}_chull_noglpk.txt"))).unwrap();
        let input = lttv.join(format!("inputs/test{test}.txt"));
        let found = json(&["sync", "--method", "hull", "--messages", input.to_str().unwrap()]);
        assert_eq!(found["method"]["name"], "hull");
        let line = |part: &str| printed.lines().find(|line| line.contains(part)).unwrap();
        for clock in 0..2 {
            let formula = &found["clocks"][clock]["formula"];
            let printed = line(&format!("trace {clock} drift="));
            for (part, word) in [("slope", "drift="), ("offset_ns", "offset=")] {
                let expect = six_digits(after(printed, word));
                assert_eq!(
                    six_digits(decimal(formula, part)),
                    expect,
                    "test {test}, clock {clock}: {printed}"
                );
            }
        }
        let factors = &found["links"][0]["factors"];
        assert_eq!((&factors["x"], &factors["y"]), (&"0".into(), &"1".into()));
        let check = |formula: &Value, offset: f64, deviation: f64| {
            assert_eq!(six_digits(decimal(formula, "offset_ns")), six_digits(offset), "test {test}");
            assert_eq!(six_digits(decimal(formula, "slope") - 1.0), six_digits(deviation), "test {test}");
        };
        match factors["outcome"].as_str().unwrap() {
            "accurate" => {
                assert!(printed.contains("Accurate"), "test {test}");
                let (offsets, slopes) = (line("a0:"), line("a1:"));
                let other = |line: &str| after(line, " to ");
                // The flattest line has the greatest offset.
                for (formula, offset, deviation) in [
                    (&factors["min"], other(offsets), after(slopes, "a1: 1")),
                    (&factors["max"], after(offsets, "a0:"), other(slopes)),
                ] {
                    check(formula, offset, deviation);
                }
            }
            "approximate" => {
                let printed = line("Approximate");
                check(&factors["line"], after(printed, "a0="), after(printed, "a1= 1"));
                assert_eq!(
                    six_digits(factors["accuracy"].as_f64().unwrap()),
                    six_digits(after(printed, "error="))
                );
            }
            "incomplete" => {
                assert!(printed.contains("Incomplete"), "test {test}");
                let printed = line("a0:");
                let which = if printed.contains("min:") { "min" } else { "max" };
                check(&factors[which], after(printed, "a0:"), after(printed, "a1: 1"));
                assert!(factors[if which == "min" { "max" } else { "min" }].is_null());
                assert!(factors["line"].is_null());
            }
            other => panic!("test {test}: {other}"),
        }
    }
}

/// Trace Compass's `ExperimentSyncTest`: 46 matches, and a formula of which 28 digits are exact.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_formula_is_that_of_trace_compass() {
    let scp = shared().join("data/scp");
    let traces = ["scp_src", "scp_dest"].map(|trace| scp.join(trace).to_str().unwrap().to_owned());
    let found = json(&["sync", "--method", "tracecompass", &traces[0], &traces[1]]);
    let clock = |uuid: &str| {
        let clocks = found["clocks"].as_array().unwrap();
        clocks.iter().find(|clock| clock["id"].as_str().unwrap().starts_with(uuid)).unwrap()["formula"]
            .clone()
    };
    let source = clock("74715693");
    assert!(source["slope"].as_str().unwrap().starts_with("0.999941378370313901105684583116"), "{source}");
    assert!(source["offset_ns"].as_str().unwrap().starts_with("79796507913179.33347660124688"), "{source}");
    assert_eq!(source["times"], "unix");
    let reference = clock("1a9a454c");
    assert_eq!((&reference["slope"], &reference["offset_ns"]), (&"1".into(), &"0".into()));
    let factors = &found["links"][0]["factors"];
    assert!(
        factors["line"]["slope"].as_str().unwrap().starts_with("1.00005862506638303072330759878"),
        "{factors}"
    );
    assert!(
        factors["line"]["offset_ns"].as_str().unwrap().starts_with("-79801185988752.8776514395542"),
        "{factors}"
    );
    assert_eq!(
        found["links"][0]["messages"]["a_to_b"].as_u64().unwrap()
            + found["links"][0]["messages"]["b_to_a"].as_u64().unwrap(),
        46
    );
    // As many digits as asked.
    let found = json(&["sync", "--method", "tracecompass", "--digits", "50", &traces[0], &traces[1]]);
    let text = found.to_string();
    assert!(text.contains("0.9999413783703139011056845831168396348"), "{text}");
    assert!(text.contains("79796507913179.33347660124688274191"), "{text}");
}

/// The bounds are those of the messages, whoever chooses the estimate.
#[test]
fn no_method_changes_what_is_proven() {
    let [client, app, db] = &shop();
    let usual = json(&["sync", "--reference", "h1", client, app, db]);
    let bounds = |found: &Value| -> Vec<Vec<(i64, i64, i64)>> {
        let rows = |clock: &Value| {
            let rows = clock["interval"].as_array().unwrap().clone();
            let row = |row: &Value| {
                let at = |place: usize| row[place].as_i64().unwrap();
                (at(0), at(1), at(2))
            };
            rows.iter().map(row).collect()
        };
        found["clocks"].as_array().unwrap().iter().map(rows).collect()
    };
    for method in ["margin", "hull", "tracecompass", "linreg"] {
        let found = json(&["sync", "--reference", "h1", "--method", method, client, app, db]);
        assert_eq!(bounds(&found), bounds(&usual), "{method}");
        assert_eq!(found["links"][0]["method"], method);
        assert!(found["links"][0]["factors"]["line"]["slope"].is_string(), "{method}: {}", found["links"][0]);
        assert_ne!(found["clocks"][1]["knots"], usual["clocks"][1]["knots"], "{method}");
        // What it writes can be applied.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sync.json");
        let path = path.to_str().unwrap();
        let (out, _, status) = run(&["sync", "--method", method, "-o", path, client, app, db]);
        assert!(status < 2, "{method}");
        assert!(out.contains("The estimate is "), "{out}");
        assert_eq!(out.contains("Known faults of the original"), method != "margin", "{out}");
        let (events, err, status) = run(&["events", "--sync", path, "--limit", "5", "--bounds", client, app]);
        assert_eq!((status, events.lines().count()), (0, 5), "{err}");
    }
}

#[test]
fn options_of_methods_belong_to_them() {
    let [client, app, _] = &shop();
    let check = |arguments: &[&str], expect: &str| {
        let (out, err, status) = run(&[&["sync"], arguments, &[client.as_str(), app.as_str()]].concat());
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(expect), "{arguments:?}: {err}");
    };
    check(&["--digits", "20"], "--digits");
    check(&["--method", "hull", "--digits", "0"], "1 to 1000");
    check(&["--method", "hull", "--trust-clock", "h1,h2"], "--trust-clock");
    check(&["--method", "best"], "tracecompass");
    check(&["--dry-run", "--method", "hull"], "--dry-run");
    check(&["--dry-run", "-o", "sync.json"], "--dry-run");
}

/// LTTV's own unit tests, as its `eval` judges them: inversions of all messages.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn inversions_are_those_of_lttv() {
    let inputs = shared().join("data/lttv/inputs");
    let check = |test: u32, inverted: u64, messages: u64| {
        let input = inputs.join(format!("test{test}.txt"));
        let found = json(&["sync", "eval", "--no-sync", "--messages", input.to_str().unwrap()]);
        let total = &found["tables"][0];
        assert_eq!(total["name"], "total");
        assert_eq!(
            (&total["rows"][0][0], &total["rows"][0][1]),
            (&messages.into(), &inverted.into()),
            "test {test}"
        );
    };
    check(1, 2, 4);
    check(2, 4, 8);
    check(3, 3, 12);
    check(6, 4, 8);
    check(9, 1, 3);
}

fn table<'f>(found: &'f Value, name: &str) -> &'f Vec<Value> {
    let tables = found["tables"].as_array().unwrap();
    tables.iter().find(|table| table["name"] == name).unwrap()["rows"].as_array().unwrap()
}

#[test]
fn evaluation_sees_what_synchronization_does() {
    let [client, app, db] = &shop();
    let judged = |options: &[&str]| {
        json(&[&["sync", "eval"], options, &[client.as_str(), app.as_str(), db.as_str()]].concat())
    };
    let inverted = |found: &Value| table(found, "total")[0][1].as_u64().unwrap();
    let (own, common) = (judged(&["--no-sync"]), judged(&[]));
    assert_eq!(
        (inverted(&common), own["sync"].as_bool(), common["sync"].as_bool()),
        (0, Some(false), Some(true))
    );
    assert!(inverted(&own) > 0, "{own}");
    // Round trips do not depend on it, and every direction's latencies add up.
    assert_eq!(table(&own, "round_trips"), table(&common, "round_trips"));
    for row in table(&common, "directions") {
        let of_way = table(&common, "histogram").iter().filter(|bar| bar[0] == row[0] && bar[1] == row[1]);
        let sum: u64 = of_way.map(|bar| bar[3].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), row[2].as_u64(), "{row}");
    }
    // Kept corrections say the same.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sync.json");
    let path = path.to_str().unwrap();
    assert_eq!(run(&["sync", "-q", "-o", path, client, app, db]).2, 0);
    assert_eq!(judged(&["--sync", path]), common);
    // Named like a trace they do so too, and alone they name what they were made of.
    assert_eq!(judged(&[path]), common);
    assert_eq!(json(&["sync", "eval", path]), common);
    let refused = |arguments: &[&str], expect: &str| {
        let (_, err, status) = run(&[&["sync", "eval"], arguments].concat());
        assert!(status == 2 && err.contains(expect), "{arguments:?}: {status} {err}");
    };
    refused(&["--sync", path, path], "one sync.json is judged at a time");
    refused(&["--no-sync", path, client, app], "--no-sync");
    refused(&["--messages", "list.txt", client], "--messages");
    // Half of a round trip is the least that a message takes: of a long one, everything is too fast.
    let rtt = directory.path().join("rtt.txt");
    std::fs::write(&rtt, "h1 h2 10000 # ms\n").unwrap();
    let slow = judged(&["--rtt", rtt.to_str().unwrap()]);
    let row = |found: &Value, from: &str, to: &str| {
        table(found, "directions").iter().find(|row| row[0] == from && row[1] == to).unwrap().clone()
    };
    for (from, to) in [("h1", "h2"), ("h2", "h1")] {
        let row = row(&slow, from, to);
        assert_eq!((&row[5], &row[7]), (&row[2], &0.into()), "{row}");
    }
    assert_eq!(
        table(&slow, "total")[0][5],
        row(&slow, "h2", "h3")[2].as_u64().unwrap() + row(&slow, "h3", "h2")[2].as_u64().unwrap()
    );
    std::fs::write(&rtt, "h1 h9 1\n").unwrap();
    let (_, err, _) = run(&["sync", "eval", "--rtt", rtt.to_str().unwrap(), client, app]);
    assert!(err.contains("no host is called h9"), "{err}");
    std::fs::write(&rtt, "h1 h2\n").unwrap();
    let (_, err, status) = run(&["sync", "eval", "--rtt", rtt.to_str().unwrap(), client, app]);
    assert!(status == 2 && err.contains("rtt.txt:1:"), "{err}");
}

/// Kept corrections of a list are held against the list, and not against themselves: those of other clocks do worse.
#[test]
fn kept_corrections_of_a_list_are_judged_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    // Host 1 is 500.7 ms ahead, in whole ms; each message takes 0.2 ms there and 3 ms back.
    let list = |name: &str, ahead: i64| {
        let mut text = "2\n".to_owned();
        for k in 0..200_i64 {
            let sent = 1_795_000_000_000_000_000 + k * 40_123_457;
            let ms = |time: i64| time.div_euclid(1_000_000) * 1_000_000;
            let (there, back) = (sent + 200_000, sent + 3_200_000);
            text += &format!("0 1 {} {}\n1 0 {1} {}\n", ms(sent), ms(there + ahead), ms(back));
        }
        std::fs::write(file(name), text).unwrap();
        file(name)
    };
    let (right, wrong) = (list("right.txt", 500_700_000), list("wrong.txt", 600_700_000));
    for (name, list) in [("right.json", &right), ("wrong.json", &wrong)] {
        let (_, err, status) = run(&["sync", "-o", &file(name), "--reference", "0", "--messages", list]);
        assert!(status == 0 && err.contains("stamps of 0, 1 are in steps of 1 ms"), "{status} {err}");
    }
    let inverted = |kept: &str| {
        table(&json(&["sync", "eval", &file(kept), "--messages", &right]), "total")[0][1].as_u64().unwrap()
    };
    assert_eq!(inverted("right.json"), 0);
    assert_eq!(inverted("wrong.json"), 200);
    let (_, err, status) = run(&["sync", "eval", &file("right.json")]);
    assert!(status == 2 && err.contains("name it with --messages"), "{status} {err}");
    // What the user says counts, for a host or for all.
    let half_width = |arguments: &[&str]| {
        let found = json(&[&["sync", "--reference", "0", "--messages", &right], arguments].concat());
        let rows = found["clocks"][1]["interval"].as_array().unwrap().clone();
        let tick = found["clocks"][1]["resolution"].clone();
        (rows.iter().map(|row| row[2].as_i64().unwrap() - row[1].as_i64().unwrap()).min().unwrap() / 2, tick)
    };
    let (found, tick) = half_width(&[]);
    assert_eq!(tick, serde_json::json!({"tick_ns": 1_000_000, "source": "stamps"}));
    let (said, tick) = half_width(&["--resolution", "1=5ms"]);
    assert_eq!(tick, serde_json::json!({"tick_ns": 5_000_000, "source": "user"}));
    assert!(said > found + 1_900_000, "{found} {said}");
    let (out, _, _) = run(&["sync", "--reference", "0", "--messages", &right]);
    assert!(out.contains("Stamps of 0, 1 are in steps of 1 ms: bounds allow for that."), "{out}");
    let (_, err, status) = run(&["sync", "--messages", &right, "--resolution", "0"]);
    assert!(status == 2 && err.contains("--resolution"), "{err}");
}

#[test]
fn a_dry_run_counts_what_a_run_uses() {
    let [client, app, db] = &shop();
    let dry = json(&["sync", "--dry-run", client, app, db]);
    let wet = json(&["sync", client, app, db]);
    for link in wet["links"].as_array().unwrap() {
        let way = |from: &Value, to: &Value| {
            table(&dry, "matched")
                .iter()
                .find(|row| row[0] == *from && row[1] == *to)
                .map_or(0, |row| row[2].as_u64().unwrap())
        };
        let (a, b, used) = (&link["a"], &link["b"], &link["messages"]);
        let suspects = used["suspect"].as_u64().unwrap() + used["dropped"].as_u64().unwrap();
        let counted = used["a_to_b"].as_u64().unwrap() + used["b_to_a"].as_u64().unwrap() + suspects;
        assert_eq!(way(a, b) + way(b, a), counted, "{link}");
    }
    assert!(table(&dry, "packets").iter().all(|row| row[1].as_u64() > Some(0)));
}

/// A trace directory may have the name of a command.
#[test]
fn a_directory_called_eval_can_be_named() {
    let directory = tempfile::tempdir().unwrap();
    let [client, app, _] = shop();
    let link = |from: &str, to: &str| {
        let from = Path::new(from).canonicalize().unwrap();
        std::os::unix::fs::symlink(from, directory.path().join(to)).unwrap();
    };
    link(&client, "eval");
    link(&app, "help");
    let typed = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, out) = typed(&["sync", "-q", "./eval", "help"]);
    assert!(status == Some(0) && out.contains("h1"), "{out}");
    // After other traces it is one.
    let (status, out) = typed(&["sync", "-q", "help", "eval"]);
    assert!(status == Some(0) && out.contains("h1"), "{out}");
    let (status, out) = typed(&["sync", "eval", "-q", "eval", "help"]);
    assert!(status == Some(0) && out.starts_with("sync eval:"), "{out}");
}
