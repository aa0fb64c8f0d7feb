//! Times on the command line: every form in which a command prints one, and the time zone in which they are shown.

use clap::Args;
use isochrone_time::UnixNs;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::render::time;

const NS_PER_S: i128 = 1_000_000_000;

/// Unix times below this, ns, are within 12 days of 1970: seconds were meant.
const PLAUSIBLE_NS: i128 = 1_000_000_000_000_000;

/// A time of day that is farther before the start of the traces than this is of the next day.
const HALF_A_DAY_NS: i128 = 43_200 * NS_PER_S;

/// The forms of a time.
const FORMS: &str = "give a time of day (06:11:25.5), a date with one (2026-11-20 06:11:25.5, or with a zone \
                     2026-11-20T06:11:25.5Z), Unix seconds with a decimal point, Unix nanoseconds, a time after the \
                     start of the traces (+2s, +150ms), or one before their end (-1s)";

/// The time zone of times.
#[derive(Debug, Clone, Args)]
pub(crate) struct Zone {
    /// Show times in this time zone, and read those without a zone in it: `UTC`, `local`, or a name such as `Europe/Berlin`
    /// [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = zone, conflicts_with = "gmt", help_heading = "Times")]
    timezone: Option<TimeZone>,
    /// The same as `--timezone UTC`
    #[arg(long, help_heading = "Times")]
    gmt: bool,
}

impl Zone {
    /// The requested zone.
    pub(crate) fn get(&self) -> TimeZone {
        self.timezone.clone().unwrap_or(TimeZone::UTC)
    }
}

fn zone(name: &str) -> Result<TimeZone, String> {
    match name {
        "UTC" | "utc" | "GMT" | "gmt" => Ok(TimeZone::UTC),
        "local" => Ok(TimeZone::system()),
        _ => TimeZone::get(name).map_err(|_| {
            "not a known time zone: give UTC, local, or a name of the system's database such as Europe/Berlin".to_owned()
        }),
    }
}

/// An instant on the command line. Its zone, and the day of a time of day, come from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeArg {
    /// A time on the common clock, or on a host's own.
    Unix(UnixNs),
    /// A date and a time of day, in the zone of times.
    Civil(DateTime),
    /// A time of day, of the day on which the traces start or of the next one.
    OfDay(Time),
    /// A time after the start of the traces, ns.
    AfterStart(u64),
    /// A time before the end of the traces, ns.
    BeforeEnd(u64),
}

impl TimeArg {
    /// Parses any form of a time.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a valid time: {FORMS}");
        let bare = text.trim();
        let bare = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']')).unwrap_or(bare);
        if let Some(relative) = relative(bare) {
            return relative.map_err(|error| format!("`{text}`: {error}"));
        }
        let is_date = bare.get(1..).is_some_and(|rest| rest.contains('-'));
        if !is_date && !bare.contains(['T', 't', ':']) {
            let ns = number(bare).ok_or_else(wrong)?;
            if !bare.contains('.') && ns != 0 && ns.abs() < PLAUSIBLE_NS {
                return Err(format!("`{text}` means nanoseconds after 1970: write `{bare}.0` for seconds"));
            }
            return Ok(Self::Unix(UnixNs(ns)));
        }
        if is_leap_second(bare) {
            return Err(format!(
                "`{text}` is a leap second, which Unix time cannot represent: give the next second"
            ));
        }
        if let Ok(timestamp) = bare.parse::<Timestamp>() {
            return Ok(Self::Unix(UnixNs(timestamp.as_nanosecond())));
        }
        if let Some(time) = of_day(bare) {
            return Ok(Self::OfDay(time));
        }
        let in_utc = bare.strip_suffix(" UTC");
        let civil = civil(in_utc.unwrap_or(bare)).ok_or_else(wrong)?;
        match in_utc {
            Some(_) => in_zone(civil, &TimeZone::UTC).map(Self::Unix),
            None => Ok(Self::Civil(civil)),
        }
    }

    /// The instant, for traces with their first and their last event at `events`; `None`: unknown, so that a
    /// time of day, or one after the start or before the end, is an error.
    pub(crate) fn unix(self, events: Option<(UnixNs, UnixNs)>) -> Result<UnixNs, String> {
        self.in_zone(events, time::zone())
    }

    /// The instant where there are no events to count from: one after the first or before the last is an
    /// error. `near`: what stands for the first where a time of day has no day.
    pub(crate) fn absolute(self, near: Option<UnixNs>) -> Result<UnixNs, String> {
        let is_relative = matches!(self, Self::AfterStart(_) | Self::BeforeEnd(_));
        self.unix(near.map(|near| (near, near)).filter(|_| !is_relative))
    }

    fn in_zone(self, events: Option<(UnixNs, UnixNs)>, zone: &TimeZone) -> Result<UnixNs, String> {
        let (start, end) = events.unzip();
        let of_day = match self {
            Self::Unix(unix) => return Ok(unix),
            Self::Civil(civil) => return in_zone(civil, zone),
            Self::AfterStart(ns) => {
                let start = start.ok_or("a time after the start of the traces, which is unknown here")?;
                return Ok(UnixNs(start.0 + i128::from(ns)));
            }
            Self::BeforeEnd(ns) => {
                let end = end.ok_or("a time before the end of the traces, which is unknown here")?;
                return Ok(UnixNs(end.0 - i128::from(ns)));
            }
            Self::OfDay(time) => time,
        };
        let start = start
            .ok_or_else(|| format!("{of_day}: the day is unknown without a trace: give a date as well"))?;
        let date = Timestamp::from_nanosecond(start.0).map(|at| zone.to_datetime(at).date());
        let date: Date = date.map_err(|_| format!("{of_day}: give a date as well"))?;
        let that_day = in_zone(date.to_datetime(of_day), zone)?;
        // Traces that run over midnight: a time long before their start is one of the next day.
        match start - that_day > HALF_A_DAY_NS {
            true => in_zone(date.saturating_add(1.day()).to_datetime(of_day), zone),
            false => Ok(that_day),
        }
    }
}

