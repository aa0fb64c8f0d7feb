//! Numbers for people: durations in the unit that fits, signs aligned, thousands apart.

/// A duration with three or four significant digits: `41.9 µs`.
pub(crate) fn duration(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let (unit, name) = match size {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns as f64 / unit;
    match value.abs() {
        0.0..9.9995 => format!("{value:.3} {name}"),
        9.9995..99.995 => format!("{value:.2} {name}"),
        99.995..999.95 => format!("{value:.1} {name}"),
        _ => format!("{value:.0} {name}"),
    }
}

/// A number in groups of three: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A range, `?` for what is not known.
pub(crate) fn range<T>(lo: Option<T>, hi: Option<T>, show: impl Fn(T) -> String) -> String {
    let side = |value: Option<T>| value.map_or_else(|| "?".to_owned(), &show);
    format!("{} … {}", side(lo), side(hi))
}

/// `1 host`, `2 hosts`.
pub(crate) fn plural(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
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
    }

    #[test]
    fn counts_are_grouped() {
        let check = |number, expect: &str| assert_eq!(count(number), expect);
        check(7, "7");
        check(1234, "1,234");
        check(1_234_567, "1,234,567");
    }
}
