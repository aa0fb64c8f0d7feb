//! Requests for pictures over time: resources, lives of processes, disks, clocks; and for lists of events.
//! Used by: the routes.

use axum::Extension;
use axum::extract::Query;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, AskQuery, Page, WindowQuery, answer, answer_long, numbers};
use crate::view::events::{EventCursor, EventQuery};

#[derive(Debug, Deserialize)]
pub(super) struct PointsQuery {
    points: usize,
    #[serde(default)]
    queue: bool,
}

pub(super) async fn usage(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(PointsQuery { points, queue }): Query<PointsQuery>,
    Query(AskQuery { ask }): Query<AskQuery>,
) -> Answer {
    answer_long(&session, ask, move |view, work| {
        let series = view.usage(query.window(), points, queue, work)?;
        Ok(json!({"series": series, "command": view.command_of("analyze usage", Some(query.window()))}))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct StepsQuery {
    steps: Option<u32>,
    limit: Option<usize>,
    ask: Option<String>,
}

pub(super) async fn resources(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { steps, ask, .. }): Query<StepsQuery>,
) -> Answer {
    let steps = steps.unwrap_or(60).into();
    answer_long(&session, ask, move |view, work| view.resources(query.window(), steps, work)).await
}

pub(super) async fn lives(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { steps, limit, ask }): Query<StepsQuery>,
) -> Answer {
    let (steps, limit) = (steps.unwrap_or(200), limit.unwrap_or(100));
    answer_long(&session, ask, move |view, work| view.lives(query.window(), steps, limit, work)).await
}

pub(super) async fn accesses(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(StepsQuery { limit, ask, .. }): Query<StepsQuery>,
) -> Answer {
    let limit = limit.unwrap_or(5000);
    answer_long(&session, ask, move |view, work| view.accesses(query.window(), limit, work)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct EventsQuery {
    limit: Option<usize>,
    #[serde(default)]
    search: String,
    #[serde(default)]
    hosts: String,
    /// `next` of an answer.
    after: Option<String>,
    ask: Option<String>,
}

pub(super) async fn events(
    Extension(session): Page,
    Query(query): Query<WindowQuery>,
    Query(EventsQuery { limit, search, hosts, after, ask }): Query<EventsQuery>,
) -> Answer {
    let hosts = numbers(&hosts)?;
    let after = after.map_or(Ok(EventCursor::FIRST), |after| after.parse())?;
    let query = EventQuery { window: query.window(), limit: limit.unwrap_or(200), search, hosts, after };
    answer_long(&session, ask, move |view, work| view.events(&query, work)).await
}

pub(super) async fn synchronization(Extension(session): Page) -> Answer {
    answer(&session, |view| {
        let mut panel = view.synchronization()?;
        panel["command"] = view.command.of("sync").into();
        Ok(panel)
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct LinkQuery {
    a: String,
    b: String,
    points: Option<usize>,
}

pub(super) async fn link(Extension(session): Page, Query(query): Query<LinkQuery>) -> Answer {
    answer(&session, move |view| view.picture(&query.a, &query.b, query.points.unwrap_or(4000))).await
}
