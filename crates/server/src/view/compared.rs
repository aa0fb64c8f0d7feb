//! What the time of some requests of a service went to, against the others of it: of all of them together, by
//! where and cause.
//!
//! Used by: the panel of latencies.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use isochrone_crosshost::{Request, SpentOn};
use isochrone_experiment::Work;
use serde::Serialize;

use super::ExperimentView;
use crate::error::{ApiError, Result};

/// The requests of a service in two parts.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    /// How many took as long as was asked for, and their time, ns; and the others.
    chosen: u64,
    chosen_ns: i64,
    others: u64,
    others_ns: i64,
    /// What made the mean of the chosen ones longer comes first.
    causes: Vec<ComparedCause>,
}

/// The time on one thing.
#[derive(Debug, Serialize)]
struct ComparedCause {
    host: String,
    comm: String,
    cause: &'static str,
    chosen_ns: i64,
    others_ns: i64,
}

impl ExperimentView<'_> {
    /// The requests of a service that took so long, ns, against the others of it. Linear in all requests and
    /// what they spent their time on.
    ///
    /// # Errors
    /// There is no such service, or the store cannot be read.
    pub(crate) fn compared(
        &self,
        service: &str,
        took: RangeInclusive<i64>,
        work: &Arc<Work>,
    ) -> Result<Compared> {
        let of_service = |request: &&Request| {
            request.service.as_ref().map(ToString::to_string).unwrap_or_default() == service
        };
        let mut all = Compared { chosen: 0, chosen_ns: 0, others: 0, others_ns: 0, causes: Vec::new() };
        let mut sums: BTreeMap<&SpentOn, [i64; 2]> = BTreeMap::new();
        for request in self.all_requests(work)?.iter().filter(of_service) {
            let is_chosen = took.contains(&request.duration());
            let (count, ns) = match is_chosen {
                true => (&mut all.chosen, &mut all.chosen_ns),
                false => (&mut all.others, &mut all.others_ns),
            };
            *count += 1;
            *ns += request.duration();
            for (on, ns) in &request.spent {
                sums.entry(on).or_default()[usize::from(!is_chosen)] += ns;
            }
        }
        if all.chosen + all.others == 0 {
            return Err(ApiError::missing(format!("there are no requests of `{service}`")));
        }
        let cluster = self.cluster()?;
        let cause = |(on, [chosen_ns, others_ns]): (&SpentOn, [i64; 2])| ComparedCause {
            host: cluster.host_name(on.host).to_owned(),
            comm: on.comm.as_ref().map(ToString::to_string).unwrap_or_default(),
            cause: on.cause.name(),
            chosen_ns,
            others_ns,
        };
        all.causes = sums.into_iter().map(cause).collect();
        let mean = |ns: i64, count: u64| i128::from(ns) * 1000 / i128::from(count.max(1));
        all.causes.sort_by_key(|it| {
            std::cmp::Reverse(mean(it.chosen_ns, all.chosen) - mean(it.others_ns, all.others))
        });
        Ok(all)
    }
}
