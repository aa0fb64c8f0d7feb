//! `isochrone flame`: flame graphs of waits, from the store, and of functions, from events.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use isochrone_crosshost::{needs, wait_stacks};
use isochrone_experiment::{
    CallStacks, FUNCTION_EVENTS, Function, MAPPING_EVENTS, Opened, StackCounts, Symbols,
};
use isochrone_export::flame::Flame;
use isochrone_files::output as files;
use isochrone_time::{UnixNs, Window};
use isochrone_timing::{Times, check_names, recorded};

use super::analysis::thread_filter;
use super::crosshost::with_store_of;
use super::events::{chosen, refuse_chunks};
use super::filter::Filter;
use super::{Named, check_output, host_selection, named, open_named};
use crate::arguments::{self, EventFilters, FlameFormat, FlameOf};
use crate::output::{self, Console, note};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures};

pub(crate) fn run(arguments: &arguments::Flame, console: &Console) -> anyhow::Result<()> {
    let arguments::Flame { output, format, of, symbols, .. } = arguments;
    if let Some(path) = output {
        check_output(path, &arguments.sources.inputs())?;
    }
    let is_picture = output.as_ref().is_some_and(|path| path.extension().is_some_and(|it| it == "svg"));
    let usual = if is_picture { FlameFormat::Svg } else { FlameFormat::Collapsed };
    let format = format.unwrap_or(usual);
    let symbols =
        symbols.iter().map(|given| NamedSymbols::read(given)).collect::<anyhow::Result<Vec<_>>>()?;
    let sources = &arguments.sources;
    let named = named(&sources.traces)?;
    let kept = sources.store.store.as_deref();
    let opened = open_named(&named, kept, sources.clock.time_base()?, console)?;
    let is_of_functions = of.map_or_else(|| has_functions(&opened), |of| of == FlameOf::Functions);
    let (flame, title) = if is_of_functions {
        (functions(arguments, &opened, &symbols, console)?, "Time in functions, waits included")
    } else {
        anyhow::ensure!(symbols.is_empty(), "--symbols names functions: it does not apply to waits");
        (waits(arguments, &named, &opened, console)?, "Time of waits, summed over threads")
    };
    if flame.total() == 0 {
        note!(console, "there is nothing to draw: {}", title.to_lowercase());
    }
    let mut written = Vec::new();
    match format {
        FlameFormat::Svg => written = flame.svg(title, |ns| figures::span(ns.into())).into_bytes(),
        FlameFormat::Collapsed => flame.collapsed(&mut written)?,
    }
    match output {
        Some(path) => Ok(files::write(path, &written)?),
        None => output::print(|stdout| Ok(stdout.write_all(&written)?)).map(|_| ()),
    }
}

/// Whether a trace has events of functions.
fn has_functions(opened: &Opened) -> bool {
    let classes = opened.inputs().traces.iter().flat_map(|input| &input.trace.schema().streams);
    let mut names = classes.flat_map(|stream| &stream.events).filter_map(|event| event.name.as_deref());
    names.any(|name| name.starts_with(FUNCTION_EVENTS))
}

/// The waits of the threads that were chosen.
fn waits(
    arguments: &arguments::Flame,
    named: &Named,
    opened: &Opened,
    console: &Console,
) -> anyhow::Result<Flame> {
    let arguments::Flame { sources, .. } = arguments;
    let store =
        (sources.store.store.as_deref(), [sources.window.begin, sources.window.end], sources.store.threads);
    let filter = thread_filter(&arguments.threads);
    let hosts = &arguments.hosts;
    with_store_of(named, opened, store, console, |store| {
        check_names(hosts, store.hosts.iter().map(|host| host.name()))
            .map_err(|error| host_selection::unknown_host(&error))?;
        for missing in isochrone_analysis::lacking(&needs("blocking"), &recorded(store.hosts)) {
            note!(console, "{}", Plain(missing.shown(|ns| figures::span(ns.into()))));
        }
        let cluster = store.cluster;
        let mut flame = Flame::default();
        let is_asked = |party: isochrone_crosshost::ThreadRef| {
            let host = cluster.host_name(party.host);
            (hosts.is_empty() || hosts.iter().any(|name| name == host))
                && filter.keeps_thread(host, cluster.tid(party), cluster.pid(party), cluster.comm(party))
        };
        wait_stacks(cluster, store.window, is_asked, |stack, ns| flame.add(stack, ns))?;
        Ok(flame)
    })
}

