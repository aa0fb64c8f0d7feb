//! From values to pixels, and where an axis has its marks. Used by the charts of this folder.

/// A linear scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) pixels: (f64, f64),
}

impl Scale {
    /// From the values `from` to `to` onto pixels; a scale of one value has some room around it.
    pub(crate) fn new(from: f64, to: f64, pixels: (f64, f64)) -> Self {
        let (from, to) = if to > from { (from, to) } else { (from - 0.5, from + 0.5) };
        Self { from, to, pixels }
    }

    /// The position of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.from) / (self.to - self.from);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Round values for approximately that many marks.
    pub(crate) fn marks(&self, about: usize) -> Vec<f64> {
        let step = round_step((self.to - self.from) / about.max(1) as f64);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last.min(first.saturating_add(64))).map(|mark| mark as f64 * step).collect()
    }
}

/// The least of 1, 2, 5, 10, … that is not below a step.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    let digit = step / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| digit <= *round + 1e-9).unwrap_or(10.0);
    round * power
}

/// A duration in ns in the unit that fits: `-1.5 ms`.
pub(crate) fn duration(ns: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
    let size = ns.abs();
    let &(unit, scale) = UNITS.iter().find(|unit| size >= unit.1).unwrap_or(&UNITS[3]);
    let value = format!("{:.3}", ns / scale);
    let value = value.trim_end_matches('0').trim_end_matches('.');
    let value = if value == "-0" { "0" } else { value };
    format!("{value} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round() {
        let check = |from: f64, to: f64, about: usize, expect: &[f64]| {
            assert_eq!(Scale::new(from, to, (0.0, 1.0)).marks(about), expect, "{from} {to}");
        };
        check(0.0, 10.0, 5, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        check(-1200.0, 900.0, 4, &[-1000.0, 0.0]);
        check(3.0, 3.0, 1, &[3.0]);
    }

    #[test]
    fn values_become_pixels() {
        let scale = Scale::new(0.0, 10.0, (100.0, 200.0));
        assert_eq!((scale.at(0.0), scale.at(5.0), scale.at(10.0)), (100.0, 150.0, 200.0));
        let upward = Scale::new(-1.0, 1.0, (50.0, 0.0));
        assert_eq!((upward.at(-1.0), upward.at(1.0)), (50.0, 0.0));
    }

    #[test]
    fn durations_have_units() {
        let check = |ns: f64, expect: &str| assert_eq!(duration(ns), expect);
        check(0.0, "0 ns");
        check(-1_500_000.0, "-1.5 ms");
        check(20_000.0, "20 µs");
        check(12.0 * 1e9, "12 s");
    }
}
