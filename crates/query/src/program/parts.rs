//! The parts of a cluster, as programs that run until they are ended.

use std::io::Write as _;

use anyhow::Context;
use isochrone::shared;
use tokio::runtime::Runtime;

use super::arguments::Part;
use crate::cluster::{self, Door, Executor};

/// Runs a part of a cluster.
///
/// # Errors
/// An address cannot be listened on, or the scheduler does not answer.
pub(super) fn run(part: &Part) -> anyhow::Result<()> {
    let runtime = Runtime::new().context("threads cannot be started")?;
    match part {
        Part::Scheduler { listen, name, keep, keys } => {
            let door = Door::new(keys)?;
            runtime.block_on(cluster::scheduler(*listen, name.clone(), *keep, &door, |listen| {
                say(&format!("scheduler listens on {listen}"))
            }))
        }
        Part::Map { cluster, keys, mapping, output } => {
            let door = Door::new(keys)?;
            let text =
                std::fs::read(mapping).with_context(|| format!("cannot read {}", mapping.display()))?;
            let mapping = serde_json::from_slice(&text)
                .with_context(|| format!("{}: not what is to be mapped", mapping.display()))?;
            runtime.block_on(cluster::map(mapping, cluster, &door, output))
        }
        Part::Executor { scheduler, listen, name, cores, work, keys } => {
            let door = Door::new(keys)?;
            let (scheduler_host, scheduler_port) = host_and_port(scheduler)?;
            // It is deleted when the process ends, unless that is killed.
            let own = match work {
                Some(_) => None,
                None => Some(tempfile::tempdir().context("cannot make a temporary directory")?),
            };
            let work = work.as_deref().or(own.as_ref().map(tempfile::TempDir::path));
            let work = work.context("there is no directory to work in")?;
            let (name, cores, listen) = (name.clone(), *cores, *listen);
            let options = Executor { scheduler_host, scheduler_port, listen, name, cores, work };
            runtime.block_on(cluster::executor(options, &door))
        }
    }
}

/// Prints on stdout that it has started, for programs that wait for it.
pub(super) fn say(what: &str) -> anyhow::Result<()> {
    shared::print(|stdout| {
        writeln!(stdout, "{what}")?;
        Ok(stdout.flush()?)
    })?;
    Ok(())
}

/// The parts of `HOST:PORT`.
fn host_and_port(text: &str) -> anyhow::Result<(String, u16)> {
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts.with_context(|| format!("{text}: not a host and a port, as in 10.0.0.1:50050"))
}
