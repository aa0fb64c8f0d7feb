//! What every clock of an island shows when the reference shows some instants: the estimate.
//!
//! A first placement follows the tree of best paths. Each link then says by how much its two clocks disagree
//! under that placement, and how sure it is; [`crate::network::least_squares`] moves all clocks so that the
//! links agree as well as they can. Where every relation is one straight line, two instants describe
//! everything, and the errors of offset and rate of each link are weighed together. Else the clocks are
//! placed instant by instant.

use nalgebra::{Matrix1, Matrix2, Vector1, Vector2};
use rayon::prelude::*;

use crate::MAX_ABS_NS;
use crate::correction::{Correction, end_rates};
use crate::estimate::{PairEstimate, VARIANCE_FACTOR, Variances};
use crate::link::{BreakKind, ClockBreak, Link, Relation};
use crate::model::{Assumptions, Model};
use crate::network::least_squares::{Disagreement, Placed, Ties};
use crate::network::paths::Tree;
use crate::rate::Rate;
use crate::span::Span;

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

/// An island to solve: its clocks and links, and what is assumed of them.
pub(crate) struct IslandData<'a> {
    pub(crate) reference: usize,
    /// The best paths to the reference.
    pub(crate) tree: &'a Tree,
    /// All links of the network, by index.
    pub(crate) links: &'a [Link],
    pub(crate) model: &'a Model,
    /// Per clock of the network, when it was seen, its raw ns.
    pub(crate) spans: &'a [Span],
    /// Per clock of the network.
    pub(crate) assumptions: &'a [Assumptions],
    /// Per clock of the network, whether it is one of the island.
    pub(crate) members: &'a [bool],
    /// Per clock of the network, by time.
    pub(crate) breaks: Vec<Vec<ClockBreak>>,
}

impl<'a> IslandData<'a> {
    /// The clocks of the island, the reference first.
    pub(crate) fn clocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.tree.order.iter().copied()
    }

    /// Spans in which a clock was set or stopped, its raw ns.
    pub(crate) fn steps(&self, clock: usize) -> Vec<Span> {
        self.breaks[clock].iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.raw).collect()
    }

    /// Time of every clock when the reference shows `instant`, along the tree; raw ns.
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

    /// Time of the reference when `clock` shows `raw`, along the tree; raw ns.
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
    pub(crate) fn relations(&self) -> impl Iterator<Item = (&'a Link, &'a Relation)> + Clone {
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
        let system = System::new(self);
        if self.is_straight() {
            let (first, last) = (instants[0], instants[instants.len() - 1]);
            let short = (MIN_BASE_NS - (last - first)).max(0) / 2 + 1;
            let ends = [first - short, last + short];
            let [early, late] = ends.map(|t| self.along_the_tree(clocks, t));
            let placed = system.placed(|link, relation| straight(relation, link, &early, &late));
            let mut shown = vec![Vec::new(); clocks];
            let mut covariances = vec![Matrix2::zeros(); clocks];
            let by_clock = placed.corrections.iter().zip(placed.covariances);
            for (&clock, (correction, covariance)) in self.tree.order.iter().zip(by_clock) {
                let at = |end: usize, first: i64| first.saturating_add(correction[end].round() as i64);
                shown[clock] = vec![at(0, early[clock]), at(1, late[clock])];
                covariances[clock] = covariance;
            }
            let straight = Some(covariances);
            return Placement { instants: ends.to_vec(), shown, variance: Vec::new(), straight };
        }
        let at = |&instant: &i64| {
            let first = self.along_the_tree(clocks, instant);
            let (corrections, variances) =
                system.placed_at_once(|link, relation| momentary(relation, link, &first));
            let shown =
                |(&clock, by): (&usize, &Vector1<f64>)| first[clock].saturating_add(by.x.round() as i64);
            let shown: Vec<i64> = self.tree.order.iter().zip(&corrections).map(shown).collect();
            (shown, variances)
        };
        let found: Vec<(Vec<i64>, Vec<f64>)> = instants.par_iter().map(at).collect();
        let (mut shown, mut variance) = (vec![Vec::new(); clocks], vec![Vec::new(); clocks]);
        for (at, &clock) in self.tree.order.iter().enumerate() {
            shown[clock] = found.iter().map(|(shown, _)| shown[at]).collect();
            variance[clock] = found.iter().map(|(_, variance)| variance[at]).collect();
        }
        Placement { instants: instants.to_vec(), shown, variance, straight: None }
    }
}

/// The part of a placement that is the same at all instants: the links and their constant errors.
struct System<'a> {
    /// Of the clocks in the order of the tree: the reference comes first.
    ties: Ties,
    links: Vec<TiedLink<'a>>,
}

/// A link that holds at every instant.
struct TiedLink<'a> {
    link: &'a Link,
    relation: &'a Relation,
    /// Variance of its asymmetry, which is the same all the time, ns².
    shared: f64,
    /// Of its stamps, and of what little is known of few messages: at every instant another.
    own: f64,
}

/// A [`Disagreement`] at one instant.
struct Momentary {
    scale: f64,
    shift: f64,
    variances: Variances,
}

