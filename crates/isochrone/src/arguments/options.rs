//! The options of `isochrone analyze`, a row for each: the analyses to which it applies, what it decides, and whether `watch` takes it. `map`,
//! `watch` and the commands named after analyses have the same options; what does not apply to them is hidden and refused by this table.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use isochrone_analysis::{AnalysisKind, OptionKind};
use isochrone_export::lami;

/// An analysis that is read from a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredAnalysis {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The options of some analyses that it accepts.
    pub(crate) accepts: &'static [OptionKind],
}

pub(crate) const PHASES: &str = "phases";
pub(crate) const STATES: &str = "states";

/// The analyses that are read from a store.
pub(crate) const STORED: [StoredAnalysis; 2] = [
    StoredAnalysis {
        name: PHASES,
        about: "Durations of phases of programs, and where their time went: by call, by file or peer, by cause; from a store, as states",
        accepts: &[OptionKind::Threads, OptionKind::Durations],
    },
    StoredAnalysis {
        name: STATES,
        about: "What each thread did, and when; from a store, which is built if there is none",
        accepts: &[OptionKind::Threads],
    },
];

/// What an option decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// What is kept of traces: it is given where they are read.
    Kept,
    /// The tables that are made of what was kept.
    Tables,
    /// What needs traces and tables in one command: it does not apply to mapped pieces.
    Traces,
    /// None of these: hosts, clocks, cores.
    Neither,
}

/// The analyses to which an option applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applies {
    ToAll,
    /// Those that accept what it sets.
    To(OptionKind),
    /// Only those of these names.
    Only(&'static [&'static str]),
    /// All but those of these names.
    Except(&'static [&'static str]),
    /// Those that are read from a store, and those of an instant.
    Stores,
    /// Those with a LAMI document, in that format.
    Lami,
}

impl Applies {
    /// Whether it applies to the analysis of a name.
    pub(crate) fn to(self, analysis: &str) -> bool {
        let stored = STORED.iter().find(|stored| stored.name == analysis);
        match self {
            Self::ToAll => true,
            Self::To(asks) => match stored {
                Some(stored) => stored.accepts.contains(&asks),
                None => AnalysisKind::of(analysis).is_some_and(|kind| kind.accepts(asks)),
            },
            Self::Only(names) => names.contains(&analysis),
            Self::Except(names) => !names.contains(&analysis),
            Self::Stores => stored.is_some(),
            Self::Lami => lami::analyses().any(|name| name == analysis),
        }
    }

    /// The names of those analyses, for a message.
    pub(crate) fn users(self) -> String {
        let names = AnalysisKind::ALL.iter().map(|kind| kind.name()).chain(STORED.map(|stored| stored.name));
        match self {
            Self::ToAll => "all analyses".to_owned(),
            Self::Except(names) => format!("all analyses but {}", names.join(", ")),
            Self::Stores => "phases, states, and to processes and fds with --at".to_owned(),
            _ => names.filter(|name| self.to(name)).collect::<Vec<_>>().join(", "),
        }
    }
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnalyzeOption {
    /// The field of [`Analyze`](super::Analyze).
    id: &'static str,
    /// How it is typed.
    pub(crate) name: &'static str,
    pub(crate) applies: Applies,
    pub(crate) decides: Decides,
    /// Whether `watch` takes it.
    pub(crate) is_watched: bool,
}

/// Options that were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenOptions(Vec<&'static AnalyzeOption>);

impl GivenOptions {
    /// The options that were typed, in the order of the table.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let is_typed = |option: &&AnalyzeOption| {
            let is_known = matches.try_contains_id(option.id).unwrap_or(false);
            is_known && matches.value_source(option.id) == Some(ValueSource::CommandLine)
        };
        Self(OPTIONS.iter().filter(is_typed).collect())
    }

    /// The others, without that of a name.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|option| option.name != name).copied().collect())
    }

    /// Those that decide neither what is kept of traces nor what needs them.
    pub(crate) fn of_tables(&self) -> Self {
        let is_of_tables = |decides| matches!(decides, Decides::Tables | Decides::Neither);
        Self(self.0.iter().filter(|option| is_of_tables(option.decides)).copied().collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static AnalyzeOption> + '_ {
        self.0.iter().copied()
    }
}

/// The command line with helps that show only the options that apply.
pub(super) fn with_own_helps(mut command: Command) -> Command {
    for name in [PHASES, STATES] {
        command = hide(command, name, |option| !option.applies.to(name));
    }
    // Each host stays on its own clock in these.
    command = hide(command, "map", |option| {
        matches!(option.decides, Decides::Tables | Decides::Traces) || option.name == "--no-sync"
    });
    command = hide(command, "watch", |option| !option.is_watched || option.name == "--no-sync");
    command = command.mut_subcommand("map", |command| {
        command.mut_arg("sync", |argument| {
            argument.help(
                "Put times on the common clock of this file, written by `isochrone sync -o`, and keep it in the pieces \
                 [default: each host stays on its own clock, and `isochrone analyze --sync` takes the file]",
            )
        })
    });
    command.mut_subcommand("watch", |command| {
        let command = command.mut_arg("traces", |argument| {
            argument.value_name("DIR").help(
                "Directories of rotated sessions, or above them: what `lttng create --output` names, or the output of a \
                 relay daemon",
            )
        });
        // NAME is the first directory then.
        let command = command.mut_arg("traces", |argument| argument.required_unless_present("map"));
        command.mut_arg("sync", |argument| {
            argument.help(
                "Put times on the common clock of this file, written by `isochrone sync -o` [default: each host stays on \
                 its own clock]",
            )
        })
    })
}

