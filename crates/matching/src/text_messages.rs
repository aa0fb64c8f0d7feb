//! Lists of messages as text, one a line: what LTTV's unit tests read, and what anything can write that knows
//! when a message was sent and received.
//!
//! The first line is the number of hosts, each further one `sender receiver send_time recv_time`. Hosts are
//! numbered from
//! 0. A time with a decimal point is in seconds, one without in ns. Two further columns are sequence and
//!    acknowledgement number, for those who look for exchanges. All other columns, `#` comments and blank
//!    lines are passed over, and so is the mark of UTF-8 with which some editors begin a text.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use isochrone_clock::MAX_ABS_NS;
use isochrone_time::RawNs;

use crate::matcher::Message;

/// Hosts that a list may name: every pair of them is a line of the artefact.
pub const MAX_HOSTS: usize = 1000;
/// Longest line, bytes.
const MAX_LINE: u64 = 1 << 16;
/// Bytes read at a time.
const BUFFER: usize = 1 << 17;
/// What some editors begin a text in UTF-8 with.
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a list cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {why}", .path.display(), .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct TextError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong with it.
    pub why: Fault,
}

/// What can be wrong with a list.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system refused to read it.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// There is no first line.
    #[error("it is empty: the first line is the number of hosts")]
    Empty,
    /// Nothing follows the first line.
    #[error("no message is in it")]
    NoMessages,
    /// The first line is something else.
    #[error("`{0}` is not a number of hosts (1 to {MAX_HOSTS})")]
    Hosts(String),
    /// A line without all of its columns.
    #[error("a message is `sender receiver send_time recv_time`: {0} columns are there")]
    Columns(usize),
    /// Something else in the place of a host.
    #[error("`{0}` is not a host: there are {1}, numbered from 0")]
    Host(String, usize),
    /// A host that sends to itself.
    #[error("host {0} sends a message to itself")]
    Itself(usize),
    /// Something else in the place of a time.
    #[error("`{0}` is not a valid time: give seconds with a decimal point, or ns")]
    Time(String),
    /// A time beyond ±[`MAX_ABS_NS`].
    #[error("`{0}` is beyond ± 2^61 ns (73 years)")]
    Range(String),
    /// A text of two bytes a character.
    #[error("it is UTF-16: write it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does")]
    Utf16,
    /// A line without an end.
    #[error("the line has more than {MAX_LINE} bytes")]
    Long,
}

/// What a line says.
#[derive(Debug)]
pub enum Line {
    /// A message, whose clocks are the numbers of the hosts.
    Message(Message),
    /// A message that cannot be used, because a time of it is beyond what can be computed with.
    Beyond {
        /// Number of the host that sent it.
        sender: usize,
        /// Number of the host that received it.
        receiver: usize,
        /// Where it is, with [`Fault::Range`].
        error: TextError,
    },
}

/// A list that is read from its beginning to its end, once. An iterator over its lines; it ends after the
/// first error. Constant time and memory for each.
#[derive(Debug)]
pub struct TextMessages<R> {
    reader: R,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    hosts: usize,
    ended: bool,
    numbers: Option<(u32, u32)>,
}

impl TextMessages<BufReader<File>> {
    /// Opens a list and reads its first line.
    ///
    /// # Errors
    /// It cannot be read, or does not begin with a number of hosts.
    pub fn open(path: &Path) -> Result<Self, TextError> {
        let opened = File::open(path);
        let file = opened.map_err(|why| TextError { path: path.to_owned(), line: None, why: why.into() })?;
        Self::new(BufReader::with_capacity(BUFFER, file), path)
    }
}

