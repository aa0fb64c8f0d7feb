//! What `isochrone export --to otlp` writes, read again: the same spans, at the same instants.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What the program says, to the end.
fn run(arguments: &[&str], paths: &[&Path]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).args(paths).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}: {err}");
    (out, err)
}

const SPAN: &str =
    r#"span : $event == "otel:span_begin" : $event == "otel:span_end" && span_id == $begin.$evt.span_id"#;

#[test]
fn what_is_exported_is_read() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shop.jsonl");
    run(&["export", "-q", "--to", "otlp", "-o", file.to_str().unwrap()], &[&shop]);
    // Name, begin and end of each span.
    let mut written: Vec<(String, i64, i64)> = Vec::new();
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        for resource in record["resourceSpans"].as_array().unwrap() {
            for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
                let ns = |key: &str| span[key].as_str().unwrap().parse().unwrap();
                let name = span["name"].as_str().unwrap().to_owned();
                written.push((name, ns("startTimeUnixNano"), ns("endTimeUnixNano")));
            }
        }
    }
    written.sort();
    assert!(written.len() > 100);
    // Alone, spans have the times of the file.
    let captures = ["--period", SPAN, "--period-captures", "span : name = name"];
    let log = [&["periodlog", "-q", "--limit", "0", "--no-sync", "--format", "json"][..], &captures].concat();
    let read = |said: &str| -> Vec<(String, i64, i64)> {
        let report: Value = serde_json::from_str(said).unwrap();
        let table = &report["tables"][0];
        let columns = table["columns"].as_array().unwrap();
        let place = |name: &str| columns.iter().position(|it| it["name"] == name).unwrap();
        let (begin, end, name) = (place("begin_ns"), place("end_ns"), place("begin_captures"));
        let row = |row: &Value| {
            let name = row[name].as_str().unwrap().strip_prefix("name = ").unwrap().to_owned();
            (name, row[begin].as_i64().unwrap(), row[end].as_i64().unwrap())
        };
        let mut rows: Vec<_> = table["rows"].as_array().unwrap().iter().map(row).collect();
        rows.sort();
        rows
    };
    assert_eq!(read(&run(&log, &[&file]).0), written);
    // Their times are on the common clock, and so on that of no host beside them.
    let (_, said) = run(&["events", "--no-sync"], &[&shop, &file]);
    for host in ["h1", "h2", "h3"] {
        let words = format!("`isochrone export` wrote spans of `{host}`, with times of a common clock");
        assert!(said.contains(&words), "{said}");
    }
}
