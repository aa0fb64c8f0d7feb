//! The tables of all analyses for a window of time.

use std::sync::Arc;

use isochrone_analysis::{AnalysisKind, Cell, Options, Report, ScratchError, Table, Unit, lacking};
use isochrone_crosshost::{
    Cluster, Request, accounting, blocking, bottleneck, critical_path, ipc, messages, needs,
};
use isochrone_experiment::{
    ModelError, Question, Spread, Work, from_store, reports, scratch, stored_reports,
};
use isochrone_time::{SinceOrigin, UnixNs, Window};
use isochrone_timing::{SOME_STEPS, Times, recorded, step_length};
use serde_json::{Value, json};

use super::ExperimentView;
use super::state_at::duration;
use crate::error::{ApiError, Result};

/// Rows of a table that are sent.
const MAX_ROWS: usize = 5000;

/// Questions across hosts, and what they show.
const ACROSS: [(&str, &str); 6] = [
    ("bottleneck", "Which resource of each host is the bottleneck"),
    ("critical-path", "Where requests spent their time, across hosts"),
    ("accounting", "Who pays for the CPU of servers"),
    ("blocking", "What threads waited for, and who ended the waits"),
    ("ipc", "Which processes have to do with which"),
    ("messages", "Latency of packets between hosts"),
];

/// All analyses: name and what it shows.
pub(crate) fn analyses() -> impl Iterator<Item = (&'static str, &'static str)> {
    ACROSS.into_iter().chain(AnalysisKind::ALL.iter().map(|kind| (kind.name(), kind.about())))
}

/// The notes of a report, in words.
fn notes_of(report: &Report) -> Vec<String> {
    let text = |ns: u64| duration(i64::try_from(ns).unwrap_or(i64::MAX));
    report.notes.iter().map(|note| note.shown(text)).collect()
}

