//! The one reader of hosts: which traces belong to a host, its streams over all its traces and trace chunks
//! in the order of time, and what is missing of them.
//!
//! The way through this crate: [`clocks`] says which traces share a clock. [`Hosts::group`] makes [`Host`]s
//! of them: the streams of all their traces, the chunks of a rotated session one after the other
//! ([`mod@rotation`]). A host knows what it lacks before anything is read, as far as the heads of packets,
//! indexes and names of files show: [`Host::losses`], [`Host::gaps`], [`Host::uncovered`]. [`Host::read`]
//! gives the events of a `Window` of time in order, and among them where losses start and end.
//!
//! The invariant of this crate: the events and losses of neighbouring windows, one after the other, are those
//! of the whole, in the same order, but that a loss that a window cuts through begins again there. A caller
//! that wants to know what is missing of a trace asks here: `isochrone-sync` which messages it may believe,
//! `isochrone-pipeline` for what the kernel's model may join, the command line for its messages.

mod absent;
mod channels;
pub mod clocks;
mod core;
mod coverage;
mod cursor;
mod edges;
mod host;
mod lists;
mod losses;
mod notes;
mod reader;
pub mod rotation;
mod source;
mod timeline;
mod work;

pub use absent::{AbsentStream, ChannelRef, CpuReferences};
pub use host::{Host, Hosts};
pub use losses::{LossKind, StreamLoss, StreamLossBegin};
pub use notes::{Contradiction, Note, Unrecorded};
pub use reader::{HostEvents, Item, ItemRef, Observer, Progress, ReadReport};
pub use source::{EventSource, SLACK};
pub use timeline::{CoverageSpan, State, StreamTimeline};
pub use work::Work;
