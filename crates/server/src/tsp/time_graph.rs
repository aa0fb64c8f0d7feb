//! Time graphs: threads of all hosts, CPUs and disks, critical paths of requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use isochrone_time::{SinceOrigin, UnixNs, Window};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, Answer, Failure, OutputRequest, Parameters, TimeRange, TreeQuery, completed};
use super::json::{Int32, Int64, Object, not_null};
use super::outputs::{Content, OutputKind};
use super::styles;
use crate::error::{ApiError, Result};
use crate::view::filter::{Facts, Filter};
use crate::view::requests::RequestEntry;
use crate::view::rows::{GraphRow, RowKind};
use crate::view::state_at::{Which, duration};
use crate::view::states::{Shape, Viewport, style_name};
use crate::view::{Clock, ExperimentView};

/// Entries of one request.
const MAX_ITEMS: usize = 10_000;

/// Requests that are listed: the first ones.
const MAX_REQUESTS: usize = 10_000;

/// Paths that one request shows: each is found in the store.
const MAX_PATHS: usize = 500;

/// Arrows of one answer.
const MAX_ARROWS: usize = 5000;

/// Samples, if the request has no number.
const SAMPLES: u32 = 1000;

/// The kinds of rows of an output.
fn kinds(content: Content) -> &'static [RowKind] {
    match content {
        Content::Threads => &[RowKind::Host, RowKind::Process, RowKind::Thread, RowKind::Phase],
        _ => &[RowKind::Host, RowKind::Cpu, RowKind::Disk],
    }
}

pub(super) async fn tree(request: OutputRequest, Parameters(query): Parameters<TreeQuery>) -> Answer {
    let content = request.output.content;
    let job = move |view: &ExperimentView<'_>| match content {
        Content::Requests => request_tree(view, query.window(view)),
        _ => Ok(row_tree(view, content, query.window(view))),
    };
    request.model(OutputKind::TimeGraph, job).await
}

/// Rows that live in a window, with those above them.
fn row_tree(view: &ExperimentView<'_>, content: Content, window: Window<SinceOrigin>) -> Value {
    let hosts = view.host_summaries();
    let is_alive = |row: &GraphRow| {
        row.begin.unwrap_or(SinceOrigin::MIN) <= window.end
            && window.start <= row.end.unwrap_or(SinceOrigin::MAX)
    };
    let of_kind = view.rows.all.iter().filter(|row| kinds(content).contains(&row.kind));
    let entry = |row: &GraphRow| {
        let clock = match (row.kind, hosts.get(row.host)) {
            (RowKind::Host, Some(host)) if host.is_reference => "reference".to_owned(),
            (RowKind::Host, Some(host)) => {
                host.likely_ns.map(|ns| format!("± {}", duration(ns))).unwrap_or_default()
            }
            _ => String::new(),
        };
        let mut metadata = json!({"host": [view.hosts[row.host].name]});
        for (name, value) in [
            ("tid", row.tid.map(i64::from)),
            ("pid", row.pid.map(i64::from)),
            ("cpu", row.cpu.map(i64::from)),
        ] {
            if let Some(value) = value {
                metadata[name] = json!([value]);
            }
        }
        if let Some(container) = &row.container {
            metadata["container"] = json!([container]);
        }
        json!({
            "id": row.id, "parentId": row.parent.map_or(-1, i64::from),
            "labels": [row.label, row.tid.map(|tid| tid.to_string()).unwrap_or_default(), clock],
            "start": view.unix_i64(row.begin.unwrap_or(view.extent.start)),
            "end": view.unix_i64(row.end.unwrap_or(view.extent.end)),
            "hasData": row.kind.has_states(), "metadata": metadata,
        })
    };
    let columns = [
        ("Name", "Host, process, thread", "STRING"),
        ("TID", "Number of the thread", "NUMBER"),
        ("Clock", "Likely error of the host's clock", "STRING"),
    ];
    let shown = of_kind.filter(|row| row.kind == RowKind::Host || is_alive(row));
    answer::tree(&columns, &shown.map(entry).collect::<Vec<_>>(), 2)
}

