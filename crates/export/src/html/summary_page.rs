//! The page of an experiment as a whole: what `isochrone summary` writes. Its sections come in the order in which they are read.

use super::accesses::AccessPicture;
use super::lives::{self, Life};
use super::page::{Page, Table};
use super::requests::{self, Bar, RequestPicture};
use super::strips::{self, Strip};
use super::synchronization::Synchronization;

/// Maximum size of a list, bytes.
const MAX_LIST_BYTES: usize = 20_000;

/// The page.
#[derive(Debug, Clone, Default)]
pub struct SummaryPage {
    /// Name of the experiment.
    pub title: String,
    /// The program that wrote it, with its version.
    pub program: String,
    /// The most important findings, a sentence each.
    pub verdict: Vec<String>,
    /// Sections after the verdict.
    pub sections: Vec<Section>,
}

/// A section of the page.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Heading of the section.
    pub heading: String,
    /// The command that prints it as text; empty: none.
    pub command: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A piece of the content of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A table below a heading.
    Table(String, Table),
    /// Lines.
    List(Vec<String>),
    /// Values over time, with a caption.
    Strips(Vec<Strip>, String),
    /// Lives of processes, with a caption.
    Lives(Vec<Life>, String),
    /// Where on a disk requests were, below a heading, with a caption.
    Accesses(String, AccessPicture, String),
    /// What the slowest requests spent their time on, with a caption.
    Bars(Vec<Bar>, String),
    /// A request across its hosts, with a caption.
    Request(RequestPicture, String),
    /// The report of the synchronization.
    Synchronization(Box<Synchronization>),
}

impl SummaryPage {
    /// The HTML of the page. Its size is bounded, however large the traces are.
    pub fn to_html(&self) -> String {
        let mut page = Page::new(&self.title, &self.program);
        self.verdict.iter().for_each(|sentence| page.paragraph("verdict", sentence));
        for section in &self.sections {
            page.section(&section.heading, |page| {
                section.blocks.iter().for_each(|block| block.put(page));
                if !section.command.is_empty() {
                    page.command(&section.command);
                }
            });
        }
        page.finish()
    }
}

impl Block {
    fn put(&self, page: &mut Page) {
        match self {
            Self::Text(text) => page.paragraph("text", text),
            Self::Table(heading, table) => {
                if !heading.is_empty() {
                    page.heading(heading);
                }
                page.table(table);
            }
            Self::List(lines) => page.list(lines, MAX_LIST_BYTES),
            Self::Strips(all, caption) => page.figure(&strips::draw(caption, all), caption),
            Self::Lives(all, caption) => page.figure(&lives::draw(all), caption),
            Self::Accesses(heading, picture, caption) => {
                page.heading(heading);
                page.figure(&picture.draw(), caption);
            }
            Self::Bars(bars, caption) => page.figure(&requests::bars(bars), caption),
            Self::Request(picture, caption) => page.figure(&picture.draw(), caption),
            Self::Synchronization(of) => of.put(page),
        }
    }
}

#[cfg(test)]
mod tests {
    use isochrone_time::{SinceOrigin, Window};

    use super::super::Step;
    use super::*;

    #[test]
    fn sections_have_what_they_are_given() {
        let steps =
            vec![Step { span: Window::new(SinceOrigin(0), SinceOrigin(1_000)), value: 1.0, unknown: 0.0 }];
        let strip = Strip { name: "web".to_owned(), kind: "disk", steps, ..Strip::default() };
        let bar = Bar { name: "1".to_owned(), segments: vec![("disk", 5)] };
        let table =
            Table { header: vec!["a".to_owned()], rows: vec![vec!["<b>".to_owned()]], ..Table::default() };
        let blocks = vec![
            Block::Text("words".to_owned()),
            Block::Table("Processes".to_owned(), table),
            Block::List(vec!["line".to_owned()]),
            Block::Strips(vec![strip], "over time".to_owned()),
            Block::Bars(vec![bar], "slowest".to_owned()),
            Block::Lives(vec![Life::default()], "lives".to_owned()),
            Block::Accesses("sda".to_owned(), AccessPicture::default(), "no access".to_owned()),
            Block::Request(RequestPicture::default(), "no request".to_owned()),
            Block::Synchronization(Box::default()),
        ];
        let section = Section {
            heading: "Disks".to_owned(),
            command: "isochrone analyze iousagetop a/".to_owned(),
            blocks,
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