impl<'a> System<'a> {
    fn new(island: &IslandData<'a>) -> Self {
        let mut index = vec![None; island.tree.next.len()];
        for (at, &clock) in island.tree.order.iter().enumerate() {
            index[clock] = Some(at);
        }
        let half_asymmetry = island.model.asymmetry * island.model.asymmetry / 2.0;
        let tied = |(link, relation): (&'a Link, &'a Relation)| {
            let margin = link.margin(relation);
            let is_sure = relation.is_statistical() && relation.is_guaranteed();
            let unsure = if is_sure { 0.0 } else { (relation.half_width as f64).powi(2) };
            let ends = (index[link.a]?, index[link.b]?);
            let (shared, own) = (half_asymmetry * margin * margin, STAMP_VARIANCE + unsure);
            Some((ends, TiedLink { link, relation, shared, own }))
        };
        let (ends, links): (Vec<_>, Vec<_>) = island.relations().filter_map(tied).unzip();
        Self { ties: Ties::new(island.tree.order.len(), 0, ends), links }
    }

    /// By clock in the order of the tree. Where the system has no answer, nothing is moved and nothing is
    /// known.
    fn placed(&self, said: impl Fn(&Link, &Relation) -> Disagreement<2>) -> Placed<2> {
        let disagreement = |tied: &TiedLink<'_>| {
            let said = said(tied.link, tied.relation);
            let covariance = said.covariance * VARIANCE_FACTOR
                + Matrix2::repeat(tied.shared)
                + Matrix2::from_diagonal_element(tied.own);
            Disagreement { covariance, ..said }
        };
        let said: Vec<_> = self.links.iter().map(disagreement).collect();
        self.ties.place(&said).unwrap_or_else(|| self.ties.open())
    }

    /// The corrections at one instant, and their variances, ns², as if it were two that fall together: half
    /// of their sum, whose errors are independent of those of their difference, and that. The difference is
    /// nothing; the variance at the instant is the mean of both. Links count by their weights in the
    /// corrections, and by their stated errors in the variances.
    fn placed_at_once(&self, said: impl Fn(&Link, &Relation) -> Momentary) -> (Vec<Vector1<f64>>, Vec<f64>) {
        let said: Vec<Momentary> = self.links.iter().map(|tied| said(tied.link, tied.relation)).collect();
        let disagreements = |variance: fn(&Variances) -> f64, shared: f64| -> Vec<Disagreement<1>> {
            let disagreement = |(said, tied): (&Momentary, &TiedLink<'_>)| {
                let own = variance(&said.variances) * VARIANCE_FACTOR + tied.own;
                let covariance = Matrix1::new(own + shared * tied.shared);
                Disagreement { scale: said.scale, shift: Vector1::new(said.shift), covariance }
            };
            said.iter().zip(&self.links).map(disagreement).collect()
        };
        let sums = disagreements(|v| v.weight, 2.0);
        let corrections = self.ties.corrections(&sums).unwrap_or_else(|| self.ties.open().corrections);
        let covariances = |shared: f64| {
            let of = disagreements(|v| v.error, shared);
            self.ties.covariances(&of).unwrap_or_else(|| self.ties.open().covariances)
        };
        let mean = |(sum, difference): (&Matrix1<f64>, &Matrix1<f64>)| f64::midpoint(sum.x, difference.x);
        (corrections, covariances(2.0).iter().zip(&covariances(0.0)).map(mean).collect())
    }
}

impl Placement {
    /// The map from the raw time of a clock to the reference's. Instants beyond the range of times are left
    /// out, so that there always is one.
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

/// Disagreement of two clocks at two instants by the line of their link.
fn straight(relation: &Relation, link: &Link, early: &[i64], late: &[i64]) -> Disagreement<2> {
    let x = [early[link.a], late[link.a]];
    let shift = |at: usize, shown: &[i64]| (relation.map.apply(x[at]) as i128 - shown[link.b] as i128) as f64;
    let [[v, w], [_, u]] =
        relation.pieces()[0].curve.as_line().map_or([[0.0; 2]; 2], PairEstimate::covariance);
    let origin = relation.pieces()[0].curve.as_line().map_or(0, |line| line.origin().0);
    let run = x.map(|x| (x as i128 - origin as i128) as f64);
    let covariance = |i: usize, j: usize| v + w * (run[i] + run[j]) + u * run[i] * run[j];
    Disagreement {
        scale: rate((x[0], relation.map.apply(x[0])), (x[1], relation.map.apply(x[1]))),
        shift: Vector2::new(shift(0, early), shift(1, late)),
        covariance: Matrix2::new(covariance(0, 0), covariance(0, 1), covariance(1, 0), covariance(1, 1)),
    }
}

/// Disagreement of two clocks at one instant by their relation.
fn momentary(relation: &Relation, link: &Link, shown: &[i64]) -> Momentary {
    // Maps of many links do not fit into the caches: none is looked up twice.
    let (x, later) = (shown[link.a], shown[link.a].saturating_add(MIN_BASE_NS));
    let (y, then) = (relation.map.apply(x), relation.map.apply(later));
    Momentary {
        scale: rate((x, y), (later, then)),
        shift: (y as i128 - shown[link.b] as i128) as f64,
        variances: relation.variances(x),
    }
}

fn rate(from: (i64, i64), to: (i64, i64)) -> f64 {
    (to.1 as i128 - from.1 as i128) as f64 / (to.0 as i128 - from.0 as i128) as f64
}
