//! Reports of analyses for people: a heading, tables with units that fit, bars where there is something to
//! see.

use std::borrow::Cow;
use std::io::{self, Write};

use isochrone_analysis::{AnalysisKind, Cell, Report, Table, Unit};
use isochrone_time::UnixNs;

use super::{figures, table, time};
use crate::output;

/// Width of the longest bar.
const BAR: usize = 30;
/// Minimum width of the longest bar.
const MIN_BAR: usize = 8;
/// Longer tables of details are shown only by --table.
const MAX_DETAILS: usize = 40;
/// Text of unknown cells.
const UNKNOWN: &str = "?";
/// Text of cells that do not apply.
const NONE: &str = "-";

/// Prints a report of a number of hosts: its heading and its tables, or the one of a name. `at`: its instant.
pub(crate) fn print(
    report: &Report,
    name: Option<&str>,
    at: Option<UnixNs>,
    hosts: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{}", heading(report, at, hosts))?;
    for table in report.tables.iter().filter(|table| name.is_none_or(|name| table.name == name)) {
        let of = match table.total_rows {
            Some(of) => format!(": {} of {}", figures::count(table.rows.len()), figures::count(of)),
            None => String::new(),
        };
        writeln!(out, "\n{}", output::heading(&format!("{}{of}", table.title)))?;
        if table.rows.is_empty() {
            writeln!(out, " no rows")?;
        } else if table.is_detail && name.is_none() && table.rows.len() > MAX_DETAILS {
            writeln!(
                out,
                "  {}; shown with --table {}",
                figures::plural(table.rows.len(), "row"),
                table.name
            )?;
        } else {
            print_table(table, out)?;
        }
    }
    Ok(())
}

fn heading(report: &Report, at: Option<UnixNs>, hosts: usize) -> String {
    let clocks = if report.sync || hosts < 2 { "" } else { ", each host on its own clock" };
    if let (Some(at), true) =
        (at, AnalysisKind::of(report.analysis).is_some_and(AnalysisKind::answers_instant))
    {
        return format!("{}: at {} {}{clocks}", report.analysis, time::full(at), time::zone_name());
    }
    let Some([begin, end]) = report.range else {
        // What is about two runs has no time of its own.
        let is_of_runs = report.analysis == "diff";
        return if is_of_runs { "diff".to_owned() } else { format!("{}: no events", report.analysis) };
    };
    let span = figures::span(end - begin);
    let (begin, end, zone) = (time::full(begin), time::full(end), time::zone_name());
    let (times, length) =
        (format!("{}: {begin} to {end} {zone}", report.analysis), format!("({span}){clocks}"));
    let is_narrow = output::width().is_some_and(|room| times.len() + 1 + length.len() > room);
    times + if is_narrow { "\n  " } else { " " } + &length
}

/// Columns that are left out where not all fit, in this order: those that follow from others, then those that
/// are seldom needed. Programs get all.
const SPARE: &[&str] = &[
    "raised_stdev_ns",
    "stdev_ns",
    "raised_total_ns",
    "raised_min_ns",
    "priorities",
    "close_on_exec",
    "waker_pid",
    "others",
    "opened_by",
    "closed_by",
    "switch_ns",
    "interrupt_since_ns",
    "syscall_since_ns",
    "priority",
    "ppid",
    "kernel",
    "min_ns",
    "p999_ns",
    "raised_count",
    "migrations",
    "last_seen_ns",
    "first_seen_ns",
    "waker_comm",
    "raised_max_ns",
    "raised_avg_ns",
    "end_ns",
    "p50_ns",
    "waker_tid",
    "mode",
    "avg_ns",
    "unknown_ns",
    "interrupt",
    "pid",
    "errors",
    "begin_ns",
    "cpu",
    "max_ns",
];

