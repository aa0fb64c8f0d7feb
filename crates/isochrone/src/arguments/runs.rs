//! `isochrone diff` and `isochrone check`: runs against each other, and against limits.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use isochrone_crosshost::comparable;

use super::common::Sources;
use super::crosshost::OfRequests;
use super::time::duration;
use super::{ReportFormat, TableFormat};
use crate::suggest::did_you_mean;

/// `isochrone diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Traces of all hosts of the first run: a directory, or a store
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Traces of all hosts of the second run
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// What is compared: `requests`, or the tables of these analyses, separated by commas
    #[arg(value_name = "ANALYSIS", default_value = "requests", value_parser = Compared::parse)]
    pub(crate) compared: Compared,
    #[command(flatten)]
    pub(crate) of: OfRequests,
    /// Show at most N rows of each table; 0: all [default: as text, 10; else all]
    #[arg(long, alias = "top", value_name = "N", value_parser = super::common::number::<usize>)]
    pub(crate) limit: Option<usize>,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// Number of cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = super::common::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// What of two runs is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    /// Their requests.
    Requests,
    /// The tables of these analyses.
    Analyses(Vec<&'static str>),
}

impl Compared {
    fn parse(text: &str) -> Result<Self, String> {
        if matches!(text, "requests" | "critical-path") {
            return Ok(Self::Requests);
        }
        let known = comparable();
        let one = |name: &str| {
            known.iter().find(|known| **known == name).copied().ok_or_else(|| {
                let near = did_you_mean(name, known.iter().copied());
                format!("`{name}` cannot be compared{near} [possible values: requests, {}]", known.join(", "))
            })
        };
        let mut names = text.split(',').map(|name| one(name.trim())).collect::<Result<Vec<_>, _>>()?;
        names.dedup();
        Ok(Self::Analyses(names))
    }
}

/// `isochrone check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// What must hold: `p99(request) < 50ms`, or as --min `count(request) >= 10`. Figures are count, min,
    /// mean, median, p0 to p100 and max. May be given several times
    #[arg(long = "max", visible_alias = "min", value_name = "LIMIT", value_parser = Limit::parse)]
    #[arg(required = true)]
    pub(crate) limits: Vec<Limit>,
    #[command(flatten)]
    pub(crate) of: OfRequests,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// A figure of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Count,
    Mean,
    /// The value that this many percent do not exceed.
    Percentile(usize),
}

/// What must hold of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    /// As it was typed.
    text: String,
    pub(crate) figure: Figure,
    order: Order,
    /// ns, or a number of requests.
    pub(crate) value: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Less,
    AtMost,
    More,
    AtLeast,
}

/// In the order in which they are looked for: longer ones first.
const ORDERS: [(&str, Order); 4] =
    [("<=", Order::AtMost), (">=", Order::AtLeast), ("<", Order::Less), (">", Order::More)];

impl Limit {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "not of the form `p99(request) < 50ms`, with < <= > or >=".to_owned();
        let (at, sign, order) = ORDERS
            .iter()
            .filter_map(|(sign, order)| Some((text.find(sign)?, *sign, *order)))
            .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())))
            .ok_or_else(wrong)?;
        let (left, value) = (text[..at].trim(), text[at + sign.len()..].trim());
        let (name, of) = left.split_once('(').ok_or_else(wrong)?;
        let of = of.strip_suffix(')').ok_or_else(wrong)?.trim();
        if of != "request" {
            return Err(format!("`{of}`: figures are of `request`; --service and --phase say which"));
        }
        let figure = match name.trim() {
            "count" => Figure::Count,
            "mean" => Figure::Mean,
            "min" => Figure::Percentile(0),
            "median" => Figure::Percentile(50),
            "max" => Figure::Percentile(100),
            name => match name.strip_prefix('p').and_then(|percent| percent.parse().ok()) {
                Some(percent) if percent <= 100 => Figure::Percentile(percent),
                _ => {
                    return Err(format!(
                        "`{name}`: figures are count, min, mean, median, p0 to p100 and max"
                    ));
                }
            },
        };
        let value = match figure {
            Figure::Count => value.parse().map_err(|_| format!("`{value}`: a count is a whole number")),
            _ => duration(value).map(|ns| i64::try_from(ns).unwrap_or(i64::MAX)),
        }?;
        Ok(Self { text: text.to_owned(), figure, order, value })
    }

    /// Whether a figure is within it.
    pub(crate) fn holds(&self, figure: i64) -> bool {
        match self.order {
            Order::Less => figure < self.value,
            Order::AtMost => figure <= self.value,
            Order::More => figure > self.value,
            Order::AtLeast => figure >= self.value,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared() {
        assert_eq!(Compared::parse("requests"), Ok(Compared::Requests));
        assert_eq!(Compared::parse("cputop,messages"), Ok(Compared::Analyses(vec!["cputop", "messages"])));
        let wrong = Compared::parse("cputop,mesages").unwrap_err();
        assert!(
            wrong.starts_with("`mesages` cannot be compared; did you mean `messages`? [possible"),
            "{wrong}"
        );
    }

    #[test]
    fn limits() {
        let check = |text: &str, figure: Figure, value: i64| {
            let limit = Limit::parse(text).unwrap();
            assert_eq!((limit.figure, limit.value, limit.to_string()), (figure, value, text.to_owned()));
            limit
        };
        let limit = check("p99(request) < 50ms", Figure::Percentile(99), 50_000_000);
        assert!(limit.holds(49_999_999) && !limit.holds(50_000_000));
        assert!(check("max(request)<=1s", Figure::Percentile(100), 1_000_000_000).holds(1_000_000_000));
        assert!(check("count(request) >= 24", Figure::Count, 24).holds(24));
        assert!(!check("mean( request ) > 1us", Figure::Mean, 1000).holds(1000));
        for wrong in [
            "p99(request)",
            "p101(request) < 1s",
            "p99(call) < 1s",
            "p99 < 1s",
            "count(request) < 1s",
            "best(request) < 1s",
            "p50(request) < 1 apple",
        ] {
            assert!(Limit::parse(wrong).is_err(), "{wrong}");
        }
    }
}
