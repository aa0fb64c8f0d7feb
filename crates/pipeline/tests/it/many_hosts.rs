//! Many hosts in one queue: each gets the model that it has alone, few models wait, and what fails fails
//! alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Keep, open};
use isochrone_ctf::Trace;
use isochrone_hosts::{Host, HostEvents, Hosts};
use isochrone_pipeline::{Cuts, Job, MapMerge, Piece, Plan, map_merge_all};
use isochrone_testkit::RandomKernel;
use isochrone_time::RawNs;

const HOSTS: u64 = 9;

/// Hosts of different sizes; one of them has lost events.
fn written(directory: &std::path::Path) -> Vec<Trace> {
    for number in 0..HOSTS {
        let kernel = RandomKernel::new(number).host(&format!("h{number}")).events(20 + 150 * (number % 4));
        kernel.losses(u32::from(number == 3)).write(&directory.join(format!("h{number}"))).unwrap();
    }
    open(directory)
}

#[test]
fn each_host_is_as_it_is_alone() {
    let directory = tempfile::tempdir().unwrap();
    let traces = written(directory.path());
    let hosts = Hosts::group(&traces).hosts;
    assert_eq!(hosts.len() as u64, HOSTS);
    let alone: Vec<_> = hosts.iter().map(|host| crate::common::kept(host, &Cuts::Whole, 1)).collect();
    let check = |plans: Vec<Plan>, threads: usize| {
        let job = |(host, plan)| Job { host, plan, mapper: Keep };
        let jobs: Vec<_> = hosts.iter().zip(plans).map(job).collect();
        let together = map_merge_all(&jobs, threads, |_, part| part, None);
        assert_eq!(together.len(), alone.len());
        for ((together, alone), host) in together.into_iter().zip(&alone).zip(&hosts) {
            assert_eq!(together.unwrap(), *alone, "{} on {threads} threads", host.name);
        }
    };
    for threads in 1..=8 {
        check(Plan::for_hosts(&hosts, threads), threads);
        check(hosts.iter().map(|host| Plan::new(host, &Cuts::Packets(7))).collect(), threads);
    }
    assert!(map_merge_all::<Keep, _>(&[], 4, |_, part| part, None).is_empty());
}

/// Counts the models that there are at a time; does not merge those of one host.
struct Counting<'c> {
    now: &'c AtomicUsize,
    most: &'c AtomicUsize,
    fails: bool,
}

struct Counted<'c>(&'c AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<'c> MapMerge for Counting<'c> {
    type Model = Counted<'c>;
    type Error = String;

    fn map<'t>(&self, _: &Host<'t>, _: Piece, events: &mut HostEvents<'_, 't>) -> Counted<'c> {
        let read = events.count();
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Pieces take unequally long, so that their neighbours have to wait.
        std::thread::sleep(std::time::Duration::from_micros(50 * (read as u64 % 7)));
        Counted(self.now)
    }

    fn gap(&self, _: &Host<'_>, _: RawNs, _: RawNs) -> Counted<'c> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Counted(self.now)
    }

    fn merge(&self, left: Counted<'c>, _: Counted<'c>) -> Result<Counted<'c>, String> {
        if self.fails { Err("no".to_owned()) } else { Ok(left) }
    }
}

#[test]
fn few_models_wait() {
    let directory = tempfile::tempdir().unwrap();
    let traces = written(directory.path());
    let hosts = Hosts::group(&traces).hosts;
    for threads in [1, 2, 4, 8] {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let job = |host| {
            let mapper = Counting { now: &now, most: &most, fails: false };
            Job { host, plan: Plan::new(host, &Cuts::Times(40)), mapper }
        };
        let jobs: Vec<_> = hosts.iter().map(job).collect();
        let pieces: usize = jobs.iter().map(|job| job.plan.steps().len()).sum();
        assert!(pieces > 200, "{pieces}");
        let models = map_merge_all(&jobs, threads, |_, part| part, None);
        assert_eq!(now.load(Ordering::SeqCst), models.len());
        // Two in the hands of each thread, two a thread and one that wait, one of each host that is done.
        let most = most.load(Ordering::SeqCst);
        assert!(most <= 4 * threads + 1 + hosts.len(), "{most} models on {threads} threads");
    }
}

#[test]
fn what_fails_fails_alone() {
    let directory = tempfile::tempdir().unwrap();
    let traces = written(directory.path());
    let hosts = Hosts::group(&traces).hosts;
    for threads in 1..=4 {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let job = |(number, host)| {
            let mapper = Counting { now: &now, most: &most, fails: number == 4 };
            Job { host, plan: Plan::new(host, &Cuts::Times(5)), mapper }
        };
        let jobs: Vec<_> = hosts.iter().enumerate().map(job).collect();
        let done: Vec<bool> =
            map_merge_all(&jobs, threads, |_, part| part, None).iter().map(Result::is_ok).collect();
        let expect: Vec<bool> = (0..hosts.len()).map(|number| number != 4).collect();
        assert_eq!(done, expect, "{threads} threads");
    }
}
