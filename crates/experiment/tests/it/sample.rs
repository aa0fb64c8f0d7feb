//! A sample of a host against what its script says.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use isochrone_experiment::{Inputs, Opened, SampledPart, Spread, sample};
use isochrone_testkit::{Generation, KernelScript};

#[test]
fn a_sample_says_what_cpus_did_in_each_packet() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = KernelScript::new("h1", Generation::V2_13).cpus(2).packet_events(10);
    script.process(10, "busy").process(11, "lazy");
    for turn in 0..100 {
        script.at(1_000 + 400 * turn).cpu(0).switch(0, 10);
        script.at(1_300 + 400 * turn).cpu(0).switch(10, 0);
        script.at(1_001 + 400 * turn).cpu(1).switch(0, 11);
        script.at(1_101 + 400 * turn).cpu(1).switch(11, 0);
    }
    script.write(directory.path()).unwrap();
    let opened = Opened::unsynchronized(Inputs::open(&[directory.path().to_owned()]));
    let experiment = opened.experiment();
    let threads = |threads| Spread { threads: NonZeroUsize::new(threads), pieces: None };
    let samples = sample(experiment.hosts(), threads(1));
    assert_eq!(samples, sample(experiment.hosts(), threads(4)));
    let [sample] = samples.as_slice() else { panic!("one host") };
    for (cpu, tid, running, idle) in [(0, 10, 1500, 400), (1, 11, 500, 1200)] {
        let parts: Vec<&SampledPart> = sample.parts.iter().filter(|part| part.cpu == cpu).collect();
        assert_eq!(parts.len(), 20);
        assert!(parts.windows(2).all(|pair| pair[0].read <= pair[0].end && pair[0].end == pair[1].begin));
        for part in parts {
            // Nine spans lie between ten events; what goes on beyond them does not count.
            assert_eq!((part.running, part.idle), (running, idle), "{part:?}");
            assert_eq!(part.threads, BTreeMap::from([(tid, running)]));
        }
    }
    assert_eq!((sample.names[&10].as_str(), sample.names[&11].as_str()), ("busy", "lazy"));
    assert!(sample.bytes > 0);
}
