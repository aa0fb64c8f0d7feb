//! Lists of messages as text, one a line: what LTTV's unit tests read, and what anything can write that knows when a
//! message was sent and received.
//!
//! The first line is the number of hosts, each further one `sender receiver send_time recv_time`. Hosts are numbered from
//! 0. A time with a decimal point is in seconds, one without in ns. Further columns, `#` comments and blank lines are
//! passed over.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::matching::Message;

/// Hosts that a list may name: every pair of them is a line of the artefact.
pub const MAX_HOSTS: usize = 1000;
/// Longest line, bytes.
const MAX_LINE: u64 = 1 << 16;
/// Bytes read at a time.
const BUFFER: usize = 1 << 17;

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
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// There is no first line.
    #[error("it is empty: the first line is the number of hosts")]
    Empty,
    /// Nothing follows the first line.
    #[error("no message is in it")]
    NoMessages,
    /// The first line is something else.
    #[error("`{0}` is no number of hosts (1 to {MAX_HOSTS})")]
    Hosts(String),
    /// A line without all of its columns.
    #[error("a message is `sender receiver send_time recv_time`: {0} columns are there")]
    Columns(usize),
    /// Something else in the place of a host.
    #[error("`{0}` is no host: there are {1}, numbered from 0")]
    Host(String, usize),
    /// A host that sends to itself.
    #[error("host {0} sends a message to itself")]
    Itself(usize),
    /// Something else in the place of a time.
    #[error("`{0}` is no time: seconds with a decimal point, or ns")]
    Time(String),
    /// A time beyond 64 bits of ns.
    #[error("`{0}` does not fit 64 bits of ns")]
    Range(String),
    /// A line without an end.
    #[error("the line has more than {MAX_LINE} bytes")]
    Long,
}

/// A list that is read from its beginning to its end, once. An iterator over its messages, whose clocks are the numbers of
/// the hosts; it ends behind the first error. Constant time and memory for each.
#[derive(Debug)]
pub struct TextMessages<R> {
    reader: R,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    hosts: usize,
    ended: bool,
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
        let mut list = Self { reader, path, line, number: 0, bytes: 0, hosts: 0, ended: false };
        match list.first_line() {
            Ok(hosts) => Ok(Self { hosts, ..list }),
            Err(why) => Err(list.error(why)),
        }
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.hosts
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
            if columns(&self.line).next().is_some() {
                return Ok(true);
            }
        }
    }

    fn message(&mut self) -> Result<Option<Message>, Fault> {
        if !self.next_line()? {
            return Ok(None);
        }
        let mut columns = columns(&self.line);
        let mut four = [&b""[..]; 4];
        for (index, column) in four.iter_mut().enumerate() {
            *column = columns.next().ok_or(Fault::Columns(index))?;
        }
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
        Ok(Some(Message { sender, sent, receiver, received }))
    }

    fn error(&self, why: Fault) -> TextError {
        let line = (self.number > 0 && !matches!(why, Fault::Read(_) | Fault::Empty)).then_some(self.number);
        TextError { path: self.path.clone(), line, why }
    }
}

impl<R: BufRead> Iterator for TextMessages<R> {
    type Item = Result<Message, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.message();
        self.ended = !matches!(found, Ok(Some(_)));
        found.map_err(|why| self.error(why)).transpose()
    }
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

/// A decimal in ns, exactly.
fn time(text: &[u8], rounded: Rounded) -> Result<i64, Fault> {
    let wrong = || Fault::Time(shown(text));
    let out_of_range = || Fault::Range(shown(text));
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let mut size: i128 = 0;
    // Digits behind the point; `None` before it.
    let mut places: Option<u32> = None;
    let (mut any, mut beyond) = (false, false);
    for &byte in digits {
        match (byte, &mut places) {
            (b'0'..=b'9', Some(9..)) => (any, beyond) = (true, beyond || byte != b'0'),
            (b'0'..=b'9', places) => {
                any = true;
                size = size * 10 + i128::from(byte - b'0');
                if size > i128::from(u64::MAX) {
                    return Err(out_of_range());
                }
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
    i64::try_from(if negative { -size } else { size }).map_err(|_| out_of_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let check = |text: &str, expect: Option<(i64, i64)>| {
            let both = time(text.as_bytes(), Rounded::Down).ok().zip(time(text.as_bytes(), Rounded::Up).ok());
            assert_eq!(both, expect, "{text}");
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
        check("9223372036854775807", same(i64::MAX));
        check("-9223372036854775808", same(i64::MIN));
        check("9223372036854775808", None);
        check("9223372036.854775807", same(i64::MAX));
        check("9223372036.8547758071", None);
        check("99999999999999999999999999999999999999999999", None);
        for wrong in ["", "-", ".", "-.", "1e3", "1.2.3", "0x10", "1_000", "nan", "--1", "1-"] {
            check(wrong, None);
        }
    }

    fn read(text: &str) -> Result<Vec<Message>, String> {
        let list = TextMessages::new(text.as_bytes(), Path::new("x")).map_err(|error| error.to_string())?;
        list.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_read_with_all_their_freedom() {
        let check = |text: &str, expect: &[(usize, i64, usize, i64)]| {
            let found: Vec<_> =
                read(text).unwrap().iter().map(|m| (m.sender, m.sent, m.receiver, m.received)).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("2", &[]);
        check("# comment\n\n  3 # three\n", &[]);
        check("2\n0 1 5 7\n", &[(0, 5, 1, 7)]);
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
        check("a\n", "x:1: `a` is no number of hosts (1 to 1000)");
        check("\n0\n", "x:2: `0` is no number of hosts (1 to 1000)");
        check("1001\n", "x:1: `1001` is no number of hosts (1 to 1000)");
        check("2\n\n0 1 5\n", "x:3: a message is `sender receiver send_time recv_time`: 3 columns are there");
        check(
            "2\n0 1 5 # 6\n",
            "x:2: a message is `sender receiver send_time recv_time`: 3 columns are there",
        );
        check("2\n0 2 5 6\n", "x:2: `2` is no host: there are 2, numbered from 0");
        check("2\n-1 0 5 6\n", "x:2: `-1` is no host: there are 2, numbered from 0");
        check("2\n1 1 5 6\n", "x:2: host 1 sends a message to itself");
        check("2\n0 1 5 1e9\n", "x:2: `1e9` is no time: seconds with a decimal point, or ns");
        check("2\n0 1 5 9223372036854775808\n", "x:2: `9223372036854775808` does not fit 64 bits of ns");
        check(&format!("2\n{}", " ".repeat(70_000)), "x:2: the line has more than 65536 bytes");
        let error = TextMessages::open(Path::new("absent/list")).unwrap_err();
        assert!(error.to_string().starts_with("absent/list: it cannot be read: "), "{error}");
    }

    #[test]
    fn nothing_comes_behind_an_error() {
        let mut list = TextMessages::new(&b"2\n0 1 a 2\n0 1 1 2\n"[..], Path::new("x")).unwrap();
        assert!(list.next().unwrap().is_err());
        assert!(list.next().is_none());
    }
}
