//! `isochrone analyze` on traces that are short enough to be checked by eye: each test writes what happened on a host
//! in a few lines, runs the binary, and compares what it says.
#![allow(clippy::unwrap_used)] // A test may panic.

mod scripted {
    mod calls;
    mod cputop;
    mod edges;
    mod files;
    mod files_made;
    mod files_shared;
    mod interrupts;
    mod options;
    mod processes;
    mod run;
    mod sched;
    mod shown;
}
