//! Answers of the protocol: models with their status, and errors with a title.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::{Json, http::header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use super::json::{Object, Whole, Whole32, there};
use super::outputs::{Output, OutputKind};
use crate::error::ApiError;
use crate::library::Library;
use crate::session::Session;
use crate::shown::Shown;
use crate::stage::Stage;

/// Samples of one request: what the protocol allows.
const MOST_SAMPLES: i64 = 65_536;

/// The answer of a request.
pub(super) type Answer = Result<Response, Failure>;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) body: Value,
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

    /// With more words.
    pub(super) fn because(mut self, detail: impl Into<String>) -> Self {
        self.body["detail"] = Value::String(detail.into());
        self
    }

    /// With a trace or an experiment that is in the way.
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
        let wrong = |why: String| Failure::wrong("The parameters are wrong").because(why);
        let body = match Json::<Value>::from_request(request, state).await {
            Ok(Json(body)) => body,
            Err(JsonRejection::BytesRejection(rejection)) => {
                return Err(Failure::new(rejection.status(), "The body cannot be read"));
            }
            Err(rejection) => return Err(wrong(rejection.body_text())),
        };
        let Value::Object(mut body) = body else { return Err(wrong("the body is no object".to_owned())) };
        let parameters = body.remove("parameters").ok_or_else(|| wrong("there are none".to_owned()))?;
        let Object(parameters) =
            serde_json::from_value(parameters).map_err(|error| wrong(error.to_string()))?;
        Ok(Self(parameters))
    }
}

/// The identifiers in a path. One that is no UUID names nothing.
pub(super) struct Id(pub(super) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Path(named) = path.map_err(|_| Failure::missing("There is no such thing"))?;
        let last = named.iter().rev().find(|(name, _)| ["trace", "experiment"].contains(&name.as_str()));
        let id = last.and_then(|(_, text)| text.parse().ok());
        id.map(Self).ok_or_else(|| Failure::missing("There is no such trace or experiment"))
    }
}

/// What of a path names an output of an experiment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) output: &'static Output,
}

/// An experiment and an output of it, by the path of a request.
pub(super) struct OfOutput {
    pub(super) session: Arc<Session>,
    pub(super) named: Named,
}

impl FromRequestParts<Arc<Library>> for OfOutput {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, library: &Arc<Library>) -> Result<Self, Failure> {
        let Id(id) = Id::from_request_parts(parts, library).await?;
        let session = library.session(id).ok_or_else(|| Failure::missing("There is no such experiment"))?;
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, library).await;
        let Path(named) = path.map_err(|_| Failure::missing("There is no such output"))?;
        let output = named.iter().find(|(name, _)| name == "output").and_then(|(_, id)| Output::of(id));
        let output = output.ok_or_else(|| Failure::missing("There is no such output"))?;
        Ok(Self { session, named: Named { output } })
    }
}

impl OfOutput {
    /// The output, if it is of a kind.
    pub(super) fn must_be(&self, kinds: &[OutputKind]) -> Result<(), Failure> {
        match kinds.contains(&self.named.output.kind) {
            true => Ok(()),
            false => Err(Failure::missing("The output is of another kind").because(format!(
                "{} is of kind {}",
                self.named.output.id,
                self.named.output.kind.name()
            ))),
        }
    }

    /// Asks the experiment for a model. One that is not there yet is `RUNNING`, one that cannot be is `FAILED`.
    pub(super) async fn model(
        &self,
        job: impl FnOnce(&Shown<'_>) -> Result<Value, ApiError> + Send + 'static,
    ) -> Answer {
        match self.session.stage() {
            Stage::Ready => {}
            Stage::Failed(why) => return Ok(status("FAILED", &why)),
            stage => return Ok(status("RUNNING", stage.name())),
        }
        // It is written where it is made: models may be large.
        let bytes = self
            .session
            .ask(move |shown| {
                let answer =
                    json!({"model": job(shown)?, "status": "COMPLETED", "statusMessage": "Completed"});
                serde_json::to_vec(&answer).map_err(|error| ApiError::internal(error.to_string()))
            })
            .await?;
        Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
    }
}

/// An answer without a model.
fn status(status: &str, message: &str) -> Response {
    Json(json!({"status": status, "statusMessage": message})).into_response()
}

/// An answer whose model needs no experiment.
pub(super) fn completed(model: &Value) -> Response {
    Json(json!({"model": model, "status": "COMPLETED", "statusMessage": "Completed"})).into_response()
}

/// A range of time, Unix ns. One that ends before it begins is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct TimeRange {
    start: Whole,
    end: Whole,
    #[serde(default, rename = "nbTimes", alias = "nbSamples", deserialize_with = "there")]
    samples: Option<Whole32>,
}

impl TimeRange {
    /// The window since the origin of an experiment.
    pub(super) fn window(&self, shown: &Shown<'_>) -> (i64, i64) {
        let (start, end) = (self.start.0, self.end.0.max(self.start.0));
        (shown.since(start.into()), shown.since(end.into()))
    }

    /// How many samples are asked for, as far as the protocol allows.
    pub(super) fn samples(&self, usual: u32) -> u32 {
        self.samples.map_or(usual, |Whole32(samples)| samples.clamp(1, MOST_SAMPLES) as u32)
    }
}

/// A range that may be missing: of a tree.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct MaybeRange {
    #[serde(default, deserialize_with = "there")]
    pub(super) requested_timerange: Option<Object<TimeRange>>,
}

/// No parameters, or any.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Anything {}
