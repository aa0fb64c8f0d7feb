//! The set of analyses that one pass over a host's trace computes, and the reports that come of all hosts'
//! sets.

use std::borrow::Borrow;

use isochrone_kernel::{Spans, ThreadAliases, span_kinds};
use isochrone_time::{RawNs, UnixNs, Window};
use serde::{Deserialize, Serialize};

use crate::analysis::HostResult;
use crate::figures::intervals::Intervals;
use crate::figures::stats::duration;
use crate::host::HostContext;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::report::{Report, VERSION};
use crate::output::table::Table;
use crate::registry::{Accumulator, AnalysisKind};
use crate::snapshot::SnapshotBuilder;
use crate::span_filter::SpanFilter;
use crate::steps::Steps;
use crate::window::When;

/// The analyses of one pass over a host, with their results.
#[derive(Debug, Serialize, Deserialize)]
pub struct AnalysisSet {
    span_filter: SpanFilter,
    /// Which, each once, in the order in which they were requested.
    kinds: Vec<AnalysisKind>,
    /// Spans that pass the filter go to these.
    analyses: Vec<Accumulator>,
    /// All spans go to these: they show the state at an instant.
    at_instant: Vec<Accumulator>,
    /// And to this one, where any of them shows what threads and CPUs did then: it is the same for all.
    instant: Option<SnapshotBuilder>,
    /// Whether any of the analyses consumes descriptors.
    wants_files: bool,
}

impl AnalysisSet {
    /// A set without spans so far. All pieces of a host's trace need the same kinds, options and times. A
    /// kind that is named twice is there once.
    pub fn new(kinds: &[AnalysisKind], options: &Options, when: When) -> Self {
        let kinds = each_once(kinds.iter().copied());
        let (at_instant, analyses) = kinds
            .iter()
            .map(|&kind| Accumulator::new(kind, options, when))
            .partition(|all| when.at.is_some() && all.kind().answers_instant());
        let instant =
            when.at.filter(|_| kinds.iter().any(|kind| kind.shows_snapshot())).map(SnapshotBuilder::new);
        let span_filter = SpanFilter::new(options, when.window);
        let wants_files = kinds.iter().any(|kind| kind.wants_files());
        Self { span_filter, kinds, analyses, at_instant, instant, wants_files }
    }

    /// Cuts the time of the host into steps, for the analyses that show something over time.
    pub fn set_steps(&mut self, steps: &Steps) {
        self.analyses.iter_mut().chain(&mut self.at_instant).for_each(|all| all.set_steps(steps));
    }

    /// The set restricted to some times, within those that were requested.
    #[must_use]
    pub fn within(mut self, within: Intervals) -> Self {
        self.span_filter.within = Some(within);
        self
    }

    /// Which analyses, in the order in which they were requested.
    pub fn kinds(&self) -> impl Iterator<Item = AnalysisKind> + '_ {
        self.kinds.iter().copied()
    }

    fn all(&self) -> impl Iterator<Item = &Accumulator> {
        self.analyses.iter().chain(&self.at_instant)
    }

    /// Whether two sets answer the same question, so that they may be merged. To be checked of what was read
    /// from a file.
    pub fn is_like(&self, other: &Self) -> bool {
        self.span_filter == other.span_filter && self.kinds().eq(other.kinds())
    }

    /// The result of one of the analyses.
    pub fn get(&self, kind: AnalysisKind) -> Option<&Accumulator> {
        self.all().find(|all| all.kind() == kind)
    }

    /// The result of one of the analyses, of a host.
    fn result<'h>(
        &'h self,
        kind: AnalysisKind,
        host: &'h dyn HostContext,
    ) -> Option<HostResult<'h, Accumulator>> {
        let window = self.window(host);
        let asked_ns = match &self.span_filter.within {
            Some(within) => within.parts(window).collect::<Intervals>().total(),
            None => duration(window.start, window.end),
        };
        Some(HostResult { host, of: self.get(kind)?, window, asked_ns, instant: self.instant.as_ref() })
    }

    /// Whether something of a host was traced in the window that was requested, or an instant was.
    fn is_about(&self, host: &dyn HostContext) -> bool {
        let asked = self.span_filter.window;
        let is_near = |traced: Window<RawNs>| traced.start < asked.end && asked.start <= traced.end;
        !self.at_instant.is_empty() || asked == Window::ALL || host.window().is_some_and(is_near)
    }

    /// Where the window that was requested and the events of a host overlap.
    pub fn window(&self, host: &dyn HostContext) -> Window<RawNs> {
        let Window { start, end } = self.span_filter.window.clip(host.window().unwrap_or_default());
        Window::new(start, end.max(start))
    }
}

