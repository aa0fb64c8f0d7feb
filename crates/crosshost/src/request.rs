//! Requests and their paths: the exchanges of an experiment that are requests from outside, or the requested
//! phases of programs, and where each spent its time.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;

use isochrone_kernel::Name;
use isochrone_store::{Cause, StoreError};
use isochrone_time::{RawNs, UnixNs, Window};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use wildmatch::WildMatch;

use crate::cluster::{Cluster, WINDOW_ROWS};
use crate::detail::detail;
use crate::exchange::{self, Exchange, Side, exchanges};
use crate::network::{Carried, carried};
use crate::path::{Path, Position, Step, ThreadRef};
use crate::spent::{SpentOn, sums};
use crate::timeline::ClusterWindow;
use crate::wait::StepDetail;
use crate::waits::widened;
use crate::walk::walk;

/// A selection of requests.
#[derive(Debug, Clone, Default)]
pub struct RequestQuery {
    /// What a request is.
    pub of: Requests,
    /// Those that start in this window; `None`: all.
    pub window: Option<Window<UnixNs>>,
    /// Whether only the sums of their paths are wanted: of many requests the steps take most of the memory.
    pub only_sums: bool,
}

/// What a request is.
#[derive(Debug, Clone, Default)]
pub enum Requests {
    /// A question and its answer on a connection, of all services whose clients are not serving a request
    /// themselves at that time.
    #[default]
    Outermost,
    /// A question to this service, and its answer.
    Service(Service),
    /// A phase of a program that has one of these names: what its thread did between the two events that it
    /// recorded.
    Phases(Vec<WildMatch>),
}

/// A service.
#[derive(Debug, Clone)]
pub enum Service {
    /// All servers on a port.
    Port(u16),
    /// A server at an address.
    Address(SocketAddr),
    /// Servers whose threads have such a name.
    Name(WildMatch),
}

impl std::str::FromStr for Service {
    type Err = std::convert::Infallible;

    /// A port, an address with its port, or a name in which `*` and `?` stand for others.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match (text.parse(), text.parse()) {
            (Ok(port), _) => Self::Port(port),
            (_, Ok(address)) => Self::Address(address),
            _ => Self::Name(WildMatch::new(text)),
        })
    }
}

/// A request, and where it spent its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its number among all of its kind (of the selected service or phases): from 1, by start, whatever
    /// window is selected for.
    pub number: usize,
    /// What it is a request of; `None` of a thread between two instants.
    pub service: Option<Served>,
    /// The thread of the client that received the answer.
    pub client: Option<ThreadRef>,
    /// The thread of the server that answered.
    pub server: Option<ThreadRef>,
    /// Start on the requested clock.
    pub start: UnixNs,
    /// End.
    pub end: UnixNs,
    /// What its time was spent on, sorted: the sums of its path, ns.
    pub spent: Box<[(SpentOn, i64)]>,
    /// What the packets on its path spent their time on, by link.
    pub carried: Box<[Carried]>,
    /// Whether it was sent in writes of one size before the answer came: it may be several requests that
    /// cannot be separated.
    pub may_be_several: bool,
    /// The path, from start to end without holes; empty where only sums were requested.
    pub path: Path,
    /// Where the walk through it starts.
    position: Position,
}

/// What a request is a request of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Served {
    /// The server of an address.
    Address(SocketAddr),
    /// The phase of a name.
    Phase(Name),
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Phase(name) => f.write_str(name),
        }
    }
}

impl Request {
    /// How long it took, ns.
    pub fn duration(&self) -> i64 {
        self.end.saturating_since(self.start)
    }

    /// Whether part of its time is unknown.
    pub fn is_partly_unknown(&self) -> bool {
        self.spent.iter().any(|(on, _)| on.cause == Cause::Unknown)
    }
}

/// How much more time is read than requests take, ns: clocks that were corrected by estimates may show an
/// event of a request as long before its start.
const MARGIN: i64 = 10_000_000;

/// The selected requests, with their paths. Linear in the calls of all time, so that numbers do not depend on
/// the selection, and in the spans of the times of the requests; spans are read window by window, so that the
/// memory is that of the requests and of the longest of them.
///
/// # Errors
/// The store cannot be read.
pub fn requests(cluster: &Cluster<'_>, asked: &RequestQuery) -> Result<Vec<Request>, StoreError> {
    let window = cluster.window(asked.window);
    let mut plans = match &asked.of {
        Requests::Outermost => questions(cluster, None)?,
        Requests::Service(service) => questions(cluster, Some(service))?,
        Requests::Phases(names) => phases(cluster, names)?,
    };
    plans.sort_by_key(|plan| (plan.start, plan.end, plan.client));
    for (number, plan) in (1..).zip(&mut plans) {
        plan.number = number;
    }
    plans.retain(|plan| window.start <= plan.start && plan.start < window.end);
    follow(cluster, &plans, !asked.only_sums)
}

