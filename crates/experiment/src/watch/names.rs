//! What people call the hosts that are watched. A machine that was started again has another clock, and is another host of the same name: they
//! are numbered, the earlier boot first.

use std::collections::BTreeMap;

use isochrone_hosts::clocks::disambiguate;

use super::{HostWatch, Watch};

impl Watch<'_> {
    /// The names of all hosts, by their ids.
    pub(super) fn names(&self) -> BTreeMap<&str, String> {
        let named = |(id, host): (&'_ String, &HostWatch)| (host.name(id).to_owned(), host.offset_ns());
        let all = self.hosts.iter().map(|(id, host)| (named((id, host)), id.as_str()));
        let mut hosts: Vec<((String, i64), &str)> = all.collect();
        hosts.sort_unstable();
        disambiguate(&mut hosts, |((name, _), _)| name);
        hosts.into_iter().map(|((name, _), id)| (id, name)).collect()
    }
}

/// A number that follows from names, as 16 hexadecimal digits: it distinguishes what else has one name.
pub(super) fn digest(names: &[String]) -> String {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for byte in names.iter().flat_map(|name| name.bytes().chain([0])) {
        digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{digest:016x}")
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
