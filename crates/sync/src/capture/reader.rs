//! The sightings of one capture, in the order of its file, as many at a time as are asked for.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use isochrone_capture::{Capture, Frame};
use isochrone_clock::Span;
use isochrone_net::{Direction, Seen, Sighting, StreamPlace, captured};

use super::VantagePoints;
use crate::Progress;
use crate::rounds::PacketSource;
use crate::traffic::Traffic;

/// Progress is reported in pieces of so many bytes.
const TELL_AFTER: u64 = 1 << 20;

/// Reads a capture and stops at a given time or number of sightings.
pub struct CaptureReader<'p> {
    capture: Capture<BufReader<File>>,
    places: VantagePoints,
    /// Its number among the captures.
    number: usize,
    clock: usize,
    span: Span,
    progress: Progress<'p>,
    /// A frame that was read and lies after the last limit.
    waiting: Option<Frame>,
    traffic: Traffic,
    told: u64,
}

impl<'p> CaptureReader<'p> {
    /// Opens a capture of which is known from which side it looks at packets, and what time it spans. Its sightings get the
    /// number `clock`, and the `number` of the capture among the inputs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(
        (number, path): (usize, &Path),
        places: VantagePoints,
        (clock, span): (usize, Span),
        progress: Progress<'p>,
    ) -> Result<Self, isochrone_capture::Error> {
        let capture = Capture::open(path)?;
        Ok(Self {
            capture,
            places,
            number,
            clock,
            span,
            progress,
            waiting: None,
            traffic: Traffic::default(),
            told: 0,
        })
    }

    /// What has passed so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn sight(&mut self, frame: &Frame, out: &mut Vec<Sighting>) {
        if frame.link.is_loopback {
            return;
        }
        let (sent, received) = self.places.directions(frame);
        let directions = [(Direction::Received, received), (Direction::Sent, sent)];
        for (direction, _) in directions.into_iter().filter(|(_, passed)| *passed) {
            let passed = self.traffic.of_mut(direction);
            passed.declared = true;
            match captured::seen(frame) {
                Seen::Packet(packet) => {
                    passed.packets += 1;
                    let stamp = frame.stamp;
                    let place = StreamPlace::of_capture(self.number, frame.interface);
                    let time = match direction {
                        Direction::Sent => stamp.earliest_ns,
                        Direction::Received => stamp.latest_ns,
                    };
                    let (clock, raw) = (self.clock, stamp.earliest_ns);
                    out.push(Sighting { clock, time, raw, place, direction, packet });
                }
                Seen::OtherProtocol => passed.other += 1,
                Seen::NoHeader => passed.bare += 1,
                Seen::Loopback | Seen::Half(_) => {}
            }
        }
    }
}

impl PacketSource for CaptureReader<'_> {
    fn clock(&self) -> usize {
        self.clock
    }

    fn span(&self) -> Option<(i64, i64)> {
        Some((self.span.begin, self.span.end))
    }

    fn read_until(&mut self, limit: i64, most: usize, out: &mut Vec<Sighting>) -> Option<i64> {
        while let Some(frame) = self.waiting.take().or_else(|| self.capture.next()) {
            let time = frame.stamp.earliest_ns;
            if time > limit || out.len() >= most {
                self.waiting = Some(frame);
                return Some(time);
            }
            self.sight(&frame, out);
            tell(&mut self.told, self.capture.position(), self.progress);
        }
        (self.progress)(self.capture.position() - self.told);
        self.told = self.capture.position();
        None
    }
}

/// Reports bytes that were read since the last report, when they are many.
pub(super) fn tell(told: &mut u64, position: u64, progress: Progress<'_>) {
    if position - *told >= TELL_AFTER {
        progress(position - *told);
        *told = position;
    }
}
