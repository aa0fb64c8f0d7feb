//! Spans of OpenTelemetry by their ids: which thread each began in, and when it began and ended.

use std::collections::BTreeMap;

use isochrone_ctf::plan::FieldRef;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, Trace};
use isochrone_experiment::{Opened, TimedTraces};
use isochrone_time::UnixNs;

use super::each_event::each_event;
use crate::arguments::SpanId;
use crate::output::Console;

/// The events of a span, as they are read (docs/otlp.md).
const EVENTS: [&str; 2] = ["otel:span_begin", "otel:span_end"];

/// A span that began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedSpan {
    pub(super) name: String,
    pub(super) host: String,
    /// The kernel's number of the thread that it began in, if the program said it.
    pub(super) tid: Option<i32>,
    /// Start, on the requested clock.
    pub(super) start: UnixNs,
    /// End; `None`: it is not there.
    pub(super) end: Option<UnixNs>,
}

/// The spans of an id, in the order of their starts.
///
/// # Errors
/// There are none among the traces, or none of that id.
pub(super) fn of_id(id: &SpanId, opened: &Opened, console: &Console) -> anyhow::Result<Vec<NamedSpan>> {
    let experiment = opened.experiment();
    let TimedTraces { mut traces, uncorrected } = experiment.traces();
    traces.retain(|source| has_spans(source.trace()));
    anyhow::ensure!(
        !traces.is_empty() || !uncorrected.iter().any(|input| has_spans(&input.trace)),
        "--span: the clock of the spans is tied to that of no trace (docs/otlp.md)"
    );
    anyhow::ensure!(
        !traces.is_empty(),
        "--span: no spans of OpenTelemetry are among the traces; name their file, too (docs/otlp.md)"
    );
    // By source, trace and span: ids are those of one program.
    let mut found: BTreeMap<(usize, Vec<u8>), NamedSpan> = BTreeMap::new();
    let from = (opened, &*traces);
    each_event(&experiment, from, "reading spans", console, |source, host, unix, event| {
        let Some(is_begin) = EVENTS.iter().position(|name| event.name() == Some(name)).map(|it| it == 0)
        else {
            return;
        };
        let text = |name: &str| field(event, name).and_then(|field| event.text(&field));
        let of = text(if id.is_trace { "trace_id" } else { "span_id" });
        let (Some(at), Some(span)) = (unix, text("span_id")) else { return };
        let key = (source, span.to_vec());
        if !is_begin {
            if let Some(open) = found.get_mut(&key) {
                open.end.get_or_insert(at);
            }
        } else if of == Some(id.digits.as_bytes()) {
            let tid = event.class().context_field(event.stream_plan(), "tid");
            found.entry(key).or_insert_with(|| NamedSpan {
                name: text("name").map(String::from_utf8_lossy).unwrap_or_default().into_owned(),
                host: host.to_owned(),
                tid: tid.and_then(|field| event.signed(&field)).and_then(|tid| tid.try_into().ok()),
                start: at,
                end: None,
            });
        }
    });
    let what = if id.is_trace { "trace" } else { "span" };
    anyhow::ensure!(!found.is_empty(), "--span: no {what} has the id {}", id.digits);
    let mut spans: Vec<NamedSpan> = found.into_values().collect();
    spans.sort_by_key(|span| span.start);
    Ok(spans)
}

fn has_spans(trace: &Trace) -> bool {
    let mut classes = trace.schema().streams.iter().flat_map(|stream| &stream.events);
    classes.any(|event| event.name.as_deref() == Some(EVENTS[0]))
}

fn field(event: &Event<'_>, name: &str) -> Option<FieldRef> {
    event.class().field(event.stream_plan(), Scope::Payload, &[name])
}
