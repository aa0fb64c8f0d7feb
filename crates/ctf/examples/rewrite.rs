//! Writes a trace anew, from what was read of it: `cargo run -p isochrone-ctf --example rewrite -- TRACE DIRECTORY [2]`.
//!
//! What could not be decoded is left out, and reported. With a 2 the copy is a trace of CTF 2.

use std::io::Write;
use std::path::PathBuf;

use isochrone_ctf::{Trace, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let usage = "usage: rewrite TRACE DIRECTORY [2]";
    let trace = Trace::open(&arguments.next().ok_or(usage)?)?;
    let target = arguments.next().ok_or(usage)?;
    let summary = match arguments.next() {
        Some(version) if version.as_os_str() == "2" => {
            write::rewrite_trace_as(&trace, &write::to_ctf_2(trace.schema())?, &target)?
        }
        Some(_) => return Err(usage.into()),
        None => write::rewrite_trace(&trace, &target)?,
    };
    let mut stderr = std::io::stderr();
    for diagnostic in trace.diagnostics().iter().chain(&summary.lost) {
        writeln!(stderr, "{diagnostic}")?;
    }
    writeln!(stderr, "{} events in {} packets", summary.events, summary.packets)?;
    Ok(())
}
