//! The picture of a link: its messages as points, offset against time with the rate taken out, both half hulls with the corridor between them
//! filled, the estimate, bounds and likely error over time, breaks and suspects; and its latencies each way.

use super::scale::{Scale, duration};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 300.0;
/// Room for the marks of the axes.
const LEFT: f64 = 74.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// Room around the times of the messages, as a share of them.
const AROUND: f64 = 0.03;

/// Maximum number of breaks, and of messages that were left out, in a picture: they have tooltips.
const MAX_MARKS: usize = 60;
/// Maximum number of points of a line or a cloud: more would not be visible.
const MAX_POINTS: usize = 2_000;

/// A point: when, ns since the start; and how far from the estimate, ns.
pub type Dot = (i64, i64);

/// An instant, the earliest and the latest that a clock can be from its estimate there, and the likely error; ns.
pub type BoundsAt = (i64, Option<i64>, Option<i64>, Option<i64>);

/// What a picture of a link shows. Times are ns since a start of the caller's choice.
#[derive(Debug, Clone, Default)]
pub struct LinkPicture {
    /// The host whose messages are above.
    pub a: String,
    /// The host whose messages are below.
    pub b: String,
    /// From a to b: when, and how much later than sent they were received.
    pub forth: Vec<Dot>,
    /// From b to a: when, and minus that.
    pub back: Vec<Dot>,
    /// The half hull of all messages from a to b.
    pub upper: Vec<Dot>,
    /// The half hull of all messages from b to a.
    pub lower: Vec<Dot>,
    /// By time: the earliest and the latest that b's clock can be from the estimate, and the likely error; `None` where it is unknown.
    pub bounds: Vec<BoundsAt>,
    /// Start and end of the time in which a clock was set or slewed, and what happened.
    pub breaks: Vec<(i64, i64, String)>,
    /// Messages that were left out: when, how far from the estimate, and why.
    pub suspects: Vec<(i64, i64, String)>,
}

/// Latencies of messages in one direction.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Names of sender and receiver.
    pub title: String,
    /// Latencies, ns: of all messages, or of a sample.
    pub values: Vec<i64>,
    /// Number of messages.
    pub total: u64,
}

impl LinkPicture {
    /// The classic picture. `name` is unique on the page.
    pub(crate) fn messages(&self, name: &str) -> String {
        let about = format!("messages between {} and {}: offset against time", self.a, self.b);
        let mut svg = Svg::new(WIDTH, HEIGHT, &about);
        let (x, y) = (self.times(), self.offsets());
        axes(&mut svg, &x, &y);
        let place = |&(at, off): &Dot| (x.at(at as f64), y.at(off as f64));
        let places = |dots: &[Dot]| dots.iter().take(MAX_POINTS).map(place).collect::<Vec<_>>();
        svg.clipped(name, (LEFT, TOP), (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM), |svg| {
            self.draw_breaks(svg, &x, HEIGHT);
            svg.band("corridor", &places(&self.upper), &places(&self.lower));
            let Bounds { earliest, latest, likely } = self.drawn_bounds();
            svg.path("bound", &places(&earliest));
            svg.path("bound", &places(&latest));
            svg.band("likely", &places(&likely), &places(&mirrored(&likely)));
            svg.dots("forth", &places(&self.forth));
            svg.dots("back", &places(&self.back));
            svg.path("hull", &places(&self.upper));
            svg.path("hull", &places(&self.lower));
            svg.line("estimate", (LEFT, y.at(0.0)), (WIDTH - RIGHT, y.at(0.0)));
            for (at, off, why) in self.suspects.iter().take(MAX_MARKS) {
                let off = (*off).clamp(y.from as i64, y.to as i64);
                svg.circle("suspect", place(&(*at, off)), 4.0, why);
            }
        });
        let beyond =
            self.forth.iter().chain(&self.back).filter(|dot| !(y.from..=y.to).contains(&(dot.1 as f64)));
        let beyond = beyond.count();
        let left_out = |all: usize| all.saturating_sub(MAX_MARKS);
        let marks = left_out(self.breaks.len()) + left_out(self.suspects.len());
        let notes = [
            (beyond > 0).then(|| format!("{beyond} of these points are farther off than shown")),
            (marks > 0).then(|| format!("{marks} more breaks and messages that were left out are not shown")),
        ];
        for (line, text) in notes.iter().flatten().enumerate() {
            let at = (WIDTH - RIGHT - 4.0, TOP + 12.0 + line as f64 * 14.0);
            svg.text("note", at, Anchor::End, text);
        }
        svg.finish()
    }

