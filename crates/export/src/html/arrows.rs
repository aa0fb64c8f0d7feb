//! A few messages as arrows between hosts, on the hosts' own clocks and on the common one.

use super::scale::{Scale, duration};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 20.0;
const ROW: f64 = 46.0;
/// Maximum number of arrows: more would cover each other.
const MAX: usize = 60;

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// Indices of sender and receiver.
    pub hosts: (usize, usize),
    /// When it was sent and received, on the hosts' own clocks, ns since the first of all arrows.
    pub own_ns: (i64, i64),
    /// The same on the common clock.
    pub common_ns: (i64, i64),
}

/// The same messages before and after.
pub(crate) fn draw(hosts: &[String], arrows: &[Arrow]) -> [(String, String); 2] {
    let arrows = arrows.get(..MAX).unwrap_or(arrows);
    let panel = |title: &str, times: fn(&Arrow) -> (i64, i64)| {
        let inverted = arrows.iter().filter(|arrow| times(arrow).1 < times(arrow).0).count();
        let caption =
            format!("{title}: {inverted} of {} messages arrive before they were sent", arrows.len());
        (caption, drawn(hosts, arrows, times))
    };
    [
        panel("On the hosts' own clocks", |arrow| arrow.own_ns),
        panel("On the common clock", |arrow| arrow.common_ns),
    ]
}

fn drawn(hosts: &[String], arrows: &[Arrow], times: fn(&Arrow) -> (i64, i64)) -> String {
    let ends = arrows.iter().flat_map(|arrow| [times(arrow).0, times(arrow).1]);
    let (Some(first), Some(last)) = (ends.clone().min(), ends.max()) else { return String::new() };
    // Hosts without an arrow need no row.
    let mut rows: Vec<usize> = arrows.iter().flat_map(|arrow| [arrow.hosts.0, arrow.hosts.1]).collect();
    rows.sort_unstable();
    rows.dedup();
    let height = rows.len() as f64 * ROW + 26.0;
    let mut svg = Svg::new(WIDTH, height, "messages as arrows between hosts");
    let room = (last - first).max(1) as f64 * 0.02;
    let x = Scale::new(-room, (last - first) as f64 + room, (LEFT, WIDTH - RIGHT));
    let y = |host: usize| rows.iter().position(|row| *row == host).unwrap_or(0) as f64 * ROW + 22.0;
    for &row in &rows {
        svg.line("grid", (LEFT, y(row)), (WIDTH - RIGHT, y(row)));
        let name = hosts.get(row).map_or("", String::as_str);
        svg.text("label", (LEFT - 8.0, y(row) + 4.0), Anchor::End, name);
    }
    for mark in x.marks(7) {
        svg.text("mark", (x.at(mark), height - 6.0), Anchor::Middle, &duration(mark));
    }
    for arrow in arrows {
        let (sent, received) = times(arrow);
        let class = if received < sent { "arrow inverted" } else { "arrow" };
        let (from, to) = (
            (x.at((sent - first) as f64), y(arrow.hosts.0)),
            (x.at((received - first) as f64), y(arrow.hosts.1)),
        );
        svg.line(class, from, to);
        svg.circle(class, to, 2.5, "");
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverted_messages_are_marked_and_counted() {
        let hosts = ["a", "b", "c"].map(str::to_owned);
        let arrow = |hosts, own_ns, common_ns| Arrow { hosts, own_ns, common_ns };
        let arrows = [arrow((0, 2), (0, -50), (0, 5)), arrow((2, 0), (10, 100), (10, 15))];
        let [(before, own), (after, common)] = draw(&hosts, &arrows);
        assert!(before.ends_with("1 of 2 messages arrive before they were sent"), "{before}");
        assert!(after.starts_with("On the common clock: 0 of 2"), "{after}");
        assert_eq!(
            (own.matches("line class=\"arrow inverted\"").count(), common.matches("inverted").count()),
            (1, 0)
        );
        // A host without an arrow has no row.
        assert!(own.contains(">c<") && !own.contains(">b<"), "{own}");
        assert_eq!(draw(&hosts, &[])[0].1, "");
    }
}
