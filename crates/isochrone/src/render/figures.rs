//! Numbers for people: durations in the unit that fits, signs aligned, thousands apart.

use std::cmp::Ordering;
use std::fmt::Write;

/// A duration of any number of ns; the greatest that 64 bits have where it is longer.
pub(crate) fn span(ns: i128) -> String {
    duration(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// A duration with three or four significant digits: `41.9 µs`.
pub fn duration(ns: i64) -> String {
    let mut text = String::with_capacity(12);
    put_duration(&mut text, ns);
    text
}

/// As [`duration`], at the end of a text: thousands of lines have several of them.
pub(crate) fn put_duration(text: &mut String, ns: i64) {
    let size = ns.unsigned_abs();
    let (unit, name): (u64, _) = match size {
        0..1_000 => (1, " ns"),
        1_000..1_000_000 => (1_000, " µs"),
        1_000_000..1_000_000_000 => (1_000_000, " ms"),
        _ => (1_000_000_000, " s"),
    };
    // With as many decimals as leave four digits.
    let decimals = [(3, 99_995), (2, 999_950), (1, 9_999_500)];
    let fits = |&(_, limit): &(u32, u64)| size.saturating_mul(10_000) < limit * unit;
    let decimals = match unit {
        1 => 0,
        _ => decimals.iter().find(|it| fits(it)).map_or(0, |(decimals, _)| *decimals),
    };
    let power = 10_u64.pow(decimals);
    // The whole units apart: the product with the power fits.
    let part = size % unit * power;
    let (number, rest) = (size / unit * power + part / unit, part % unit);
    let number = match (rest * 2).cmp(&unit) {
        Ordering::Less => number,
        // As numbers with decimals are rounded everywhere.
        Ordering::Equal => {
            let value = ns as f64 / unit as f64;
            let _ = write!(text, "{value:.0$}{name}", decimals as usize);
            return;
        }
        Ordering::Greater => number + 1,
    };
    if ns < 0 {
        text.push('-');
    }
    let mut digits = itoa::Buffer::new();
    text.push_str(digits.format(number / power));
    if decimals > 0 {
        text.push('.');
        let part = number % power;
        let zeros = decimals as usize - digits.format(part).len();
        text.push_str(&"00"[..zeros]);
        text.push_str(digits.format(part));
    }
    text.push_str(name);
}

/// A duration of any length: from a minute on in minutes, hours, days and years, `56.9 years`.
pub(crate) fn long(ns: i64) -> String {
    const UNITS: [(u64, &str); 4] = [(31_557_600, "years"), (86_400, "days"), (3_600, "h"), (60, "min")];
    let size = ns.unsigned_abs() / 1_000_000_000;
    match UNITS.iter().find(|(seconds, _)| size >= 2 * seconds) {
        Some((seconds, unit)) => format!("{:.1} {unit}", ns as f64 / 1e9 / *seconds as f64),
        None => duration(ns),
    }
}

/// Bounds before and after an estimate: `-98.12 µs +134.2 µs`, or `±0` where it is exact.
pub(crate) fn bounds(lo: i64, hi: i64) -> String {
    match (lo, hi) {
        (0, 0) => "±0".to_owned(),
        _ => format!("-{} +{}", duration(lo.saturating_abs()), duration(hi.saturating_abs())),
    }
}

/// A duration with its sign; from a second on, to a microsecond: `−1.500921 s`.
pub(crate) fn signed(ns: i64) -> String {
    let sign = if ns < 0 { '−' } else { '+' };
    let size = ns.saturating_abs();
    match size {
        0..1_000_000_000 => format!("{sign}{}", duration(size)),
        _ => format!("{sign}{:.6} s", size as f64 / 1e9),
    }
}

/// Parts per million, with at most three places: `0.1 ppm`.
pub(crate) fn ppm(ppm: f64) -> String {
    let shown = format!("{ppm:.3}");
    match ppm > 0.0 && ppm < 0.001 {
        true => format!("{ppm} ppm"),
        false => format!("{} ppm", shown.trim_end_matches('0').trim_end_matches('.')),
    }
}

/// A number of bytes, in the unit that fits: `3.53 MB`, `512 B`.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => {
            let value = bytes / size;
            let places = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            format!("{value:.places$} {unit}")
        }
        None => format!("{bytes:.0} B"),
    }
}

