//! A page that needs nothing but itself: no script, no font, no picture from elsewhere; readable in the dark and on paper. What all HTML
//! reports of this folder begin and end with.
//!
//! How large a page can become does not depend on what it is about: texts, tables and lists are cut, each to its own limit, and say how much is
//! not there; the reports limit how many pictures they have.

use std::fmt::Write as _;

use super::svg::escaped;

/// Colours, fonts, and how the page is printed.
const STYLE: &str = include_str!("style.css");

/// Bytes of a table, most.
const MOST_OF_TABLE: usize = 150_000;
/// Bytes of a cell, a heading or a line of a list, most.
const MOST_OF_LINE: usize = 1_000;
/// Bytes of a paragraph, most.
const MOST_OF_PARAGRAPH: usize = 4_000;

/// A table as people read it.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Headings of its columns.
    pub header: Vec<String>,
    /// Whether the values of a column are figures, which stand to the right.
    pub is_number: Vec<bool>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// Bars behind the rows: how much of the room each takes, from 0 to 1. Empty: there are none.
    pub shares: Vec<f64>,
}

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    program: String,
    /// Of headings: 2, or 3 within a part of a page.
    level: u8,
}

impl Page {
    pub(crate) fn new(title: &str, program: &str) -> Self {
        let title = escaped(title, MOST_OF_LINE);
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        Self { text, program: program.to_owned(), level: 2 }
    }

    pub(crate) fn paragraph(&mut self, class: &str, text: &str) {
        let text = escaped(text, MOST_OF_PARAGRAPH);
        let _ = writeln!(self.text, "<p class=\"{class}\">{text}</p>");
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let level = self.level;
        let _ = writeln!(self.text, "<h{level}>{}</h{level}>", escaped(text, MOST_OF_LINE));
    }

    /// A part of the page with a heading: those within it are smaller.
    pub(crate) fn within(&mut self, heading: &str, fill: impl FnOnce(&mut Self)) {
        self.text.push_str("<section>");
        self.heading(heading);
        self.level += 1;
        fill(self);
        self.level -= 1;
        self.text.push_str("</section>\n");
    }

    /// The HTML of what would be put on it.
    pub(crate) fn part_of(&self, fill: impl FnOnce(&mut Self)) -> String {
        let mut part = Self { text: String::new(), program: String::new(), level: self.level };
        fill(&mut part);
        part.text
    }

    /// A part that is HTML already.
    pub(crate) fn part(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// What is typed to get the same as text.
    pub(crate) fn command(&mut self, command: &str) {
        let command = escaped(command, MOST_OF_LINE);
        let _ = writeln!(self.text, "<p class=\"note\">As text: <code>{command}</code></p>");
    }

    /// Figures with their names, in a line.
    pub(crate) fn facts(&mut self, facts: &[(String, String)]) {
        self.text.push_str("<dl>");
        for (name, value) in facts {
            let [name, value] = [name, value].map(|text| escaped(text, MOST_OF_LINE));
            let _ = write!(self.text, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.text.push_str("</dl>\n");
    }

    /// A picture, and what it shows; nothing without a picture.
    pub(crate) fn figure(&mut self, picture: &str, says: &str) {
        if !picture.is_empty() {
            let says = escaped(says, MOST_OF_PARAGRAPH);
            let _ = writeln!(self.text, "<figure>{picture}<figcaption>{says}</figcaption></figure>");
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
            let _ = write!(self.text, "<th{}>{}</th>", class(column), escaped(name, MOST_OF_LINE));
        }
        if !table.shares.is_empty() {
            self.text.push_str("<th></th>");
        }
        self.text.push_str("</tr></thead><tbody>");
        let row = |(number, row): (usize, &Vec<String>)| {
            let mut text = String::from("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let _ = write!(text, "<td{}>{}</td>", class(column), escaped(cell, MOST_OF_LINE));
            }
            if let Some(share) = table.shares.get(number) {
                let percent = (share.clamp(0.0, 1.0) * 1000.0).round() / 10.0;
                let _ = write!(text, "<td class=\"share\"><i style=\"width:{percent}%\"></i></td>");
            }
            text + "</tr>\n"
        };
        let left_out = self.fitting(table.rows.iter().enumerate().map(row), MOST_OF_TABLE);
        self.text.push_str("</tbody></table></div>\n");
        self.more(left_out, "rows");
    }

    /// A list that takes at most so many bytes.
    pub(crate) fn list(&mut self, lines: &[String], most: usize) {
        self.text.push_str("<ul>");
        let item = |line: &String| format!("<li>{}</li>\n", escaped(line, MOST_OF_LINE));
        let left_out = self.fitting(lines.iter().map(item), most);
        self.text.push_str("</ul>\n");
        self.more(left_out, "lines");
    }

    /// Appends what fits of some texts into so many bytes; gives how many do not.
    fn fitting(&mut self, mut texts: impl ExactSizeIterator<Item = String>, most: usize) -> usize {
        let end = self.text.len() + most;
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
            self.paragraph(
                "note",
                &format!("… and {left_out} more {what}, for which there is no room here."),
            );
        }
    }

    pub(crate) fn finish(mut self) -> String {
        let _ = writeln!(
            self.text,
            "<footer><p>{}</p></footer></body></html>",
            escaped(&self.program, MOST_OF_LINE)
        );
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let mut page = Page::new("t", "p");
        let rows = vec![vec!["<".repeat(5_000), "1".to_owned()]; 1_000];
        page.table(&Table { rows, shares: vec![0.5; 1_000], ..Table::default() });
        page.list(&vec!["é".repeat(3_000); 1_000], 50_000);
        page.paragraph("note", &"x".repeat(100_000));
        let text = page.finish();
        assert!(text.len() < STYLE.len() + MOST_OF_TABLE + 50_000 + 10_000, "{}", text.len());
        assert!(text.contains("more rows, for which") && text.contains("more lines, for which"));
        assert!(text.contains("&lt;…</td>") && text.contains("style=\"width:50%\""));
    }

    #[test]
    fn headings_within_a_part_are_smaller() {
        let mut page = Page::new("t", "p");
        page.within("CPU", |page| page.heading("Processes"));
        page.heading("Disks");
        let text = page.finish();
        assert!(text.contains("<section><h2>CPU</h2>\n<h3>Processes</h3>"), "{text}");
        assert!(text.contains("<h2>Disks</h2>"), "{text}");
    }
}
