//! The bundled example: three real hosts whose clocks are known.

use std::path::PathBuf;

use isochrone_corrections::artefact::Artefact;
use isochrone_files::Inputs;
use isochrone_matching::traffic::packet_events;
use isochrone_matching::{extract, survey};
use isochrone_net::Direction;
use isochrone_sync::{Options, Outcome, synchronize};

#[path = "../../examples/truth.rs"]
mod truth;

fn shop(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name)
}

fn outcome(names: &[&str], reference: Option<&str>) -> Outcome {
    let inputs = Inputs::open(&names.iter().map(|name| shop(name)).collect::<Vec<_>>());
    let options = Options { reference: reference.map(str::to_owned), ..Options::default() };
    synchronize(&inputs, &options, &|_| {}).unwrap()
}

fn verdicts(artefact: &Artefact) -> Vec<truth::Verdict> {
    let known = std::fs::read_to_string(shop("truth.json")).unwrap();
    truth::judge(&artefact.to_json().unwrap(), &known).unwrap()
}

#[test]
fn the_truth_lies_inside_whatever_the_reference() {
    for reference in [None, Some("h1"), Some("h2"), Some("h3")] {
        let outcome = outcome(&["client", "app", "db"], reference);
        assert!(!outcome.partial);
        if let Some(reference) = reference {
            assert_eq!(outcome.artefact.reference, reference);
        }
        let verdicts = verdicts(&outcome.artefact);
        assert_eq!(verdicts.len(), 2);
        for verdict in verdicts {
            let truth::Verdict { host, samples, worst_error_ns, stated_ns, outside } = verdict;
            assert_eq!(outside, 0, "{host}");
            assert!(samples > 90, "{host}: {samples} samples");
            assert!(worst_error_ns < stated_ns / 4, "{host}: {worst_error_ns} of {stated_ns}");
        }
    }
}

#[test]
fn the_order_of_the_arguments_does_not_matter() {
    let results = [["client", "app", "db"], ["db", "client", "app"], ["app", "db", "client"]]
        .map(|names| outcome(&names, None).artefact.to_json().unwrap());
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

/// A survey shows what an extraction does, but for what is inside the packets of the network; and those it counts.
#[test]
fn a_survey_agrees_with_an_extraction() {
    let inputs = Inputs::open(&[shop("client"), shop("app"), shop("db")]);
    let traces: Vec<_> = inputs.traces.iter().map(|input| &input.trace).collect();
    let surveyed = survey(&traces, &|_, _| 0, &|_| {});
    let extraction = extract(&traces.iter().map(|trace| (*trace, 0)).collect::<Vec<_>>(), &|_| {});
    assert_eq!(surveyed, extraction.facts);
    let check = |trace: usize, direction, expect: u64| {
        assert_eq!(
            packet_events(traces[trace], &surveyed[trace], direction),
            expect,
            "{trace} {direction:?}"
        );
        let looked = extraction.traffic[trace].of(direction);
        assert!(looked.declared && !looked.headerless);
        // Some of them may be of the loopback device, which counts for nothing.
        let inside = looked.packets + looked.other + looked.bare;
        assert!((1..=expect).contains(&inside), "{trace} {direction:?}: {inside} of {expect}");
    };
    check(0, Direction::Sent, 120);
    check(0, Direction::Received, 120);
    check(1, Direction::Sent, 434);
    check(1, Direction::Received, 344);
    check(2, Direction::Sent, 224);
    check(2, Direction::Received, 312);
}

#[test]
fn hosts_that_never_talk_are_islands() {
    let outcome = outcome(&["client", "db"], None);
    assert!(outcome.partial);
    assert_eq!(outcome.artefact.islands.len(), 2);
    assert!(outcome.artefact.links.is_empty(), "{:?}", outcome.artefact.links);
}

#[test]
fn an_artefact_reads_back_as_it_was() {
    let artefact = outcome(&["client", "app", "db"], None).artefact;
    assert_eq!(Artefact::from_json(&artefact.to_json().unwrap()).unwrap(), artefact);
}
