//! Simulated hosts and clusters with known clocks, written as real CTF 1.8 traces.
//!
//! A single trace is written by hand with [`LttngTrace`]: event by event, in any of LTTng's layouts. A [`Cluster`] of
//! hosts whose [`SimClock`]s are wrong in known ways exchanges packets and is written as one trace per host, so that
//! what a synchronization finds can be compared with the truth. The same description and seed give the same bytes.
//!
//! [`altered()`] copies a real trace, with time and events that it does not have.
//!
//! This crate knows LTTng's output and nothing of how traces are analyzed; its only way to bytes is the writer
//! of [`isochrone_ctf`].
//!
//! ```
//! use isochrone_testkit::{Cluster, Family};
//! # let directory = tempfile::tempdir()?;
//! let cluster = Cluster::chain(3).messages(100).seconds(10);
//! cluster.write(directory.path(), Family::IPV4)?;
//! let (h0_to_h2, at) = (cluster.truth(0, 2)?, cluster.hosts[0].clock.raw(5_000_000_000));
//! assert!(h0_to_h2(at).abs_diff(cluster.hosts[2].clock.raw(5_000_000_000)) <= 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addresses;
mod altered;
mod assign;
mod bulk;
mod capture;
mod classes;
mod clock;
mod cluster;
mod compiled;
mod connection;
mod daemon;
mod error;
mod events;
mod exchange;
mod frames;
pub mod kernel;
mod lttng;
mod metadata;
mod net;
mod packets;
mod random;
mod random_cluster;
mod steered;
mod steered_cluster;
mod stream;
mod traffic;
mod value;

pub use addresses::Endpoints;
pub use altered::{Inserted, Pause, altered};
pub use bulk::Bulk;
pub use classes::{KERNEL_CLASSES, NetLayout};
pub use clock::{SimClock, UNIX_EPOCH_NS};
pub use cluster::{Cluster, Protocol, SimHost, SimLink};
pub use daemon::Daemon;
pub use error::{Misuse, TestkitError};
pub use exchange::{Congestion, Exchange, SimMessage};
pub use frames::CaptureLink;
pub use isochrone_ctf::schema::ByteOrder;
pub use kernel::{At, Generation, KernelScript, RandomKernel};
pub use lttng::LttngTrace;
pub use metadata::{ClockSpec, EventHeader};
pub use packets::{Family, IpVersion};
pub use random::Random;
pub use random_cluster::Behaviour;
pub use steered::{Evidence, Rule, Rules, SteeredClock};
pub use steered_cluster::{SteeredCluster, SteeredHost};
pub use traffic::{Arrival, Piece, Segment, SimPacket, Simulation};
pub use value::FieldValue;
