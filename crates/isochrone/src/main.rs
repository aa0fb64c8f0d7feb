//! The program `isochrone`, which is in the library of the same name; `isochrone-sql` uses a part of that.

use std::process::ExitCode;

/// What work of minutes needed goes back to the system, whichever threads did it. Of other architectures, the
/// size of pages that it is compiled for need not be that of the kernel.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    isochrone::main()
}
