//! Answers of the protocol: models with their status, and errors with a title; and what all requests have in
//! common.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::{Json, http::header};
use isochrone_time::{SinceOrigin, UnixNs, Window};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use super::json::{Int32, Int64, Object, not_null};
use super::outputs::{Output, OutputKind};
use crate::error::{ApiError, Result};
use crate::library::Library;
use crate::session::Session;
use crate::stage::Stage;
use crate::view::ExperimentView;

/// Samples of one request: the limit of the protocol.
const MAX_SAMPLES: i64 = 65_536;

/// The answer to a request.
pub(super) type Answer = Result<Response, Failure>;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    status: StatusCode,
    body: Value,
}

impl Failure {
    pub(super) fn new(status: StatusCode, title: &str) -> Self {
        Self { status, body: json!({"title": title}) }
    }

    /// There is no such thing.
    pub(super) fn missing(title: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, title)
    }

    /// Something in the request is wrong.
    pub(super) fn wrong(title: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, title)
    }

    /// Something on the side of the server is wrong.
    pub(super) fn internal(title: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, title)
    }

    /// Adds a longer text.
    pub(super) fn with_detail(self, detail: impl Into<String>) -> Self {
        self.with("detail", Value::String(detail.into()))
    }

    /// Adds a value: the trace or the experiment that is the reason.
    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.body[name] = value;
        self
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::new(error.status, &error.why)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

/// A body: all of them are `{"parameters": …}`.
pub(super) struct Parameters<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::wrong("The parameters are wrong").with_detail(why);
        let body = match Json::<Value>::from_request(request, state).await {
            Ok(Json(body)) => body,
            Err(JsonRejection::BytesRejection(rejection)) => {
                return Err(Failure::new(rejection.status(), "The body cannot be read"));
            }
            Err(rejection) => return Err(wrong(rejection.body_text())),
        };
        let Value::Object(mut body) = body else { return Err(wrong("the body is not an object".to_owned())) };
        let parameters = body.remove("parameters").ok_or_else(|| wrong("there are none".to_owned()))?;
        let Object(parameters) =
            serde_json::from_value(parameters).map_err(|error| wrong(error.to_string()))?;
        Ok(Self(parameters))
    }
}

/// The id of a trace or an experiment in a path. Texts that are not UUIDs name nothing.
pub(super) struct Id(pub(super) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Path(names) = path.map_err(|_| Failure::missing("There is no such thing"))?;
        let last = names.iter().rev().find(|(name, _)| ["trace", "experiment"].contains(&name.as_str()));
        let id = last.and_then(|(_, text)| text.parse().ok());
        id.map(Self).ok_or_else(|| Failure::missing("There is no such trace or experiment"))
    }
}

/// An experiment and an output of it, by the path of a request.
pub(super) struct OutputRequest {
    session: Arc<Session>,
    pub(super) output: &'static Output,
}

impl FromRequestParts<Arc<Library>> for OutputRequest {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, library: &Arc<Library>) -> Result<Self, Failure> {
        let Id(id) = Id::from_request_parts(parts, library).await?;
        let session = library.session(id).ok_or_else(no_experiment)?;
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, library).await;
        let names = path.map_or_else(|_| Vec::new(), |Path(names)| names);
        let output = names.iter().find(|(name, _)| name == "output").and_then(|(_, id)| Output::of(id));
        let output = output.ok_or_else(|| Failure::missing("There is no such output"))?;
        Ok(Self { session, output })
    }
}

/// No experiment has the id of a request.
pub(super) fn no_experiment() -> Failure {
    Failure::missing("There is no such experiment")
}

impl OutputRequest {
    /// Checks the kind of the output.
    pub(super) fn require(&self, kind: OutputKind) -> Result<(), Failure> {
        let Output { id, kind: actual, .. } = self.output;
        match *actual == kind {
            true => Ok(()),
            false => Err(Failure::missing("The output is of another kind")
                .with_detail(format!("{id} is of kind {}", actual.name()))),
        }
    }

    /// A model of an output of a kind. While the experiment is opened, it is `RUNNING`; if it cannot be
    /// opened, `FAILED`.
    pub(super) async fn model(
        &self,
        kind: OutputKind,
        job: impl FnOnce(&ExperimentView<'_>) -> Result<Value> + Send + 'static,
    ) -> Answer {
        self.require(kind)?;
        match self.session.stage() {
            Stage::Ready => {}
            Stage::Failed(why) => return Ok(status("FAILED", &why)),
            stage => return Ok(status("RUNNING", stage.name())),
        }
        // It is written where it is made: models may be large.
        let bytes =
            self.session.query(move |view| Ok(serde_json::to_vec(&with_status(&job(view)?))?)).await?;
        Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
    }
}

/// An answer without a model.
fn status(status: &str, message: &str) -> Response {
    Json(json!({"status": status, "statusMessage": message})).into_response()
}

fn with_status(model: &Value) -> Value {
    json!({"model": model, "status": "COMPLETED", "statusMessage": "Completed"})
}

/// An answer with a model that does not depend on an experiment.
pub(super) fn completed(model: &Value) -> Response {
    Json(with_status(model)).into_response()
}

/// Entries with labels in columns, as a model. A column has a name, a tooltip, and a type of data.
pub(super) fn tree(columns: &[(&str, &str, &str)], entries: &[Value], expand: i64) -> Value {
    let header = |(name, tooltip, kind)| json!({"name": name, "tooltip": tooltip, "dataType": kind});
    let headers: Vec<Value> = columns.iter().copied().map(header).collect();
    let mut tree = json!({"headers": headers, "autoExpandLevel": expand});
    tree["entries"] = entries.into();
    tree
}

/// A range of time, Unix ns. One that ends before it starts is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct TimeRange {
    start: Int64,
    end: Int64,
    #[serde(default, rename = "nbTimes", alias = "nbSamples", deserialize_with = "not_null")]
    samples: Option<Int32>,
}

impl TimeRange {
    /// The range as a window of an experiment.
    pub(super) fn window(&self, view: &ExperimentView<'_>) -> Window<SinceOrigin> {
        let since = |unix: i64| view.since(UnixNs(unix.into()));
        Window::new(since(self.start.0), since(self.end.0.max(self.start.0)))
    }

    /// Number of samples, within the limit of the protocol.
    pub(super) fn samples(&self, default: u32) -> u32 {
        self.samples.map_or(default, |Int32(samples)| samples.clamp(1, MAX_SAMPLES) as u32)
    }
}

/// The parameters of a tree: a range, or none for all of the time.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct TreeQuery {
    #[serde(default, deserialize_with = "not_null")]
    requested_timerange: Option<Object<TimeRange>>,
}

impl TreeQuery {
    /// The range as a window of an experiment.
    pub(super) fn window(&self, view: &ExperimentView<'_>) -> Window<SinceOrigin> {
        self.requested_timerange.map_or(view.extent, |Object(range)| range.window(view))
    }
}

/// No parameters, or any.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct AnyParameters {}
