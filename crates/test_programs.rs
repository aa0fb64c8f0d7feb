//! Finds out which programs are installed that tests run (`cfg(babeltrace2)`, …), so that tests that need them are reported as
//! ignored where they are absent. The `build.rs` of each crate that has such tests includes this file and calls [`set_cfgs`].
#![allow(clippy::print_stdout)] // A build script talks to cargo so.

use std::process::{Command, Stdio};

/// The cfg, the variable with which the build fails where the program is absent, and a shell command that ends with 0 where
/// it is installed.
const PROGRAMS: [(&str, &str, &str); 10] = [
    ("babeltrace2", "ISOCHRONE_REQUIRE_SHARED", "command -v babeltrace2"),
    (
        "lttng",
        "ISOCHRONE_REQUIRE_LTTNG",
        // Hosts that record programs are reached over ssh, too.
        "command -v lttng && command -v lttng-relayd && command -v lttng-sessiond && command -v ssh &&
         test -x /usr/sbin/sshd && echo '#include <lttng/tracef.h>' | cc -E -",
    ),
    ("trace_cmd", "ISOCHRONE_REQUIRE_SHARED", "command -v trace-cmd"),
    // Not each machine lets its kernel be traced.
    (
        "tracefs",
        "ISOCHRONE_REQUIRE_TRACEFS",
        "test -w /sys/kernel/tracing/trace_clock && test -d /sys/kernel/tracing/instances",
    ),
    ("prometheus", "ISOCHRONE_REQUIRE_PROMETHEUS", "command -v prometheus && command -v promtool"),
    ("python3", "ISOCHRONE_REQUIRE_SHARED", "command -v python3"),
    ("python_arrow", "ISOCHRONE_REQUIRE_SHARED", "python3 -c 'import pyarrow, polars'"),
    (
        "python_engines",
        "ISOCHRONE_REQUIRE_SHARED",
        "command -v aws && python3 -c 'import boto3, duckdb, moto.server, polars, pyarrow'",
    ),
    ("python_flight", "ISOCHRONE_REQUIRE_SHARED", "python3 -c 'import adbc_driver_flightsql.dbapi, pyarrow'"),
    ("python_numpy", "ISOCHRONE_REQUIRE_SHARED", "python3 -c 'import numpy'"),
];

/// Sets these cfgs where their programs are installed. What is installed later is noticed when `build.rs` is touched.
///
/// # Panics
///
/// If a name is not one of [`PROGRAMS`].
pub fn set_cfgs(names: &[&str]) {
    println!("cargo::rerun-if-changed=../test_programs.rs");
    println!("cargo::rerun-if-changed=build.rs");
    for name in names {
        let Some((_, variable, command)) = PROGRAMS.iter().find(|(cfg, ..)| cfg == name) else {
            panic!("{name} is not in crates/test_programs.rs");
        };
        println!("cargo::rerun-if-env-changed={variable}");
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if shell.status().is_ok_and(|status| status.success()) {
            println!("cargo::rustc-cfg={name}");
        } else if std::env::var_os(variable).is_some() {
            println!("cargo::error={variable} is set, but this fails: {command}");
        }
    }
}
