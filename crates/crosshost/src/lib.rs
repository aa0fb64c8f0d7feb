//! What happened across hosts: requests, where they spent their time, which process worked for which.
//!
//! A [`Cluster`] is the hosts of a store on the requested clock, with the messages between them. [`requests`]
//! finds the requests of services in the calls of both ends of connections (`exchange.rs`) and follows each
//! from its end back to its start (`walk.rs`): through wake-ups, forks, timers, disks, and messages to other
//! hosts and back. [`critical_path()`] makes tables of them.
//!
//! All of it reads the store; nothing is printed. What a window of time holds is in memory while it is looked
//! at, never a whole trace.

mod accesses;
mod account;
mod accounting;
mod accounting_tables;
mod blocking;
mod bottleneck;
mod cluster;
mod compare;
mod compare_reports;
mod conversation;
mod critical_path;
mod detail;
mod device_queue;
mod disjoint;
mod empty;
mod exchange;
mod files;
mod graph;
mod host;
mod keyed;
mod lives;
mod mean_test;
mod messages;
mod mpi;
mod needs;
mod network;
mod packets;
mod path;
mod pipelining;
mod rank_test;
mod relation;
mod relations;
mod request;
mod resources;
mod service_time;
mod shared_memory;
mod socket_calls;
mod sockets;
mod spent;
mod through;
mod timeline;
mod unaddressed;
mod unawaited;
mod verdict;
mod wait;
mod wait_object;
mod wait_tree;
mod waits;
mod walk;

pub use accesses::{AccessesOfProcess, DiskAccess, DiskAccesses, Seeks, disk_accesses};
pub use accounting::accounting;
pub use blocking::blocking;
pub use bottleneck::bottleneck;
pub use cluster::Cluster;
pub use compare::{RUNS, Run, compare};
pub use compare_reports::{comparable, compare_reports};
pub use conversation::{Endpoint, conversation};
pub use critical_path::{critical_path, request_notes};
pub use empty::empty_reports;
pub use graph::dot;
pub use isochrone_store::Cause;
pub use lives::{LifeStep, Lives, PageFaults, ProcessLife, lives};
pub use messages::messages;
pub use mpi::MpiMessage;
pub use needs::needs;
pub use network::Carried;
pub use path::{Path, Step, ThreadRef};
pub use relations::ipc;
pub use request::{
    Request, RequestQuery, Requests, Served, Service, named_paths, path, phase_names, requests, thread_path,
};
pub use spent::SpentOn;
pub use through::{ObjectName, Through};
pub use wait::socket_owner;
pub use wait_tree::{wait_stacks, wait_tree};
pub use waits::{Wait, waits};
