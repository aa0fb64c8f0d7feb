//! The twelve inputs of LTTV's unit test of its synchronization: the published cases, good and degenerate.
//!
//! The inputs are not part of this repository: without them the tests are ignored. Expected rates are those of an independent exact enumeration.

use std::path::{Path, PathBuf};

use isochrone_clock::{
    Corridor, Infeasible, LinkData, LinkQuality, Network, Refusal, Slope, Solution, Span, solve,
};

/// The folder of the inputs.
fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/lttv/inputs")
}

/// Decimal seconds as ns, without floating point.
fn nanoseconds(text: &str) -> i64 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{decimals:0<9}").parse().expect("a decimal number of seconds")
}

fn corridor(folder: &Path, test: u32) -> Corridor {
    let text = std::fs::read(folder.join(format!("test{test}.txt"))).expect("an input");
    let text = String::from_utf8_lossy(&text);
    let mut corridor = Corridor::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [sender, _, sent, received] = words[..] else { continue };
        let (sent, received) = (nanoseconds(sent), nanoseconds(received));
        let inserted =
            if sender == "0" { corridor.a_to_b(sent, received) } else { corridor.b_to_a(sent, received) };
        inserted.expect("in range");
    }
    corridor
}

fn solved(corridor: &Corridor) -> Solution {
    let span = Span { begin: 0, end: 120_000_000_000 };
    let mut network = Network::new(vec![span, span]);
    network.links.push(LinkData { a: 0, b: 1, corridor: corridor.clone() });
    solve(network).expect("a sound network")
}

fn assert_rate(found: Option<Slope>, expected: Option<f64>, what: &str) {
    let found = found.map(|s| 1.0 + s.ppm() * 1e-6);
    match (found, expected) {
        (Some(f), Some(e)) => assert!((f - e).abs() < 1e-9 * e.abs().max(1.0), "{what}: {f}, expected {e}"),
        (f, e) => assert_eq!(f, e, "{what}"),
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn classification_and_rates() {
    let folder = inputs();
    let feasible = [
        (1, Some(0.850_574_712_6), Some(1.121_049_493)),
        (2, Some(0.937_5), Some(1.059_342_422)),
        (3, Some(0.792_151_162_8), Some(1.219_727_346)),
        (4, Some(0.913_486_005_1), None),
        (5, None, Some(1.090_909_091)),
        (8, Some(-1.793_733_681), None),
        (9, Some(-1.389_380_531), Some(3.161_458_333)),
        (10, Some(-0.265_889_830_5), None),
        (12, Some(0.745_571_999_7), Some(0.803_684_196)),
    ];
    for (test, min, max) in feasible {
        let corridor = corridor(&folder, test);
        let rates = corridor.rates().expect("feasible");
        assert_rate(rates.min, min, &format!("test {test}, min"));
        assert_rate(rates.max, max, &format!("test {test}, max"));
        let solution = solved(&corridor);
        let link = &solution.links[0];
        let expected =
            if min.is_some() && max.is_some() { LinkQuality::Accurate } else { LinkQuality::Incomplete };
        assert_eq!(link.quality, expected, "test {test}");
        assert_eq!(link.inversions, Some(0), "test {test}");
        assert_eq!(link.prior_contradicted, test == 12, "test {test}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn contradictions() {
    let folder = inputs();
    for test in [6, 7] {
        let corridor = corridor(&folder, test);
        assert!(matches!(corridor.rates(), Err(Infeasible::Crossed { .. })), "test {test}");
        let quality = solved(&corridor).links[0].quality.clone();
        assert!(
            matches!(quality, LinkQuality::Approximate { violation_ns } if violation_ns > 0),
            "test {test}"
        );
    }
    let backwards = corridor(&folder, 11);
    let Err(Infeasible::Backwards { max, .. }) = backwards.rates() else { panic!("{:?}", backwards.rates()) };
    assert_rate(Some(max), Some(-0.937_5), "test 11");
    let solution = solved(&backwards);
    let why = solution.links[0].quality.clone();
    assert!(matches!(
        why,
        LinkQuality::Refused { why: Refusal::Contradiction(Infeasible::Backwards { .. }) }
    ));
    assert_eq!(solution.islands.len(), 2);
}
