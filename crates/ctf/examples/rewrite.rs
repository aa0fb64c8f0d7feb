//! Writes a trace anew, from what was read of it: `cargo run -p isochrone-ctf --example rewrite -- TRACE DIRECTORY`.
//!
//! What could not be decoded is left out, and told.

use std::io::Write;
use std::path::PathBuf;

use isochrone_ctf::{Trace, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let usage = "usage: rewrite TRACE DIRECTORY";
    let trace = Trace::open(&arguments.next().ok_or(usage)?)?;
    let summary = write::rewrite_trace(&trace, &arguments.next().ok_or(usage)?)?;
    let mut stderr = std::io::stderr();
    for diagnostic in trace.diagnostics().iter().chain(&summary.lost) {
        writeln!(stderr, "{diagnostic}")?;
    }
    writeln!(stderr, "{} events in {} packets", summary.events, summary.packets)?;
    Ok(())
}
