//! Records that are dated beyond what clocks are computed with: each costs itself alone, and is named.

use std::path::Path;

use isochrone_clock::MAX_ABS_NS;
use isochrone_ctf::Diagnostic;
use isochrone_time::RawNs;
use jiff::Timestamp;

/// How many there are of a source, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beyond {
    count: u64,
    first: Option<First>,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct First {
    /// Number of the record (pcap), block (pcapng) or packet (CTF), and a byte of the file, as in
    /// [`Diagnostic`].
    place: (u64, u64),
    raw_ns: i128,
    unix_ns: i128,
}

/// Whether clocks are computed with a raw time.
pub(crate) fn is_beyond(raw: RawNs) -> bool {
    !(-MAX_ABS_NS..=MAX_ABS_NS).contains(&raw.ns())
}

impl Beyond {
    /// Counts a record at this place, of this raw time and date, ns.
    pub(crate) fn add(&mut self, place: (u64, u64), raw_ns: i128, unix_ns: i128) {
        self.count += 1;
        self.first.get_or_insert(First { place, raw_ns, unix_ns });
    }

    /// What is said of them; `what` names one of them. Nothing where there are none.
    pub(crate) fn diagnostic(&self, path: &Path, what: &str) -> Option<Diagnostic> {
        let First { place: (record, offset), raw_ns, unix_ns } = *self.first.as_ref()?;
        let count = match self.count {
            1 => format!("this {what} is"),
            count => format!("this {what} and {} more are", count - 1),
        };
        let origin = unix_ns.saturating_sub(raw_ns);
        let message = format!(
            "{count} left out of the synchronization: dated {}, beyond {}, 73 years from the origin of the \
             clock",
            date(unix_ns),
            date(origin.saturating_add(if raw_ns < 0 { -MAX_ABS_NS } else { MAX_ABS_NS }.into())),
        );
        Some(Diagnostic::loss(path, message).at(record, offset))
    }
}

/// A Unix time as a date, UTC.
pub(crate) fn date(unix_ns: i128) -> String {
    let second = i64::try_from(unix_ns.div_euclid(1_000_000_000)).ok();
    let at = second.and_then(|second| Timestamp::from_second(second).ok());
    at.map_or_else(|| format!("{unix_ns} ns after 1970"), |at| at.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_named_and_the_others_are_counted() {
        let mut beyond = Beyond::default();
        assert!(beyond.diagnostic(Path::new("x"), "packet").is_none());
        let at = |second: i128| second * 1_000_000_000;
        let check = |beyond: &Beyond, expect: &str| {
            let found = beyond.diagnostic(Path::new("x"), "packet").unwrap();
            assert!(found.is_loss());
            assert_eq!(found.to_string(), format!("x: packet 3, byte 40: {expect}"));
        };
        beyond.add((3, 40), at(2_894_531_997), at(2_894_531_997));
        let of = "left out of the synchronization: dated 2061-09-21, beyond 2043-01-25, 73 years from the \
                  origin of the clock";
        check(&beyond, &format!("this packet is {of}"));
        beyond.add((9, 90), 0, 0);
        check(&beyond, &format!("this packet and 1 more are {of}"));
        assert!(is_beyond(RawNs::MIN) && is_beyond(RawNs(MAX_ABS_NS + 1)) && !is_beyond(RawNs(-MAX_ABS_NS)));
    }
}
