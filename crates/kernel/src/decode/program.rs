//! Decodes programs' own tracepoints: paired ones are the begins and the ends of phases.

use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan};
use isochrone_ctf::{Event, FieldRef};

use super::Fields;
use crate::event::KernelEvent;
use crate::id::Name;
use crate::programs::name_with_id;

/// How the two tracepoints of a phase end: `shop:request_begin` and `shop:request_end`, `mpi:begin` and
/// `mpi:end`.
const PAIRS: [(&str, &str); 5] =
    [("begin", "end"), ("entry", "exit"), ("enter", "exit"), ("start", "end"), ("start", "stop")];

/// A tracepoint of a phase.
#[derive(Debug)]
pub(super) struct Class {
    is_begin: bool,
    /// The name of the two tracepoints, without their ends.
    name: Name,
    /// The text field that identifies the phase.
    label: Option<FieldRef>,
    /// That of the id of a span, which tells it from others of its name, as spans of a thread need not
    /// nest.
    id: Option<FieldRef>,
}

/// The field of a span's id.
const ID: &str = "span_id";

impl Class {
    /// A tracepoint whose partner the trace does not have is not of a phase: it would wait forever.
    pub(super) fn new(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let classes = &fields.stream.events;
        let partner = |name: String| classes.iter().find(|class| class.name.as_deref() == Some(&name));
        PAIRS.iter().find_map(|(begin, end)| {
            let (is_begin, head) = match (stem(name, begin), stem(name, end)) {
                (Some(head), _) => (true, head),
                (None, head) => (false, head?),
            };
            let other = partner(format!("{head}{}", if is_begin { end } else { begin }))?;
            let phase = head.trim_end_matches(['_', ':']);
            let id = text_field(fields.class, other, fields.stream, ID);
            // A span whose ids are not texts of both ends would be paired with another one.
            let has_id = |class: &EventPlan| class.payload.as_ref().is_some_and(|it| it.member(ID).is_some());
            if id.is_none() && (has_id(fields.class) || has_id(other)) {
                return None;
            }
            let label = label(fields.class, other, fields.stream, phase);
            Some(Self { is_begin, name: Name::from(phase), label, id })
        })
    }

    pub(super) fn decode<'e>(&self, event: &Event<'_>) -> KernelEvent<'e> {
        let label = self.label.as_ref().and_then(|label| event.text(label)).filter(|label| !label.is_empty());
        let label = label.map(String::from_utf8_lossy);
        let name = match (label, self.id.as_ref().and_then(|id| event.text(id))) {
            (label, Some(id)) => name_with_id(label.as_deref().unwrap_or(&self.name), id),
            (Some(label), None) => {
                let mut name = self.name.clone();
                name.push(' ');
                name.push_str(&label);
                name
            }
            (None, None) => self.name.clone(),
        };
        if self.is_begin { KernelEvent::PhaseBegin(name) } else { KernelEvent::PhaseEnd(name) }
    }
}

/// A name without the word at its end.
fn stem<'n>(name: &'n str, word: &str) -> Option<&'n str> {
    name.strip_suffix(word).filter(|head| head.ends_with(['_', ':']))
}

/// The text field of a tracepoint that identifies one of several phases: it is
/// called as the phase is (`phase` of `thumb:phase_begin`), `name`, or, where it is a call of a library as
/// those of MPI, `func`.
fn label(class: &EventPlan, partner: &EventPlan, stream: &StreamPlan, phase: &str) -> Option<FieldRef> {
    let last = phase.rsplit(['_', ':']).next().unwrap_or(phase);
    [last, "name", "func"].into_iter().find_map(|name| text_field(class, partner, stream, name))
}

/// A text field of a tracepoint, if its partner has it too.
fn text_field(class: &EventPlan, partner: &EventPlan, stream: &StreamPlan, name: &str) -> Option<FieldRef> {
    let field = |class: &EventPlan| {
        let (_, node) = class.payload.as_ref()?.member(name)?;
        let is_text = matches!(node.kind, NodeKind::String(_) | NodeKind::Text(..));
        class.payload_field(stream, &[name]).filter(|_| is_text)
    };
    field(partner).and_then(|_| field(class))
}
