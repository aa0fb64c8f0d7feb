//! The period language: expressions on events, and definitions of periods that begin with one event and end
//! with another.
//!
//! An expression compares fields of events with each other, with numbers and with texts: `$evt.$name ==
//! "sched_switch" && $evt.next_tid != 0`, or shorter `$event == "sched_switch" && next_tid != 0`. A
//! [`Condition`] is one alone; [`Definitions`] are the begins, the ends and the captures of periods.
//! `docs/periods.md` describes the language.
//!
//! The way through this crate: text becomes an [`Expr`] and a list of [`Fields`]; a [`Binding`] finds these
//! in an event class once and reads them from each event of it; [`Definitions::candidate`] says what an event
//! alone decides, and what it leaves to callers that know which periods are open. This crate knows CTF, and
//! no hosts, no threads and no Linux.
//!
//! ```
//! use isochrone_periods::Definitions;
//! let definitions = Definitions::parse(
//!     &[r#"irq : $evt.$name == "irq_handler_entry" : $evt.$name == "irq_handler_exit" && $evt.cpu_id == $begin.$evt.cpu_id"#],
//!     &["irq : number = $evt.irq : $evt.ret"],
//! )?;
//! assert_eq!(definitions.iter().next().map(|it| it.name()), Some(Some("irq")));
//! # Ok::<(), isochrone_periods::SyntaxError>(())
//! ```

mod binding;
mod candidate;
mod definition;
mod expr;
mod field;
mod packet;
mod parse;
mod value;

pub use binding::{Binding, Reading};
pub use candidate::{BoundClass, Candidate, Scopes};
pub use definition::{Capture, Definition, Definitions, MAX_DEFINITIONS};
pub use expr::{Condition, Expr, Found, Operand, Operator, Truth, Whose};
pub use field::{Field, FieldScope, Fields};
pub use packet::PacketFields;
pub use parse::SyntaxError;
pub use value::{Real, Value};
