//! Requests and their critical paths.

use std::sync::{Arc, PoisonError};

use isochrone_analysis::nearest_rank;
use isochrone_crosshost::{
    Path, Request, RequestQuery, SpentOn, Step, ThreadRef, path, requests, thread_path,
};
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::{ExperimentView, kept};
use crate::error::{ApiError, Result};

/// A request in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RequestEntry {
    pub(crate) request: usize,
    pub(crate) service: String,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) begin: SinceOrigin,
    pub(crate) end: SinceOrigin,
    pub(crate) total_ns: i64,
    pub(crate) client_row: Option<u32>,
    server_row: Option<u32>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PathStep {
    pub(crate) row: Option<u32>,
    pub(crate) host: usize,
    comm: String,
    tid: Option<i32>,
    pub(crate) begin: SinceOrigin,
    pub(crate) end: SinceOrigin,
    pub(crate) cause: &'static str,
    pub(crate) detail: String,
    pub(crate) uncertainty_ns: Option<i64>,
}

/// A thread and a cause that a request spent time on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PathCause {
    host: String,
    comm: String,
    cause: &'static str,
    total_ns: i64,
    /// Median over all requests of the service.
    median_ns: Option<i64>,
}

/// The path of a request, or of a thread between two instants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CriticalPath {
    request: Option<usize>,
    begin: SinceOrigin,
    end: SinceOrigin,
    steps: Vec<PathStep>,
    causes: Vec<PathCause>,
    command: String,
}

