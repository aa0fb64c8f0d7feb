//! OpenTelemetry's protocol (OTLP) as lines of JSON: requests as traces, and the steps of their critical
//! paths as spans below them. Jaeger, Tempo and OpenTelemetry's collector read it.
//!
//! Made of the tables `requests` and `path` of the report `critical-path`. Each request is one trace on one
//! line: a span of the client, and below it a span for each step, of the program and the host that it was
//! on. Attributes have the names of OpenTelemetry's semantic conventions where these have one, else they
//! begin with `isochrone.`.
//!
//! Source: `opentelemetry-proto`, `trace/v1/trace.proto`, and the JSON encoding of the specification (ids in
//! base 16, integers of 64 bits as texts).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use isochrone_analysis::{Cell, Report, Table};
use serde_json::{Value, json};

use crate::ExportError;

/// Who a span is of: host, number of the process, program.
type Resource = (Option<String>, Option<i128>, Option<String>);

/// Kinds of spans: within a program, and of one that sends a request.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// What stands for a program where there is none: packets, and interrupts.
const NETWORK: &str = "network";
const KERNEL: &str = "kernel";
/// What OpenTelemetry calls a program whose name is unknown.
const UNKNOWN_SERVICE: &str = "unknown_service";

/// Writes the requests of a report, one a line, by their numbers; returns how many. Their times are as the
/// report has them: on one clock where its hosts are synchronized. Linear in the steps.
///
/// # Errors
/// The output cannot be written.
pub fn write(report: &Report, to: &mut dyn Write) -> Result<usize, ExportError> {
    let table = |name: &str| report.tables.iter().find(|table| table.name == name);
    let Some(requests) = table("requests").map(Columns) else { return Ok(0) };
    let steps = table("path").map(Columns);
    let mut of_request: BTreeMap<i128, Vec<usize>> = BTreeMap::new();
    for (steps, row) in steps.iter().flat_map(|steps| (0..steps.0.rows.len()).map(move |row| (steps, row))) {
        of_request.entry(steps.int(row, "request").unwrap_or_default()).or_default().push(row);
    }
    for row in 0..requests.0.rows.len() {
        let number = requests.int(row, "request").unwrap_or_default();
        let rows = of_request.get(&number).map_or(&[][..], Vec::as_slice);
        let trace = Trace { number, start: requests.int(row, "begin_ns").unwrap_or_default() };
        let mut spans: BTreeMap<Resource, Vec<Value>> = BTreeMap::new();
        let (resource, root) = trace.request(&requests, row);
        spans.entry(resource).or_default().push(root);
        for (index, &row) in (1..).zip(rows) {
            let Some(steps) = &steps else { break };
            let (resource, step) = trace.step(steps, row, index);
            spans.entry(resource).or_default().push(step);
        }
        let resources: Vec<Value> = spans.into_iter().map(|(of, spans)| resource_spans(of, &spans)).collect();
        serde_json::to_writer(&mut *to, &json!({ "resourceSpans": resources }))
            .map_err(std::io::Error::from)?;
        to.write_all(b"\n")?;
    }
    Ok(requests.0.rows.len())
}

/// A request as a trace.
struct Trace {
    number: i128,
    start: i128,
}

impl Trace {
    /// Its id, of 16 bytes: when it starts, and its number.
    fn id(&self) -> String {
        format!("{:016x}{:016x}", self.start as u64, self.number as u64)
    }

    /// The id of one of its spans, of 8 bytes; 0: of the request itself.
    fn span_id(&self, index: u32) -> String {
        format!("{:08x}{:08x}", self.number as u32, index.wrapping_add(1))
    }