impl ExperimentView<'_> {
    /// The tables of an analysis in a window on the common clock; `None`: in all of the time.
    ///
    /// # Errors
    /// There is no such analysis, or the traces cannot be read.
    pub(crate) fn tables(
        &self,
        analysis: &str,
        window: Option<Window<SinceOrigin>>,
        limit: usize,
        work: &Arc<Work>,
    ) -> Result<Value> {
        if window.is_some_and(Window::is_empty) {
            return Err(ApiError::empty_window());
        }
        let options =
            Options { limit: Some(limit.clamp(1, MAX_ROWS)), scratch: scratch(), ..Options::default() };
        let (mut report, needs, command) = match AnalysisKind::of(analysis) {
            Some(kind) => (
                self.of_traces(kind, window, &options, work)?,
                kind.needs().to_vec(),
                format!("analyze {analysis}"),
            ),
            None if ACROSS.iter().any(|(name, _)| *name == analysis) => {
                (self.across(analysis, window, work)?, needs(analysis), analysis.to_owned())
            }
            None => return Err(ApiError::missing(format!("there is no analysis `{analysis}`"))),
        };
        report.notes.extend(lacking(&needs, &recorded(&self.timed_hosts())));
        report.sort_and_limit(&options);
        if let Some(lost @ ScratchError::Read(_)) = options.scratch.failed() {
            return Err(ApiError::internal(format!("the tables are not complete: {lost}")));
        }
        let tables: Vec<Value> = report.tables.iter().map(|table| self.table(table)).collect();
        let command = self.command_of(&command, window);
        Ok(json!({"tables": tables, "notes": notes_of(&report), "command": command}))
    }

    /// An analysis of events: reads the traces of the window, or the store, if that has what it needs.
    fn of_traces(
        &self,
        kind: AnalysisKind,
        window: Option<Window<SinceOrigin>>,
        options: &Options,
        work: &Arc<Work>,
    ) -> Result<Report> {
        let [start, end] = [window.map(|it| self.unix(it.start)), window.map(|it| self.unix(it.end))];
        let times = Times { start, end, at: None };
        let question = Question { kinds: &[kind], options, times, periods: None };
        let hosts = self.timed_hosts();
        if let Some(stored) = from_store(self.store, &hosts, &question, Spread::default(), Some(work))? {
            work.expect(1);
            work.add(1);
            let mut all = stored_reports(&stored, options, self.is_synchronized());
            return all.pop().ok_or_else(|| ApiError::internal("no table"));
        }
        let models = question.ask_for(&hosts, Spread::default(), work).into_iter();
        let models = models.collect::<Result<Vec<_>, _>>().map_err(|error| match error {
            ModelError::Stopped(_) => ApiError::stopped(),
            error => ApiError::internal(error.to_string()),
        })?;
        let mut all = reports(&models, options, Spread::default());
        all.pop().ok_or_else(|| ApiError::internal("no table"))
    }

    /// A question across hosts: reads the store.
    fn across(&self, name: &str, window: Option<Window<SinceOrigin>>, work: &Arc<Work>) -> Result<Report> {
        let cluster = &self.cluster()?.for_work(work);
        let window = window.map(|it| self.inside(it)).transpose()?;
        let window = window.map(|it| Window::new(self.unix(it.start), self.unix(it.end)));
        let is_synchronized = self.is_synchronized();
        Ok(match name {
            "accounting" => accounting(cluster, window, is_synchronized)?,
            "blocking" => blocking(cluster, window, |_| true, false, is_synchronized)?,
            "ipc" => ipc(cluster, window, is_synchronized)?,
            "messages" => messages(cluster, window, false, is_synchronized)?,
            "bottleneck" => self.bottleneck_in(cluster, window, SOME_STEPS, work)?,
            _ => critical_path(cluster, &self.requests_in(window, work)?, false, is_synchronized),
        })
    }

    /// The requests that start in a window.
    fn requests_in(&self, window: Option<Window<UnixNs>>, work: &Arc<Work>) -> Result<Vec<Request>> {
        let is_inside = |at: UnixNs| window.is_none_or(|window| window.start <= at && at < window.end);
        Ok(self.all_requests(work)?.iter().filter(|request| is_inside(request.start)).cloned().collect())
    }

    fn bottleneck_in(
        &self,
        cluster: &Cluster<'_>,
        window: Option<Window<UnixNs>>,
        most_steps: u64,
        work: &Arc<Work>,
    ) -> Result<Report> {
        let [start, end] = [window.map(|it| it.start), window.map(|it| it.end)];
        let times = Times { start, end, at: None };
        let every = step_length(None, times, self.timed_hosts(), most_steps);
        Ok(bottleneck(cluster, window, &self.requests_in(window, work)?, every, self.is_synchronized())?)
    }

    /// The report `bottleneck` in a window on the common clock, with at most so many steps, and what was not
    /// recorded for it, in words.
    pub(super) fn bottlenecks(
        &self,
        window: Option<Window<SinceOrigin>>,
        most_steps: u64,
        work: &Arc<Work>,
    ) -> Result<(Report, Vec<String>)> {
        let window = window.map(|it| Window::new(self.unix(it.start), self.unix(it.end)));
        let mut report = self.bottleneck_in(&self.cluster()?.for_work(work), window, most_steps, work)?;
        report.notes.extend(lacking(&needs("bottleneck"), &recorded(&self.timed_hosts())));
        let notes = notes_of(&report);
        Ok((report, notes))
    }

    fn table(&self, table: &Table) -> Value {
        let columns: Vec<Value> =
            table.columns.iter().map(|column| json!({"name": column.name, "unit": column.unit})).collect();
        let cell = |(index, cell): (usize, &Cell)| match (table.columns.get(index).map(|it| it.unit), cell) {
            (Some(Unit::Time), Cell::Int(unix)) => json!(self.since(UnixNs(*unix))),
            (_, Cell::Int(value)) => match i64::try_from(*value) {
                Ok(value) => json!(value),
                Err(_) => json!(value.to_string()),
            },
            (_, Cell::Float(value)) => json!(value),
            (_, Cell::Text(_) | Cell::Call(_)) => json!(cell.as_text()),
            (_, Cell::Unknown | Cell::NotApplicable) => Value::Null,
        };
        let rows: Vec<Vec<Value>> =
            table.rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
        json!({"name": table.name, "title": table.title, "columns": columns, "rows": rows})
    }
}
