//! Flame graphs: what a value was spent on, by stacks of frames, as a picture and as collapsed stacks.
//!
//! Collapsed stacks are what `flamegraph.pl`, inferno and speedscope read: a line for each stack, its frames
//! from the outermost on with `;` between them, a space, and the value of the stack itself.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::html::svg::{Anchor, Svg};

/// Width of a picture, pixels.
const WIDTH: f64 = 1200.0;
/// Height of a frame, pixels.
const HEIGHT: f64 = 17.0;
/// Height of the line of text above and below the frames, pixels.
const MARGIN: f64 = 24.0;
/// Frames that are narrower are not drawn, pixels.
const LEAST_WIDTH: f64 = 0.3;
/// Width of a character, pixels, by which texts are cut to their frames.
const CHARACTER: f64 = 6.2;
/// Number of colours of frames.
const COLOURS: u32 = 8;

const STYLE: &str = "<style>svg{background:#fff;font:11px ui-monospace,monospace}text{fill:#1b1b1b}\
    .frame{stroke:#fff;stroke-width:.5}.t{font-size:13px}\
    .f0{fill:#f4a261}.f1{fill:#f6bd60}.f2{fill:#e9a178}.f3{fill:#f2cc8f}\
    .f4{fill:#e8b4a0}.f5{fill:#f0a868}.f6{fill:#ddb892}.f7{fill:#f7d08a}</style>";

/// Values by stacks of frames.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Flame {
    /// Of this stack and of all that are longer.
    total: u64,
    /// Of this stack itself.
    own: u64,
    above: BTreeMap<String, Flame>,
}

impl Flame {
    /// Adds a value to a stack, whose frames are from the outermost on.
    pub fn add<S: AsRef<str>>(&mut self, frames: impl IntoIterator<Item = S>, value: u64) {
        let mut at = self;
        at.total = at.total.saturating_add(value);
        for frame in frames {
            at = at.above.entry(frame.as_ref().to_owned()).or_default();
            at.total = at.total.saturating_add(value);
        }
        at.own = at.own.saturating_add(value);
    }

    /// The sum of all values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Writes collapsed stacks, in the order of their frames. In names, what separates frames and lines is
    /// replaced.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn collapsed(&self, out: &mut impl Write) -> io::Result<()> {
        self.stacks(&mut String::new(), out)
    }

    fn stacks(&self, stack: &mut String, out: &mut impl Write) -> io::Result<()> {
        if self.own > 0 && !stack.is_empty() {
            writeln!(out, "{stack} {}", self.own)?;
        }
        for (frame, above) in &self.above {
            let before = stack.len();
            if before > 0 {
                stack.push(';');
            }
            stack.extend(frame.chars().map(|it| match it {
                ';' => ':',
                it if it.is_control() => ' ',
                it => it,
            }));
            above.stacks(stack, out)?;
            stack.truncate(before);
        }
        Ok(())
    }

    /// The picture as SVG, with the outermost frames at the bottom. `title` says what the values are of, and
    /// `value` writes one. Frames that are too narrow are not drawn; how many is written below.
    pub fn svg(&self, title: &str, value: impl Fn(u64) -> String) -> String {
        let depth = self.depth();
        let height = depth as f64 * HEIGHT + 2.0 * MARGIN;
        let mut drawing =
            Drawing { svg: Svg::new(WIDTH, height, title), value: &value, of: self.total, left_out: 0 };
        drawing.svg.raw(STYLE);
        let words = format!("{title}: {}", value(self.total));
        drawing.svg.text("t", (WIDTH / 2.0, MARGIN - 8.0), Anchor::Middle, &words);
        drawing.frames(self, 0.0, height - MARGIN);
        if drawing.left_out > 0 {
            let are = if drawing.left_out == 1 { "frame is" } else { "frames are" };
            let words = format!("{} {are} too narrow to be drawn", drawing.left_out);
            drawing.svg.text("", (2.0, height - 8.0), Anchor::Start, &words);
        }
        drawing.svg.finish_file()
    }

    /// Number of frames of the longest stack.
    fn depth(&self) -> usize {
        self.above.values().map(|above| 1 + above.depth()).max().unwrap_or(0)
    }

    /// Number of frames.
    fn frames(&self) -> usize {
        self.above.values().map(|above| 1 + above.frames()).sum()
    }
}

struct Drawing<'f> {
    svg: Svg,
    value: &'f dyn Fn(u64) -> String,
    /// The value of the whole width.
    of: u64,
    /// Number of frames that are not drawn.
    left_out: usize,
}

impl Drawing<'_> {
    /// Draws the frames of longer stacks, from `x` on, with their lower side at `y`.
    fn frames(&mut self, below: &Flame, mut x: f64, y: f64) {
        for (name, frame) in &below.above {
            let share = frame.total as f64 / self.of.max(1) as f64;
            let width = share * WIDTH;
            if width < LEAST_WIDTH {
                self.left_out += 1 + frame.frames();
            } else {
                let title = format!("{name}: {} ({:.1} %)", (self.value)(frame.total), 100.0 * share);
                let class = format!("frame f{}", colour(name));
                self.svg.rect(&class, (x, y - HEIGHT), (width, HEIGHT), &title);
                let room = ((width - 4.0) / CHARACTER) as usize;
                if room >= 3 {
                    self.svg.text("", (x + 2.0, y - 5.0), Anchor::Start, &cut(name, room));
                }
                self.frames(frame, x, y - HEIGHT);
            }
            x += width;
        }
    }
}

/// The first characters of a text that has more than there is room for.
fn cut(text: &str, room: usize) -> String {
    match text.chars().count() > room {
        true => text.chars().take(room - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The number of the colour of a name: the same wherever it is.
fn colour(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) % COLOURS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flame() -> Flame {
        let mut flame = Flame::default();
        flame.add(["a", "b"], 2);
        flame.add(["a", "c;d\n"], 5);
        flame.add(["a"], 1);
        flame.add(["e <x>"], 92);
        flame.add(["a", "b"], 1);
        flame.add(["a", "b", "too narrow"], 0);
        flame
    }

    #[test]
    fn stacks_are_collapsed() {
        let mut text = Vec::new();
        flame().collapsed(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a 1\na;b 3\na;c:d  5\ne <x> 92\n");
        assert_eq!(flame().total(), 101);
    }

    #[test]
    fn a_picture_has_all_frames_or_says_so() {
        let svg = flame().svg("Waits", |value| format!("{value} ns"));
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "), "{svg}");
        for part in [
            "Waits: 101 ns",
            "<title>a: 9 ns (8.9 %)</title>",
            "<title>e &lt;x&gt;: 92 ns (91.1 %)</title>",
            "1 frame is too narrow to be drawn",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!Flame::default().svg("Nothing", |value| value.to_string()).contains("narrow"));
    }
}