/// Requests that a window overlaps, below their services.
fn request_tree(view: &ExperimentView<'_>, window: Window<SinceOrigin>) -> Result<Value> {
    let all = view.request_list(&Arc::default())?;
    let is_inside = |it: &&RequestEntry| it.begin <= window.end && window.start <= it.end;
    let requests: Vec<&RequestEntry> = all.iter().filter(is_inside).take(MAX_REQUESTS).collect();
    let mut services: BTreeMap<&str, Window<SinceOrigin>> = BTreeMap::new();
    for it in &requests {
        let life = services.entry(&it.service).or_insert(Window::new(it.begin, it.end));
        *life = Window::new(life.start.min(it.begin), life.end.max(it.end));
    }
    // Requests have their numbers; services come after all of them.
    let first = all.iter().map(|it| it.request).max().unwrap_or(0) + 1;
    let number = |service: &str| first + services.keys().position(|it| *it == service).unwrap_or(0);
    let of_services = services.iter().map(|(service, life)| {
        let label = if service.is_empty() { "requests" } else { service };
        json!({"id": number(service), "parentId": -1, "labels": [label, "", ""],
               "start": view.unix_i64(life.start), "end": view.unix_i64(life.end), "hasData": false})
    });
    let of_requests = requests.iter().map(|it| {
        let label = format!("{} {} → {}", it.request, it.client, it.server);
        json!({"id": it.request, "parentId": number(&it.service),
               "labels": [label, duration(it.total_ns), ""],
               "start": view.unix_i64(it.begin), "end": view.unix_i64(it.end), "hasData": true})
    });
    let columns = [
        ("Request", "Client and server", "STRING"),
        ("Duration", "From the first call to the last", "STRING"),
        ("", "", "STRING"),
    ];
    Ok(answer::tree(&columns, &of_services.chain(of_requests).collect::<Vec<_>>(), 1))
}

/// Expressions on states.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct FilterQuery {
    filter_expressions_map: BTreeMap<String, Vec<String>>,
    #[serde(default, deserialize_with = "not_null")]
    strategy: Option<Strategy>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Strategy {
    Sampled,
    Deep,
}

#[derive(Debug, Deserialize)]
pub(super) struct StatesQuery {
    requested_timerange: Object<TimeRange>,
    requested_items: Vec<Int32>,
    #[serde(default, deserialize_with = "not_null")]
    filter_query_parameters: Option<Object<FilterQuery>>,
}

pub(super) async fn states(request: OutputRequest, Parameters(query): Parameters<StatesQuery>) -> Answer {
    request.require(OutputKind::TimeGraph)?;
    if query.requested_items.len() > MAX_ITEMS {
        return Err(Failure::wrong("Too many items at once").with_detail(format!("at most {MAX_ITEMS}")));
    }
    let content = request.output.content;
    let Object(range) = query.requested_timerange;
    let (filter, is_deep) = query.filter_query_parameters.map_or_else(Default::default, |Object(it)| {
        (Filter::of(&it.filter_expressions_map), it.strategy == Some(Strategy::Deep))
    });
    let job = move |view: &ExperimentView<'_>| -> Result<Value> {
        let (window, pixels) = (range.window(view), range.samples(SAMPLES));
        let viewport = Viewport { window, pixels, clock: Clock::Common };
        let items: Vec<i64> = query.requested_items.iter().map(|it| it.0).collect();
        let rows = match content {
            Content::Requests => path_states(view, &items, viewport, &filter)?,
            _ => {
                let is_shown =
                    |id: &u32| view.rows.get(*id).is_some_and(|row| kinds(content).contains(&row.kind));
                let ids: Vec<u32> =
                    items.iter().filter_map(|&id| u32::try_from(id).ok()).filter(is_shown).collect();
                let all = view.tagged_states(&ids, viewport, &filter, is_deep)?;
                ids.iter().zip(all).map(|(id, shapes)| row_states(view, *id, shapes)).collect()
            }
        };
        Ok(json!({"rows": rows}))
    };
    request.model(OutputKind::TimeGraph, job).await
}

/// The states of a row, with their tags.
fn row_states(view: &ExperimentView<'_>, id: u32, shapes: Vec<(i32, Shape)>) -> Value {
    let states = shapes.into_iter().map(|(tags, shape)| {
        let key = style_name(shape.style);
        state(view, Window::new(shape.start, shape.end), shape.label.as_deref(), key, tags)
    });
    json!({"entryId": id, "states": states.collect::<Vec<_>>()})
}

