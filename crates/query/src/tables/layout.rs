//! The columns of the tables of spans, and the columns of a store that each of them is made of.
//!
//! The kinds of columns are those that the store has for them ([`isochrone_store::tables`]): a time becomes
//! four columns, a thread becomes four columns, a number that stands for a word becomes that. `docs/sql.md`
//! is made of this list.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use isochrone_store::TableInfo;

/// A table of a store as a table of queries.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Its name.
    pub(crate) name: &'static str,
    /// The table of the store that it is made of.
    pub(crate) stored: &'static str,
    /// Its columns after `host`, separated by spaces: columns of the store (`name=column` where it has
    /// another name there), `duration`, and `name=errno(column)`, `name=address(column)`,
    /// `name=port(column)`.
    pub(crate) columns: Cow<'static, str>,
    /// The column of the store, and its value, that rows have to have.
    pub(crate) only: Option<(&'static str, &'static str)>,
}

/// A table of all rows of a table of the store.
const fn table(name: &'static str, stored: &'static str, columns: &'static str) -> Layout {
    Layout { name, stored, columns: Cow::Borrowed(columns), only: None }
}

/// The tables of spans of a store that are not tables of queries: packets as they leave a queue have no
/// meaning without those that were put there.
const LEFT_OUT: &[&str] = &["packets_taken"];

/// All of them: [`CHOSEN`], and the other tables of spans with all their columns.
pub(crate) static LAYOUTS: LazyLock<Vec<Layout>> = LazyLock::new(|| {
    let is_other = |table: &&TableInfo| {
        !LEFT_OUT.contains(&table.name) && CHOSEN.iter().all(|layout| layout.stored != table.name)
    };
    CHOSEN.iter().cloned().chain(isochrone_store::span_tables().filter(is_other).map(whole)).collect()
});

/// A table as it is stored, with the duration of what starts and ends.
fn whole(table: &'static TableInfo) -> Layout {
    let mut columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    if ["begin", "end"].iter().all(|end| columns.contains(end)) {
        columns.push("duration");
    }
    Layout { columns: columns.join(" ").into(), ..self::table(table.name, table.name, "") }
}

/// Tables whose columns have another order or other names than they are stored with.
const CHOSEN: &[Layout] = &[
    table("slices", "slices", "cpu thread priority begin end duration"),
    table("unknown_times", "unknown", "cpu begin end duration"),
    table("syscalls", "syscalls", "thread cpu name fd ret error=errno(ret) begin end duration action"),
    table("half_syscalls", "half_syscalls", "thread cpu name fd is_begin at"),
    table("irqs", "irqs", "cpu irq=number name ret begin end duration"),
    table("softirqs", "softirqs", "cpu vector raised begin end duration"),
    table("wakeups", "wakeups", "thread waker cpu target_cpu cause source at"),
    table("latencies", "latencies", "thread waker cpu priority begin end duration"),
    table("off_cpu", "off", "thread waker why begin end duration"),
    table("migrations", "migrations", "thread to_cpu at"),
    table("thread_events", "thread_events", "thread what other name at"),
    table("polls", "polls", "thread epoll_fd=set waited waited_count ready ready_count at"),
    table("object_uses", "object_uses", "thread what number target is_event at"),
    table(
        "fds",
        "files",
        "process fd kind path=name \
         thread begin end duration is_begin_seen is_end_seen opened_by closed_by is_doubtful \
         reads read_bytes writes written_bytes others errors",
    ),
    Layout {
        name: "sockets",
        stored: "files",
        columns: Cow::Borrowed(
            "process fd local_address=address(local) local_port=port(local) peer_address=address(peer) \
             peer_port=port(peer) \
             thread begin end duration is_begin_seen is_end_seen opened_by closed_by is_doubtful \
             reads read_bytes writes written_bytes others errors",
        ),
        only: Some(("kind", "socket")),
    },
    table(
        "block_requests",
        "block_requests",
        "device sector sectors is_write thread bytes begin end duration inserted issued completed error is_partial",
    ),
    table("packets", "packets", "cpu thread device bytes is_sent at"),
    table(
        "packet_flows",
        "packet_flows",
        "cpu is_sent protocol source source_port destination destination_port payload seq flags at",
    ),
    table("pages", "pages", "thread pages is_free at"),
    table("page_faults", "page_faults", "thread cpu address ip code is_user begin end"),
    table("mappings", "mappings", "thread what name other address bytes sharing made at"),
    table("phases", "phases", "thread name begin end duration"),
    table("losses", "losses", "cpu what count begin end"),
];

