//! The end of a recording: it is collected and unpacked, its hosts are put on one clock, and what to type
//! next is said.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use isochrone_files::{Inputs, unpack};
use isochrone_record::probe::DATAGRAM_BYTES;
use isochrone_record::script::quote;
use isochrone_record::session::{self, Host};
use isochrone_sync::{Datagrams, Options, Outcome, synchronize};

use super::Directory;
use crate::commands::named;
use crate::output::{self, Console, note, warn_partial};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, report};

/// Collects what hosts recorded in a directory for each, and shows the headline of all together. `ports`:
/// where hosts answered packets of others; none: none were sent.
pub(super) fn collect(
    hosts: Vec<Host>,
    ports: Vec<u16>,
    into: &Directory,
    console: &Console,
) -> anyhow::Result<()> {
    let mut places = Vec::new();
    for (target, collected) in session::collect(hosts, &into.path) {
        let place = into.path.join(&target.directory);
        let unpacked = collected.map_err(anyhow::Error::from).and_then(|file| {
            fs::create_dir(&place)?;
            unpack(&file, &place)?;
            Ok(fs::remove_file(&file)?)
        });
        match unpacked {
            Ok(()) => places.push(place),
            Err(error) => {
                let name = plain(&target.name);
                warn_partial!(
                    console,
                    "{name}: what it recorded was not collected: {}",
                    Plain(format!("{error:#}"))
                );
            }
        }
    }
    anyhow::ensure!(!places.is_empty(), "nothing was collected");
    let (outcome, without_probes) = synchronized(&places, ports, console);
    let path = Plain(into.path.display()).to_string();
    let bytes = figures::bytes(size(&into.path) as f64);
    let hosts = figures::plural(places.len(), "host");
    output::print(|stdout| {
        writeln!(stdout, "recorded to {path} ({bytes}), {hosts}")?;
        match &outcome {
            Some(outcome) if outcome.artefact.clocks.len() > 1 => {
                for paragraph in report::verdicts(&outcome.artefact, &outcome.clocks) {
                    writeln!(stdout, "{paragraph}")?;
                }
                if let Some(without) = &without_probes {
                    writeln!(stdout, "{}", effect_of_probes(outcome, without))?;
                }
            }
            _ => {}
        }
        let quoted = quote(&path);
        Ok(writeln!(stdout, "next: isochrone {quoted} · isochrone view {quoted}")?)
    })?;
    Ok(())
}

/// All hosts on one clock, as `isochrone sync` puts them, and as it would without the packets that hosts
/// sent each other; what is wrong is said.
fn synchronized(
    places: &[PathBuf],
    ports: Vec<u16>,
    console: &Console,
) -> (Option<Outcome>, Option<Outcome>) {
    let open = || -> anyhow::Result<(Inputs, Outcome)> {
        let inputs = Inputs::open(&named(places)?.traces);
        complaints::of_inputs(&inputs, console)?;
        let outcome = with(&inputs, &Options::default(), "matching packets", console)?;
        Ok((inputs, outcome))
    };
    let (inputs, outcome) = match open() {
        Ok(opened) => opened,
        Err(error) => {
            warn_partial!(console, "the hosts are not on one clock: {}", Plain(format!("{error:#}")));
            return (None, None);
        }
    };
    for text in &outcome.notes {
        note!(console, "{}", Plain(text));
    }
    let has_several = outcome.artefact.clocks.len() > 1;
    if has_several {
        complaints::show_advice(&outcome.advice, console);
    }
    let without = Options { without: Some(Datagrams { ports, bytes: DATAGRAM_BYTES }), ..Options::default() };
    let has_probes = has_several && without.without.as_ref().is_some_and(|probes| !probes.ports.is_empty());
    // What could not be found out is not shown.
    let without =
        has_probes.then(|| with(&inputs, &without, "matching packets without probes", console).ok());
    (Some(outcome), without.flatten())
}

fn with(
    inputs: &Inputs,
    options: &Options,
    what: &'static str,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let bar = Progress::over_bytes(inputs, what, console);
    let outcome = synchronize(inputs, options, &|bytes| bar.add(bytes))?;
    bar.finish();
    Ok(outcome)
}

/// What the packets are good for that hosts sent each other.
fn effect_of_probes(outcome: &Outcome, without: &Outcome) -> String {
    let within = |outcome: &Outcome| {
        let ns = report::usually_within(&outcome.artefact, &outcome.clocks)?;
        Some(format!("usually within {}", figures::duration(ns)))
    };
    match (within(outcome), within(without)) {
        (Some(with), Some(without)) => {
            format!("Without probes all clocks would be {without}, with them {with}.")
        }
        (Some(with), None) if without.artefact.islands.len() > 1 => {
            format!("Without probes not all hosts would be tied together; with them all clocks are {with}.")
        }
        _ => "How much probes tighten is unknown: not all clocks are tied and proven.".to_owned(),
    }
}

/// Bytes of all files in a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    entries.map(of).sum()
}
