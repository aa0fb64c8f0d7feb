//! The filter of `isochrone events`: by time, name, thread, process, CPU and condition; `follow` has the
//! threads that are followed.

use std::collections::BTreeSet;

use anyhow::ensure;
use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::schema::{FieldClass, StructClass, shown_name};
use isochrone_ctf::{Event, FieldRef, Packet, Trace};
use isochrone_experiment::TimedTrace;
use isochrone_periods::{Binding, Condition, Field, FieldScope, Fields, PacketFields, Reading};
use isochrone_time::UnixNs;
use isochrone_timing::Times;
use rustc_hash::FxHashMap;
use wildmatch::WildMatch;

use super::follow::{Class, Follower};
use crate::arguments::{EventFilters, HostNumber, Threads};
use crate::event_cpu::EventCpus;
use crate::output::{Console, note};
use crate::render::plain::plain;
use crate::suggest::did_you_mean;

/// The conditions for events. The thread of an event is that of its contexts: the one that ran.
pub(super) struct Filter<'a> {
    arguments: &'a EventFilters,
    times: Times,
    names: Vec<WildMatch>,
    procnames: Vec<WildMatch>,
    /// By trace, stream class and event class: the contexts with the thread of an event.
    contexts: FxHashMap<Class, Contexts>,
    cpus: EventCpus,
    condition: Option<BoundCondition<'a>>,
    follower: Option<Follower>,
    /// Whether nothing is filtered.
    keeps_all: bool,
    met: Met,
}

/// What events had of the threads that were asked for.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // One for each filter.
struct Met {
    is_kept: bool,
    has_tid: bool,
    has_pid: bool,
    has_name: bool,
    has_cpu: bool,
    /// The names of threads of events that were left out because of these.
    names: BTreeSet<String>,
}

/// Number of names of threads that are kept to find near ones.
const MAX_NAMES: usize = 1000;

/// A condition, and the fields that it was bound to.
pub(super) struct BoundCondition<'a> {
    condition: &'a Condition,
    fields: BoundFields,
}

/// Fields of events, found in their classes.
pub(super) struct BoundFields {
    fields: Fields,
    /// By class.
    bindings: FxHashMap<Class, Binding>,
    /// By trace and stream: the last packet, and its context.
    packets: FxHashMap<(usize, usize), (*const Packet, PacketFields)>,
}

/// The contexts of a class that identify the thread of an event.
#[derive(Debug)]
struct Contexts {
    tid: Option<FieldRef>,
    pid: Option<FieldRef>,
    procname: Option<FieldRef>,
}

/// Names of contexts: of the kernel's tracer, then of programs'.
const TID: [&str; 2] = ["tid", "vtid"];
const PID: [&str; 2] = ["pid", "vpid"];
const PROCNAME: [&str; 1] = ["procname"];

