//! Analyses that are read from a store, which is built if there is none: `states` and `phases`.

use isochrone_experiment::{Experiment, PhaseFilter, Spread, StateFilter, phases};
use isochrone_timing::{is_on_one_clock, recorded};

use super::analysis::{add_lacks, add_needs, check_options, hosts, options, style};
use super::pieces::{self, PieceKind};
use super::{index, lami, named, on_cluster, open_named, periods};
use crate::arguments::{Analyze, Names, PHASES, STATES};
use crate::output::Console;
use crate::render::complaints;

/// Shows what threads did, or where the time of phases went.
pub(super) fn run(arguments: &Analyze, names: &Names, console: &Console) -> anyhow::Result<()> {
    let name = if matches!(names, Names::Phases) { PHASES } else { STATES };
    check_options(arguments, &[name], console)?;
    lami::answer(arguments, &[name])?;
    anyhow::ensure!(
        pieces::kind(&arguments.traces)? != Some(PieceKind::Analyses),
        "{name} does not apply to these pieces, which hold the results of analyses: use pieces of `isochrone map {name}`"
    );
    if let Some(machines) = on_cluster::machines(arguments)? {
        let (_directory, mapped) = on_cluster::map_on_machines(arguments, &[], machines, console)?;
        return run(&mapped, names, console);
    }
    anyhow::ensure!(
        arguments.cluster.cluster.is_none(),
        "{name} does not apply with --cluster to traces that all machines have: it is read from a store; \
         `isochrone-sql --cluster` reads one"
    );
    let definitions = periods::definitions(&arguments.periods, &arguments.period_captures)?;
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let opened = open_named(&named, kept, arguments.clock.time_base()?, console)?;
    let experiment: Experiment<'_> = opened.experiment();
    let (hosts, times) = hosts(arguments, &opened, &experiment, console)?;
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let store = index::store(&named, kept, &opened, spread, console)?;
    for host in &hosts {
        complaints::of_host(host, console);
    }
    let options = options(arguments);
    let is_synchronized = is_on_one_clock(&hosts);
    let mut report = match names {
        Names::Phases => {
            let periods =
                definitions.map(|definitions| periods::found(&hosts, spread, &definitions, console));
            let found = periods.transpose()?;
            let filter = PhaseFilter { filter: &options.filter, times };
            phases(&store, &hosts, found.as_deref(), filter, is_synchronized)?
        }
        Names::States | Names::Kinds(_) => {
            let filter = StateFilter { filter: &options.filter, times, pixels: arguments.pixels };
            isochrone_experiment::states(&store, &hosts, filter, is_synchronized)?
        }
    };
    style(arguments).check(std::slice::from_ref(&report))?;
    report.sort_and_limit(&options);
    if arguments.bounds {
        isochrone_experiment::add_bounds(&mut report, &hosts);
    }
    let mut reports = [report];
    let recorded = recorded(&hosts);
    add_lacks(&mut reports, &recorded, arguments.format);
    add_needs(&mut reports, &recorded);
    style(arguments).print(&reports, None, hosts.len(), console)
}
