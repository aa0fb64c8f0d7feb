//! Which resource of a host is the bottleneck, in a sentence with its evidence: for the report `bottleneck`.
//!
//! After the USE method: a resource is *saturated* where threads wait for it for a good part of the
//! time (CPUs, queues: and they are not idle for most of it), or where it is busy nearly all of the
//! time. Where none is, it is that which requests spend most of their time on, if that is a good part
//! of it. All shares are of all of the time, so that what is missing only lowers them; that nothing is
//! saturated is said only where what is missing could not change it.

use isochrone_analysis::Need;
use isochrone_store::Cause;

use crate::host::Host;
use crate::request::Request;
use crate::resources::{Frame, Integral, Kind, Measure, Resource, length};

/// A part of the time, in hundredths.
type Percent = u64;

/// Threads wait for a resource that is saturated for at least this part of the time,
const WAITED: Percent = 25;
/// and CPUs and queues are busy for at least this part: what is idle for longer than that has room for more,
/// though what arrives at once waits.
const IN_DEMAND: Percent = 50;
/// One that is busy for at least this part of the time is saturated, too.
const BUSY: Percent = 90;
/// Requests spend at least this part of their time on a resource that is their bottleneck.
const OF_REQUESTS: Percent = 33;

/// Where requests spent their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfRequests {
    /// How many there are.
    pub(crate) count: u64,
    /// The time of all of them, ns.
    pub(crate) total: u64,
    /// That on CPUs of the host or waiting for one.
    cpu: u64,
    /// That waiting for its disks.
    disk: u64,
    /// That waiting for locks there.
    locks: u64,
}

impl OfRequests {
    pub(crate) fn of(requests: &[Request], host: usize) -> Self {
        let mut sums = Self { count: requests.len() as u64, ..Self::default() };
        for request in requests {
            sums.total += u64::try_from(request.duration()).unwrap_or_default();
            for (on, ns) in request.spent.iter().filter(|(on, _)| on.host == host) {
                let sum = match on.cause {
                    Cause::Cpu | Cause::WaitCpu | Cause::Irq | Cause::Softirq => &mut sums.cpu,
                    Cause::Disk => &mut sums.disk,
                    Cause::Lock => &mut sums.locks,
                    _ => continue,
                };
                *sum += u64::try_from(*ns).unwrap_or_default();
            }
        }
        sums
    }

    /// That spent on a kind of resources of the host, ns; `None`: requests do not tell.
    pub(crate) fn spent_on(&self, kind: Kind) -> Option<u64> {
        match kind {
            _ if self.count == 0 => None,
            Kind::Cpu => Some(self.cpu),
            Kind::Disk => Some(self.disk),
            Kind::Locks => Some(self.locks),
            Kind::Network | Kind::Memory => None,
        }
    }
}

/// Requests tell something of a host where any is in progress for at least this part of the time.
const IN_USE: Percent = 10;

/// What is known of a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'s, 'e> {
    pub(crate) host: &'s Host<'e>,
    pub(crate) frame: &'s Frame,
    pub(crate) resources: &'s [Resource],
    pub(crate) requests: &'s OfRequests,
}

/// The bottleneck of a host.
#[derive(Debug)]
pub(crate) struct Verdict<'s> {
    /// The kind of the resource; `None`: there is none, or it is unknown.
    pub(crate) kind: Option<Kind>,
    /// Which one of its kind, where there are several and it is known.
    pub(crate) name: Option<&'s str>,
    /// Why: `saturated`, `requests`, `nothing` (is saturated), `unknown`.
    pub(crate) because: &'static str,
    /// All of it in words, with the evidence: what was measured, and what requests spent on the host.
    pub(crate) sentence: String,
}

/// The time that shares are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Whole,
    /// While requests were in progress.
    InUse,
}

impl Scope {
    fn of(self, integral: &Integral) -> u64 {
        match self {
            Self::Whole => integral.whole,
            Self::InUse => integral.in_use,
        }
    }

    fn length(self, frame: &Frame) -> u64 {
        match self {
            Self::Whole => length(frame.window),
            Self::InUse => frame.in_use.iter().copied().map(length).sum(),
        }
    }
}

