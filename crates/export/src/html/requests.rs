//! Pictures of requests: what the slowest of them spent their time on, as bars; and one across its hosts, a row for each thread that held it.

use isochrone_time::{SinceOrigin, Window};

use super::scale::{Scale, duration};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
/// Room for the names of rows.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 20.0;
/// Room for totals, right of the bars.
const TOTALS: f64 = 80.0;
const TOP: f64 = 6.0;
const ROW: f64 = 24.0;
/// Height of what a thread does.
const HEIGHT: f64 = 14.0;
/// Room for the marks of the axis, and for the legend.
const BELOW: f64 = 44.0;
/// Maximum number of bars.
const MAX_BARS: usize = 30;
/// Maximum number of rows of a request.
const MAX_ROWS: usize = 40;
/// Maximum number of steps of a request: more are narrower than a pixel.
const MAX_STEPS: usize = 2_000;

/// A bar: what a request spent its time on.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Name of the request.
    pub name: String,
    /// Causes by their names in tables, with ns; in the order in which they are drawn.
    pub segments: Vec<(&'static str, i64)>,
}

/// A request across its hosts. The origin of times is its start.
#[derive(Debug, Clone, Default)]
pub struct RequestPicture {
    /// Names of the threads that held it, in the order in which it came to them.
    pub rows: Vec<String>,
    /// Its duration, ns.
    pub duration_ns: i64,
    /// Steps of those threads.
    pub steps: Vec<RequestStep>,
    /// Packets between them.
    pub packets: Vec<Packet>,
}

/// What a thread that held a request did.
#[derive(Debug, Clone)]
pub struct RequestStep {
    /// Index of its row.
    pub row: usize,
    /// Its start and end.
    pub span: Window<SinceOrigin>,
    /// The cause, by its name in tables.
    pub cause: &'static str,
    /// Further details, for a tooltip.
    pub title: String,
}

/// A packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Indices of the rows.
    pub rows: (usize, usize),
    /// When it was sent and received.
    pub span: Window<SinceOrigin>,
}

/// Draws bars of requests, to one scale; without any, nothing.
pub(crate) fn bars(bars: &[Bar]) -> String {
    let bars = bars.get(..MAX_BARS).unwrap_or(bars);
    let total = |bar: &Bar| bar.segments.iter().map(|part| part.1).sum::<i64>();
    let Some(longest) = bars.iter().map(total).max().filter(|longest| *longest > 0) else {
        return String::new();
    };
    let bottom = TOP + bars.len() as f64 * ROW;
    let mut svg = Svg::new(WIDTH, bottom + BELOW, "what the slowest requests spent their time on");
    let x = Scale::new(0.0, longest as f64, (LEFT, WIDTH - RIGHT - TOTALS));
    axis(&mut svg, &x, bottom);
    for (number, bar) in bars.iter().enumerate() {
        let top = TOP + number as f64 * ROW + (ROW - HEIGHT) / 2.0;
        svg.text("label", (LEFT - 8.0, top + 11.0), Anchor::End, &bar.name);
        let mut at = 0;
        for &(cause, ns) in &bar.segments {
            let (from, to) = (x.at(at as f64), x.at((at + ns) as f64));
            at += ns;
            svg.rect(
                &class(cause),
                (from, top),
                (to - from, HEIGHT),
                &format!("{cause}: {}", duration(ns as f64)),
            );
        }
        svg.text("mark", (x.at(at as f64) + 6.0, top + 11.0), Anchor::Start, &duration(at as f64));
    }
    let causes = bars.iter().flat_map(|bar| bar.segments.iter().map(|part| part.0));
    legend(&mut svg, causes, bottom);
    svg.finish()
}

