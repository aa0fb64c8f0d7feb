//! The program `isochrone`, which is in the library of the same name; `isochrone-sql` uses a part of that.

use std::process::ExitCode;

fn main() -> ExitCode {
    isochrone::main()
}
