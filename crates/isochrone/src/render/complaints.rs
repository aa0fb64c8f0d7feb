//! What went wrong with inputs and what they lack, on stderr.

use isochrone_ctf::Diagnostic;
use isochrone_hosts::Host;
use isochrone_sync::advice::Advice;
use isochrone_sync::{Inputs, Refused, RefusedKind};

use super::figures;
use super::plain::{Plain, PlainLines, plain};
use crate::ExitStatus;
use crate::output::tell;

/// More than this many diagnostics of one trace are counted, not shown.
const MAX_SHOWN: usize = 10;

/// Shows what could not be opened and what was odd about the rest.
///
/// # Errors
/// Nothing could be opened: there is no work.
pub(crate) fn of_inputs(inputs: &Inputs, quiet: bool) -> anyhow::Result<ExitStatus> {
    if inputs.traces.is_empty() && inputs.captures.is_empty() {
        match inputs.refused.as_slice() {
            [only] => anyhow::bail!("{}: {}", Plain(&only.name), only.why),
            several => show_refused(several, "isochrone"),
        }
        anyhow::bail!("nothing could be read");
    }
    show_refused(&inputs.refused, "warning");
    if !quiet {
        for note in &inputs.notes {
            tell!("note: {}", Plain(note));
        }
    }
    let mut ending = ExitStatus::partly_if(!inputs.refused.is_empty());
    for input in &inputs.traces {
        ending = ending.max(show(input.trace.diagnostics(), quiet));
    }
    Ok(ending)
}

/// Shows what a host lacks, as far as that is known before reading, and what contradicts that it is one.
pub(crate) fn of_host(host: &Host<'_>, quiet: bool) {
    for contradiction in host.contradictions() {
        tell!("warning: {}: {}", plain(&host.name), Plain(contradiction));
    }
    if !quiet {
        for note in host.notes() {
            tell!("note: {}: {}", plain(&host.name), Plain(note));
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
        tell!("{word}: {what}{}: {}", Plain(name), PlainLines(why));
    }
}

/// Shows diagnostics; losses make the work partial.
pub(crate) fn show<'d, D>(diagnostics: D, quiet: bool) -> ExitStatus
where
    D: IntoIterator<Item = &'d Diagnostic, IntoIter: Clone>,
{
    let mut diagnostics = diagnostics.into_iter();
    let shown = diagnostics.clone().filter(|d| d.is_loss() || !quiet);
    let count = shown.clone().count();
    for diagnostic in shown.take(MAX_SHOWN) {
        let word = if diagnostic.is_loss() { "warning" } else { "note" };
        tell!("{word}: {}", Plain(diagnostic));
    }
    if count > MAX_SHOWN {
        tell!("… and {} more of this trace", count - MAX_SHOWN);
    }
    ExitStatus::partly_if(diagnostics.any(Diagnostic::is_loss))
}

/// Hosts that one piece of advice names; the rest is counted.
const MAX_HOSTS: usize = 8;

/// Says what hosts lack, and what to type to record it.
pub(crate) fn show_advice(advice: &[Advice]) {
    for advice in advice {
        let hosts = figures::listed(&advice.hosts, MAX_HOSTS);
        tell!("note: {}: {}", Plain(&hosts), Plain(&advice.missing));
        if !advice.commands.is_empty() {
            let on = if advice.hosts.len() == 1 { &hosts } else { "each of them" };
            tell!("      before the next recording, type on {}:", Plain(on));
            for command in &advice.commands {
                tell!("        {}", Plain(command));
            }
        }
    }
}
