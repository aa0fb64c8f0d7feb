//! Instants as text, with nanoseconds, in the requested time zone. They are parsed in [`crate::arguments::time`].

use std::sync::OnceLock;

pub(crate) use isochrone_analysis::jsonl::seconds;
use isochrone_ctf::digits;
use isochrone_time::UnixNs;
use jiff::Timestamp;
use jiff::tz::TimeZone;

const NS_PER_S: i128 = 1_000_000_000;

/// The time zone of all times that are shown; UTC by default.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Chooses the time zone, once, before anything is shown.
pub(crate) fn choose(zone: TimeZone) {
    // A second choice would be of the same arguments.
    let _ = ZONE.set(zone);
}

/// The time zone of all times that are shown.
pub(crate) fn zone() -> &'static TimeZone {
    ZONE.get_or_init(|| TimeZone::UTC)
}

/// Its name: `UTC`, `Europe/Berlin`.
pub(crate) fn zone_name() -> &'static str {
    zone().iana_name().unwrap_or("local time")
}

/// Offset of the zone from UTC at an instant, s; 0 where the calendar does not reach.
fn ahead(second: i128) -> i64 {
    if ZONE.get().is_none_or(|zone| *zone == TimeZone::UTC) {
        return 0;
    }
    let at = i64::try_from(second).ok().and_then(|second| Timestamp::from_second(second).ok());
    at.map_or(0, |at| i64::from(zone().to_offset(at).seconds()))
}

/// Appends a time of day, `05:54:25.967103592`, with the date before it if `date`.
pub(crate) fn put(out: &mut Vec<u8>, UnixNs(unix_ns): UnixNs, date: bool) {
    // Division is slow in 128 bits; what fits 64 is usual.
    let (seconds, ns) = match i64::try_from(unix_ns) {
        Ok(short) => (i128::from(short.div_euclid(1_000_000_000)), short.rem_euclid(1_000_000_000) as u32),
        Err(_) => (unix_ns.div_euclid(NS_PER_S), unix_ns.rem_euclid(NS_PER_S) as u32),
    };
    let seconds = seconds + i128::from(ahead(seconds));
    if date {
        let shown = i64::try_from(seconds).ok().and_then(|s| Timestamp::from_second(s).ok());
        match shown {
            Some(timestamp) => {
                out.extend_from_slice(timestamp.strftime("%Y-%m-%d ").to_string().as_bytes());
            }
            None => out.extend_from_slice(b"????-??-?? "),
        }
    }
    let of_day = match i64::try_from(seconds) {
        Ok(short) => short.rem_euclid(86_400) as u32,
        Err(_) => seconds.rem_euclid(86_400) as u32,
    };
    for (value, separator) in [(of_day / 3600, b':'), (of_day / 60 % 60, b':'), (of_day % 60, b'.')] {
        out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8, separator]);
    }
    digits::nanoseconds(out, ns);
}

/// Shows successive times, most of them in the same second as the previous one.
#[derive(Debug, Default)]
pub(crate) struct TimeWriter {
    date: bool,
    /// Start of the second that is shown, Unix ns.
    start: i64,
    /// That second, followed by the point.
    shown: Option<[u8; 9]>,
}

impl TimeWriter {
    pub(crate) fn new(date: bool) -> Self {
        Self { date, ..Self::default() }
    }

    /// Appends a time as [`put`] does.
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, at: UnixNs) {
        match self.of_day(at) {
            Some((second, ns)) => {
                out.extend_from_slice(&second);
                out.extend_from_slice(&ns);
            }
            None => put(out, at, self.date),
        }
    }

    /// A time as [`put`] shows it, up to the point and after it, where there is no date and 64 bits hold it:
    /// its length is known then.
    #[inline]
    pub(crate) fn of_day(&mut self, at: UnixNs) -> Option<([u8; 9], [u8; 9])> {
        let short = i64::try_from(at.0).ok().filter(|_| !self.date)?;
        let mut ns = short.wrapping_sub(self.start);
        if self.shown.is_none() || !(0..1_000_000_000).contains(&ns) {
            let mut text = Vec::new();
            put(&mut text, at, false);
            self.shown = text.first_chunk().copied();
            ns = short.rem_euclid(1_000_000_000);
            self.start = short.wrapping_sub(ns);
        }
        Some((self.shown?, digits::nine(ns as u32)))
    }
}

/// A date and time for people: `2026-11-20 05:54:25.967103592`. Where the calendar does not reach, the seconds since 1970.
pub(crate) fn full(at: UnixNs) -> String {
    let second = i64::try_from(at.0.div_euclid(NS_PER_S)).ok();
    if second.is_none_or(|second| Timestamp::from_second(second).is_err()) {
        return format!("{} s since 1970", seconds(at.0));
    }
    let mut out = Vec::new();
    put(&mut out, at, true);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown() {
        assert_eq!(full(UnixNs(1_795_154_041_823_216_897)), "2026-11-20 05:54:01.823216897");
        assert_eq!(full(UnixNs(-1)), "1969-12-31 23:59:59.999999999");
        assert_eq!(
            full(UnixNs(1_351_530_929_945_824_323_000_000_001)),
            "1351530929945824323.000000001 s since 1970"
        );
        assert_eq!(
            full(UnixNs(i128::from(i64::MIN) * NS_PER_S)),
            "-9223372036854775808.000000000 s since 1970"
        );
        for date in [false, true] {
            let mut writer = TimeWriter::new(date);
            for time in [-1, 0, 1, 999_999_999, 1_000_000_000, 1_795_154_041_823_216_897, 5, i128::MAX / 4] {
                let (mut plain, mut quick) = (Vec::new(), Vec::new());
                put(&mut plain, UnixNs(time), date);
                writer.put(&mut quick, UnixNs(time));
                assert_eq!(plain, quick);
            }
        }
    }
}
