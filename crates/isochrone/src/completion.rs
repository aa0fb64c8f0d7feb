//! What shells offer where a word is typed: analyses, tables and columns of those that were named, hosts
//! and threads of the traces on the line. The shell runs this program for it: see `isochrone completions`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::Command;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use isochrone_analysis::{AnalysisKind, Options, Table, empty_reports};
use isochrone_ctf::{Trace, find_traces};
use isochrone_store::Store;

use crate::arguments::{Arguments, STORED};
use crate::commands::index;

/// The variable of the environment by which a shell says that it completes, and which one it is.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// Traces whose hosts are offered: each must be opened.
const MAX_TRACES: usize = 64;

/// Answers the shell, if it is the one that runs this program. Gives whether it was.
pub(crate) fn answer() -> bool {
    let directory = std::env::current_dir().ok();
    let complete = CompleteEnv::with_factory(|| with_values(Arguments::command_line())).var(VARIABLE);
    complete.try_complete(std::env::args_os(), directory.as_deref()).unwrap_or(false)
}

/// The command line with what completes the values of its options.
fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            command.mut_args(|argument| {
                let of: fn() -> Vec<(String, String)> = match argument.get_id().as_str() {
                    "names" => analyses,
                    "table" => tables,
                    "sort" => columns,
                    "hosts" => hosts,
                    "tids" => || threads(|thread| thread.tid),
                    "pids" => || threads(|thread| thread.pid),
                    "procnames" => programs,
                    _ => return argument,
                };
                argument.add(ArgValueCompleter::new(move |word: &OsStr| matching(word, of())))
            })
        })
    })
}

/// The values that start as the last part of a word with commas does; each with what it is.
fn matching(word: &OsStr, values: Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let Some(word) = word.to_str() else { return Vec::new() };
    let (before, typed) = word.rsplit_once(',').map_or(("", word), |(before, typed)| (before, typed));
    let before = if before.is_empty() { String::new() } else { format!("{before},") };
    let fitting = values.into_iter().filter(|(value, _)| value.starts_with(typed));
    fitting
        .map(|(value, about)| {
            let help = (!about.is_empty()).then(|| StyledStr::from(about));
            CompletionCandidate::new(format!("{before}{value}")).help(help)
        })
        .collect()
}

/// The words on the line that is completed.
fn words() -> Vec<OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1).collect()
}

fn analyses() -> Vec<(String, String)> {
    let kinds = AnalysisKind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    let stored = STORED.map(|stored| (stored.name, stored.about));
    kinds.chain(stored).map(|(name, about)| (name.to_owned(), about.to_owned())).collect()
}

/// The tables of the analyses or of the question across hosts that were named, without rows.
fn tables_of_line() -> Vec<Table> {
    let words = words();
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let names = words.iter().flat_map(|word| word.split(','));
    let kinds: Vec<AnalysisKind> = names.filter_map(AnalysisKind::of).collect();
    let across = words.get(1).into_iter().flat_map(|question| isochrone_crosshost::empty_reports(question));
    empty_reports(&kinds, &Options::default()).into_iter().chain(across).flat_map(|it| it.tables).collect()
}

fn tables() -> Vec<(String, String)> {
    tables_of_line().into_iter().map(|table| (table.name.to_owned(), table.title.to_owned())).collect()
}

fn columns() -> Vec<(String, String)> {
    let tables = tables_of_line();
    let names: BTreeSet<String> =
        tables.iter().flat_map(|table| &table.columns).map(|column| column.name.to_string()).collect();
    names.into_iter().map(|name| (name, String::new())).collect()
}

/// The paths on the line that exist.
fn paths() -> Vec<PathBuf> {
    words().into_iter().skip(1).map(PathBuf::from).filter(|path| path.exists()).collect()
}

fn hosts() -> Vec<(String, String)> {
    let traces =
        paths().into_iter().filter_map(|path| find_traces(&path).ok()).flat_map(|found| found.traces);
    let opened = traces.take(MAX_TRACES).filter_map(|path| Trace::open(&path).ok());
    let names: BTreeSet<String> =
        opened.filter_map(|trace| trace.schema().environment_text("hostname").map(str::to_owned)).collect();
    names.into_iter().map(|name| (name, String::new())).collect()
}

/// A thread in the store of the traces on the line.
struct Thread {
    host: String,
    tid: Option<i32>,
    pid: Option<i32>,
    comm: String,
}

/// The threads of the traces on the line, where a command has made their store.
fn stored_threads() -> Vec<Thread> {
    let Some(store) = index::in_cache(&paths()).and_then(|path| Store::open(&path).ok()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in &store.manifest().hosts {
        let Ok(host) = store.host(entry) else { continue };
        found.extend(host.threads().iter().map(|thread| Thread {
            host: entry.name.clone(),
            tid: thread.tid,
            pid: thread.pid,
            comm: thread.comm.as_deref().unwrap_or_default().to_owned(),
        }));
    }
    found
}

/// Numbers of threads or processes; with the host, where several hosts have the number.
fn threads(number: fn(&Thread) -> Option<i32>) -> Vec<(String, String)> {
    // By number and host: what the thread is called.
    let mut named: BTreeMap<i32, BTreeMap<String, String>> = BTreeMap::new();
    for thread in stored_threads() {
        if let Some(of) = number(&thread) {
            named.entry(of).or_default().insert(thread.host, thread.comm);
        }
    }
    let values = named.into_iter().flat_map(|(of, hosts)| {
        let is_of_several = hosts.len() > 1;
        hosts.into_iter().map(move |(host, comm)| match is_of_several {
            true => (format!("{host}:{of}"), comm),
            false => (of.to_string(), comm),
        })
    });
    values.collect()
}

fn programs() -> Vec<(String, String)> {
    let names: BTreeSet<String> = stored_threads().into_iter().map(|thread| thread.comm).collect();
    names.into_iter().filter(|name| !name.is_empty()).map(|name| (name, String::new())).collect()
}
