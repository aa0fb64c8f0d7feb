//! What a second look at a trace finds, and how to go on reading there.

use std::ops::Range;

/// What [`Trace::refresh`](super::Trace::refresh) has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Growth {
    /// Whether the metadata say something new. Then all classes have been compiled anew:
    /// [`FieldRef`](crate::FieldRef)s that were found before belong to no class any more, and
    /// [`Stream::class`](super::Stream::class) can be another number.
    pub metadata: bool,
    /// For each stream the numbers of its new packets: all packets of a new stream; an empty range where nothing is new.
    pub packets: Vec<Range<usize>>,
    /// Packets (stream, packet) that say nothing of their size and have grown with their file. Their events so far are
    /// what they were.
    pub extended: Vec<(usize, usize)>,
}

impl Growth {
    /// Whether there is nothing new.
    pub fn is_empty(&self) -> bool {
        !self.metadata && self.packets.iter().all(Range::is_empty) && self.extended.is_empty()
    }
}

/// A place in a stream where reading can go on: a packet's begin (`Position::from(packet)`), or what a
/// [`StreamEvents`](super::StreamEvents) has come to. It stays valid when the trace grows. The default is the begin of the
/// stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    pub(super) packet: usize,
    /// Bit in the packet where the next event begins; 0: the first one.
    pub(super) bit: u64,
    /// Time of the event before, if there is one in the packet.
    pub(super) now: u64,
}

impl Position {
    /// Number of the packet in [`Stream::packets`](super::Stream::packets).
    pub fn packet(&self) -> usize {
        self.packet
    }
}

impl From<usize> for Position {
    fn from(packet: usize) -> Self {
        Self { packet, ..Self::default() }
    }
}