macro_rules! filter_spans {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for AnalysisSet {
            $(
                #[inline]
                fn $method(&mut self, it: &$Type) {
                    self.at_instant.iter_mut().for_each(|all| all.$method(it));
                    self.instant.iter_mut().for_each(|instant| instant.$method(it));
                    self.span_filter.$method(it).into_iter().for_each(|it| {
                        self.analyses.iter_mut().for_each(|all| all.$method(it.borrow()));
                    });
                }
            )*

            #[inline]
            fn wants_files(&self) -> bool {
                self.wants_files
            }

            fn wants_threads(&self) -> bool {
                self.kinds.iter().any(|kind| kind.accepts(OptionKind::Threads))
            }

            fn rename(&mut self, aliases: &ThreadAliases) {
                if !aliases.is_empty() {
                    self.analyses.iter_mut().chain(&mut self.at_instant).for_each(|all| all.rename(aliases));
                    self.instant.iter_mut().for_each(|instant| instant.rename(aliases));
                }
            }

            fn absorb(&mut self, right: Self) {
                debug_assert!(self.is_like(&right));
                if let (Some(left), Some(right)) = (&mut self.instant, right.instant) {
                    left.absorb(right);
                }
                for right in right.analyses.into_iter().chain(right.at_instant) {
                    let mut all = self.analyses.iter_mut().chain(&mut self.at_instant);
                    if let Some(left) = all.find(|left| left.kind() == right.kind()) {
                        left.absorb(right);
                    }
                }
            }
        }
    };
}

span_kinds!(filter_spans);

/// Each kind where it comes first.
fn each_once(kinds: impl Iterator<Item = AnalysisKind>) -> Vec<AnalysisKind> {
    let mut once = Vec::new();
    for kind in kinds {
        if !once.contains(&kind) {
            once.push(kind);
        }
    }
    once
}

/// What all hosts' sets come to: a report for each analysis, to be made one by one, on any thread.
pub struct Answers<'h> {
    hosts: Vec<(&'h dyn HostContext, &'h AnalysisSet)>,
    /// That hosts are left out.
    notes: Vec<Note>,
    kinds: Vec<AnalysisKind>,
    options: &'h Options,
    sync: bool,
    range: Option<[UnixNs; 2]>,
}

impl<'h> Answers<'h> {
    /// Of all analyses that were requested, in the order in which they were, over all hosts that the filter
    /// keeps, in the order of their names; those that were not traced in the requested window are left out,
    /// with a note. `sync`: whether the hosts' times are on one clock: then logs are in the order of time,
    /// else by host.
    pub fn new(hosts: &[(&'h dyn HostContext, &'h AnalysisSet)], options: &'h Options, sync: bool) -> Self {
        let mut hosts: Vec<_> =
            hosts.iter().copied().filter(|(host, _)| options.filter.keeps_host(host.name())).collect();
        hosts.sort_by(|a, b| a.0.name().cmp(b.0.name()));
        let kinds = each_once(hosts.iter().flat_map(|(_, set)| set.kinds()));
        let (hosts, others): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|(host, set)| set.is_about(*host));
        let note = |host: &dyn HostContext| {
            Note::default()
                .text(&format!("{}: nothing was traced in the time that was asked for", host.name()))
        };
        let notes = others.into_iter().map(|(host, _)| note(host)).collect();
        let range = hosts
            .iter()
            .filter(|(host, _)| host.window().is_some())
            .map(|&(host, set)| {
                let Window { start, end } = set.window(host);
                [host.unix(start), host.unix(end)]
            })
            .reduce(|all, one| [all[0].min(one[0]), all[1].max(one[1])]);
        Self { hosts, notes, kinds, options, sync, range }
    }

    /// Which analyses: there is a report for each.
    pub fn kinds(&self) -> &[AnalysisKind] {
        &self.kinds
    }

    /// The report of one of the analyses.
    pub fn report(&self, kind: AnalysisKind) -> Report {
        let Self { hosts, options, sync, range, .. } = self;
        let results: Vec<_> = hosts.iter().filter_map(|&(host, set)| set.result(kind, host)).collect();
        let (mut tables, mut notes) = kind.tables(&results, options);
        notes.extend(self.notes.iter().cloned());
        // The log of one host is in the order of its time already.
        if *sync && hosts.len() > 1 {
            tables.iter_mut().for_each(Table::sort_by_time);
        }
        let (sync, range) = (*sync, *range);
        let mut report = Report { analysis: kind.name(), version: VERSION, sync, range, tables, notes };
        report.sort_and_limit(options);
        report
    }
}

/// All reports of [`Answers`], in their order.
pub fn reports(hosts: &[(&dyn HostContext, &AnalysisSet)], options: &Options, sync: bool) -> Vec<Report> {
    let answers = Answers::new(hosts, options, sync);
    answers.kinds().iter().map(|&kind| answers.report(kind)).collect()
}

