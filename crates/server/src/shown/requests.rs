//! Requests and their critical paths.

use isochrone_crosshost::{Asked, Party, Path, Request, path, requests, thread_path};
use serde::Serialize;

use super::Shown;
use super::rows::Kind;
use crate::error::ApiError;

/// A request in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Listed {
    pub(crate) request: usize,
    pub(crate) service: String,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) total_ns: i64,
    client_row: Option<u32>,
    server_row: Option<u32>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StepShown {
    pub(crate) row: Option<u32>,
    pub(crate) host: usize,
    comm: String,
    tid: Option<i32>,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) cause: &'static str,
    pub(crate) detail: String,
    pub(crate) uncertainty_ns: Option<i64>,
}

/// What a request spent its time on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CauseShown {
    host: String,
    comm: String,
    cause: &'static str,
    total_ns: i64,
    median_ns: Option<i64>,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PathShown {
    request: Option<usize>,
    begin: i64,
    end: i64,
    pub(crate) steps: Vec<StepShown>,
    causes: Vec<CauseShown>,
    command: String,
}

impl Shown<'_> {
    /// All requests, with what they spent their time on. Found when they are asked for first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn all_requests(&self) -> Result<&[Request], ApiError> {
        let cluster = self.cluster()?;
        let find = || {
            let asked = Asked { only_sums: true, ..Asked::default() };
            requests(cluster, &asked).map_err(|error| error.to_string())
        };
        let found = self.requests.get_or_init(find).as_ref();
        found.map(Vec::as_slice).map_err(|why| ApiError::internal(why.clone()))
    }

    /// The list of requests.
    ///
    /// # Errors
    /// As [`Self::all_requests`].
    pub(crate) fn listed(&self) -> Result<Vec<Listed>, ApiError> {
        let all = self.all_requests()?;
        let cluster = self.cluster()?;
        let title = |party: Option<Party>| {
            let row = party.and_then(|party| self.row_of(cluster.host_name(party.host), party.thread));
            (row, row.map_or_else(|| "?".to_owned(), |row| self.rows.title(row)))
        };
        let listed = |request: &Request| {
            let (client_row, client) = title(request.client);
            let (server_row, server) = title(request.server);
            Listed {
                request: request.number,
                service: request.service.as_ref().map(ToString::to_string).unwrap_or_default(),
                client,
                server,
                begin: self.since(request.begin.into()),
                end: self.since(request.end.into()),
                total_ns: request.duration(),
                client_row,
                server_row,
            }
        };
        Ok(all.iter().map(listed).collect())
    }

    /// The request of a number, if there is one.
    ///
    /// # Errors
    /// As [`Self::all_requests`].
    pub(crate) fn request(&self, number: usize) -> Result<Option<&Request>, ApiError> {
        Ok(self.all_requests()?.iter().find(|request| request.number == number))
    }

    /// The path of a request by its number.
    ///
    /// # Errors
    /// There is no such request, or the store cannot be read.
    pub(crate) fn path_of_request(&self, number: usize) -> Result<PathShown, ApiError> {
        let all = self.all_requests()?;
        let request = self.request(number)?.ok_or_else(|| {
            ApiError::missing(format!("there are {} requests, and no number {number}", all.len()))
        })?;
        let mut whole = request.clone();
        whole.path = path(self.cluster()?, request)?;
        let of_service: Vec<&Request> = all.iter().filter(|other| other.service == request.service).collect();
        let command = self.command_of(&format!("critical-path --request {number}"), None);
        self.path_shown(&whole, Some(number), &of_service, command)
    }

    /// The path of the thread of a row between two instants since the origin.
    ///
    /// # Errors
    /// The row is of no thread, the window is empty, or the store cannot be read.
    pub(crate) fn path_of_thread(&self, id: u32, (begin, end): (i64, i64)) -> Result<PathShown, ApiError> {
        let row = self.row(id)?;
        if row.kind != Kind::Thread {
            return Err(ApiError::wrong(format!("{} is no thread", self.rows.title(id))));
        }
        if begin >= end {
            return Err(ApiError::wrong("the end is not after the begin"));
        }
        let cluster = self.cluster()?;
        let host = cluster.host_named(&self.hosts[row.host].name);
        let host = host.ok_or_else(|| ApiError::missing("its host is not in the store"))?;
        let party = Party { host, thread: row.number };
        let begin = begin.max(row.begin.unwrap_or(begin));
        let request = thread_path(cluster, party, (self.unix(begin), self.unix(end)))?;
        let name =
            format!("critical-path --thread {}:{}", self.hosts[row.host].name, row.tid.unwrap_or_default());
        self.path_shown(&request, None, &[], self.command_of(&name, Some((begin, end))))
    }

    /// The row of a thread of a host by name.
    fn row_of(&self, host: &str, thread: u32) -> Option<u32> {
        let place = self.hosts.iter().position(|it| it.name == host)?;
        self.rows.of_thread(place, thread)
    }

    /// The steps of a request alone, without what they add up to.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn steps_of(&self, request: &Request) -> Result<Vec<StepShown>, ApiError> {
        self.steps(&path(self.cluster()?, request)?)
    }

    fn steps(&self, path: &Path) -> Result<Vec<StepShown>, ApiError> {
        let cluster = self.cluster()?;
        let mut steps = Vec::with_capacity(path.len());
        for (step, detail) in path {
            let name = cluster.host_name(step.host);
            let place = self.hosts.iter().position(|it| it.name == name).unwrap_or_default();
            let row = step.thread.and_then(|thread| self.rows.of_thread(place, thread));
            let shown = row.and_then(|row| self.rows.get(row));
            steps.push(StepShown {
                row,
                host: place,
                comm: shown.map(|row| row.label.clone()).unwrap_or_default(),
                tid: shown.and_then(|row| row.tid),
                begin: self.since(step.begin.into()),
                end: self.since(step.end.into()),
                cause: step.cause.name(),
                detail: detail.to_string(),
                uncertainty_ns: step.uncertainty,
            });
        }
        Ok(steps)
    }

    fn path_shown(
        &self,
        request: &Request,
        number: Option<usize>,
        others: &[&Request],
        command: String,
    ) -> Result<PathShown, ApiError> {
        let cluster = self.cluster()?;
        let steps = self.steps(&request.path)?;
        let cause = |(on, total): &(isochrone_crosshost::SpentOn, i64)| {
            // Requests that spent nothing on it count, too.
            let mut of_others: Vec<i64> = others
                .iter()
                .map(|other| other.spent.iter().find(|(it, _)| it == on).map_or(0, |(_, ns)| *ns))
                .collect();
            of_others.sort_unstable();
            CauseShown {
                host: cluster.host_name(on.host).to_owned(),
                comm: on.comm.as_ref().map(ToString::to_string).unwrap_or_default(),
                cause: on.cause.name(),
                total_ns: *total,
                median_ns: isochrone_analysis::nearest_rank(&of_others, 50).copied(),
            }
        };
        let mut causes: Vec<CauseShown> = request.spent.iter().map(cause).collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.total_ns));
        Ok(PathShown {
            request: number,
            begin: self.since(request.begin.into()),
            end: self.since(request.end.into()),
            steps,
            causes,
            command,
        })
    }
}