impl<R: BufRead> TextMessages<R> {
    /// Reads from anything; `path` is what errors call it.
    ///
    /// # Errors
    /// It cannot be read, or does not begin with a number of hosts.
    pub fn new(reader: R, path: &Path) -> Result<Self, TextError> {
        let (path, line) = (path.to_owned(), Vec::new());
        let mut list =
            Self { reader, path, line, number: 0, bytes: 0, hosts: 0, ended: false, numbers: None };
        match list.first_line() {
            Ok(hosts) => Ok(Self { hosts, ..list }),
            Err(why) => Err(list.error(why)),
        }
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// The fifth and sixth column of the message that was read last, if they are whole numbers: its sequence
    /// number and its acknowledgement number, as of TCP.
    pub fn numbers(&self) -> Option<(u32, u32)> {
        self.numbers
    }

    /// Bytes that have been read.
    pub fn position(&self) -> u64 {
        self.bytes
    }

    fn first_line(&mut self) -> Result<usize, Fault> {
        if !self.next_line()? {
            return Err(Fault::Empty);
        }
        let first = columns(&self.line).next().unwrap_or_default();
        let hosts = number(first).filter(|hosts| (1..=MAX_HOSTS).contains(hosts));
        hosts.ok_or_else(|| Fault::Hosts(shown(first)))
    }

    /// Goes to the next line that holds something; whether there is one.
    fn next_line(&mut self) -> Result<bool, Fault> {
        loop {
            self.line.clear();
            let read = (&mut self.reader).take(MAX_LINE + 1).read_until(b'\n', &mut self.line)? as u64;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.bytes += read;
            if read > MAX_LINE {
                return Err(Fault::Long);
            }
            if self.number == 1 {
                if is_utf_16(&self.line) {
                    return Err(Fault::Utf16);
                }
                if self.line.starts_with(UTF_8_MARK) {
                    self.line.drain(..UTF_8_MARK.len());
                }
            }
            if columns(&self.line).next().is_some() {
                return Ok(true);
            }
        }
    }

    fn message(&mut self) -> Result<Option<Line>, Fault> {
        if !self.next_line()? {
            return Ok(None);
        }
        let mut columns = columns(&self.line);
        let mut four = [&b""[..]; 4];
        for (index, column) in four.iter_mut().enumerate() {
            *column = columns.next().ok_or(Fault::Columns(index))?;
        }
        let mut further = || u32::try_from(number(columns.next()?)?).ok();
        self.numbers = further().and_then(|seq| Some((seq, further()?)));
        let host = |text: &[u8]| {
            let found = number(text).filter(|&host| host < self.hosts);
            found.ok_or_else(|| Fault::Host(shown(text), self.hosts))
        };
        let (sender, receiver) = (host(four[0])?, host(four[1])?);
        if sender == receiver {
            return Err(Fault::Itself(sender));
        }
        // What a message proves must hold for every instant that the digits can mean.
        let (sent, received) = (time(four[2], Rounded::Down)?, time(four[3], Rounded::Up)?);
        Ok(Some(match (sent, received) {
            (Some(sent), Some(received)) => {
                Line::Message(Message { sender, sent: RawNs(sent), receiver, received: RawNs(received) })
            }
            (sent, _) => {
                let text = shown(if sent.is_none() { four[2] } else { four[3] });
                Line::Beyond { sender, receiver, error: self.error(Fault::Range(text)) }
            }
        }))
    }

    fn error(&self, why: Fault) -> TextError {
        let line = (self.number > 0 && !matches!(why, Fault::Read(_) | Fault::Empty | Fault::Utf16))
            .then_some(self.number);
        TextError { path: self.path.clone(), line, why }
    }
}

impl<R: BufRead> Iterator for TextMessages<R> {
    type Item = Result<Line, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.message();
        self.ended = !matches!(found, Ok(Some(_)));
        found.map_err(|why| self.error(why)).transpose()
    }
}

/// Whether a text begins as UTF-16: with its mark, or with a letter of which one byte is zero.
fn is_utf_16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..])
}

/// The columns of a line before its comment.
fn columns(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    line[..end].split(u8::is_ascii_whitespace).filter(|column| !column.is_empty())
}

/// A text of an error, of bearable length.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned()
}

/// Plain digits as a number.
fn number(text: &[u8]) -> Option<usize> {
    let plain = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

/// Which way a time of more than nine places is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounded {
    Down,
    Up,
}

