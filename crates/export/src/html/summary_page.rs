//! The page of an experiment as a whole: what `isochrone summary` writes. Its sections come in the order in which they are read.

use super::page::{Page, Table};
use super::requests::{self, Bar, RequestPicture};
use super::strips::{self, Strip};
use super::synchronization::Synchronization;

/// Bytes of a list, most.
const MOST_OF_LIST: usize = 20_000;

/// A page.
#[derive(Debug, Clone, Default)]
pub struct SummaryPage {
    /// What it is about.
    pub title: String,
    /// What wrote it, with its version.
    pub program: String,
    /// What matters most, a sentence each.
    pub verdict: Vec<String>,
    /// The rest.
    pub sections: Vec<Section>,
}

/// A part of the page.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// What it is about.
    pub heading: String,
    /// What is typed to get it as text.
    pub command: String,
    /// What it holds.
    pub parts: Vec<Part>,
}

/// What a section holds.
#[derive(Debug, Clone)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// A table below a heading.
    Table(String, Table),
    /// Lines.
    List(Vec<String>),
    /// Figures over time, and what they show.
    Strips(Vec<Strip>, String),
    /// What the slowest requests spent their time on, and a sentence about it.
    Bars(Vec<Bar>, String),
    /// A request across its hosts, and a sentence about it.
    Request(RequestPicture, String),
    /// How the clocks were put on one.
    Synchronization(Box<Synchronization>),
}

impl SummaryPage {
    /// The page, whole. Its size does not depend on that of the traces: each part is cut to what people read.
    pub fn to_html(&self) -> String {
        let mut page = Page::new(&self.title, &self.program);
        self.verdict.iter().for_each(|sentence| page.paragraph("verdict", sentence));
        for section in &self.sections {
            page.within(&section.heading, |page| {
                section.parts.iter().for_each(|part| part.put(page));
                if !section.command.is_empty() {
                    page.command(&section.command);
                }
            });
        }
        page.finish()
    }
}

impl Part {
    fn put(&self, page: &mut Page) {
        match self {
            Self::Text(text) => page.paragraph("text", text),
            Self::Table(heading, table) => {
                if !heading.is_empty() {
                    page.heading(heading);
                }
                page.table(table);
            }
            Self::List(lines) => page.list(lines, MOST_OF_LIST),
            Self::Strips(all, says) => page.figure(&strips::draw(says, all), says),
            Self::Bars(bars, says) => page.figure(&requests::bars(bars), says),
            Self::Request(picture, says) => page.figure(&picture.draw(), says),
            Self::Synchronization(of) => of.put(page),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::*;

    #[test]
    fn sections_have_what_they_are_given() {
        let steps = vec![Step { begin: 0, end: 1_000, value: 1.0, unknown: 0.0 }];
        let strip = Strip { name: "web".to_owned(), kind: "disk", steps, ..Strip::default() };
        let bar = Bar { name: "1".to_owned(), parts: vec![("disk", 5)] };
        let table =
            Table { header: vec!["a".to_owned()], rows: vec![vec!["<b>".to_owned()]], ..Table::default() };
        let parts = vec![
            Part::Text("words".to_owned()),
            Part::Table("Processes".to_owned(), table),
            Part::List(vec!["line".to_owned()]),
            Part::Strips(vec![strip], "over time".to_owned()),
            Part::Bars(vec![bar], "slowest".to_owned()),
            Part::Request(RequestPicture::default(), "no request".to_owned()),
            Part::Synchronization(Box::default()),
        ];
        let section = Section {
            heading: "Disks".to_owned(),
            command: "isochrone analyze iousagetop a/".to_owned(),
            parts,
        };
        let page = SummaryPage {
            title: "<shop>".to_owned(),
            verdict: vec!["All is well.".to_owned()],
            sections: vec![section],
            ..SummaryPage::default()
        };
        let text = page.to_html();
        for part in [
            "<h1>&lt;shop&gt;</h1>",
            "<p class=\"verdict\">All is well.</p>",
            "<h2>Disks</h2>",
            "<h3>Processes</h3>",
            "<td>&lt;b&gt;</td>",
            "<li>line</li>",
            "class=\"disk\"",
            "class=\"cause-disk\"",
            "<code>isochrone analyze iousagetop a/</code>",
        ] {
            assert_eq!(text.matches(part).count().min(1), 1, "{part}: {text}");
        }
        // Without a picture there is nothing to say of it.
        assert!(!text.contains("no request") && !text.contains("<script"), "{text}");
    }
}
