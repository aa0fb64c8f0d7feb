//! `isochrone analyze` on traces that are short enough to be checked by eye: each test writes what happened on a host
//! in a few lines, runs the binary, and compares what it says.

mod accounting;
mod across;
mod blocking;
mod calls;
mod cputop;
mod critical_path;
mod edges;
mod explained;
mod faults;
mod files;
mod files_made;
mod files_shared;
mod follow;
mod interrupts;
mod io;
mod io_edges;
mod ipc;
mod lami;
mod loopback;
mod many_rows;
mod memory;
mod messages;
mod mpi;
mod options;
mod path_causes;
mod periods;
mod phase_causes;
mod phases;
mod processes;
mod requests;
mod run;
mod sched;
mod shown;
mod states;
mod usage;
