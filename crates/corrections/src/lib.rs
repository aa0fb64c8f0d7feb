//! Corrections of the clocks of hosts: what a synchronization found, as a file and as functions of time.
//!
//! [`artefact`] is the `sync.json`: its values and its text. [`Clocks`] checks an artefact and answers for
//! its clocks: raw times of a host to those of the reference or of another host, with bounds
//! ([`Clock::to_reference`], [`Clocks::related`]), and to Unix times ([`Clock::unix`]). [`picture`] makes
//! points of the bounds of a link, for plots.
//!
//! `isochrone-sync` makes artefacts; all others only read them.

pub mod artefact;
mod clock;
mod clocks;
pub mod picture;

pub use clock::{Clock, Converted};
pub use clocks::{Clocks, Related};
