//! The verdict on its messages, and the relation they leave.
//!
//! A link is judged once, here; which rule decides is the table in DESIGN.md. `crate::network::joint` ties
//! clocks with the usable links, and reports all of them.

use std::borrow::Borrow;

use crate::correction::Correction;
use crate::estimate::{MIN_MESSAGES_TO_REFUSE, SlowPeriod, Suspect};
use crate::geometry::{
    Bounded, Corridor, Direction, Infeasible, Listed, MAX_WINDOWS, MarginLine, Point, Side,
};
use crate::interval::Interval;
use crate::link::relation::{Break, Guarantee, LinkEvent, Relation};
use crate::link::{
    hidden::exposed, left_out::without, motion::Motion, pieces, pieces::Pieces, rows::LinkInterval, steered,
    violations::LimitViolations,
};
use crate::model::{Assumptions, Model};
use crate::span::Span;

/// So far apart, in halves of the least round trip, the fastest messages at either end of a line's may be, …
const FLOORS_APART: f64 = 0.7;
/// … if there are no more than these in a direction; of more, less in proportion.
const ENOUGH_MESSAGES: f64 = 150.0;

/// The verdict on a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkQuality {
    /// The messages alone bound the rate from both sides, and do not contradict each other.
    Accurate,
    /// The messages leave the rate open on a side; the prior on the rate closes it.
    Incomplete,
    /// Few messages that contradict each other: the line of least violation is used, without a guarantee.
    Approximate {
        /// By how much that line violates the worst message, ns.
        violation_ns: i64,
    },
    /// Not used.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// No message.
    Absent,
    /// Messages in one direction only: an offset bounded on one side cannot tie two clocks. It still bounds.
    OneWay,
}

/// Why a link is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No relation of the model satisfies the messages.
    #[error(transparent)]
    Contradiction(#[from] Infeasible),
    /// The bounds over the clocks' spans are beyond the range of times.
    #[error("the bounds are beyond the range of times")]
    OutOfRange,
    /// One of its clocks was set, as another link shows, and neither before nor after are there messages both
    /// ways.
    #[error(
        "one of its clocks was set, as other links show, and its messages are too few before and after that"
    )]
    Broken,
    /// By itself the link is possible, but not together with others.
    #[error("it contradicts the other links of a loop")]
    Loop {
        /// The clocks around the loop.
        clocks: Vec<usize>,
    },
}

/// All that is known about a link after solving.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkReport {
    /// The clock whose time is x; less than `b`.
    pub a: usize,
    /// The clock whose time is y.
    pub b: usize,
    /// The verdict.
    pub quality: LinkQuality,
    /// The messages contradicted the prior on the rate, and won.
    pub prior_contradicted: bool,
    /// (db/da − 1)·10⁶ from the messages alone, least and greatest; `None` where unbounded or infeasible.
    pub rate_ppm: (Option<f64>, Option<f64>),
    /// Least and greatest b − a on a's raw time half way between the first and last message, ns, by this link
    /// alone.
    pub offset_at_middle_ns: (Option<i64>, Option<i64>),
    /// The least round trip, ns.
    pub min_rtt_ns: Option<i64>,
    /// The largest half width of the link's own bounds over the spans of both clocks, outside of breaks, ns;
    /// `None` unless the link is usable.
    pub half_width_ns: Option<i64>,
    /// Part of the time in which messages took far longer than usual, if any: one direction alone may have
    /// been slow there.
    pub slow: Option<SlowPeriod>,
    /// Maximal deviation of the rate of one clock from a constant, ppm: more than the model's where messages
    /// show that the rate changed though no daemon was thought to steer ([`crate::Solution::assumed`] says
    /// more).
    pub wander_ppm: f64,
    /// Messages that the final corrections show as received before they were sent: of all but suspects, or of
    /// those that a straight line can touch where there are too many to list them. `None` when the two clocks
    /// are on different islands.
    pub inversions: Option<usize>,
    /// Number of the other messages for which this is not known: no message of the link is inverted if both
    /// are 0.
    pub unverified: u64,
    /// One of its clocks was set, as other links show and this one does not: it bounds what is before or
    /// after, and ties nothing.
    pub is_severed: bool,
    /// It is on a loop of links that contradict each other: it may be the one that is wrong.
    pub is_doubtful: bool,
    /// The bounds of b's time over the span of a, by the messages of this link alone, with a likely error of
    /// the estimate of [`crate::Solution::corrections`]; `None` where they do not bound it from both sides
    /// all over that.
    pub interval: Option<Interval>,
    /// Spans in which one of the clocks was set or stopped.
    pub breaks: Vec<Break>,
    /// Messages that look wrong and were left out.
    pub suspects: Vec<Suspect>,
    /// The messages used, in the order (a, b).
    pub corridor: Corridor,
}

