//! Flame graphs of the stacks of calls in which events were recorded: samples by perf, and events of LTTng
//! with the contexts `callstack_kernel` and `callstack_user`.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_experiment::{Frame, Location, MappedFile, Opened, SampledStacks, TimedTrace};
use isochrone_export::flame::Flame;

use super::symbols::{KERNEL, NamedSymbols, file_name};
use crate::arguments::EventFilters;
use crate::commands::each_event::each_event;
use crate::commands::events::{chosen, refuse_chunks};
use crate::commands::filter::Filter;
use crate::output::{Console, note};
use crate::render::figures;
use crate::render::plain::plain;

/// What is drawn where nothing is known of an address.
const UNKNOWN: &str = "[unknown]";

/// Number of files that are named of which functions have no names.
const MOST_FILES: usize = 5;

/// The stacks of the events that were chosen.
pub(super) fn samples(
    filters: &EventFilters,
    opened: &Opened,
    symbols: &[NamedSymbols],
    console: &Console,
) -> anyhow::Result<Flame> {
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let (traces, times) = chosen(&experiment, opened, filters, console)?;
    check_recorded(&traces, console)?;
    let mut filter = Filter::new(filters, &[], times, &traces)?;
    let mut stacks = SampledStacks::default();
    let from = (opened, &*traces);
    each_event(&experiment, from, "reading stacks of calls", console, |source, host, unix, event| {
        stacks.add(source, host, event, || filter.keeps(source, host, unix, event));
    });
    filter.note_unmatched(console);
    let names = Names::new(&stacks, symbols, console)?;
    let has_several = stacks.events() > 1;
    let mut flame = Flame::default();
    let (mut all, mut unnamed): (u64, BTreeMap<&str, u64>) = (0, BTreeMap::new());
    for sampled in stacks.each() {
        let first = format!("{} {}", sampled.host, sampled.program.unwrap_or("?"));
        let event = has_several.then(|| sampled.event.to_owned());
        let (functions, without): (Vec<_>, Vec<_>) =
            sampled.frames.iter().rev().map(|frame| names.of(frame)).unzip();
        flame.add(std::iter::once(first).chain(event).chain(functions), sampled.count);
        all += sampled.count;
        for file in without.into_iter().flatten().collect::<BTreeSet<&str>>() {
            *unnamed.entry(file).or_default() += sampled.count;
        }
    }
    let mut unnamed: Vec<_> = unnamed.into_iter().collect();
    unnamed.sort_by_key(|&(file, count)| (std::cmp::Reverse(count), file));
    for (file, count) in unnamed.iter().take(MOST_FILES) {
        let (file, count, all) = (plain(file), figures::count(*count), figures::plural(all, "event"));
        note!(console, "functions of {file} have no names, in {count} of {all}: see --symbols");
    }
    if let Some(more) = unnamed.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        note!(console, "and functions of {}", figures::plural(more, "more file"));
    }
    Ok(flame)
}

/// Checks that events were recorded with stacks, and notes of which part they were not.
fn check_recorded(traces: &[TimedTrace<'_>], console: &Console) -> anyhow::Result<()> {
    let recorded = traces.iter().map(|source| SampledStacks::recorded(source.trace()));
    let [kernel, user] = recorded.fold([false; 2], |all, one| [all[0] | one[0], all[1] | one[1]]);
    anyhow::ensure!(
        kernel || user,
        "no event was recorded with its stack of calls: record with `perf record -a -g -T --sample-cpu`, \
         or before the next recording, type: lttng add-context --kernel --type callstack-kernel \
         --type callstack-user"
    );
    if !user {
        note!(
            console,
            "addresses of programs' stacks were not recorded (perf does with `--call-graph fp`): only the \
             kernel's functions are drawn"
        );
    }
    Ok(())
}

/// Refuses a list of the kernel's functions for several hosts: each kernel has other addresses.
fn check_kernel(stacks: &SampledStacks) -> anyhow::Result<()> {
    let is_of_kernel = |frame: &Frame| matches!(frame.location, Location::Kernel(_));
    let sampled = stacks.each().filter(|sampled| sampled.frames.iter().any(is_of_kernel));
    let hosts: Vec<String> =
        sampled.map(|sampled| sampled.host.to_owned()).collect::<BTreeSet<_>>().into_iter().collect();
    anyhow::ensure!(
        hosts.len() <= 1,
        "[kernel]=FILE is of one host, as each kernel has other addresses: choose one of {} with --host",
        plain(&figures::listed(&hosts, MOST_FILES))
    );
    Ok(())
}

/// Names of functions.
struct Names<'s> {
    stacks: &'s SampledStacks,
    kernel: Option<&'s NamedSymbols>,
    /// By index of a file.
    files: BTreeMap<usize, &'s NamedSymbols>,
}

