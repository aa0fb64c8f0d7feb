//! The sightings of one capture, in the order of its file, as many at a time as the caller wants.

use std::collections::VecDeque;

use isochrone_capture::{Capture, Content, FileCapture, Frame};
use isochrone_net::{Direction, Packet, PacketKey, Seen, Sighting, StreamRef, captured};
use isochrone_time::{RawNs, Window};

use super::VantagePoints;
use crate::beyond::is_beyond;
use crate::rounds::PacketSource;
use crate::traffic::Traffic;
use isochrone_files::InputCapture;
use isochrone_hosts::Progress;

/// Bytes between two reports of progress.
const PROGRESS_INTERVAL_BYTES: u64 = 1 << 20;
/// Packets that are remembered to find their copies in tunnels.
const MAX_PLAIN: usize = 256;

/// Reads a capture and stops at a given time or number of sightings.
pub struct CaptureReader<'p> {
    capture: FileCapture,
    places: VantagePoints,
    /// The one interface whose frames count.
    interface: Option<usize>,
    /// Its number among the captures.
    number: usize,
    clock: usize,
    span: Window<RawNs>,
    progress: Progress<'p>,
    /// A frame that was read and is after the last limit.
    waiting: Option<Frame>,
    traffic: Traffic,
    /// Whether frames without Ethernet addresses are used: an IP address says whose they are.
    by_address: bool,
    /// The last packets that were sent without a tunnel.
    plain: VecDeque<PacketKey>,
    reported: u64,
}

impl<'p> CaptureReader<'p> {
    /// Opens the capture with a `number` among the inputs. `places`: from which side it looks at packets;
    /// `span`: the time it spans. Its sightings get the number `clock`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(
        number: usize,
        input: &InputCapture,
        places: VantagePoints,
        clock: usize,
        span: Window<RawNs>,
        progress: Progress<'p>,
    ) -> Result<Self, isochrone_capture::Error> {
        let capture = Capture::open(&input.path)?;
        Ok(Self {
            capture,
            places,
            interface: input.interface,
            number,
            clock,
            span,
            progress,
            waiting: None,
            traffic: Traffic::default(),
            by_address: false,
            plain: VecDeque::new(),
            reported: 0,
        })
    }

    /// Makes use of frames whose Ethernet addresses were removed, which look as if they were of the loopback
    /// device: an IP address says whose they are.
    #[must_use]
    pub fn by_address(self, by_address: bool) -> Self {
        Self { by_address, ..self }
    }

    /// Its number among the captures.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What has passed so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn sight(&mut self, frame: &Frame, out: &mut Vec<Sighting>) {
        if self.interface.is_some_and(|interface| interface != frame.interface) {
            return;
        }
        let is_used = self.by_address && frame.link.has_no_stations();
        let seen = if is_used { captured::held(&frame.content) } else { captured::seen(frame) };
        if seen == Seen::Loopback {
            return;
        }
        let (sent, received) = self.places.directions(frame);
        let directions = [(Direction::Received, received), (Direction::Sent, sent)];
        for (nth, (direction, _)) in directions.into_iter().filter(|(_, passed)| *passed).enumerate() {
            let passed = self.traffic.of_mut(direction);
            passed.declared = true;
            // On the way a packet counts as received and as sent; what is none of either counts once.
            match &seen {
                Seen::Packet(packet) => {
                    let packet = packet.clone();
                    passed.packets += 1;
                    if direction == Direction::Sent && is_copy(&mut self.plain, frame, &packet) {
                        continue;
                    }
                    let [raw, latest] = [frame.stamp.earliest_ns, frame.stamp.latest_ns].map(RawNs);
                    let place = StreamRef::of_capture(self.number, frame.interface);
                    let time = match direction {
                        Direction::Sent => raw.saturating_sub(self.places.late_ns()),
                        Direction::Received => latest,
                    };
                    let (clock, device) = (self.clock, device(frame));
                    out.push(Sighting { clock, time, raw, place, direction, device, packet });
                }
                Seen::OtherProtocol if nth == 0 => passed.other += 1,
                Seen::NoHeader if nth == 0 => passed.bare += 1,
                _ => {}
            }
        }
    }
}

impl PacketSource for CaptureReader<'_> {
    fn clock(&self) -> usize {
        self.clock
    }

    fn span(&self) -> Option<Window<RawNs>> {
        Some(self.span)
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        while let Some(frame) = self.waiting.take().or_else(|| self.capture.next()) {
            let time = RawNs(frame.stamp.earliest_ns);
            if is_beyond(time) || is_beyond(RawNs(frame.stamp.latest_ns)) {
                continue;
            }
            if time > limit || out.len() >= most {
                self.waiting = Some(frame);
                return Some(time);
            }
            self.sight(&frame, out);
            report(&mut self.reported, self.capture.position(), self.progress);
        }
        (self.progress)(self.capture.position() - self.reported);
        self.reported = self.capture.position();
        None
    }
}

/// Whether a packet that is sent in a tunnel was sent without it before: that departure is proven already,
/// and this one may be of a copy for another receiver (a mirror), which shows nothing of when the packet
/// itself left.
fn is_copy(plain: &mut VecDeque<PacketKey>, frame: &Frame, packet: &Packet) -> bool {
    let is_in_tunnel = matches!(&frame.content, Content::Ip(outer) if outer.tunnel().is_some());
    let key = packet.key();
    if !is_in_tunnel {
        plain.truncate(MAX_PLAIN - 1);
        plain.push_front(key);
    }
    is_in_tunnel && plain.contains(&key)
}

/// A number of few bits for the device that saw a frame: 0 where the frame does not distinguish devices.
fn device(frame: &Frame) -> u8 {
    const NUMBERS: u32 = 31;
    let by_interface = frame.link.packet_type.is_none().then_some(frame.interface as u32);
    frame.link.device.or(by_interface).map_or(0, |device| (device % NUMBERS + 1) as u8)
}

/// Reports bytes that were read since the last report, when they are many.
pub(super) fn report(reported: &mut u64, position: u64, progress: Progress<'_>) {
    if position - *reported >= PROGRESS_INTERVAL_BYTES {
        progress(position - *reported);
        *reported = position;
    }
}
