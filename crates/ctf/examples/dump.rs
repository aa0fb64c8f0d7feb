//! Writes the canonical dump of a trace: `cargo run --example dump -- TRACE`.

use std::io;
use std::path::PathBuf;

use isochrone_ctf::{Trace, dump};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: dump TRACE")?);
    let trace = Trace::open(&path)?;
    let lost = dump::dump(&trace, &mut io::stdout().lock())?;
    for diagnostic in trace.diagnostics().iter().chain(&lost) {
        io::Write::write_fmt(&mut io::stderr(), format_args!("{diagnostic}\n"))?;
    }
    Ok(())
}
