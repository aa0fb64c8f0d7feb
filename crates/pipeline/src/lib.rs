//! Pieces of traces, mapped apart and merged: time slices of one big trace, the archives of a rotated session.
//!
//! The way through this crate: [`Hosts::group`] puts the traces of one clock together, and the chunks of a rotated session
//! behind each other ([`mod@rotation`]). A [`Plan`] says where to cut; [`Host::read`] gives the events of a piece in the order
//! of time, losses among them. [`fn@run`] maps pieces on several cores and merges neighbours as they are ready ([`Assembly`]), and
//! [`map_merge`] does so with anything else that can be merged; [`mod@store`] keeps what a piece was mapped to on disk, so that pieces can be mapped in separate processes.
//!
//! The law of this crate: the events and losses of the pieces of any plan, one piece after the other, are those of the whole,
//! in the same order. What a trace lacks (losses, missing chunks, packets that cannot be decoded) is told once.

mod assembly;
mod border;
mod context;
mod coverage;
mod host;
mod lane;
mod losses;
mod plan;
mod reader;
mod report;
pub mod rotation;
mod run;
mod source;
mod spans;
pub mod store;

pub use assembly::{Assembly, Part, Refusal};
pub use border::{Border, Piece};
pub use coverage::Gap;
pub use host::{Host, Hosts};
pub use losses::{Lacking, Loss};
pub use plan::{Cuts, Plan, Step};
pub use reader::{Item, PieceEvents, Progress};
pub use report::Report;
pub use run::{Mapper, map_merge, map_piece};
pub use source::Source;
pub use spans::{ToSpans, run};
