//! Packets to messages, messages to bounds between clocks.

#![allow(clippy::unwrap_used)] // A test may panic.

#[path = "../../../capture/tests/it/common/bytes.rs"]
mod capture_bytes;
mod captures;
mod clusters;
mod coarse_stamps;
mod common;
mod copies;
mod ends;
mod families;
mod fuzz_seeds;
mod generated_lists;
mod holes;
mod known_clocks;
mod matching;
mod messages;
mod mpi;
mod networks;
mod odd_packets;
mod random_clusters;
mod readings;
mod real_clusters;
mod shop;
mod steered_clusters;
mod steering;
mod trusted;
mod two_captures;
mod versions;
mod wrong_matches;