/// The reports of analyses that heard of no host: their tables have all columns and no rows.
pub fn empty_reports(kinds: &[AnalysisKind], options: &Options) -> Vec<Report> {
    let report = |kind: AnalysisKind| {
        let (tables, notes) = kind.tables(&[], options);
        Report { analysis: kind.name(), version: VERSION, sync: false, range: None, tables, notes }
    };
    each_once(kinds.iter().copied()).into_iter().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::testing::{Simple, call, file, idle, slice, thread, window};

    fn set(kinds: &[AnalysisKind], options: &Options, when: When) -> AnalysisSet {
        let mut set = AnalysisSet::new(kinds, options, when);
        for span in
            [slice(0, thread(1), 0, 60), slice(0, idle(0), 60, 100), call(thread(1), "read", 10, 30, -2)]
        {
            span.emit(&mut set);
        }
        set
    }

    #[test]
    fn as_json() {
        let options = Options::default();
        let host = Simple::new("h");
        let reports =
            reports(&[(&host, &set(&[AnalysisKind::CpuTop], &options, When::default()))], &options, true);
        let json = r#"{"analysis":"cputop","version":1,"sync":true,"range":[1000,1100],"tables":[{"name":"processes",
            "columns":[{"name":"host","unit":"none"},{"name":"pid","unit":"none"},{"name":"tid","unit":"none"},
            {"name":"comm","unit":"none"},{"name":"cpu_ns","unit":"ns"},{"name":"unknown_ns","unit":"ns"},
            {"name":"migrations","unit":"count"},{"name":"percent","unit":"percent"},
            {"name":"priorities","unit":"none"}],"rows":[["h",1,1,"init",60,0,0,60.0,"20"]]}"#;
        let text = serde_json::to_string(&reports[0]).unwrap();
        assert!(text.starts_with(&json.replace("\n            ", "")), "{text}");
        assert!(text.ends_with(r#","notes":[]}"#), "{text}");
        // No host, no reports.
        let nothing = super::reports(&[], &options, true);
        assert_eq!(nothing, []);
    }

    #[test]
    fn hosts_in_order_and_as_asked_for() {
        let kinds = [AnalysisKind::SyscallStats, AnalysisKind::CpuTop, AnalysisKind::SyscallStats];
        let options = Options::default();
        let (whole, part) = (When::default(), When { window: window(50, i64::MAX), at: None });
        let (a, b) = (set(&kinds, &options, whole), set(&kinds, &options, part));
        assert!(!a.is_like(&b));
        let (alpha, beta) = (Simple::new("alpha"), Simple::new("beta"));
        let hosts: [(&dyn HostContext, &AnalysisSet); 2] = [(&beta, &b), (&alpha, &a)];
        let check = |names: &[&str], range: [i128; 2], expect: &[&str]| {
            let filter =
                Filter { hosts: names.iter().map(ToString::to_string).collect(), ..Filter::default() };
            let reports = reports(&hosts, &Options { filter, ..Options::default() }, true);
            assert_eq!(
                reports.iter().map(|report| report.analysis).collect::<Vec<_>>(),
                ["syscallstats", "cputop"]
            );
            assert_eq!(reports[0].range, Some(range.map(UnixNs)));
            let rows = &reports[1].table("cpus").unwrap().rows;
            let rows: Vec<String> = rows.iter().map(|row| format!("{:?} {:?}", row[0], row[2])).collect();
            assert_eq!(rows, expect, "{names:?}");
        };
        let text = ["Text(\"alpha\") Int(60)", "Text(\"beta\") Int(10)"];
        check(&[], [1000, 1100], &text);
        check(&["beta"], [1050, 1100], &text[1..]);
    }

    /// An analysis that collects descriptors and does not say so would never get any.
    #[test]
    fn descriptors_are_wanted_by_those_that_collect_them() {
        let (options, when) = (Options::default(), When::default());
        let bytes = |set: &AnalysisSet| postcard::to_stdvec(set).unwrap();
        let mut collect = Vec::new();
        for &kind in AnalysisKind::ALL {
            let mut set = AnalysisSet::new(&[kind], &options, when);
            let before = bytes(&set);
            set.file(&file(thread(1), 3, "/etc/passwd", 10, 30));
            if bytes(&set) != before {
                assert!(set.wants_files(), "{}", kind.name());
                collect.push(kind.name());
            }
        }
        assert!(collect.contains(&"fds"), "{collect:?}");
        assert!(!AnalysisSet::new(&[AnalysisKind::IrqStats], &options, when).wants_files());
    }

    #[test]
    fn an_instant_concerns_those_that_can_show_it() {
        let when = When { window: window(50, i64::MAX), at: Some(RawNs(20)) };
        let options = Options::default();
        let host = Simple::new("h");
        let set = set(&[AnalysisKind::Syscalls, AnalysisKind::CpuTop], &options, when);
        let reports = reports(&[(&host, &set)], &options, false);
        assert_eq!(reports[0].table("syscalls").unwrap().rows.len(), 1);
        assert_eq!(reports[1].table("cpus").unwrap().rows.get(0).unwrap()[2], 10u64.into());
    }
}
