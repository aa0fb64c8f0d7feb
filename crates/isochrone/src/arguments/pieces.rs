//! What `isochrone map` and `isochrone merge` can be asked.

use std::path::PathBuf;

use clap::Args;
use isochrone_experiment::pieces::MOST_PARTS;

use super::analyze::{Analyze, MapNames, map_names};
use super::options::{self, Decides};
use super::time::{Given, given};

/// `isochrone map`: what `isochrone analyze` is asked, of a part of each host.
#[derive(Debug, Args)]
pub(crate) struct Map {
    /// Which analyses the pieces are for, with commas between them: `isochrone analyze` can ask for any of them later. Or `spans`: all
    /// that a store is made of, for every command that reads traces
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
    /// Only the piece of each host that begins at this time; what another piece ends at, this one begins with
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Pieces")]
    pub(crate) from: Option<Given>,
    /// Only the piece of each host that ends before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Pieces")]
    pub(crate) to: Option<Given>,
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

/// `3/8`.
fn share(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let known =
        numbers.filter(|&(number, of): &(usize, usize)| (1..=of).contains(&number) && of <= MOST_PARTS);
    known.ok_or_else(|| {
        format!("not a piece K/N with K from 1 to N, and N at most {MOST_PARTS}: 3/8 is the third of eight")
    })
}

/// The command line with a help of `map` that names only what applies to it.
pub(super) fn with_own_help(command: clap::Command) -> clap::Command {
    command.mut_subcommand("map", |command| {
        let command = command.mut_args(|argument| {
            // Each host stays on its own clock here unless something else is said.
            let is_hidden = match options::by_id(argument.get_id().as_str()) {
                Some(option) => {
                    matches!(option.decides, Decides::Tables | Decides::Traces) || option.name == "--no-sync"
                }
                None => argument.is_hide_set(),
            };
            argument.hide(is_hidden)
        });
        command.mut_arg("sync", |argument| {
            argument.help(
                "Put times on the common clock of this file, which `isochrone sync -o` wrote, and keep it in the pieces \
                 [default: each host stays on its own clock, and `isochrone analyze --sync` takes the file]",
            )
        })
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
