//! Events of packets, as columns: fields that no column needs are not decoded.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use datafusion::common::Result;
use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::schema::{FloatClass, IntegerClass, Scope};
use isochrone_ctf::{Diagnostic, Event, FieldRef, Packet, Text, Visitor};
use isochrone_experiment::TimedTrace;
use isochrone_kernel::cpu_of;
use isochrone_time::RawNs;

use super::columns::{EventColumn, EventColumns, Kind};
use crate::instants::Shown;
use crate::scan::{BATCH_ROWS, Output, Piece};

/// Reads the events of some packets of a stream. `names`: the classes that are wanted (`None`: all), and
/// whether those without a name are. Returns what could not be read.
pub(super) fn read(
    timed: &TimedTrace<'_>,
    piece: Piece,
    (columns, wanted): (&EventColumns, &[usize]),
    names: (Option<&[String]>, bool),
    out: &mut Output<'_>,
) -> Result<Vec<Diagnostic>> {
    let trace = timed.trace();
    let stream = piece.part as usize;
    let plan = trace.stream_plan(stream);
    let columns: Vec<&EventColumn> = wanted.iter().map(|&column| &columns.columns[column]).collect();
    let classes: Vec<Option<Class>> =
        plan.events.iter().map(|class| Class::new(class, plan, &columns, names)).collect();
    let path = trace.path().display().to_string();
    let context = Context { timed, path: &path, columns: &columns };
    let mut events = trace.events(stream).within(piece.from as usize..piece.to as usize);
    let mut rows = Rows::new(&columns);
    let (mut packet, mut cpu): (*const Packet, Option<u32>) = (std::ptr::null(), None);
    let mut seen = 0;
    let bytes = trace.streams()[stream].packets[piece.from as usize..piece.to as usize].iter();
    out.reads((piece.to - piece.from) as usize, bytes.map(|packet| packet.total_bits / 8).sum());
    for event in events.by_ref() {
        seen += 1;
        let Some(Some(class)) = classes.get(event.class().index) else { continue };
        if !std::ptr::eq(packet, event.packet()) {
            packet = event.packet();
            cpu = cpu_of(trace, stream, event.packet());
        }
        rows.add(&context, class, &event, cpu);
        if rows.count == BATCH_ROWS {
            let (full, count) = rows.take();
            if out.send(full, count)?.is_err() {
                return Ok(Vec::new());
            }
        }
    }
    out.looks_at(seen);
    if rows.count > 0 {
        let (rest, count) = rows.take();
        // That nobody wants more is of no interest any more.
        let _ = out.send(rest, count)?;
    }
    Ok(events.diagnostics().to_vec())
}

/// What all rows have in common.
struct Context<'c> {
    timed: &'c TimedTrace<'c>,
    path: &'c str,
    columns: &'c [&'c EventColumn],
}

/// A class of events that is wanted.
struct Class {
    name: Option<Box<str>>,
    /// By column: the field.
    fields: Vec<Option<FieldRef>>,
    /// Where an event says on which CPU it was recorded.
    cpu: Option<FieldRef>,
}

impl Class {
    fn new(
        class: &EventPlan,
        stream: &StreamPlan,
        columns: &[&EventColumn],
        (names, has_nameless): (Option<&[String]>, bool),
    ) -> Option<Self> {
        let is_wanted = match (class.name.as_deref(), names) {
            (Some(name), Some(names)) => names.iter().any(|wanted| wanted == name),
            (None, Some(_)) => has_nameless,
            (_, None) => true,
        };
        if !is_wanted {
            return None;
        }
        let field = |column: &&EventColumn| match column {
            EventColumn::Context(names, _) => names.iter().find_map(|name| class.context_field(stream, name)),
            EventColumn::OtherContext(name, _) => class.context_field(stream, name),
            EventColumn::Payload(name, _) => class.payload_field(stream, &[name.as_str()]),
            _ => None,
        };
        Some(Self {
            name: class.name.clone(),
            fields: columns.iter().map(field).collect(),
            cpu: class.context_field(stream, "cpu_id"),
        })
    }
}

/// A column that grows.
enum Column {
    Text(StringBuilder),
    Instant(Shown, Vec<Option<i64>>),
    Small(UInt32Builder),
    Integer(Int64Builder),
    Unsigned(UInt64Builder),
    Boolean(BooleanBuilder),
    Float(Float64Builder),
}

