//! One link: what its messages are worth under what is assumed of its clocks, and the relation that they
//! leave.
//!
//! `motion` turns what is assumed of two clocks into segments of time, about the `nominal_rate` and, where
//! messages contradict that, its `violations`; `steered` bounds the link along them. `pieces` cuts the
//! messages at a `zone` where a clock was set, without those that `left_out` finds wrong, and joins them to a
//! `relation`. `judge` is the verdict, `rows` are the bounds of the link over time, and `hidden` finds
//! messages that hulls stand for.

mod hidden;
mod judge;
mod left_out;
mod motion;
mod nominal_rate;
mod pieces;
mod relation;
mod rows;
mod steered;
mod violations;
mod zone;

pub use judge::{LinkQuality, LinkReport, Refusal};
pub use relation::{Break, BreakKind, ClockBreak};

pub(crate) use judge::{Link, Message, narrowest};
pub(crate) use motion::{Motion, most};
pub(crate) use nominal_rate::{NominalRate, mean_over};
pub(crate) use relation::{Guarantee, LinkEvent, Piece, Relation};
pub(crate) use rows::rows_per_link;
pub(crate) use steered::Loosened;
pub(crate) use violations::{Allowance, LimitViolations};
