//! The tables over a store. Those of spans are files of it, batch by batch ([`stored`], whose columns are
//! listed in [`layout`]); the others are made of what it says: [`hosts`], [`threads`], [`thread_states`],
//! [`messages`]. [`mapped`] needs no store.

mod hosts;
pub(crate) mod layout;
mod mapped;
mod messages;
mod stored;
mod thread_states;
mod threads;

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{Result, internal_datafusion_err};
use isochrone_experiment::chunks::Located;
use isochrone_experiment::pieces::Mapping;
use isochrone_store::ThreadInfo;
use serde::{Deserialize, Serialize};

use crate::events::EventTable;
use crate::scan::Table;
use crate::traced::Traced;
use layout::{LAYOUTS, Layout};

pub(crate) use mapped::Machine;
pub(crate) use stored::{errno, runs};

/// The names of all tables over the store.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let made = ["hosts", "threads", "thread_states", "messages"];
    made.into_iter().chain(LAYOUTS.iter().map(|layout| layout.name))
}

/// The columns of a table over the store, which are the same for all traces.
///
/// # Errors
/// There is none of that name.
pub(crate) fn schema(name: &str) -> Result<SchemaRef> {
    Ok(match name {
        "hosts" => hosts::schema(),
        "threads" => threads::schema(),
        "thread_states" => thread_states::schema(),
        "messages" => messages::schema(),
        _ => Arc::new(Schema::new(stored::columns(layout_of(name)?)?.1)),
    })
}

/// The layout of a table of spans.
fn layout_of(name: &str) -> Result<&'static Layout> {
    let layout = LAYOUTS.iter().find(|layout| layout.name == name);
    layout.ok_or_else(|| internal_datafusion_err!("a store has no table `{name}`"))
}

/// What a table is called, here and in other processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TableName {
    /// One over the store.
    Stored(String),
    /// All events.
    Events,
    /// The events of one name.
    EventsOf(String),
}

/// A table, and how another process finds it.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// Where it comes from.
    pub(crate) source: TableSource,
    /// The table.
    pub(crate) table: Arc<dyn Table>,
}

/// Where a table comes from.
#[derive(Debug, Clone)]
pub(crate) enum TableSource {
    /// Open traces and their store, and its name there.
    Traced(Arc<Traced>, TableName),
    /// What is to be mapped of traces that all machines have.
    Mapping(Arc<Mapping>),
    /// What is to be mapped of what lies on one machine.
    Located(Arc<Located>),
}

impl Named {
    /// A table of traces.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn new(traced: &Arc<Traced>, name: TableName) -> Result<Self> {
        let table: Arc<dyn Table> = match &name {
            TableName::Stored(name) => stored_table(traced, name)?,
            TableName::Events => Arc::new(EventTable::all(traced)),
            TableName::EventsOf(event) => Arc::new(EventTable::named(traced, event)?),
        };
        Ok(Self { source: TableSource::Traced(Arc::clone(traced), name), table })
    }

    /// The table of mapped pieces.
    pub(crate) fn mapped(mapping: &Arc<Mapping>) -> Self {
        let table = Arc::new(mapped::MappedTable::new(mapping));
        Self { source: TableSource::Mapping(Arc::clone(mapping)), table }
    }

    /// The table of what is mapped on one machine. `machine`: what this process is as an executor.
    pub(crate) fn located(located: &Arc<Located>, machine: Option<&Machine>) -> Self {
        let table = Arc::new(mapped::LocatedTable::new(located, machine));
        Self { source: TableSource::Located(Arc::clone(located)), table }
    }
}

/// A table over the store.
///
/// # Errors
/// There is none of that name.
fn stored_table(traced: &Arc<Traced>, name: &str) -> Result<Arc<dyn Table>> {
    Ok(match name {
        "hosts" => Arc::new(hosts::HostTable::new(traced)),
        "threads" => Arc::new(threads::ThreadTable::new(traced)),
        "thread_states" => Arc::new(thread_states::StateTable::new(traced)),
        "messages" => Arc::new(messages::MessageTable::new(traced)),
        _ => Arc::new(stored::Stored::new(traced, layout_of(name)?)?),
    })
}

/// The columns of a table that is made of rows: each with how it is made of some of them.
struct Columns<M> {
    schema: SchemaRef,
    makers: Vec<M>,
}

impl<M> Columns<M> {
    fn new(columns: Vec<(Field, M)>) -> Self {
        let (fields, makers): (Vec<Field>, Vec<M>) = columns.into_iter().unzip();
        Self { schema: Arc::new(Schema::new(fields)), makers }
    }

    /// Makes columns, by their indices.
    fn arrays(&self, indices: &[usize], make: impl Fn(&M) -> ArrayRef) -> Vec<ArrayRef> {
        indices.iter().map(|&index| make(&self.makers[index])).collect()
    }
}

impl<M> fmt::Debug for Columns<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Columns").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// What conditions on threads are decided by: the columns of each thread of a host.
struct ThreadIndex<'h> {
    threads: &'h [ThreadInfo],
}

impl<'h> ThreadIndex<'h> {
    fn new(threads: &'h [ThreadInfo]) -> Self {
        Self { threads }
    }

    /// The columns, one value for each thread.
    fn columns(&self) -> [(&'static str, ArrayRef); 4] {
        let threads = || self.threads.iter();
        [
            ("thread", Arc::new((0..self.threads.len() as u32).collect::<UInt32Array>())),
            ("pid", Arc::new(threads().map(stored::pid).collect::<Int32Array>())),
            ("tid", Arc::new(threads().map(stored::tid).collect::<Int32Array>())),
            ("comm", Arc::new(threads().map(|thread| thread.comm.as_deref()).collect::<StringArray>())),
        ]
    }
}