impl Column {
    fn new(of: &EventColumn) -> Self {
        match of {
            EventColumn::Time(it) => Self::Instant(*it, Vec::with_capacity(BATCH_ROWS)),
            EventColumn::Cpu => Self::Small(UInt32Builder::new()),
            EventColumn::Host | EventColumn::Event | EventColumn::Trace | EventColumn::Fields => {
                Self::Text(StringBuilder::new())
            }
            EventColumn::Context(_, kind)
            | EventColumn::Payload(_, kind)
            | EventColumn::OtherContext(_, kind) => match kind {
                Kind::Integer => Self::Integer(Int64Builder::new()),
                Kind::Unsigned => Self::Unsigned(UInt64Builder::new()),
                Kind::Boolean => Self::Boolean(BooleanBuilder::new()),
                Kind::Float => Self::Float(Float64Builder::new()),
                Kind::Text | Kind::Json | Kind::Label => Self::Text(StringBuilder::new()),
            },
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(of) => Arc::new(of.finish()),
            Self::Instant(it, values) => it.array(std::mem::take(values)),
            Self::Small(of) => Arc::new(of.finish()),
            Self::Integer(of) => Arc::new(of.finish()),
            Self::Unsigned(of) => Arc::new(of.finish()),
            Self::Boolean(of) => Arc::new(of.finish()),
            Self::Float(of) => Arc::new(of.finish()),
        }
    }
}

/// Rows that have not been given out.
struct Rows {
    columns: Vec<Column>,
    count: usize,
    json: Vec<u8>,
}

impl Rows {
    fn new(columns: &[&EventColumn]) -> Self {
        Self { columns: columns.iter().map(|of| Column::new(of)).collect(), count: 0, json: Vec::new() }
    }

    fn add(&mut self, context: &Context<'_>, class: &Class, event: &Event<'_>, cpu: Option<u32>) {
        let timed = context.timed;
        for ((column, of), field) in self.columns.iter_mut().zip(context.columns).zip(&class.fields) {
            match (column, of) {
                (Column::Instant(_, values), EventColumn::Time(Shown::Raw)) => {
                    values.push(timed.raw(event).map(RawNs::ns));
                }
                (Column::Instant(_, values), EventColumn::Time(Shown::Common)) => {
                    values.push(timed.unix(event).and_then(crate::instants::in_range));
                }
                (Column::Instant(_, values), EventColumn::Time(it)) => {
                    values.push(it.of_stamp(timed.stamp(event), None));
                }
                (Column::Small(values), _) => {
                    let own = || u32::try_from(event.unsigned(class.cpu.as_ref()?)?).ok();
                    values.append_option(cpu.or_else(own));
                }
                (Column::Text(values), EventColumn::Host) => values.append_value(&timed.host),
                (Column::Text(values), EventColumn::Event) => values.append_option(class.name.as_deref()),
                (Column::Text(values), EventColumn::Trace) => values.append_value(context.path),
                (Column::Text(values), EventColumn::Fields) => {
                    self.json.clear();
                    let shown =
                        event.visit(Scope::Payload, &mut JsonVisitor::new(&mut self.json, Floats::Numbers));
                    let text = shown.is_ok() && !self.json.is_empty();
                    values.append_option(text.then(|| String::from_utf8_lossy(&self.json)));
                }
                (
                    column,
                    EventColumn::Payload(_, kind)
                    | EventColumn::Context(_, kind)
                    | EventColumn::OtherContext(_, kind),
                ) => value(column, *kind, event, field.as_ref(), &mut self.json),
                // Columns were made of these very descriptions.
                _ => {}
            }
        }
        self.count += 1;
    }

    fn take(&mut self) -> (Vec<ArrayRef>, usize) {
        (self.columns.iter_mut().map(Column::finish).collect(), std::mem::take(&mut self.count))
    }
}

/// Appends the value of a field; null where the event has none.
fn value(column: &mut Column, kind: Kind, event: &Event<'_>, field: Option<&FieldRef>, json: &mut Vec<u8>) {
    match column {
        Column::Integer(values) => values.append_option(field.and_then(|field| event.signed(field))),
        Column::Unsigned(values) => values.append_option(field.and_then(|field| event.unsigned(field))),
        Column::Boolean(values) => {
            values.append_option(field.and_then(|field| event.unsigned(field)).map(|it| it != 0));
        }
        Column::Float(values) => {
            let mut number = Number(None);
            let _ = field.and_then(|field| event.visit_field(field, &mut number));
            values.append_option(number.0);
        }
        Column::Text(values) if kind == Kind::Json => {
            json.clear();
            let visited = field
                .and_then(|field| event.visit_field(field, &mut JsonVisitor::new(json, Floats::Numbers)));
            values.append_option(visited.map(|()| String::from_utf8_lossy(json)));
        }
        Column::Text(values) => {
            let mut found = Words(None);
            let _ = field.and_then(|field| event.visit_field(field, &mut found));
            values.append_option(found.0);
        }
        Column::Instant(..) | Column::Small(_) => {}
    }
}

/// Takes a floating point number.
struct Number(Option<f64>);

impl Visitor for Number {
    fn float(&mut self, _: &FloatClass, value: f64) {
        self.0 = Some(value);
    }
}

/// Takes text, or the first label of a number.
struct Words(Option<String>);

impl Visitor for Words {
    fn text(&mut self, text: Text<'_>) {
        self.0 = Some(String::from_utf8_lossy(text.shown()).into_owned());
    }

    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.0 = class.labels(value.into()).next().map(ToOwned::to_owned);
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.0 = class.labels(value.into()).next().map(ToOwned::to_owned);
    }
}
