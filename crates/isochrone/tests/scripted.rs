//! `isochrone analyze` on traces that are short enough to be checked by eye: each test writes what happened on a host
//! in a few lines, runs the binary, and compares what it says.
#![allow(clippy::unwrap_used)] // A test may panic.

mod scripted {
    mod across;
    mod calls;
    mod cputop;
    mod critical_path;
    mod edges;
    mod files;
    mod files_made;
    mod files_shared;
    mod follow;
    mod interrupts;
    mod io;
    mod lami;
    mod many_rows;
    mod memory;
    mod options;
    mod periods;
    mod phases;
    mod processes;
    mod run;
    mod sched;
    mod shown;
    mod usage;
}
