//! `iolog`, `iolatencytop`, `iolatencystats`, `iolatencyfreq`, `iousagetop`.

use isochrone_analysis::Cell;

use super::{Maker, Row, text};
use crate::lami::classes::io;
use crate::lami::object::Object;

/// A call as the log and the tops show it.
fn call(row: &Row<'_>, range: [i128; 2]) -> Vec<Object> {
    let time = row.time_range("begin_ns", "end_ns");
    let is_out = matches!(time, Object::TimeRange(begin, end) if begin < range[0] || end > range[1]);
    let [path, fd] = ["path", "fd"].map(|column| row.cell(column));
    vec![
        time,
        Object::Bool(is_out),
        row.duration("duration_ns"),
        row.named("syscall", "syscall"),
        row.size("bytes"),
        row.process(""),
        match path {
            Cell::None => Object::Empty,
            Cell::Null => Object::Unknown,
            path => Object::Path(path),
        },
        if fd.is_missing() { Object::Empty } else { Object::Fd(fd) },
    ]
}

pub(super) fn iolog(maker: &mut Maker<'_>) {
    let range = maker.report.range.unwrap_or_default();
    maker.all("log", &io::LOG, move |row| call(row, range));
}

pub(super) fn iolatencytop(maker: &mut Maker<'_>) {
    let range = maker.report.range.unwrap_or_default();
    for table in maker.report.tables.iter().map(|table| table.name) {
        let rows = maker.rows(table);
        maker.push(&io::TOP_SYSCALL, Some(table.to_owned()), rows, move |row| call(row, range));
    }
}

pub(super) fn iolatencystats(maker: &mut Maker<'_>) {
    maker.all("calls", &io::SYSCALL_LATENCY_STATS, |row| {
        // Its consumers know the categories with a capital.
        let kind = text(&row.cell("kind")).unwrap_or_default();
        let mut letters = kind.chars();
        let kind =
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect();
        std::iter::once(Object::String(kind)).chain(row.stats("")).collect()
    });
    maker.all("disks", &io::DISK_LATENCY_STATS, |row| {
        std::iter::once(row.named("disk", "disk")).chain(row.stats("")).collect()
    });
}

pub(super) fn iolatencyfreq(maker: &mut Maker<'_>) {
    let title = |row: &Row<'_>| {
        let name = text(&row.cell("name")).unwrap_or_else(|| "?".into());
        match row.cell("of") {
            Cell::Text(of) if of == "disk" => format!("disk: {name}"),
            _ => name,
        }
    };
    maker.groups("freq", 3, &io::FREQ, title, Row::bar);
}

/// The tables of each direction by what went in it.
pub(super) fn iousagetop(maker: &mut Maker<'_>) {
    for direction in ["read", "written"] {
        let all = format!("{direction}_bytes");
        let of = ["file", "net", "other"].map(|medium| format!("{medium}_{direction}_bytes"));
        let total = all.clone();
        maker.top("processes", &all, &io::PER_PROCESS_TOP, Some(direction), move |row| {
            let sizes = of.iter().map(|column| row.size(column));
            [row.process(""), row.size(&total)].into_iter().chain(sizes).collect()
        });
    }
    for direction in ["read", "written"] {
        let all = format!("{direction}_bytes");
        let figure = all.clone();
        maker.top("files", &all, &io::PER_FILE_TOP, Some(direction), move |row| {
            let path = match row.cell("path") {
                Cell::Null | Cell::None => Object::Unknown,
                path => Object::Path(path),
            };
            vec![path, row.size(&figure), row.string("owners")]
        });
    }
    for direction in ["read", "written"] {
        let all = format!("{direction}_bytes");
        let figure = all.clone();
        maker.top("blocks", &all, &io::PER_PROCESS_TOP_BLOCK, Some(direction), move |row| {
            vec![row.process(""), row.size(&figure)]
        });
    }
    maker.top("disks", "sectors", &io::PER_DISK_TOP_SECTOR, None, |row| {
        vec![row.named("disk", "disk"), row.number("sectors")]
    });
    maker.top("disks", "requests", &io::PER_DISK_TOP_REQUEST, None, |row| {
        vec![row.named("disk", "disk"), row.number("requests")]
    });
    maker.top("disks", "requests", &io::PER_DISK_TOP_RPS, None, |row| {
        vec![row.named("disk", "disk"), row.duration("avg_ns")]
    });
    for direction in ["received", "sent"] {
        let all = format!("{direction}_bytes");
        let figure = all.clone();
        maker.top("interfaces", &all, &io::PER_NETIF_TOP, Some(direction), move |row| {
            vec![row.named("netif", "interface"), row.size(&figure)]
        });
    }
}
