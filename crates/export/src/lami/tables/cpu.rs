//! `cputop`.

use super::Maker;
use crate::lami::classes;
use crate::lami::object::Object;

pub(super) fn cputop(maker: &mut Maker<'_>) {
    maker.all("processes", &classes::CPU_PER_PROCESS, |row| {
        let priorities: Vec<String> = match row.string("priorities") {
            Object::String(text) => text.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        vec![
            row.process(""),
            row.number("migrations"),
            Object::String(format!("[{}]", priorities.join(", "))),
            row.ratio("percent"),
        ]
    });
    maker.all("cpus", &classes::CPU_PER_CPU, |row| vec![Object::Cpu(row.cell("cpu")), row.ratio("percent")]);
    maker.all("total", &classes::CPU_TOTAL, |row| vec![row.ratio("percent")]);
}
