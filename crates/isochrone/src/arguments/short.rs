//! Analyses that are also commands by their own names: `isochrone states TRACE…` is `isochrone analyze states TRACE…`.

use clap::Subcommand;

use isochrone_analysis::Asks;

use super::analyze::{self, ABOUT_PHASES, ABOUT_STATES, Analyze, AnalyzeNamed};
use super::options;

/// What the tables of a store have.
const OF_STORED: &[Asks] = &[Asks::Threads, Asks::Durations];

/// What applies to analyses alone whose tables are documents of LAMI.
const OF_LAMI: &[&str] = &["metadata", "mi_version", "test_compatibility", "output_progress"];

/// Leaves out of a help what does not apply: what asks for what these do not have, what is [`OF_LAMI`], and `more`. Using one is an error
/// that says what it applies to.
fn without(command: clap::Command, more: &[&str]) -> clap::Command {
    command.mut_args(|argument| {
        let id = argument.get_id().as_str();
        let is_hidden =
            options::by_id(id).and_then(|option| option.asks).is_some_and(|asks| !OF_STORED.contains(&asks))
                || OF_LAMI.contains(&id)
                || more.contains(&id);
        argument.hide(is_hidden)
    })
}

/// Makes the commands of the list: the variant, what its analysis is called, what it tells, an example, and which options its help leaves out
/// beside those that apply to none of them.
macro_rules! short_forms {
    ($($Variant:ident $name:literal: $about:expr, $example:literal, without $hidden:expr;)*) => {
        /// An analysis as a command. All take what `isochrone analyze` takes behind the name.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Short {
            $(
                #[command(
                    name = $name,
                    about = $about,
                    after_help = concat!(
                        "The same as `isochrone analyze ", $name, "`.\n\nExample:\n  isochrone ", $name, " ", $example
                    ),
                )]
                $Variant(Box<Analyze>),
            )*
        }

        impl Short {
            /// The command line with such helps that name only what applies.
            pub(super) fn with_own_helps(command: clap::Command) -> clap::Command {
                command$(.mut_subcommand($name, |command| without(command, $hidden)))*
            }

            /// What all of them can be asked.
            pub(super) fn asked(&self) -> &Analyze {
                match self { $(Self::$Variant(analyze) => analyze,)* }
            }

            pub(super) fn asked_mut(&mut self) -> &mut Analyze {
                match self { $(Self::$Variant(analyze) => analyze,)* }
            }

            /// The same as `isochrone analyze` has it.
            ///
            /// # Errors
            /// No analysis has the name.
            pub(crate) fn spelled_out(self) -> Result<AnalyzeNamed, String> {
                let (name, analyze) = match self { $(Self::$Variant(analyze) => ($name, analyze),)* };
                Ok(AnalyzeNamed { names: analyze::names(name)?, analyze: *analyze })
            }
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];
    };
}

short_forms! {
    Phases "phases": ABOUT_PHASES, "thumbnails/   where the time of each phase of a program went", without &["pixels"];
    States "states": ABOUT_STATES, "--tid 842 --begin 12:30:01 --end 12:30:02 web/   what thread 842 did in that second",
        without &["min", "max", "periods", "period_captures"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_names_of_analyses() {
        for name in NAMES {
            assert!(analyze::names(name).is_ok(), "{name}");
        }
    }
}
