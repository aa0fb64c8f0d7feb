//! Instants of the three time scales, each a type of its own, and windows of them.
//!
//! | type | scale | zero |
//! |---|---|---|
//! | [`RawNs`] | the clock of one host, as its tracer stamped it, in ns | the host's own (often its boot) |
//! | [`UnixNs`] | the common clock: that of the reference of an island, or a host's own where nothing ties it to others | 1970-01-01 UTC |
//! | [`SinceOrigin`] | the common clock, short enough for 64-bit numbers of a viewer | the origin of an experiment, a Unix time |
//!
//! Instants of one scale can be compared and subtracted, which gives a duration: a bare number of ns. Raw
//! times of two hosts are of one type, though they compare only through the common clock: who holds them says
//! of which host they are. Nothing here converts from one scale to another; that takes a clock
//! (`isochrone_timing::Timing`).

mod instant;
mod window;

pub use instant::{RawNs, SinceOrigin, UnixNs};
pub use window::{Instant, Window};
