//! `isochrone flame`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Sources, Threads};

/// `isochrone flame`.
#[derive(Debug, Args)]
pub(crate) struct Flame {
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to write it [default: a picture where the name of the file ends in `.svg`, else collapsed stacks]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FlameFormat>,
    /// Of what [default: functions where programs recorded them, else samples where events have stacks of
    /// calls, else waits]
    #[arg(long, value_enum)]
    pub(crate) of: Option<FlameOf>,
    /// Names of functions: the program or the library itself, or for functions what `nm PROGRAM` prints, or
    /// `nm -S`. NAME=FILE where its file has another name or NAME is a path, as in libcairo.so.2=FILE; for
    /// the kernel, `[kernel]=FILE` with a copy of /proc/kallsyms. May be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) symbols: Vec<String>,
    /// Only samples of these events; `*` stands for anything
    #[arg(long = "event", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) events: Vec<String>,
    /// Only these hosts
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// What a flame graph is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlameFormat {
    /// A picture for browsers
    Svg,
    /// A line for each stack, with its time in ns or its number of events: for flamegraph.pl and others
    Collapsed,
}

/// What a flame graph is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlameOf {
    /// Waits: what threads waited for, and what those that ended the waits did meanwhile, across hosts
    Waits,
    /// Functions: how long they took, waits included, as programs recorded their entries and exits
    /// (liblttng-ust-cyg-profile)
    Functions,
    /// Samples: how many events were recorded in which calls (`perf record -g`, LTTng's contexts
    /// callstack-kernel and callstack-user)
    Samples,
}