/// The path of one of the requests of this cluster.
///
/// # Errors
/// The store cannot be read.
pub fn path(cluster: &Cluster<'_>, request: &Request) -> Result<Path, StoreError> {
    let group = windows(cluster, &[Window::new(request.start, request.end)]);
    let around = group.first().map(|group| group.window).unwrap_or_default();
    let window = ClusterWindow::load(cluster, around)?;
    Ok(with_details(&window, walk(&window, request.position, request.start)))
}

/// The path of one thread in a window.
///
/// # Errors
/// The store cannot be read.
pub fn thread_path(
    cluster: &Cluster<'_>,
    party: ThreadRef,
    window: Window<UnixNs>,
) -> Result<Request, StoreError> {
    let mut found = follow(cluster, &[Plan::of_thread(cluster, party, window, None)], true)?;
    Ok(found.swap_remove(0))
}

/// The paths of threads in windows of names, as if these were phases: in the order of their starts,
/// numbered in that order.
///
/// # Errors
/// The store cannot be read.
pub fn named_paths(
    cluster: &Cluster<'_>,
    mut parts: Vec<(Name, ThreadRef, Window<UnixNs>)>,
    has_paths: bool,
) -> Result<Vec<Request>, StoreError> {
    parts.sort_by_key(|(_, _, window)| window.start);
    let of = |(number, (name, party, window)): (usize, (Name, ThreadRef, Window<UnixNs>))| Plan {
        number: number + 1,
        ..Plan::of_thread(cluster, party, window, Some(Served::Phase(name)))
    };
    let plans: Vec<Plan> = parts.into_iter().enumerate().map(of).collect();
    follow(cluster, &plans, has_paths)
}

/// What is to be followed.
#[derive(Debug, Clone)]
struct Plan {
    number: usize,
    service: Option<Served>,
    client: Option<ThreadRef>,
    server: Option<ThreadRef>,
    start: UnixNs,
    end: UnixNs,
    may_be_several: bool,
    position: Position,
}

impl Plan {
    fn of_thread(
        cluster: &Cluster<'_>,
        party: ThreadRef,
        Window { start, end }: Window<UnixNs>,
        service: Option<Served>,
    ) -> Self {
        let at = cluster.hosts[party.host].raw(end);
        Self {
            number: 1,
            service,
            client: Some(party),
            server: None,
            start,
            end,
            may_be_several: false,
            position: Position { host: party.host, thread: party.thread, at },
        }
    }

    fn of(cluster: &Cluster<'_>, exchange: &Exchange) -> Option<Self> {
        let party = |side: &Side| ThreadRef { host: side.host, thread: side.last };
        let seen = exchange.client.as_ref().or(exchange.server.as_ref())?;
        let Window { start, end } = exchange.span(cluster)?;
        Some(Self {
            number: 0,
            service: Some(Served::Address(exchange.server_address)),
            client: exchange.client.as_ref().map(party),
            server: exchange.server.as_ref().map(party),
            start,
            end,
            may_be_several: exchange.may_be_several,
            position: Position { host: seen.host, thread: seen.last, at: seen.end },
        })
    }
}

/// The questions to a service; without one, those of clients that are not serving a request themselves at
/// that time.
fn questions(cluster: &Cluster<'_>, service: Option<&Service>) -> Result<Vec<Plan>, StoreError> {
    let all = exchanges(cluster, cluster.window(None))?;
    let is_root = roots(cluster, &all);
    let chosen = all.iter().zip(is_root).filter(|(exchange, is_root)| match service {
        Some(service) => is_of(cluster, exchange, service),
        None => *is_root,
    });
    Ok(chosen.filter_map(|(exchange, _)| Plan::of(cluster, exchange)).collect())
}

/// The phases of programs. Those of threads that are not known cannot be followed.
fn phases(cluster: &Cluster<'_>, names: &[WildMatch]) -> Result<Vec<Plan>, StoreError> {
    let mut plans = Vec::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        for phase in host.store.phases_between(Window::ALL)? {
            let Some(thread) = phase.thread else { continue };
            if !names.iter().any(|name| name.matches(&phase.name)) {
                continue;
            }
            plans.push(Plan {
                number: 0,
                service: Some(Served::Phase(phase.name)),
                client: Some(ThreadRef { host: index, thread }),
                server: None,
                start: host.common(phase.start),
                end: host.common(phase.end),
                may_be_several: false,
                position: Position { host: index, thread, at: phase.end },
            });
        }
    }
    Ok(plans)
}