impl ExperimentView<'_> {
    /// All requests with the sums of what they spent their time on, but without their paths. Found at the
    /// first request for them; where that is stopped, at the next one.
    ///
    /// # Errors
    /// The store cannot be read, or the work was stopped.
    pub(crate) fn all_requests(&self, work: &Arc<Work>) -> Result<&[Request]> {
        // Who comes meanwhile waits for what is found.
        let _finding = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
        if self.requests.get().is_none() {
            let cluster = self.cluster()?.for_work(work);
            let query = RequestQuery { only_sums: true, ..RequestQuery::default() };
            match requests(&cluster, &query) {
                Err(_) if work.is_stopped() => return Err(ApiError::stopped()),
                found => drop(self.requests.set(found.map_err(|error| error.to_string()))),
            }
        }
        self.requests.get().map_or(Ok(&[][..]), |found| kept(found).map(Vec::as_slice))
    }

    /// The list of requests.
    pub(crate) fn request_list(&self, work: &Arc<Work>) -> Result<Vec<RequestEntry>> {
        let all = self.all_requests(work)?;
        let cluster = self.cluster()?;
        let title = |thread: Option<ThreadRef>| {
            let row = thread.and_then(|it| {
                let host = self.host_index(cluster.host_name(it.host))?;
                self.rows.of_thread(host, it.thread)
            });
            (row, row.map_or_else(|| "?".to_owned(), |row| self.rows.title(row)))
        };
        let entry = |request: &Request| {
            let (client_row, client) = title(request.client);
            let (server_row, server) = title(request.server);
            let Window { start: begin, end } = self.time_of(request);
            RequestEntry {
                request: request.number,
                service: request.service.as_ref().map(ToString::to_string).unwrap_or_default(),
                client,
                server,
                begin,
                end,
                total_ns: request.duration(),
                client_row,
                server_row,
            }
        };
        Ok(all.iter().map(entry).collect())
    }

    /// The request of a number, if there is one.
    pub(crate) fn request(&self, number: usize) -> Result<Option<&Request>> {
        Ok(self.all_requests(&Arc::default())?.iter().find(|request| request.number == number))
    }

    /// From the start of a request to its end.
    pub(crate) fn time_of(&self, request: &Request) -> Window<SinceOrigin> {
        Window::new(self.since(request.start), self.since(request.end))
    }

    /// The path of a request by its number.
    ///
    /// # Errors
    /// There is no such request, the store cannot be read, or the work was stopped.
    pub(crate) fn path_of_request(&self, number: usize, work: &Arc<Work>) -> Result<CriticalPath> {
        let all = self.all_requests(work)?;
        let request = all.iter().find(|request| request.number == number).ok_or_else(|| {
            ApiError::missing(format!("there are {} requests, and no number {number}", all.len()))
        })?;
        let of_service: Vec<&Request> = all.iter().filter(|other| other.service == request.service).collect();
        let command = self.command_of(&format!("critical-path --request {number}"), None);
        let path = path(&self.cluster()?.for_work(work), request)?;
        self.critical_path(request, &path, &of_service, command)
    }

    /// The path of the thread of a row between two instants.
    ///
    /// # Errors
    /// The row is not of a thread, the window is empty, the store cannot be read, or the work was stopped.
    pub(crate) fn path_of_thread(
        &self,
        id: u32,
        window: Window<SinceOrigin>,
        work: &Arc<Work>,
    ) -> Result<CriticalPath> {
        let row = self.row(id)?;
        let Some(thread) = row.thread.filter(|_| row.kind == RowKind::Thread) else {
            return Err(ApiError::wrong(format!("{} is not a thread", self.rows.title(id))));
        };
        if window.is_empty() {
            return Err(ApiError::empty_window());
        }
        let cluster = &self.cluster()?.for_work(work);
        let name = &self.hosts[row.host].name;
        let host = cluster.host_named(name);
        let host = host.ok_or_else(|| ApiError::missing("its host is not in the store"))?;
        let window = Window::new(window.start.max(row.begin.unwrap_or(window.start)), window.end);
        let unix = Window::new(self.unix(window.start), self.unix(window.end));
        let request = thread_path(cluster, ThreadRef { host, thread }, unix)?;
        let command = format!("critical-path --thread {name}:{}", row.tid.unwrap_or_default());
        let path =
            self.critical_path(&request, &request.path, &[], self.command_of(&command, Some(window)))?;
        Ok(CriticalPath { request: None, ..path })
    }

    /// The steps of a request alone, without their sums.
    pub(crate) fn steps_of(&self, request: &Request) -> Result<Vec<PathStep>> {
        self.steps(&path(self.cluster()?, request)?)
    }

    fn steps(&self, path: &Path) -> Result<Vec<PathStep>> {
        let cluster = self.cluster()?;
        let step = |(step, detail): &(Step, Box<str>)| {
            let host = self.host_index(cluster.host_name(step.host)).unwrap_or_default();
            let id = step.thread.and_then(|thread| self.rows.of_thread(host, thread));
            let row = id.and_then(|id| self.rows.get(id));
            PathStep {
                row: id,
                host,
                comm: row.map(|row| row.label.clone()).unwrap_or_default(),
                tid: row.and_then(|row| row.tid),
                begin: self.since(step.start),
                end: self.since(step.end),
                cause: step.cause.name(),
                detail: detail.to_string(),
                uncertainty_ns: step.uncertainty,
            }
        };
        Ok(path.iter().map(step).collect())
    }

    /// A path with its causes, which are compared with those of `others`.
    fn critical_path(
        &self,
        request: &Request,
        path: &Path,
        others: &[&Request],
        command: String,
    ) -> Result<CriticalPath> {
        let cluster = self.cluster()?;
        let cause = |(on, total): &(SpentOn, i64)| {
            // Requests that spent nothing on it count, too.
            let spent =
                |other: &&Request| other.spent.iter().find(|(it, _)| it == on).map_or(0, |(_, ns)| *ns);
            let mut of_others: Vec<i64> = others.iter().map(spent).collect();
            of_others.sort_unstable();
            PathCause {
                host: cluster.host_name(on.host).to_owned(),
                comm: on.comm.as_ref().map(ToString::to_string).unwrap_or_default(),
                cause: on.cause.name(),
                total_ns: *total,
                median_ns: nearest_rank(&of_others, 50).copied(),
            }
        };
        let mut causes: Vec<PathCause> = request.spent.iter().map(cause).collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.total_ns));
        let Window { start: begin, end } = self.time_of(request);
        let steps = self.steps(path)?;
        Ok(CriticalPath { request: Some(request.number), begin, end, steps, causes, command })
    }
}
