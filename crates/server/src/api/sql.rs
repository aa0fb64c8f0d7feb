//! Requests in SQL. Used by: the routes.

use axum::Extension;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Page};
use crate::error::{ApiError, JsonBody};
use crate::stage::Stage;
use crate::view::CommandLine;

#[derive(Debug, Deserialize)]
pub(super) struct SqlQuery {
    query: String,
}

pub(super) async fn sql(
    Extension(session): Page,
    JsonBody(SqlQuery { query }): JsonBody<SqlQuery>,
) -> Answer {
    if session.stage() != Stage::Ready {
        return Err(ApiError::unavailable("the traces are not ready; try again in a moment"));
    }
    let rows = session.sql.ask(&query, session.store.clone()).await?;
    let command = session.command.of(&format!("sql -c {}", CommandLine::quoted(query.trim())));
    let is_whole = rows.is_whole;
    // They are objects already; parsed, their columns would lose their order.
    let text = format!(
        "{{\"rows\": [{}], \"is_whole\": {is_whole}, \"command\": {}}}",
        rows.rows.join(","),
        json!(command)
    );
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
