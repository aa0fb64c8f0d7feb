//! A wait for a CPU, as the analyses of scheduling show it.

use isochrone_kernel::{Latency, Renames, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, Heard};
use crate::host::Who;
use crate::kept::Ranked;
use crate::options::Options;
use crate::stats::duration;
use crate::table::{Cell, Table, Unit};

/// From the first wake-up of a thread to the switch to it. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Wait {
    begin: Time,
    end: Time,
    cpu: u32,
    thread: ThreadId,
    waker: Option<ThreadId>,
    priority: i32,
}

impl From<&Latency> for Wait {
    fn from(latency: &Latency) -> Self {
        let Latency { thread, waker, cpu, priority, begin, end } = *latency;
        Self { begin, end, cpu, thread, waker, priority }
    }
}

impl Ranked for Wait {
    fn rank(&self) -> u64 {
        duration(self.begin, self.end)
    }
}

impl Wait {
    /// Gives its threads the names that they have now.
    pub fn rename(&mut self, renames: &Renames) {
        self.thread = renames.of(self.thread);
        self.waker = self.waker.map(|waker| renames.of(waker));
    }

    /// A table of waits without rows.
    pub(crate) fn table(name: &'static str, title: &'static str) -> Table {
        const COLUMNS: &[(&str, Unit)] = &[
            ("host", Unit::None),
            ("wakeup_ns", Unit::Time),
            ("switch_ns", Unit::Time),
            ("latency_ns", Unit::Ns),
            ("priority", Unit::None),
            ("cpu", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("waker_pid", Unit::None),
            ("waker_tid", Unit::None),
            ("waker_comm", Unit::None),
        ];
        Table::new(name, title, COLUMNS)
    }

    /// Its row in that table, if the filter keeps the thread that waited.
    pub(crate) fn row<A: Analysis>(&self, heard: &Heard<'_, A>, options: &Options) -> Option<Vec<Cell>> {
        let who = heard.who(self.thread, options)?.cells();
        let waker = self.waker.map_or_else(Who::default, |waker| Who::of(heard.host, waker)).cells();
        let mut cells = vec![
            heard.name(),
            heard.time(self.begin),
            heard.time(self.end),
            self.rank().into(),
            self.priority.into(),
            self.cpu.into(),
        ];
        cells.extend(who.into_iter().chain(waker));
        Some(cells)
    }
}
