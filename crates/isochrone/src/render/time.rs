//! Points in time as text: read from arguments, shown with nanoseconds, always in UTC.

use isochrone_ctf::digits;
use jiff::Timestamp;

const NS_PER_S: i128 = 1_000_000_000;

/// Unix times in ns below this are times of 12 days after 1970: surely seconds were meant.
const PLAUSIBLE_NS: i128 = 1_000_000_000_000_000;

/// Reads Unix seconds with a decimal point, Unix nanoseconds without, or an RFC 3339 date and time. Gives Unix ns.
pub(crate) fn parse(text: &str) -> Result<i128, String> {
    if text.contains(['T', 't', ':']) {
        if is_leap_second(text) {
            return Err(format!(
                "`{text}` is a leap second, which Unix time does not tell from the next: name that one"
            ));
        }
        let example = "give a date, a time and a zone, as in 2026-11-20T05:54:01.5Z";
        return text
            .parse::<Timestamp>()
            .map(Timestamp::as_nanosecond)
            .map_err(|_| format!("`{text}` is no time: {example}"));
    }
    let ns = parse_number(text)?;
    if !text.contains('.') && ns != 0 && ns.abs() < PLAUSIBLE_NS {
        return Err(format!("`{text}` means nanoseconds after 1970: write `{text}.0` for seconds"));
    }
    Ok(ns)
}

/// Whether the time of day in a text is in a 61st second, which `jiff` takes for the 60th.
fn is_leap_second(text: &str) -> bool {
    let of_day = text.rsplit(['T', 't', ' ']).next().unwrap_or_default();
    let mut digits = of_day.bytes().filter(|&byte| byte != b':');
    digits.by_ref().take(4).all(|byte| byte.is_ascii_digit()) && digits.take(2).eq(*b"60")
}

/// Reads seconds with a decimal point, or nanoseconds without.
pub(crate) fn parse_number(text: &str) -> Result<i128, String> {
    let wrong = || {
        format!(
            "`{text}` is no time: give seconds with a decimal point, nanoseconds without, or 2026-11-20T05:54:01.5Z"
        )
    };
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    // Longer numbers are no times, and would overflow.
    let plausible =
        !whole.is_empty() && whole.len() <= 20 && part.len() <= 9 && all_digits(whole) && all_digits(part);
    if !plausible {
        return Err(wrong());
    }
    let whole: i128 = whole.parse().map_err(|_| wrong())?;
    let ns = match digits.contains('.') {
        true => whole * NS_PER_S + format!("{part:0<9}").parse::<i128>().map_err(|_| wrong())?,
        false => whole,
    };
    Ok(if negative { -ns } else { ns })
}

/// Appends a time of day, `05:54:25.967103592`, with the date before it if asked for.
pub(crate) fn put(out: &mut Vec<u8>, unix_ns: i128, date: bool) {
    // Division is slow in 128 bits; what fits 64 is usual.
    let (seconds, ns) = match i64::try_from(unix_ns) {
        Ok(short) => (i128::from(short.div_euclid(1_000_000_000)), short.rem_euclid(1_000_000_000) as u32),
        Err(_) => (unix_ns.div_euclid(NS_PER_S), unix_ns.rem_euclid(NS_PER_S) as u32),
    };
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

/// Shows times one after the other, most of them of the same second as the one before.
#[derive(Debug, Default)]
pub(crate) struct TimeWriter {
    date: bool,
    /// When the second that is shown began, ns.
    begin: i64,
    /// That second, with the point behind it; empty before the first.
    shown: Vec<u8>,
}

impl TimeWriter {
    pub(crate) fn new(date: bool) -> Self {
        Self { date, ..Self::default() }
    }

    /// Appends a time as [`put`] does.
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, unix_ns: i128) {
        let Ok(short) = i64::try_from(unix_ns) else { return put(out, unix_ns, self.date) };
        let mut ns = short.wrapping_sub(self.begin);
        if self.shown.is_empty() || !(0..1_000_000_000).contains(&ns) {
            self.shown.clear();
            put(&mut self.shown, unix_ns, self.date);
            self.shown.truncate(self.shown.len() - 9);
            ns = short.rem_euclid(1_000_000_000);
            self.begin = short.wrapping_sub(ns);
        }
        // Without a date the length is known: that needs no call.
        match <&[u8; 9]>::try_from(self.shown.as_slice()) {
            Ok(shown) => out.extend_from_slice(shown),
            Err(_) => out.extend_from_slice(&self.shown),
        }
        digits::nanoseconds(out, ns as u32);
    }
}

/// A date and time for people: `2026-11-20 05:54:25.967103592`. Where no calendar reaches, the seconds since 1970.
pub(crate) fn full(unix_ns: i128) -> String {
    let second = i64::try_from(unix_ns.div_euclid(NS_PER_S)).ok();
    if second.is_none_or(|second| Timestamp::from_second(second).is_err()) {
        return format!("{} s since 1970", seconds(unix_ns));
    }
    let mut out = Vec::new();
    put(&mut out, unix_ns, true);
    String::from_utf8_lossy(&out).into_owned()
}

/// Exact seconds: `-1.500000000`.
pub(crate) fn seconds(ns: i128) -> String {
    let (sign, size) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09}", size / NS_PER_S.unsigned_abs(), size % NS_PER_S.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |text: &str, expect: Option<i128>| assert_eq!(parse(text).ok(), expect, "{text}");
        check("1795154041823216897", Some(1_795_154_041_823_216_897));
        check("0", Some(0));
        check("1795154041", None);
        check("12.5", Some(12_500_000_000));
        check("1795154041.823216897", Some(1_795_154_041_823_216_897));
        check("-0.000000001", Some(-1));
        check("1970-01-01T00:00:01.5Z", Some(1_500_000_000));
        check("1970-01-01T00:00:01.5", None);
        check("2016-12-31T23:59:59.9Z", Some(1_483_228_799_900_000_000));
        check("2017-01-01T00:00:00Z", Some(1_483_228_800_000_000_000));
        check("2017-01-01T00:59:00+01:00", Some(1_483_228_740_000_000_000));
        check("2017-01-01T00:59+01:00", Some(1_483_228_740_000_000_000));
        check("1.0000000001", None);
        check("", None);
        check("-", None);
        check("soon", None);
        check("99999999999999999999999999", None);
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
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(&format!("`{text}` is a leap second")), "{error}");
        }
    }

    #[test]
    fn times_are_shown() {
        assert_eq!(full(1_795_154_041_823_216_897), "2026-11-20 05:54:01.823216897");
        assert_eq!(full(-1), "1969-12-31 23:59:59.999999999");
        assert_eq!(full(1_351_530_929_945_824_323_000_000_001), "1351530929945824323.000000001 s since 1970");
        assert_eq!(full(i128::from(i64::MIN) * NS_PER_S), "-9223372036854775808.000000000 s since 1970");
        for date in [false, true] {
            let mut shower = TimeWriter::new(date);
            for time in [-1, 0, 1, 999_999_999, 1_000_000_000, 1_795_154_041_823_216_897, 5, i128::MAX / 4] {
                let (mut plain, mut quick) = (Vec::new(), Vec::new());
                put(&mut plain, time, date);
                shower.put(&mut quick, time);
                assert_eq!(plain, quick);
            }
        }
    }
}
