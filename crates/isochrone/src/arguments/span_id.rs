//! Ids of spans of OpenTelemetry on the command line.

use std::str::FromStr;

/// The id of a span, or of the trace of spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpanId {
    /// In lower case.
    pub(crate) digits: String,
    /// Whether it is that of a trace.
    pub(crate) is_trace: bool,
}

impl FromStr for SpanId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.to_ascii_lowercase();
        let is_trace = match digits.len() {
            16 => false,
            32 => true,
            _ => return Err("give the 16 digits of a span's id, or the 32 of that of its trace"),
        };
        match digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            true => Ok(Self { digits, is_trace }),
            false => Err("ids are numbers in base 16"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use super::*;

    #[test]
    fn ids() {
        let check = |text: &str, expect: Option<bool>| {
            assert_eq!(text.parse::<SpanId>().ok().map(|id| id.is_trace), expect, "{text}");
        };
        check("051581bf3cb55c13", Some(false));
        check("5B8EFFF798038103D269B633813FC60C", Some(true));
        check("051581bf3cb55c1", None);
        check("051581bf3cb55c1g", None);
        check("", None);
    }
}
