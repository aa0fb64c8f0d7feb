//! `isochrone watch --map`: what is mapped, where the pieces go, and the command that gets them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::analyze::{MapNames, map_names};
use super::live::wait;

/// Heading of these options in the help.
const HEADING: &str = "Mapping in place";

/// The options of `isochrone watch` for chunks that are mapped where they are recorded.
#[derive(Debug, Args)]
pub(crate) struct MapInPlace {
    /// Show no tables: map each chunk alone as soon as it is finished, for these analyses or for `spans`,
    /// as `isochrone map` does
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = map_names,
        group = "kept",
        requires = "out",
        help_heading = HEADING
    )]
    pub(crate) map: Option<MapNames>,
    /// Directory for the pieces, one for each chunk, and for the journal of what was mapped and handed over
    #[arg(long, value_name = "DIR", requires = "map", help_heading = HEADING)]
    pub(crate) out: Option<PathBuf>,
    /// Run this command for each piece, one at a time in the order of mapping, until it succeeds. `{}`
    /// stands for the path of the piece; without it, the path is the last argument. No shell is involved:
    /// quotes and backslashes work as in one, and nothing else
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = ExecCommand::parse,
        requires = "map",
        help_heading = HEADING
    )]
    pub(crate) exec: Option<ExecCommand>,
    /// Longest delay before --exec is tried again: the first is 1 s, each further one twice the one before
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = wait, help_heading = HEADING)]
    pub(crate) retry_at_most: Duration,
    /// Delete pieces that were handed over
    #[arg(long, requires = "exec", help_heading = HEADING)]
    pub(crate) delete_pieces: bool,
    /// Use at most this many cores while a chunk is mapped: 0.25 is a quarter of one
    #[arg(
        long = "cpus",
        value_name = "CORES",
        default_value = "1",
        value_parser = cores,
        help_heading = HEADING
    )]
    pub(crate) cores: f64,
    /// Run with this scheduling priority, 1 to 19, 19 being the lowest; --exec, too
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..=19),
        requires = "map",
        help_heading = HEADING
    )]
    pub(crate) nice: Option<u8>,
}

/// A command that gets the path of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExecCommand {
    /// The program and its arguments.
    words: Vec<String>,
}

/// Stands for the path in a command.
const PATH: &str = "{}";

impl ExecCommand {
    /// Splits a text at blanks, as a shell does.
    fn parse(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("a quote is not closed")?;
        match words.first().is_some_and(|program| !program.is_empty()) {
            true => Ok(Self { words }),
            false => Err("it names no program".to_owned()),
        }
    }

    /// The program, and its arguments for a piece.
    pub(crate) fn of(&self, piece: &Path) -> (&str, Vec<OsString>) {
        let (program, arguments) = self.words.split_first().map_or(("", &[][..]), |(it, rest)| (it, rest));
        let one = |word: &String| {
            let mut parts = word.split(PATH);
            let mut made = OsString::from(parts.next().unwrap_or_default());
            for part in parts {
                made.push(piece);
                made.push(part);
            }
            made
        };
        let mut all: Vec<OsString> = arguments.iter().map(one).collect();
        if arguments.iter().all(|word| !word.contains(PATH)) {
            all.push(piece.into());
        }
        (program, all)
    }
}

/// Parses a number of cores, which may be a part of one.
fn cores(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.01..=1024.0).contains(number));
    number.ok_or_else(|| "not a number of cores from 0.01 to 1024: 0.5 is half of one".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let check = |text: &str, expect: Option<&[&str]>| {
            let found = ExecCommand::parse(text).ok().map(|command| {
                let (program, arguments) = command.of(Path::new("/p/a b"));
                let arguments = arguments.into_iter().map(|it| it.into_string().unwrap());
                [vec![program.to_owned()], arguments.collect()].concat()
            });
            let expect = expect.map(|words| words.iter().map(|&word| word.to_owned()).collect());
            assert_eq!(found, expect, "{text}");
        };
        check("cp {} /x/", Some(&["cp", "/p/a b", "/x/"]));
        check("aws s3 cp", Some(&["aws", "s3", "cp", "/p/a b"]));
        check("sh -c 'cat \"$0\" | x' {}", Some(&["sh", "-c", "cat \"$0\" | x", "/p/a b"]));
        check("put --from={}:{} x", Some(&["put", "--from=/p/a b:/p/a b", "x"]));
        check("a $HOME *", Some(&["a", "$HOME", "*", "/p/a b"]));
        check("a 'b", None);
        check("", None);
        check("''", None);
    }

    #[test]
    fn parts_of_cores() {
        assert_eq!(cores("0.25"), Ok(0.25));
        for wrong in ["0", "-1", "nan", "inf", "x", "2000"] {
            assert!(cores(wrong).is_err(), "{wrong}");
        }
    }
}
