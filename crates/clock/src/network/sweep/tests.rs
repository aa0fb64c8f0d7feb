//! Labels are the shortest paths, whatever the messages, and contradictions are loops.

use proptest::prelude::*;

use super::*;
use crate::geometry::{Corridor, RateRange};
use crate::interval::Outline;
use crate::link::NominalRate;
use crate::model::{Assumptions, Model, Steering};

/// A message: sender, receiver, when, delay.
type Sent = (usize, usize, i64, i64);

const CLOCKS: usize = 4;
const SPAN: Span = Span { begin: -50, end: 5_000 };

fn links(messages: &[Sent]) -> Vec<Link> {
    let assumptions = vec![Assumptions::always(Steering::Unknown); CLOCKS];
    let mut corridors = std::collections::BTreeMap::<(usize, usize), Corridor>::new();
    for &(sender, receiver, sent, delay) in messages {
        let link = corridors.entry((sender.min(receiver), sender.max(receiver))).or_default();
        if sender < receiver {
            link.a_to_b(sent, sent + delay).unwrap();
        } else {
            link.b_to_a(sent, sent + delay).unwrap();
        }
    }
    let judge = |((a, b), corridor)| Link::judge(a, b, corridor, &Model::default(), &assumptions);
    corridors.into_iter().map(judge).collect()
}

fn segments(rates: &[RateRange]) -> Vec<Segment> {
    let part = (SPAN.end - SPAN.begin) / rates.len() as i64;
    let segment = |(at, &rates): (i64, &RateRange)| {
        let begin = if at == 0 { Span::EVER.begin } else { SPAN.begin + at * part };
        Segment { x: Span { begin, end: SPAN.begin + (at + 1) * part }, rule: Rule::Within(rates) }
    };
    let mut segments: Vec<Segment> = (0..).zip(rates).map(segment).collect();
    if let Some(last) = segments.last_mut() {
        last.x.end = Span::EVER.end;
    }
    segments
}

fn sweep<'l>(links: &'l [Link], segments: &[Vec<Segment>], known: &[Vec<KnownAt>]) -> Sweep<'l> {
    Sweep::new(links, |_| true, 0, (0..CLOCKS).collect(), &[SPAN; CLOCKS], segments, known)
}

/// The labels of one side by relaxing every edge until none changes; `None` where that does not end.
fn by_every_edge(sweep: &Sweep<'_>, side: Side) -> Option<Vec<Vec<i128>>> {
    let sign = if side == Side::Upper { 1 } else { -1 };
    let mut at: Vec<Vec<i128>> = sweep.lines.iter().map(|line| vec![UNKNOWN; line.raw.len()]).collect();
    at[0] = sweep.lines[0].raw.iter().map(|&raw| sign * raw as i128 * ONE).collect();
    let events: usize = at.iter().map(Vec::len).sum();
    for _ in 0..=events {
        let before = at.clone();
        for (labels, line) in at.iter_mut().zip(&sweep.lines) {
            for event in 1..labels.len() {
                let (least, most) = (line.steps.least[event], line.steps.most[event]);
                let (forward, backward) =
                    if side == Side::Upper { (most, Some(-least)) } else { (Some(-least), most) };
                if let Some(step) = forward.filter(|_| labels[event - 1] < UNKNOWN) {
                    labels[event] = labels[event].min(labels[event - 1] + step);
                }
                if let Some(step) = backward.filter(|_| labels[event] < UNKNOWN) {
                    labels[event - 1] = labels[event - 1].min(labels[event] + step);
                }
            }
        }
        for message in &sweep.messages {
            let (from, to) = message.towards(side);
            let label = at[from.0 as usize][from.1 as usize];
            let to = &mut at[to.0 as usize][to.1 as usize];
            *to = (*to).min(label);
        }
        if at == before {
            let own = sweep.lines[0].raw.iter().map(|&raw| sign * raw as i128 * ONE);
            return own.eq(at[0].iter().copied()).then_some(at);
        }
    }
    None
}

