//! Where on a disk requests were, over time, by process: seeks are seen at a glance. A dot is a read
//! request at its first byte, a ring one that writes; the line leads from the end of each to the next one.

use isochrone_time::SinceOrigin;

use super::scale::{Scale, duration};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
/// Room for the marks of the axis.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 8.0;
const HEIGHT: f64 = 220.0;
/// Room for the marks of the axis of time.
const BELOW: f64 = 20.0;
/// Height of a line of the legend.
const LEGEND: f64 = 18.0;
/// Names of processes in a line of the legend.
const COLUMNS: usize = 4;
/// Maximum number of requests that are drawn.
pub const MAX_ACCESSES: usize = 20_000;
/// Maximum number of requests between which lines lead: more are one grey area.
const MAX_LINES: usize = 2_000;
/// Number of colours in the style.
const COLOURS: usize = 7;

/// A request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// When it was issued.
    pub at: SinceOrigin,
    /// The first byte on the disk.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Index of the process in the names; that of the last one stands for all others.
    pub process: usize,
    /// Whether it writes.
    pub is_write: bool,
}

/// The requests to a disk.
#[derive(Debug, Clone, Default)]
pub struct AccessPicture {
    /// Names of processes, each with its own colour; those after the seventh share one.
    pub processes: Vec<String>,
    /// Requests in the order of time; at most [`MAX_ACCESSES`] are drawn.
    pub accesses: Vec<Access>,
}

fn class(process: usize) -> String {
    format!("series{}", process.min(COLOURS))
}

/// A number of bytes in the unit that fits.
fn bytes(value: f64) -> String {
    const UNITS: [(&str, f64); 5] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
    let &(unit, size) = UNITS.iter().find(|unit| value >= unit.1).unwrap_or(&UNITS[4]);
    let value = format!("{:.3}", value / size);
    format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
}

impl AccessPicture {
    /// Draws the picture; without requests, nothing.
    pub(crate) fn draw(&self) -> String {
        let drawn = self.accesses.get(..MAX_ACCESSES).unwrap_or(&self.accesses);
        let (Some(first), Some(last)) = (drawn.first(), drawn.last()) else { return String::new() };
        let lowest = drawn.iter().map(|it| it.offset).min().unwrap_or_default();
        let highest = drawn.iter().map(|it| it.offset.saturating_add(it.bytes)).max().unwrap_or_default();
        let bottom = TOP + HEIGHT;
        let lines = self.processes.len().min(COLOURS + 1).div_ceil(COLUMNS) as f64;
        let mut svg =
            Svg::new(WIDTH, bottom + BELOW + lines * LEGEND, "where on a disk requests were, over time");
        let x = Scale::new(first.at.0 as f64, last.at.0 as f64, (LEFT, WIDTH - RIGHT));
        let y = Scale::new(lowest as f64, highest as f64, (bottom, TOP));
        for mark in x.marks(7) {
            svg.line("grid", (x.at(mark), TOP), (x.at(mark), bottom + 2.0));
            svg.text("mark", (x.at(mark), bottom + 14.0), Anchor::Middle, &duration(mark));
        }
        for mark in y.marks(5) {
            svg.line("grid", (LEFT, y.at(mark)), (WIDTH - RIGHT, y.at(mark)));
            svg.text("mark", (LEFT - 6.0, y.at(mark) + 4.0), Anchor::End, &bytes(mark));
        }
        if drawn.len() <= MAX_LINES {
            let ends = drawn.iter().flat_map(|it| {
                let to = it.offset.saturating_add(it.bytes);
                [it.offset, to].map(|offset| (x.at(it.at.0 as f64), y.at(offset as f64)))
            });
            svg.path("seek", &ends.collect::<Vec<_>>());
        }
        for (process, is_write) in (0..=COLOURS).flat_map(|process| [(process, false), (process, true)]) {
            let is_its = |it: &&Access| it.process.min(COLOURS) == process && it.is_write == is_write;
            let dots = drawn.iter().filter(is_its).map(|it| (x.at(it.at.0 as f64), y.at(it.offset as f64)));
            let dots: Vec<_> = dots.collect();
            if is_write {
                svg.dots(&format!("ring {}", class(process)), &dots);
                svg.dots("hole", &dots);
            } else {
                svg.dots(&format!("dot {}", class(process)), &dots);
            }
        }
        for (process, name) in self.processes.iter().take(COLOURS + 1).enumerate() {
            let column = (WIDTH - LEFT - RIGHT) / COLUMNS as f64;
            let at = LEFT + (process % COLUMNS) as f64 * column;
            let line = bottom + BELOW + (process / COLUMNS) as f64 * LEGEND;
            svg.dots(&format!("dot {}", class(process)), &[(at + 4.0, line + 8.0)]);
            svg.text("mark", (at + 12.0, line + 12.0), Anchor::Start, name);
        }
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(at: i64, offset: u64, process: usize) -> Access {
        Access { at: SinceOrigin(at), offset, bytes: 4096, process, is_write: false }
    }

    #[test]
    fn requests_are_dots_with_lines_between_them() {
        let picture = AccessPicture {
            processes: ["db (7)", "<sync>"].map(str::to_owned).to_vec(),
            accesses: vec![access(0, 0, 0), access(500, 8192, 1), access(1_000, 4096, 0)],
        };
        let text = picture.draw();
        let bottom = TOP + HEIGHT;
        // From the top of the highest request to the bottom: 12 KiB.
        let (left, right, third) = (LEFT, WIDTH - RIGHT, super::super::svg::number(bottom - HEIGHT / 3.0));
        assert!(
            text.contains(&format!("class=\"dot series0\" d=\"M{left} {bottom}h0M{right} {third}h0\"")),
            "{text}"
        );
        assert!(text.contains(&format!("class=\"seek\" d=\"M{left} {bottom}L{left} {third}L")), "{text}");
        assert!(!text.contains("ring"), "{text}");
        let accesses = vec![Access { is_write: true, ..access(0, 0, 0) }, access(500, 8192, 1)];
        let written = AccessPicture { accesses, ..picture.clone() }.draw();
        for class in ["ring series0", "hole"] {
            assert!(written.contains(&format!("class=\"{class}\" d=\"M{left} {bottom}h0\"")), "{written}");
        }
        assert!(text.contains("db (7)") && text.contains("&lt;sync&gt;") && text.contains("kB"), "{text}");
    }

    #[test]
    fn nothing_is_no_picture_and_much_is_cut() {
        assert_eq!(AccessPicture::default().draw(), "");
        let accesses = (0..100_000).map(|at| access(at, (at as u64 * 7_919) % 1_000_003, 9)).collect();
        let text = AccessPicture { processes: vec!["p".to_owned(); 100], accesses }.draw();
        assert!(text.len() < 500_000 && !text.contains("seek"), "{}", text.len());
        assert_eq!(text.matches(">p<").count(), COLOURS + 1);
    }

    #[test]
    fn sizes_have_units() {
        let check = |value: f64, expect: &str| assert_eq!(bytes(value), expect);
        check(0.0, "0 B");
        check(4000.0, "4 kB");
        check(1.5e9, "1.5 GB");
    }
}
