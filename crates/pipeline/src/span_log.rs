//! A consumer that keeps all spans as bytes, so that they can travel from the process that has read them to
//! the one that writes them to a store ([`crate::piece_file`] has the file).
//!
//! A consumer gets not only spans: threads are renamed, and the consumers of two neighbours become one. Ids
//! that are relative to the begin of a piece mean nothing after that, so the log keeps *all* calls, in their
//! order; [`SpanLog::replay`] repeats them on another consumer, which then has what it would have got itself.
//! Spans are too many for memory: all but the last block goes to the [`Scratch`] of a log that has one.

use std::fmt;

use isochrone_kernel::scratch::{Kept, Scratch};
use isochrone_kernel::{Recorder, Span, Spans, ThreadAliases, ThreadId, span_kinds};
use serde::{Deserialize, Serialize};

/// Bytes of a block before it is compressed.
const BLOCK: usize = 1 << 18;

/// Maximum decompressed size of a block of a log that was read from a file: one record may be longer than a
/// block.
const MAX_BLOCK: usize = 1 << 26;

/// The calls of a consumer, in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanLog {
    steps: Vec<Step>,
    /// The records of the next block.
    #[serde(with = "serde_bytes")]
    pending: Vec<u8>,
    spans: u64,
    /// Whether a record could not be encoded, which has no reason.
    is_broken: bool,
    /// Where complete blocks go.
    #[serde(skip)]
    scratch: Scratch,
}

/// A step of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Step {
    /// Records, one after the other, compressed with LZ4.
    Records(Kept),
    /// What follows went to another consumer, of the next piece …
    Begin,
    /// … which is absorbed here.
    Absorb,
}

/// One call of a consumer, as MessagePack: variants by their names, fields by their order.
///
/// Logs of earlier versions are read: a field is added as the last one, with `#[serde(default)]`, and none is
/// removed; what is to mean something else is another variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Record {
    Span(Span),
    /// Threads that are others: old id, new id.
    Renamed(Vec<(ThreadId, ThreadId)>),
}

/// A log that cannot be replayed: it is damaged, or of a later version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedLog;

impl fmt::Display for DamagedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the spans of a piece cannot be decoded")
    }
}

impl std::error::Error for DamagedLog {}

impl SpanLog {
    /// One whose blocks go to a place.
    pub fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), ..Self::default() }
    }

    /// Number of spans.
    pub fn len(&self) -> u64 {
        self.spans
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans == 0
    }

    /// Repeats all calls on a consumer; `make` makes the consumers of pieces. Memory: one block, besides what
    /// the consumers keep. `O(n)`.
    ///
    /// # Errors
    /// The log is damaged, or of a later version; its blocks cannot be read again.
    pub fn replay<S: Spans>(&self, make: impl Fn() -> S) -> Result<S, DamagedLog> {
        if self.is_broken {
            return Err(DamagedLog);
        }
        let mut consumer = make();
        // The consumers that have pieces before.
        let mut before: Vec<S> = Vec::new();
        for step in &self.steps {
            match step {
                Step::Records(block) => {
                    replay(&decompress(&block.bytes().map_err(|_| DamagedLog)?)?, &mut consumer)?;
                }
                Step::Begin => before.push(std::mem::replace(&mut consumer, make())),
                Step::Absorb => {
                    let right = std::mem::replace(&mut consumer, before.pop().ok_or(DamagedLog)?);
                    consumer.absorb(right);
                }
            }
        }
        replay(&self.pending, &mut consumer)?;
        before.is_empty().then_some(consumer).ok_or(DamagedLog)
    }

    fn add(&mut self, record: &Record) {
        self.is_broken |= rmp_serde::encode::write(&mut self.pending, record).is_err();
        if self.pending.len() >= BLOCK {
            self.flush();
        }
    }

    fn span(&mut self, emit: impl FnOnce(&mut Recorder)) {
        let mut recorder = Recorder::default();
        emit(&mut recorder);
        for span in recorder.0 {
            self.spans += 1;
            self.add(&Record::Span(span));
        }
    }

    /// Ends the block.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let block = lz4_flex::compress_prepend_size(&self.pending);
            self.steps.push(Step::Records(self.scratch.keep(&block)));
            self.pending.clear();
        }
    }
}

