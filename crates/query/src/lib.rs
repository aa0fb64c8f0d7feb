//! SQL over the traces of an experiment: its events, and the tables of its store, on the requested clock. The
//! only crate that knows DataFusion.
//!
//! [`Traced`] holds open traces with their store. [`session()`] makes a session of DataFusion that has them
//! as tables: `events` over the traces (`events`), all others over the store (`tables`). A table is cut into
//! *pieces* (packets of a stream, batches of a file), of which a query reads those that its conditions leave
//! (`pruning`), each by itself (`scan`). Functions are in `functions`. `flight` serves a session to other
//! programs, `cluster` distributes queries over many machines. `parquet_dir` writes the tables as Parquet for
//! other engines, and reads them. The program `isochrone-sql` is [`program`];
//! `docs/sql.md` is its documentation.

mod cluster;
mod error;
mod events;
mod flight;
mod functions;
mod instants;
mod origin;
mod parquet_dir;
pub mod program;
mod pruning;
mod scan;
mod session;
mod shutdown;
mod tables;
mod traced;

pub use error::QueryError;
pub use origin::Origin;
pub use session::session;
pub use traced::Traced;
