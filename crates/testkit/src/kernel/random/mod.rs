//! Random kernel traces for tests of properties: a host that does all that a host may do, in no sensible order.
//!
//! [`host`] schedules threads over CPUs, [`interrupts`] interrupts them, [`calls`] has them make system calls, which
//! [`returns`] ends, [`life`]
//! lets them begin and end. All of it is legal: what it records could be the trace of a real host.

mod calls;
mod host;
mod interrupts;
mod life;
mod returns;

use std::path::Path;

use self::host::RandomHost;
use super::generation::Generation;
use super::script::KernelScript;
use crate::error::TestkitError;
use crate::random::Random;

/// Attempts to find a place for a loss.
const ATTEMPTS: u32 = 50;
/// Most acts that a loss swallows.
const LONGEST_LOSS: u64 = 40;

/// A random host: threads that are scheduled over CPUs and migrate, forks, threads that share their files, programs that
/// replace others, ends and numbers that are used again; system calls that last over switches and change what is open;
/// nested interrupts, wake-ups, priorities, block requests, packets, pages.
///
/// The same seed and the same description give the same trace. What has begun when the trace begins or has not ended when
/// it ends has one end only.
///
/// ```
/// use isochrone_testkit::RandomKernel;
/// # let directory = tempfile::tempdir()?;
/// RandomKernel::new(7).cpus(3).events(2_000).losses(2).write(directory.path())?;
/// let trace = isochrone_ctf::Trace::open(directory.path())?;
/// assert_eq!((0..3).map(|stream| trace.losses(stream).len()).sum::<usize>(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomKernel {
    seed: u64,
    host: String,
    generation: Generation,
    cpus: u32,
    threads: u32,
    events: u64,
    losses: u32,
    missing_cpus: u32,
    contexts: bool,
    dump: bool,
    bits: u32,
    big_endian: bool,
    packet_events: u64,
}

impl RandomKernel {
    /// A host with 2 CPUs, 12 threads and about 3000 events of the newest tracer but one, without contexts and without
    /// losses.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            host: "random".to_owned(),
            generation: Generation::default(),
            cpus: 2,
            threads: 12,
            events: 3_000,
            losses: 0,
            missing_cpus: 0,
            contexts: false,
            dump: true,
            bits: 64,
            big_endian: false,
            packet_events: 150,
        }
    }

    /// A host of any kind: all generations of the tracer, words of both sizes and byte orders, with and without losses, missing CPUs,
    /// contexts and a dump. Fifty to some thousand events.
    pub fn of_any_kind(seed: u64, random: &mut Random) -> Self {
        let generation = Generation::ALL[(seed % Generation::ALL.len() as u64) as usize];
        let most = if random.permille(200) { 3_000 } else { 500 };
        Self::new(seed)
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
            .packet_events(1 + random.below(100))
    }

    /// The host's name.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self
    }

    /// The version of the tracer.
    #[must_use]
    pub fn generation(mut self, generation: Generation) -> Self {
        self.generation = generation;
        self
    }

    /// The number of CPUs, at least 1.
    #[must_use]
    pub fn cpus(mut self, count: u32) -> Self {
        self.cpus = count.max(1);
        self
    }

    /// Threads of user space at the begin, at least 1; there will not be many more than twice as many.
    #[must_use]
    pub fn threads(mut self, count: u32) -> Self {
        self.threads = count.max(1);
        self
    }

    /// About how many events the CPUs see together, the state dump apart.
    #[must_use]
    pub fn events(mut self, count: u64) -> Self {
        self.events = count;
        self
    }

    /// How many times events are lost: a few dozen at most each time, at least one. There are fewer where events are too
    /// few.
    #[must_use]
    pub fn losses(mut self, count: u32) -> Self {
        self.losses = count;
        self
    }

    /// Leaves out the streams of so many CPUs. One stream is always there.
    #[must_use]
    pub fn missing_cpus(mut self, count: u32) -> Self {
        self.missing_cpus = count;
        self
    }

    /// Whether every event has the contexts `tid`, `pid` and `procname`.
    #[must_use]
    pub fn contexts(mut self, contexts: bool) -> Self {
        self.contexts = contexts;
        self
    }

    /// Whether the trace begins with a state dump; `true` unless said.
    #[must_use]
    pub fn dump(mut self, dump: bool) -> Self {
        self.dump = dump;
        self
    }

    /// The size of the machine's words: 32 or 64 bits.
    #[must_use]
    pub fn bits(mut self, bits: u32) -> Self {
        self.bits = bits;
        self
    }

    /// Whether the machine has its highest bytes first.
    #[must_use]
    pub fn big_endian(mut self, big: bool) -> Self {
        self.big_endian = big;
        self
    }

    /// The largest number of events in a packet; 150 unless said.
    #[must_use]
    pub fn packet_events(mut self, events: u64) -> Self {
        self.packet_events = events;
        self
    }

    /// What happens, as a script that can be changed before it is written.
    pub fn script(&self) -> KernelScript {
        let random = Random::new(self.seed);
        let script = KernelScript::new(&self.host, self.generation)
            .cpus(self.cpus)
            .contexts(self.contexts)
            .bits(self.bits)
            .big_endian(self.big_endian)
            .packet_events(self.packet_events);
        let mut host = RandomHost::new(script, self.cpus, self.threads, random.part(0));
        if self.dump {
            host.dump();
        }
        let mut script = host.run(self.events);
        self.lose(&mut script, &mut random.part(1));
        script.without_streams(&self.missing(&mut random.part(2)))
    }

    /// Writes the trace: [`KernelScript::write`].
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), TestkitError> {
        self.script().write(directory)
    }

    /// Puts the losses where acts are.
    fn lose(&self, script: &mut KernelScript, random: &mut Random) {
        let times: Vec<Vec<u64>> = (0..self.cpus).map(|cpu| script.times(cpu)).collect();
        let mut taken: Vec<Vec<(u64, u64)>> = vec![Vec::new(); times.len()];
        for _ in 0..self.losses {
            for _ in 0..ATTEMPTS {
                let cpu = random.below(self.cpus.into()) as usize;
                let times = &times[cpu];
                // The first act may be a dump, which is many events.
                let first = 1 + random.below(times.len() as u64) as usize;
                let last = first + 2 + random.below(LONGEST_LOSS) as usize;
                let Some((&from, &to)) = times.get(first).zip(times.get(last)) else { continue };
                let count = times.iter().filter(|&&time| from < time && time < to).count() as u64;
                // Between two losses there is a packet with events.
                let overlaps = taken[cpu].iter().any(|&(begin, end)| from <= end && begin <= to);
                if count == 0 || overlaps {
                    continue;
                }
                taken[cpu].push((from, to));
                script.lose(cpu as u32, from, to, count);
                break;
            }
        }
    }

    /// CPUs whose streams are missing.
    fn missing(&self, random: &mut Random) -> Vec<u32> {
        let mut cpus: Vec<u32> = (0..self.cpus).collect();
        let count = self.missing_cpus.min(self.cpus - 1);
        (0..count).map(|_| cpus.swap_remove(random.below(cpus.len() as u64) as usize)).collect()
    }
}