/// The functions of the threads that were chosen.
fn functions(
    arguments: &arguments::Flame,
    opened: &Opened,
    symbols: &[NamedSymbols],
    console: &Console,
) -> anyhow::Result<Flame> {
    let sources = &arguments.sources;
    anyhow::ensure!(
        sources.store.store.is_none(),
        "--store does not apply to functions: their events are in the traces"
    );
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let filters = EventFilters {
        window: sources.window,
        names: Vec::new(),
        hosts: arguments.hosts.clone(),
        of: arguments.threads.clone(),
        cpus: Vec::new(),
        condition: None,
    };
    let (traces, times) = chosen(&experiment, opened, &filters, console)?;
    let mut filter = Filter::new(&filters, &[], Times::default(), &traces)?;
    let window = Window::new(times.start.unwrap_or(UnixNs::MIN), times.end.unwrap_or(UnixNs::MAX));
    let mut stacks = CallStacks::new(window);
    let bar = Progress::over_bytes(opened.inputs(), "reading calls of functions", console);
    let mut merge = experiment.events(&traces);
    for (source, unix, event) in merge.by_ref() {
        let name = event.name().unwrap_or_default();
        let (is_mapping, is_function) = (name.starts_with(MAPPING_EVENTS), name.starts_with(FUNCTION_EVENTS));
        let Some(at) = unix.filter(|_| is_mapping || is_function) else { continue };
        let host = &traces[source].host;
        if is_mapping || filter.keeps(source, host, unix, &event) {
            stacks.add(source, host, at, &event);
        }
    }
    bar.finish();
    experiment.hosts().iter().for_each(|host| complaints::of_host(host, console));
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    complaints::show(&lost, console);
    filter.note_unmatched(console);
    let is_filtered = !arguments.hosts.is_empty() || filter.has_threads();
    note_unused(stacks.counts(), is_filtered, console)?;
    check_symbols(&stacks, symbols)?;
    let mut flame = Flame::default();
    stacks.each(|host, program, functions, ns| {
        let first = format!("{host} {}", program.unwrap_or("?"));
        let names = functions.iter().map(|function| name(function, symbols));
        flame.add(std::iter::once(first).chain(names), ns);
    });
    Ok(flame)
}

/// Reports events of functions that could not be used.
fn note_unused(counts: StackCounts, is_filtered: bool, console: &Console) -> anyhow::Result<()> {
    let StackCounts { events, of_no_thread, not_entered, not_left, open, too_deep, recorded_twice } = counts;
    anyhow::ensure!(
        events > 0 || is_filtered,
        "no program recorded its functions: compile it with -finstrument-functions, run it with \
         LD_PRELOAD=liblttng-ust-cyg-profile.so, and type: lttng enable-event --userspace \
         'lttng_ust_cyg_profile*'"
    );
    anyhow::ensure!(
        of_no_thread < events || events == 0,
        "the events of functions have no context `vtid`, without which threads are mixed up; before the next \
         recording, type: lttng add-context --userspace --type vtid --type vpid --type procname"
    );
    anyhow::ensure!(
        recorded_twice == 0,
        "several sessions recorded the functions of a process at one time, whose times would add up: name \
         the traces of one session (processes: {})",
        figures::count(recorded_twice)
    );
    for (count, what) in [
        (of_no_thread, "events of functions of no thread that is known: left out"),
        (
            not_entered,
            "exits of functions whose entry is not in the traces: their time is in what called them",
        ),
        (not_left, "functions whose exit is not in the traces: they end with what called them"),
        (open, "functions that had not ended: their time is that up to the last event of their thread"),
        (too_deep, "calls in very deep stacks: their time is in what called them"),
    ] {
        if count > 0 {
            note!(console, "{what}: {}", figures::count(count));
        }
    }
    Ok(())
}

/// Refuses names of functions without the name of a file, where they would name those of several files.
fn check_symbols(stacks: &CallStacks, symbols: &[NamedSymbols]) -> anyhow::Result<()> {
    let mut files = BTreeSet::new();
    stacks.each(|_, _, functions, _| {
        let has = |function: &&Function<'_>| {
            symbols.iter().any(|it| it.binary.is_none() && it.at(function).is_some())
        };
        let paths = functions.iter().filter(has).filter_map(|function| Some(function.binary?.0.to_owned()));
        files.extend(paths);
    });
    let list = |files: BTreeSet<String>| files.into_iter().collect::<Vec<_>>().join(", ");
    anyhow::ensure!(
        files.len() <= 1,
        "--symbols FILE would name functions of several programs: give NAME=FILE for one of {}",
        plain(&list(files))
    );
    Ok(())
}

/// Functions by their names, of all that is mapped where it was linked, or of one file.
struct NamedSymbols {
    binary: Option<String>,
    symbols: Symbols,
}

impl NamedSymbols {
    fn read(given: &str) -> anyhow::Result<Self> {
        let (binary, path) = match given.split_once('=') {
            Some((binary, path)) => (Some(binary.to_owned()), path),
            None => (None, given),
        };
        let text = fs::read(path).with_context(|| format!("cannot read {}", plain(path)))?;
        let symbols = Symbols::parse(&String::from_utf8_lossy(&text));
        anyhow::ensure!(!symbols.is_empty(), "{}: no functions: not what `nm` prints", plain(path));
        Ok(Self { binary, symbols })
    }

    fn at(&self, function: &Function<'_>) -> Option<&str> {
        match (&self.binary, function.binary) {
            (None, _) => self.symbols.at(function.address),
            (Some(name), Some((path, offset))) if Some(name.as_ref()) == file_name(path) => {
                // What is no position-independent program is mapped where it was linked.
                self.symbols.at(offset).or_else(|| self.symbols.at(function.address))
            }
            _ => None,
        }
    }
}

fn file_name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

/// The name of a function; where it is not known, what is mapped there or its address.
fn name(function: &Function<'_>, symbols: &[NamedSymbols]) -> String {
    if let Some(name) = symbols.iter().find_map(|named| named.at(function)) {
        return name.to_owned();
    }
    match function.binary {
        Some((path, offset)) => format!("{}+{offset:#x}", file_name(path).unwrap_or(path)),
        None => format!("{:#x}", function.address),
    }
}
