//! Packet captures (pcap, pcapng) as packets: when each was seen, on which interface, and what its headers say.
//!
//! [`Capture`] opens a file and iterates over [`Frame`]s in the order of the file. Memory is bounded whatever the size of
//! the file: one record at a time is held, never more than [`MAX_RECORD`] bytes of it. What is wrong with a file costs the
//! record it is in and becomes a [`Diagnostic`]; only a file that does not begin as a capture is an [`Error`].
//!
//! The way through this crate: `input` brings bytes and knows where they are; `legacy` finds the records of pcap files,
//! `sections` those of pcapng files, both with the structures of `pcap-parser`; `stamp` turns their times into exact
//! nanoseconds; [`link`] unwraps the link layer, [`packet`] reads network and transport headers with `etherparse`.
//!
//! Nothing here knows what a packet is looked at for: there are no hosts, no clocks, no messages in this crate.

mod capture;
mod complaints;
mod error;
mod input;
mod legacy;
pub mod link;
pub mod packet;
mod sections;
mod stamp;

pub use capture::{Capture, Frame, InterfaceInfo, is_capture};
pub use error::{Diagnostic, Error, Reason};
pub use input::MAX_RECORD;
pub use link::{Link, Mac, PacketType};
pub use packet::{Content, Fragment, IpPacket, Transport};
pub use sections::{MAX_INTERFACES, Passed};
pub use stamp::Stamp;
