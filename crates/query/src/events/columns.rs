//! The columns of events: what all of them have, and the fields and contexts of those of one name.
//!
//! A field of several classes of one name (of several hosts, or versions of a tracer) is one column: of the
//! type that all of them have, else text.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use isochrone_ctf::schema::{FieldClass, IntegerClass, IntegerForm, StructClass, shown_name};

use super::choose::all_names;
use crate::error::QueryError;
use crate::instants::Shown;
use crate::traced::View;

/// The columns of a table of events.
#[derive(Debug)]
pub(crate) struct EventColumns {
    pub(crate) schema: SchemaRef,
    pub(crate) columns: Vec<EventColumn>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventColumn {
    /// The host that the trace names.
    Host,
    /// When it happened.
    Time(Shown),
    /// The name of its class.
    Event,
    /// The CPU of its packet, else what it says itself.
    Cpu,
    /// A context, by the first of its names that there is.
    Context(&'static [&'static str], Kind),
    /// The directory of the trace.
    Trace,
    /// All fields, as JSON.
    Fields,
    /// A field of its payload.
    Payload(String, Kind),
    /// Another context.
    OtherContext(String, Kind),
}

/// What a field becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Every integer but unsigned ones of 64 bits.
    Integer,
    /// Unsigned integers of 64 bits.
    Unsigned,
    /// Truth values.
    Boolean,
    /// Floating point numbers.
    Float,
    /// Text.
    Text,
    /// Everything else, as JSON.
    Json,
    /// The label of an integer that has some.
    Label,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
            Self::Boolean => DataType::Boolean,
            Self::Float => DataType::Float64,
            Self::Text | Self::Json | Self::Label => DataType::Utf8,
        }
    }

    /// The kind of a field of either kind.
    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Json }
    }

    fn of(class: &FieldClass) -> Self {
        match class {
            FieldClass::Integer(class) | FieldClass::VarInteger(class) => Self::of_integer(class),
            FieldClass::Float(class) if class.size <= 64 => Self::Float,
            FieldClass::String(_) | FieldClass::Text(_) => Self::Text,
            FieldClass::Optional(optional) => Self::of(&optional.class),
            _ => Self::Json,
        }
    }

    fn of_integer(class: &IntegerClass) -> Self {
        match class.form {
            IntegerForm::Boolean => Self::Boolean,
            _ if !class.signed && class.size >= 64 => Self::Unsigned,
            _ => Self::Integer,
        }
    }
}

/// Contexts that all tables of events have: of the kernel's tracer, then of programs'.
const TID: EventColumn = EventColumn::Context(&["tid", "vtid"], Kind::Integer);
const PID: EventColumn = EventColumn::Context(&["pid", "vpid"], Kind::Integer);
const PROCNAME: EventColumn = EventColumn::Context(&["procname"], Kind::Text);

impl EventColumns {
    /// What all events have.
    pub(super) fn of_all() -> Self {
        let mut columns = common();
        columns.push(("fields".to_owned(), EventColumn::Fields));
        Self::new(columns)
    }

    /// What those of one name have. Linear in the classes of events.
    ///
    /// # Errors
    /// There are none of that name.
    pub(super) fn of(view: &View<'_>, name: &str) -> Result<Self, QueryError> {
        let mut payload = Found::default();
        let mut contexts = Found::default();
        let mut is_there = false;
        for stream in view.traces.iter().flat_map(|trace| &trace.trace().schema().streams) {
            for class in stream.events.iter().filter(|class| class.name.as_deref() == Some(name)) {
                is_there = true;
                payload.add(class.payload.as_ref());
                contexts.add(class.specific_context.as_ref());
                contexts.add(stream.common_context.as_ref());
            }
        }
        if !is_there {
            let mut known: Vec<String> = all_names(view).map(ToOwned::to_owned).collect();
            known.sort_unstable();
            known.dedup();
            return Err(QueryError::UnknownEvent { name: name.to_owned(), known });
        }
        let mut columns = common();
        let is_taken = |columns: &[(String, EventColumn)], name: &str| {
            columns.iter().any(|(taken, _)| taken.eq_ignore_ascii_case(name))
        };
        for (field, kind, has_labels) in payload.fields {
            let shown = if is_taken(&columns, &field) { format!("field_{field}") } else { field.clone() };
            let label = has_labels.then(|| format!("{shown}_label"));
            columns.push((shown, EventColumn::Payload(field.clone(), kind)));
            columns.extend(label.map(|label| (label, EventColumn::Payload(field, Kind::Label))));
        }
        for (context, kind, _) in contexts.fields {
            let is_common = ["tid", "vtid", "pid", "vpid", "procname"].contains(&context.as_str());
            let shown = match is_taken(&columns, &context) {
                true if is_common => continue,
                true => format!("context_{context}"),
                false => context.clone(),
            };
            columns.push((shown, EventColumn::OtherContext(context, kind)));
        }
        Ok(Self::new(columns))
    }

    fn new(columns: Vec<(String, EventColumn)>) -> Self {
        let fields: Vec<Field> = columns.iter().map(|(name, column)| column.field(name)).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        Self { schema: Arc::new(Schema::new(fields)), columns }
    }
}

/// Fields by name, in the order in which they were found.
#[derive(Default)]
struct Found {
    /// With their kinds, and whether numbers have labels.
    fields: Vec<(String, Kind, bool)>,
    indices: HashMap<String, usize>,
}

impl Found {
    fn add(&mut self, members: Option<&StructClass>) {
        for member in members.into_iter().flat_map(|members| &members.members) {
            let name = shown_name(&member.name);
            let kind = Kind::of(&member.class);
            let has_labels = matches!(&member.class, FieldClass::Integer(class) | FieldClass::VarInteger(class)
                if class.mappings.is_some() && kind != Kind::Boolean);
            match self.indices.get(name) {
                Some(&index) => {
                    let known = &mut self.fields[index];
                    (known.1, known.2) = (known.1.and(kind), known.2 || has_labels);
                }
                None => {
                    self.indices.insert(name.to_owned(), self.fields.len());
                    self.fields.push((name.to_owned(), kind, has_labels));
                }
            }
        }
    }
}

/// What all tables of events begin with.
fn common() -> Vec<(String, EventColumn)> {
    let time = |it: Shown| (it.field("time").name().clone(), EventColumn::Time(it));
    let named = |name: &str, column| (name.to_owned(), column);
    let mut columns = vec![named("host", EventColumn::Host)];
    columns.extend(Shown::ALL.map(time));
    columns.extend([
        named("event", EventColumn::Event),
        named("cpu", EventColumn::Cpu),
        named("pid", PID),
        named("tid", TID),
        named("procname", PROCNAME),
        named("trace", EventColumn::Trace),
    ]);
    columns
}

impl EventColumn {
    fn field(&self, name: &str) -> Field {
        let of = match self {
            Self::Time(it) => return it.field("time"),
            Self::Host | Self::Event | Self::Trace | Self::Fields => DataType::Utf8,
            Self::Cpu => DataType::UInt32,
            Self::Context(_, kind) | Self::Payload(_, kind) | Self::OtherContext(_, kind) => kind.data_type(),
        };
        Field::new(name, of, true)
    }
}
