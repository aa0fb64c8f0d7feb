//! The report of a synchronization as one page: what `isochrone sync --html` writes.
//!
//! What is on it comes as plain values, in the order in which they are to be read; nothing is computed here but where to draw.

use std::fmt::Write as _;

use super::arrows::{self, Arrow};
use super::graph::{self, Edge, Node};
use super::link::{Latencies, LinkPicture, histograms};
use super::page::{Page, Table};
use super::svg::escaped;

/// A synchronization.
#[derive(Debug, Clone, Default)]
pub struct SyncPage {
    /// What wrote it, with its version.
    pub program: String,
    /// The verdict, a paragraph each.
    pub verdict: Vec<String>,
    /// A table of hosts, as people read it.
    pub hosts: Table,
    /// A table of links.
    pub links: Table,
    /// The hosts of the graph.
    pub nodes: Vec<Node>,
    /// The links of the graph.
    pub edges: Vec<Edge>,
    /// Names of the hosts of the arrows.
    pub names: Vec<String>,
    /// Some messages, before and after.
    pub arrows: Vec<Arrow>,
    /// Links with pictures.
    pub pictures: Vec<LinkSection>,
    /// How many links have none because there are so many.
    pub without_picture: usize,
    /// Lists of lines with a heading: what is assumed, what was left out, what was refused.
    pub lists: Vec<(String, Vec<String>)>,
}

/// A link with its pictures.
#[derive(Debug, Clone, Default)]
pub struct LinkSection {
    /// What is said of it in figures.
    pub facts: Vec<(String, String)>,
    /// The picture.
    pub picture: LinkPicture,
    /// Its latencies, from a to b and from b to a.
    pub latencies: [Latencies; 2],
    /// Its least round trip, ns.
    pub least_round_trip: Option<i64>,
}

impl SyncPage {
    /// The page, whole.
    pub fn to_html(&self) -> String {
        let mut page = Page::new("Synchronization", &self.program);
        for paragraph in &self.verdict {
            page.paragraph("verdict", paragraph);
        }
        let graph = graph::draw(&self.nodes, &self.edges);
        if !graph.is_empty() {
            page.heading("Hosts");
            page.figure(&graph, "A circle is a host: the darker, the less sure its clock is. A line is a pair of hosts that talked: solid where its messages bound the rate from both sides, dashed where they do not, red where they contradict each other.");
        }
        page.table(&self.hosts);
        page.heading("Links");
        page.table(&self.links);
        if !self.arrows.is_empty() {
            page.heading("Some messages, before and after");
            for (says, picture) in arrows::draw(&self.names, &self.arrows) {
                page.figure(&picture, &says);
            }
        }
        for (number, link) in self.pictures.iter().enumerate() {
            page.part(&link.html(number));
        }
        if self.without_picture > 0 {
            page.paragraph(
                "note",
                &format!("{} more links have no picture here: there are too many.", self.without_picture),
            );
        }
        for (heading, lines) in self.lists.iter().filter(|(_, lines)| !lines.is_empty()) {
            page.heading(heading);
            page.list(lines);
        }
        page.finish()
    }
}

impl LinkSection {
    fn html(&self, number: usize) -> String {
        let LinkPicture { a, b, .. } = &self.picture;
        let mut text = format!("<section class=\"link\"><h2>{} – {}</h2>\n<dl>", escaped(a), escaped(b));
        for (name, value) in &self.facts {
            let _ = write!(text, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
        }
        text.push_str("</dl>\n");
        let mut figure = |picture: &str, says: &str| {
            if !picture.is_empty() {
                let _ =
                    writeln!(text, "<figure>{picture}<figcaption>{}</figcaption></figure>", escaped(says));
            }
        };
        figure(
            &self.picture.messages(&format!("messages{number}")),
            &format!(
                "Each point is a message: above the line those from {a} to {b}, below it those from {b} to {a}, as far from it as they were on \
                 their way by the common clock. No clock can be outside of the corridor between the half hulls (filled); thin lines are what all links \
                 together prove, the band around the middle is the likely error. A shaded stretch is one in which a clock was set or slewed, a ring a message \
                 that was left out."
            ),
        );
        figure(
            &self.picture.uncertainty(&format!("uncertainty{number}")),
            "How far the clocks can be from the estimate over the whole trace: surely (light) and likely (dark).",
        );
        figure(
            &histograms(&self.latencies, self.least_round_trip),
            "Latencies each way by the common clock; the dashed line is half of the least round trip.",
        );
        text.push_str("</section>\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_needs_nothing_but_itself() {
        let picture = LinkPicture {
            a: "a<script>".to_owned(),
            b: "b".to_owned(),
            forth: vec![(0, 5)],
            upper: vec![(0, 5)],
            ..LinkPicture::default()
        };
        let page = SyncPage {
            program: "isochrone 1".to_owned(),
            verdict: vec!["All is well & good.".to_owned()],
            pictures: vec![LinkSection { picture, ..LinkSection::default() }],
            without_picture: 2,
            lists: vec![("Left out".to_owned(), vec!["<none>".to_owned()]), ("Empty".to_owned(), Vec::new())],
            ..SyncPage::default()
        };
        let text = page.to_html();
        for foreign in ["<script", "http:", "https:", "src=", "href=", "@import", "<link"] {
            assert!(!text.contains(foreign), "{foreign}: {text}");
        }
        assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"));
        assert!(text.contains("All is well &amp; good.") && text.contains("&lt;none&gt;"), "{text}");
        assert!(text.contains("2 more links") && !text.contains(">Empty<"), "{text}");
        assert!(text.contains("@media print") && text.contains("prefers-color-scheme"), "{text}");
    }
}
