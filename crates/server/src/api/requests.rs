//! Requests about requests that clients made of servers, and about critical paths. Used by: the routes.

use axum::Extension;
use axum::extract::Query;
use isochrone_time::{SinceOrigin, Window};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Page, answer_long};
use crate::error::{ApiError, JsonBody};

#[derive(Debug, Deserialize)]
pub(super) struct RequestsQuery {
    ask: Option<String>,
}

pub(super) async fn requests(
    Extension(session): Page,
    Query(RequestsQuery { ask }): Query<RequestsQuery>,
) -> Answer {
    answer_long(&session, ask, |view, work| {
        let requests = view.request_list(work)?;
        let note = match requests.is_empty() {
            true => {
                "no requests: they are found in the calls of both ends of connections, which need \
                     `lttng enable-event --kernel --syscall --all` and `net_dev_queue,net_if_receive_skb`"
            }
            false => "",
        };
        let command = view.command_of("critical-path", None);
        Ok(json!({"requests": requests, "note": note, "command": command}))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct PathQuery {
    request: Option<usize>,
    row: Option<u32>,
    begin: Option<SinceOrigin>,
    end: Option<SinceOrigin>,
    ask: Option<String>,
}

pub(super) async fn path(Extension(session): Page, Query(mut query): Query<PathQuery>) -> Answer {
    answer_long(&session, query.ask.take(), move |view, work| match query {
        PathQuery { request: Some(request), .. } => view.path_of_request(request, work),
        PathQuery { row: Some(row), begin: Some(begin), end: Some(end), .. } => {
            view.path_of_thread(row, Window::new(begin, end), work)
        }
        _ => Err(ApiError::wrong("a path needs `request`, or `row`, `begin` and `end`")),
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct ComparedQuery {
    service: String,
    from_ns: i64,
    to_ns: i64,
    ask: Option<String>,
}

pub(super) async fn compared(Extension(session): Page, JsonBody(query): JsonBody<ComparedQuery>) -> Answer {
    let took = query.from_ns..=query.to_ns;
    answer_long(&session, query.ask, move |view, work| view.compared(&query.service, took, work)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct ServicesQuery {
    begin: SinceOrigin,
    end: SinceOrigin,
    ask: Option<String>,
}

pub(super) async fn services(Extension(session): Page, JsonBody(query): JsonBody<ServicesQuery>) -> Answer {
    let window = Window::new(query.begin, query.end);
    answer_long(&session, query.ask, move |view, work| view.services(window, work)).await
}