    /// How far times can be wrong, over the whole trace.
    pub(crate) fn uncertainty(&self, name: &str) -> String {
        const LOW: f64 = 160.0;
        let about = format!("bounds and likely error between {} and {} over time", self.a, self.b);
        let mut svg = Svg::new(WIDTH, LOW, &about);
        let ends = self.bounds.first().zip(self.bounds.last());
        let (begin, end) = ends.map_or((0, 1), |(first, last)| (first.0, last.0));
        let x = Scale::new(begin as f64, end as f64, (LEFT, WIDTH - RIGHT));
        let all =
            self.bounds.iter().take(MAX_POINTS).flat_map(|&(_, lo, hi, likely)| [lo, hi, likely]).flatten();
        let (least, most) = all.fold((0, 0), |(least, most), off| (least.min(off), most.max(off)));
        let room = (most - least).max(1) as f64 * 0.06;
        let y = Scale::new(least as f64 - room, most as f64 + room, (LOW - BOTTOM, TOP));
        axes(&mut svg, &x, &y);
        let place = |(at, off): Dot| (x.at(at as f64), y.at(off as f64));
        svg.clipped(name, (LEFT, TOP), (WIDTH - LEFT - RIGHT, LOW - TOP - BOTTOM), |svg| {
            let Bounds { earliest, latest, likely } = self.drawn_bounds();
            let places = |dots: &[Dot]| dots.iter().copied().map(place).collect::<Vec<_>>();
            svg.band("corridor", &places(&latest), &places(&earliest));
            svg.band("likely", &places(&likely), &places(&mirrored(&likely)));
            svg.line("estimate", (LEFT, y.at(0.0)), (WIDTH - RIGHT, y.at(0.0)));
            self.draw_breaks(svg, &x, LOW);
        });
        svg.finish()
    }

    /// The bounds as lines.
    fn drawn_bounds(&self) -> Bounds {
        let bounds = || self.bounds.iter().take(MAX_POINTS);
        let known = bounds().filter_map(|&(at, lo, hi, _)| Some(((at, lo?), (at, hi?))));
        let (earliest, latest) = known.unzip();
        let likely = bounds().filter_map(|&(at, .., likely)| Some((at, likely?))).collect();
        Bounds { earliest, latest, likely }
    }

    /// Shades the breaks in a picture of a height.
    fn draw_breaks(&self, svg: &mut Svg, x: &Scale, height: f64) {
        for (begin, end, what) in self.breaks.iter().take(MAX_MARKS) {
            let (from, to) = (x.at(*begin as f64), x.at(*end as f64));
            svg.rect("break", (from - 1.0, TOP), ((to - from).max(0.0) + 2.0, height - TOP - BOTTOM), what);
        }
    }

    /// The time of the messages, and some around it.
    fn times(&self) -> Scale {
        let hulls =
            [&self.upper, &self.lower, &self.forth, &self.back].into_iter().flatten().map(|dot| dot.0);
        let (first, last) =
            hulls.fold((i64::MAX, i64::MIN), |(first, last), at| (first.min(at), last.max(at)));
        let (first, last) = if first > last { (0, 1) } else { (first, last) };
        let around = (last as f64 - first as f64) * AROUND;
        Scale::new(first as f64 - around, last as f64 + around, (LEFT, WIDTH - RIGHT))
    }

    /// Offsets that show most of the messages, and with them where the half hulls are: their ends, where messages are few, may be far out.
    fn offsets(&self) -> Scale {
        /// At least this many of ten messages are visible.
        const SHOWN: usize = 6;
        let most = |dots: &[Dot]| {
            let mut sizes: Vec<u64> = dots.iter().map(|dot| dot.1.unsigned_abs()).collect();
            sizes.sort_unstable();
            let usual = sizes.get(sizes.len() * SHOWN / 10).or(sizes.last()).copied().unwrap_or(0);
            usual as f64 * 1.5
        };
        let (up, down) = (most(&self.forth), most(&self.back));
        let least = up.max(down).max(1.0) * 0.25;
        Scale::new(-down.max(least), up.max(least), (HEIGHT - BOTTOM, TOP))
    }
}

