//! Bookmarks of experiments. They last as long as the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde::Deserialize;
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, Parameters, no_experiment};
use super::json::Int64;
use crate::library::{Bookmark, Library, is_full};

/// Bytes of a name.
const MAX_NAME: usize = 10_000;

/// A bookmark without an id; times are Unix ns.
#[derive(Debug, Deserialize)]
pub(super) struct BookmarkQuery {
    name: String,
    start: Int64,
    end: Int64,
}

impl BookmarkQuery {
    fn bookmark(self, uuid: Uuid) -> Result<Bookmark, Failure> {
        if self.name.len() > MAX_NAME {
            return Err(Failure::wrong("The name is too long"));
        }
        Ok(Bookmark { uuid, name: self.name, start: self.start.0, end: self.end.0 })
    }
}

type Bookmarks = BTreeMap<Uuid, Bookmark>;

/// The bookmark in a path.
#[derive(Debug, Deserialize)]
pub(super) struct BookmarkPath {
    bookmark: String,
}

/// Does something with one bookmark of an experiment; `None` if there is no such bookmark.
fn with_one(
    library: &Library,
    experiment: Uuid,
    path: &BookmarkPath,
    change: impl FnOnce(&mut Bookmarks, Uuid) -> Result<Option<Bookmark>, Failure>,
) -> Answer {
    let missing = || Failure::missing("There is no such bookmark");
    let id = path.bookmark.parse().map_err(|_| missing())?;
    let bookmark = library.with_bookmarks(experiment, |all| change(all, id)).ok_or_else(no_experiment)??;
    Ok(Json(bookmark.ok_or_else(missing)?).into_response())
}

pub(super) async fn list(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let all: Option<Vec<Bookmark>> = library.with_bookmarks(id, |all| all.values().cloned().collect());
    Ok(Json(all.ok_or_else(no_experiment)?).into_response())
}

pub(super) async fn add(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Parameters(query): Parameters<BookmarkQuery>,
) -> Answer {
    let added = library.with_bookmarks(id, |all| {
        if is_full(all) {
            return Err(Failure::wrong("There are too many bookmarks; remove some"));
        }
        let bookmark = query.bookmark(Uuid::new_v4())?;
        all.insert(bookmark.uuid, bookmark.clone());
        Ok(bookmark)
    });
    Ok(Json(added.ok_or_else(no_experiment)??).into_response())
}

pub(super) async fn one(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(path): Path<BookmarkPath>,
) -> Answer {
    with_one(&library, id, &path, |all, bookmark| Ok(all.get(&bookmark).cloned()))
}

pub(super) async fn change(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(path): Path<BookmarkPath>,
    Parameters(query): Parameters<BookmarkQuery>,
) -> Answer {
    with_one(&library, id, &path, |all, bookmark| {
        let Some(old) = all.get_mut(&bookmark) else { return Ok(None) };
        *old = query.bookmark(bookmark)?;
        Ok(Some(old.clone()))
    })
}

pub(super) async fn remove(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(path): Path<BookmarkPath>,
) -> Answer {
    with_one(&library, id, &path, |all, bookmark| Ok(all.remove(&bookmark)))
}
