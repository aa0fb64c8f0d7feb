//! `isochrone flame`: flame graphs of waits, from the store, and of functions and samples, from events.

mod functions;
mod samples;
mod symbols;

use std::io::Write;

use isochrone_crosshost::{needs, wait_stacks};
use isochrone_experiment::{FUNCTION_EVENTS, Opened, SampledStacks};
use isochrone_export::flame::Flame;
use isochrone_files::output as files;
use isochrone_timing::{check_names, recorded};

use self::functions::functions;
use self::samples::samples;
use self::symbols::NamedSymbols;
use super::analysis::thread_filter;
use super::crosshost::with_store_of;
use super::{Named, check_output, host_selection, named, open_named};
use crate::arguments::{self, EventFilters, FlameFormat, FlameOf};
use crate::output::{self, Console, note};
use crate::render::figures;
use crate::render::plain::Plain;

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
    let of = of.unwrap_or_else(|| recorded_in(&opened));
    anyhow::ensure!(
        of == FlameOf::Samples || arguments.events.is_empty(),
        "--event chooses samples: it does not apply to waits and functions"
    );
    let (flame, title) = match of {
        FlameOf::Waits => {
            anyhow::ensure!(symbols.is_empty(), "--symbols names functions: it does not apply to waits");
            (waits(arguments, &named, &opened, console)?, "Time of waits, summed over threads")
        }
        FlameOf::Functions => {
            let flame = functions(&filters(arguments, of)?, &opened, &symbols, console)?;
            (flame, "Time in functions, waits included")
        }
        FlameOf::Samples => {
            let flame = samples(&filters(arguments, of)?, &opened, &symbols, console)?;
            (flame, "Number of events by the calls in which they were recorded")
        }
    };
    if flame.total() == 0 {
        note!(console, "there is nothing to draw: {}", title.to_lowercase());
    }
    let mut written = Vec::new();
    match format {
        FlameFormat::Svg => {
            let value = |value: u64| match of {
                FlameOf::Samples => figures::plural(value, "event"),
                FlameOf::Waits | FlameOf::Functions => figures::span(value.into()),
            };
            written = flame.svg(title, value).into_bytes();
        }
        FlameFormat::Collapsed => flame.collapsed(&mut written)?,
    }
    match output {
        Some(path) => Ok(files::write(path, &written)?),
        None => output::print(|stdout| Ok(stdout.write_all(&written)?)).map(|_| ()),
    }
}

/// What a flame graph is of, by what was recorded: functions, else samples, else waits.
fn recorded_in(opened: &Opened) -> FlameOf {
    let traces = || opened.inputs().traces.iter().map(|input| &input.trace);
    let classes = traces().flat_map(|trace| &trace.schema().streams).flat_map(|stream| &stream.events);
    let mut names = classes.filter_map(|event| event.name.as_deref());
    match () {
        () if names.any(|name| name.starts_with(FUNCTION_EVENTS)) => FlameOf::Functions,
        () if traces().any(|trace| SampledStacks::recorded(trace).contains(&true)) => FlameOf::Samples,
        () => FlameOf::Waits,
    }
}

/// Which events are drawn.
fn filters(arguments: &arguments::Flame, of: FlameOf) -> anyhow::Result<EventFilters> {
    let arguments::Flame { sources, .. } = arguments;
    let what = if of == FlameOf::Samples { "samples" } else { "functions" };
    anyhow::ensure!(
        sources.store.store.is_none(),
        "--store does not apply to {what}: their events are in the traces"
    );
    Ok(EventFilters {
        window: sources.window,
        names: arguments.events.clone(),
        hosts: arguments.hosts.clone(),
        of: arguments.threads.clone(),
        cpus: Vec::new(),
        condition: None,
    })
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
