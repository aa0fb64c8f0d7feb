//! `memtop`.

use super::Maker;
use crate::lami::classes;

pub(super) fn memtop(maker: &mut Maker<'_>) {
    let top = [("allocated_pages", &classes::MEMORY_ALLOCD), ("freed_pages", &classes::MEMORY_FREED)];
    for (figure, class) in top {
        maker.top("processes", figure, class, None, move |row| vec![row.process(""), row.number(figure)]);
    }
    maker.all("total", &classes::MEMORY_TOTAL, |row| {
        vec![row.number("allocated_pages"), row.number("freed_pages")]
    });
}
