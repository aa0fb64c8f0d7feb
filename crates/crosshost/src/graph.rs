//! Reports as graphs for Graphviz: hosts as boxes, processes as nodes, an edge for each row.

use std::collections::BTreeMap;
use std::fmt::Write;

use isochrone_analysis::{Cell, Report, Table};

/// The graph of a report, in the DOT language: of `ipc` an edge from the acting process, of `blocking` from the waiting one. Other reports have no nodes.
/// Linear in the rows.
pub fn dot(report: &Report) -> String {
    let mut graph = Graph::default();
    if let Some(table) = report.table("relations") {
        for row in &table.rows {
            let row = Row { table, cells: &row };
            let to = graph.process(&row, "to_");
            let from = match row.is_there("from_pid") {
                true => graph.process(&row, "from_"),
                false => graph.node(&row.text("from_host"), "timer", "timer"),
            };
            let object = match row.is_there("object") {
                true => format!(" {}", row.text("object")),
                false => String::new(),
            };
            let (kind, count) = (row.text("kind"), row.text("count"));
            let label = format!("{kind}{object} ×{count}, {}", row.ms("waited_ns"));
            graph.edge(&from, &to, &label);
        }
    }
    if let Some(table) = report.table("ended") {
        for row in &table.rows {
            let row = Row { table, cells: &row };
            let from = graph.process(&row, "");
            let (cause, total) = (row.text("cause"), row.ms("total_ns"));
            let label = format!("{cause} ×{}, {total}", row.text("count"));
            let to = match row.is_there("by_pid") {
                true => graph.process(&row, "by_"),
                // A timer, a disk, or an unknown thread.
                false => graph.node(&row.text("host"), &cause, &cause),
            };
            graph.edge(&from, &to, &label);
        }
    }
    graph.text(report.analysis)
}

/// A row of a table, by the names of its columns.
struct Row<'r> {
    table: &'r Table,
    cells: &'r [Cell],
}

impl Row<'_> {
    fn cell(&self, column: &str) -> Option<&Cell> {
        self.cells.get(self.table.column(column)?)
    }

    fn is_there(&self, column: &str) -> bool {
        matches!(self.cell(column), Some(Cell::Int(_) | Cell::Text(_)))
    }

    fn text(&self, column: &str) -> String {
        match self.cell(column) {
            Some(Cell::Text(text)) => text.to_string(),
            Some(Cell::Int(number)) => number.to_string(),
            _ => "?".to_owned(),
        }
    }

    fn ms(&self, column: &str) -> String {
        match self.cell(column) {
            Some(Cell::Int(ns)) => format!("{:.1} ms", *ns as f64 / 1e6),
            _ => "? ms".to_owned(),
        }
    }
}

/// A graph that is made.
#[derive(Debug, Default)]
struct Graph {
    /// By host: labels of its nodes.
    hosts: BTreeMap<String, BTreeMap<String, String>>,
    edges: String,
}

impl Graph {
    /// The node of a name on a host; returns what it is called in edges.
    fn node(&mut self, host: &str, name: &str, label: &str) -> String {
        let id = format!("{host}:{name}");
        self.hosts.entry(host.to_owned()).or_default().insert(id.clone(), label.to_owned());
        id
    }

    /// The node of the process whose columns start with a prefix.
    fn process(&mut self, row: &Row<'_>, prefix: &str) -> String {
        let [host, pid, comm] = ["host", "pid", "comm"].map(|what| row.text(&format!("{prefix}{what}")));
        self.node(&host, &pid, &format!("{comm} {pid}"))
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        let _ = writeln!(self.edges, "  {} -> {} [label={}];", quoted(from), quoted(to), quoted(label));
    }

    fn text(&self, name: &str) -> String {
        let mut text = format!("digraph {name} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (number, (host, nodes)) in self.hosts.iter().enumerate() {
            let _ = writeln!(text, "  subgraph cluster_{number} {{\n    label={};", quoted(host));
            for (id, label) in nodes {
                let _ = writeln!(text, "    {} [label={}];", quoted(id), quoted(label));
            }
            text.push_str("  }\n");
        }
        text + &self.edges + "}\n"
    }
}

/// A string of the DOT language.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_traces_stay_strings() {
        let check = |text, expect: &str| assert_eq!(quoted(text), expect);
        check("web:1", r#""web:1""#);
        check("a\"];x -> y\n\\", r#""a\"];x -> y?\\""#);
    }
}