fn state(
    view: &ExperimentView<'_>,
    time: Window<SinceOrigin>,
    label: Option<&str>,
    key: &str,
    tags: i32,
) -> Value {
    let mut state = json!({
        "start": view.unix_i64(time.start), "end": view.unix_i64(time.end),
        "style": {"parentKey": key, "values": {}},
    });
    if let Some(label) = label.filter(|label| !label.is_empty()) {
        state["label"] = json!(label);
    }
    if tags != 0 {
        state["tags"] = json!(tags);
    }
    state
}

/// The steps of the paths of requests.
fn path_states(
    view: &ExperimentView<'_>,
    items: &[i64],
    viewport: Viewport,
    filter: &Filter,
) -> Result<Vec<Value>> {
    let window = viewport.window;
    let mut rows = Vec::new();
    for &item in items {
        let number = usize::try_from(item).unwrap_or(usize::MAX);
        // Other entries, and requests outside of the window, have no states.
        let Some(request) = view.request(number)? else { continue };
        let time = view.time_of(request);
        if time.start >= window.end || time.end < window.start {
            continue;
        }
        if rows.len() == MAX_PATHS {
            return Err(ApiError::wrong(format!("at most {MAX_PATHS} requests at once")));
        }
        let steps = view.steps_of(request)?;
        let mut states = Vec::new();
        let mut drawn = SinceOrigin::MIN;
        for step in steps.iter().filter(|step| step.end > window.start && step.begin < window.end) {
            // The first of the steps within a pixel stands for all.
            if step.end < drawn {
                continue;
            }
            drawn = step.begin.saturating_add(viewport.pixel());
            let label = match step.row {
                Some(row) => view.rows.title(row),
                None => view.hosts[step.host].name.clone(),
            };
            let texts = [("state", step.cause), ("label", &*label), ("detail", &*step.detail)];
            // No tags without expressions.
            let tags = filter.tags(Facts { texts: &texts, duration: step.end - step.begin });
            let time = Window::new(step.begin, step.end);
            states.push(state(view, time, Some(&label), styles::of_cause(step.cause), tags));
        }
        rows.push(json!({"entryId": item, "states": states}));
    }
    Ok(rows)
}

#[derive(Debug, Deserialize)]
pub(super) struct ArrowsQuery {
    requested_timerange: Object<TimeRange>,
}

pub(super) async fn arrows(request: OutputRequest, Parameters(query): Parameters<ArrowsQuery>) -> Answer {
    request.require(OutputKind::TimeGraph)?;
    if request.output.content != Content::Threads {
        return Ok(completed(&json!([])));
    }
    let Object(range) = query.requested_timerange;
    let job = move |view: &ExperimentView<'_>| {
        let all = view.messages()?;
        let of = |messages| view.arrows(messages, range.window(view), Clock::Common, false, MAX_ARROWS).2;
        let arrows = of(&all.all).into_iter().chain(of(&all.mpi));
        // A packet that an idle CPU received has no thread: it ends at the host.
        let entry = |id: u32| match view.rows.get(id) {
            Some(row) if row.kind == RowKind::Cpu => view.rows.of_host(row.host).unwrap_or(id),
            _ => id,
        };
        let arrows = arrows.map(|arrow| {
            let key = if arrow.is_inverted() { styles::INVERTED } else { styles::MESSAGE };
            let ([from, to], [sent, received]) =
                (arrow.rows.map(entry), arrow.times.map(|at| view.unix_i64(at)));
            json!({"sourceId": from, "targetId": to, "start": sent, "end": received,
                   "style": {"parentKey": key, "values": {}}})
        });
        Ok(arrows.collect())
    };
    request.model(OutputKind::TimeGraph, job).await
}

#[derive(Debug, Deserialize)]
pub(super) struct TooltipQuery {
    #[serde(rename = "requested_times")]
    times: Vec<Int64>,
    #[serde(rename = "requested_items")]
    items: Vec<Int32>,
    #[serde(rename = "requested_element")]
    element: Object<Element>,
}

