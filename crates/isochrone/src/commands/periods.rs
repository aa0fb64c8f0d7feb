//! Periods (`--period`): their definitions, and the pass that finds them.

use std::sync::Arc;

use isochrone_experiment::{ModelledHost, PeriodLog, Spread};
use isochrone_periods::Definitions;
use isochrone_timing::TimedHost;

use super::analysis::model_error;
use super::filter::check_fields;
use crate::output::Console;
use crate::progress::Progress;

/// The definitions on the command line; `None`: there are none.
pub(super) fn definitions(
    periods: &[String],
    captures: &[String],
) -> anyhow::Result<Option<Arc<Definitions>>> {
    if periods.is_empty() {
        return Ok(None);
    }
    let definitions = Definitions::parse(periods, captures);
    Ok(Some(Arc::new(definitions.map_err(|error| anyhow::anyhow!("--period: {error}"))?)))
}

/// The periods of hosts, in the order of the hosts.
pub(super) fn found<'o>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    definitions: &Arc<Definitions>,
    console: &Console,
) -> anyhow::Result<Vec<ModelledHost<'o, PeriodLog>>> {
    check(hosts, definitions)?;
    let bar = Progress::over(hosts.iter().map(|host| host.traced.bytes()).sum(), "finding periods", console);
    let found = isochrone_experiment::periods(hosts, spread, definitions, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    found.into_iter().map(|host| host.map_err(model_error)).collect()
}

/// Checks that some trace has each field that definitions name.
pub(super) fn check(hosts: &[&TimedHost<'_>], definitions: &Definitions) -> anyhow::Result<()> {
    let traces: Vec<_> = hosts.iter().flat_map(|host| host.traced.traces()).copied().collect();
    check_fields("--period", definitions.fields(), &traces)
}
