//! Holds corrections against clocks that are known: `truth SYNC.json TRUTH.json`.
//!
//! For every host but the reference: how far the correction is from the truth at the worst instant, how far the stated
//! interval says it can be, and whether the truth lies inside it at every sample.

use std::collections::BTreeMap;

use isochrone_corrections::artefact::Artefact;
use isochrone_corrections::{Clock, Clocks};
use serde::Deserialize;

/// What the clocks really were.
#[derive(Deserialize)]
struct Truth {
    hosts: BTreeMap<String, Known>,
}

/// A clock at some instants of a common clock.
#[derive(Deserialize)]
struct Known {
    uncertainty_ns: i64,
    /// `(common clock before, raw time, common clock after)`, in order.
    samples: Vec<(i64, i64, i64)>,
}

/// How a correction compares with the truth.
pub struct Verdict {
    /// The host.
    pub host: String,
    /// Samples within the span of the trace.
    pub samples: usize,
    /// Largest distance of the correction from the truth.
    pub worst_error_ns: i64,
    /// Largest distance from the truth that the stated interval allows.
    pub stated_ns: i64,
    /// Samples at which the truth lies outside the stated interval.
    pub outside: usize,
}

/// Compares every clock but the reference.
pub fn judge(sync: &str, truth: &str) -> Result<Vec<Verdict>, Box<dyn std::error::Error>> {
    let artefact = Artefact::from_json(sync)?;
    let truth: Truth = serde_json::from_str(truth)?;
    let reference = truth.hosts.get(&artefact.reference).ok_or("the truth lacks the reference host")?;
    let clocks = Clocks::new(&artefact)?;
    let others = clocks.iter().filter(|clock| clock.entry.host != artefact.reference);
    Ok(others
        .filter_map(|clock| Some(compare(clock, truth.hosts.get(&clock.entry.host)?, reference)))
        .collect())
}

fn compare(clock: &Clock, known: &Known, reference: &Known) -> Verdict {
    let host = clock.entry.host.clone();
    let mut verdict = Verdict { host, samples: 0, worst_error_ns: 0, stated_ns: 0, outside: 0 };
    for &(before, raw, after) in &known.samples {
        let Some((lo, hi, _)) = clock.interval.at(raw) else { continue };
        let Some(true_raw) = reference.raw_at(i64::midpoint(before, after)) else { continue };
        let slack = (after - before) / 2 + 1 + known.uncertainty_ns + reference.uncertainty_ns;
        let error = clock.correction.apply(raw) - true_raw;
        verdict.samples += 1;
        verdict.worst_error_ns = verdict.worst_error_ns.max(error.abs());
        let estimate = clock.correction.apply(raw);
        verdict.stated_ns = verdict.stated_ns.max((hi - estimate).max(estimate - lo));
        verdict.outside += usize::from(true_raw < lo - slack || true_raw > hi + slack);
    }
    verdict
}

impl Known {
    /// The clock's raw time at an instant of the common clock, between two samples.
    fn raw_at(&self, common: i64) -> Option<i64> {
        let middle = |sample: &(i64, i64, i64)| i64::midpoint(sample.0, sample.2);
        let after = self.samples.partition_point(|sample| middle(sample) < common);
        let (b, a) = (self.samples.get(after)?, self.samples.get(after.checked_sub(1)?)?);
        let (dx, dy) = (i128::from(middle(b) - middle(a)), i128::from(b.1 - a.1));
        let since = i128::from(common - middle(a));
        i64::try_from(i128::from(a.1) + dy * since / dx).ok()
    }
}

#[allow(clippy::print_stdout, dead_code)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [sync, truth] = paths.as_slice() else { return Err("usage: truth SYNC.json TRUTH.json".into()) };
    for verdict in judge(&std::fs::read_to_string(sync)?, &std::fs::read_to_string(truth)?)? {
        let Verdict { host, samples, worst_error_ns, stated_ns, outside } = verdict;
        let place = if outside == 0 { "inside" } else { "OUTSIDE" };
        println!(
            "{host}: off by {:.1} µs at worst, stated ± {:.1} µs; the truth is {place} at {} of {samples} instants",
            worst_error_ns as f64 / 1e3,
            stated_ns as f64 / 1e3,
            if outside == 0 { samples } else { outside },
        );
    }
    Ok(())
}