/// Bounds of a picture as lines.
struct Bounds {
    earliest: Vec<Dot>,
    latest: Vec<Dot>,
    likely: Vec<Dot>,
}

/// Points on the other side of the estimate.
fn mirrored(dots: &[Dot]) -> Vec<Dot> {
    dots.iter().map(|&(at, off)| (at, -off)).collect()
}

/// The axes of a chart: time to the right, durations upward.
fn axes(svg: &mut Svg, x: &Scale, y: &Scale) {
    let (bottom, top) = y.pixels;
    for mark in y.marks(6) {
        let at = y.at(mark);
        svg.line("grid", (LEFT, at), (WIDTH - RIGHT, at));
        svg.text("mark", (LEFT - 6.0, at + 3.5), Anchor::End, &duration(mark));
    }
    for mark in x.marks(8) {
        let at = x.at(mark);
        svg.line("grid", (at, top), (at, bottom));
        svg.text("mark", (at, bottom + 15.0), Anchor::Middle, &duration(mark));
    }
    svg.line("axis", (LEFT, bottom), (WIDTH - RIGHT, bottom));
    svg.line("axis", (LEFT, top), (LEFT, bottom));
}

/// Latencies each way, to one scale; a line where half of the least round trip is, as messages that are as fast in one direction as in the
/// other would have it.
pub(crate) fn histograms(both: &[Latencies; 2], least_round_trip: Option<i64>) -> String {
    const BARS: usize = 60;
    const PANEL: f64 = 110.0;
    let all: Vec<i64> = both.iter().flat_map(|way| &way.values).copied().collect();
    let positive = || all.iter().copied().filter(|&latency| latency > 0);
    let (Some(least), Some(most)) = (positive().min(), positive().max()) else { return String::new() };
    let about = format!("latencies: {}, {}", both[0].title, both[1].title);
    let mut svg = Svg::new(WIDTH, 2.0 * PANEL, &about);
    // Latencies go over many decades: a logarithmic axis.
    let (from, to) = ((least as f64).log10().floor(), (most as f64).log10().ceil());
    let x = Scale::new(from, to.max(from + 1.0), (LEFT, WIDTH - RIGHT));
    let class = |latency: i64| {
        let share = ((latency as f64).log10() - x.from) / (x.to - x.from);
        ((share * BARS as f64) as usize).min(BARS - 1)
    };
    let width = (WIDTH - LEFT - RIGHT) / BARS as f64;
    for (index, way) in both.iter().enumerate() {
        let (top, bottom) = (index as f64 * PANEL + 18.0, (index + 1) as f64 * PANEL - 18.0);
        let mut counts = [0_u64; BARS];
        way.values.iter().filter(|latency| **latency > 0).for_each(|&latency| counts[class(latency)] += 1);
        let y = Scale::new(0.0, counts.iter().copied().max().unwrap_or(1).max(1) as f64, (bottom, top));
        for (bar, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let at = LEFT + bar as f64 * width;
            let high = y.at(count as f64);
            let range = |bar: usize| 10_f64.powf(x.from + (x.to - x.from) * bar as f64 / BARS as f64);
            let title = format!("{} to {}: {count}", duration(range(bar)), duration(range(bar + 1)));
            svg.rect(
                ["bar forth-bar", "bar back-bar"][index],
                (at + 0.5, high),
                (width - 1.0, bottom - high),
                &title,
            );
        }
        for decade in x.from as i64..=x.to as i64 {
            let at = x.at(decade as f64);
            svg.line("grid", (at, top), (at, bottom));
            svg.text("mark", (at, bottom + 13.0), Anchor::Middle, &duration(10_f64.powi(decade as i32)));
        }
        svg.line("axis", (LEFT, bottom), (WIDTH - RIGHT, bottom));
        if let Some(half) = least_round_trip.filter(|trip| *trip > 1).map(|trip| (trip as f64 / 2.0).log10())
        {
            svg.line("floor", (x.at(half), top), (x.at(half), bottom));
        }
        let inverted = way.values.iter().filter(|latency| **latency <= 0).count();
        let of = match way.total == way.values.len() as u64 {
            true => format!("{}: {} messages", way.title, way.total),
            false => format!("{}: a sample of {} of {} messages", way.title, way.values.len(), way.total),
        };
        let more = if inverted > 0 {
            format!(", {inverted} of them received before they were sent")
        } else {
            String::new()
        };
        svg.text("label", (LEFT, top - 5.0), Anchor::Start, &format!("{of}{more}"));
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> LinkPicture {
        LinkPicture {
            a: "web".to_owned(),
            b: "<db>".to_owned(),
            forth: vec![(0, 100), (500, 400), (1000, 90)],
            back: vec![(100, -80), (900, -120)],
            upper: vec![(0, 100), (1000, 90)],
            lower: vec![(100, -80), (900, -120)],
            bounds: vec![
                (0, Some(-90), Some(95), Some(30)),
                (500, None, None, None),
                (1000, Some(-100), Some(90), Some(40)),
            ],
            breaks: vec![(400, 600, "step of 3 ms".to_owned())],
            suspects: vec![(700, -1_000_000, "too early".to_owned())],
        }
    }

    fn count(text: &str, part: &str) -> usize {
        text.matches(part).count()
    }

    #[test]
    fn all_that_is_known_is_drawn() {
        let text = picture().messages("p1");
        for part in [
            "class=\"corridor\"",
            "class=\"likely\"",
            "class=\"forth\"",
            "class=\"back\"",
            "class=\"estimate\"",
            "class=\"break\"",
            "class=\"suspect\"",
        ] {
            assert_eq!(count(&text, part), 1, "{part}: {text}");
        }
        assert_eq!((count(&text, "class=\"hull\""), count(&text, "class=\"bound\"")), (2, 2));
        assert!(text.contains("web and &lt;db&gt;") && !text.contains("<db>"), "{text}");
        assert!(text.contains("<title>too early</title>") && text.contains("url(#p1)"), "{text}");
    }

    /// The first message is at the left, above the estimate; the last message back is right of it and below.
    #[test]
    fn dots_are_where_they_belong() {
        let picture = picture();
        let (x, y) = (picture.times(), picture.offsets());
        assert!(x.at(0.0) > LEFT && x.at(1000.0) < WIDTH - RIGHT);
        assert!(y.at(100.0) < y.at(0.0) && y.at(0.0) < y.at(-120.0));
        let expect =
            format!("M{} {}h0", super::super::svg::number(x.at(0.0)), super::super::svg::number(y.at(100.0)));
        assert!(picture.messages("p").contains(&expect), "{expect}");
        // The half hulls are inside.
        assert!(
            (TOP..HEIGHT - BOTTOM).contains(&y.at(100.0)) && (TOP..HEIGHT - BOTTOM).contains(&y.at(-120.0))
        );
    }

    #[test]
    fn an_empty_link_is_an_empty_picture() {
        let nothing = LinkPicture::default();
        assert_eq!(count(&nothing.messages("p"), "class=\"forth\""), 0);
        assert_eq!(count(&nothing.uncertainty("p"), "class=\"likely\""), 0);
        assert_eq!(histograms(&[Latencies::default(), Latencies::default()], None), "");
    }

    #[test]
    fn latencies_have_bars() {
        let way = |title: &str, values: &[i64], total| Latencies {
            title: title.to_owned(),
            values: values.to_vec(),
            total,
        };
        let text = histograms(&[way("a → b", &[100, 100, 5000], 3), way("b → a", &[-3, 200], 9)], Some(300));
        assert_eq!(
            (count(&text, "forth-bar"), count(&text, "back-bar"), count(&text, "class=\"floor\"")),
            (2, 1, 2)
        );
        assert!(
            text.contains("a → b: 3 messages") && text.contains("a sample of 2 of 9 messages, 1 of them"),
            "{text}"
        );
    }
}