impl<'a> Filter<'a> {
    /// The filter of some arguments.
    ///
    /// # Errors
    /// No trace has what they refer to.
    pub(super) fn new(
        arguments: &'a EventFilters,
        follow: &[i32],
        times: Times,
        sources: &[TimedTrace<'_>],
    ) -> anyhow::Result<Self> {
        let requested = [
            ("--tid", !arguments.of.tids.is_empty(), &TID[..]),
            ("--pid", !arguments.of.pids.is_empty(), &PID[..]),
            ("--procname", !arguments.of.procnames.is_empty(), &PROCNAME[..]),
        ];
        for (option, _, names) in requested.into_iter().filter(|(_, is_requested, _)| *is_requested) {
            let has =
                |plan: &StreamPlan| plan.events.iter().any(|class| context(class, plan, names).is_some());
            ensure!(
                plans(sources.iter().map(TimedTrace::trace)).any(has),
                "{option}: no event has the context `{name}`; before the next recording, type: lttng add-context --kernel --type {name}",
                name = names[0]
            );
        }
        let condition = arguments.condition.as_ref();
        let condition =
            condition.map(|condition| BoundCondition::new("--where", condition, sources)).transpose()?;
        let EventFilters { of: Threads { tids, pids, procnames, .. }, names, cpus, .. } = arguments;
        let keeps_all = times == Times { at: times.at, ..Times::default() }
            && [names, procnames].iter().all(|it| it.is_empty())
            && [tids, pids].iter().all(|it| it.is_empty())
            && (cpus.is_empty() && follow.is_empty() && condition.is_none());
        let patterns = |names: &[String]| names.iter().map(|name| WildMatch::new(name)).collect();
        Ok(Self {
            arguments,
            times,
            names: patterns(names),
            procnames: patterns(procnames),
            contexts: FxHashMap::default(),
            cpus: EventCpus::default(),
            condition,
            follower: (!follow.is_empty()).then(|| Follower::new(follow)),
            keeps_all,
            met: Met::default(),
        })
    }

    /// Whether only some threads or processes were asked for.
    pub(super) fn has_threads(&self) -> bool {
        let Threads { tids, pids, procnames } = &self.arguments.of;
        !(tids.is_empty() && pids.is_empty() && procnames.is_empty())
    }

    /// Notes that no event was of the threads that were asked for, where that is why none was kept.
    pub(super) fn note_unmatched(&self, console: &Console) {
        let Threads { tids, pids, procnames } = &self.arguments.of;
        let Met { is_kept, has_tid, has_pid, has_name, has_cpu, names } = &self.met;
        if *is_kept {
            return;
        }
        let list = |all: &[HostNumber]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if !tids.is_empty() && !has_tid {
            note!(console, "no event that was looked at is of a thread {}", plain(&list(tids)));
        } else if !pids.is_empty() && !has_pid {
            note!(console, "no event that was looked at is of a process {}", plain(&list(pids)));
        } else if !procnames.is_empty() && !has_name {
            for wanted in procnames {
                let near = did_you_mean(wanted, names.iter().map(String::as_str));
                let wanted = plain(wanted);
                note!(
                    console,
                    "no event that was looked at is of a thread called `{wanted}`{}",
                    plain(&near)
                );
            }
        } else if !self.arguments.cpus.is_empty() && !has_cpu {
            note!(console, "no event that was looked at is of one of the CPUs of --cpu");
        } else if self.condition.is_some() {
            note!(console, "--where holds for no event that was looked at");
        }
    }

    /// Whether an event of a trace is shown.
    #[inline]
    pub(super) fn keeps(&mut self, source: usize, host: &str, at: Option<UnixNs>, event: &Event<'_>) -> bool {
        if self.keeps_all {
            return true;
        }
        let is_kept = self.is_selected(source, host, at, event);
        self.met.is_kept |= is_kept;
        is_kept
    }

    fn is_selected(&mut self, source: usize, host: &str, at: Option<UnixNs>, event: &Event<'_>) -> bool {
        let stream_class = event.trace().streams()[event.stream()].class;
        let key = (source, stream_class, event.class().index);
        if let Some(follower) = &mut self.follower {
            let cpu = self.cpus.of(source, event);
            // Also of events before the window, which may create threads that are followed.
            if !follower.is_followed(key, host, cpu, event) {
                return false;
            }
        }
        let Times { start, end, .. } = self.times;
        let in_time = match at {
            Some(time) => start.is_none_or(|start| time >= start) && end.is_none_or(|end| time < end),
            None => start.is_none() && end.is_none(),
        };
        if !in_time {
            return false;
        }
        let name = event.name().unwrap_or_default();
        if !self.names.is_empty() && !self.names.iter().any(|pattern| pattern.matches(name)) {
            return false;
        }
        let EventFilters { of: Threads { tids, pids, .. }, cpus, .. } = self.arguments;
        let is_free = tids.is_empty() && pids.is_empty() && cpus.is_empty() && self.procnames.is_empty();
        if is_free && self.condition.is_none() {
            return true;
        }
        let contexts = self.contexts.entry(key).or_insert_with(|| Contexts::of(event));
        let number = |field: &Option<FieldRef>| event.signed(field.as_ref()?);
        let is_one = |wanted: &[HostNumber], field: &Option<FieldRef>| {
            wanted.is_empty()
                || number(field).is_some_and(|found| wanted.iter().any(|one| one.is(host, found)))
        };
        if !is_one(tids, &contexts.tid) {
            return false;
        }
        self.met.has_tid = true;
        if !is_one(pids, &contexts.pid) {
            return false;
        }
        self.met.has_pid = true;
        if !self.procnames.is_empty() {
            let text = contexts.procname.as_ref().and_then(|field| event.text(field));
            let Some(text) = text.map(String::from_utf8_lossy) else { return false };
            if !self.procnames.iter().any(|pattern| pattern.matches(&text)) {
                let names = &mut self.met.names;
                if names.len() < MAX_NAMES && !names.contains(&*text) {
                    names.insert(text.into_owned());
                }
                return false;
            }
        }
        self.met.has_name = true;
        if cpus.is_empty() && self.condition.is_none() {
            return true;
        }
        let cpu = self.cpus.of(source, event);
        if !cpus.is_empty() && !cpu.is_some_and(|cpu| cpus.iter().any(|range| range.contains(&cpu))) {
            return false;
        }
        self.met.has_cpu = true;
        self.condition.as_mut().is_none_or(|condition| condition.holds(source, host, cpu, event))
    }
}

impl<'a> BoundCondition<'a> {
    /// A condition that was given as `option`.
    ///
    /// # Errors
    /// No event of the traces has a field that it names.
    pub(super) fn new(
        option: &str,
        condition: &'a Condition,
        sources: &[TimedTrace<'_>],
    ) -> anyhow::Result<Self> {
        Ok(Self { condition, fields: BoundFields::new(option, condition.fields().clone(), sources)? })
    }

    /// Whether it holds for an event of a trace.
    pub(super) fn holds(&mut self, source: usize, host: &str, cpu: Option<u32>, event: &Event<'_>) -> bool {
        self.fields.with(source, host, cpu, event, |binding, from| self.condition.holds(binding, from))
    }
}

impl BoundFields {
    /// Fields that were given as `option`.
    ///
    /// # Errors
    /// No event of the traces has one of them.
    pub(super) fn new(option: &str, fields: Fields, sources: &[TimedTrace<'_>]) -> anyhow::Result<Self> {
        let traces: Vec<&Trace> = sources.iter().map(TimedTrace::trace).collect();
        check_fields(option, &fields, &traces)?;
        Ok(Self { fields, bindings: FxHashMap::default(), packets: FxHashMap::default() })
    }

    /// What `read` makes of an event of a trace.
    pub(super) fn with<R>(
        &mut self,
        source: usize,
        host: &str,
        cpu: Option<u32>,
        event: &Event<'_>,
        read: impl FnOnce(&Binding, Reading<'_, '_>) -> R,
    ) -> R {
        let stream_class = event.trace().streams()[event.stream()].class;
        let bound = || Binding::new(&self.fields, event.class(), event.stream_plan(), host);
        let binding = self.bindings.entry((source, stream_class, event.class().index)).or_insert_with(bound);
        let packet = event.packet();
        let unread = || (std::ptr::null(), PacketFields::default());
        let (last, fields) = self.packets.entry((source, event.stream())).or_insert_with(unread);
        if !std::ptr::eq(*last, packet) {
            (*last, *fields) = (packet, PacketFields::of(event.trace(), event.stream(), packet));
        }
        read(binding, Reading { event, cpu, packet: fields })
    }
}

/// The plans of all streams.
fn plans<'p>(traces: impl IntoIterator<Item = &'p Trace>) -> impl Iterator<Item = &'p StreamPlan> {
    traces.into_iter().flat_map(|trace| (0..trace.streams().len()).map(|stream| trace.stream_plan(stream)))
}

/// Variables of conditions that are not fields.
const VARIABLES: [&str; 3] = ["$host", "$event", "$cpu"];

/// Checks that some trace has each of some fields.
pub(super) fn check_fields(option: &str, fields: &Fields, traces: &[&Trace]) -> anyhow::Result<()> {
    for field in fields.iter() {
        let Field::Named(scope, name) = field else { continue };
        if plans(traces.iter().copied())
            .any(|plan| plan.events.iter().any(|class| Binding::has(field, class, plan)))
        {
            continue;
        }
        let fields = names_of_fields(*scope, traces);
        let known = VARIABLES.into_iter().chain(fields.iter().map(String::as_str));
        let similar = did_you_mean(name, known);
        anyhow::bail!("{option}: no event has a field `{}`{}", plain(&field.to_string()), plain(&similar));
    }
    Ok(())
}

/// The names of all fields where one is looked for, with points between those of structures.
fn names_of_fields(scope: FieldScope, traces: &[&Trace]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |whole: Option<&StructClass>| {
        if let Some(fields) = whole {
            add_members(fields, "", &mut names);
        }
    };
    let is_in = |one: FieldScope| scope == FieldScope::Any || scope == one;
    for stream in traces.iter().flat_map(|trace| &trace.schema().streams) {
        add(stream.packet_context.as_ref().filter(|_| is_in(FieldScope::PacketContext)));
        let is_of_stream = is_in(FieldScope::StreamContext) || scope == FieldScope::Context;
        add(stream.common_context.as_ref().filter(|_| is_of_stream));
        for event in &stream.events {
            add(event.specific_context.as_ref().filter(|_| is_in(FieldScope::Context)));
            add(event.payload.as_ref().filter(|_| is_in(FieldScope::Payload)));
        }
    }
    names
}

fn add_members(fields: &StructClass, before: &str, names: &mut BTreeSet<String>) {
    for member in &fields.members {
        add_field(&member.class, format!("{before}{}", shown_name(&member.name)), names);
    }
}

fn add_field(class: &FieldClass, name: String, names: &mut BTreeSet<String>) {
    match class {
        FieldClass::Struct(fields) => add_members(fields, &format!("{name}."), names),
        FieldClass::Variant(variant) => {
            for option in &variant.options {
                add_field(&option.class, format!("{name}.{}", shown_name(&option.name)), names);
            }
        }
        FieldClass::Optional(optional) => add_field(&optional.class, name, names),
        _ => {
            names.insert(name);
        }
    }
}

impl Contexts {
    fn of(event: &Event<'_>) -> Self {
        let find = |names: &[&str]| context(event.class(), event.stream_plan(), names);
        Self { tid: find(&TID), pid: find(&PID), procname: find(&PROCNAME) }
    }
}

/// A context of a class, by the first of its names that exists.
fn context(class: &EventPlan, stream: &StreamPlan, names: &[&str]) -> Option<FieldRef> {
    names.iter().find_map(|name| class.context_field(stream, name))
}
