//! All hosts on one pool: what comes out does not depend on the number of threads, nor on how hosts are cut.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use isochrone_analysis::{AnalysisKind, Filter, HostContext, Options};
use isochrone_experiment::{Experiment, Inputs, Opened, Question, Spread, reports};
use isochrone_testkit::{Generation, RandomKernel};
use isochrone_time::UnixNs;
use isochrone_timing::{Times, extent};

const HOSTS: u64 = 12;

fn written(directory: &std::path::Path) {
    for number in 0..HOSTS {
        let kernel = RandomKernel::new(number)
            .host(&format!("h{number}"))
            .generation(Generation::ALL[(number % 5) as usize])
            .cpus(1 + (number % 3) as u32)
            .events(100 + 400 * (number % 4))
            .losses((number % 2) as u32)
            .packet_events(40);
        kernel.write(&directory.join(format!("h{number}"))).unwrap();
    }
}

/// All that the hosts of an experiment come to: tables of all analyses, who was there, what was read.
fn all_of(experiment: &Experiment<'_>, times: [Option<UnixNs>; 3], spread: Spread) -> String {
    let hosts = experiment.select(&[]).unwrap().hosts;
    let options = Options { filter: Filter::default(), ..Options::default() };
    let times = Times::new(times, extent(hosts.iter().copied())).unwrap();
    let read = AtomicU64::new(0);
    let progress = |bytes| {
        read.fetch_add(bytes, Ordering::Relaxed);
    };
    let question = Question { kinds: AnalysisKind::ALL, options: &options, times, periods: None };
    let answers = question.ask(&hosts, spread, Some(&progress));
    let hosts: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    assert!(read.into_inner() > 0);
    let whole = |host: &isochrone_experiment::ModelledHost<'_, _>| {
        let isochrone_experiment::ModelledHost { model, report, .. } = host;
        let seen =
            (model.range, model.events, model.losses, model.events_lost, &model.gaps, &model.missing_cpus);
        format!("{} {seen:?} {report:?} {:?}\n", host.name(), model.threads)
    };
    let hosts_said: String = hosts.iter().map(whole).collect();
    hosts_said + &serde_json::to_string(&reports(&hosts, &options, spread)).unwrap()
}

#[test]
fn threads_and_cuts_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    let opened = Opened::unsynchronized(Inputs::open(&[directory.path().to_owned()]));
    let experiment = opened.experiment();
    assert_eq!(experiment.hosts().len() as u64, HOSTS);
    let first =
        |host: &isochrone_timing::TimedHost<'_>| host.timing.unwrap().unix(host.traced.extent().unwrap().0);
    let begin = experiment.hosts().iter().map(first).min().unwrap();
    let at = |ns: i64| Some(begin + ns);
    for times in [[None; 3], [at(2_000), at(60_000), None], [None, None, at(30_000)]] {
        let spread = |threads, pieces| Spread {
            threads: NonZeroUsize::new(threads),
            pieces: NonZeroUsize::new(pieces),
        };
        let expect = all_of(&experiment, times, spread(1, 1));
        for threads in 1..=8 {
            for pieces in [0, 1, 5] {
                let found = all_of(&experiment, times, spread(threads, pieces));
                assert!(found == expect, "{threads} threads, {pieces} pieces: {found}\nnot\n{expect}");
            }
        }
        assert!(all_of(&experiment, times, Spread::default()) == expect);
    }
}