/// A message between two clocks of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// Index of the sending clock.
    pub(crate) sender: usize,
    /// Raw ns of the sender.
    pub(crate) sent: i64,
    /// Index of the receiving clock.
    pub(crate) receiver: usize,
    /// Raw ns of the receiver.
    pub(crate) received: i64,
}

impl Message {
    /// Whether it is received before it was sent by these corrections.
    pub(crate) fn is_inverted(&self, corrections: &[Correction]) -> bool {
        corrections[self.sender].apply(self.sent) > corrections[self.receiver].apply(self.received)
    }
}

/// A judged link between clocks `a < b`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// The messages used.
    pub(crate) corridor: Corridor,
    pub(crate) quality: LinkQuality,
    /// Present when the link can tie its clocks.
    pub(crate) relation: Option<Relation>,
    /// The messages in more windows than free-running clocks need, where there are more.
    fine: Option<Corridor>,
    /// All messages but those that look wrong, if they are few.
    listed: Listed,
    /// By how much arrivals count as later than they were recorded, at a and at b, ns.
    late: [u32; 2],
    /// Bounds of messages that all go one way.
    pub(crate) one_way: Option<Guarantee>,
    pub(crate) suspects: Vec<Suspect>,
    /// Events of its clocks that its messages show by themselves.
    pub(crate) events: Vec<LinkEvent>,
}

impl Link {
    /// Judges the messages of a link under what is assumed of the clocks of the network.
    pub(crate) fn judge(
        a: usize,
        b: usize,
        corridor: Corridor,
        model: &Model,
        assumptions: &[Assumptions],
    ) -> Self {
        let motion = Motion::new(model, &assumptions[a], &assumptions[b]);
        let mut link = Self {
            a,
            b,
            listed: corridor.all_listed().clone(),
            late: corridor.late(),
            corridor,
            quality: LinkQuality::Absent,
            relation: None,
            fine: None,
            one_way: None,
            suspects: Vec::new(),
            events: Vec::new(),
        };
        let (forth, back) = link.corridor.messages();
        if forth == 0 && back == 0 {
            return link;
        }
        if forth == 0 || back == 0 {
            link.quality = LinkQuality::OneWay;
            link.one_way = one_way(&link.corridor, model, &motion, &LimitViolations::default(), &[]);
            return link;
        }
        if link.corridor.windows().len() > MAX_WINDOWS {
            link.fine = Some(link.corridor.clone());
        }
        match Pieces::of(&link.corridor, model, &motion) {
            Ok(pieces) => {
                link.corridor = pieces.used;
                link.suspects = pieces.suspects;
                let is_left = |side, point| !link.suspects.iter().any(|s| s.side == side && s.point == point);
                link.listed = link.listed.mapped(|side, p| is_left(side, p).then_some((side, p)));
                link.quality = match pieces.list.iter().all(|p| p.is_closed) {
                    true => LinkQuality::Accurate,
                    false => LinkQuality::Incomplete,
                };
                link.relation = Relation::new(pieces.list, 0);
                // Clocks that run free need no more than few windows, whatever other links show of them.
                if motion.is_free() && link.relation.as_ref().is_none_or(|r| r.moved().is_none()) {
                    link.fine = None;
                }
            }
            Err(why) => match least_violation(&link.corridor, model, &why) {
                Some((quality, piece, relaxed_by)) => {
                    link.quality = quality;
                    link.relation = Relation::new(vec![piece], relaxed_by);
                }
                None => {
                    // What the messages say as a whole, rather than a part of them.
                    let why = link.corridor.rates().err().unwrap_or(why);
                    link.quality = LinkQuality::Refused { why: Refusal::Contradiction(why) };
                    return link;
                }
            },
        }
        match &link.relation {
            Some(relation) => link.events = relation.events(),
            None => link.quality = LinkQuality::Refused { why: Refusal::OutOfRange },
        }
        link
    }

