//! One file an analysis, a directory where that got too long. To write another: copy a file, add it here and to the list
//! in `registry.rs`.

mod cputop;
mod fds;
mod irqfreq;
mod irqlog;
mod irqstats;
mod processes;
mod schedfreq;
mod schedlog;
mod schedstats;
mod schedtop;
mod syscalls;
mod syscallstats;

pub use cputop::CpuTop;
pub use fds::Fds;
pub use irqfreq::IrqFreq;
pub use irqlog::IrqLog;
pub use irqstats::IrqStats;
pub use processes::Processes;
pub use schedfreq::SchedFreq;
pub use schedlog::SchedLog;
pub use schedstats::SchedStats;
pub use schedtop::SchedTop;
pub use syscalls::Syscalls;
pub use syscallstats::SyscallStats;
