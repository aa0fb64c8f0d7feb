//! What went wrong with inputs, on stderr.

use isochrone_ctf::{Diagnostic, Severity};
use isochrone_sync::Inputs;

use crate::Ending;

/// More than this many diagnostics of one trace are counted, not shown.
const MAX_SHOWN: usize = 10;

/// Shows what could not be opened and what was odd about the rest.
///
/// # Errors
/// Nothing could be opened: there is no work.
pub(crate) fn of_inputs(inputs: &Inputs, quiet: bool) -> anyhow::Result<Ending> {
    let mut ending = Ending::Done;
    if inputs.traces.is_empty() && inputs.refused.len() == 1 {
        let refused = &inputs.refused[0];
        anyhow::bail!("{}", described(&refused.name, &refused.why));
    }
    for refused in &inputs.refused {
        ending = Ending::Partly;
        eprintln!("isochrone: {}", described(&refused.name, &refused.why));
    }
    if inputs.traces.is_empty() {
        anyhow::bail!("nothing could be read");
    }
    if !quiet {
        for note in &inputs.notes {
            eprintln!("note: {note}");
        }
    }
    for input in &inputs.traces {
        if show(input.trace.diagnostics(), quiet) == Ending::Partly {
            ending = Ending::Partly;
        }
    }
    Ok(ending)
}

/// Errors of a trace name it themselves.
fn described(name: &str, why: &str) -> String {
    if why.contains(name) { why.to_owned() } else { format!("{name}: {why}") }
}

/// Shows diagnostics; losses make the work partial.
pub(crate) fn show(diagnostics: &[Diagnostic], quiet: bool) -> Ending {
    let lost = diagnostics.iter().any(|d| d.severity == Severity::Loss);
    let shown = diagnostics.iter().filter(|d| d.severity == Severity::Loss || !quiet);
    let count = shown.clone().count();
    for diagnostic in shown.take(MAX_SHOWN) {
        let word = if diagnostic.severity == Severity::Loss { "warning" } else { "note" };
        eprintln!("{word}: {diagnostic}");
    }
    if count > MAX_SHOWN {
        eprintln!("… and {} more of this trace", count - MAX_SHOWN);
    }
    if lost { Ending::Partly } else { Ending::Done }
}
