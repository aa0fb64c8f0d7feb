//! `irqlog`, `irqstats`, `irqfreq`.

use isochrone_analysis::Cell;

use super::{Maker, Row, text};
use crate::lami::classes;
use crate::lami::object::Object;

fn irq(row: &Row<'_>, hard: bool) -> Object {
    Object::Irq { hard, number: row.cell("number"), name: row.cell("name") }
}

pub(super) fn irqlog(maker: &mut Maker<'_>) {
    maker.all("log", &classes::IRQ_LOG, |row| {
        let hard = matches!(row.cell("type"), Cell::Text(sort) if sort == "IRQ");
        vec![
            row.time_range("begin_ns", "end_ns"),
            if hard { Object::Empty } else { row.timestamp("raised_ns") },
            Object::Cpu(row.cell("cpu")),
            irq(row, hard),
        ]
    });
}

pub(super) fn irqstats(maker: &mut Maker<'_>) {
    maker.all("hard", &classes::IRQ_HARD_STATS, |row| {
        std::iter::once(irq(row, true)).chain(row.stats("")).collect()
    });
    maker.all("soft", &classes::IRQ_SOFT_STATS, |row| {
        std::iter::once(irq(row, false)).chain(row.stats("")).chain(row.stats("raised_")).collect()
    });
}

/// Of durations alone: the class has no place for what else is distributed.
pub(super) fn irqfreq(maker: &mut Maker<'_>) {
    let first = maker.results.len();
    let title = |row: &Row<'_>| {
        let [name, number] =
            ["name", "number"].map(|column| text(&row.cell(column)).unwrap_or_else(|| "?".into()));
        format!("{name} ({number})")
    };
    maker.groups("freq", 5, &classes::IRQ_FREQ, title, Row::bar);
    let is_duration = |row: &Row<'_>| matches!(row.cell("what"), Cell::Text(what) if what == "duration");
    maker.results[first..].iter_mut().for_each(|result| result.rows.retain(is_duration));
}
