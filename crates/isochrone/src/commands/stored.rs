//! Analyses that are read from a store, which is made of the traces if there is none: `states` and `phases`.

use isochrone_experiment::{Experiment, PhaseFilter, Spread, StateFilter, is_on_one_clock, phases, recorded};

use super::analyze::{add_needs, check_options, hosts, options, shown};
use super::pieces::{self, PieceKind};
use super::{index, lami, named, open_named, periods};
use crate::ExitStatus;
use crate::arguments::{Analyze, Names, PHASES, STATES};

/// What threads did, or where the time of phases went.
pub(super) fn run(arguments: &Analyze, names: &Names, quiet: bool) -> anyhow::Result<ExitStatus> {
    let name = if matches!(names, Names::Phases) { PHASES } else { STATES };
    check_options(arguments, &[name], quiet)?;
    lami::answer(arguments, &[name])?;
    anyhow::ensure!(
        pieces::kind(&arguments.traces)? != Some(PieceKind::Analyses),
        "{name} does not apply to these pieces, which hold what analyses keep: `isochrone map {name}` makes others"
    );
    anyhow::ensure!(
        arguments.cluster.cluster.is_none(),
        "{name} does not apply to --cluster: it is read from a store; `isochrone-sql --cluster` reads one"
    );
    let definitions = periods::definitions(arguments)?;
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment: Experiment<'_> = opened.experiment();
    let (hosts, times, ending) = hosts(arguments, &opened, &experiment, ending, quiet)?;
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let (store, ending) = index::store(&named, kept, &opened, spread, ending, quiet)?;
    let options = options(arguments);
    let is_synchronized = is_on_one_clock(&hosts);
    let mut report = match names {
        Names::Phases => {
            let found = match &definitions {
                Some(definitions) => Some(periods::found(&hosts, spread, definitions, quiet)?),
                None => None,
            };
            let asked = PhaseFilter { filter: &options.filter, times };
            phases(&store, &hosts, found.as_deref(), asked, is_synchronized)?
        }
        Names::States | Names::Kinds(_) => {
            let asked = StateFilter { filter: &options.filter, times, pixels: arguments.pixels };
            isochrone_experiment::states(&store, &hosts, asked, is_synchronized)?
        }
    };
    shown(arguments).check(std::slice::from_ref(&report))?;
    report.arrange(&options);
    if arguments.bounds {
        isochrone_experiment::add_bounds(&mut report, &hosts);
    }
    let mut reports = [report];
    add_needs(&mut reports, &recorded(&hosts));
    shown(arguments).print(&reports, None, hosts.len(), quiet)?;
    Ok(ending)
}
