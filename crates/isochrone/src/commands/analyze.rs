//! `isochrone analyze`: analyses of hosts. Its options are in [`crate::arguments`], the layout of tables in
//! [`crate::render::tables`].

use isochrone_analysis::AnalysisKind;
use isochrone_timing::{Timing, recorded};

use super::analysis::{add_notes, check_options, hosts, options, style};
use super::answers::{Answering, answers};
use super::pieces::{self, PieceKind};
use super::reports::check_scratch;
use super::{chunks, lami, named, on_cluster, open_named, stored};
use crate::arguments::{Analyze, AnalyzeNamed, Names};
use crate::output::Console;

pub(crate) fn run(AnalyzeNamed { names, analyze }: &AnalyzeNamed, console: &Console) -> anyhow::Result<()> {
    match names {
        Names::Kinds(kinds) => analyse(analyze, kinds, console),
        stored @ (Names::States | Names::Phases) => stored::run(analyze, stored, console),
    }
}

fn analyse(arguments: &Analyze, kinds: &[AnalysisKind], console: &Console) -> anyhow::Result<()> {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    check_options(arguments, &names, console)?;
    on_cluster::check(arguments)?;
    if lami::answer(arguments, &names)? {
        return Ok(());
    }
    if let Some(machines) = on_cluster::machines(arguments)? {
        let (_directory, mapped) = on_cluster::map_on_machines(arguments, kinds, machines, console)?;
        return analyse(&mapped, kinds, console);
    }
    if let Some(head) = chunks::head(&arguments.traces)?.filter(|head| !head.has_spans) {
        return chunks::analyse(arguments, kinds, &head, console);
    }
    if pieces::kind(&arguments.traces)? == Some(PieceKind::Analyses) {
        return pieces::analyse(arguments, kinds, console);
    }
    let options = options(arguments);
    if arguments.at.is_none() && !arguments.around && arguments.periods.is_empty() {
        // Tables of instants, of CPUs around calls and of periods are others.
        style(arguments).check(&isochrone_analysis::empty_reports(kinds, &options))?;
    }
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let opened = open_named(&named, kept, arguments.clock.time_base()?, console)?;
    let experiment = opened.experiment();
    let (hosts, times) = hosts(arguments, &opened, &experiment, console)?;
    if arguments.test_compatibility {
        return lami::check_compatible(kinds, &recorded(&hosts));
    }
    let answering = Answering {
        arguments,
        named: &named,
        opened: &opened,
        options: &options,
        hosts: &hosts,
        times,
        console,
    };
    if arguments.cluster.cluster.is_some() {
        return on_cluster::analyse(answering, kinds);
    }
    let mut reports = answers(answering, kinds)?;
    let timings: Vec<(&str, Timing<'_>)> =
        hosts.iter().filter_map(|host| Some((host.name(), host.timing?))).collect();
    add_notes(arguments, &mut reports, &recorded(&hosts), &timings);
    style(arguments).print(&reports, times.at, hosts.len(), console)?;
    check_scratch(&options.scratch, console)
}
