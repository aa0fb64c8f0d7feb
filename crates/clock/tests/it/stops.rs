//! Clocks that are thought to run free and stop: honest messages next to a stop are not taken for wrong ones, and wrong ones
//! are still found.

use isochrone_clock::{
    Corridor, LinkData, LinkQuality, LinkReport, Network, Refusal, Side, Solution, Span, solve,
};

const MS: i64 = 1_000_000;

/// Clock b of two, which stands still from some instants on, for so long. ns.
struct Stopping(Vec<(i64, i64)>);

impl Stopping {
    fn raw(&self, t: i64) -> i64 {
        self.0.iter().fold(t, |raw, &(at, stop)| raw - (t - at).clamp(0, stop))
    }
}

/// A message by true times: whether it goes from a to b, when it was sent, and how long it took. ns.
type Message = (bool, i64, i64);

/// A request of a and the answer of b.
fn exchange(sent: i64) -> [Message; 2] {
    let spread = sent / MS % 37 * 1000;
    [(true, sent, 90_000 + spread), (false, sent + 500_000, 95_000 + spread)]
}

/// A message a → b as it was seen: the times on a and b.
fn point(b: &Stopping, (forth, sent, took): Message) -> (i64, i64) {
    let (on_a, on_b) = if forth { (sent, sent + took) } else { (sent + took, sent) };
    (on_a, b.raw(on_b))
}

fn solved(b: &Stopping, messages: &[Message]) -> Solution {
    let mut corridor = Corridor::new();
    let (mut on_a, mut on_b) = (Vec::new(), Vec::new());
    for &message in messages {
        let (x, y) = point(b, message);
        if message.0 { corridor.a_to_b(x, y) } else { corridor.b_to_a(y, x) }.unwrap();
        on_a.push(x);
        on_b.push(y);
    }
    let span =
        |times: &[i64]| Span { begin: *times.iter().min().unwrap(), end: *times.iter().max().unwrap() };
    let mut network = Network::new(vec![span(&on_a), span(&on_b)]);
    network.links.push(LinkData { a: 0, b: 1, corridor });
    network.reference = Some(0);
    solve(network).unwrap()
}

fn left_out(link: &LinkReport) -> Vec<(Side, i64, i64)> {
    link.suspects.iter().map(|s| (s.side, s.point.x(), s.point.y())).collect()
}

#[test]
fn what_a_stop_explains_is_not_suspect_and_what_none_does_is() {
    let every = |from: i64, to: i64| (from..to).step_by(250).flat_map(|ms| exchange(ms * MS));
    let around_a_silence = || every(0, 3_000).chain(every(12_000, 45_000)).collect::<Vec<Message>>();
    let stopped_early = || Stopping(vec![(12_100 * MS, 43 * MS), (30_100 * MS, 700 * MS)]);
    let stopped_late = || Stopping(vec![(20_100 * MS, 43 * MS), (30_100 * MS, 700 * MS)]);
    let check = |b: Stopping, wrong: &[Message]| {
        let messages = [around_a_silence(), wrong.to_vec()].concat();
        let solution = solved(&b, &messages);
        let side = |forth| if forth { Side::Upper } else { Side::Lower };
        let mut expect: Vec<_> = wrong
            .iter()
            .map(|&message| {
                let (x, y) = point(&b, message);
                (side(message.0), x, y)
            })
            .collect();
        let mut found = left_out(&solution.links[0]);
        found.sort_by_key(|f| f.1);
        expect.sort_by_key(|f| f.1);
        assert_eq!(found, expect);
        assert_eq!(solution.links[0].quality, LinkQuality::Accurate);
        assert_eq!(solution.links[0].breaks.len(), 2);
        let (correction, interval) = (&solution.corrections[1], &solution.intervals[1]);
        for t in (0..44_000).step_by(100).map(|ms| ms * MS) {
            // While it stands still it shows one time for long: any of it may be meant.
            if b.0.iter().any(|&(at, stop)| (at - MS..=at + stop + MS).contains(&t)) {
                continue;
            }
            let (lo, hi, _) = interval.at(b.raw(t)).unwrap_or((t, t, 0));
            assert!(lo <= t && t <= hi, "{lo} to {hi} at {t}, estimated {}", correction.apply(b.raw(t)));
        }
    };
    // The only exchange between a silence and a stop.
    check(stopped_early(), &[]);
    check(stopped_late(), &[]);
    // Received before they were sent, among honest ones.
    check(stopped_late(), &[(true, 15_120 * MS, -5 * MS)]);
    check(stopped_late(), &[(false, 37_130 * MS, -40 * MS)]);
    check(stopped_early(), &[(true, 20_120 * MS, -5 * MS), (false, 38_130 * MS, -2 * MS)]);
}

#[test]
fn few_messages_after_several_stops_are_not_taken_for_wrong_ones() {
    let many = (0..8).flat_map(|i| exchange(i * 1100 * MS));
    let few: [Message; 6] = [
        (true, 9_000 * MS, 100_000),
        (false, 9_630 * MS, 100_000),
        (true, 10_040 * MS, 100_000),
        (false, 13_450 * MS, 100_000),
        (true, 14_600 * MS, 100_000),
        (false, 21_100 * MS, 100_000),
    ];
    let messages: Vec<Message> = many.chain(few).collect();
    let b = Stopping(vec![(8_300 * MS, 870 * MS), (9_600 * MS, 20 * MS), (14_000 * MS, 142 * MS)]);
    let solution = solved(&b, &messages);
    let link = &solution.links[0];
    assert_eq!(left_out(link), []);
    // Nothing shows what the clock did in the end.
    assert!(
        matches!(link.quality, LinkQuality::Refused { why: Refusal::Contradiction(_) }),
        "{:?}",
        link.quality
    );
}
