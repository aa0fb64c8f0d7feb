//! Printing reports: the requested tables and columns, in the requested format.

use std::collections::BTreeSet;
use std::io::Write;

use isochrone_analysis::{Report, Scratch, ScratchError, Table, Unit, csv, json, jsonl};
use isochrone_export::lami::Results;
use isochrone_time::UnixNs;

use crate::arguments::TableFormat;
use crate::output::{self, Console, Stdout, note};
use crate::render::plain::Plain;
use crate::render::{figures, rows, tables};

/// Number of rows, as text, of tables that are sorted by a number.
pub(super) const TEXT_ROWS: usize = 10;

/// Checks, after all tables have been printed, that no rows were lost in the scratch file.
///
/// # Errors
/// Some were: the output lacks them.
pub(super) fn check_scratch(scratch: &Scratch, console: &Console) -> anyhow::Result<()> {
    match scratch.failed() {
        Some(full @ ScratchError::Write(_)) => note!(console, "{}", Plain(full)),
        Some(lost @ ScratchError::Read(_)) => anyhow::bail!("the tables are not complete: {}", Plain(lost)),
        None => {}
    }
    Ok(())
}

/// How reports are printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportStyle<'a> {
    pub(super) format: TableFormat,
    /// Only this table.
    pub(super) table: Option<&'a str>,
    /// The column by which tables are sorted.
    pub(super) sort: Option<&'a str>,
    /// Whether times have bounds.
    pub(super) has_bounds: bool,
    /// Number of threads that make the text.
    pub(super) threads: usize,
}

impl ReportStyle<'_> {
    /// Checks that the requested table and column exist.
    pub(super) fn check(&self, reports: &[Report]) -> anyhow::Result<()> {
        let tables = || reports.iter().flat_map(|report| &report.tables);
        let named = self.named(reports);
        if let (Some(name), None) = (self.table, named) {
            let known: Vec<&str> = tables().map(|table| table.name).collect();
            anyhow::bail!("no table is called `{name}`; there are {}", known.join(", "));
        }
        let is_shown = |table: &Table| match named {
            Some(name) => name == table.name,
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
                if column.is_called(sort) {
                    return Ok(());
                }
                if !known.contains(&&*column.name) {
                    known.push(&column.name);
                }
            }
            anyhow::bail!("--sort: no column is called `{sort}`; there are {}", known.join(", "));
        }
        Ok(())
    }

    /// The name of the table that was requested, by its name or by the heading that people see.
    fn named<'r>(&self, reports: &'r [Report]) -> Option<&'r str> {
        let wanted = self.table?;
        let tables = || reports.iter().flat_map(|report| &report.tables);
        let wanted = wanted.trim();
        let by_name = tables().find(|table| table.name.eq_ignore_ascii_case(wanted));
        let by_title = || tables().find(|table| table.title.eq_ignore_ascii_case(wanted));
        by_name.or_else(by_title).map(|table| table.name)
    }

    /// Prints reports of a number of hosts; `at`: their instant.
    pub(super) fn print(
        &self,
        reports: &[Report],
        at: Option<UnixNs>,
        hosts: usize,
        console: &Console,
    ) -> anyhow::Result<()> {
        self.check(reports)?;
        let (name, threads) = (self.named(reports), self.threads);
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
                        // A single table has no line with its name, for other programs.
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
        if self.format != TableFormat::Json {
            let mut printed = BTreeSet::new();
            for text in reports.iter().flat_map(|report| &report.notes) {
                if printed.insert(text) {
                    let duration = |ns| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX));
                    note!(console, "{}", Plain(text.shown(duration)));
                }
            }
        }
        Ok(())
    }
}
