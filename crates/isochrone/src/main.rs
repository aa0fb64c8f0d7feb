//! The program `isochrone`: all of it is in the library of the same name, of which `isochrone-sql` uses a part.

use std::process::ExitCode;

fn main() -> ExitCode {
    isochrone::main()
}
