//! What the threads of some rows waited for, added up by cause. Used by: the statistics of the page.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use isochrone_crosshost::{Cause, ThreadRef, waits};
use isochrone_experiment::Work;
use isochrone_store::ThreadRow;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::ExperimentView;
use crate::error::Result;

/// The waits of an area.
#[derive(Debug, Serialize)]
pub(crate) struct Causes {
    /// The longest in all first.
    causes: Vec<CauseSum>,
    command: String,
}

/// The waits for one cause: they count in full, whenever they started.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
struct CauseSum {
    cause: &'static str,
    count: u64,
    total_ns: i64,
    max_ns: i64,
}

impl ExperimentView<'_> {
    /// The waits that end in a window on the common clock: of all threads, or of those that are one of `rows`
    /// or below one of them. Linear in the spans of the window, which are read part by part.
    pub(crate) fn causes(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        work: &Arc<Work>,
    ) -> Result<Causes> {
        let cluster = self.cluster()?.for_work(work);
        let inside = self.inside(window)?;
        let unix = Window::new(self.unix(inside.start), self.unix(inside.end));
        // By the index of the host in the cluster.
        let mut threads: BTreeMap<usize, Vec<ThreadRow>> = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            if let Some(place) = cluster.host_named(&host.name) {
                threads.insert(place, self.threads_below(index, rows));
            }
        }
        let is_asked = |who: ThreadRef| {
            threads.get(&who.host).is_some_and(|threads| threads.binary_search(&who.thread).is_ok())
        };
        let mut sums: BTreeMap<Cause, CauseSum> = BTreeMap::new();
        waits(&cluster, unix, is_asked, |wait| {
            let (sum, length) = (sums.entry(wait.cause).or_default(), wait.end - wait.start);
            sum.count += 1;
            sum.total_ns += length;
            sum.max_ns = sum.max_ns.max(length);
        })?;
        let named = |(cause, sum): (Cause, CauseSum)| CauseSum { cause: cause.name(), ..sum };
        let mut causes: Vec<CauseSum> = sums.into_iter().map(named).collect();
        causes.sort_by_key(|sum| (Reverse(sum.total_ns), sum.cause));
        let command = match rows {
            None => self.command_of("blocking --table causes --limit 0", Some(window)),
            Some(_) => String::new(),
        };
        Ok(Causes { causes, command })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ask_example;

    /// All waits are those of `blocking`; those of each host add up to them.
    #[test]
    fn causes_are_those_of_blocking() {
        ask_example(|view| {
            let work = Arc::<Work>::default();
            let middle = view.extent.start.saturating_add((view.extent.end - view.extent.start) / 3);
            for window in [view.extent, Window::new(middle, middle.saturating_add(2_000_000_000))] {
                let all = view.causes(None, window, &work)?;
                let asked = Some(window).filter(|it| *it != view.extent);
                let report = view.tables("blocking", asked, 5000, &work)?;
                let table =
                    report["tables"].as_array().unwrap().iter().find(|it| it["name"] == "causes").unwrap();
                let mut expect: BTreeMap<String, (u64, i64, i64)> = BTreeMap::new();
                for row in table["rows"].as_array().unwrap() {
                    let sum = expect.entry(row[3].as_str().unwrap().to_owned()).or_default();
                    sum.0 += row[4].as_u64().unwrap();
                    sum.1 += row[5].as_i64().unwrap();
                    sum.2 = sum.2.max(row[6].as_i64().unwrap());
                }
                let of = |causes: &[CauseSum]| -> BTreeMap<String, (u64, i64, i64)> {
                    let sum = |it: &CauseSum| (it.cause.to_owned(), (it.count, it.total_ns, it.max_ns));
                    causes.iter().map(sum).collect()
                };
                assert_eq!(of(&all.causes), expect);
                let mut added: BTreeMap<String, (u64, i64, i64)> = BTreeMap::new();
                for host in 0..view.hosts.len() {
                    let rows = [view.rows.of_host(host).unwrap()];
                    for (cause, (count, total, max)) in of(&view.causes(Some(&rows), window, &work)?.causes) {
                        let sum = added.entry(cause).or_default();
                        *sum = (sum.0 + count, sum.1 + total, sum.2.max(max));
                    }
                }
                assert_eq!(added, expect);
            }
            Ok(())
        });
    }
}
