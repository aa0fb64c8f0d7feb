//! Any text as a `sync.json`: refused, or its clocks convert any time there and back without trouble.
#![no_main]

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_time::RawNs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, i64)| {
    let (text, raw) = (input.0, RawNs(input.1));
    let Ok(artefact) = Artefact::from_json(text) else { return };
    let Ok(clocks) = Clocks::new(&artefact) else { return };
    for clock in clocks.iter() {
        let there = clock.to_reference(raw);
        let _ = clock.from_reference(there);
        let _ = clock.raw(clock.unix(raw));
        let _ = clock.interval.error_range(&clock.correction);
        for other in clocks.iter() {
            let _ = clocks.related(clock, other, raw);
        }
    }
});
