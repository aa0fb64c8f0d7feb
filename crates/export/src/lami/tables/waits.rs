//! `schedlog`, `schedtop`, `schedstats`, `schedfreq`.

use super::{Maker, Row, text};
use crate::lami::classes;
use crate::lami::object::Object;

fn wait(row: &Row<'_>) -> Vec<Object> {
    vec![
        row.timestamp("wakeup_ns"),
        row.timestamp("switch_ns"),
        row.duration("latency_ns"),
        row.number("priority"),
        Object::Cpu(row.cell("cpu")),
        row.process(""),
        row.process("waker_"),
    ]
}

pub(super) fn schedlog(maker: &mut Maker<'_>) {
    maker.all("log", &classes::SCHED_LOG, wait);
}

pub(super) fn schedtop(maker: &mut Maker<'_>) {
    maker.all("top", &classes::SCHED_TOP, wait);
}

pub(super) fn schedstats(maker: &mut Maker<'_>) {
    maker.all("total", &classes::SCHED_TOTAL_STATS, |row| row.stats("").to_vec());
    maker.all("threads", &classes::SCHED_PER_TID_STATS, |row| {
        let priorities = text(&row.cell("priorities")).unwrap_or_default();
        let list = Object::String(format!("[{}]", priorities.replace(' ', ", ")));
        std::iter::once(row.process("")).chain(row.stats("")).chain([list]).collect()
    });
    maker.all("priorities", &classes::SCHED_PER_PRIO_STATS, |row| {
        std::iter::once(row.number("priority")).chain(row.stats("")).collect()
    });
}

pub(super) fn schedfreq(maker: &mut Maker<'_>) {
    let thread = |row: &Row<'_>| format!("TID: {}", text(&row.cell("tid")).unwrap_or_else(|| "?".into()));
    maker.groups("freq", 1, &classes::SCHED_FREQ, |_| "all threads".to_owned(), Row::bar);
    maker.groups("thread_freq", 4, &classes::SCHED_FREQ, thread, Row::bar);
}