    fn request(&self, requests: &Columns<'_>, row: usize) -> (Resource, Value) {
        let text = |name: &str| requests.text(row, name);
        let service = text("service");
        let server = service.as_deref().and_then(|it| it.parse::<std::net::SocketAddr>().ok());
        let mut attributes = vec![attribute("isochrone.request", &int(self.number))];
        let mut add =
            |key: &str, value: Option<Value>| attributes.extend(value.map(|it| attribute(key, &it)));
        add("thread.id", requests.int(row, "client_tid").map(int));
        add("server.address", server.map(|it| string(&it.ip().to_string())));
        add("server.port", server.map(|it| int(it.port().into())));
        add("isochrone.server.host", text("server_host").as_deref().map(string));
        add("isochrone.server.program", text("server_comm").as_deref().map(string));
        let name = match (&service, server) {
            (Some(service), Some(_)) => format!("request to {service}"),
            (Some(phase), None) => phase.clone(),
            (None, _) => "request".to_owned(),
        };
        let mut span = self.span(requests, row, 0, &name, &attributes);
        span["kind"] = if server.is_some() { CLIENT } else { INTERNAL }.into();
        let resource = (text("client_host"), requests.int(row, "client_pid"), text("client_comm"));
        (resource, span)
    }

    fn step(&self, steps: &Columns<'_>, row: usize, index: u32) -> (Resource, Value) {
        let text = |name: &str| steps.text(row, name);
        let cause = text("cause").unwrap_or_else(|| "unknown".to_owned());
        let mut attributes = Vec::new();
        let mut add =
            |key: &str, value: Option<Value>| attributes.extend(value.map(|it| attribute(key, &it)));
        add("isochrone.cause", Some(string(&cause)));
        add("isochrone.detail", text("detail").as_deref().map(string));
        add("thread.id", steps.int(row, "tid").map(int));
        for name in ["uncertainty_ns", "queue_ns", "wire_ns"] {
            add(&format!("isochrone.{name}"), steps.int(row, name).map(int));
        }
        let mut span = self.span(steps, row, index, &cause, &attributes);
        span["parentSpanId"] = self.span_id(0).into();
        span["kind"] = INTERNAL.into();
        // Packets, and what the kernel does by itself, are of no program.
        let program = match steps.cell(row, "comm") {
            Some(Cell::NotApplicable) if cause == NETWORK => Some(NETWORK.to_owned()),
            Some(Cell::NotApplicable) => Some(KERNEL.to_owned()),
            _ => text("comm"),
        };
        ((text("host"), steps.int(row, "pid"), program), span)
    }

    fn span(&self, of: &Columns<'_>, row: usize, index: u32, name: &str, attributes: &[Value]) -> Value {
        let ns = |column: &str| of.int(row, column).unwrap_or_default().to_string();
        json!({
            "traceId": self.id(),
            "spanId": self.span_id(index),
            "name": name,
            "startTimeUnixNano": ns("begin_ns"),
            "endTimeUnixNano": ns("end_ns"),
            "attributes": attributes,
        })
    }
}

fn resource_spans((host, pid, program): Resource, spans: &[Value]) -> Value {
    let program = program.as_deref().unwrap_or(UNKNOWN_SERVICE);
    let mut attributes = vec![attribute("service.name", &string(program))];
    attributes.extend(host.map(|host| attribute("host.name", &string(&host))));
    attributes.extend(pid.map(|pid| attribute("process.pid", &int(pid))));
    json!({
        "resource": { "attributes": attributes },
        "scopeSpans": [{
            "scope": { "name": "isochrone", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans,
        }],
    })
}

fn attribute(key: &str, value: &Value) -> Value {
    json!({ "key": key, "value": value })
}

fn string(text: &str) -> Value {
    json!({ "stringValue": text })
}

fn int(number: i128) -> Value {
    json!({ "intValue": number.to_string() })
}

/// A table, by the names of its columns. What a cell does not know is left out.
struct Columns<'t>(&'t Table);

impl Columns<'_> {
    fn cell(&self, row: usize, column: &str) -> Option<Cell> {
        let index = self.0.columns.iter().position(|it| it.name == column)?;
        self.0.rows.cell(row, index)
    }

    fn int(&self, row: usize, column: &str) -> Option<i128> {
        match self.cell(row, column)? {
            Cell::Int(number) => Some(number),
            _ => None,
        }
    }

    fn text(&self, row: usize, column: &str) -> Option<String> {
        self.cell(row, column)?.as_text().map(Cow::into_owned)
    }
}
