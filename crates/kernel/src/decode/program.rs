//! Decodes programs' own tracepoints: paired ones are the begins and the ends of phases.

use isochrone_ctf::plan::EventPlan;

use crate::event::KernelEvent;
use crate::id::Name;

/// How the two tracepoints of a phase end: `shop:request_begin` and `shop:request_end`, `mpi:begin` and `mpi:end`.
const PAIRS: [(&str, &str); 5] =
    [("begin", "end"), ("entry", "exit"), ("enter", "exit"), ("start", "end"), ("start", "stop")];

/// A tracepoint of a phase.
#[derive(Debug)]
pub(super) enum Class {
    Begin(Name),
    End(Name),
}

impl Class {
    /// `classes`: all of the stream. A tracepoint whose partner the trace does not have is not of a phase: it would wait
    /// forever.
    pub(super) fn new(classes: &[EventPlan], name: &str) -> Option<Self> {
        let has = |name: String| classes.iter().any(|class| class.name.as_deref() == Some(&name));
        PAIRS.iter().find_map(|(begin, end)| {
            let phase = |head: &str| Name::from(head.trim_end_matches(['_', ':']));
            if let Some(head) = stem(name, begin) {
                return has(format!("{head}{end}")).then(|| Self::Begin(phase(head)));
            }
            let head = stem(name, end)?;
            has(format!("{head}{begin}")).then(|| Self::End(phase(head)))
        })
    }

    pub(super) fn decode(&self) -> KernelEvent<'_> {
        match self {
            Self::Begin(name) => KernelEvent::PhaseBegin(name),
            Self::End(name) => KernelEvent::PhaseEnd(name),
        }
    }
}

/// A name without the word at its end.
fn stem<'n>(name: &'n str, word: &str) -> Option<&'n str> {
    name.strip_suffix(word).filter(|head| head.ends_with(['_', ':']))
}
