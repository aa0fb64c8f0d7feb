//! What every clock of an island shows when the reference shows some instants: the estimate.
//!
//! A first placement follows the tree of best paths. Each link then says by how much its two clocks disagree under that
//! placement, and how sure it is; [`crate::least_squares`] moves all clocks so that the links agree as well as they can. Where
//! every relation is one straight line, two instants describe everything, and the errors of offset and rate of each link are
//! weighed together. Else the clocks are placed instant by instant.

use nalgebra::{Matrix2, Vector2};

use crate::MAX_ABS_NS;
use crate::correction::{Correction, end_rates};
use crate::folds::{PairEstimate, VARIANCE_FACTOR};
use crate::least_squares::{Disagreement, Placed, place};
use crate::link::Link;
use crate::model::Model;
use crate::paths::Tree;
use crate::rate::Rate;
use crate::relation::Relation;

/// Added to every variance, ns²: no stamp is better than a nanosecond, and the system stays solvable.
const STAMP_VARIANCE: f64 = 1.0;
/// The shortest base of a straight placement, ns: rounding its ends to whole ns must not show in the rate.
const MIN_BASE_NS: i64 = 10_000_000_000;
/// The rate at an end is that over this part of all instants.
const PART_AT_END: i64 = 24;

/// The estimate of an island's clocks.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    /// Instants of the reference, increasing.
    pub(crate) instants: Vec<i64>,
    /// Per clock of the network and instant what it shows; empty for clocks of other islands.
    pub(crate) shown: Vec<Vec<i64>>,
    /// Per clock and instant: variance of that, ns², what host and reference share of asymmetry not included.
    variance: Vec<Vec<f64>>,
    /// Per clock: covariance of what it shows at the two instants of a straight placement.
    straight: Option<Vec<Matrix2<f64>>>,
}

/// Everything the placement of an island needs.
pub(crate) struct Island<'a> {
    pub(crate) reference: usize,
    pub(crate) tree: &'a Tree,
    pub(crate) links: &'a [Link],
    pub(crate) model: &'a Model,
    /// Per clock of the network, whether it is one of the island.
    pub(crate) members: &'a [bool],
}

impl Island<'_> {
    /// What every clock shows when the reference shows `instant`, along the tree.
    pub(crate) fn along_the_tree(&self, clocks: usize, instant: i64) -> Vec<i64> {
        let mut shown = vec![0; clocks];
        for &clock in &self.tree.order {
            shown[clock] = match self.tree.next[clock] {
                Some((nearer, link)) => self.across(link, nearer, shown[nearer]),
                None => instant,
            };
        }
        shown
    }

    /// What the reference shows when `clock` shows `raw`, along the tree.
    pub(crate) fn to_reference(&self, clock: usize, raw: i64) -> i64 {
        let (mut at, mut time) = (clock, raw);
        while let Some((nearer, link)) = self.tree.next[at] {
            time = self.across(link, at, time);
            at = nearer;
        }
        time
    }

    fn across(&self, link: usize, from: usize, time: i64) -> i64 {
        let link = &self.links[link];
        let map = link.relation.as_ref().map(|r| &r.map);
        map.map_or(time, |map| if from == link.a { map.apply(time) } else { map.invert(time) })
    }

    /// The relations of the island that hold at every instant.
    pub(crate) fn relations(&self) -> impl Iterator<Item = (&Link, &Relation)> + Clone {
        let here = |l: &&Link| self.members[l.a];
        let whole = |l: &'_ Link| l.relation.as_ref().is_some_and(Relation::reaches_all);
        self.links
            .iter()
            .filter(here)
            .filter(move |l| whole(l))
            .filter_map(|l| Some((l, l.relation.as_ref()?)))
    }

    pub(crate) fn is_straight(&self) -> bool {
        self.relations().all(|(_, relation)| relation.is_line())
    }

    /// Places the clocks: straight over the ends of `instants`, or at each of them.
    pub(crate) fn placed(&self, clocks: usize, instants: &[i64]) -> Placement {
        if self.is_straight() {
            let (first, last) = (instants[0], instants[instants.len() - 1]);
            let short = (MIN_BASE_NS - (last - first)).max(0) / 2 + 1;
            let ends = [first - short, last + short];
            let [early, late] = ends.map(|t| self.along_the_tree(clocks, t));
            let links = self.disagreements(|relation, link| straight(relation, link, &early, &late));
            let placed = self.solve(clocks, &links);
            let moved = |clock: usize, end: usize| {
                let first = if end == 0 { &early } else { &late };
                first[clock].saturating_add(placed.corrections[clock][end].round() as i64)
            };
            let at_ends = |clock| vec![moved(clock, 0), moved(clock, 1)];
            return Placement {
                instants: ends.to_vec(),
                shown: (0..clocks).map(at_ends).collect(),
                variance: Vec::new(),
                straight: Some(placed.covariances),
            };
        }
        let mut placement = Placement {
            instants: instants.to_vec(),
            shown: vec![Vec::new(); clocks],
            variance: vec![Vec::new(); clocks],
            straight: None,
        };
        for &instant in instants {
            let first = self.along_the_tree(clocks, instant);
            let links = self.disagreements(|relation, link| momentary(relation, link, &first));
            let placed = self.solve(clocks, &links);
            for (clock, &first) in first.iter().enumerate() {
                let shown = first.saturating_add(placed.corrections[clock][0].round() as i64);
                placement.shown[clock].push(shown);
                placement.variance[clock].push(placed.covariances[clock][(0, 0)]);
            }
        }
        placement
    }

    fn disagreements(&self, of: impl Fn(&Relation, &Link) -> Disagreement) -> Vec<Disagreement> {
        let place: Vec<Option<usize>> = {
            let mut place = vec![None; self.tree.next.len()];
            for (at, &clock) in self.tree.order.iter().enumerate() {
                place[clock] = Some(at);
            }
            place
        };
        let half_asymmetry = self.model.asymmetry * self.model.asymmetry / 2.0;
        let disagreement = |(link, relation): (&Link, &Relation)| {
            let mut found = of(relation, link);
            let margin = link.margin(relation);
            // The asymmetry of a link is the same all the time; what little is known of few messages is not.
            let shared = half_asymmetry * margin * margin;
            let unsure = if relation.is_statistical() && relation.is_guaranteed() {
                0.0
            } else {
                (relation.half_width as f64).powi(2)
            };
            found.covariance = found.covariance * VARIANCE_FACTOR
                + Matrix2::from_element(shared)
                + Matrix2::from_diagonal_element(STAMP_VARIANCE + unsure);
            (found.from, found.to) = (place[link.a]?, place[link.b]?);
            Some(found)
        };
        self.relations().filter_map(disagreement).collect()
    }

    /// By clock of the network. Where the system has no answer, nothing is moved and nothing is known.
    fn solve(&self, clocks: usize, links: &[Disagreement]) -> Placed {
        let members = &self.tree.order;
        let unsure = Matrix2::from_diagonal_element(f64::MAX.sqrt());
        let mut placed =
            Placed { corrections: vec![Vector2::zeros(); clocks], covariances: vec![unsure; clocks] };
        // The reference comes first.
        if let Some(found) = place(members.len(), 0, links) {
            for (at, &clock) in members.iter().enumerate() {
                placed.corrections[clock] = found.corrections[at];
                placed.covariances[clock] = found.covariances[at];
            }
        }
        placed.covariances[self.reference] = Matrix2::zeros();
        placed
    }
}

