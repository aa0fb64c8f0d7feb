//! Files of version 1 are still read, and give the same times as what is written today.

use std::path::{Path, PathBuf};

use isochrone_corrections::artefact::{Artefact, ArtefactError, VERSION};
use isochrone_corrections::{Clock, Clocks};
use isochrone_files::Inputs;
use isochrone_sync::{Options, synchronize};
use isochrone_time::RawNs;

/// What version 1 wrote of `examples/shop`.
const VERSION_1: &str = include_str!("data/sync-v1.json");

fn of_today() -> Artefact {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let paths: Vec<PathBuf> = ["client", "app", "db"].map(|host| shop.join(host)).into();
    synchronize(&Inputs::open(&paths), &Options::default(), &|_| {}).unwrap().artefact
}

#[test]
fn version_1_is_read_and_converts_as_before() {
    let (old, new) = (Artefact::from_json(VERSION_1).unwrap(), of_today());
    assert_eq!((old.version, new.version), (1, VERSION));
    assert!(old.links.iter().all(|link| link.interval.is_empty()));
    assert!(new.links.iter().all(|link| !link.interval.is_empty()));
    let (before, after) = (Clocks::new(&old).unwrap(), Clocks::new(&new).unwrap());
    for (a, b) in before.iter().zip(after.iter()) {
        // The likely error is estimated otherwise since.
        let bounds = |clock: &Clock| -> Vec<(i64, i64, i64)> {
            clock.interval.rows().iter().map(|row| (row.raw, row.lo, row.hi)).collect()
        };
        assert_eq!((&a.correction, bounds(a), a.proven), (&b.correction, bounds(b), b.proven));
        assert_eq!(a.entry.formula(), b.entry.formula());
    }
    // Without bounds of links, those of the clocks are all there is; with them, they are tighter or the same.
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)] {
        let ends = |clocks: &Clocks| {
            let [from, to] = [from, to].map(|number| clocks.get(number).unwrap());
            let (begin, end) = (from.interval.rows()[0].raw, from.interval.rows().last().unwrap().raw);
            clocks.related(from, to, RawNs(begin.midpoint(end))).unwrap()
        };
        let (old, new) = (ends(&before), ends(&after));
        assert_eq!((old.time, old.proven, new.proven), (new.time, true, true));
        let [(lo, hi), (new_lo, new_hi)] = [old, new].map(|r| (r.bounds.0.unwrap(), r.bounds.1.unwrap()));
        assert!(lo <= new_lo && new_lo <= new.time && new.time <= new_hi && new_hi <= hi, "{old:?} {new:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let artefact = of_today();
    let text = artefact.to_json().unwrap();
    let read = Artefact::from_json(&text).unwrap();
    assert_eq!(read, artefact);
    assert_eq!(read.to_json().unwrap(), text);
    // A file of version 1 stays one, and keeps all that is in it.
    let old = Artefact::from_json(VERSION_1).unwrap().to_json().unwrap();
    let without = old.replace(",\"interval\":[]}", "}").replace(",\"proven\":true", "");
    assert_eq!(without, VERSION_1);
}

#[test]
fn bounds_of_links_are_checked() {
    let check = |change: &dyn Fn(&mut Artefact), expect: &str| {
        let mut artefact = of_today();
        change(&mut artefact);
        let error = Clocks::new(&artefact).unwrap_err();
        assert!(matches!(error, ArtefactError::Link { .. }), "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    check(&|a| a.links[0].interval[1].0 = a.links[0].interval[0].0, "the link of h1 and h2: ");
    check(&|a| a.links[0].interval[1].1 = a.links[0].interval[0].1 - 1, "its interval goes back in time");
    check(&|a| a.links[1].interval[0].3 = -1, "the link of h2 and h3: ");
    check(&|a| a.links[0].a = "h7".to_owned(), "no clock is of that host");
}
