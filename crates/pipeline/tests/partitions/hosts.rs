//! Random hosts of all kinds.

use isochrone_testkit::{Generation, Random, RandomKernel};

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
    let generation = Generation::ALL[(seed % 5) as usize];
    let most = if random.permille(200) { 3_000 } else { 500 };
    let kernel = RandomKernel::new(seed)
        .generation(generation)
        .cpus(1 + random.below(4) as u32)
        .threads(1 + random.below(14) as u32)
        .events(50 + random.below(most))
        .losses(if random.permille(500) { random.below(6) as u32 } else { 0 })
        .missing_cpus(u32::from(random.permille(200)))
        .contexts(random.permille(500))
        .dump(random.permille(700))
        .bits(if random.permille(500) { 32 } else { 64 })
        .big_endian(random.permille(500))
        .packet_events(1 + random.below(100));
    (kernel, random)
}
