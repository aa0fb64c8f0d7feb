//! `isochrone map` and `isochrone merge`.

use std::path::PathBuf;

use clap::Args;
use isochrone_experiment::pieces::MOST_PARTS;

use super::analyze::{Analyze, MapNames, map_names};
use super::time::TimeArg;

/// `isochrone map`: the options of `isochrone analyze`, for a part of each host.
#[derive(Debug, Args)]
pub(crate) struct Map {
    /// Analyses, separated by commas, any of which `isochrone analyze` can show later; or `spans`: all
    /// that a store is made of, for every command that reads traces; `spans,syscalls`: with the arguments of
    /// calls
    #[arg(value_name = "NAME", value_parser = map_names)]
    pub(crate) names: MapNames,
    #[command(flatten)]
    pub(crate) analyze: Analyze,
    /// The file to write: the mapped pieces of all hosts
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Only the Kth of N pieces of each host, 1/N to N/N, which are of nearly equal size [default: all of each host]
    #[arg(long, value_name = "K/N", value_parser = share, conflicts_with_all = ["from", "to"], help_heading = "Pieces")]
    pub(crate) piece: Option<(usize, usize)>,
    /// Only the piece of each host that starts at this time, where another piece may end
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse, allow_hyphen_values = true, help_heading = "Pieces")]
    pub(crate) from: Option<TimeArg>,
    /// Only the piece of each host that ends before this time
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse, allow_hyphen_values = true, help_heading = "Pieces")]
    pub(crate) to: Option<TimeArg>,
}

/// `isochrone merge`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Mapped pieces, as `isochrone map` and `isochrone merge` write them, in any order
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Parses `3/8`.
fn share(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let valid =
        numbers.filter(|&(number, of): &(usize, usize)| (1..=of).contains(&number) && of <= MOST_PARTS);
    valid.ok_or_else(|| {
        format!("not a piece K/N with K from 1 to N, and N at most {MOST_PARTS}: 3/8 is the third of eight")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let check = |text, expect: Option<(usize, usize)>| assert_eq!(share(text).ok(), expect, "{text}");
        check("1/1", Some((1, 1)));
        check("3/8", Some((3, 8)));
        check("0/8", None);
        check("9/8", None);
        check("1/0", None);
        check("1/65537", None);
        check("8", None);
        check("a/b", None);
    }
}
