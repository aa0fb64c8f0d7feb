//! The program `isochrone`, for the tests of this package: cargo builds a package's own programs and examples for its tests, and no others.

use std::process::ExitCode;

fn main() -> ExitCode {
    isochrone::main()
}
