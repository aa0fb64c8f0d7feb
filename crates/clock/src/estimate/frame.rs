//! Where floating point begins: an exact line through the messages, and points relative to it.
//!
//! Times are up to 2⁶¹ ns, of which a floating-point number keeps 53 bits. Residuals from a line through the
//! messages are of the size of delays; they are computed exactly, and only then become floating-point
//! numbers.

use crate::geometry::{Margin, Point, Side, Slope};

/// An exact line relative to which everything else is a small residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The middle of the messages, on a's clock.
    pub(crate) x0: i64,
    /// The line's height there, on b's clock.
    pub(crate) y0: i64,
    pub(crate) slope: Slope,
}

impl Frame {
    /// The margin line at the middle of the messages; of turned chains that are not empty.
    pub(crate) fn of(margin: &Margin, chains: [&[Point]; 2]) -> Option<Self> {
        let [(u0, u1), (l1, l0)] = [ends(chains[0])?, ends(chains[1])?];
        let (begin, end) = (u0.min(-l0), u1.max(-l1));
        let x0 = (begin + end) >> 1; // Rounded down, so that it moves along with the messages.
        Some(Self { x0, y0: margin.line(chains).at(x0), slope: margin.slope })
    }

    /// A turned point in the frame. The residual is exact until it is divided.
    pub(crate) fn spot(&self, side: Side, point: Point) -> FramePoint {
        let (original, sign) = match side {
            Side::Upper => (point, 1.0),
            Side::Lower => (point.reflected(), -1.0),
        };
        let run = original.x as i128 - self.x0 as i128;
        let rise = original.y as i128 - self.y0 as i128;
        // |rise| < 1.25·2⁶³ and dx ≤ 2⁶², |run| and dy ≤ 2⁶²: below 2¹²⁷.
        let residual = rise * self.slope.dx() as i128 - self.slope.dy() as i128 * run;
        FramePoint { run: sign * run as f64, residual: sign * (residual as f64 / self.slope.dx() as f64) }
    }

    /// A slope relative to the frame's, without cancellation.
    pub(crate) fn tilt(&self, slope: Slope) -> f64 {
        let (dy, dx) = (slope.dy() as i128, slope.dx() as i128);
        let difference = dy * self.slope.dx() as i128 - self.slope.dy() as i128 * dx;
        difference as f64 / (slope.dx() as f64 * self.slope.dx() as f64)
    }
}

fn ends(chain: &[Point]) -> Option<(i64, i64)> {
    Some((chain.first()?.x, chain.last()?.x))
}

/// A turned point relative to the frame: the relation must pass below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FramePoint {
    /// x − x0, ns.
    pub(crate) run: f64,
    /// Height above the frame's line, ns.
    pub(crate) residual: f64,
}

impl FramePoint {
    /// Height at the origin of the line of that tilt through the spot: the slack, up to a constant.
    pub(crate) fn slack(self, tilt: f64) -> f64 {
        self.residual - tilt * self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;
    use crate::estimate::sample::DirectionSample;
    use crate::geometry::{SlopeRange, chain};

    fn frame(upper: &[(i64, i64)], lower: &[(i64, i64)], ppm: u32) -> Frame {
        let [upper, lower] = [(upper, Side::Upper), (lower, Side::Lower)].map(|(all, side)| {
            let floor = DirectionSample::of_all(all.iter().map(|&(x, y)| Point::new(x, y).unwrap()));
            chain(floor.turned(side).into_iter().map(|k| k.point))
        });
        let margin = Margin::of([&upper, &lower], SlopeRange::prior(ppm).closed().unwrap()).unwrap();
        Frame::of(&margin, [&upper, &lower]).unwrap()
    }

    #[test]
    fn it_is_the_margin_line_at_the_middle() {
        let check = |upper: &[(i64, i64)], lower: &[(i64, i64)], expect| {
            let frame = frame(upper, lower, 0);
            assert_eq!((frame.x0, frame.y0), expect);
        };
        check(&[(0, 100)], &[(1000, 1000)], (500, 550));
        check(&[(-5, 0)], &[(0, 0)], (-3, -1)); // both rounded down
        check(&[(0, 0)], &[(0, 7)], (0, 3));
    }

    #[test]
    fn a_nanosecond_is_seen_at_the_end_of_time() {
        let m = MAX_ABS_NS;
        let frame = frame(&[(-m, 4 - m), (m, m)], &[(-m, -m), (m, m - 4)], 500);
        for (x, y, residual) in [(m, m, 2.0), (m, m - 1, 1.0), (-m, 3 - m, 1.0), (0, 0, 0.0)] {
            let point = Point::new(x, y).unwrap();
            let found = frame.spot(Side::Upper, point).residual;
            assert!((found - residual).abs() <= 2.0, "{found} {residual}");
            let next = Point::new(x, y - 1).unwrap();
            let step = found - frame.spot(Side::Upper, next).residual;
            assert!((step - 1.0).abs() < 1e-9, "{step}");
            let turned = frame.spot(Side::Lower, point.reflected());
            assert_eq!(turned.residual.to_bits(), (-found).to_bits());
        }
        assert_eq!(frame.tilt(frame.slope).to_bits(), 0);
    }
}
