//! `isochrone index --parquet`: what is written is what SQL answers, it is written whole or not at all and
//! replaces nothing else, and it is read without traces. Other engines read it in `engines.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use isochrone_testkit::{Generation, KernelScript};
use serde_json::Value;

use crate::common::{Here, rows_of, shop, text};

/// Writes the example, and returns where.
pub(crate) fn written(here: &Here, name: &str, options: &[&str]) -> String {
    let directory = here.path(name).to_str().unwrap().to_owned();
    let shop = shop();
    let words = [&["index", "-q", "--parquet", &directory], options, &[shop.to_str().unwrap()]].concat();
    let output = here.isochrone_beside(&words);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    directory
}

/// The names of all tables of what is asked.
pub(crate) fn tables(here: &Here, of: &str) -> Vec<String> {
    let query =
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1";
    let rows = rows_of(&here.sql(&["-q", "--format", "json", "-c", query, of]), query);
    rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// What is asked answers, its lines sorted.
fn sorted(here: &Here, of: &str, query: &str) -> Vec<String> {
    let output = here.sql(&["-q", "--format", "jsonl", "-c", query, of]);
    assert!(output.status.success(), "{query}\n{}", text(&output.stderr));
    let mut lines: Vec<String> = text(&output.stdout).lines().map(ToOwned::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// All files below a directory, with what is in them.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// A host with a name that no path can have as it is, and `slices` of three days in several row groups a day.
pub(crate) fn three_days(here: &Here) -> String {
    let mut host = KernelScript::new("web 1/ü%", Generation::V2_13).contexts(true);
    host.process(10, "server");
    for day in 0..3_u64 {
        for slice in 0..70_000_u64 {
            let at = day * 86_400_000_000_000 + 1_000_000 + slice * 1_000;
            host.at(at).switch(0, 10).after(400 + slice % 7).switch(10, 0);
        }
    }
    let trace = here.path("three-days");
    host.write(&trace).unwrap();
    trace.to_str().unwrap().to_owned()
}

#[test]
fn every_table_is_that_of_sql() {
    let here = Here::new();
    let shop = shop().to_str().unwrap().to_owned();
    let directory = written(&here, "shop", &["--events"]);
    let names = tables(&here, &shop);
    assert_eq!(tables(&here, &directory), names);
    for name in names {
        let (columns, rows) = (format!("DESCRIBE {name}"), format!("SELECT * FROM {name}"));
        assert_eq!(sorted(&here, &directory, &columns), sorted(&here, &shop, &columns), "{name}");
        let (written, asked) = (sorted(&here, &directory, &rows), sorted(&here, &shop, &rows));
        assert_eq!(written.len(), asked.len(), "{name}");
        assert!(written == asked, "{name}: {:?}", written.iter().zip(&asked).find(|(a, b)| a != b));
    }
}

/// Whose clock times are on is decided when a directory is written.
#[test]
fn on_its_own_clock_no_time_has_bounds() {
    let here = Here::new();
    let directory = written(&here, "own", &["--no-sync"]);
    let query =
        "SELECT count(*) AS n, count(begin_time) AS times, count(begin_time_lo) AS bounds FROM slices";
    let rows = rows_of(&here.sql(&["-q", "--format", "json", "-c", query, &directory]), query);
    assert!(rows[0]["n"].as_i64() > Some(0) && rows[0]["times"] == rows[0]["n"], "{rows:?}");
    assert_eq!(rows[0]["bounds"], 0);
}

#[test]
fn files_do_not_depend_on_threads() {
    let here = Here::new();
    let one = files(Path::new(&written(&here, "one", &["--threads", "1"])));
    let four = files(Path::new(&written(&here, "four", &["--threads", "4"])));
    assert_eq!(one.keys().collect::<Vec<_>>(), four.keys().collect::<Vec<_>>());
    assert!(
        one.keys().any(|name| name == "slices/host=h1/day=2026-11-20/part-0.parquet"),
        "{:?}",
        one.keys()
    );
    assert!(
        !one.keys().any(|name| name.starts_with("events/")),
        "events are written where they are asked for"
    );
    for (name, bytes) in &one {
        assert!(four[name] == *bytes, "{name}");
    }
}

/// Chunks that were mapped alone, their piece, and a store: whatever is read, the files are the same.
#[test]
fn pieces_and_stores_are_the_traces() {
    let here = Here::new();
    let of_traces = files(Path::new(&written(&here, "traces", &[])));
    let at = |name: &str| here.path(name).to_str().unwrap().to_owned();
    let run = |words: &[&str]| {
        let output = here.isochrone_beside(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    };
    let pieces = ["client", "app", "db"].map(|host| {
        let (trace, piece) = (shop().join(host), at(&format!("{host}.piece")));
        run(&["map", "-q", "spans", trace.to_str().unwrap(), "-o", &piece]);
        piece
    });
    let (merged, store) = (at("all.piece"), at("shop.store"));
    run(&["merge", "-q", &pieces[1], &pieces[2], &pieces[0], "-o", &merged]);
    run(&["index", "-q", "-o", &store, shop().to_str().unwrap()]);
    for (name, inputs) in [("of-merged", &[merged][..]), ("of-pieces", &pieces), ("of-store", &[store])] {
        let directory = at(name);
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        run(&[&["index", "-q", "--parquet", &directory], &inputs[..]].concat());
        let found = files(Path::new(&directory));
        assert_eq!(found.keys().collect::<Vec<_>>(), of_traces.keys().collect::<Vec<_>>(), "{name}");
        assert_eq!(of_traces.iter().find(|(file, bytes)| found[*file] != **bytes), None, "{name}");
    }
}

#[test]
fn names_of_hosts_and_days_are_directories() {
    let here = Here::new();
    let trace = three_days(&here);
    let directory = here.path("days").to_str().unwrap().to_owned();
    let output = here.isochrone_beside(&["index", "-q", "--parquet", &directory, &trace]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found = files(Path::new(&directory));
    let days: Vec<&String> = found.keys().filter(|name| name.starts_with("slices/")).collect();
    assert_eq!(days.len(), 3, "{days:?}");
    assert!(days.iter().all(|name| name.starts_with("slices/host=web%201%2F%C3%BC%25/day=")), "{days:?}");
    let query =
        "SELECT host, count(*) AS n, sum(duration_ns) AS s, min(begin_time) AS a FROM slices GROUP BY 1";
    assert_eq!(sorted(&here, &directory, query), sorted(&here, &trace, query));
    let query =
        "SELECT count(*) AS n FROM slices WHERE host = 'web 1/ü%' AND begin_time_raw >= 172800000000000";
    let rows = rows_of(&here.sql(&["-q", "--format", "json", "-c", query, &directory]), query);
    assert!(rows[0]["n"].as_i64().unwrap() >= 140_000 / 2, "{rows:?}");
}

/// What a plan with its counters shows of the node that reads files.
fn scanned(here: &Here, directory: &str, query: &str) -> String {
    let query = format!("EXPLAIN ANALYZE {query}");
    let rows = rows_of(&here.sql(&["-q", "--format", "json", "-c", &query, directory]), &query);
    let plan: String = rows.iter().map(|row| row["plan"].as_str().unwrap()).collect();
    plan.lines().filter(|line| line.contains("DataSourceExec")).map(ToOwned::to_owned).collect()
}

#[test]
fn conditions_choose_files_and_row_groups() {
    let here = Here::new();
    let shop = written(&here, "shop", &[]);
    let of_host = scanned(&here, &shop, "SELECT count(*) FROM (SELECT * FROM slices WHERE host = 'h2')");
    assert!(of_host.contains("host=h2") && !of_host.contains("host=h1"), "{of_host}");
    let of_none = scanned(&here, &shop, "SELECT * FROM slices WHERE host = 'nobody'");
    assert_eq!(of_none, "");
    let trace = three_days(&here);
    let days = here.path("days").to_str().unwrap().to_owned();
    assert!(here.isochrone_beside(&["index", "-q", "--parquet", &days, &trace]).status.success());
    // The second of six row groups; three files have two each, and more of idle tasks.
    let all = scanned(&here, &days, "SELECT sum(duration_ns) FROM slices WHERE duration_ns > 0");
    let some = scanned(
        &here,
        &days,
        "SELECT sum(duration_ns) FROM slices WHERE begin_time_raw BETWEEN 86400002000000 AND 86400003000000",
    );
    let groups = |line: &str| {
        let (_, rest) = line.split_once("row_groups_pruned_statistics=").unwrap_or_else(|| panic!("{line}"));
        let number = |text: &str| -> u64 {
            text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
        };
        let (_, matched) = rest.split_once("→ ").unwrap_or_else(|| panic!("{line}"));
        (number(rest), number(matched))
    };
    let ((all, matched), (of_all, chosen)) = (groups(&all), groups(&some));
    assert!(matched == all && all >= 6, "{all} {matched}");
    assert!(chosen >= 1 && chosen < of_all.max(2), "{chosen} of {of_all}: {some}");
}

/// Runs `isochrone index --parquet` on the example.
fn index(here: &Here, directory: &str) -> Output {
    let shop = shop();
    here.isochrone_beside(&["index", "-q", "--parquet", directory, shop.to_str().unwrap()])
}

#[test]
fn nothing_else_is_replaced() {
    let here = Here::new();
    let refused = |directory: &Path, expect: &str| {
        let before = files(directory);
        let output = index(&here, directory.to_str().unwrap());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains(expect), "{}", text(&output.stderr));
        assert!(files(directory) == before, "{expect}");
    };
    let notes = here.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("notes.txt"), "kept").unwrap();
    refused(&notes, "exists and was not written by `isochrone index --parquet`");
    // An empty directory is replaced, and what was written before.
    let directory = here.path("shop");
    fs::create_dir(&directory).unwrap();
    let first = files(Path::new(&written(&here, "shop", &[])));
    assert!(!first.is_empty());
    assert!(files(Path::new(&written(&here, "shop", &["--no-sync"]))) != first);
    assert!(files(Path::new(&written(&here, "shop", &[]))) == first);
    // Not where something has come, or is another file by now.
    let slices = "slices/host=h1/day=2026-11-20";
    for (name, contents) in [
        ("mine.parquet", "kept"),
        (&format!("{slices}/part-1.parquet"), ""),
        (&format!("{slices}/part-0.parquet"), "other"),
    ] {
        let path = directory.join(name);
        let before = fs::read(&path).ok();
        fs::write(&path, contents).unwrap();
        refused(&directory, &format!("{name} would be lost"));
        match before {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    std::os::unix::fs::symlink(&notes, directory.join("linked")).unwrap();
    refused(&directory, "linked would be lost");
    fs::remove_file(directory.join("linked")).unwrap();
    written(&here, "shop", &[]);
    // A store, and a trace that is read.
    let (store, shop) = (here.path("shop.store"), shop());
    let shop = shop.to_str().unwrap();
    assert!(here.isochrone(&["index", "-q", "-o", store.to_str().unwrap(), shop]).status.success());
    refused(&store, "exists and was not written by");
    let trace = here.path("trace");
    let mut host = KernelScript::new("h", Generation::V2_13);
    host.at(10).switch(0, 1);
    host.write(&trace).unwrap();
    let inside = trace.join("tables");
    let output = here.sql(&["-q", "--parquet", inside.to_str().unwrap(), trace.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("which is an input"), "{}", text(&output.stderr));
    let hidden = fs::read_dir(here.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(hidden.filter(|name| name.to_string_lossy().contains(".partial")).count(), 0);
}

/// A signal leaves what was there, whole, or the new directory.
#[test]
fn signals_leave_what_was_there() {
    let here = Here::new();
    let directory = here.path("shop");
    let first = files(Path::new(&written(&here, "shop", &[])));
    let hidden = || {
        let names = fs::read_dir(here.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains(".partial")).collect::<Vec<_>>()
    };
    let mut ended_by_signal = 0;
    for signal in ["-INT", "-TERM", "-INT", "-TERM"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone-sql"))
            .args(["-q", "--events", "--parquet"])
            .args([&directory, &shop()])
            .env("XDG_CACHE_HOME", here.path("cache"))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while hidden().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        let is_ended = !child.wait().unwrap().success();
        ended_by_signal += u32::from(is_ended);
        assert_eq!(hidden(), Vec::<std::ffi::OsString>::new(), "{signal}");
        if is_ended {
            assert!(files(&directory) == first, "{signal}");
        } else {
            written(&here, "shop", &[]);
        }
    }
    assert!(ended_by_signal > 0, "the program is never ended while it writes");
}

#[test]
fn mistakes_are_said_in_words() {
    let here = Here::new();
    let (shop_path, directory) = (shop(), written(&here, "shop", &[]));
    let shop_path = shop_path.to_str().unwrap();
    let check = |arguments: &[&str], expect: &str| {
        let output = here.sql(&[&["-q", "-c", "SELECT count(*) FROM slices"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        let said = text(&output.stderr);
        assert!(said.contains(expect), "{arguments:?}: {said}");
    };
    check(&[&directory, shop_path], "is a directory of Parquet, which is read alone");
    let inside = format!("{directory}/slices/host=h1/day=2026-11-20/part-0.parquet");
    check(&["-o", &inside, &directory], "which is an input");
    check(&["--no-sync", &directory], "--no-sync does not apply to");
    check(&["--store", "x", &directory], "--store does not apply to");
    check(&["-c", "SELECT * FROM events", &directory], "there is no table `events`");
    let output = here.sql(&["-q", "--parquet", here.path("again").to_str().unwrap(), &directory]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is a directory of Parquet already"), "{}", text(&output.stderr));
    let output = here.sql(&["-q", "--parquet", "no/such/directory", shop_path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot write no/such/directory"), "{}", text(&output.stderr));
    let output = here.sql(&["-q", "--parquet", "s3://traces/shop", shop_path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("write a directory, and copy it there"),
        "{}",
        text(&output.stderr)
    );
    // What is damaged is named.
    let (list, file) = (
        format!("{directory}/_isochrone.json"),
        format!("{directory}/slices/host=h1/day=2026-11-20/part-0.parquet"),
    );
    let (whole, bytes) = (fs::read_to_string(&list).unwrap(), fs::read(&file).unwrap());
    for (contents, expect) in [
        ("", "cannot read _isochrone.json of "),
        ("{}", "missing field"),
        (&*whole.replace("isochrone-parquet", "other"), "of another format, `other`"),
        (&*whole.replace("host string", "host int32"), "write it again with this version"),
        (&*whole.replace("slices/host=h1/", "slices/host=h7/"), "host=h7"),
        (&*whole.replace("slices/host=h1/", "../../"), "part-0.parquet"),
    ] {
        fs::write(&list, contents).unwrap();
        check(&[&directory], expect);
    }
    fs::write(&list, &whole).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let output = here.sql(&["-q", "-c", "SELECT sum(duration_ns) FROM slices", &directory]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    fs::remove_file(&file).unwrap();
    check(&["-c", "SELECT sum(duration_ns) FROM slices", &directory], "part-0.parquet");
}

#[test]
fn isochrone_hands_over() {
    let here = Here::new();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    // The example is not beside isochrone-sql, so that it is found by PATH.
    let output = here.isochrone(&["index", "--parquet", here.path("x").to_str().unwrap(), shop]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("`isochrone index --parquet` needs the program isochrone-sql"), "{said}");
    assert!(said.contains("cargo install --path crates/query"), "{said}");
    for (words, expect) in [
        (&["--sync", "x.json"][..], "--parquet <DIR>"),
        (&["--no-sync"], "--parquet <DIR>"),
        (&["--events"], "--parquet <DIR>"),
        (&["--parquet", "a", "-o", "b"], "cannot be used with"),
    ] {
        let output = here.isochrone(&[&["index"], words, &[shop]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(expect), "{}", text(&output.stderr));
    }
    let directory = here.path("made").to_str().unwrap().to_owned();
    let output = here.isochrone_beside(&["index", "--parquet", &directory, shop]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.starts_with(&directory), "{shown}");
    let line = shown.lines().find(|line| line.trim_start().starts_with("slices ")).unwrap();
    let row: Vec<&str> = line.split_whitespace().collect();
    let counted = rows_of(
        &here.sql(&["-q", "--format", "json", "-c", "SELECT count(*) AS n FROM slices", &directory]),
        "",
    );
    assert_eq!((row[1], row[2]), (&*Value::to_string(&counted[0]["n"]), "3"), "{shown}");
}
