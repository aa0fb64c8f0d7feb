//! The web page of Isochrone, and the Trace Server Protocol.
//!
//! A [`Session`] opens traces on a thread of its own: it finds or makes their store, and answers what is asked of it. A [`Library`] has all that are open. [`serve`] lets requests
//! in (`connections.rs`, `door.rs`) and asks a session: those of the page below `/api` (`api.rs`, described in `docs/page-api.md`), those of the protocol below
//! `/tsp/api` (`tsp/`). Of traces that grow, a new session takes the place of the old one (`current.rs`). What both show comes from `shown/`, which knows nothing of HTTP.
//!
//! The page is built from `ui/` into `page/`, which is kept beside this code so that no other tools are needed to build it.

mod api;
mod connections;
mod current;
mod cut;
mod door;
mod error;
mod http;
mod library;
mod metrics;
mod page;
mod session;
mod shown;
mod stage;
#[cfg(test)]
mod tests;
mod token;
mod tsp;

pub use current::Current;
pub use http::{Addresses, Settings, serve};
pub use library::{Library, Opener};
pub use metrics::serve_metrics;
pub use session::{CommandLine, Growth, Session, Wanted};
pub use stage::Stage;
pub use token::Token;