/// `+2s` and `-150ms`: a sign, and a duration with its unit. `None`: another form.
fn relative(text: &str) -> Option<Result<TimeArg, String>> {
    let (is_after, rest) = match text.split_at_checked(1)? {
        ("+", rest) if !rest.ends_with('s') => return Some(Err("give a unit, as in +2s".to_owned())),
        ("+", rest) => (true, rest),
        // Without a unit it is Unix time.
        ("-", rest) if rest.ends_with('s') => (false, rest),
        _ => return None,
    };
    Some(duration(rest).map(if is_after { TimeArg::AfterStart } else { TimeArg::BeforeEnd }))
}

fn in_zone(civil: DateTime, zone: &TimeZone) -> Result<UnixNs, String> {
    let instant = zone.to_ambiguous_timestamp(civil);
    if instant.is_ambiguous() {
        return Err(format!(
            "{civil} falls into a clock change in {}: add an offset, as in +01:00",
            time::zone_name()
        ));
    }
    instant.unambiguous().map(|at| UnixNs(at.as_nanosecond())).map_err(|error| error.to_string())
}

/// `2026-11-20 06:11:25.5`, without seconds, or without a time.
fn civil(text: &str) -> Option<DateTime> {
    let (date, time) =
        text.split_once([' ', 'T', 't']).map_or((text, None), |(date, time)| (date, Some(time)));
    let date: Date = date.parse().ok()?;
    Some(date.to_datetime(time.map_or(Some(Time::midnight()), of_day)?))
}

/// `05:54:25.967103592`, or without seconds.
fn of_day(text: &str) -> Option<Time> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("00"));
    let two = |text: &str| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i8>().ok().filter(|_| digits)
    };
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let is_part = part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit()) && parts.next().is_none();
    let ns = format!("{part:0<9}").parse().ok().filter(|_| is_part)?;
    Time::new(two(hours)?, two(minutes)?, two(whole)?, ns).ok()
}

/// Whether the time of day in a text is in a 61st second, which `jiff` takes for the 60th.
fn is_leap_second(text: &str) -> bool {
    let of_day = text.rsplit(['T', 't', ' ']).next().unwrap_or_default();
    let mut digits = of_day.bytes().filter(|&byte| byte != b':');
    digits.by_ref().take(4).all(|byte| byte.is_ascii_digit()) && digits.take(2).eq(*b"60")
}

/// Parses a duration, ns.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let digits_after = match unit.trim() {
        "" | "ns" => 0,
        "us" | "µs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return Err("unknown unit: give ns, us, ms or s".to_owned()),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let wrong = || "not a valid duration: give one such as 250us or 1.5ms".to_owned();
    if part.len() > digits_after || (whole.is_empty() && part.is_empty()) {
        return Err(wrong());
    }
    // Exact: the digits after the point are filled up to ns.
    format!("{whole}{part:0<digits_after$}").parse().map_err(|_| wrong())
}

/// Parses a raw time: seconds with a decimal point, or nanoseconds without; ns, which may be beyond 64 bits.
pub(crate) fn raw(text: &str) -> Result<i128, String> {
    let wrong = || format!("`{text}` is not a valid time: give nanoseconds, or seconds with a decimal point");
    number(text.trim()).ok_or_else(wrong)
}

