//! Typed values: what a cell of a table is to a consumer of LAMI.

use isochrone_analysis::Cell;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A value. What is not known is [`Object::Unknown`], what does not apply [`Object::Empty`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Empty,
    Unknown,
    Bool(bool),
    /// A figure of a class that has nothing but a value: `number`, `duration`, `size`, `timestamp`.
    Value(&'static str, Cell),
    String(String),
    Ratio(f64),
    /// Unix ns.
    TimeRange(i128, i128),
    /// Something of a class that has nothing but a name: `syscall`, `disk`, `netif`.
    Named(&'static str, String),
    Process {
        name: Cell,
        pid: Option<Cell>,
        tid: Option<Cell>,
    },
    Path(Cell),
    Fd(Cell),
    Irq {
        hard: bool,
        number: Cell,
        name: Cell,
    },
    Cpu(Cell),
}

/// The class of a result's time range: an object within an object.
#[derive(Serialize)]
struct Timestamp {
    class: &'static str,
    value: i128,
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::Empty {
            return serializer.serialize_none();
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("class", self.class())?;
        match self {
            Self::Empty | Self::Unknown => {}
            Self::Bool(value) => map.serialize_entry("value", value)?,
            Self::Value(_, value) => map.serialize_entry("value", value)?,
            Self::String(value) => map.serialize_entry("value", value)?,
            Self::Ratio(value) => map.serialize_entry("value", value)?,
            Self::TimeRange(begin, end) => {
                let at = |value| Timestamp { class: "timestamp", value };
                map.serialize_entry("begin", &at(*begin))?;
                map.serialize_entry("end", &at(*end))?;
            }
            Self::Named(_, name) => map.serialize_entry("name", name)?,
            Self::Process { name, pid, tid } => {
                for (key, value) in [("name", Some(name)), ("pid", pid.as_ref()), ("tid", tid.as_ref())] {
                    if let Some(value) = value.filter(|value| !value.is_missing()) {
                        map.serialize_entry(key, value)?;
                    }
                }
            }
            Self::Path(path) => map.serialize_entry("path", path)?,
            Self::Fd(fd) => map.serialize_entry("fd", fd)?,
            Self::Irq { hard, number, name } => {
                map.serialize_entry("hard", hard)?;
                map.serialize_entry("nr", number)?;
                if !name.is_missing() {
                    map.serialize_entry("name", name)?;
                }
            }
            Self::Cpu(id) => map.serialize_entry("id", id)?,
        }
        map.end()
    }
}

impl Object {
    fn class(&self) -> &'static str {
        match self {
            Self::Empty | Self::Unknown => "unknown",
            Self::Bool(_) => "bool",
            Self::Value(class, _) | Self::Named(class, _) => class,
            Self::String(_) => "string",
            Self::Ratio(_) => "ratio",
            Self::TimeRange(..) => "time-range",
            Self::Process { .. } => "process",
            Self::Path(_) => "path",
            Self::Fd(_) => "fd",
            Self::Irq { .. } => "irq",
            Self::Cpu(_) => "cpu",
        }
    }
}