impl RequestPicture {
    /// Draws the picture; without steps, nothing.
    pub(crate) fn draw(&self) -> String {
        if self.duration_ns <= 0 || self.steps.is_empty() {
            return String::new();
        }
        let rows = self.rows.get(..MAX_ROWS).unwrap_or(&self.rows);
        let bottom = TOP + rows.len() as f64 * ROW;
        let mut svg = Svg::new(WIDTH, bottom + BELOW, "a request across its hosts");
        let x = Scale::new(0.0, self.duration_ns as f64, (LEFT, WIDTH - RIGHT));
        axis(&mut svg, &x, bottom);
        let top = |row: usize| TOP + row as f64 * ROW + (ROW - HEIGHT) / 2.0;
        for (row, name) in rows.iter().enumerate() {
            let base = top(row) + HEIGHT;
            svg.line("grid", (LEFT, base), (WIDTH - RIGHT, base));
            svg.text("label", (LEFT - 8.0, top(row) + 11.0), Anchor::End, name);
        }
        let is_drawn = |row: usize| row < rows.len();
        for packet in
            self.packets.iter().filter(|it| is_drawn(it.rows.0) && is_drawn(it.rows.1)).take(MAX_STEPS)
        {
            let (from, to) = packet.rows;
            // From the lower edge of the upper row to the upper edge of the lower one, or back.
            let edge = |row: usize, other: usize| top(row) + if row < other { HEIGHT } else { 0.0 };
            let ends = (x.at(packet.span.start.0 as f64), x.at(packet.span.end.0 as f64));
            svg.line("packet", (ends.0, edge(from, to)), (ends.1, edge(to, from)));
        }
        for step in self.steps.iter().filter(|it| is_drawn(it.row)).take(MAX_STEPS) {
            let (from, to) = (x.at(step.span.start.0 as f64), x.at(step.span.end.0 as f64));
            // What waits is lower than what runs.
            let height = if step.cause == "cpu" { HEIGHT } else { HEIGHT / 2.0 };
            let title = format!(
                "{}, {}: {}",
                step.cause,
                duration((step.span.end - step.span.start) as f64),
                step.title
            );
            let title = title.trim_end_matches(": ");
            svg.rect(&class(step.cause), (from, top(step.row) + HEIGHT - height), (to - from, height), title);
        }
        let network = (!self.packets.is_empty()).then_some("network");
        legend(&mut svg, self.steps.iter().map(|step| step.cause).chain(network), bottom);
        svg.finish()
    }
}

fn class(cause: &str) -> String {
    format!("cause-{cause}")
}

fn axis(svg: &mut Svg, x: &Scale, bottom: f64) {
    for mark in x.marks(7) {
        let at = x.at(mark);
        svg.line("grid", (at, TOP), (at, bottom + 2.0));
        svg.text("mark", (at, bottom + 14.0), Anchor::Middle, &duration(mark));
    }
}

/// The colours of the causes that there are, in the order in which they come first.
fn legend(svg: &mut Svg, causes: impl Iterator<Item = &'static str>, bottom: f64) {
    /// Pixels that a character takes, about.
    const CHARACTER: f64 = 6.6;
    let mut shown: Vec<&str> = Vec::new();
    let mut at = LEFT;
    for cause in causes {
        if shown.contains(&cause) {
            continue;
        }
        shown.push(cause);
        svg.rect(&class(cause), (at, bottom + 26.0), (10.0, 10.0), "");
        svg.text("mark", (at + 14.0, bottom + 35.0), Anchor::Start, cause);
        at += 32.0 + cause.len() as f64 * CHARACTER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_parts_of_the_longest() {
        let bar = |name: &str, segments: &[(&'static str, i64)]| Bar {
            name: name.to_owned(),
            segments: segments.to_vec(),
        };
        let text =
            bars(&[bar("20", &[("cpu", 600_000), ("wait-cpu", 400_000)]), bar("<7>", &[("cpu", 500_000)])]);
        let whole = WIDTH - RIGHT - TOTALS - LEFT;
        assert!(
            text.contains(&format!("width=\"{}\" height=\"14\"><title>cpu: 600 µs", whole * 0.6)),
            "{text}"
        );
        assert!(
            text.contains(&format!("width=\"{}\" height=\"14\"><title>cpu: 500 µs", whole * 0.5)),
            "{text}"
        );
        // Each cause is once in the legend.
        assert_eq!((text.matches(">wait-cpu<").count(), text.matches(">cpu<").count()), (1, 1));
        assert!(text.contains("&lt;7&gt;") && text.contains(">1 ms<"), "{text}");
        assert_eq!((bars(&[]), bars(&[Bar::default()])), (String::new(), String::new()));
    }

    #[test]
    fn a_request_has_rows_and_packets_between_them() {
        let span = |(start, end)| Window::new(SinceOrigin(start), SinceOrigin(end));
        let step =
            |row, at, cause, title: &str| RequestStep { row, span: span(at), cause, title: title.to_owned() };
        let picture = RequestPicture {
            rows: ["a wget 1", "b srv 2"].map(str::to_owned).to_vec(),
            duration_ns: 1_000,
            steps: vec![step(0, (0, 100), "cpu", "user"), step(1, (300, 500), "sleep", "")],
            packets: vec![
                Packet { rows: (0, 1), span: span((100, 300)) },
                Packet { rows: (1, 9), span: span((0, 1)) },
            ],
        };
        let text = picture.draw();
        let x = |at: f64| super::super::svg::number(LEFT + (WIDTH - LEFT - RIGHT) * at / 1_000.0);
        assert_eq!(text.matches("class=\"packet\"").count(), 1, "{text}");
        assert!(
            text.contains(&format!("x1=\"{}\" y1=\"25\" x2=\"{}\" y2=\"35\"", x(100.0), x(300.0))),
            "{text}"
        );
        assert!(
            text.contains("<title>cpu, 100 ns: user</title>")
                && text.contains("<title>sleep, 200 ns</title>"),
            "{text}"
        );
        assert_eq!(RequestPicture::default().draw(), "");
    }
}