/// Hides options from the help of a command.
fn hide(command: Command, name: &str, is_hidden: impl Fn(&AnalyzeOption) -> bool) -> Command {
    command.mut_subcommand(name, |command| {
        command.mut_args(|argument| {
            let option = OPTIONS.iter().find(|option| option.id == argument.get_id().as_str());
            let is_hidden = option.map_or(argument.is_hide_set(), &is_hidden);
            argument.hide(is_hidden)
        })
    })
}

const fn option(
    id: &'static str,
    name: &'static str,
    applies: Applies,
    decides: Decides,
    is_watched: bool,
) -> AnalyzeOption {
    AnalyzeOption { id, name, applies, decides, is_watched }
}

/// All options: field, name, analyses, what it decides, whether `watch` takes it.
static OPTIONS: &[AnalyzeOption] = {
    use Applies::{Except, Lami, Only, Stores, To, ToAll};
    use Decides::{Kept, Neither, Tables, Traces};
    &[
        option("tids", "--tid", To(OptionKind::Threads), Tables, true),
        option("pids", "--pid", To(OptionKind::Threads), Tables, true),
        option("procnames", "--procname", To(OptionKind::Threads), Tables, true),
        option("cpus", "--cpu", To(OptionKind::Cpus), Kept, true),
        option("min", "--min", To(OptionKind::Durations), Kept, true),
        option("max", "--max", To(OptionKind::Durations), Kept, true),
        option("min_size", "--minsize", To(OptionKind::Sizes), Kept, true),
        option("max_size", "--maxsize", To(OptionKind::Sizes), Kept, true),
        option("irq", "--irq", To(OptionKind::Interrupts), Kept, true),
        option("softirq", "--softirq", To(OptionKind::Interrupts), Kept, true),
        option("fds", "--fd", To(OptionKind::Fds), Tables, true),
        option("calls", "--call", To(OptionKind::Calls), Kept, true),
        option("errors", "--errno", To(OptionKind::Errors), Kept, true),
        option("around", "--around", To(OptionKind::Around), Kept, false),
        option("by_process", "--by-process", To(OptionKind::Processes), Tables, true),
        option("bars", "--bars", To(OptionKind::Distributions), Tables, true),
        option("linear", "--linear", To(OptionKind::Distributions), Kept, true),
        option("every", "--every", To(OptionKind::Steps), Kept, false),
        option("at", "--at", To(OptionKind::Instant), Kept, false),
        option("begin", "--begin", ToAll, Kept, false),
        option("end", "--end", ToAll, Kept, false),
        option("bounds", "--bounds", ToAll, Tables, false),
        option("sort", "--sort", ToAll, Tables, true),
        option("limit", "--limit", ToAll, Tables, true),
        option("table", "--table", ToAll, Tables, true),
        option("format", "--format", ToAll, Tables, true),
        option("metadata", "--metadata", Lami, Tables, false),
        option("mi_version", "--mi-version", Lami, Tables, false),
        option("test_compatibility", "--test-compatibility", Lami, Tables, false),
        option("output_progress", "--output-progress", Lami, Tables, false),
        option("periods", "--period", Except(&[STATES]), Traces, false),
        option("period_captures", "--period-captures", Except(&[STATES]), Traces, false),
        option("chunks", "--chunks", ToAll, Traces, false),
        option("cluster", "--cluster", ToAll, Traces, false),
        option("cert", "--cert", ToAll, Traces, false),
        option("key", "--key", ToAll, Traces, false),
        option("ca", "--ca", ToAll, Traces, false),
        option("pixels", "--pixels", Only(&[STATES]), Traces, false),
        option("store", "--store", Stores, Traces, false),
        option("sync", "--sync", ToAll, Neither, true),
        option("no_sync", "--no-sync", ToAll, Neither, true),
        option("timezone", "--timezone", ToAll, Neither, true),
        option("gmt", "--gmt", ToAll, Neither, true),
        option("hosts", "--host", ToAll, Neither, true),
        option("threads", "--threads", ToAll, Neither, true),
    ]
};

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::arguments::Arguments;

    /// Each option has a row, under its own name, and each row an option.
    #[test]
    fn the_table_has_the_options_of_the_command() {
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
    fn typed_options_are_given_and_defaults_are_not() {
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
