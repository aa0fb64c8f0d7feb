//! The report of a synchronization: the page that `isochrone sync --html` writes, and a part of the page of `isochrone summary`.
//!
//! What is on it comes as plain values, in the order in which they are to be read; nothing is computed here but where to draw. Whatever
//! the number of hosts, links and messages, it takes less than [`MAX_BYTES`].

use super::arrows::{self, Arrow};
use super::graph::{self, Edge, Node};
use super::link::{Latencies, LinkPicture, histograms};
use super::page::{Page, Table};

/// Upper limit of the size of a page with nothing else, bytes.
pub const MAX_BYTES: usize = 2_000_000;
/// Maximum size of the pictures of links, bytes: those of the links with most messages are drawn.
const MAX_PICTURES_BYTES: usize = 1_100_000;
/// Maximum size of all lists, bytes.
const MAX_LISTS_BYTES: usize = 150_000;
/// Maximum number of lists.
const MAX_LISTS: usize = 16;
/// Maximum number of paragraphs of the verdict, which has one for each island.
const MAX_PARAGRAPHS: usize = 24;

/// A synchronization.
#[derive(Debug, Clone, Default)]
pub struct Synchronization {
    /// Paragraphs of the verdict.
    pub verdict: Vec<String>,
    /// Table of hosts.
    pub hosts: Table,
    /// Table of links.
    pub links: Table,
    /// The hosts of the graph.
    pub nodes: Vec<Node>,
    /// The links of the graph.
    pub edges: Vec<Edge>,
    /// Names of the hosts of the arrows.
    pub names: Vec<String>,
    /// Some messages, on the hosts' own clocks and on the common one.
    pub arrows: Vec<Arrow>,
    /// Links with pictures.
    pub pictures: Vec<LinkSection>,
    /// Number of further links, which have no pictures because there are too many.
    pub without_picture: usize,
    /// Lists of lines with a heading: assumptions, suspect messages, refused inputs.
    pub lists: Vec<(String, Vec<String>)>,
}

/// A link with its pictures.
#[derive(Debug, Clone, Default)]
pub struct LinkSection {
    /// Names and values of what is known of it.
    pub facts: Vec<(String, String)>,
    /// The picture.
    pub picture: LinkPicture,
    /// Its latencies, from a to b and from b to a.
    pub latencies: [Latencies; 2],
    /// Its least round trip, ns.
    pub least_round_trip_ns: Option<i64>,
}

impl Synchronization {
    /// The HTML of a page of it alone. `program`: the program that wrote it, with its version.
    pub fn to_html(&self, program: &str) -> String {
        let mut page = Page::new("Synchronization", program);
        self.put(&mut page);
        page.finish()
    }

    /// Puts it on a page.
    pub(crate) fn put(&self, page: &mut Page) {
        self.verdict.iter().take(MAX_PARAGRAPHS).for_each(|paragraph| page.paragraph("verdict", paragraph));
        if let more @ 1.. = self.verdict.len().saturating_sub(MAX_PARAGRAPHS) {
            page.paragraph("note", &format!("… and {more} more paragraphs like these."));
        }
        let graph = graph::draw(&self.nodes, &self.edges);
        if !graph.is_empty() {
            page.heading("Hosts");
            page.figure(&graph, "A circle is a host: the darker, the less sure its clock is. A line is a pair of hosts that talked: solid where its messages bound the rate from both sides, dashed where they do not, red where they contradict each other.");
        }
        page.table(&self.hosts);
        if !self.links.rows.is_empty() {
            page.heading("Links");
            page.table(&self.links);
        }
        if !self.arrows.is_empty() {
            page.heading("Some messages, before and after");
            for (caption, picture) in arrows::draw(&self.names, &self.arrows) {
                page.figure(&picture, &caption);
            }
        }
        self.put_pictures(page);
        let lists = self.lists.iter().filter(|(_, lines)| !lines.is_empty()).take(MAX_LISTS);
        for (heading, lines) in lists.clone() {
            page.heading(heading);
            page.list(lines, MAX_LISTS_BYTES / lists.clone().count().max(1));
        }
    }

    /// Adds the pictures that fit, in their order; where not all fit, those of the links with most messages.
    fn put_pictures(&self, page: &mut Page) {
        let mut order: Vec<usize> = (0..self.pictures.len()).collect();
        let messages = |link: usize| self.pictures[link].latencies.iter().map(|way| way.total).sum::<u64>();
        order.sort_by_key(|&link| (std::cmp::Reverse(messages(link)), link));
        let mut drawn: Vec<(usize, String)> = Vec::new();
        let mut room = MAX_PICTURES_BYTES;
        for link in order {
            let html = page.html_of(|part| self.pictures[link].put(link, part));
            let Some(left) = room.checked_sub(html.len()) else { break };
            room = left;
            drawn.push((link, html));
        }
        drawn.sort_unstable();
        let without = self.without_picture + self.pictures.len() - drawn.len();
        for (_, html) in &drawn {
            page.html(html);
        }
        if without > 0 {
            page.paragraph(
                "note",
                &format!("{without} more links have no picture here: there are too many."),
            );
        }
    }
}

