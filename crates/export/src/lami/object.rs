//! Typed values: what a cell of a table is to a consumer of LAMI.

use isochrone_analysis::Cell;
use isochrone_time::{UnixNs, Window};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A value: [`Object::Unknown`] where it is unknown, [`Object::Empty`] where it does not apply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Empty,
    Unknown,
    Bool(bool),
    String(String),
    Ratio(f64),
    TimeRange(Window<UnixNs>),
    /// An object of a class that has one member, and the key of that member.
    One(&'static str, &'static str, Cell),
    /// An object of a class that has nothing but a name: `syscall`, `disk`, `netif`.
    Named(&'static str, String),
    Process {
        name: Cell,
        pid: Cell,
        tid: Cell,
    },
    Irq {
        hard: bool,
        number: Cell,
        name: Cell,
    },
}

/// An end of a time range: an object within an object.
#[derive(Serialize)]
struct Timestamp {
    class: &'static str,
    value: UnixNs,
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
            Self::String(value) => map.serialize_entry("value", value)?,
            Self::Ratio(value) => map.serialize_entry("value", value)?,
            Self::TimeRange(range) => {
                for (key, value) in [("begin", range.start), ("end", range.end)] {
                    map.serialize_entry(key, &Timestamp { class: "timestamp", value })?;
                }
            }
            Self::One(_, key, value) => map.serialize_entry(key, value)?,
            Self::Named(_, name) => map.serialize_entry("name", name)?,
            Self::Process { name, pid, tid } => {
                let members = [("name", name), ("pid", pid), ("tid", tid)];
                for (key, value) in members.into_iter().filter(|(_, value)| !value.is_missing()) {
                    map.serialize_entry(key, value)?;
                }
            }
            Self::Irq { hard, number, name } => {
                map.serialize_entry("hard", hard)?;
                map.serialize_entry("nr", number)?;
                if !name.is_missing() {
                    map.serialize_entry("name", name)?;
                }
            }
        }
        map.end()
    }
}

impl Object {
    fn class(&self) -> &'static str {
        match self {
            Self::Empty | Self::Unknown => "unknown",
            Self::Bool(_) => "bool",
            Self::String(_) => "string",
            Self::Ratio(_) => "ratio",
            Self::TimeRange(_) => "time-range",
            Self::One(class, ..) | Self::Named(class, _) => class,
            Self::Process { .. } => "process",
            Self::Irq { .. } => "irq",
        }
    }
}
