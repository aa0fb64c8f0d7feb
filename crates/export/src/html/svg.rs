//! A picture as SVG text: shapes with classes, whose colours are in the page's style. Used by all charts of this folder.
//!
//! Coordinates are written to a tenth of a pixel, and runs of points as one path, because most of a page's size is points.

use std::fmt::Write as _;

/// A picture in the making.
#[derive(Debug)]
pub(crate) struct Svg {
    text: String,
}

/// Which part of a text is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// A picture of a size in pixels, and what it shows, for those who cannot see it.
    pub(crate) fn new(width: f64, height: f64, about: &str) -> Self {
        let (width, height) = (number(width), number(height));
        let about = label(about);
        let text = format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{about}\">"
        );
        Self { text }
    }

    /// A line between two points.
    pub(crate) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
        let _ =
            write!(self.text, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    /// A rectangle by its corner and its size, with a tooltip.
    pub(crate) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), title: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(number);
        let _ = write!(
            self.text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">{}</rect>",
            titled(title)
        );
    }

    /// A circle.
    pub(crate) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, title: &str) {
        let [x, y, radius] = [x, y, radius].map(number);
        let _ = write!(
            self.text,
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\">{}</circle>",
            titled(title)
        );
    }

    /// A run of lines; without points, nothing.
    pub(crate) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if !points.is_empty() {
            let _ = write!(self.text, "<path class=\"{class}\" d=\"{}\"/>", run(points));
        }
    }

    /// The area between two runs of lines.
    pub(crate) fn band(&mut self, class: &str, above: &[(f64, f64)], below: &[(f64, f64)]) {
        if above.is_empty() || below.is_empty() {
            return;
        }
        let around: Vec<_> = above.iter().chain(below.iter().rev()).copied().collect();
        let _ = write!(self.text, "<path class=\"{class}\" d=\"{}Z\"/>", run(&around));
    }

    /// Points as one path of dots: those of one tenth of a pixel are one.
    pub(crate) fn dots(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut dots: Vec<(i64, i64)> =
            points.iter().map(|&(x, y)| ((x * 10.0).round() as i64, (y * 10.0).round() as i64)).collect();
        dots.sort_unstable();
        dots.dedup();
        if dots.is_empty() {
            return;
        }
        let _ = write!(self.text, "<path class=\"{class}\" d=\"");
        for (x, y) in dots {
            let _ = write!(self.text, "M{} {}h0", number(x as f64 / 10.0), number(y as f64 / 10.0));
        }
        self.text.push_str("\"/>");
    }

    /// A text.
    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let [x, y] = [x, y].map(number);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ =
            write!(self.text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{}</text>", label(text));
    }

    /// A group of shapes that are cut off at the borders of a rectangle; `name` is unique on the page.
    pub(crate) fn clipped(
        &mut self,
        name: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        draw: impl FnOnce(&mut Self),
    ) {
        let [x, y, width, height] = [x, y, width, height].map(number);
        let _ = write!(
            self.text,
            "<clipPath id=\"{name}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></clipPath><g clip-path=\"url(#{name})\">"
        );
        draw(self);
        self.text.push_str("</g>");
    }

    /// What is in the picture as it is written, as a style.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The whole picture, as a file of its own.
    pub(crate) fn finish_file(self) -> String {
        self.finish().replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1)
    }

    /// The whole picture.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

fn run(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let step = if index == 0 { 'M' } else { 'L' };
        let _ = write!(text, "{step}{} {}", number(x), number(y));
    }
    text
}

fn titled(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", label(title)) }
}

/// A coordinate to a tenth of a pixel, without trailing zeros.
pub(crate) fn number(value: f64) -> String {
    let tenths = (value.clamp(-1e6, 1e6) * 10.0).round() as i64;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, part) => format!("{}{whole}.{}", if tenths < 0 && whole == 0 { "-" } else { "" }, part.abs()),
    }
}

/// Maximum number of bytes of a text in a picture: names come from traces, and may be long.
const MAX_LABEL_BYTES: usize = 240;

fn label(text: &str) -> String {
    escaped(text, MAX_LABEL_BYTES)
}

/// Escapes a text for HTML, and cuts it, with `…` for its end, where it would take more than `max` bytes. Control characters are replaced.
pub(crate) fn escaped(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    for character in text.chars() {
        let end = out.len();
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other if other.is_control() && other != '\n' => out.push('\u{fffd}'),
            other => out.push(other),
        }
        if out.len() > max {
            out.truncate(end);
            out.push('…');
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let check = |value: f64, expect: &str| assert_eq!(number(value), expect);
        check(0.0, "0");
        check(12.04, "12");
        check(12.05, "12.1");
        check(-0.34, "-0.3");
        check(-3.26, "-3.3");
        check(f64::INFINITY, "1000000");
    }

    #[test]
    fn texts_mean_themselves() {
        let check = |text: &str, most, expect: &str| assert_eq!(escaped(text, most), expect);
        check("<a b=\"c\">&'\u{1b}", 99, "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}");
        // No part of a character is left.
        check("a<b", 4, "a…");
        check("aéé", 4, "aé…");
        check("aé", 3, "aé");
    }

    #[test]
    fn dots_of_one_place_are_one() {
        let mut svg = Svg::new(10.0, 10.0, "a & b");
        svg.dots("d", &[(1.0, 2.0), (1.01, 2.04), (3.5, 4.0)]);
        svg.dots("none", &[]);
        let text = svg.finish();
        assert!(text.contains("<path class=\"d\" d=\"M1 2h0M3.5 4h0\"/>"), "{text}");
        assert!(text.contains("aria-label=\"a &amp; b\"") && !text.contains("none"), "{text}");
    }
}