impl<'s> Names<'s> {
    /// Finds out what some symbols are of.
    fn new(
        stacks: &'s SampledStacks,
        symbols: &'s [NamedSymbols],
        console: &Console,
    ) -> anyhow::Result<Self> {
        let frames = || stacks.each().flat_map(|sampled| sampled.frames);
        let used: BTreeSet<usize> = frames()
            .filter_map(|frame| match frame.location {
                Location::File(index, _) => Some(index),
                Location::Kernel(_) | Location::Address(_) => None,
            })
            .collect();
        let mut names = Self { stacks, kernel: None, files: BTreeMap::new() };
        for symbols in symbols {
            let path = plain(&symbols.path);
            if symbols.binary.as_deref() == Some(KERNEL) {
                check_kernel(stacks)?;
                names.kernel = Some(symbols);
                continue;
            }
            let Some(program) = &symbols.program else {
                anyhow::bail!(
                    "{path}: samples have offsets in files, for which `nm` has no names: give the program \
                     or the library itself (for the kernel, [kernel]=FILE with a copy of /proc/kallsyms)"
                );
            };
            let named = used.iter().map(|&index| (index, stacks.file(index)));
            let named: Vec<(usize, &MappedFile)> =
                named.filter(|(_, file)| symbols.is_of(&file.path)).collect();
            let is_other = |file: &MappedFile| {
                program.build_id.as_ref().zip(file.build_id.as_ref()).is_some_and(|(it, other)| it != other)
            };
            let mut same: Vec<_> = named.iter().filter(|(_, file)| !is_other(file)).collect();
            match (named.first(), same.as_slice()) {
                (None, _) => note!(console, "no function of {path} is in the stacks"),
                (Some((_, file)), []) => anyhow::bail!(
                    "{path} is another build than {} was (build ID {}, recorded: {})",
                    plain(&file.path),
                    program.build_id.as_deref().unwrap_or("?"),
                    file.build_id.as_deref().unwrap_or("?")
                ),
                _ => {}
            }
            if same.iter().any(|(_, file)| file.build_id.is_some()) {
                same.retain(|(_, file)| file.build_id.is_some());
            }
            let is_one =
                same.windows(2).all(|pair| pair[0].1.build_id.is_some() || pair[0].1.path == pair[1].1.path);
            anyhow::ensure!(
                is_one,
                "{path} would name functions of several files: give one of them, as in {}={path}",
                plain(&same[0].1.path)
            );
            for (_, file) in
                same.iter().filter(|(_, file)| file.build_id.is_none() || program.build_id.is_none())
            {
                note!(console, "nothing says whether {path} is the build of {} that ran", plain(&file.path));
            }
            names.files.extend(same.into_iter().map(|(index, _)| (*index, symbols)));
        }
        Ok(names)
    }

    /// What is drawn for a call, and what it is in if its function has no name.
    fn of(&self, frame: &Frame) -> (String, Option<&'s str>) {
        let is_return = frame.is_return;
        match frame.location {
            Location::Kernel(address) => {
                let before = address.saturating_sub(u64::from(is_return));
                match self.kernel.and_then(|symbols| symbols.at(before)) {
                    Some(name) => (format!("{name}_[k]"), None),
                    None => (KERNEL.to_owned(), Some(KERNEL)),
                }
            }
            Location::File(index, offset) => {
                let name = self.files.get(&index).and_then(|symbols| symbols.in_file(offset, is_return));
                let path: &str = &self.stacks.file(index).path;
                let file = if path.starts_with("//") { path } else { file_name(path).unwrap_or(path) };
                name.map_or_else(|| (file.to_owned(), Some(file)), |name| (name.to_owned(), None))
            }
            Location::Address(_) => (UNKNOWN.to_owned(), Some(UNKNOWN)),
        }
    }
}