    /// The link when its rates move like that, and by more where other links show it (`reported`) or one of
    /// its clocks was set (`cuts`, by time), on a's time.
    pub(crate) fn allowing(
        mut self,
        motion: &Motion<'_>,
        reported: &LimitViolations,
        cuts: &[Span],
        model: &Model,
    ) -> Self {
        if let Some(relation) = self.relation.take() {
            let fine = self.fine.as_ref().map(|fine| without(fine, &self.suspects));
            let fine = fine.as_ref().unwrap_or(&self.corridor);
            self.relation =
                pieces::allowing(&relation, &self.corridor, fine, motion, reported, cuts, model.prior());
            if self.relation.is_none() {
                self.quality = LinkQuality::Refused { why: Refusal::Broken };
            }
        }
        if self.one_way.take().is_some() {
            self.one_way = one_way(&self.corridor, model, motion, reported, cuts);
        }
        self
    }

    /// The link with its width over the spans of its clocks.
    pub(crate) fn over(mut self, spans: [Span; 2]) -> Self {
        if let Some(relation) = self.relation.take() {
            self.relation = relation.over(spans);
            if self.relation.is_none() {
                self.refuse(Refusal::OutOfRange);
            }
        }
        self
    }

    /// The highest (`Side::Upper`) or lowest time that the other clock can show when one shows `t`; `None`
    /// where the messages do not show.
    pub(crate) fn bound(&self, direction: Direction, side: Side, t: i64) -> Option<i64> {
        if let Some(relation) = &self.relation {
            return relation.bound(direction, side, t);
        }
        self.one_way.as_ref()?.bound(direction, side, t)
    }

    /// Takes the link out of use.
    pub(crate) fn refuse(&mut self, why: Refusal) {
        self.quality = LinkQuality::Refused { why };
        (self.relation, self.one_way) = (None, None);
    }

    /// Maximal half width of the relation, ns; `i64::MAX` without a relation.
    pub(crate) fn half_width(&self) -> i64 {
        self.relation.as_ref().map_or(i64::MAX, |r| r.half_width)
    }

    /// Half the least round trip around the middle of the messages, ns, by the relation of this link.
    pub(crate) fn margin(&self, relation: &Relation) -> f64 {
        relation.margin(self.middle().unwrap_or(0))
    }

    /// Of a relation that is one line, when there are messages (a's time), and how far the rate may be off
    /// beyond them because few are not as fast at all times: one standard deviation, dimensionless.
    pub(crate) fn drift(&self) -> Option<(Span, f64)> {
        let relation = self.relation.as_ref().filter(|relation| relation.is_line())?;
        let Span { begin, end } = self.corridor.x_range()?;
        let half = ((end - begin) as f64 / 2.0).max(1.0);
        let share = FLOORS_APART * (ENOUGH_MESSAGES / self.corridor.fewer_messages().max(1) as f64).min(1.0);
        Some((Span { begin, end }, share * self.margin(relation) / half))
    }

