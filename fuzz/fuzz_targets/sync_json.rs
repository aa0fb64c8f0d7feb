//! Any text as a `sync.json`: refused, or its clocks convert any time there and back without trouble.
#![no_main]

use isochrone_sync::apply::Clocks;
use isochrone_sync::artefact::Artefact;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, i64)| {
    let (text, raw) = input;
    let Ok(artefact) = Artefact::from_json(text) else { return };
    let Ok(clocks) = Clocks::new(&artefact) else { return };
    for clock in clocks.iter() {
        let there = clock.to_reference(raw);
        let _ = clock.from_reference(there);
        let _ = clock.unix_ns(raw);
        let _ = clock.error_range();
        for other in clocks.iter() {
            let _ = clocks.related(clock, other, raw);
        }
    }
});
