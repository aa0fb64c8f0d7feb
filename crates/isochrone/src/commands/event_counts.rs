//! `isochrone events --count`: how many events there are, by their fields.

use std::borrow::Cow;
use std::io::{self, Write};

use isochrone_analysis::csv::cell;
use isochrone_ctf::Event;
use isochrone_experiment::TimedTrace;
use isochrone_periods::{Field, Fields, Value};
use rustc_hash::FxHashMap;

use super::filter::BoundFields;
use crate::arguments::EventFormat;
use crate::render::figures;
use crate::render::plain::plain;
use crate::render::table::Table;

/// What each event has, by `$` and these names.
const EACH_HAS: [&str; 3] = ["host", "event", "cpu"];
/// Names of columns that are of no field of that name.
const TAKEN: [&str; 4] = ["host", "event", "cpu", "count"];

/// The counts of events by the values of some fields. Memory is linear in the combinations of values.
pub(super) struct Counts {
    names: Vec<String>,
    fields: BoundFields,
    /// `None`: the event has no such field, or one that is neither a number nor a text.
    by_values: FxHashMap<Vec<Option<Value>>, u64>,
}

impl Counts {
    /// Counts by fields; by host and name where there are none.
    ///
    /// # Errors
    /// No event has one of them.
    pub(super) fn new(by: &[Field], sources: &[TimedTrace<'_>]) -> anyhow::Result<Self> {
        let usual = [Field::Host, Field::Name];
        let by = if by.is_empty() { &usual } else { by };
        // A field that was named twice is there once.
        let fields: Fields = by.iter().cloned().collect();
        let name = |field: &Field| match field {
            Field::Host => "host".to_owned(),
            Field::Name => "event".to_owned(),
            Field::Cpu => "cpu".to_owned(),
            Field::Named(_, name) if TAKEN.contains(&name.as_str()) => format!("$evt.{field}"),
            Field::Named(..) => field.to_string(),
        };
        let names = fields.iter().map(name).collect();
        let fields = BoundFields::new("--by", fields, sources)?;
        Ok(Self { names, fields, by_values: FxHashMap::default() })
    }

    /// Counts an event of a trace.
    pub(super) fn add(&mut self, source: usize, host: &str, cpu: Option<u32>, event: &Event<'_>) {
        let numbers = 0..self.names.len();
        let key = self.fields.with(source, host, cpu, event, |binding, from| {
            numbers.map(|number| binding.read(number, from).map(Cow::into_owned)).collect()
        });
        *self.by_values.entry(key).or_default() += 1;
    }

    /// Fields that are named like something that each event has, and that no counted event has.
    ///
    /// Each with the name of what each event has.
    pub(super) fn mistaken(&self) -> impl Iterator<Item = (&str, &str)> {
        let absent = |number: usize| self.by_values.keys().all(|values| values[number].is_none());
        let names = self.names.iter().enumerate().filter(move |(number, _)| absent(*number));
        let named = names.filter_map(|(_, name)| Some((name.as_str(), name.strip_prefix("$evt.")?)));
        named.filter(|(_, name)| EACH_HAS.contains(name) && !self.by_values.is_empty())
    }

    /// Prints the most frequent ones, of equal counts by their values.
    pub(super) fn print(self, format: EventFormat, limit: u64, out: &mut impl Write) -> io::Result<()> {
        let total: u64 = self.by_values.values().sum();
        let mut rows: Vec<_> = self.by_values.into_iter().collect();
        rows.sort_by(|(a, many), (b, few)| few.cmp(many).then_with(|| a.cmp(b)));
        let all = rows.len();
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        match format {
            EventFormat::Text => {
                let header: Vec<&str> =
                    self.names.iter().map(String::as_str).chain(["events", "share"]).collect();
                let mut table = Table::new(&header).right_from(self.names.len());
                for (key, count) in &rows {
                    let values = key.iter().map(|value| match value {
                        Some(value) => plain(&value.to_string()).into_owned(),
                        None => "-".to_owned(),
                    });
                    table.add_row(values.chain([figures::count(*count), figures::share(*count, total)]));
                }
                if !rows.is_empty() {
                    table.print(out)?;
                    writeln!(out)?;
                }
                let shown = match rows.len() < all {
                    true => {
                        format!(" ({} of {} rows shown)", figures::count(rows.len()), figures::count(all))
                    }
                    false => String::new(),
                };
                writeln!(out, "{}{shown}", figures::plural(total, "event"))
            }
            EventFormat::Json => {
                for (key, count) in &rows {
                    let mut row: serde_json::Map<String, serde_json::Value> = self
                        .names
                        .iter()
                        .cloned()
                        .zip(key.iter().map(|value| json(value.as_ref())))
                        .collect();
                    row.insert("count".to_owned(), (*count).into());
                    serde_json::to_writer(&mut *out, &row)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            EventFormat::Csv => {
                let mut line = Vec::new();
                for name in &self.names {
                    line.extend_from_slice(cell(name).as_bytes());
                    line.push(b',');
                }
                line.extend_from_slice(b"count\n");
                for (key, count) in &rows {
                    for value in key {
                        if let Some(value) = value {
                            line.extend_from_slice(cell(&value.to_string()).as_bytes());
                        }
                        line.push(b',');
                    }
                    line.extend_from_slice(format!("{count}\n").as_bytes());
                }
                out.write_all(&line)
            }
        }
    }
}

/// A value as JSON; integers beyond 64 bits are texts.
fn json(value: Option<&Value>) -> serde_json::Value {
    match value {
        None => serde_json::Value::Null,
        Some(Value::Real(number)) => number.get().into(),
        Some(Value::Text(text)) => text.as_str().into(),
        Some(Value::Number(number)) => match (i64::try_from(*number), u64::try_from(*number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => number.to_string().into(),
        },
    }
}