    /// The time of `a` in the middle of the messages.
    fn middle(&self) -> Option<i64> {
        self.corridor.x_range().map(Span::middle)
    }

    /// The report, given how many messages are inverted under the final corrections, and of how many that is
    /// open.
    pub(crate) fn report(
        self,
        inversions: Option<usize>,
        unverified: u64,
        interval: Option<Interval>,
        model: &Model,
    ) -> LinkReport {
        let relation = self.relation.as_ref();
        let middle = self.middle();
        let bounds = |side| {
            let x = middle?;
            relation?.bound(Direction::Forward, side, x)?.checked_sub(x)
        };
        let margin = relation.zip(middle).map(|(relation, x)| relation.margin(x));
        LinkReport {
            a: self.a,
            b: self.b,
            prior_contradicted: relation
                .is_some_and(|r| r.pieces().iter().any(|p| p.bounds.is_prior_contradicted(model.prior_ppm))),
            rate_ppm: self.corridor.rate_ppm(),
            offset_at_middle_ns: (bounds(Side::Lower), bounds(Side::Upper)),
            min_rtt_ns: margin.map(|margin| (2.0 * margin) as i64),
            half_width_ns: relation.map(|r| r.half_width),
            slow: relation.and_then(Relation::slow),
            wander_ppm: match relation.and_then(Relation::moved) {
                Some(moved) => moved * 0.5e6,
                None => relation.map_or(model.wander_ppm, |r| r.wander().clock_ppm().max(model.wander_ppm)),
            },
            interval,
            breaks: self.events.iter().map(|event| event.change).collect(),
            is_doubtful: false,
            is_severed: relation.is_some_and(|r| !r.reaches_all()),
            quality: self.quality,
            inversions,
            unverified,
            suspects: self.suspects,
            corridor: self.corridor,
        }
    }

    /// The bounds of this link alone over the span of a, around what all links together say of both clocks.
    pub(crate) fn interval(
        &self,
        span: Span,
        [of_a, of_b]: [(&Correction, &Interval); 2],
        model: &Model,
        most: usize,
    ) -> Option<Interval> {
        let relation = self.relation.as_ref()?;
        let estimate = |x: i64| of_b.0.invert(of_a.0.apply(x));
        let likely_error = |x: i64| {
            // As an interval of clocks counts it, of this link alone: what holds at one end need not hold at
            // the other.
            let hidden = model.asymmetry * relation.margin(x);
            let drift = self.drift().map_or(0.0, |(messages, rate)| messages.beyond(x) as f64 * rate);
            let own = 2.0 * (relation.variances(x).error + hidden * hidden + drift * drift).sqrt();
            let own = Some(own).filter(|own| own.is_finite() && relation.is_statistical());
            let (a, b) = (of_a.1.at(x), of_b.1.at(estimate(x)));
            let joint = a.zip(b).map(|(a, b)| a.2 as f64 + b.2 as f64);
            own.into_iter().chain(joint).reduce(f64::min)
        };
        LinkInterval::new(relation, span, most).around(&estimate, likely_error)
    }

    /// Whether its messages are believed.
    pub(crate) fn is_believed(&self) -> bool {
        matches!(self.quality, LinkQuality::Accurate | LinkQuality::Incomplete | LinkQuality::OneWay)
    }

