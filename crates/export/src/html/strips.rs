//! Values over time, one strip above the other on one axis of time: how busy CPUs, disks and networks were.

use isochrone_time::{SinceOrigin, Window};

use super::scale::{Scale, duration};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
/// Room for the names of strips.
const LEFT: f64 = 150.0;
/// Room for captions.
const RIGHT: f64 = 190.0;
const TOP: f64 = 6.0;
/// Height of a strip, and of it with the space below.
const HEIGHT: f64 = 30.0;
const ROW: f64 = 40.0;
/// Maximum number of strips of a picture.
const MAX: usize = 48;
/// Maximum number of steps of a strip.
const MAX_STEPS: usize = 400;

/// A value in a step of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The step, since an origin of the caller's choice.
    pub span: Window<SinceOrigin>,
    /// The value.
    pub value: f64,
    /// How much greater it may have been: the unknown part.
    pub unknown: f64,
}

/// A value over time.
#[derive(Debug, Clone, Default)]
pub struct Strip {
    /// Name of the strip.
    pub name: String,
    /// Its greatest value, or its sum, in words.
    pub caption: String,
    /// `busy`, `disk`, `network` or `memory`: its colour.
    pub kind: &'static str,
    /// The value at the top of the strip; 0: the greatest of the strip.
    pub top: f64,
    /// Its steps, in the order of time.
    pub steps: Vec<Step>,
}

/// Draws strips; without any, nothing.
pub(crate) fn draw(about: &str, strips: &[Strip]) -> String {
    let strips = strips.get(..MAX).unwrap_or(strips);
    let steps = || strips.iter().flat_map(|strip| strip.steps.iter().take(MAX_STEPS));
    let (Some(first), Some(last)) =
        (steps().map(|it| it.span.start.0).min(), steps().map(|it| it.span.end.0).max())
    else {
        return String::new();
    };
    let bottom = TOP + strips.len() as f64 * ROW;
    let mut svg = Svg::new(WIDTH, bottom + 16.0, about);
    let x = Scale::new(first as f64, last as f64, (LEFT, WIDTH - RIGHT));
    for mark in x.marks(7) {
        let at = x.at(mark);
        svg.line("grid", (at, TOP), (at, bottom - (ROW - HEIGHT) + 4.0));
        svg.text("mark", (at, bottom + 8.0), Anchor::Middle, &duration(mark));
    }
    for (number, strip) in strips.iter().enumerate() {
        let base = TOP + number as f64 * ROW + HEIGHT;
        let greatest = strip.steps.iter().map(|step| step.value + step.unknown).fold(0.0, f64::max);
        let whole = if strip.top > 0.0 { strip.top } else { greatest };
        let y = Scale::new(0.0, if whole > 0.0 { whole } else { 1.0 }, (base, base - HEIGHT));
        let high = |value: f64| y.at(value.clamp(0.0, y.to));
        let line = |of: &dyn Fn(&Step) -> f64| -> Vec<(f64, f64)> {
            let steps = strip.steps.iter().take(MAX_STEPS);
            steps
                .flat_map(|step| {
                    [step.span.start, step.span.end].map(|at| (x.at(at.0 as f64), high(of(step))))
                })
                .collect()
        };
        let (values, all) = (line(&|step| step.value), line(&|step| step.value + step.unknown));
        let floor: Vec<(f64, f64)> =
            [values.first(), values.last()].into_iter().flatten().map(|it| (it.0, base)).collect();
        if values != all {
            svg.band("unknown", &all, &values);
        }
        svg.band(strip.kind, &values, &floor);
        svg.line("axis", (LEFT, base), (WIDTH - RIGHT, base));
        svg.text("label", (LEFT - 8.0, base - 8.0), Anchor::End, &strip.name);
        svg.text("mark", (WIDTH - RIGHT + 8.0, base - 8.0), Anchor::Start, &strip.caption);
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(name: &str, values: &[f64], unknown: f64, top: f64) -> Strip {
        let step = |(number, &value): (usize, &f64)| {
            let begin = number as i64 * 1_000_000_000;
            let span = Window::new(SinceOrigin(begin), SinceOrigin(begin + 1_000_000_000));
            Step { span, value, unknown }
        };
        let steps = values.iter().enumerate().map(step).collect();
        Strip { name: name.to_owned(), caption: "at most 90 %".to_owned(), kind: "busy", top, steps }
    }

    #[test]
    fn strips_share_an_axis() {
        let text =
            draw("CPUs", &[strip("<a>", &[50.0, 100.0], 0.0, 100.0), strip("b", &[0.0, 25.0], 50.0, 100.0)]);
        assert_eq!(
            (text.matches("class=\"busy\"").count(), text.matches("class=\"unknown\"").count()),
            (2, 1)
        );
        // Half of the height for a second, then all of it.
        let (left, right) = (LEFT, WIDTH - RIGHT);
        let middle = f64::midpoint(left, right);
        let (half, top, base) = (TOP + HEIGHT / 2.0, TOP, TOP + HEIGHT);
        let expect = format!(
            "d=\"M{left} {half}L{middle} {half}L{middle} {top}L{right} {top}L{right} {base}L{left} {base}Z\""
        );
        assert!(text.contains(&expect), "{expect}: {text}");
        assert!(
            text.contains("&lt;a&gt;") && text.contains("at most 90 %") && text.contains(">2 s<"),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_no_picture_and_much_is_cut() {
        assert_eq!(draw("nothing", &[]), "");
        assert_eq!(draw("nothing", &[Strip::default()]), "");
        let many = vec![strip("a", &vec![1.0; 5_000], 0.0, 0.0); 500];
        assert!(draw("much", &many).len() < 1_000_000);
        // A strip of zeros has a base and no height.
        assert!(draw("zeros", &[strip("a", &[0.0, 0.0], 0.0, 0.0)]).contains("class=\"busy\""));
    }
}