/// The names of all phases of programs.
///
/// # Errors
/// The store cannot be read.
pub fn phase_names(cluster: &Cluster<'_>) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for host in cluster.hosts.iter() {
        names.extend(host.store.phase_names()?.iter().map(ToString::to_string));
    }
    Ok(names)
}

/// Follows requests that are in the order of their starts.
fn follow(cluster: &Cluster<'_>, plans: &[Plan], has_paths: bool) -> Result<Vec<Request>, StoreError> {
    let mut requests = Vec::with_capacity(plans.len());
    let spans: Vec<Window<UnixNs>> = plans.iter().map(|plan| Window::new(plan.start, plan.end)).collect();
    for group in windows(cluster, &spans) {
        let window = ClusterWindow::load(cluster, group.window)?;
        let follow = |plan: &Plan| {
            let steps = walk(&window, plan.position, plan.start);
            Request {
                number: plan.number,
                service: plan.service.clone(),
                client: plan.client,
                server: plan.server,
                start: plan.start,
                end: plan.end,
                spent: sums(cluster, steps.iter().map(|(step, _)| step)),
                carried: carried(&steps),
                may_be_several: plan.may_be_several,
                path: if has_paths { with_details(&window, steps) } else { Path::new() },
                position: plan.position,
            }
        };
        requests.par_extend(plans[group.indices].par_iter().map(follow));
    }
    Ok(requests)
}

fn with_details(window: &ClusterWindow<'_, '_>, steps: Vec<(Step, StepDetail)>) -> Path {
    let text = |(step, about): (Step, StepDetail)| {
        let text = detail(window, &step, &about).into_boxed_str();
        (step, text)
    };
    steps.into_iter().map(text).collect()
}

/// Neighbours among some spans of time, and the window that has all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) window: Window<UnixNs>,
    pub(crate) indices: std::ops::Range<usize>,
}

/// Cuts spans of time, by start, into groups whose windows have few enough rows to be in memory at once; a
/// group has one span at least.
pub(crate) fn windows(cluster: &Cluster<'_>, spans: &[Window<UnixNs>]) -> Vec<Group> {
    let most = cluster.time_of_rows(WINDOW_ROWS);
    let mut groups: Vec<Group> = Vec::new();
    for (index, &Window { start, end }) in spans.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if end.max(group.window.end).saturating_since(group.window.start) <= most => {
                group.window.end = group.window.end.max(end);
                group.indices.end = index + 1;
            }
            _ => groups.push(Group { window: Window { start, end }, indices: index..index + 1 }),
        }
    }
    for group in &mut groups {
        group.window = widened(group.window, MARGIN);
    }
    cluster.expect(groups.len());
    groups
}

/// Whether an exchange is one of a service.
fn is_of(cluster: &Cluster<'_>, exchange: &Exchange, service: &Service) -> bool {
    match service {
        Service::Port(port) => exchange.server_address.port() == *port,
        Service::Address(address) => exchange.server_address == *address,
        Service::Name(name) => exchange.server.as_ref().is_some_and(|server| {
            let comm = |thread| cluster.hosts[server.host].thread(thread)?.comm.as_deref();
            [server.first, server.last].into_iter().filter_map(comm).any(|comm| name.matches(comm))
        }),
    }
}

/// Of each exchange: whether its client does not serve anybody when it starts.
fn roots(cluster: &Cluster<'_>, all: &[exchange::Exchange]) -> Vec<bool> {
    // By host and process: when it serves.
    let mut serves: FxHashMap<(usize, i32), Vec<Window<RawNs>>> = FxHashMap::default();
    for server in all.iter().filter_map(|exchange| exchange.server.as_ref()) {
        for thread in [server.first, server.last] {
            if let Some(process) = cluster.hosts[server.host].pid(thread) {
                serves.entry((server.host, process)).or_default().push(Window::new(server.start, server.end));
            }
        }
    }
    let is_root = |exchange: &Exchange| {
        let Some(client) = &exchange.client else { return true };
        let process = cluster.hosts[client.host].pid(client.first);
        let served = process.and_then(|process| serves.get(&(client.host, process)));
        !served
            .is_some_and(|served| served.iter().any(|it| it.start <= client.start && client.start < it.end))
    };
    all.iter().map(is_root).collect()
}
