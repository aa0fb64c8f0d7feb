//! The tables of events, over the traces: `events`, with what all events have, and `events('NAME')`, with the
//! fields of one event as columns.
//!
//! A query reads the packets that its conditions on time, host and CPU leave ([`choose`]), of these the
//! events that its condition on `event` leaves, and of these the fields that it names ([`columns`],
//! [`decode`]).

mod choose;
mod columns;
mod decode;

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue, exec_err, internal_err, plan_err};
use datafusion::logical_expr::Expr;

use crate::pruning::Pruner;
use crate::scan::{Chosen, Output, Piece, Provider, Selection, Table};
use crate::tables::{Named, TableName};
use crate::traced::Traced;
use columns::EventColumns;

/// The columns of all events, which are the same for all traces.
pub(crate) fn schema() -> SchemaRef {
    EventColumns::of_all().schema
}

/// The events of all traces.
#[derive(Debug)]
pub(crate) struct EventTable {
    traced: Arc<Traced>,
    columns: EventColumns,
    /// The name that all of them have.
    name: Option<String>,
}

impl EventTable {
    /// All events.
    pub(crate) fn all(traced: &Arc<Traced>) -> Self {
        Self { traced: Arc::clone(traced), columns: EventColumns::of_all(), name: None }
    }

    /// Those of one name, with their fields.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn named(traced: &Arc<Traced>, name: &str) -> Result<Self> {
        let columns = EventColumns::of(traced.view(), name)?;
        Ok(Self { traced: Arc::clone(traced), columns, name: Some(name.to_owned()) })
    }
}

impl Table for EventTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.columns.schema)
    }

    fn choose(&self, pruner: &Pruner) -> Result<Chosen> {
        let view = self.traced.view();
        if view.experiment.chunks().is_some() {
            return exec_err!(
                "mapped pieces hold a part of the events only: name the traces that they were mapped of"
            );
        }
        let names = choose::names(view, pruner);
        // No packet has to be read for events without a requested class.
        let is_none = match (&names, &self.name) {
            (Some(names), Some(own)) => !names.contains(own),
            (Some(names), None) => names.is_empty() && !choose::has_nameless(view),
            (None, _) => false,
        };
        let (pieces, all) = choose::pieces(view, pruner);
        let pieces = if is_none { Vec::new() } else { pieces };
        let names = self.name.clone().map(|own| vec![own]).or(names);
        Ok(Chosen { pieces, all, selection: names.map_or(Selection::All, Selection::Events) })
    }

    fn describe(&self, selection: &Selection) -> String {
        match selection {
            Selection::Events(names) => format!("events, classes=[{}]", names.join(", ")),
            _ => "events".to_owned(),
        }
    }

    fn read(
        &self,
        piece: Piece,
        selection: &Selection,
        columns: &[usize],
        out: &mut Output<'_>,
    ) -> Result<()> {
        let names = match selection {
            Selection::Events(names) => Some(names.as_slice()),
            _ => None,
        };
        let Some(trace) = self.traced.view().traces.get(piece.of as usize) else {
            return internal_err!("no trace has the number {}", piece.of);
        };
        let lost = decode::read(trace, piece, (&self.columns, columns), (names, self.name.is_none()), out)?;
        self.traced.complain(&lost);
        Ok(())
    }
}

/// `events('NAME')`.
#[derive(Debug)]
pub(crate) struct EventFunction(pub(crate) Arc<Traced>);

impl TableFunctionImpl for EventFunction {
    fn call_with_args(&self, arguments: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let name = match arguments.exprs() {
            [] => TableName::Events,
            [
                Expr::Literal(
                    ScalarValue::Utf8(Some(name))
                    | ScalarValue::Utf8View(Some(name))
                    | ScalarValue::LargeUtf8(Some(name)),
                    _,
                ),
            ] => TableName::EventsOf(name.clone()),
            _ => return plan_err!("events takes the name of an event in quotes: events('sched_switch')"),
        };
        Ok(Arc::new(Provider(Named::new(&self.0, name)?)))
    }
}
