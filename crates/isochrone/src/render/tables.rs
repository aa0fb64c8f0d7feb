//! Reports of analyses for people: a heading, tables with units that fit, bars where there is something to see.

use std::borrow::Cow;
use std::io::{self, Write};

use isochrone_analysis::{AnalysisKind, Cell, Column, Report, Table, Unit};

use super::{figures, table, time};

/// Characters of the longest bar.
const BAR: usize = 30;
/// The character of tables for what is not known.
const UNKNOWN: &str = "?";

/// Prints a report of so many hosts: what it is about, and its tables, or the one of a name. `at`: the instant that it is of.
pub(crate) fn print(
    report: &Report,
    name: Option<&str>,
    at: Option<i128>,
    hosts: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{}", heading(report, at, hosts))?;
    for table in report.tables.iter().filter(|table| name.is_none_or(|name| table.name == name)) {
        writeln!(out, "\n{}", table.title)?;
        if table.rows.is_empty() {
            writeln!(out, " nothing")?;
        } else {
            print_table(table, out)?;
        }
    }
    Ok(())
}

fn heading(report: &Report, at: Option<i128>, hosts: usize) -> String {
    let clocks = if report.sync || hosts < 2 { "" } else { ", each host on its own clock" };
    if let (Some(at), true) =
        (at, AnalysisKind::of(report.analysis).is_some_and(AnalysisKind::answers_instant))
    {
        return format!("{}: at {} UTC{clocks}", report.analysis, time::full(at));
    }
    let Some([begin, end]) = report.range else { return format!("{}: no events", report.analysis) };
    let span = figures::duration(i64::try_from(end - begin).unwrap_or(i64::MAX));
    format!("{}: {} to {} UTC ({span}){clocks}", report.analysis, time::full(begin), time::full(end))
}

fn print_table(shown: &Table, out: &mut impl Write) -> io::Result<()> {
    let places = shown.shown();
    let mut header: Vec<String> = places.iter().map(|&place| title(&shown.columns[place])).collect();
    let bars = shown.bars(BAR);
    if !bars.is_empty() {
        header.push(String::new());
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rights: Vec<bool> = places
        .iter()
        .map(|&place| {
            shown.columns[place].unit != Unit::None
                || shown.rows.iter().all(|row| !matches!(row[place], Cell::Text(_)))
        })
        .collect();
    let is_right = |column| rights.get(column).copied().unwrap_or(false);
    // Long tables have more rows than there is memory for their texts.
    let rows = || {
        let bars = bars.iter().map(|bar| Some(Cow::Borrowed(bar.as_str()))).chain(std::iter::repeat(None));
        shown.rows.iter().zip(bars).map(|(row, bar)| {
            let cells = places.iter().map(|&place| text(&row[place], shown.columns[place].unit));
            cells.chain(bar)
        })
    };
    table::print(&header, &is_right, rows, table::INDENT, out)
}

/// A column's name without its unit, which the values show.
fn title(column: &Column) -> String {
    match column.name {
        // Elsewhere a column of that name is the number of a CPU.
        "cpu_ns" => "cpu time".to_owned(),
        name => name.strip_suffix("_ns").unwrap_or(name).replace('_', " "),
    }
}

fn text(cell: &Cell, unit: Unit) -> Cow<'_, str> {
    let short = |value: i128| i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    match (cell, unit) {
        (Cell::Null, _) => UNKNOWN.into(),
        (Cell::Text(text), _) => text.into(),
        (&Cell::Int(value), Unit::Ns) => figures::duration(short(value)).into(),
        (&Cell::Int(value), Unit::Time) => {
            let mut of_day = Vec::new();
            time::put(&mut of_day, value, false);
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
        check(Cell::Null, Unit::Ns, "?");
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