fn decompress(block: &[u8]) -> Result<Vec<u8>, DamagedLog> {
    let (size, _) = lz4_flex::block::uncompressed_size(block).map_err(|_| DamagedLog)?;
    if size > MAX_BLOCK {
        return Err(DamagedLog);
    }
    lz4_flex::decompress_size_prepended(block).map_err(|_| DamagedLog)
}

fn replay(mut records: &[u8], consumer: &mut impl Spans) -> Result<(), DamagedLog> {
    while !records.is_empty() {
        match rmp_serde::from_read(&mut records).map_err(|_| DamagedLog)? {
            Record::Span(span) => span.emit(consumer),
            Record::Renamed(pairs) => {
                let mut aliases = ThreadAliases::default();
                for (from, to) in pairs {
                    aliases.add(from, to);
                }
                consumer.rename(&aliases);
            }
        }
    }
    Ok(())
}

macro_rules! log {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for SpanLog {
            $(fn $method(&mut self, it: &$Type) {
                self.span(|recorder| recorder.$method(it));
            })*

            fn scratch(&self) -> Scratch {
                self.scratch.clone()
            }

            fn rename(&mut self, aliases: &ThreadAliases) {
                if !aliases.is_empty() {
                    self.add(&Record::Renamed(aliases.iter().collect()));
                }
            }

            fn absorb(&mut self, mut right: Self) {
                self.spans += right.spans;
                self.is_broken |= right.is_broken;
                self.flush();
                right.flush();
                self.steps.push(Step::Begin);
                self.steps.append(&mut right.steps);
                self.steps.push(Step::Absorb);
            }
        }
    };
}

span_kinds!(log);

#[cfg(test)]
mod tests {
    use isochrone_kernel::{Migration, PIECE_BEGIN};
    use isochrone_time::RawNs;

    use super::*;

    fn at_begin(tid: i32) -> ThreadId {
        ThreadId::Thread { tid, born: PIECE_BEGIN }
    }

    fn moves(consumer: &mut impl Spans, thread: ThreadId, at: i64) {
        consumer.migration(&Migration { thread, at: RawNs(at), to: 0 });
    }

    /// Two pieces: what both call the thread that had tid 7 at their begins are two threads.
    fn two_pieces<S: Spans>(make: impl Fn() -> S) -> S {
        let (mut left, mut right) = (make(), make());
        moves(&mut left, at_begin(7), 1);
        moves(&mut left, ThreadId::Thread { tid: 7, born: RawNs(3) }, 4);
        moves(&mut right, at_begin(7), 5);
        let mut aliases = ThreadAliases::default();
        aliases.add(at_begin(7), ThreadId::Thread { tid: 7, born: RawNs(3) });
        right.rename(&aliases);
        left.absorb(right);
        moves(&mut left, ThreadId::Idle(0), 6);
        left
    }

    #[test]
    fn who_hears_the_log_has_heard_it_all() {
        let log = two_pieces(SpanLog::default);
        assert_eq!(log.len(), 4);
        let copy: SpanLog = crate::piece_file::copy(&log).expect("it can be written");
        assert_eq!(copy, log);
        let heard = copy.replay(Recorder::default).expect("it is whole");
        assert_eq!(heard, two_pieces(Recorder::default));
        // A log of a log is the same.
        assert_eq!(log.replay(SpanLog::default).expect("it is whole").replay(Recorder::default), Ok(heard));
    }

    #[test]
    fn blocks_are_bounded() {
        let mut log = SpanLog::default();
        for at in 0..100_000 {
            moves(&mut log, at_begin(at as i32 % 100), at);
        }
        assert!(log.steps.len() > 1);
        let heard = log.replay(Recorder::default).expect("it is whole");
        assert_eq!(heard.0.len(), 100_000);
    }

    #[test]
    fn what_was_damaged_is_refused() {
        let check = |change: fn(&mut SpanLog)| {
            let mut log = two_pieces(SpanLog::default);
            change(&mut log);
            assert_eq!(log.replay(Recorder::default), Err(DamagedLog), "{log:?}");
        };
        check(|log| log.steps.push(Step::Absorb));
        check(|log| log.steps.push(Step::Begin));
        check(|log| log.steps.push(Step::Records(Scratch::default().keep(&[255; 12]))));
        check(|log| log.pending.push(200));
        check(|log| log.is_broken = true);
    }
}