fn rates() -> impl Strategy<Value = RateRange> {
    prop_oneof![
        4 => (0.9f64..1.0, 1.0f64..1.1).prop_map(|(least, most)| RateRange::between(least, most)),
        1 => Just(RateRange::ANY),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Sent>> {
    let message = (0..CLOCKS, 1..CLOCKS, 0i64..4_000, 0i64..400);
    let apart = |(sender, further, sent, delay): Sent| (sender, (sender + further) % CLOCKS, sent, delay);
    prop::collection::vec(message.prop_map(apart), 1..40)
}

proptest! {
    #[test]
    fn labels_are_shortest_paths(
        messages in messages(), by_clock in prop::collection::vec(prop::collection::vec(rates(), 1..4), CLOCKS),
    ) {
        let links = links(&messages);
        let mut all: Vec<Vec<Segment>> = by_clock.iter().map(|rates| segments(rates)).collect();
        all[0] = Vec::new();
        let sweep = sweep(&links, &all, &vec![Vec::new(); CLOCKS]);
        for line in &sweep.lines {
            prop_assert_eq!(line.raw.len(), line.output.len());
        }
        let (Some(upper), Some(lower)) = (by_every_edge(&sweep, Side::Upper), by_every_edge(&sweep, Side::Lower))
        else {
            prop_assert!(sweep.lines().is_err(), "a loop");
            return Ok(());
        };
        // Clocks that run alike contradict nothing, whatever else they could do.
        let lines = sweep.lines().unwrap();
        for clock in 1..CLOCKS {
            if lines[clock].latest.is_empty() || lines[clock].earliest.is_empty() {
                continue;
            }
            let outline =
                Outline::through(lines[clock].clone(), &all[clock]);
            for (event, &raw) in sweep.lines[clock].raw.iter().enumerate() {
                let (lo, hi) = outline.at(raw);
                if upper[clock][event] < UNKNOWN {
                    let expect = ceil_div(upper[clock][event], ONE) as i64;
                    prop_assert!((expect..=expect + 2).contains(&hi), "clock {clock} at {raw}: {hi}, {expect}");
                }
                if lower[clock][event] < UNKNOWN {
                    let expect = -ceil_div(lower[clock][event], ONE) as i64;
                    prop_assert!((expect - 2..=expect).contains(&lo), "clock {clock} at {raw}: {lo}, {expect}");
                }
            }
        }
    }
}

proptest! {
    /// Whichever part of a range holds the rate, no bound is tighter than the tightest of that part, nor
    /// allowance than that of the whole range.
    #[test]
    fn cases_leave_what_the_widest_of_them_leaves(messages in messages(), parts in 2usize..5) {
        let links = links(&messages);
        let at = |part: usize| 0.95 + 0.1 * part as f64 / parts as f64;
        let all = |least: usize, most: usize| {
            let mut all = vec![segments(&[RateRange::between(0.95, 1.05)]); CLOCKS];
            (all[0], all[1]) = (Vec::new(), segments(&[RateRange::between(at(least), at(most))]));
            all
        };
        let whole = sweep(&links, &all(0, parts), &vec![Vec::new(); CLOCKS]);
        let case = |part: usize| {
            let nominal = NominalRate::between((at(part), at(part + 1)));
            Case::new(whole.events(1), &all(part, part + 1)[1], nominal, None)
        };
        let mut cases: Vec<Vec<Case>> = (0..CLOCKS).map(|_| Vec::new()).collect();
        cases[1] = (0..parts).map(case).collect();
        for side in Side::BOTH {
            let Some(widest) = by_every_edge(&whole, side) else { return Ok(()) };
            let mut found = whole.labels(side).unwrap();
            whole.tighten(&mut found, &cases);
            let known = vec![Vec::new(); CLOCKS];
            let one = |part: usize| by_every_edge(&sweep(&links, &all(part, part + 1), &known), side);
            let each: Vec<_> = (0..parts).filter_map(one).collect();
            for clock in 1..CLOCKS {
                for event in 0..whole.events(clock).len() {
                    let label = found.at[clock][event];
                    prop_assert!(label <= widest[clock][event]);
                    prop_assert!(each.iter().all(|one| one[clock][event] <= label));
                }
            }
        }
    }

    /// The mean rate of a part ties the ends of the stretch, and the truth stays inside.
    #[test]
    fn a_clock_of_a_known_mean_is_inside(
        ppm in -30_000i64..30_000, sent in prop::collection::vec((any::<bool>(), 0i64..4_000, 0i64..300), 2..30),
    ) {
        // What clock 1 shows at the reference's time.
        let shows = |t: i64| t + t * ppm / 1_000_000 + 7;
        let messages: Vec<(bool, i64, i64)> = sent;
        let mut corridor = Corridor::new();
        for &(forth, t, delay) in &messages {
            match forth {
                true => corridor.a_to_b(t, shows(t + delay) + 1).unwrap(),
                false => corridor.b_to_a(shows(t), t + delay + 1).unwrap(),
            }
        }
        let assumptions = vec![Assumptions::always(Steering::Unknown); 2];
        let links = [Link::judge(0, 1, corridor, &Model::default(), &assumptions)];
        let range = |least: f64, most: f64| vec![Vec::new(), segments(&[RateRange::between(least, most)])];
        let spans = [Span { begin: 0, end: 4_300 }, Span { begin: shows(0), end: shows(4_300) }];
        let known = vec![Vec::new(); 2];
        let sweep = Sweep::new(&links, |_| true, 0, vec![0, 1], &spans, &range(0.9, 1.1), &known);
        let case = |part: usize| {
            let nominal = NominalRate::between((0.96 + 0.01 * part as f64, 0.97 + 0.01 * part as f64));
            let (least, most) = (nominal.rate - nominal.error, nominal.rate + nominal.error);
            Case::new(sweep.events(1), &range(0.99 * least, 1.01 * most)[1], nominal, Some(spans[1]))
        };
        let cases = [Vec::new(), (0..8).map(case).collect()];
        let Some(lines) = sweep.bounds_by_cases(&cases) else {
            return Err(TestCaseError::fail("nothing contradicts"));
        };
        for t in (0..=4_300).filter(|&t| sweep.events(1).binary_search(&shows(t)).is_ok()) {
            let on = |line: &[(i64, i64)]| line.iter().find(|p| p.0 == shows(t)).map(|p| p.1);
            // What it shows is rounded, the time of that by as much.
            prop_assert!(on(&lines[1].latest).is_none_or(|latest| t - 3 <= latest));
            prop_assert!(on(&lines[1].earliest).is_none_or(|earliest| earliest <= t + 3));
        }
    }
}

#[test]
fn a_loop_is_named() {
    // 0 → 1 → 2 → 0 takes less than no time: clock 2 answers before it was asked.
    let messages =
        [(0, 1, 1_000, 100), (1, 0, 1_300, 100), (1, 2, 1_200, 100), (2, 0, 1_290, -200), (0, 2, 900, 100)];
    let links = links(&messages);
    let exact = RateRange::between(1.0, 1.0);
    let all = vec![Vec::new(), segments(&[exact]), segments(&[exact]), segments(&[exact])];
    let found = sweep(&links, &all, &vec![Vec::new(); CLOCKS]).lines().unwrap_err();
    let found = &found.loops[0];
    let pairs: Vec<(usize, usize)> = found.links.iter().map(|&link| (links[link].a, links[link].b)).collect();
    assert!(pairs.contains(&(0, 2)) && found.clocks.contains(&2), "{found:?}");
}

#[test]
fn what_was_known_before_counts() {
    let links = links(&[(0, 1, 1_000, 100), (1, 0, 1_200, 100)]);
    let all = vec![Vec::new(), segments(&[RateRange::between(1.0, 1.0)]), Vec::new(), Vec::new()];
    let mut known = vec![Vec::new(); CLOCKS];
    let bounds = |known: &[Vec<KnownAt>]| {
        let lines = sweep(&links, &all, known).lines().unwrap();
        Outline::through(lines[1].clone(), &all[1]).at(2_000)
    };
    assert_eq!(bounds(&known), (1_900, 2_100));
    // When the reference shows 3000, the clock shows 2950 at least and 3040 at most.
    known[1].push(KnownAt { instant: 3_000, earliest: Some(2_950), latest: Some(3_040) });
    assert_eq!(bounds(&known), (1_960, 2_050));
}