/// Whether a column is redundant: all of its cells are empty, or they follow from others.
fn is_implied(table: &Table, column: usize) -> bool {
    let rows = &table.rows;
    let is_empty = |cell: &Cell| matches!(cell, Cell::Unknown | Cell::NotApplicable);
    match &*table.columns[column].name {
        // The heading has it.
        "at_ns" => rows.column(column).all(|at| Some(at) == rows.cell(0, column)),
        // The number of a process is that of its first thread.
        "pid" => table
            .column("tid")
            .is_some_and(|tid| rows.iter().all(|row| is_empty(&row[column]) || row[column] == row[tid])),
        // No thread is known to be in a container.
        "pid_namespace" | "vpid" | "vtid" => table
            .column("tid")
            .zip(table.column("vtid"))
            .is_some_and(|(tid, vtid)| rows.iter().all(|row| is_empty(&row[vtid]) || row[vtid] == row[tid])),
        // All that the CPUs did is known.
        "unknown_ns" => rows.iter().all(|row| row[column] == Cell::Int(0)),
        _ => rows.iter().all(|row| is_empty(&row[column])),
    }
}

/// The columns of a table as text: their indices, their headings, and whether they are aligned right.
fn columns(shown: &Table) -> (Vec<usize>, Vec<String>, Vec<bool>) {
    let indices: Vec<usize> =
        shown.shown().into_iter().filter(|&column| !is_implied(shown, column)).collect();
    let header = indices.iter().map(|&column| shown.columns[column].words()).collect();
    let is_right = |column: usize| {
        shown.columns[column].unit != Unit::None
            || shown.rows.iter().all(|row| !matches!(row[column], Cell::Text(_) | Cell::Call(_)))
    };
    let rights = indices.iter().map(|&column| is_right(column)).collect();
    (indices, header, rights)
}

/// The same for a page: the first rows, and as many columns as fit on paper.
pub(crate) fn for_page(shown: &Table, max_rows: usize) -> isochrone_export::html::Table {
    /// Maximum number of columns where some can be left out.
    const COLUMNS: usize = 9;
    /// Maximum number of columns.
    const MAX_COLUMNS: usize = 11;
    let mut shown = shown.clone();
    shown.cut(max_rows);
    let (mut indices, mut header, mut is_number) = columns(&shown);
    for name in SPARE {
        if indices.len() <= COLUMNS {
            break;
        }
        if let Some(spare) = indices.iter().position(|&column| shown.columns[column].name == *name) {
            indices.remove(spare);
            header.remove(spare);
            is_number.remove(spare);
        }
    }
    // Of numbers, those on the right are less important.
    while indices.len() > MAX_COLUMNS
        && let Some(last) = is_number.iter().rposition(|is_number| *is_number)
    {
        indices.remove(last);
        header.remove(last);
        is_number.remove(last);
    }
    let cells = |row: Vec<Cell>| {
        indices.iter().map(|&column| with_bounds(&shown, &row, column).into_owned()).collect()
    };
    isochrone_export::html::Table {
        header,
        is_number,
        rows: shown.rows.iter().map(cells).collect(),
        shares: shown.shares(),
    }
}

fn print_table(shown: &Table, out: &mut impl Write) -> io::Result<()> {
    let (indices, header, rights) = columns(shown);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let is_right = |column| rights.get(column).copied().unwrap_or(false);
    let spare: Vec<usize> = SPARE
        .iter()
        .filter_map(|name| indices.iter().position(|&column| shown.columns[column].name == *name))
        .collect();
    let last_spare = last_spare(shown, &indices);
    let layout = table::Layout {
        header: &header,
        is_right: &is_right,
        spare: &spare,
        last_spare: &last_spare,
        indent: table::INDENT,
        room: output::width(),
    };
    // Long tables have more rows than there is memory for their texts.
    let texts = |row: Vec<Cell>| -> Vec<String> {
        indices.iter().map(|&column| with_bounds(shown, &row, column).into_owned()).collect()
    };
    let rows = || shown.rows.iter().map(texts);
    let fit = layout.fit(&rows);
    let bars = match fit.left.saturating_sub(2).min(BAR) {
        0..MIN_BAR => Vec::new(),
        width => shown.bars(width),
    };
    layout.print(&fit, rows, |row| bars.get(row).map(String::as_str), out)?;
    let left_out: Vec<&str> = fit.left_out().map(|column| header[column]).collect();
    if !left_out.is_empty() {
        writeln!(out, "{}", wrapped(&format!("no room for: {} (--wide)", left_out.join(", ")), layout.room))?;
    }
    Ok(())
}

