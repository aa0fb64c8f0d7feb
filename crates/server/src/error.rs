//! What goes wrong with a request, in words and as a status of HTTP.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use isochrone_store::StoreError;
use serde_json::json;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) why: String,
}

impl ApiError {
    /// Something in the request is wrong.
    pub(crate) fn wrong(why: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, why: why.into() }
    }

    /// There is no such thing.
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, why: why.into() }
    }

    /// It may be there later.
    pub(crate) fn unavailable(why: String) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, why }
    }

    /// Too much is asked at once.
    pub(crate) fn busy() -> Self {
        let why = "too many questions at once; ask again in a moment".to_owned();
        Self { status: StatusCode::TOO_MANY_REQUESTS, why }
    }

    /// The program is wrong.
    pub(crate) fn internal(why: String) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, why }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::internal(format!("the store cannot be read: {error}"))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.why}))).into_response()
    }
}
