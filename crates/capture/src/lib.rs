//! Packet captures (pcap, pcapng) as packets: the time and the interface of each, and its headers.
//!
//! [`Capture`] opens a file and iterates over [`Frame`]s in the order of the file. Memory is bounded whatever
//! the size of the file: one record at a time is held, never more than [`MAX_RECORD`] bytes of it. A defect
//! of a file costs the record that it is in and becomes a [`Diagnostic`]; only a file that is no capture is
//! an [`Error`].
//!
//! Modules: `input` reads bytes, tracks their offset and collects diagnostics; `legacy` finds the records of
//! pcap files, `sections` those of pcapng files, both with the structures of `pcap-parser`; `stamp` converts
//! their times to exact nanoseconds; [`link`] unwraps the link layer; [`packet`] reads network and transport
//! headers with `etherparse`, also inside tunnels. [`Kind`] classifies a frame by its [`Protocol`]s.
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
//! There are no hosts, clocks or messages in this crate.

mod capture;
mod input;
mod kind;
mod legacy;
pub mod link;
pub mod packet;
mod protocol;
mod sections;
mod stamp;

pub use capture::{Capture, Error, FileCapture, Frame, InterfaceInfo, Reason, is_capture};
pub use input::MAX_RECORD;
pub use isochrone_diagnostic::Diagnostic;
pub use kind::{Kind, Part};
pub use link::{Link, Mac, PacketType};
pub use packet::{Content, Fragment, IpPacket, Transport};
pub use protocol::Protocol;
pub use sections::{MAX_INTERFACES, Passed};
pub use stamp::Stamp;
