//! The options of `isochrone analyze`, one row for each: what it asks, what it decides, and which commands take it. `map`, `watch` and the
//! commands that are named as analyses have the same options; what does not apply is refused by this list.

use clap::ArgMatches;
use clap::parser::ValueSource;
use isochrone_analysis::Asks;

/// What an option decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// What of traces is kept: it is given where these are read.
    Kept,
    /// How tables look that are made of what was kept.
    Tables,
    /// What needs traces and tables in one command: mapped pieces have nothing of it.
    Traces,
    /// Neither: which hosts, which clock, how many cores.
    Neither,
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnalyzeOption {
    /// The field of [`Analyze`](super::Analyze).
    id: &'static str,
    /// How it is typed.
    pub(crate) name: &'static str,
    /// What it asks, if not all analyses have that.
    pub(crate) asks: Option<Asks>,
    pub(crate) decides: Decides,
    /// Whether `watch` takes it.
    pub(crate) is_watched: bool,
}

/// Those that were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenOptions(Vec<&'static AnalyzeOption>);

impl GivenOptions {
    /// Those that were typed, in the order of the list.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let is_typed = |option: &&AnalyzeOption| {
            let is_known = matches.try_contains_id(option.id).unwrap_or(false);
            is_known && matches.value_source(option.id) == Some(ValueSource::CommandLine)
        };
        Self(OPTIONS.iter().filter(is_typed).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static AnalyzeOption> + '_ {
        self.0.iter().copied()
    }
}

/// The option of a field of [`Analyze`](super::Analyze).
pub(super) fn by_id(id: &str) -> Option<&'static AnalyzeOption> {
    OPTIONS.iter().find(|option| option.id == id)
}

macro_rules! options {
    ($($id:literal $name:literal $($Asks:ident)?, $Decides:ident, $is_watched:literal;)*) => {
        /// All of them.
        static OPTIONS: &[AnalyzeOption] = &[$(AnalyzeOption {
            id: $id,
            name: $name,
            asks: options!(@asks $($Asks)?),
            decides: Decides::$Decides,
            is_watched: $is_watched,
        }),*];
    };
    (@asks) => { None };
    (@asks $Asks:ident) => { Some(Asks::$Asks) };
}

// Field, name, what it asks, what it decides, whether `watch` takes it.
options! {
    "tids" "--tid" Threads, Tables, true;
    "pids" "--pid" Threads, Tables, true;
    "procnames" "--procname" Threads, Tables, true;
    "cpus" "--cpu" Cpus, Kept, true;
    "min" "--min" Durations, Kept, true;
    "max" "--max" Durations, Kept, true;
    "min_size" "--minsize" Sizes, Kept, true;
    "max_size" "--maxsize" Sizes, Kept, true;
    "irq" "--irq" Interrupts, Kept, true;
    "softirq" "--softirq" Interrupts, Kept, true;
    "fds" "--fd" Fds, Tables, true;
    "calls" "--call" Calls, Kept, true;
    "errors" "--errno" Errors, Kept, true;
    "around" "--around" Around, Kept, false;
    "by_process" "--by-process" Processes, Tables, true;
    "bars" "--bars" Distributions, Tables, true;
    "linear" "--linear" Distributions, Kept, true;
    "every" "--every" Steps, Kept, false;
    "at" "--at" Instant, Kept, false;
    "begin" "--begin", Kept, false;
    "end" "--end", Kept, false;
    "bounds" "--bounds", Tables, false;
    "sort" "--sort", Tables, true;
    "limit" "--limit", Tables, true;
    "table" "--table", Tables, true;
    "format" "--format", Tables, true;
    "metadata" "--metadata", Tables, false;
    "mi_version" "--mi-version", Tables, false;
    "test_compatibility" "--test-compatibility", Tables, false;
    "output_progress" "--output-progress", Tables, false;
    "periods" "--period", Traces, false;
    "period_captures" "--period-captures", Traces, false;
    "chunks" "--chunks", Traces, false;
    "cluster" "--cluster", Traces, true;
    "cert" "--cert", Traces, true;
    "key" "--key", Traces, true;
    "ca" "--ca", Traces, true;
    "pixels" "--pixels", Traces, false;
    "store" "--store", Traces, false;
    "sync" "--sync", Neither, true;
    "no_sync" "--no-sync", Neither, true;
    "timezone" "--timezone", Neither, true;
    "gmt" "--gmt", Neither, true;
    "hosts" "--host", Neither, true;
    "threads" "--threads", Neither, true;
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::arguments::Arguments;

    /// Each option that can be typed has a row, under its own name, and each row an option.
    #[test]
    fn the_list_is_that_of_the_command() {
        let command = Arguments::command_line();
        let analyze = command.find_subcommand("analyze").unwrap();
        let typed: BTreeMap<&str, String> = analyze
            .get_arguments()
            .filter_map(|it| Some((it.get_id().as_str(), format!("--{}", it.get_long()?))))
            .filter(|(id, _)| !["help", "quiet"].contains(id))
            .collect();
        let listed: BTreeMap<&str, String> =
            OPTIONS.iter().map(|option| (option.id, option.name.to_owned())).collect();
        assert_eq!(listed, typed);
        assert_eq!(listed.len(), OPTIONS.len());
    }

    #[test]
    fn what_is_typed_is_given_and_defaults_are_not() {
        let command = Arguments::command_line();
        let given = |line: &str| {
            let matches = command.clone().try_get_matches_from(line.split(' ')).unwrap();
            let (_, matches) = matches.subcommand().unwrap();
            GivenOptions::of(matches).iter().map(|option| option.name).collect::<Vec<_>>()
        };
        assert_eq!(given("isochrone analyze cputop trace"), [""; 0]);
        let line = "isochrone analyze syscalls --format json --errno 2 --around --begin 12:00 trace";
        assert_eq!(given(line), ["--errno", "--around", "--begin", "--format"]);
        assert_eq!(given("isochrone map cputop trace -o p --period x"), ["--period"]);
        assert_eq!(given("isochrone states --pixels 5 --tid 1 trace"), ["--tid", "--pixels"]);
    }
}
