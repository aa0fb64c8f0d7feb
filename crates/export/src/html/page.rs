//! A page that needs nothing but itself: no script, no font, no picture from elsewhere; readable in the dark and on paper. What all HTML
//! reports of this folder begin and end with.

use std::fmt::Write as _;

use super::svg::escaped;

/// Colours mean one thing everywhere; those of the dark are chosen for it.
const STYLE: &str = "
:root { color-scheme: light dark; --bg: #fff; --fg: #1c2026; --muted: #5d6570; --line: #dfe3e8; --forth: #2f6fd6; --back: #b5530a; --corridor: #2f6fd620; --likely: #1a7f3750; --estimate: #1a7f37; --bad: #c9182b; --break: #b0600040; }
@media (prefers-color-scheme: dark) { :root { --bg: #16181d; --fg: #e4e7ec; --muted: #a0a8b4; --line: #30343c; --forth: #6ea5ff; --back: #ffa45c; --corridor: #6ea5ff22; --likely: #57c17650; --estimate: #57c176; --bad: #ff6070; --break: #e0a04040; } }
@media print { :root { --bg: #fff; --fg: #000; --muted: #444; --line: #ccc; --forth: #2f6fd6; --back: #b5530a; --corridor: #2f6fd620; --likely: #1a7f3750; --estimate: #1a7f37; --bad: #c9182b; --break: #b0600040; } figure, tr, .link dl { break-inside: avoid; } h2 { break-after: avoid; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
body { background: var(--bg); color: var(--fg); font: 14px/1.5 system-ui, \"DejaVu Sans\", sans-serif; max-width: 960px; margin: 0 auto; padding: 20px; }
h1 { font-size: 22px; margin: 0 0 8px; } h2 { font-size: 17px; margin: 28px 0 8px; }
.verdict { font-size: 16px; margin: 4px 0; white-space: pre-line; } .note, footer, figcaption { color: var(--muted); font-size: 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--muted); font-weight: 600; } .number { text-align: right; white-space: nowrap; }
dl { display: flex; flex-wrap: wrap; gap: 2px 28px; margin: 0 0 8px; } dl div { display: flex; gap: 8px; } dt { color: var(--muted); } dd { margin: 0; font-variant-numeric: tabular-nums; }
figure { margin: 10px 0; } svg { max-width: 100%; height: auto; display: block; }
svg text { fill: var(--fg); font: 12px system-ui, \"DejaVu Sans\", sans-serif; } svg .mark, svg .note { fill: var(--muted); font-size: 11px; } svg .mark, svg .note, svg .label { paint-order: stroke; stroke: var(--bg); stroke-width: 3px; stroke-linejoin: round; }
.grid { stroke: var(--line); } .axis { stroke: var(--muted); } .corridor { fill: var(--corridor); } .likely { fill: var(--likely); } .bound { fill: none; stroke: var(--muted); stroke-dasharray: 3 2; }
.forth, .back { fill: none; stroke-width: 2.4; stroke-linecap: round; } .forth { stroke: var(--forth); } .back { stroke: var(--back); } .hull { fill: none; stroke: var(--fg); stroke-width: 1.2; }
.estimate { stroke: var(--estimate); stroke-width: 1.4; } .break { fill: var(--break); } .suspect { fill: none; stroke: var(--bad); stroke-width: 1.6; }
.forth-bar { fill: var(--forth); } .back-bar { fill: var(--back); } .floor { stroke: var(--estimate); stroke-dasharray: 4 3; }
.arrow { stroke: var(--muted); fill: var(--muted); } .arrow.inverted { stroke: var(--bad); fill: var(--bad); }
.edge { stroke: var(--muted); stroke-width: 1.5; } .edge.incomplete, .edge.approximate { stroke-dasharray: 6 4; } .edge.refused { stroke: var(--bad); stroke-dasharray: 2 3; } .edge.trusted { stroke-width: 3.5; }
.node { stroke: var(--fg); stroke-width: 1.2; } .node.reference { fill: var(--bg); stroke-width: 3; } .node.unproven { fill: var(--bad); }
.sure0 { fill: #e8f1fb; } .sure1 { fill: #c3dcf5; } .sure2 { fill: #93c0ec; } .sure3 { fill: #5d9bdc; } .sure4 { fill: #3273be; } .sure5 { fill: #184d8c; }
";

/// A table as people read it.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Headings of its columns.
    pub header: Vec<String>,
    /// Whether the values of a column are figures, which stand to the right.
    pub is_number: Vec<bool>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    program: String,
}

impl Page {
    pub(crate) fn new(title: &str, program: &str) -> Self {
        let title = escaped(title);
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        Self { text, program: program.to_owned() }
    }

    pub(crate) fn paragraph(&mut self, class: &str, text: &str) {
        let _ = writeln!(self.text, "<p class=\"{class}\">{}</p>", escaped_lines(text));
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.text, "<h2>{}</h2>", escaped(text));
    }

    /// A picture, and what it shows.
    pub(crate) fn figure(&mut self, picture: &str, says: &str) {
        let _ = writeln!(self.text, "<figure>{picture}<figcaption>{}</figcaption></figure>", escaped(says));
    }

    pub(crate) fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let class =
            |column: usize| if table.is_number.get(column) == Some(&true) { " class=\"number\"" } else { "" };
        self.text.push_str("<div class=\"wide\"><table><thead><tr>");
        for (column, name) in table.header.iter().enumerate() {
            let _ = write!(self.text, "<th{}>{}</th>", class(column), escaped(name));
        }
        self.text.push_str("</tr></thead><tbody>");
        for row in &table.rows {
            self.text.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let _ = write!(self.text, "<td{}>{}</td>", class(column), escaped(cell));
            }
            self.text.push_str("</tr>\n");
        }
        self.text.push_str("</tbody></table></div>\n");
    }

    pub(crate) fn list(&mut self, lines: &[String]) {
        self.text.push_str("<ul>");
        for line in lines {
            let _ = writeln!(self.text, "<li>{}</li>", escaped(line));
        }
        self.text.push_str("</ul>\n");
    }

    /// A part that is HTML already.
    pub(crate) fn part(&mut self, html: &str) {
        self.text.push_str(html);
    }

    pub(crate) fn finish(mut self) -> String {
        let _ = writeln!(self.text, "<footer><p>{}</p></footer></body></html>", escaped(&self.program));
        self.text
    }
}

/// As [`escaped`], with the ends of lines left as they are.
fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}
