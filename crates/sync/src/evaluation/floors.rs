//! Measured least round trips, from a text: a line `FROM TO MS` for each, hosts by name or by address,
//! directions separate, `#` starts a comment. LTTV's `--eval-rtt-file`.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use isochrone_net::{PacketKey, key, known};

/// The longest text that is read, bytes.
const MAX_BYTES: u64 = 1 << 24;
/// The longest round trip that makes sense, ms.
const MAX_MS: f64 = 1e9;

/// Why a text of round trips cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FloorsError {
    /// The operating system refused to read it, or it is no text.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// More than is plausible.
    #[error("{}: it has more than {MAX_BYTES} bytes, the most that are read", .0.display())]
    Long(PathBuf),
    /// A line that is something else.
    #[error("{}:{line}: a round trip is `FROM TO MS`, hosts by name or address: `{text}`", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is there.
        text: String,
    },
}

/// Round trips by what hosts are called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Floors {
    /// By names as they were given, ns.
    named: HashMap<(String, String), i64>,
    /// By numbers of clocks.
    of_hosts: HashMap<(usize, usize), i64>,
    /// By digests of source and destination.
    of_addresses: HashMap<u64, i64>,
}

impl Floors {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or a line is something else.
    pub fn read(path: &Path) -> Result<Self, FloorsError> {
        let failed = |source| FloorsError::Read { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
            return Err(FloorsError::Long(path.to_owned()));
        }
        Self::parse(&std::fs::read_to_string(path).map_err(failed)?, path)
    }

    /// Reads a text; `path` is what errors call it.
    ///
    /// # Errors
    /// A line is something else.
    pub fn parse(text: &str, path: &Path) -> Result<Self, FloorsError> {
        let (mut floors, mut opposite) = (Self::default(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let plain = line.split('#').next().unwrap_or_default();
            let wrong = || {
                let (path, text) = (path.to_owned(), line.chars().take(60).collect());
                FloorsError::Line { path, line: number + 1, text }
            };
            let words: Vec<&str> = plain.split_whitespace().collect();
            let [from, to, took] = words[..] else {
                if words.is_empty() {
                    continue;
                }
                return Err(wrong());
            };
            let took: f64 = took.parse().map_err(|_| wrong())?;
            if !(0.0..=MAX_MS).contains(&took) {
                return Err(wrong());
            }
            let took = (took * 1e6).round() as i64;
            if let (Ok(from), Ok(to)) = (from.parse::<IpAddr>(), to.parse::<IpAddr>()) {
                floors.of_addresses.insert(key::digest(&from, &to), took);
                opposite.push((key::digest(&to, &from), took));
            }
            floors.named.insert((from.to_owned(), to.to_owned()), took);
        }
        for (way, took) in opposite {
            floors.of_addresses.entry(way).or_insert(took);
        }
        Ok(floors)
    }

    /// The same for hosts of these names, by number.
    #[must_use]
    pub fn for_hosts(mut self, names: &[String]) -> Self {
        let numbers: HashMap<&str, usize> =
            names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        let number = |name: &String| numbers.get(name.as_str()).copied();
        let found =
            self.named.iter().filter_map(|((from, to), took)| Some(((number(from)?, number(to)?), *took)));
        self.of_hosts = found.collect();
        self
    }

    /// Names in it that are neither those of hosts nor addresses.
    pub fn unknown(&self, names: &[String]) -> Vec<String> {
        let all = self.named.keys().flat_map(|(from, to)| [from, to]);
        let mut unknown: Vec<String> =
            all.filter(|name| name.parse::<IpAddr>().is_err() && !names.contains(name)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// The round trip for a message between hosts: by the addresses of the packet, or by the hosts; of the
    /// opposite direction where nothing is said of this one.
    pub(super) fn of(&self, (from, to): (usize, usize), key: Option<&PacketKey>) -> Option<i64> {
        let addressed = key.filter(|key| key.knows(known::ADDRESSES));
        let by_address = addressed.and_then(|key| self.of_addresses.get(&key.addresses));
        let by_host = || self.of_hosts.get(&(from, to)).or_else(|| self.of_hosts.get(&(to, from)));
        by_address.or_else(by_host).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_checked() {
        let check = |text: &str, expect: &str| {
            let error = Floors::parse(text, "rtt".as_ref()).unwrap_err();
            assert_eq!(error.to_string(), expect);
        };
        let line = |number: usize, text: &str| {
            format!("rtt:{number}: a round trip is `FROM TO MS`, hosts by name or address: `{text}`")
        };
        check("# fine\n\na b\n", &line(3, "a b"));
        check("a b c\n", &line(1, "a b c"));
        check("a b -1\n", &line(1, "a b -1"));
        check("a b inf # no\n", &line(1, "a b inf # no"));
    }

    #[test]
    fn hosts_are_found_by_name() {
        let floors =
            Floors::parse("app db 0.25\ndb app 0.5\n10.0.0.1 10.0.0.2 1\nweb cache 3\n", "rtt".as_ref());
        let names = ["app", "db", "web"].map(str::to_owned);
        let floors = floors.unwrap().for_hosts(&names);
        assert_eq!(floors.of((0, 1), None), Some(250_000));
        assert_eq!(floors.of((1, 0), None), Some(500_000));
        assert_eq!(floors.of((0, 2), None), None);
        assert_eq!(floors.unknown(&names), ["cache"]);
    }
}
