//! Who steers a clock: what is assumed of each clock in each span of time, by evidence.
//!
//! What messages prove of a clock holds at their instants. What holds between them depends on who may change
//! its rate ([`isochrone_clock::Steering`]), and that is in the traces: the list of processes that the tracer
//! writes at its begin, the threads that run, the calls that set the clock. [`isochrone_matching::steering`]
//! finds them, [`decide`] concludes, [`verdict`] is the conclusion and what becomes of it.
//!
//! What holds from the start of a recording (kernel traces without a gap of a second between them; before,
//! between and after them, nothing is known):
//!
//! | what the kernel traces of a host show | assumed |
//! |---|---|
//! | no kernel trace; a capture; a list of messages | unknown |
//! | a complete list of processes and `sched_switch`: no daemon, no call | free |
//! | a complete list, no `sched_switch`, the calls are traced, nothing was lost: no daemon, no call | free |
//! | less than that, and no daemon | unknown |
//! | a daemon that works by calls, the calls are traced, nothing was lost | constant between its calls |
//! | a daemon that works by calls, `sched_switch` is traced, nothing was lost | constant between its runs |
//! | a daemon that works by calls, and neither | steered, ± 500 ppm |
//! | a daemon that leaves the work to the kernel | steered, ± 500 ppm |
//! | a call by a process that is no daemon and no reader | steered, ± 500 ppm |
//!
//! Each of these begins with the recording, unless a complete list without the program shows that it came
//! later: then with its first run (or its first call), or with the first loss before that. Where several
//! hold, the weakest counts. Calls of an unidentified thread are a daemon's that works by calls, where there
//! is one. `--clock` overrides all of it ([`choice`]).

mod choice;
mod decide;
mod verdict;

pub(crate) use choice::Choices;
pub use choice::ClockChoice;
pub(crate) use decide::Origin;
pub(crate) use verdict::Verdict;
pub use verdict::{MissingEvidence, Untraced};
