//! Errors of requests: a text and a status of HTTP.

use axum::Json;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use isochrone_store::StoreError;
use serde::de::DeserializeOwned;
use serde_json::json;

/// The result of a request.
pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) why: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    /// Something in the request is wrong.
    pub(crate) fn wrong(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// The window of the request is empty.
    pub(crate) fn empty_window() -> Self {
        Self::wrong("`end` is not after `begin`")
    }

    /// There is no such thing.
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// It may be there later.
    pub(crate) fn unavailable(why: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn stopped() -> Self {
        Self::unavailable("it was stopped before it was done")
    }

    /// There are too many requests at once.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too many requests at once; try again in a moment")
    }

    /// A defect of the program, or of its files.
    pub(crate) fn internal(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stopped { .. } => Self::stopped(),
            error => Self::internal(format!("the store cannot be read: {error}")),
        }
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.why}))).into_response()
    }
}

/// A body of JSON; errors in it are answered as all others are.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(ApiError::new(rejection.status(), rejection.body_text())),
        }
    }
}
