//! Lives of processes, one row each: from their start to their end, with how busy each was, and figures
//! beside.

use isochrone_time::{SinceOrigin, Window};

use super::scale::{Scale, duration};
use super::strips::Step;
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
/// Room for the names of processes.
const LEFT: f64 = 190.0;
/// Width of a column of figures.
const COLUMN: f64 = 80.0;
const TOP: f64 = 22.0;
const ROW: f64 = 20.0;
const HEIGHT: f64 = 14.0;
/// Maximum number of processes.
pub const MAX_LIVES: usize = 40;
/// Maximum number of steps of a process.
const MAX_STEPS: usize = 400;

/// The life of a process.
#[derive(Debug, Clone, Default)]
pub struct Life {
    /// Name of the process.
    pub name: String,
    /// From its start to its end; of one that was there before, or is there after, those of the trace.
    pub span: Window<SinceOrigin>,
    /// Whether its start and its end were seen.
    pub is_seen: (bool, bool),
    /// How much of a CPU it used in each step, percent, and how much more it may have been; several CPUs
    /// count as one.
    pub busy: Vec<Step>,
    /// CPU time, in words.
    pub cpu: String,
    /// Page faults, in words; `None`: not recorded. Where they were recorded of no process, there is no such
    /// column.
    pub faults: Option<String>,
}

/// Draws lives of processes; without any, nothing.
pub(crate) fn draw(lives: &[Life]) -> String {
    let lives = lives.get(..MAX_LIVES).unwrap_or(lives);
    let (Some(first), Some(last)) =
        (lives.iter().map(|it| it.span.start.0).min(), lives.iter().map(|it| it.span.end.0).max())
    else {
        return String::new();
    };
    let has_faults = lives.iter().any(|life| life.faults.is_some());
    let columns = if has_faults { 2.0 } else { 1.0 };
    let right = WIDTH - columns * COLUMN;
    let bottom = TOP + lives.len() as f64 * ROW;
    let mut svg = Svg::new(WIDTH, bottom + 20.0, "lives of processes");
    let x = Scale::new(first as f64, last as f64, (LEFT, right - 10.0));
    for mark in x.marks(7) {
        svg.line("grid", (x.at(mark), TOP), (x.at(mark), bottom + 2.0));
        svg.text("mark", (x.at(mark), bottom + 14.0), Anchor::Middle, &duration(mark));
    }
    svg.text("mark", (right + COLUMN - 6.0, TOP - 8.0), Anchor::End, "CPU");
    if has_faults {
        svg.text("mark", (WIDTH - 6.0, TOP - 8.0), Anchor::End, "page faults");
    }
    for (row, life) in lives.iter().enumerate() {
        let top = TOP + row as f64 * ROW + (ROW - HEIGHT) / 2.0;
        let [from, to] = [life.span.start, life.span.end].map(|at| x.at(at.0 as f64));
        svg.text("label", (LEFT - 8.0, top + 11.0), Anchor::End, &life.name);
        svg.rect(
            "life",
            (from, top),
            (to - from, HEIGHT),
            &duration((life.span.end - life.span.start) as f64),
        );
        // A start and an end that were seen have an edge.
        for (at, _) in
            [(from, life.is_seen.0), (to, life.is_seen.1)].into_iter().filter(|(_, is_seen)| *is_seen)
        {
            svg.line("axis", (at, top - 1.0), (at, top + HEIGHT + 1.0));
        }
        for step in life.busy.iter().take(MAX_STEPS) {
            let part = step.span.clip(life.span);
            let [start, end] = [part.start, part.end].map(|at| x.at(at.0 as f64));
            let high = |percent: f64| HEIGHT * percent.min(100.0) / 100.0;
            let (busy, most) = (high(step.value), high(step.value + step.unknown));
            if most > busy {
                svg.rect("unknown", (start, top + HEIGHT - most), (end - start, most - busy), "");
            }
            if busy > 0.0 {
                svg.rect("busy", (start, top + HEIGHT - busy), (end - start, busy), "");
            }
        }
        svg.text("mark", (right + COLUMN - 6.0, top + 11.0), Anchor::End, &life.cpu);
        if let Some(faults) = &life.faults {
            svg.text("mark", (WIDTH - 6.0, top + 11.0), Anchor::End, faults);
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(name: &str, span: (i64, i64), faults: Option<&str>) -> Life {
        let span = Window::new(SinceOrigin(span.0), SinceOrigin(span.1));
        Life {
            name: name.to_owned(),
            span,
            is_seen: (true, false),
            busy: vec![Step { span, value: 50.0, unknown: 0.0 }],
            cpu: "1.5 s".to_owned(),
            faults: faults.map(str::to_owned),
        }
    }

    #[test]
    fn a_row_each_with_its_figures() {
        let text = draw(&[life("<a> (7)", (0, 1_000), None), life("b (8)", (500, 1_000), None)]);
        let right = WIDTH - COLUMN - 10.0;
        let middle = f64::midpoint(LEFT, right);
        let half = super::super::svg::number((right - LEFT) / 2.0);
        assert!(
            text.contains(&format!("class=\"life\" x=\"{middle}\" y=\"45\" width=\"{half}\" height=\"14\"")),
            "{text}"
        );
        assert!(
            text.contains(&format!("class=\"busy\" x=\"{middle}\" y=\"52\" width=\"{half}\" height=\"7\"")),
            "{text}"
        );
        assert!(
            text.contains("&lt;a&gt; (7)") && text.contains("1.5 s") && !text.contains("faults"),
            "{text}"
        );
        assert_eq!(text.matches("class=\"axis\"").count(), 2);
        assert!(draw(&[life("a", (0, 9), Some("12"))]).contains("page faults"));
        assert!(!text.contains("unknown"), "{text}");
        let mut open = life("a", (0, 1_000), None);
        open.busy[0].unknown = 80.0;
        // What is unknown lies above what is known, and ends with the bar.
        assert!(draw(&[open]).contains("class=\"unknown\" x=\"190\" y=\"25\""));
    }

    #[test]
    fn nothing_is_no_picture_and_much_is_cut() {
        assert_eq!(draw(&[]), "");
        let mut one = life("a", (0, 1_000), None);
        one.busy = vec![one.busy[0]; 5_000];
        assert!(draw(&vec![one; 1_000]).len() < 2_000_000);
    }
}
