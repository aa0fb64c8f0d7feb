//! Captures of packets: formats, tunnels, switches, damage.

#![allow(clippy::unwrap_used)] // A test may panic.

mod common;
mod formats;
mod hostile;
mod packets;
mod switch;
mod tunnels;
