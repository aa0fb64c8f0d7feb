//! The web page of Isochrone, and the Trace Server Protocol.
//!
//! A [`Session`] opens traces on a thread of its own: it finds or makes their store (`opening.rs`), and
//! answers queries. A [`Library`] has all sessions that are open. [`serve`] checks requests
//! (`connections.rs`, `access.rs`) and answers them from a session: those of the page below `/api` (`api/`,
//! described in `docs/page-api.md`), those of the protocol below `/tsp/api` (`tsp/`). When traces grow, a new
//! session replaces the old one ([`Current`]). What both show comes from `view/`, which does not depend on
//! HTTP.
//!
//! The page is built from `ui/` into `page/`, which is kept with this code so that no other tools are
//! needed to build it.

mod access;
mod api;
mod connections;
mod error;
mod http;
mod library;
mod opening;
mod session;
mod sql;
mod stage;
#[cfg(test)]
mod tests;
mod tsp;
mod view;
mod works;

pub use access::Token;
pub use http::{Addresses, Settings, serve, serve_metrics};
pub use library::{Library, Opener};
pub use session::{Current, Generation, Session, SessionConfig};
pub use sql::SqlProgram;
pub use stage::Stage;
pub use view::CommandLine;