impl Placement {
    /// The map from the raw time of a clock to the reference's. Instants beyond the range of times are left out, so that
    /// there always is one.
    pub(crate) fn correction(&self, clock: usize) -> Correction {
        let mut knots: Vec<(i64, i64)> =
            self.shown[clock].iter().copied().zip(self.instants.iter().copied()).collect();
        // A clock that stood still shows one time at many instants: the last one counts from there on.
        let mut next = i64::MIN;
        for knot in &mut knots {
            knot.0 = knot.0.max(next);
            next = knot.0.saturating_add(1);
        }
        let in_range = |t: i64| (-MAX_ABS_NS..=MAX_ABS_NS).contains(&t);
        knots.retain(|k| in_range(k.0) && in_range(k.1));
        // Over a part of the map, so that rounding to whole ns does not show.
        let length = knots.first().zip(knots.last()).map_or(0, |(first, last)| last.0 - first.0);
        let (before, after) = match end_rates(&knots, (length / PART_AT_END).max(1)) {
            Some([Ok(before), Ok(after)]) => (before, after),
            // Flat there, or an instant.
            _ => (Rate::ONE, Rate::ONE),
        };
        Correction::new(knots, before, after).unwrap_or_else(|_| Correction::identity(0, 0))
    }

    /// Variance of the estimate when the reference shows `instant`, ns².
    pub(crate) fn variance(&self, clock: usize, instant: i64) -> f64 {
        let right = self.instants.partition_point(|&t| t < instant).clamp(1, self.instants.len() - 1);
        let (from, to) = (self.instants[right - 1], self.instants[right]);
        match &self.straight {
            Some(covariances) => {
                let share = (instant as i128 - from as i128) as f64 / (to as i128 - from as i128) as f64;
                let weights = Vector2::new(1.0 - share, share);
                (weights.transpose() * covariances[clock] * weights)[(0, 0)].max(0.0)
            }
            None => self.variance[clock][right - 1].max(self.variance[clock][right]),
        }
    }
}

/// What the line of a link says at two instants.
fn straight(relation: &Relation, link: &Link, early: &[i64], late: &[i64]) -> Disagreement {
    let x = [early[link.a], late[link.a]];
    let shift = |at: usize, shown: &[i64]| (relation.map.apply(x[at]) as i128 - shown[link.b] as i128) as f64;
    let [[v, w], [_, u]] =
        relation.pieces()[0].curve.as_line().map_or([[0.0; 2]; 2], PairEstimate::covariance);
    let origin = relation.pieces()[0].curve.as_line().map_or(0, |line| line.origin().0);
    let run = x.map(|x| (x as i128 - origin as i128) as f64);
    let covariance = |i: usize, j: usize| v + w * (run[i] + run[j]) + u * run[i] * run[j];
    Disagreement {
        from: link.a,
        to: link.b,
        scale: rate(&relation.map, x[0], x[1]),
        shift: Vector2::new(shift(0, early), shift(1, late)),
        covariance: Matrix2::new(covariance(0, 0), covariance(0, 1), covariance(1, 0), covariance(1, 1)),
    }
}

/// What a relation says at one instant.
fn momentary(relation: &Relation, link: &Link, shown: &[i64]) -> Disagreement {
    let x = shown[link.a];
    let shift = (relation.map.apply(x) as i128 - shown[link.b] as i128) as f64;
    Disagreement {
        from: link.a,
        to: link.b,
        scale: rate(&relation.map, x, x.saturating_add(MIN_BASE_NS)),
        shift: Vector2::from_element(shift),
        covariance: Matrix2::from_diagonal_element(relation.variance(x)),
    }
}

fn rate(map: &Correction, from: i64, to: i64) -> f64 {
    (map.apply(to) as i128 - map.apply(from) as i128) as f64 / (to as i128 - from as i128) as f64
}
