//! The program `isochrone-sql`: see the library of the same crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    isochrone_query::program::main()
}
