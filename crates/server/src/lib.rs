//! The web page of Isochrone.
//!
//! A [`Session`] opens traces on a thread of its own: it finds or makes their store, and answers what is asked of it. [`serve`] lets requests
//! in (`door.rs`) and asks the session: those of the page below `/api` (`api.rs`, described in `docs/page-api.md`). What it shows
//! comes from `shown/`, which knows nothing of HTTP.
//!
//! The page is built from `ui/` into `page/`, which is kept beside this code so that no other tools are needed to build it.

mod api;
mod door;
mod error;
mod http;
mod page;
mod session;
mod shown;
mod stage;
#[cfg(test)]
mod tests;

pub use http::{Settings, serve};
pub use session::{CommandLine, Session, Wanted};
pub use stage::Stage;
