//! What `isochrone index --parquet` writes, read by Python's `duckdb`, `polars` and `pyarrow`, and from a
//! bucket: types, sums and all rows are those of SQL, and conditions choose files and row groups. Needs
//! `moto[server]` as well.

use std::process::Command;

use crate::common::{Here, shop, text};
use crate::parquet::{tables, three_days, written};

/// What a script prints, which is given arguments.
fn python(script: &str, arguments: &[&str]) -> String {
    let output = Command::new("python3").args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The answers of SQL on the example, as a file of Arrow for each table.
fn answers(here: &Here, names: &[String]) -> String {
    let directory = here.path("answers");
    std::fs::create_dir(&directory).unwrap();
    let shop = shop();
    for name in names {
        let file = directory.join(format!("{name}.arrow"));
        let query = format!("SELECT * FROM {name}");
        let output = here.sql(&["-q", "-o", file.to_str().unwrap(), "-c", &query, shop.to_str().unwrap()]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    }
    directory.to_str().unwrap().to_owned()
}

#[test]
#[cfg_attr(not(python_engines), ignore = "needs python3 with duckdb, polars, pyarrow and moto, and aws")]
fn engines_read_what_sql_answers() {
    let here = Here::new();
    let directory = written(&here, "shop", &["--events"]);
    let names = tables(&here, &directory);
    let answers = answers(&here, &names);
    let rows: u64 = python(include_str!("engines/same.py"), &[&directory, &answers]).trim().parse().unwrap();
    assert!(rows > 3 * 200_000, "{rows}");
}

#[test]
#[cfg_attr(not(python_engines), ignore = "needs python3 with duckdb, polars, pyarrow and moto, and aws")]
fn engines_read_what_conditions_leave() {
    let here = Here::new();
    let trace = three_days(&here);
    let directory = here.path("days").to_str().unwrap().to_owned();
    assert!(here.isochrone_beside(&["index", "-q", "--parquet", &directory, &trace]).status.success());
    let pruned = python(include_str!("engines/pruned.py"), &[&directory]);
    assert!(pruned.ends_with("pruned\n"), "{pruned}");
}

#[test]
#[cfg_attr(not(python_engines), ignore = "needs python3 with duckdb, polars, pyarrow and moto, and aws")]
fn a_bucket_is_read_in_place_of_traces() {
    let here = Here::new();
    let program = env!("CARGO_BIN_EXE_isochrone-sql");
    let trace = three_days(&here);
    let days = here.path("days").to_str().unwrap().to_owned();
    assert!(here.isochrone_beside(&["index", "-q", "--parquet", &days, &trace]).status.success());
    for directory in [written(&here, "shop", &[]), days] {
        assert!(
            python(include_str!("engines/bucket.py"), &[program, &directory]).trim().parse::<u64>().unwrap()
                > 0
        );
    }
}