/// The address and the port in the text of a socket's address; not those of sockets that are named by a path.
pub(crate) fn address_and_port(text: &str) -> Option<(&str, u16)> {
    let (address, port) = text.rsplit_once(':')?;
    let address = address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(address);
    address.parse::<IpAddr>().ok()?;
    Some((address, port.parse().ok()?))
}

/// An address as it is stored, as text: IPv4 where it is mapped.
pub(crate) fn address_text(octets: &[u8]) -> Option<String> {
    let octets: [u8; 16] = octets.try_into().ok()?;
    Some(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical().to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;
    use crate::tables::stored::columns;

    const FROM: &str = "<!-- Made of crates/query/src/tables/layout.rs. -->\n\n";
    const TO: &str = "\n<!-- End of what is made. -->";

    /// The table of tables. Of columns of one instant or thread, the first is listed.
    fn made() -> String {
        let mut text = "| table | a row | columns |\n|---|---|---|\n".to_owned();
        for layout in LAYOUTS.iter() {
            let (stored, fields, makers) = columns(layout).unwrap();
            let first = fields.iter().zip(&makers).filter(|(_, maker)| maker.is_first());
            let names: Vec<String> = first.map(|(field, _)| format!("`{}`", field.name())).collect();
            let about = stored.about.trim();
            let about = about.find(". ").map_or(about, |end| &about[..=end]);
            writeln!(text, "| `{}` | {about} | {} |", layout.name, names.join(", ")).unwrap();
        }
        text
    }

    /// With `ISOCHRONE_UPDATE_DOCS` in the environment, the document is made current.
    #[test]
    fn the_document_has_all_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(FROM).unwrap();
        let (old, after) = rest.split_once(TO).unwrap();
        if std::env::var_os("ISOCHRONE_UPDATE_DOCS").is_some() {
            std::fs::write(&path, [before, FROM, &made(), TO, after].concat()).unwrap();
        } else {
            assert_eq!(old, made());
        }
    }

    /// A new column of the store is in a table here, or is left out on purpose.
    #[test]
    fn columns_are_listed() {
        let mut left_out = Vec::new();
        for table in isochrone_store::span_tables().filter(|table| !LEFT_OUT.contains(&table.name)) {
            let layouts = LAYOUTS.iter().filter(|layout| layout.stored == table.name);
            let listed: Vec<&str> =
                layouts.flat_map(|layout| layout.columns.split([' ', '=', '(', ')'])).collect();
            let is_absent = |column: &&isochrone_store::ColumnInfo| !listed.contains(&column.name);
            let absent = table.columns.iter().filter(is_absent);
            left_out.extend(absent.map(|column| format!("{}.{}", table.name, column.name)));
        }
        left_out.sort();
        let expect = [
            "files.close_on_exec",
            "files.doubtful_from",
            "files.open_from",
            "packets.buffer",
            "unknown.thread",
        ];
        assert_eq!(left_out, expect);
    }

    /// A table that is not listed has all its columns, and how long its rows last.
    #[test]
    fn other_tables_are_whole() {
        let table = TableInfo::of("softirqs").unwrap();
        assert_eq!(whole(table).columns, "cpu vector raised begin end duration");
        assert_eq!(whole(TableInfo::of("packets_taken").unwrap()).columns, "at cpu buffer");
    }

    #[test]
    fn addresses() {
        let check = |text, expect| assert_eq!(address_and_port(text), expect, "{text}");
        check("10.0.0.1:80", Some(("10.0.0.1", 80)));
        check("[fe80::1]:443", Some(("fe80::1", 443)));
        check("/run/x.sock", None);
        check("/run/x:80", None);
        check("", None);
        assert_eq!(address_text(&[0; 16]).as_deref(), Some("::"));
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1];
        assert_eq!(address_text(&mapped).as_deref(), Some("10.0.0.1"));
        assert_eq!(address_text(&[1]), None);
    }
}