/// A decimal in ns, exactly. `None`: it is beyond what can be computed with.
fn time(text: &[u8], rounded: Rounded) -> Result<Option<i64>, Fault> {
    let wrong = || Fault::Time(shown(text));
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let mut size: i128 = 0;
    // Digits after the point; `None` before it.
    let mut places: Option<u32> = None;
    let (mut any, mut beyond) = (false, false);
    for &byte in digits {
        match (byte, &mut places) {
            (b'0'..=b'9', Some(9..)) => (any, beyond) = (true, beyond || byte != b'0'),
            (b'0'..=b'9', places) => {
                any = true;
                // What is beyond all bounds stays there.
                size = (size * 10 + i128::from(byte - b'0')).min(i128::from(u64::MAX));
                if let Some(places) = places {
                    *places += 1;
                }
            }
            (b'.', places @ None) => *places = Some(0),
            _ => return Err(wrong()),
        }
    }
    if !any {
        return Err(wrong());
    }
    if let Some(places) = places {
        size *= 10_i128.pow(9 - places);
    }
    // Digits that were cut off make a positive time too small and a negative one too large.
    let correction = match (beyond, negative, rounded) {
        (true, false, Rounded::Up) | (true, true, Rounded::Down) => 1,
        _ => 0,
    };
    let size = size + correction;
    let ns = i64::try_from(if negative { -size } else { size }).ok();
    Ok(ns.filter(|ns| (-MAX_ABS_NS..=MAX_ABS_NS).contains(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let check = |text: &str, expect: Option<(i64, i64)>| {
            let rounded = |rounded| time(text.as_bytes(), rounded).unwrap();
            assert_eq!(rounded(Rounded::Down).zip(rounded(Rounded::Up)), expect, "{text}");
        };
        let same = |ns| Some((ns, ns));
        check("0", same(0));
        check("17", same(17));
        check("-17", same(-17));
        check("+17", same(17));
        check("48.85", same(48_850_000_000));
        check("-0.5", same(-500_000_000));
        check("1.", same(1_000_000_000));
        check(".000000001", same(1));
        check("0.123456789", same(123_456_789));
        check("0.123456789000", same(123_456_789));
        check("0.1234567891", Some((123_456_789, 123_456_790)));
        check("-0.1234567891", Some((-123_456_790, -123_456_789)));
        check("0.99999999999", Some((999_999_999, 1_000_000_000)));
        check("2305843009213693952", same(1 << 61));
        check("-2305843009213693952", same(-1 << 61));
        check("2305843009213693953", None);
        check("2305843009.213693952", same(1 << 61));
        check("2305843009.2136939521", None);
        check("-2305843009.2136939521", None);
        check("9223372036854775808", None);
        check("18446744073709551616.5", None);
        check("99999999999999999999999999999999999999999999", None);
        for wrong in [
            "",
            "-",
            ".",
            "-.",
            "1e3",
            "1.2.3",
            "0x10",
            "1_000",
            "nan",
            "--1",
            "1-",
            "99999999999999999999999x",
        ] {
            assert!(matches!(time(wrong.as_bytes(), Rounded::Down), Err(Fault::Time(_))), "{wrong}");
        }
    }

    fn read(text: &str) -> Result<Vec<Message>, String> {
        let list = TextMessages::new(text.as_bytes(), Path::new("x")).map_err(|error| error.to_string())?;
        let message = |line| match line {
            Ok(Line::Message(message)) => Ok(message),
            Ok(Line::Beyond { error, .. }) | Err(error) => Err(error.to_string()),
        };
        list.map(message).collect()
    }

    #[test]
    fn lists_are_read_with_all_their_freedom() {
        let check = |text: &str, expect: &[(usize, i64, usize, i64)]| {
            let found: Vec<_> = read(text)
                .unwrap()
                .iter()
                .map(|m| (m.sender, m.sent.ns(), m.receiver, m.received.ns()))
                .collect();
            assert_eq!(found, expect, "{text}");
        };
        check("2", &[]);
        check("# comment\n\n  3 # three\n", &[]);
        check("2\n0 1 5 7\n", &[(0, 5, 1, 7)]);
        check("\u{feff}2\n0 1 5 7\n", &[(0, 5, 1, 7)]);
        check("\u{feff}# comment\n2\n0 1 5 7\n", &[(0, 5, 1, 7)]);
        check(
            "2 further\r\n0\t1\t48.85\t55.29\r\n\r\n1 0 5 7 8 9 # a reply",
            &[(0, 48_850_000_000, 1, 55_290_000_000), (1, 5, 0, 7)],
        );
        check("2\n0 1 1.0000000001 1.0000000001\n", &[(0, 1_000_000_000, 1, 1_000_000_001)]);
    }

    #[test]
    fn errors_name_the_line() {
        let check = |text: &str, expect: &str| assert_eq!(read(text).unwrap_err(), expect, "{text:.40}");
        check("", "x: it is empty: the first line is the number of hosts");
        check("# nothing\n\n", "x: it is empty: the first line is the number of hosts");
        check("a\n", "x:1: `a` is not a number of hosts (1 to 1000)");
        check("\n0\n", "x:2: `0` is not a number of hosts (1 to 1000)");
        check("1001\n", "x:1: `1001` is not a number of hosts (1 to 1000)");
        check("2\n\n0 1 5\n", "x:3: a message is `sender receiver send_time recv_time`: 3 columns are there");
        check(
            "2\n0 1 5 # 6\n",
            "x:2: a message is `sender receiver send_time recv_time`: 3 columns are there",
        );
        check("2\n0 2 5 6\n", "x:2: `2` is not a host: there are 2, numbered from 0");
        check("2\n-1 0 5 6\n", "x:2: `-1` is not a host: there are 2, numbered from 0");
        check("2\n1 1 5 6\n", "x:2: host 1 sends a message to itself");
        check("2\n0 1 5 1e9\n", "x:2: `1e9` is not a valid time: give seconds with a decimal point, or ns");
        check("2\n0 1 5 9223372036854775808\n", "x:2: `9223372036854775808` is beyond ± 2^61 ns (73 years)");
        check(
            "2\n0 1 -9e9 -9223372036854775808\n",
            "x:2: `-9e9` is not a valid time: give seconds with a decimal point, or ns",
        );
        for utf_16 in ["\u{feff}2\n0 1 5 6\n", "2\n0 1 5 6\n"] {
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                let text: Vec<u8> = utf_16.encode_utf16().flat_map(bytes).collect();
                let error = TextMessages::new(&text[..], Path::new("x")).unwrap_err().to_string();
                assert_eq!(error, "x: it is UTF-16: write it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does");
            }
        }
        check(&format!("2\n{}", " ".repeat(70_000)), "x:2: the line has more than 65536 bytes");
        let error = TextMessages::open(Path::new("absent/list")).unwrap_err();
        assert!(error.to_string().starts_with("absent/list: cannot be read: "), "{error}");
    }

    #[test]
    fn times_beyond_all_bounds_cost_their_line() {
        let lines = "3\n0 1 1 2\n2 1 -9223372036854775808 3\n\n0 2 4 18446744073709551616.25\n1 0 5 6";
        let list = TextMessages::new(lines.as_bytes(), Path::new("x")).unwrap();
        let shown = list.map(|line| match line.unwrap() {
            Line::Message(m) => format!("{} {} {} {}", m.sender, m.receiver, m.sent, m.received),
            Line::Beyond { sender, receiver, error } => format!("{sender} {receiver} {error}"),
        });
        let expect = [
            "0 1 1 2",
            "2 1 x:3: `-9223372036854775808` is beyond ± 2^61 ns (73 years)",
            "0 2 x:5: `18446744073709551616.25` is beyond ± 2^61 ns (73 years)",
            "1 0 5 6",
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn nothing_comes_after_an_error() {
        let mut list = TextMessages::new(&b"2\n0 1 a 2\n0 1 1 2\n"[..], Path::new("x")).unwrap();
        assert!(list.next().unwrap().is_err());
        assert!(list.next().is_none());
    }
}