/// The element at the pointer.
#[derive(Debug, Deserialize)]
struct Element {
    #[serde(rename = "elementType")]
    kind: ElementType,
    time: Int64,
    duration: Int64,
    #[serde(default, deserialize_with = "not_null", rename = "entryId")]
    _entry: Option<Int64>,
    #[serde(default, deserialize_with = "not_null", rename = "destinationId")]
    _destination: Option<Int64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ElementType {
    #[serde(rename = "STATE", alias = "state")]
    State,
    #[serde(rename = "ANNOTATION", alias = "annotation")]
    Annotation,
    #[serde(rename = "ARROW", alias = "arrow")]
    Arrow,
}

pub(super) async fn tooltip(request: OutputRequest, Parameters(query): Parameters<TooltipQuery>) -> Answer {
    let content = request.output.content;
    let job = move |view: &ExperimentView<'_>| -> Result<Value> {
        let Object(element) = &query.element;
        let at = query.times.first().map_or(element.time.0, |it| it.0);
        let at = view.since(UnixNs(at.into()));
        let item = query.items.first().map(|it| it.0);
        let fields = match element.kind {
            ElementType::State if content == Content::Requests => of_step(view, item, at)?,
            ElementType::State => of_state(view, item, at)?,
            ElementType::Arrow => of_message(view, element)?,
            ElementType::Annotation => None,
        };
        let fields = fields.unwrap_or_default().into_iter();
        Ok(Value::Object(fields.map(|(name, value)| (name, Value::String(value))).collect()))
    };
    request.model(OutputKind::TimeGraph, job).await
}

/// Names and values; `None` if there is nothing at the pointer.
type Fields = Option<Vec<(String, String)>>;

fn of_state(view: &ExperimentView<'_>, item: Option<i64>, at: SinceOrigin) -> Result<Fields> {
    let Some(row) = item.and_then(|item| u32::try_from(item).ok()) else { return Ok(None) };
    let state = match view.state_at(row, at, Clock::Common, Which::At) {
        Ok(state) => state,
        // Between states.
        Err(error) if error.status == StatusCode::NOT_FOUND => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut fields = vec![("State".to_owned(), state.state.to_owned())];
    fields.extend(state.fields);
    fields.push(("Duration".to_owned(), duration(state.end.saturating_since(state.begin))));
    fields.push(("Common clock".to_owned(), state.times.common));
    fields.push(("Own clock".to_owned(), state.times.own));
    fields.extend(state.times.likely.map(|it| ("Likely error".to_owned(), it)));
    fields.extend(state.times.sure.map(|it| ("Guaranteed".to_owned(), it)));
    Ok(Some(fields))
}

fn of_step(view: &ExperimentView<'_>, item: Option<i64>, at: SinceOrigin) -> Result<Fields> {
    let Some(number) = item.and_then(|item| usize::try_from(item).ok()) else { return Ok(None) };
    let Some(request) = view.request(number)? else { return Ok(None) };
    let steps = view.steps_of(request)?;
    let Some(step) = steps.iter().find(|step| step.begin <= at && at < step.end) else { return Ok(None) };
    let mut fields = vec![
        ("Cause".to_owned(), step.cause.to_owned()),
        ("Thread".to_owned(), step.row.map(|row| view.rows.title(row)).unwrap_or_default()),
        ("Duration".to_owned(), duration(step.end - step.begin)),
    ];
    if !step.detail.is_empty() {
        fields.push(("Detail".to_owned(), step.detail.clone()));
    }
    fields.extend(step.uncertainty_ns.map(|ns| ("Uncertainty".to_owned(), format!("± {}", duration(ns)))));
    Ok(Some(fields))
}

fn of_message(view: &ExperimentView<'_>, element: &Element) -> Result<Fields> {
    let sent = view.since(UnixNs(element.time.0.into()));
    let received = sent.saturating_add(element.duration.0);
    let found = view.messages()?.all.iter().find(|it| it.common == [sent, received]);
    let Some(message) = found else { return Ok(None) };
    let titles = message.rows.map(|row| view.rows.title(row));
    let mut fields = vec![
        ("Message".to_owned(), titles.join(" → ")),
        ("Latency".to_owned(), duration(element.duration.0)),
    ];
    if let Some((lo, hi, likely)) = view.bounds(message, Clock::Common) {
        fields.push(("Likely error".to_owned(), format!("± {}", duration(likely))));
        fields.push(("Guaranteed".to_owned(), format!("−{} … +{}", duration(-lo), duration(hi))));
    }
    Ok(Some(fields))
}
