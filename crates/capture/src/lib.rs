//! Packet captures (pcap, pcapng) as packets: when each was seen, on which interface, and what its headers say.
//!
//! [`Capture`] opens a file and iterates over [`Frame`]s in the order of the file. Memory is bounded whatever the size of
//! the file: one record at a time is held, never more than [`MAX_RECORD`] bytes of it. What is wrong with a file costs the
//! record it is in and becomes a [`Diagnostic`]; only a file that does not begin as a capture is an [`Error`].
//!
//! The way through this crate: `input` brings bytes and knows where they are; `legacy` finds the records of pcap files,
//! `sections` those of pcapng files, both with the structures of `pcap-parser`; `stamp` turns their times into exact
//! nanoseconds; [`link`] unwraps the link layer, [`packet`] reads network and transport headers with `etherparse`, also those in tunnels. [`Kind`] says in
//! short what a frame holds, by the names of [`Protocol`].
//!
//! ```
//! use isochrone_capture::{Capture, Content};
//! use std::path::Path;
//!
//! // A pcap file with stamps in ns: one ICMP echo request over raw IP.
//! let mut file = Vec::new();
//! file.extend(0xa1b2_3c4d_u32.to_le_bytes()); // nanoseconds
//! file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // version 2.4
//! file.extend(65_535_u32.to_le_bytes());
//! file.extend(101_u32.to_le_bytes()); // LINKTYPE_RAW
//! let ip = [0x45, 0, 0, 28, 0, 7, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
//! let echo = [8, 0, 0, 0, 0, 1, 0, 2];
//! for number in [1_795_154_041_u32, 823_216_897, 28, 28] {
//!     file.extend(number.to_le_bytes());
//! }
//! file.extend(ip);
//! file.extend(echo);
//!
//! let mut capture = Capture::new(file.as_slice(), Path::new("echo.pcap"))?;
//! let frame = capture.next().ok_or("no frame")?;
//! assert_eq!(frame.stamp.earliest_ns, 1_795_154_041_823_216_897);
//! let Content::Ip(packet) = frame.content else { return Err("no packet".into()) };
//! assert_eq!(packet.destination.to_string(), "10.0.0.2");
//! assert!(capture.next().is_none() && capture.diagnostics().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here knows what a packet is looked at for: there are no hosts, no clocks, no messages in this crate.

mod capture;
mod complaints;
mod error;
mod input;
mod kind;
mod legacy;
pub mod link;
pub mod packet;
mod protocol;
mod sections;
mod stamp;

pub use capture::{Capture, Frame, InterfaceInfo, is_capture};
pub use error::{Diagnostic, Error, Reason};
pub use input::MAX_RECORD;
pub use kind::{Kind, Part};
pub use link::{Link, Mac, PacketType};
pub use packet::{Content, Fragment, IpPacket, Transport};
pub use protocol::Protocol;
pub use sections::{MAX_INTERFACES, Passed};
pub use stamp::Stamp;
