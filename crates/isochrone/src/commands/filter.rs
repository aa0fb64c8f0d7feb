//! Which events `isochrone events` shows: by time, name, thread, process and CPU.

use std::collections::BTreeSet;

use anyhow::ensure;
use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, FieldRef, Packet};
use isochrone_experiment::{TimedTrace, Times};
use isochrone_kernel::cpu_of;
use rustc_hash::FxHashMap;
use wildmatch::WildMatch;

use super::condition::{Condition, Value};
use crate::arguments::Events;
use crate::near::did_you_mean;
use crate::render::plain::plain;

/// What is asked of events. Who they are of is what their contexts say: the thread that ran.
pub(super) struct Filter<'a> {
    arguments: &'a Events,
    times: Times,
    names: Vec<WildMatch>,
    procnames: Vec<WildMatch>,
    /// By trace, stream class and event class: where an event says who it is of.
    contexts: FxHashMap<(usize, usize, usize), Contexts>,
    /// By trace and stream: the last packet, and the CPU that it is of.
    cpus: FxHashMap<(usize, usize), (*const Packet, Option<u32>)>,
}

/// Where the events of a class say who they are of.
#[derive(Debug, Default)]
struct Contexts {
    tid: Option<FieldRef>,
    pid: Option<FieldRef>,
    procname: Option<FieldRef>,
    cpu: Option<FieldRef>,
    /// The fields that a condition names.
    named: Vec<(String, Option<FieldRef>)>,
}

/// Names of contexts: of the kernel's tracer, then of programs'.
const TID: [&str; 2] = ["tid", "vtid"];
const PID: [&str; 2] = ["pid", "vpid"];
const PROCNAME: [&str; 1] = ["procname"];

impl<'a> Filter<'a> {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// No trace says what is asked for: nothing would be found.
    pub(super) fn new(
        arguments: &'a Events,
        times: Times,
        sources: &[TimedTrace<'_>],
    ) -> anyhow::Result<Self> {
        let asked = [
            ("--tid", !arguments.tids.is_empty(), &TID[..]),
            ("--pid", !arguments.pids.is_empty(), &PID[..]),
            ("--procname", !arguments.procnames.is_empty(), &PROCNAME[..]),
        ];
        for (option, _, names) in asked.into_iter().filter(|(_, is_asked, _)| *is_asked) {
            let has = |source: &TimedTrace<'_>| {
                let trace = source.trace();
                let plans = (0..trace.streams().len()).map(|stream| trace.stream_plan(stream));
                plans
                    .into_iter()
                    .any(|plan| plan.events.iter().any(|class| context(class, plan, names).is_some()))
            };
            ensure!(
                sources.iter().any(has),
                "{option}: no event says `{name}`; before the next recording, type: lttng add-context --kernel --type {name}",
                name = names[0]
            );
        }
        if let Some(condition) = &arguments.condition {
            check_names(condition, sources)?;
        }
        let patterns = |names: &[String]| names.iter().map(|name| WildMatch::new(name)).collect();
        Ok(Self {
            arguments,
            times,
            names: patterns(&arguments.names),
            procnames: patterns(&arguments.procnames),
            contexts: FxHashMap::default(),
            cpus: FxHashMap::default(),
        })
    }

