//! Random hosts of all kinds.

use isochrone_testkit::{Random, RandomKernel};

/// So many seeds, unless `ISOCHRONE_SEEDS` says otherwise.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("ISOCHRONE_FIRST_SEED").unwrap_or(0);
    first..first + number("ISOCHRONE_SEEDS").unwrap_or(usual)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A host of any kind.
pub fn kernel(seed: u64) -> (RandomKernel, Random) {
    let mut random = Random::new(seed ^ 0x1a37);
    (RandomKernel::of_any_kind(seed, &mut random), random)
}
