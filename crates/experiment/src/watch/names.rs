//! What people call the hosts that are watched. A machine that was started again has another clock, and is another host of the same name: they
//! are numbered as [`isochrone_hosts::clocks::tell_apart`] numbers them, the earlier boot first.

use std::collections::BTreeMap;

use super::{HostWatch, Watch};

impl Watch<'_> {
    /// The names of all hosts, by their ids.
    pub(super) fn names(&self) -> BTreeMap<&str, String> {
        let mut hosts: Vec<(&str, i64, &str)> =
            self.hosts.iter().map(|(id, host)| (host.name(id), host.offset_ns(), id.as_str())).collect();
        hosts.sort_unstable();
        let mut names = BTreeMap::new();
        let mut before: Option<(&str, usize)> = None;
        for (name, _, id) in hosts {
            let count = before.filter(|(other, _)| *other == name).map_or(0, |(_, count)| count) + 1;
            before = Some((name, count));
            names.insert(id, if count == 1 { name.to_owned() } else { format!("{name}#{count}") });
        }
        names
    }
}

impl HostWatch {
    /// What it calls itself; its id, where nothing is known of it yet.
    pub(super) fn name<'h>(&'h self, id: &'h str) -> &'h str {
        let waiting = || self.waiting.first().map_or(id, |it| &it.name);
        self.facts.as_ref().map_or_else(waiting, |facts| &facts.name)
    }

    /// Unix time of its clock's zero, ns.
    pub(super) fn offset_ns(&self) -> i64 {
        let of_facts = self.facts.as_ref().map(|facts| facts.offset_ns);
        of_facts.or(self.waiting.first().map(|it| it.offset_ns)).unwrap_or_default()
    }
}
