//! Pieces at random cuts, mapped by processes of their own and merged from files in three orders.

use std::path::{Path, PathBuf};

use isochrone_hosts::Hosts;
use isochrone_pipeline::Plan;
use isochrone_testkit::Random;

use super::model::{random_cuts, times};
use crate::common::{call, map_merge_example, open, shared, shown};

/// Merges files of neighbours until one is left; `choose` says which of so many seams is closed next.
fn merge(example: &Path, mut files: Vec<PathBuf>, mut choose: impl FnMut(usize) -> usize) -> String {
    let directory = tempfile::tempdir().unwrap();
    for number in 0.. {
        if files.len() == 1 {
            break;
        }
        let at = choose(files.len() - 1);
        let both = directory.path().join(number.to_string());
        let names = [&files[at], &files[at + 1], &both].map(|path| path.display().to_string());
        call(example, &["merge", &names[0], &names[1], &names[2]]);
        files.splice(at..at + 2, [both]);
    }
    call(example, &["digest", &files[0].display().to_string()])
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn three_orders_give_the_same_digest() {
    let example = map_merge_example();
    let mut random = Random::new(3);
    for part in ["ctf/traces/tc/many-threads", "vm/web2/h1", "vm/chain3/h2"] {
        let trace = shared(part);
        let traces = open(&trace);
        let hosts = Hosts::group(&traces);
        let host = &hosts.hosts[0];
        let times = times(host);
        let directory = tempfile::tempdir().unwrap();
        let name = trace.display().to_string();
        let map = |file: &str, from: &str, to: &str| {
            let file = directory.path().join(file);
            call(&example, &["map", &name, from, to, &file.display().to_string()]);
            file
        };
        let whole = merge(&example, vec![map("whole", "-", "-")], |_| 0);
        let plan = loop {
            let plan = Plan::new(host, &random_cuts(&times, &mut random));
            if (3..12).contains(&plan.steps().len()) {
                break plan;
            }
        };
        let pieces = plan.steps().iter().map(|step| step.piece).enumerate();
        let files: Vec<PathBuf> =
            pieces.map(|(n, piece)| map(&n.to_string(), &shown(piece.from), &shown(piece.to))).collect();
        assert_eq!(merge(&example, files.clone(), |_| 0), whole, "{part}: {plan:?}");
        assert_eq!(merge(&example, files.clone(), |seams| seams - 1), whole, "{part}: {plan:?}");
        let any = |seams: usize| random.below(seams as u64) as usize;
        assert_eq!(merge(&example, files, any), whole, "{part}: {plan:?}");
    }
}
