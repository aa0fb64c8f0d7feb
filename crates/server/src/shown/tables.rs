//! The tables of all analyses for a window of time.

use isochrone_analysis::{AnalysisKind, Cell, Options, Report, Table, Unit, lacking};
use isochrone_crosshost::{accounting, blocking, critical_path, ipc, messages};
use isochrone_experiment::{Question, Spread, TimedHost, Times, recorded, reports};
use serde_json::{Value, json};

use super::Shown;
use super::state_at::duration;
use crate::error::ApiError;

/// Rows of a table that are sent.
const MOST_ROWS: usize = 5000;

/// Questions across hosts, and what they show.
const ACROSS: [(&str, &str); 5] = [
    ("critical-path", "Where requests spent their time, across hosts"),
    ("accounting", "Who pays for the CPU of servers"),
    ("blocking", "What threads waited for, and who ended the waits"),
    ("ipc", "Which processes have to do with which"),
    ("messages", "Latency of packets between hosts"),
];

/// All analyses that there are: name and what it shows.
pub(crate) fn analyses() -> Vec<(&'static str, &'static str)> {
    let of_kinds = AnalysisKind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    ACROSS.into_iter().chain(of_kinds).collect()
}

impl Shown<'_> {
    /// The tables of an analysis, in a window since the origin.
    ///
    /// # Errors
    /// There is no such analysis, or the traces cannot be read.
    pub(crate) fn tables(
        &self,
        analysis: &str,
        window: Option<(i64, i64)>,
        limit: usize,
    ) -> Result<Value, ApiError> {
        if window.is_some_and(|(begin, end)| begin >= end) {
            return Err(ApiError::wrong("the end is not after the begin"));
        }
        let limit = limit.clamp(1, MOST_ROWS);
        let is_across = ACROSS.iter().any(|(name, _)| *name == analysis);
        let (mut report, command) = match AnalysisKind::of(analysis) {
            Some(kind) => (self.of_kind(kind, window)?, format!("analyze {analysis}")),
            None if is_across => (self.across(analysis, window)?, analysis.to_owned()),
            None => return Err(ApiError::missing(format!("there is no analysis `{analysis}`"))),
        };
        let needs = AnalysisKind::of(analysis)
            .map_or_else(|| isochrone_crosshost::needs(analysis), |kind| kind.needs().to_vec());
        let hosts: Vec<&TimedHost<'_>> = self.hosts.iter().map(|host| host.timed).collect();
        report.notes.extend(lacking(&needs, &recorded(&hosts)));
        report.arrange(&Options { limit: Some(limit), ..Options::default() });
        let tables: Vec<Value> = report.tables.iter().map(|table| self.table(table)).collect();
        let shown = |ns: u64| duration(i64::try_from(ns).unwrap_or(i64::MAX));
        let notes: Vec<String> = report.notes.iter().map(|note| note.shown(shown)).collect();
        Ok(json!({"tables": tables, "notes": notes, "command": self.command_of(&command, window)}))
    }

    /// An analysis of events: reads the traces of the window.
    fn of_kind(&self, kind: AnalysisKind, window: Option<(i64, i64)>) -> Result<Report, ApiError> {
        let hosts: Vec<&TimedHost<'_>> = self.hosts.iter().map(|host| host.timed).collect();
        let instant = |at: i64| i128::from(at) + self.origin;
        let times = Times {
            begin: window.map(|(begin, _)| instant(begin)),
            end: window.map(|(_, end)| instant(end)),
            at: None,
        };
        let options = Options::default();
        let question = Question { kinds: &[kind], options: &options, times, periods: None };
        let asked = question.ask(&hosts, Spread::default(), None);
        let modelled: Vec<_> = asked
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|error| ApiError::internal(error.to_string()))?;
        let mut all = reports(&modelled, &options, Spread::default());
        all.pop().ok_or_else(|| ApiError::internal("no table".to_owned()))
    }

    /// A question across hosts: reads the store.
    fn across(&self, name: &str, window: Option<(i64, i64)>) -> Result<Report, ApiError> {
        let cluster = self.cluster()?;
        let window = window.map(|(begin, end)| (self.unix(begin), self.unix(end)));
        let is_synchronized = self.is_synchronized();
        Ok(match name {
            "accounting" => accounting(cluster, window, is_synchronized)?,
            "blocking" => blocking(cluster, window, |_| true, false, is_synchronized)?,
            "ipc" => ipc(cluster, window, is_synchronized)?,
            "messages" => messages(cluster, window, false, is_synchronized)?,
            _ => {
                let all = self.all_requests()?;
                let is_inside = |begin: i64| window.is_none_or(|(from, to)| from <= begin && begin < to);
                let inside: Vec<_> = all.iter().filter(|it| is_inside(it.begin)).cloned().collect();
                critical_path(cluster, &inside, false, is_synchronized)
            }
        })
    }

    fn table(&self, table: &Table) -> Value {
        let columns: Vec<Value> =
            table.columns.iter().map(|column| json!({"name": column.name, "unit": column.unit})).collect();
        let cell = |(place, cell): (usize, &Cell)| match (table.columns.get(place).map(|it| it.unit), cell) {
            (Some(Unit::Time), Cell::Int(unix)) => json!(self.since(*unix)),
            (_, Cell::Int(value)) => match i64::try_from(*value) {
                Ok(value) => json!(value),
                Err(_) => json!(value.to_string()),
            },
            (_, Cell::Float(value)) => json!(value),
            (_, Cell::Text(_) | Cell::Call(_)) => json!(cell.as_text()),
            (_, Cell::Null | Cell::None) => Value::Null,
        };
        let rows: Vec<Vec<Value>> =
            table.rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
        json!({"name": table.name, "title": table.title, "columns": columns, "rows": rows})
    }
}
