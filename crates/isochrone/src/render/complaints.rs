//! Problems of inputs, and what they lack, on stderr.

use std::path::Path;

use isochrone_corrections::artefact::{Refused, RefusedKind};
use isochrone_ctf::Diagnostic;
use isochrone_experiment::Experiment;
use isochrone_experiment::chunks::{Chunks, UnknownTime};
use isochrone_files::Inputs;
use isochrone_pipeline::Piece;
use isochrone_sync::advice::Advice;
use isochrone_timing::TimedHost;

use super::plain::{Plain, PlainLines, plain};
use super::{figures, time};
use crate::output::{Console, eprint_line, note, warning};

/// Maximum number of diagnostics of a trace that are shown; the rest is counted.
const MAX_SHOWN: usize = 10;

/// Shows what could not be opened and what is odd about the rest.
///
/// # Errors
/// Nothing could be opened.
pub(crate) fn of_inputs(inputs: &Inputs, console: &Console) -> anyhow::Result<()> {
    if inputs.traces.is_empty() && inputs.captures.is_empty() {
        match inputs.refused.as_slice() {
            [only] => anyhow::bail!("{}: {}", Plain(&only.name), only.why),
            several => show_refused(several, "isochrone"),
        }
        anyhow::bail!("nothing could be read");
    }
    show_refused(&inputs.refused, "warning");
    for note in &inputs.notes {
        note!(console, "{}", Plain(note));
    }
    console.partial_if(!inputs.refused.is_empty());
    for input in &inputs.traces {
        show(input.trace.diagnostics(), console);
    }
    Ok(())
}

/// Shows what a host lacks, as far as that is known before reading, and what contradicts that it is one host:
/// once for a command, whichever of its parts need the host.
pub(crate) fn of_host(host: &TimedHost<'_>, console: &Console) {
    let traced = &host.traced;
    for contradiction in traced.contradictions() {
        let text = format!("{}: {}", plain(&traced.name), Plain(contradiction));
        if console.is_first(&text) {
            warning!("{text}");
        }
    }
    let time = |raw| match host.stamp(raw) {
        Some(at) => time::full(at.unix),
        None => format!("{raw} ns of its own clock"),
    };
    for note in traced.notes() {
        let text = format!("{}: {}", plain(&traced.name), Plain(note.words(time)));
        if console.is_first(&text) {
            note!(console, "{text}");
        }
    }
}

/// Notes what is missing between chunks, and warns of those that do not fit: once for a command.
pub(crate) fn of_chunks(experiment: &Experiment<'_>, console: &Console) {
    for (is_warning, text) in unknown_times(experiment, experiment.hosts()) {
        match is_warning {
            _ if !console.is_first(&text) => {}
            true => warning!("{text}"),
            false => note!(console, "{text}"),
        }
    }
}

/// Warns of chunks of some hosts that do not fit, of which the result is a part, and of those that an earlier
/// version mapped, once for a command.
pub(crate) fn of_misfits(experiment: &Experiment<'_>, hosts: &[&TimedHost<'_>], console: &Console) {
    let mut misfits = unknown_times(experiment, hosts.iter().copied());
    misfits.retain(|(is_warning, _)| *is_warning);
    console.partial_if(!misfits.is_empty());
    let earlier = |path: &Path| {
        let path = Plain(path.display());
        format!(
            "{path}: mapped by an earlier version, which did not count flushes of disks: map the chunk again"
        )
    };
    let earlier = experiment.chunks().into_iter().flat_map(Chunks::earlier).map(earlier);
    let warnings = misfits.into_iter().map(|(_, text)| text).chain(earlier);
    for text in warnings.filter(|text| console.is_first(text)) {
        warning!("{text}");
    }
}

/// What is missing between chunks of some hosts, and which of them do not fit, for people; whether each is a
/// warning.
pub(crate) fn unknown_times<'h, 'o: 'h>(
    experiment: &Experiment<'_>,
    hosts: impl IntoIterator<Item = &'h TimedHost<'o>>,
) -> Vec<(bool, String)> {
    let Some(chunks) = experiment.chunks() else { return Vec::new() };
    let unknown = hosts.into_iter().flat_map(|host| chunks.unknown(&host.traced, Piece::WHOLE));
    unknown.map(|time| unknown_time(&time)).collect()
}

/// That a time of a host of mapped chunks is unknown, for people; whether it is a warning.
pub(crate) fn unknown_time(UnknownTime { host, window, why }: &UnknownTime) -> (bool, String) {
    let (host, start, end) = (plain(host), time::full(window.start), time::full(window.end));
    match why {
        None => (
            false,
            format!("{host}: a chunk is missing from {start} to {end}: what happened then is unknown"),
        ),
        Some((file, why)) => {
            let file = Plain(file.display());
            let what = format!("{file}: {host}: mapped alone, and {why}");
            (true, format!("{what}: what happened from {start} to {end} is unknown"))
        }
    }
}

/// Shows what was not used, and why.
pub(crate) fn show_refused(refused: &[Refused], word: &str) {
    for Refused { what, name, why } in refused {
        let what = match what {
            RefusedKind::Trace => String::new(),
            other => format!("{} ", other.name()),
        };
        eprint_line!("{word}: {what}{}: {}", Plain(name), PlainLines(why));
    }
}

/// Shows diagnostics; losses make the result partial.
pub(crate) fn show<'d, D>(diagnostics: D, console: &Console)
where
    D: IntoIterator<Item = &'d Diagnostic, IntoIter: Clone>,
{
    let mut diagnostics = diagnostics.into_iter();
    let shown = diagnostics.clone().filter(|d| d.is_loss() || !console.is_quiet());
    let count = shown.clone().count();
    for diagnostic in shown.take(MAX_SHOWN) {
        let word = if diagnostic.is_loss() { "warning" } else { "note" };
        eprint_line!("{word}: {}", Plain(diagnostic));
    }
    if count > MAX_SHOWN {
        eprint_line!("… and {} more of this trace", count - MAX_SHOWN);
    }
    console.partial_if(diagnostics.any(Diagnostic::is_loss));
}

/// Maximum number of hosts that one piece of advice names; the rest is counted.
const MAX_HOSTS: usize = 8;

/// Shows what hosts lack, and the commands that record it.
pub(crate) fn show_advice(advice: &[Advice], console: &Console) {
    for advice in advice.iter().filter(|_| !console.is_quiet()) {
        let hosts = figures::listed(&advice.hosts, MAX_HOSTS);
        note!(console, "{}: {}", Plain(&hosts), Plain(&advice.missing));
        if !advice.commands.is_empty() {
            let on = if advice.hosts.len() == 1 { &hosts } else { "each of them" };
            eprint_line!("      before the next recording, type on {}:", Plain(on));
            for command in &advice.commands {
                eprint_line!("        {}", Plain(command));
            }
        }
    }
}