/// Whether a part is at least so many hundredths of a whole.
fn is_share(part: u64, whole: u64, percent: Percent) -> bool {
    whole > 0 && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

impl Resource {
    fn is_busy(&self, scope: Scope, frame: &Frame, more: u64, percent: Percent) -> bool {
        let whole = scope.length(frame).saturating_mul(self.units);
        self.busy.known().is_some_and(|busy| is_share(scope.of(busy) + more, whole, percent))
    }

    fn is_waited_for(&self, scope: Scope, frame: &Frame, more: u64) -> bool {
        let waited = self.waited.known();
        waited.is_some_and(|waited| is_share(scope.of(waited) + more, scope.length(frame), WAITED))
    }

    fn is_saturated(&self, scope: Scope, frame: &Frame) -> bool {
        self.is_saturated_with(scope, frame, 0, 0)
    }

    /// Whether it may have been saturated, if all that is missing was so.
    fn may_be_saturated(&self, frame: &Frame) -> bool {
        let missed: u64 = frame.missed.iter().copied().map(length).sum();
        self.is_saturated_with(Scope::Whole, frame, missed, self.unknown.whole)
    }

    /// Whether it is saturated if threads waited for it, and it was busy, so much longer.
    fn is_saturated_with(&self, scope: Scope, frame: &Frame, waited: u64, busy: u64) -> bool {
        let is_waited_for = self.is_waited_for(scope, frame, waited);
        let is_busy = |percent| self.is_busy(scope, frame, busy, percent);
        match self.kind {
            Kind::Cpu => is_waited_for && is_busy(IN_DEMAND) || is_busy(BUSY),
            // Threads wait for what it does for them, not only for what it does for others.
            Kind::Disk => self.name.is_some() && is_waited_for || is_busy(BUSY),
            // How much of what a device can send it does is not recorded.
            Kind::Network => is_waited_for && is_busy(IN_DEMAND),
            // Threads that have nothing to do wait for locks, too.
            Kind::Memory | Kind::Locks => false,
        }
    }

    /// What it is called in a sentence.
    fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", self.kind.name()),
            None => self.kind.name().to_owned(),
        }
    }

    /// What was measured of it, in words.
    fn evidence(&self, scope: Scope, frame: &Frame) -> String {
        let time = scope.length(frame);
        let mut parts = Vec::new();
        if let Measure::Known(busy) = &self.busy {
            parts.push(format!("{} busy", share(scope.of(busy), time.saturating_mul(self.units))));
        }
        let who = match self.kind {
            Kind::Network => "packet waits behind another in its queue",
            _ => "thread waits for it",
        };
        let waited = self.waited.known().filter(|waited| scope.of(waited) > 0);
        if let Some(waited) = waited {
            let mut part = format!("in {} of the time a {who}", share(scope.of(waited), time));
            if let Some(wait) = self.wait.known() {
                part += &format!(", {} on average", mean(scope.of(wait), time));
            }
            parts.push(part);
        }
        if let (Kind::Disk, Some(queue)) = (self.kind, self.queue.known()) {
            parts.push(format!("{} requests at once on average", mean(scope.of(queue), time)));
        }
        if let Some(errors @ 1..) = self.errors {
            parts.push(format!("{errors} errors"));
        }
        let unknown = scope.of(&self.unknown);
        if unknown > 0 && self.busy.known().is_some() {
            parts.push(format!("{} unknown", share(unknown, time.saturating_mul(self.units))));
        }
        format!("{}: {}", self.title(), parts.join(", "))
    }
}

impl OfRequests {
    /// What they spent of their time on the host, by kind: nothing where that is less than a thousandth.
    fn evidence(&self) -> String {
        let kinds = [Kind::Cpu, Kind::Disk, Kind::Locks];
        let spent = kinds.map(|kind| (kind.name(), self.spent_on(kind).unwrap_or_default()));
        let parts = spent.iter().filter(|(_, ns)| u128::from(*ns) * 1000 >= u128::from(self.total.max(1)));
        let parts: Vec<_> = parts.map(|(name, ns)| format!("{name} {}", share(*ns, self.total))).collect();
        if parts.is_empty() {
            return String::new();
        }
        format!("; of the time of requests: {}", parts.join(", "))
    }
}

