//! What the bounds of every clock rest on in the end: what was assumed of it, and where messages contradict
//! that, what was used instead.
//!
//! A link shows that a rate left what is assumed, not whose. It is laid to the clocks that may have done it
//! ([`crate::network::breaks`]), else to the clock with the weaker assumption: to the one that a daemon
//! steers rather than to the one that runs free; to both where as much is assumed of either.
//! [`crate::network::joint`] publishes it.

use crate::geometry::FASTEST;
use crate::link::{Link, Piece, Relation};
use crate::model::{Assumptions, STEERED_PPM, Steering};
use crate::network::{breaks::ClockEvent, findings::ClockFindings};
use crate::span::Span;

/// Assumption that the bounds of a clock rest on in a span of its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    /// Raw time of the clock, ns.
    pub raw: Span,
    /// Steering that the bounds assume.
    pub steering: Steering,
    /// Whether messages contradict what was assumed there ([`crate::Network::assumptions`]), so that this is
    /// used instead.
    pub is_contradicted: bool,
    /// How far the rate may leave the nominal one there, ppm: more than `steering` says where messages need
    /// it, and infinite where they say that the clock was set or stopped. 0 where the rate is constant.
    pub ppm: f64,
}

/// Something that a link shows of one of its clocks.
#[derive(Debug, Clone, Copy)]
struct Observed {
    raw: Span,
    /// How far the rate may leave the nominal one, ppm.
    ppm: f64,
    /// Whether the rate is not even constant where that was assumed.
    bends: bool,
}

/// By clock, over its span.
pub(crate) fn of_clocks(
    links: &[Link],
    spans: &[Span],
    assumptions: &[Assumptions],
    shown_of: &ClockFindings,
) -> Vec<Vec<Assumed>> {
    let mut shown: Vec<Vec<Observed>> = vec![Vec::new(); spans.len()];
    for link in links {
        let pieces = link.relation.iter().flat_map(Relation::pieces);
        for piece in pieces {
            show(link, piece, assumptions, &shown_of.events, &mut shown);
        }
    }
    let of = |clock: usize| along(spans[clock], &assumptions[clock], shown_of.moved[clock], &shown[clock]);
    (0..spans.len()).map(of).collect()
}

fn show(
    link: &Link,
    piece: &Piece,
    assumptions: &[Assumptions],
    events: &[Vec<ClockEvent>],
    shown: &mut [Vec<Observed>],
) {
    let Some(steered) = piece.bounds.steered() else { return };
    let loosened = steered.loosened();
    let lists = [
        (&loosened.contradicted, f64::from(STEERED_PPM), true),
        (&loosened.violations.fast, FASTEST * 1e6, false),
        (&loosened.violations.any, f64::INFINITY, true),
    ];
    for (list, ppm, bends) in lists {
        for &x in list {
            let y = x.map(|x| piece.curve.map.apply(x));
            let rank = |clock: usize, raw: Span| match assumptions[clock].at(raw.middle()) {
                Steering::Free => 0,
                Steering::Stepwise => 1,
                Steering::Steered { .. } | Steering::Unknown => 2,
            };
            let did = |clock: usize, raw: Span| {
                let meets = |e: &ClockEvent| e.change.raw.begin < raw.end && raw.begin < e.change.raw.end;
                events[clock].iter().any(meets)
            };
            let (a, b) = (rank(link.a, x), rank(link.b, y));
            let (a, b) = match (did(link.a, x), did(link.b, y)) {
                (false, false) => (a >= b, b >= a),
                did => did,
            };
            if a {
                shown[link.a].push(Observed { raw: x, ppm, bends });
            }
            if b {
                shown[link.b].push(Observed { raw: y, ppm, bends });
            }
        }
    }
}

fn along(span: Span, assumptions: &Assumptions, moved: Option<f64>, shown: &[Observed]) -> Vec<Assumed> {
    let mut borders = vec![span.begin, span.end];
    borders.extend(assumptions.regimes().iter().skip(1).map(|regime| regime.from));
    borders.extend(shown.iter().flat_map(|s| [s.raw.begin, s.raw.end]));
    borders.retain(|t| span.contains(*t));
    borders.sort_unstable();
    borders.dedup();
    let mut all: Vec<Assumed> = Vec::new();
    for pair in borders.windows(2) {
        let raw = Span { begin: pair[0], end: pair[1] };
        let new = between(raw, assumptions, moved, shown);
        match all.last_mut() {
            Some(last) if (Assumed { raw: last.raw, ..new }) == *last => last.raw.end = raw.end,
            _ => all.push(new),
        }
    }
    if all.is_empty() {
        // Seen at one instant.
        all.push(between(span, assumptions, moved, shown));
    }
    all
}

fn between(raw: Span, assumptions: &Assumptions, moved: Option<f64>, shown: &[Observed]) -> Assumed {
    let given = assumptions.at(raw.begin);
    let own = f64::from(given.limit_ppm().unwrap_or(0));
    let here = || shown.iter().filter(|s| s.raw.begin < raw.end && raw.begin < s.raw.end);
    let most = here().map(|s| s.ppm).fold(0.0, f64::max);
    let is_constant = given.limit_ppm().is_none();
    let moved = moved.filter(|_| is_constant).map(|moved| moved * 1e6);
    if let Some(moved) = moved {
        let steering = Steering::Steered { ppm: moved.ceil() as u32 };
        return Assumed { raw, steering, is_contradicted: true, ppm: moved.max(most) };
    }
    // Between two calls the rate may be any constant: a fast one contradicts nothing.
    if is_constant && !here().any(|s| s.bends) {
        return Assumed { raw, steering: given, is_contradicted: false, ppm: 0.0 };
    }
    if most <= own {
        return Assumed { raw, steering: given, is_contradicted: false, ppm: own };
    }
    let steering = if is_constant { Steering::Steered { ppm: STEERED_PPM } } else { given };
    Assumed { raw, steering, is_contradicted: true, ppm: most }
}