/// A number in groups of three: `1,234,567`. For unsigned numbers of any width.
pub(crate) fn count(number: impl TryInto<u128>) -> String {
    let digits = number.try_into().unwrap_or(u128::MAX).to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A part of a whole in tenths of a percent, rounded: `12.5 %`. A part that is not 0 is never shown as 0.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let Some(tenths) = (part * 1000 + whole / 2).checked_div(whole) else { return String::new() };
    match tenths {
        0 if part > 0 => "< 0.1 %".to_owned(),
        _ => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// A range, with `?` for unknown ends.
pub(crate) fn range<T>(lo: Option<T>, hi: Option<T>, show: impl Fn(T) -> String) -> String {
    let side = |value: Option<T>| value.map_or_else(|| "?".to_owned(), &show);
    format!("{} … {}", side(lo), side(hi))
}

/// `1 host`, `2,000 hosts`. For unsigned numbers of any width.
pub(crate) fn plural(number: impl TryInto<u128>, one: &str) -> String {
    let number = number.try_into().unwrap_or(u128::MAX);
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Names up to a number of them, then the number of the rest: `a, b and 3 more`.
pub(crate) fn listed(names: &[String], max: usize) -> String {
    let shown = names.iter().take(max).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(max) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fit_their_unit() {
        let check = |ns, expect: &str| assert_eq!(duration(ns), expect);
        check(0, "0 ns");
        check(-999, "-999 ns");
        check(1_000, "1.000 µs");
        check(41_873, "41.87 µs");
        check(999_960, "1000 µs");
        check(-1_500_921_000, "-1.501 s");
        check(123_400_000, "123.4 ms");
        check(9_999_499, "9.999 ms");
        check(9_999_500, "10.00 ms");
        check(10_050_000, "10.05 ms");
        check(1_002_500, "1.002 ms");
        check(10_125, "10.12 µs");
        check(10_375, "10.38 µs");
        check(1_000_000_000_000_000_500, "1000000000 s");
        check(i64::MIN, "-9223372037 s");
    }

    #[test]
    fn sizes_have_signs() {
        let check = |ns, expect: &str| assert_eq!(signed(ns), expect);
        check(-1_500_921_400, "−1.500921 s");
        check(12_300, "+12.30 µs");
        check(0, "+0 ns");
        check(i64::MIN, "−9223372036.854776 s");
    }

    #[test]
    fn long_durations_are_in_long_units() {
        let check = |s: i64, expect: &str| assert_eq!(long(s * 1_000_000_000), expect);
        check(65, "65.00 s");
        check(3_599, "60.0 min");
        check(9_000, "2.5 h");
        check(1_795_151_866, "56.9 years");
        check(-172_800, "-2.0 days");
    }

    #[test]
    fn bounds_have_two_sides() {
        let check = |lo, hi, expect: &str| assert_eq!(bounds(lo, hi), expect);
        check(-98_120, 134_200, "-98.12 µs +134.2 µs");
        check(0, 5, "-0 ns +5 ns");
        check(0, 0, "±0");
    }

    #[test]
    fn rates_are_short() {
        let check = |rate, expect: &str| assert_eq!(ppm(rate), expect);
        check(0.1, "0.1 ppm");
        check(20.0, "20 ppm");
        check(100.0, "100 ppm");
        check(0.000_02, "0.00002 ppm");
        check(12.345_678, "12.346 ppm");
        check(0.0, "0 ppm");
    }

    #[test]
    fn counts_are_grouped() {
        let check = |number: u128, expect: &str| assert_eq!(count(number), expect);
        check(7, "7");
        check(1234, "1,234");
        assert_eq!((plural(1_u8, "gap"), plural(0_u8, "gap")), ("1 gap".to_owned(), "0 gaps".to_owned()));
        assert_eq!(plural(2000_usize, "gap"), "2,000 gaps");
        check(1_234_567, "1,234,567");
        check(u128::from(u64::MAX) + 1, "18,446,744,073,709,551,616");
    }

    #[test]
    fn bytes_have_units() {
        let check = |size, expect: &str| assert_eq!(bytes(size), expect);
        check(0.0, "0 B");
        check(999.0, "999 B");
        check(3_528_704.0, "3.53 MB");
        check(12_345.0, "12.3 kB");
        check(123_456_789_000.0, "123 GB");
    }

    #[test]
    fn names_are_listed_up_to_a_number() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let check = |most, expect: &str| assert_eq!(listed(&names, most), expect);
        check(3, "a, b, c");
        check(2, "a, b and 1 more");
    }

    #[test]
    fn shares_are_rounded() {
        let check = |part, whole, expect: &str| assert_eq!(share(part, whole), expect);
        check(1, 3, "33.3 %");
        check(2, 3, "66.7 %");
        check(7, 7, "100.0 %");
        check(0, 7, "0.0 %");
        check(1, 2000, "0.1 %");
        check(1, 2001, "< 0.1 %");
        check(0, 0, "");
        check(u64::MAX, u64::MAX, "100.0 %");
    }
}