/// Parses seconds with a decimal point, or nanoseconds without; ns.
fn number(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    // Longer numbers would overflow.
    let plausible =
        !whole.is_empty() && whole.len() <= 20 && part.len() <= 9 && all_digits(whole) && all_digits(part);
    let whole: i128 = whole.parse().ok().filter(|_| plausible)?;
    let ns = match digits.contains('.') {
        true => whole * NS_PER_S + format!("{part:0<9}").parse::<i128>().ok()?,
        false => whole,
    };
    Some(if negative { -ns } else { ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-20 06:11:21.5 UTC.
    const BEGIN: i128 = 1_795_155_081_500_000_000;

    fn read(text: &str, zone: &TimeZone) -> Result<i128, String> {
        TimeArg::parse(text)?
            .in_zone(Some((UnixNs(BEGIN), UnixNs(BEGIN + 9_000_000_000))), zone)
            .map(|at| at.0)
    }

    #[test]
    fn times_are_read() {
        let check =
            |text: &str, expect: Option<i128>| assert_eq!(read(text, &TimeZone::UTC).ok(), expect, "{text}");
        check("1795154041823216897", Some(1_795_154_041_823_216_897));
        check("0", Some(0));
        check("1795154041", None);
        check("12.5", Some(12_500_000_000));
        check("1795154041.823216897", Some(1_795_154_041_823_216_897));
        check("-0.000000001", Some(-1));
        check("1970-01-01T00:00:01.5Z", Some(1_500_000_000));
        check("1970-01-01T00:00:01.5", Some(1_500_000_000));
        check("1970-01-01 00:00:01.5", Some(1_500_000_000));
        check("1970-01-01 00:00:01.5 UTC", Some(1_500_000_000));
        check("1970-01-01 00:01", Some(60_000_000_000));
        check("1970-01-02", Some(86_400_000_000_000));
        check("2016-12-31T23:59:59.9Z", Some(1_483_228_799_900_000_000));
        check("2017-01-01T00:59:00+01:00", Some(1_483_228_740_000_000_000));
        check("2017-01-01T00:59+01:00", Some(1_483_228_740_000_000_000));
        check("06:11:21.5", Some(BEGIN));
        check("[06:11:21.500000000]", Some(BEGIN));
        check("06:12", Some(BEGIN + 38_500_000_000));
        check("00:00:00", Some(BEGIN - 22_281_500_000_000));
        check("+2s", Some(BEGIN + 2_000_000_000));
        check("+1.5ms", Some(BEGIN + 1_500_000));
        check("-1s", Some(BEGIN + 8_000_000_000));
        check("-0s", Some(BEGIN + 9_000_000_000));
        for wrong in ["+", "+2", "+2 parsecs", "+-2s", "-s", "--2s", "+2s5"] {
            check(wrong, None);
        }
        for wrong in ["1.0000000001", "", "-", "soon", "99999999999999999999999999", "24:00:00", "1:00:00"] {
            check(wrong, None);
        }
        for wrong in ["01:00:00.1234567890", "2026-11-20 6:11", "2026-13-01", "2026-11-20T", "06:11:21Z"] {
            check(wrong, None);
        }
    }

    #[test]
    fn times_without_a_zone_are_in_the_requested_one() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let check = |text: &str, expect: i128| assert_eq!(read(text, &zone), Ok(expect), "{text}");
        check("08:11:21.5", BEGIN);
        check("2026-11-20 08:11:21.5", BEGIN);
        check("2026-11-20 06:11:21.5 UTC", BEGIN);
        check("2026-11-20T06:11:21.5Z", BEGIN);
        // The traces begin at 08:11: six hours before that it was still the same day.
        check("02:11:21.5", BEGIN - 21_600_000_000_000);
        let late = TimeArg::parse("00:10")
            .unwrap()
            .in_zone(Some((UnixNs(BEGIN + 50_000_000_000_000), UnixNs::MAX)), &zone)
            .unwrap();
        assert_eq!(late.0, BEGIN - 1_500_000_000 + 57_520_000_000_000);
    }

    #[test]
    fn times_that_a_zone_has_twice_are_refused() {
        let Ok(berlin) = TimeZone::get("Europe/Berlin") else { return };
        let error = read("2026-10-25 02:30:00", &berlin).unwrap_err();
        assert!(error.contains("falls into a clock change"), "{error}");
        assert_eq!(read("2026-10-25 02:30:00+01:00", &berlin), Ok(1_792_891_800_000_000_000));
    }

    #[test]
    fn leap_seconds_are_named() {
        for text in [
            "2016-12-31T23:59:60Z",
            "2016-12-31t23:59:60.5Z",
            "2016-12-31 23:59:60Z",
            "20161231T235960Z",
            "2017-01-01T00:59:60+01:00",
            "23:59:60",
        ] {
            let error = TimeArg::parse(text).unwrap_err();
            assert!(error.starts_with(&format!("`{text}` is a leap second")), "{error}");
        }
    }

    #[test]
    fn durations() {
        let check = |text, expect: Option<u64>| assert_eq!(duration(text).ok(), expect, "{text}");
        check("250", Some(250));
        check("250us", Some(250_000));
        check("250 µs", Some(250_000));
        check("1.5ms", Some(1_500_000));
        check(".25s", Some(250_000_000));
        check("1.0000000001s", None);
        check("1.5", None);
        check("", None);
        check("ms", None);
        check("3 days", None);
        check("99999999999999999999", None);
    }
}
