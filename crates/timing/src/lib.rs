//! What raw times of hosts mean: on the requested clock, with bounds.
//!
//! [`Timing`] converts a raw time of one host to Unix time and back ([`Stamp`], [`RawStamp`]): by the
//! corrections of its clock, or by its own offset. A [`TimedHost`] is a host with its timing. [`Times`] says
//! what a window of Unix times is on the clock of each host, [`steps()`] cuts it at instants that all hosts
//! share. [`Conversion`] needs no traces, only the corrections.

mod conversion;
mod host;
mod stamp;
mod steps;
mod window;

pub use conversion::{Conversion, ConversionError, Converted, Scale};
pub use host::{TimedHost, UnknownHost, check_names, is_on_one_clock, recorded, share_a_clock};
pub use stamp::{RawStamp, Stamp, Timing};
pub use steps::{MOST_STEPS, SOME_STEPS, TooManySteps, step_length, steps};
pub use window::{Times, WrongTimes, extent, extent_of_events};
