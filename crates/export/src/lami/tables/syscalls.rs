//! `syscallstats`.

use std::collections::BTreeMap;

use super::{Maker, Row, text};
use crate::lami::classes;
use crate::lami::object::Object;

/// Columns that say whose a row is: `host, pid, tid, comm`.
const WHO: usize = 4;

/// Whose call it is, and of which name: host, pid, tid, comm, call.
type Key = [Option<String>; WHO + 1];

fn key(row: &Row<'_>) -> Key {
    ["host", "pid", "tid", "comm", "syscall"].map(|column| text(&row.cell(column)))
}

/// One table for each thread.
pub(super) fn syscallstats(maker: &mut Maker<'_>) {
    let mut returns: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for row in maker.rows("returns") {
        let [result, count] = ["result", "count"].map(|column| text(&row.cell(column)).unwrap_or_default());
        returns.entry(key(&row)).or_default().push(format!("'{result}': {count}"));
    }
    let mut threads: BTreeMap<Vec<Option<String>>, Vec<Row<'_>>> = BTreeMap::new();
    for row in maker.rows("syscalls") {
        threads.entry(key(&row)[..WHO].to_vec()).or_default().push(row);
    }
    for (who, rows) in threads {
        let [pid, tid, comm] = [1, 2, 3].map(|place| who[place].as_deref().unwrap_or("?"));
        let subtitle = format!("{comm} ({pid}, TID: {tid})");
        let results: Vec<String> = rows
            .iter()
            .map(|row| {
                format!("{{{}}}", returns.get(&key(row)).map(|all| all.join(", ")).unwrap_or_default())
            })
            .collect();
        let of_name: BTreeMap<Key, String> = rows.iter().map(key).zip(results).collect();
        maker.push(&classes::SYSCALL_PER_TID, Some(subtitle), rows, move |row| {
            let results = of_name.get(&key(row)).cloned().unwrap_or_default();
            let name = std::iter::once(row.named("syscall", "syscall"));
            name.chain(row.stats("")).chain([Object::String(results)]).collect()
        });
    }
    maker.all("totals", &classes::SYSCALL_TOTAL, |row| vec![row.process(""), row.number("count")]);
}