/// The columns that are left out, in this order, where texts that are cut are not enough, as indices into
/// those that are shown: figures from the right, then names. What the table is about stays: its first column,
/// what it is drawn by, its times, and the first figure.
fn last_spare(shown: &Table, indices: &[usize]) -> Vec<usize> {
    let is_figure = |at: &usize| !matches!(shown.columns[indices[*at]].unit, Unit::None | Unit::Time);
    let drawn = shown.drawn.map(|drawn| drawn.column);
    let figures: Vec<usize> = (0..indices.len()).filter(is_figure).skip(1).collect();
    let names = (1..indices.len()).rev().filter(|at| shown.columns[indices[*at]].unit == Unit::None);
    figures.into_iter().rev().chain(names).filter(|at| Some(indices[*at]) != drawn).collect()
}

/// A line below a table, wrapped to the width.
fn wrapped(text: &str, room: Option<usize>) -> String {
    let mut lines = vec![String::from(" ")];
    for word in text.split(' ') {
        let taken = lines.last().map_or(0, String::len);
        if room.is_some_and(|room| taken + 1 + word.len() > room) {
            lines.push(String::from("   "));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// A cell, with its bounds if they are known.
fn with_bounds<'t>(table: &Table, row: &'t [Cell], column: usize) -> Cow<'t, str> {
    let shown = text(&row[column], table.columns[column].unit);
    let (Some((lo, hi)), &Cell::Int(at)) = (table.bounds_of(column), &row[column]) else { return shown };
    let side = |column: usize| match row[column] {
        Cell::Int(bound) => i64::try_from(bound - at).ok(),
        _ => None,
    };
    let bounds = side(lo).zip(side(hi)).map_or_else(|| "±?".to_owned(), |(lo, hi)| figures::bounds(lo, hi));
    format!("{shown} {bounds}").into()
}

fn text(cell: &Cell, unit: Unit) -> Cow<'_, str> {
    let short = |value: i128| i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    match (cell, unit) {
        (Cell::Unknown, _) => UNKNOWN.into(),
        (Cell::NotApplicable, _) => NONE.into(),
        (Cell::Text(text), _) => text.into(),
        (Cell::Call(call), _) => call.to_string().into(),
        (&Cell::Int(value), Unit::Ns) => figures::duration(short(value)).into(),
        (&Cell::Int(value), Unit::Time) => {
            let mut of_day = Vec::new();
            time::put(&mut of_day, UnixNs(value), false);
            String::from_utf8_lossy(&of_day).into_owned().into()
        }
        (&Cell::Int(value), Unit::Count | Unit::Bytes) if value >= 0 => {
            figures::count(value.unsigned_abs()).into()
        }
        (&Cell::Int(value), Unit::Percent) => format!("{value} %").into(),
        (&Cell::Int(value), _) => value.to_string().into(),
        (&Cell::Float(value), Unit::Ns) => figures::duration(value.round() as i64).into(),
        (&Cell::Float(value), Unit::Percent) => format!("{value:.2} %").into(),
        (&Cell::Float(value), _) => format!("{value:.2}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units() {
        let check = |cell: Cell, unit, expect: &str| assert_eq!(text(&cell, unit), expect, "{cell:?}");
        check(Cell::Unknown, Unit::Ns, "?");
        check(Cell::NotApplicable, Unit::Ns, "-");
        check(Cell::Int(1_500), Unit::Ns, "1.500 µs");
        check(Cell::Float(1_500.4), Unit::Ns, "1.500 µs");
        check(Cell::Int(1_234_567), Unit::Count, "1,234,567");
        check(Cell::Int(-5), Unit::Count, "-5");
        check(Cell::Int(1_000_000_001), Unit::Time, "00:00:01.000000001");
        check(Cell::Float(12.345), Unit::Percent, "12.35 %");
        check(Cell::Int(42), Unit::None, "42");
        check(Cell::text("sh"), Unit::None, "sh");
    }
}
