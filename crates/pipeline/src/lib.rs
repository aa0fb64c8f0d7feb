//! Pieces of traces, mapped apart and merged: time slices of one big trace, the archives of a rotated
//! session.
//!
//! The way through this crate: a [`Plan`] cuts the time of a [`Host`](isochrone_hosts::Host), which reads the
//! events of a piece in the order of time, losses among them. [`fn@run`] maps pieces on several cores and
//! merges neighbours as they are ready ([`PieceMerger`]), and [`map_merge`] does so with anything else that
//! can be merged, [`map_merge_all`] with many hosts at once; [`piece_file`] keeps what a piece was mapped to
//! on disk, so that pieces can be mapped in separate processes; a [`SpanLog`] keeps all spans of a piece
//! there.
//!
//! The invariant of this crate: the events and losses of the pieces of any plan, one piece after the other,
//! are those of the whole, in the same order. What a trace lacks (losses, missing chunks, packets that cannot
//! be decoded) is reported once.

mod border;
mod observed;
pub mod piece_file;
mod piece_merger;
mod plan;
mod pool;
mod run;
mod span_log;
mod span_mapper;
mod surroundings;

pub use border::{Border, Piece};
pub use observed::{Observe, Observed};
pub use piece_merger::{PieceError, PieceMerger, PieceModel};
pub use plan::{Cuts, MAX_PIECES, Plan, Step, nth_piece};
pub use pool::{map_in_order, take_in_order};
pub use run::{Job, MapMerge, map_merge, map_merge_all, map_piece};
pub use span_log::{DamagedLog, SpanLog};
pub use span_mapper::{SpanMapper, program_losses, run};
pub use surroundings::{Difference, Surroundings};
