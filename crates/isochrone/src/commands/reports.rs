//! Printing reports: the tables and columns that are asked for, in the form that is asked for.

use std::collections::BTreeSet;
use std::io::Write;

use isochrone_analysis::{Report, Scratch, ScratchError, Table, Unit, csv, json, jsonl};
use isochrone_export::lami::Results;

use crate::arguments::TableFormat;
use crate::output::{self, Stdout, tell};
use crate::render::plain::Plain;
use crate::render::{figures, rows, tables};

/// Rows of a text's tables that are sorted by a figure.
pub(super) const TEXT_ROWS: usize = 10;

/// Says whether rows that were put aside came back: to be asked when all tables have been printed.
///
/// # Errors
/// Some did not: what was printed lacks them.
pub(super) fn check_scratch(scratch: &Scratch, quiet: bool) -> anyhow::Result<()> {
    match scratch.failed() {
        Some(ScratchError::Write(_)) if quiet => {}
        Some(full @ ScratchError::Write(_)) => tell!("note: {}", Plain(full)),
        Some(lost @ ScratchError::Read(_)) => anyhow::bail!("the tables are not complete: {}", Plain(lost)),
        None => {}
    }
    Ok(())
}

/// What of reports is to be printed, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) format: TableFormat,
    /// Only this table.
    pub(super) table: Option<&'a str>,
    /// By which column tables are sorted.
    pub(super) sort: Option<&'a str>,
    /// Whether times have bounds beside them.
    pub(super) has_bounds: bool,
    /// How many threads make the text.
    pub(super) threads: usize,
}

impl Shown<'_> {
    /// Checks that there are the table and the column that are asked for.
    pub(super) fn check(&self, reports: &[Report]) -> anyhow::Result<()> {
        let tables = || reports.iter().flat_map(|report| &report.tables);
        if let Some(name) = self.table {
            let known: Vec<&str> = tables().map(|table| table.name).collect();
            anyhow::ensure!(
                known.contains(&name),
                "no table is called `{name}`; there are {}",
                known.join(", ")
            );
        }
        let is_shown = |table: &Table| match self.table {
            Some(asked) => asked == table.name,
            None => self.format != TableFormat::Text || !table.is_detail,
        };
        if self.has_bounds {
            let mut columns = tables().filter(|table| is_shown(table)).flat_map(|table| &table.columns);
            anyhow::ensure!(
                columns.any(|column| column.unit == Unit::Time),
                "--bounds: no times are in these tables"
            );
        }
        if let Some(sort) = self.sort {
            let shown = tables().filter(|table| is_shown(table));
            let mut known: Vec<&str> = Vec::new();
            for column in shown.flat_map(|table| &table.columns) {
                if !known.contains(&&*column.name) {
                    known.push(&column.name);
                }
            }
            let is_it = |name: &&str| *name == sort || name.strip_suffix("_ns") == Some(sort);
            anyhow::ensure!(
                known.iter().any(is_it),
                "--sort: no column is called `{sort}`; there are {}",
                known.join(", ")
            );
        }
        Ok(())
    }

    /// Prints reports of so many hosts; `at`: the instant that they are of.
    pub(super) fn print(
        &self,
        reports: &[Report],
        at: Option<i128>,
        hosts: usize,
        quiet: bool,
    ) -> anyhow::Result<()> {
        self.check(reports)?;
        let Self { table: name, threads, .. } = *self;
        output::print(|stdout| {
            match self.format {
                TableFormat::Text => {
                    for (index, report) in reports.iter().enumerate() {
                        if index > 0 {
                            writeln!(stdout)?;
                        }
                        tables::print(report, name, at, hosts, stdout)?;
                    }
                }
                TableFormat::Csv => {
                    let all: Vec<_> = reports.iter().flat_map(|report| report.tables_of(name)).collect();
                    let write_rows =
                        |table: &Table, out: &mut Stdout| rows::write(table, threads, csv::rows, out);
                    match all.as_slice() {
                        // A table alone needs no name: other programs read it as it is.
                        [one] => {
                            csv::header(one, stdout)?;
                            write_rows(one, stdout)?;
                        }
                        several => csv::write_all(several.iter().copied(), stdout, write_rows)?,
                    }
                }
                TableFormat::Json => {
                    for report in reports {
                        json::write(report, name, stdout, |table, out| {
                            rows::write(table, threads, json::rows, out)
                        })?;
                        writeln!(stdout)?;
                    }
                }
                TableFormat::Lami => {
                    serde_json::to_writer(&mut *stdout, &Results::new(reports, hosts > 1))?;
                    writeln!(stdout)?;
                }
                TableFormat::Jsonl => {
                    for report in reports {
                        let make = |table: &Table, numbers, out: &mut Vec<u8>| {
                            jsonl::rows(report.analysis, table, numbers, out)
                        };
                        report
                            .tables_of(name)
                            .try_for_each(|table| rows::write(table, threads, make, stdout))?;
                    }
                }
            }
            Ok(())
        })?;
        if !quiet && self.format != TableFormat::Json {
            let mut told = BTreeSet::new();
            for note in reports.iter().flat_map(|report| &report.notes) {
                if told.insert(note) {
                    let duration = |ns| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX));
                    tell!("note: {}", Plain(note.shown(duration)));
                }
            }
        }
        Ok(())
    }
}