    /// Whether an event of a trace is shown.
    pub(super) fn keeps(
        &mut self,
        (source, host): (usize, &str),
        unix_ns: Option<i128>,
        event: &Event<'_>,
    ) -> bool {
        let Times { begin, end, .. } = self.times;
        let in_time = match unix_ns {
            Some(time) => begin.is_none_or(|begin| time >= begin) && end.is_none_or(|end| time < end),
            None => begin.is_none() && end.is_none(),
        };
        if !in_time {
            return false;
        }
        let name = event.name().unwrap_or_default();
        if !self.names.is_empty() && !self.names.iter().any(|pattern| pattern.matches(name)) {
            return false;
        }
        let Events { tids, pids, cpus, .. } = self.arguments;
        let is_free = tids.is_empty() && pids.is_empty() && cpus.is_empty() && self.procnames.is_empty();
        if is_free && self.arguments.condition.is_none() {
            return true;
        }
        let stream_class = event.trace().streams()[event.stream()].class;
        let key = (source, stream_class, event.class().index);
        let contexts = self
            .contexts
            .entry(key)
            .or_insert_with(|| Contexts::of(event, self.arguments.condition.as_ref()));
        let number = |field: &Option<FieldRef>| event.signed(field.as_ref()?);
        let is_one = |asked: &[i32], field: &Option<FieldRef>| {
            asked.is_empty()
                || number(field).is_some_and(|found| asked.iter().any(|&one| i64::from(one) == found))
        };
        let is_named = || {
            let text = contexts.procname.as_ref().and_then(|field| event.text(field));
            let text = text.map(String::from_utf8_lossy);
            text.is_some_and(|text| self.procnames.iter().any(|pattern| pattern.matches(&text)))
        };
        if !is_one(tids, &contexts.tid)
            || !is_one(pids, &contexts.pid)
            || !(self.procnames.is_empty() || is_named())
        {
            return false;
        }
        let condition = self.arguments.condition.as_ref();
        if cpus.is_empty() && condition.is_none() {
            return true;
        }
        let own = contexts.cpu.as_ref().and_then(|field| event.unsigned(field)).map(|cpu| cpu as u32);
        let packet = event.packet();
        let of_packet = self.cpus.entry((source, event.stream())).or_insert((std::ptr::null(), None));
        if !std::ptr::eq(of_packet.0, packet) {
            *of_packet = (packet, cpu_of(event.trace(), event.stream(), packet));
        }
        let cpu = of_packet.1.or(own);
        if !cpus.is_empty() && !cpu.is_some_and(|cpu| cpus.iter().any(|range| range.contains(&cpu))) {
            return false;
        }
        condition.is_none_or(|condition| {
            condition.holds(&mut |name| match name {
                "$host" => Some(Value::Text(host.to_owned())),
                "$event" => Some(Value::Text(event.name().unwrap_or_default().to_owned())),
                "$cpu" => cpu.map(|cpu| Value::Number(cpu.into())),
                _ => value(event, contexts.named.iter().find(|(known, _)| known == name)?.1.as_ref()?),
            })
        })
    }
}

/// An integer or a text of an event.
fn value(event: &Event<'_>, field: &FieldRef) -> Option<Value> {
    let number = event.signed(field).map(i128::from).or_else(|| event.unsigned(field).map(i128::from));
    let text = || Some(Value::Text(String::from_utf8_lossy(event.text(field)?).into_owned()));
    number.map(Value::Number).or_else(text)
}

/// Names that conditions have for what is no field.
const VARIABLES: [&str; 3] = ["$host", "$event", "$cpu"];

/// Checks that each name of a condition is one of a field.
fn check_names(condition: &Condition, sources: &[TimedTrace<'_>]) -> anyhow::Result<()> {
    for name in condition.names().into_iter().filter(|name| !VARIABLES.contains(name)) {
        let mut known = BTreeSet::from(VARIABLES.map(str::to_owned));
        let mut is_known = false;
        for trace in sources.iter().map(TimedTrace::trace) {
            for plan in (0..trace.streams().len()).map(|stream| trace.stream_plan(stream)) {
                is_known |= plan.events.iter().any(|class| field(class, plan, name).is_some());
            }
            for class in trace.schema().streams.iter().flat_map(|stream| &stream.events) {
                if let Some(payload) = &class.payload {
                    known.extend(payload.members.iter().map(|member| shown(&member.name)));
                }
            }
        }
        let near = did_you_mean(name, known.iter().map(String::as_str));
        ensure!(is_known, "--where: no event has a field `{}`{}", plain(name), plain(&near));
    }
    Ok(())
}

/// The name of a field as it is shown: LTTng puts an underscore before those that programs chose.
fn shown(name: &str) -> String {
    name.strip_prefix('_').unwrap_or(name).to_owned()
}

/// A field of a class: of the payload, else of a context.
fn field(class: &EventPlan, stream: &StreamPlan, name: &str) -> Option<FieldRef> {
    class.payload_field(stream, &[name]).or_else(|| context(class, stream, &[name]))
}

impl Contexts {
    fn of(event: &Event<'_>, condition: Option<&Condition>) -> Self {
        let (class, stream) = (event.class(), event.stream_plan());
        let find = |names: &[&str]| context(class, stream, names);
        let names = condition.map(Condition::names).unwrap_or_default();
        let named = names.into_iter().map(|name| (name.to_owned(), field(class, stream, name))).collect();
        Self { tid: find(&TID), pid: find(&PID), procname: find(&PROCNAME), cpu: find(&["cpu_id"]), named }
    }
}

/// A context of a class, by the first of its names that there is.
fn context(class: &EventPlan, stream: &StreamPlan, names: &[&str]) -> Option<FieldRef> {
    let field = |name: &&str| {
        let in_scope = |scope| class.field(stream, scope, &[*name]);
        in_scope(Scope::SpecificContext).or_else(|| in_scope(Scope::CommonContext))
    };
    names.iter().find_map(field)
}
