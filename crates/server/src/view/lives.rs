//! Lives of processes in a window, with what they used of CPUs over time and their page faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use isochrone_crosshost::{LifeStep, ProcessLife, lives};
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::ExperimentView;
use super::rows::RowKind;
use crate::error::Result;

/// Processes of one answer, and steps of each.
const MAX_LIVES: usize = 1000;
const MAX_STEPS: u32 = 1000;

/// Processes in a window.
#[derive(Debug, Serialize)]
pub(crate) struct LifeList {
    /// How many ran in it.
    total: usize,
    lives: Vec<Life>,
    command: String,
}

/// A process.
#[derive(Debug, Serialize)]
struct Life {
    host: usize,
    row: Option<u32>,
    comm: Option<String>,
    pid: i32,
    begin: SinceOrigin,
    end: SinceOrigin,
    is_begin_seen: bool,
    is_end_seen: bool,
    cpu_ns: u64,
    /// How much more it may have been.
    unknown_ns: u64,
    /// Null: not recorded.
    page_faults: Option<u64>,
    /// Whether none can be missing.
    is_whole: bool,
    /// Start, end, CPU time, and how much more that may have been.
    steps: Vec<(SinceOrigin, SinceOrigin, u64, u64)>,
}

impl ExperimentView<'_> {
    /// The processes that used the CPUs most in a window on the common clock, `limit` at most, with what they
    /// used in `steps` parts of it.
    ///
    /// # Errors
    /// The window is empty, or the store cannot be read.
    pub(crate) fn lives(
        &self,
        window: Window<SinceOrigin>,
        steps: u32,
        limit: usize,
        work: &Arc<Work>,
    ) -> Result<LifeList> {
        let cluster = self.cluster()?.for_work(work);
        let window = self.inside(window)?;
        let unix = Window::new(self.unix(window.start), self.unix(window.end));
        let found = lives(&cluster, Some(unix), steps.clamp(1, MAX_STEPS), limit.clamp(1, MAX_LIVES))?;
        let mut rows: BTreeMap<(usize, i32), u32> = BTreeMap::new();
        for row in &self.rows.all {
            let is_process = matches!(row.kind, RowKind::Process | RowKind::Thread);
            if let Some(pid) = row.pid.filter(|_| is_process) {
                // That of a process stands before those of its threads.
                rows.entry((row.host, pid)).or_insert(row.id);
            }
        }
        let step =
            |it: &LifeStep| (self.since(it.span.start), self.since(it.span.end), it.cpu_ns, it.unknown_ns);
        let life = |it: ProcessLife| Life {
            host: it.host,
            row: rows.get(&(it.host, it.pid)).copied(),
            comm: it.comm,
            pid: it.pid,
            begin: self.since(it.span.start),
            end: self.since(it.span.end),
            is_begin_seen: it.is_seen.0,
            is_end_seen: it.is_seen.1,
            cpu_ns: it.cpu_ns,
            unknown_ns: it.unknown_ns,
            page_faults: it.page_faults.map(|faults| faults.count),
            is_whole: it.page_faults.is_none_or(|faults| faults.is_whole),
            steps: it.steps.iter().map(step).collect(),
        };
        Ok(LifeList {
            total: found.total,
            lives: found.lives.into_iter().map(life).collect(),
            command: self.command_of("analyze usage --by-process", Some(window)),
        })
    }
}