/// A share in percent: whole ones, and below 10 with a decimal.
fn share(part: u64, whole: u64) -> String {
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    if part > 0 && percent < 0.05 {
        return "< 0.1 %".to_owned();
    }
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

fn mean(part: u64, whole: u64) -> String {
    format!("{:.1}", part as f64 / whole.max(1) as f64)
}

fn seconds(ns: u64) -> String {
    format!("{:.2} s", ns as f64 / 1e9)
}

/// The bottleneck of a host.
pub(crate) fn verdict<'s>(seen: &Seen<'s, '_>) -> Verdict<'s> {
    let Seen { host, frame, resources, requests } = *seen;
    let is_in_use = is_share(Scope::InUse.length(frame), length(frame.window), IN_USE);
    for scope in [Scope::Whole, Scope::InUse].into_iter().filter(|it| *it == Scope::Whole || is_in_use) {
        let key = |resource: &&Resource| {
            let of = |measure: &Measure| measure.known().map_or(0, |it| scope.of(it));
            (of(&resource.waited), of(&resource.busy) / resource.units)
        };
        let saturated = resources.iter().filter(|resource| resource.is_saturated(scope, frame));
        if let Some(most) = saturated.max_by_key(key) {
            let evidence = most.evidence(scope, frame);
            let sentence = match scope {
                Scope::Whole => evidence,
                Scope::InUse => {
                    let (part, whole) = (scope.length(frame), length(frame.window));
                    let times = format!("{} of {}", seconds(part), seconds(whole));
                    format!("{evidence} (while requests were in progress, {times})")
                }
            } + &requests.evidence();
            let name = most.name.as_deref();
            return Verdict { kind: Some(most.kind), name, because: "saturated", sentence };
        }
    }
    let spent = |resource: &Resource| requests.spent_on(resource.kind).unwrap_or_default();
    // Of several disks which one it was is not known: the first stands for all.
    let most = resources.iter().rev().max_by_key(|resource| spent(resource));
    let most = most.filter(|most| is_in_use && is_share(spent(most), requests.total, OF_REQUESTS));
    if let Some(most) = most {
        let part = share(spent(most), requests.total);
        let sentence = format!(
            "{}: {part} of the time of requests, work or wait ({} requests, {} in all)",
            most.kind.name(),
            requests.count,
            seconds(requests.total)
        );
        return Verdict { kind: Some(most.kind), name: None, because: "requests", sentence };
    }
    let busiest = busiest(resources, frame);
    let busiest = busiest.map(|it| format!("; the busiest is {}", it.evidence(Scope::Whole, frame)));
    let busiest = busiest.unwrap_or_default() + &requests.evidence();
    let none = |because, sentence| Verdict { kind: None, name: None, because, sentence };
    let missing = missing(host);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return none(
            "unknown",
            format!("nothing that was recorded is saturated{busiest}; not recorded: {missing}"),
        );
    }
    let open = resources.iter().filter(|it| it.may_be_saturated(frame)).map(Resource::title);
    let open = open.collect::<Vec<_>>().join(", ");
    if !open.is_empty() {
        let missed = frame.missed.iter().copied().map(length).sum();
        let part = share(missed, length(frame.window));
        let what =
            format!("events are missing in {part} of the time, in which {open} may have been saturated");
        return none("unknown", format!("unknown: {what}{busiest}"));
    }
    none("nothing", format!("nothing is saturated{busiest}"))
}

/// The resource that worked most, of those that can be saturated.
fn busiest<'s>(resources: &'s [Resource], frame: &Frame) -> Option<&'s Resource> {
    let busy = |resource: &Resource| resource.busy.known().map_or(0, |busy| busy.whole / resource.units);
    let is_work =
        |resource: &&Resource| matches!(resource.kind, Kind::Cpu | Kind::Disk) && busy(resource) > 0;
    resources
        .iter()
        .filter(is_work)
        .max_by_key(|resource| busy(resource))
        .filter(|_| length(frame.window) > 0)
}

/// What has to be recorded to say that nothing is saturated, and was not.
fn missing(host: &Host<'_>) -> Vec<&'static str> {
    let parts: [(&[Need], &str); 5] = [
        (&[Need::Switches], "switches between threads"),
        (&[Need::Wakeups], "wake-ups of threads"),
        (&[Need::Disks], "requests to disks"),
        (&[Need::HardInterrupts, Need::Softirqs], "interrupts, by which waits for disks end"),
        (&[Need::Packets, Need::Sent], "packets that are sent"),
    ];
    parts.into_iter().filter(|(needs, _)| !host.has(needs)).map(|(_, what)| what).collect()
}
