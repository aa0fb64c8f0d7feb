//! A page that needs nothing but itself: no script, no font, no picture from elsewhere; readable in the dark and on paper. The head
//! and the foot of all HTML reports.
//!
//! The size of a page is bounded: texts, tables and lists are cut, each to its own limit, with the number of what was left out; the reports
//! limit the number of their pictures.

use std::fmt::Write as _;

use super::svg::escaped;

/// Colours, fonts, and how the page is printed.
const STYLE: &str = include_str!("style.css");

/// Maximum size of a table, bytes.
const MAX_TABLE_BYTES: usize = 150_000;
/// Maximum size of a cell, a heading or a line of a list, bytes.
const MAX_LINE_BYTES: usize = 1_000;
/// Maximum size of a paragraph, bytes.
const MAX_PARAGRAPH_BYTES: usize = 4_000;

/// A table as people read it.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Headings of its columns.
    pub header: Vec<String>,
    /// Whether the values of a column are numbers, which are aligned right.
    pub is_number: Vec<bool>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// Lengths of the bars after the rows, from 0 to 1; empty: no bars.
    pub shares: Vec<f64>,
}

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    program: String,
    /// Level of headings: 2, or 3 within a section.
    level: u8,
}

impl Page {
    pub(crate) fn new(title: &str, program: &str) -> Self {
        let title = escaped(title, MAX_LINE_BYTES);
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        Self { text, program: program.to_owned(), level: 2 }
    }

    pub(crate) fn paragraph(&mut self, class: &str, text: &str) {
        let text = escaped(text, MAX_PARAGRAPH_BYTES);
        let _ = writeln!(self.text, "<p class=\"{class}\">{text}</p>");
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let level = self.level;
        let _ = writeln!(self.text, "<h{level}>{}</h{level}>", escaped(text, MAX_LINE_BYTES));
    }

    /// Adds a section with a heading: headings within it are smaller.
    pub(crate) fn section(&mut self, heading: &str, fill: impl FnOnce(&mut Self)) {
        self.text.push_str("<section>");
        self.heading(heading);
        self.level += 1;
        fill(self);
        self.level -= 1;
        self.text.push_str("</section>\n");
    }

    /// The HTML of what `fill` would add.
    pub(crate) fn html_of(&self, fill: impl FnOnce(&mut Self)) -> String {
        let mut part = Self { text: String::new(), program: String::new(), level: self.level };
        fill(&mut part);
        part.text
    }

    /// Adds HTML.
    pub(crate) fn html(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// Adds the command that prints the same as text.
    pub(crate) fn command(&mut self, command: &str) {
        let command = escaped(command, MAX_LINE_BYTES);
        let _ = writeln!(self.text, "<p class=\"note\">As text: <code>{command}</code></p>");
    }

    /// Adds values with their names, in a line.
    pub(crate) fn facts(&mut self, facts: &[(String, String)]) {
        self.text.push_str("<dl>");
        for (name, value) in facts {
            let [name, value] = [name, value].map(|text| escaped(text, MAX_LINE_BYTES));
            let _ = write!(self.text, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.text.push_str("</dl>\n");
    }

    /// Adds a picture with its caption; without a picture, nothing.
    pub(crate) fn figure(&mut self, picture: &str, caption: &str) {
        if !picture.is_empty() {
            let caption = escaped(caption, MAX_PARAGRAPH_BYTES);
            let _ = writeln!(self.text, "<figure>{picture}<figcaption>{caption}</figcaption></figure>");
        }
    }

    pub(crate) fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let class =
            |column: usize| if table.is_number.get(column) == Some(&true) { " class=\"number\"" } else { "" };
        self.text.push_str("<div class=\"wide\"><table><thead><tr>");
        for (column, name) in table.header.iter().enumerate() {
            let _ = write!(self.text, "<th{}>{}</th>", class(column), escaped(name, MAX_LINE_BYTES));
        }
        if !table.shares.is_empty() {
            self.text.push_str("<th></th>");
        }
        self.text.push_str("</tr></thead><tbody>");
        let row = |(number, row): (usize, &Vec<String>)| {
            let mut text = String::from("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let _ = write!(text, "<td{}>{}</td>", class(column), escaped(cell, MAX_LINE_BYTES));
            }
            if let Some(share) = table.shares.get(number) {
                let percent = (share.clamp(0.0, 1.0) * 1000.0).round() / 10.0;
                let _ = write!(text, "<td class=\"share\"><i style=\"width:{percent}%\"></i></td>");
            }
            text + "</tr>\n"
        };
        let left_out = self.fitting(table.rows.iter().enumerate().map(row), MAX_TABLE_BYTES);
        self.text.push_str("</tbody></table></div>\n");
        self.more(left_out, "rows");
    }

    /// Adds a list of at most `max` bytes.
    pub(crate) fn list(&mut self, lines: &[String], max: usize) {
        self.text.push_str("<ul>");
        let item = |line: &String| format!("<li>{}</li>\n", escaped(line, MAX_LINE_BYTES));
        let left_out = self.fitting(lines.iter().map(item), max);
        self.text.push_str("</ul>\n");
        self.more(left_out, "lines");
    }

    /// Appends those of some texts that fit into `max` bytes; returns the number of the others.
    fn fitting(&mut self, mut texts: impl ExactSizeIterator<Item = String>, max: usize) -> usize {
        let end = self.text.len() + max;
        while let Some(text) = texts.next() {
            if self.text.len() + text.len() > end {
                return texts.len() + 1;
            }
            self.text.push_str(&text);
        }
        0
    }

    fn more(&mut self, left_out: usize, what: &str) {
        if left_out > 0 {
            self.paragraph("note", &format!("… and {left_out} more {what}, left out for lack of space."));
        }
    }

    pub(crate) fn finish(mut self) -> String {
        let _ = writeln!(
            self.text,
            "<footer><p>{}</p></footer></body></html>",
            escaped(&self.program, MAX_LINE_BYTES)
        );
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_counted() {
        let mut page = Page::new("t", "p");
        let rows = vec![vec!["<".repeat(5_000), "1".to_owned()]; 1_000];
        page.table(&Table { rows, shares: vec![0.5; 1_000], ..Table::default() });
        page.list(&vec!["é".repeat(3_000); 1_000], 50_000);
        page.paragraph("note", &"x".repeat(100_000));
        let text = page.finish();
        assert!(text.len() < STYLE.len() + MAX_TABLE_BYTES + 50_000 + 10_000, "{}", text.len());
        assert!(text.contains("more rows, left out") && text.contains("more lines, left out"));
        assert!(text.contains("&lt;…</td>") && text.contains("style=\"width:50%\""));
    }

    #[test]
    fn headings_within_a_section_are_smaller() {
        let mut page = Page::new("t", "p");
        page.section("CPU", |page| page.heading("Processes"));
        page.heading("Disks");
        let text = page.finish();
        assert!(text.contains("<section><h2>CPU</h2>\n<h3>Processes</h3>"), "{text}");
        assert!(text.contains("<h2>Disks</h2>"), "{text}");
    }
}
