//! Text of fields in bounded memory. One event can say more than memory holds: a long name in the metadata
//! comes once for each element of an array of bits. [`crate::text`] and [`crate::json`] therefore append to a
//! buffer that is handed on when it is full.

use std::fmt;
use std::io::{self, Write};

/// What is shown of one structure is kept up to this many bytes, so that it can be taken back if a field
/// cannot be read.
const MAX_KEPT: usize = 1 << 16;

/// Texts are appended in pieces of this many bytes.
pub(crate) const PIECE: usize = 1 << 14;

/// When a buffer is full, and what to do then. The default is a buffer that is never full.
#[derive(Default)]
pub struct Room<'b> {
    /// Bytes that the buffer may have, and who makes room after them.
    full: Option<(usize, Make<'b>)>,
}

/// Makes a buffer shorter.
type Make<'b> = &'b mut dyn FnMut(&mut Vec<u8>);

impl fmt::Debug for Room<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("limit", &self.full.as_ref().map(|(limit, _)| limit)).finish()
    }
}

impl<'b> Room<'b> {
    /// A buffer of this many bytes is given to `make`, which makes it shorter.
    pub fn new(limit: usize, make: &'b mut dyn FnMut(&mut Vec<u8>)) -> Self {
        Self { full: Some((limit, make)) }
    }

    /// Makes room if there is none.
    #[inline]
    pub(crate) fn make(&mut self, out: &mut Vec<u8>) {
        if let Some((limit, make)) = &mut self.full
            && out.len() >= *limit
        {
            Self::called(make, out);
        }
    }

    #[cold]
    fn called(make: &mut Make<'b>, out: &mut Vec<u8>) {
        make(out);
    }
}

/// Appends to a buffer what `show` shows, in bounded memory: what is long is shown a second time, with the
/// buffer handed to the writer piece by piece. Where `show` fails, nothing is appended or written.
///
/// `show` must append the same both times, to a buffer in which it finds room when it asks.
///
/// # Errors
/// Those of the writer. The inner error is that of `show`.
///
/// ```
/// # fn show(event: &isochrone_ctf::Event<'_>, out: &mut Vec<u8>, writer: &mut impl std::io::Write) -> std::io::Result<()> {
/// use isochrone_ctf::{room, schema::Scope, text::TextVisitor};
///
/// let fields = room::append(out, writer, |out, room| {
///     event.visit(Scope::Payload, &mut TextVisitor::within(out, room))
/// })?;
/// if let Err(error) = fields {
///     out.extend_from_slice(format!("<{error}>").as_bytes());
/// }
/// # Ok(())
/// # }
/// ```
pub fn append<E>(
    out: &mut Vec<u8>,
    writer: &mut impl Write,
    mut show: impl for<'r> FnMut(&'r mut Vec<u8>, Room<'r>) -> Result<(), E>,
) -> io::Result<Result<(), E>> {
    let kept = keep(out, MAX_KEPT, &mut show);
    if !matches!(kept, Ok(false)) {
        return Ok(kept.map(|_| ()));
    }
    let mut written = Ok(());
    let mut hand_on = |out: &mut Vec<u8>| {
        if written.is_ok() {
            written = writer.write_all(out);
        }
        out.clear();
    };
    let shown = show(out, Room::new(MAX_KEPT, &mut hand_on));
    written.map(|()| shown)
}

/// Appends to a buffer what `show` shows, if that is not more than about `most` bytes; else, and where `show`
/// fails, nothing. Says whether it was appended.
///
/// # Errors
/// That of `show`.
pub fn keep<E>(
    out: &mut Vec<u8>,
    most: usize,
    mut show: impl for<'r> FnMut(&'r mut Vec<u8>, Room<'r>) -> Result<(), E>,
) -> Result<bool, E> {
    let before = out.len();
    let mut fits = true;
    let mut forget = |out: &mut Vec<u8>| {
        fits = false;
        out.truncate(before);
    };
    let shown = show(out, Room::new(before.saturating_add(most), &mut forget));
    if !fits || shown.is_err() {
        out.truncate(before);
    }
    shown.map(|()| fits)
}

/// A text in pieces that are shown one after the other; none ends within a character of UTF-8.
pub(crate) fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let inside = |at: usize| rest.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = (0..4).map(|back| PIECE - back).find(|&at| !inside(at)).unwrap_or(PIECE);
        let (piece, after) = rest.split_at(end.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_handed_on() {
        let check = |lines: usize, fails: bool, expect: usize| {
            let (mut out, mut written, mut longest) = (b"head".to_vec(), Vec::new(), 0);
            let shown = append(&mut out, &mut written, |out, mut room| {
                for _ in 0..lines {
                    room.make(out);
                    out.extend_from_slice(&[b'x'; 1000]);
                    longest = longest.max(out.len());
                }
                if fails { Err(()) } else { Ok(()) }
            });
            assert_eq!(shown.unwrap().is_err(), fails);
            assert!(longest <= MAX_KEPT + 1004, "{longest} bytes kept of {lines} lines");
            written.extend_from_slice(&out);
            assert_eq!(written.len(), 4 + expect, "{lines} lines");
            assert!(written.starts_with(b"head"));
        };
        check(0, false, 0);
        check(10, false, 10_000);
        check(10, true, 0);
        check(1000, false, 1_000_000);
        check(1000, true, 0);
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let check = |length: usize, expect| {
            let mut out = b"head".to_vec();
            let kept = keep(&mut out, 100, |out, mut room| {
                (0..length).for_each(|_| {
                    out.push(b'x');
                    room.make(out);
                });
                Ok::<(), ()>(())
            });
            assert_eq!((kept, out.len()), (Ok(expect), 4 + if expect { length } else { 0 }));
        };
        check(99, true);
        check(100, false);
        check(250, false);
    }

    #[test]
    fn pieces_end_between_characters() {
        let check = |text: &[u8]| {
            let all: Vec<&[u8]> = pieces(text).collect();
            assert_eq!(all.concat(), text);
            let most = text.len() / (PIECE - 3) + 1;
            assert!(all.len() <= most && all.iter().all(|piece| piece.len() <= PIECE));
            if str::from_utf8(text).is_ok() {
                assert!(all.iter().all(|piece| str::from_utf8(piece).is_ok()));
            }
        };
        check(b"");
        check(&vec![b'x'; PIECE]);
        check(&vec![0x80; 3 * PIECE]);
        for front in 0..4 {
            check("x".repeat(front).as_bytes());
            check(["x".repeat(front), "𝄞".repeat(PIECE)].concat().as_bytes());
            check(["x".repeat(front), "é".repeat(PIECE)].concat().as_bytes());
        }
    }
}