    /// Every message that a straight line can touch, in a fixed order.
    pub(crate) fn touching(&self) -> impl Iterator<Item = Message> + '_ {
        self.corridor.all_points().map(|(side, point)| self.message(side, point))
    }

    /// Every message but those left out, or, of links with more than are listed, those that a straight line
    /// can touch.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let on = |side| Some(self.listed.points(side)?.iter().map(move |&point| self.message(side, point)));
        match (on(Side::Upper), on(Side::Lower)) {
            (Some(upper), Some(lower)) => upper.chain(lower).collect(),
            _ => self.touching().collect(),
        }
    }

    /// The same as they were recorded, where coarse stamps count as later.
    pub(crate) fn recorded(&self) -> Vec<Message> {
        let mut messages = self.messages();
        for message in &mut messages {
            message.received -= i64::from(self.late[usize::from(message.receiver == self.b)]);
        }
        messages
    }

    fn message(&self, side: Side, point: Point) -> Message {
        match side {
            Side::Upper => Message { sender: self.a, sent: point.x(), receiver: self.b, received: point.y() },
            Side::Lower => Message { sender: self.b, sent: point.y(), receiver: self.a, received: point.x() },
        }
    }

    /// Number of messages that are received before they were sent by these corrections, exactly.
    pub(crate) fn inversions(&self, corrections: &[Correction]) -> usize {
        self.messages().into_iter().filter(|message| message.is_inverted(corrections)).count()
    }

    /// Where these corrections cross edges of hulls that stand for messages which are not listed, as messages
    /// in their place, and how many these are.
    pub(crate) fn exposed(&self, corrections: &[Correction]) -> (Vec<Message>, u64) {
        if self.listed.points(Side::Upper).is_some() {
            return (Vec::new(), 0);
        }
        let (found, hidden) = exposed(self.corridor.windows(), &corrections[self.a], &corrections[self.b]);
        (found.into_iter().map(|found| self.message(found.side, found.point)).collect(), hidden)
    }
}

/// Bounds of messages that all go one way; `None` where a clock was set and no daemon steers it: what they
/// bound then is not known.
fn one_way(
    corridor: &Corridor,
    model: &Model,
    motion: &Motion<'_>,
    reported: &LimitViolations,
    cuts: &[Span],
) -> Option<Guarantee> {
    if !motion.is_free() {
        return Some(Guarantee::Steered(Box::new(steered::bounded(corridor, motion, reported)?)));
    }
    if !cuts.is_empty() {
        return None;
    }
    let coarse = corridor.clone().limited_to(MAX_WINDOWS);
    coarse.within(model.prior(), motion.wander).ok().map(Guarantee::line)
}

/// Per link whether it is among the `per_clock` narrowest of one of its clocks. O(l log l).
pub(crate) fn narrowest<L: Borrow<Link>>(links: &[L], clocks: usize, per_clock: usize) -> Vec<bool> {
    let link = |l: usize| links[l].borrow();
    let mut by_width: Vec<usize> = (0..links.len()).collect();
    by_width.sort_by_key(|&l| (link(l).half_width(), l));
    let mut taken = vec![0; clocks];
    let mut chosen = vec![false; links.len()];
    for l in by_width {
        let ends = [link(l).a, link(l).b];
        chosen[l] = ends.iter().any(|&c| taken[c] < per_clock);
        if chosen[l] {
            for clock in ends {
                taken[clock] += 1;
            }
        }
    }
    chosen
}

/// A contradictory corridor made possible: all messages relaxed by twice the violation of the best line,
/// which leaves the lines that are at most that violation worse than the best one. `None` when the link must
/// be refused.
fn least_violation(
    corridor: &Corridor,
    model: &Model,
    why: &Infeasible,
) -> Option<(LinkQuality, crate::link::relation::Piece, i64)> {
    let contradictory = matches!(why, Infeasible::Crossed { .. } | Infeasible::SameInstant { .. });
    if !contradictory || corridor.fewer_messages() >= MIN_MESSAGES_TO_REFUSE {
        return None;
    }
    let band = model.prior().closed()?;
    let violation_ns = MarginLine::of(corridor, band)?.margin_ns().checked_neg()?;
    // One more nanosecond: the violation is rounded.
    let relax_by = violation_ns.checked_mul(2)?.checked_add(1)?;
    let bounded = Bounded::new(corridor, band, model.wander().ok()?, false).relaxed(relax_by)?;
    let piece = pieces::piece(corridor, bounded, false)?;
    Some((LinkQuality::Approximate { violation_ns }, piece, relax_by))
}
