//! What an analysis is.

use isochrone_kernel::{Spans, ThreadId, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::{HostContext, ThreadIdentity};
use crate::needs::Need;
use crate::options::{Asks, Options};
use crate::report::Note;
use crate::snapshot::SnapshotBuilder;
use crate::steps::Steps;
use crate::table::{Cell, Table};
use crate::window::When;

/// An analysis: consumes the spans of one host, and makes tables of the results of all hosts.
///
/// What it consumes has passed the [`crate::SpanFilter`] already: slices and unknown times are cut to the window, and whatever
/// is not asked for is left out. It keeps integers and sorts what it writes, so that equal contents are equal bytes.
pub trait Analysis: Spans + Serialize + DeserializeOwned + Sized {
    /// Whether it can show the state at one instant, [`When::at`]. If it is asked to, it gets all spans as they are,
    /// and applies the filters itself: what was open at an instant is not known by what ends in a window.
    const AT_INSTANT: bool = false;

    /// Whether it shows what threads and CPUs did at that instant. Then `HostResult::instant` has it; the analysis need not
    /// collect it.
    const SNAPSHOT: bool = false;

    /// Whether it consumes descriptors. If no analysis does, the model does not follow them: see [`Spans::wants_files`].
    const FILES: bool = false;

    /// What it can be asked, beside times and hosts.
    const USES: &'static [Asks];

    /// What has to be traced for it.
    const NEEDS: &'static [Need];

    /// One without spans so far.
    fn new(options: &Options, when: When) -> Self;

    /// Cuts the time of the host into steps, before it hears any span. Those that show nothing over time need not know.
    fn divide(&mut self, _: &Steps) {}

    /// The tables, of all hosts in the order of their names. Names of tables and columns are part of the interface.
    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table>;

    /// What a reader of the tables should know.
    fn notes(_hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        Vec::new()
    }
}

/// What an analysis collected of a host.
pub struct HostResult<'h, A> {
    /// The host.
    pub host: &'h dyn HostContext,
    /// What it collected.
    pub of: &'h A,
    /// From when to when, raw ns: where the window that was asked for and the host's events overlap.
    pub window: (Time, Time),
    /// How much of that time was asked for, ns: all of it, or what lies within periods.
    pub asked_ns: u64,
    /// What threads and CPUs did at the instant that was asked for; `None` where none was, or no analysis shows it.
    pub(crate) instant: Option<&'h SnapshotBuilder>,
}

impl<'h, A> HostResult<'h, A> {
    /// The cell `host`.
    pub fn name(&self) -> Cell {
        Cell::text(self.host.name())
    }

    /// A figure that events of a kind give: unknown where the host did not record them.
    pub fn known(&self, need: Need, figure: impl Into<Cell>) -> Cell {
        if self.host.lacks(need) { Cell::Null } else { figure.into() }
    }

    /// A raw time as a cell.
    pub fn time(&self, raw: Time) -> Cell {
        self.host.unix_ns(raw).into()
    }

    /// Who a thread is, if the filter keeps it.
    pub fn who(&self, thread: ThreadId, options: &Options) -> Option<ThreadIdentity<'h>> {
        options.filter.who(self.host, thread)
    }

    /// As [`Self::who`], with the name that the thread had at a time, raw ns, by which it is chosen.
    pub fn who_at(&self, thread: ThreadId, at: Time, options: &Options) -> Option<ThreadIdentity<'h>> {
        options.filter.who_at(self.host, thread, at)
    }
}