impl LinkSection {
    /// Puts its pictures on a page; `number` is its own there.
    fn put(&self, number: usize, page: &mut Page) {
        let LinkPicture { a, b, .. } = &self.picture;
        page.section(&format!("{a} – {b}"), |page| {
            page.facts(&self.facts);
            page.figure(
                &self.picture.messages(&format!("messages{number}")),
                &format!(
                    "Each point is a message: above the line those from {a} to {b}, below it those from {b} to {a}, as far from it as they were on \
                     their way by the common clock. No clock can be outside of the corridor between the half hulls (filled); thin lines are what all links \
                     together prove, the band around the middle is the likely error. A shaded stretch is one in which a clock was set or slewed, a ring a message \
                     that was left out."
                ),
            );
            page.figure(
                &self.picture.uncertainty(&format!("uncertainty{number}")),
                "How far the clocks can be from the estimate over the whole trace: surely (light) and likely (dark).",
            );
            page.figure(
                &histograms(&self.latencies, self.least_round_trip_ns),
                "Latencies each way by the common clock; the dashed line is half of the least round trip.",
            );
        });
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
        let page = Synchronization {
            verdict: vec!["All is well & good.".to_owned()],
            pictures: vec![LinkSection { picture, ..LinkSection::default() }],
            without_picture: 2,
            lists: vec![("Left out".to_owned(), vec!["<none>".to_owned()]), ("Empty".to_owned(), Vec::new())],
            ..Synchronization::default()
        };
        let text = page.to_html("isochrone 1");
        for foreign in ["<script", "http:", "https:", "src=", "href=", "@import", "<link"] {
            assert!(!text.contains(foreign), "{foreign}: {text}");
        }
        assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"));
        assert!(text.contains("All is well &amp; good.") && text.contains("&lt;none&gt;"), "{text}");
        assert!(text.contains("2 more links") && !text.contains(">Empty<"), "{text}");
        assert!(text.contains("@media print") && text.contains("prefers-color-scheme"), "{text}");
    }

    /// Far more of all than there is room for.
    #[test]
    fn a_page_is_small_however_much_there_is() {
        let name = |host: usize| format!("{host}{}", "<".repeat(300));
        let many = 3_000_i64;
        let dots: Vec<(i64, i64)> = (0..many).map(|at| (at * 997, at * at % 7_919)).collect();
        let picture = LinkPicture {
            a: name(1),
            b: name(2),
            forth: dots.clone(),
            back: dots.iter().map(|&(at, off)| (at, -off)).collect(),
            upper: dots.clone(),
            lower: dots.clone(),
            bounds: dots.iter().map(|&(at, off)| (at, Some(-off), Some(off), Some(off / 2))).collect(),
            breaks: dots.iter().map(|&(at, off)| (at, at + off, name(3))).collect(),
            suspects: dots.iter().map(|&(at, off)| (at, off, name(4))).collect(),
        };
        let latencies = || Latencies {
            title: name(5),
            values: dots.iter().map(|dot| dot.1 + 1).collect(),
            total: 10_000_000,
        };
        let link = LinkSection {
            facts: vec![(name(1), name(2)); 9],
            picture,
            latencies: [latencies(), latencies()],
            least_round_trip_ns: Some(9),
        };
        let table = Table { rows: vec![vec![name(6); 8]; 20_000], ..Table::default() };
        let node = |host| Node { name: name(host), bound_ns: Some(host as i64), is_reference: host == 0 };
        let edge = |from| {
            (0..from).map(move |to| Edge {
                ends: (from, to),
                quality: "accurate".to_owned(),
                bound_ns: Some(9),
            })
        };
        let page = Synchronization {
            verdict: vec![name(7).repeat(50); 1_000],
            hosts: table.clone(),
            links: table,
            nodes: (0..60).map(node).collect(),
            edges: (0..60).flat_map(edge).collect(),
            names: (0..1_000).map(name).collect(),
            arrows: (0..1_000)
                .map(|at| Arrow { hosts: (at, (at + 1) % 1_000), own_ns: (0, 1), common_ns: (0, 1) })
                .collect(),
            pictures: vec![link; 30],
            without_picture: 1_000_000,
            lists: vec![(name(8), vec![name(9); 10_000]); 20],
        };
        let text = page.to_html("isochrone 1");
        assert!(text.len() < MAX_BYTES, "{}", text.len());
        let drawn = text.matches("class=\"estimate\"").count() / 2;
        assert!(text.contains("more breaks and messages that were left out are not shown"));
        assert!(drawn > 0 && text.contains(&format!("{} more links", 1_000_000 + 30 - drawn)), "{drawn}");
        // With less of each, all are drawn.
        let few = |link: &LinkSection| {
            let mut link = link.clone();
            let picture = &mut link.picture;
            for dots in [&mut picture.forth, &mut picture.back] {
                dots.truncate(266);
            }
            for hull in [&mut picture.upper, &mut picture.lower] {
                hull.truncate(40);
            }
            picture.bounds.truncate(75);
            picture.breaks.clear();
            picture.suspects.truncate(2);
            (picture.a, picture.b) = ("a".to_owned(), "b".to_owned());
            link.facts = vec![("quality".to_owned(), "accurate".to_owned()); 9];
            link.latencies.iter_mut().for_each(|way| way.title = "a → b".to_owned());
            link
        };
        let page = Synchronization { pictures: page.pictures.iter().map(few).collect(), ..page };
        let drawn = page.to_html("isochrone 1").matches("class=\"estimate\"").count() / 2;
        assert_eq!(drawn, 30);
    }
}
