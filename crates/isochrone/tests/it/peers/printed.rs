//! What lttng-analyses prints, read back: lines of its text tables, and numbers as far as they were printed.

use std::fmt;

/// A number as it was printed: so many digits, or `?`.
#[derive(Clone, PartialEq)]
pub(crate) struct Printed(pub(crate) String);

impl Printed {
    /// Whether a figure, in the printed unit, is printed like that: it is no farther from it than half of the last of
    /// `decimals` digits. The last bits of a floating-point number are nobody's.
    pub(crate) fn is(&self, figure: Option<f64>, decimals: i32) -> bool {
        match (figure, self.0.parse::<f64>()) {
            (Some(figure), Ok(printed)) => {
                (figure - printed).abs() <= 0.5 * 10f64.powi(-decimals) + figure.abs() * 1e-13
            }
            (None, Err(_)) => self.0 == "?",
            _ => false,
        }
    }
}

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

/// A thread as it is printed: `name (tid)`; `Unknown (N/A)` has no number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) tid: Option<i64>,
}

/// The thread that a text begins with, and the text behind it. Names may have blanks in them.
pub(crate) fn process(text: &str) -> Option<(Process, &str)> {
    let (name, rest) = text.split_once(" (")?;
    let (tid, rest) = rest.split_once(')')?;
    Some((Process { name: name.trim_start().to_owned(), tid: tid.parse().ok() }, rest))
}

/// A time of day, `hh:mm:ss.nnnnnnnnn`, ns.
pub(crate) fn time_of_day(text: &str) -> Option<i64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, rest) = rest.split_once(':')?;
    let (seconds, ns) = rest.split_once('.')?;
    let number = |text: &str| text.parse::<i64>().ok();
    Some(((number(hours)? * 60 + number(minutes)?) * 60 + number(seconds)?) * 1_000_000_000 + number(ns)?)
}

/// The two times of day of `[begin, end]` and the text behind them.
pub(crate) fn times(line: &str) -> Option<(i64, i64, &str)> {
    let (times, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (begin, end) = times.split_once(", ")?;
    Some((time_of_day(begin)?, time_of_day(end)?, rest))
}

/// The fields of a text that blanks lie between.
pub(crate) fn fields<const N: usize>(text: &str) -> Option<[Printed; N]> {
    let fields: Vec<_> = text.split_whitespace().map(|field| Printed(field.to_owned())).collect();
    fields.try_into().ok()
}

/// A distribution: what it is of, and the least value and the count of each row.
pub(crate) struct Distribution {
    pub(crate) of: String,
    pub(crate) rows: Vec<(Printed, i64)>,
}

/// The distributions of a text. Each begins with a line that `title` is in.
pub(crate) fn distributions(text: &str, title: &str) -> Vec<Distribution> {
    let mut found: Vec<Distribution> = Vec::new();
    for line in text.lines() {
        if let Some((_, of)) = line.split_once(title) {
            found
                .push(Distribution { of: of.trim_end_matches(" (µs)").trim().to_owned(), rows: Vec::new() });
        } else if let Some(distribution) = found.last_mut() {
            let line = line.replace('█', " ");
            let Some([least, count]) = fields(&line) else { continue };
            distribution.rows.push((least, count.0.parse().unwrap()));
        }
    }
    found
}
