//! Bookmarks of experiments. They last as long as the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde::Deserialize;
use uuid::Uuid;

use super::answer::{Answer, Failure, Id, Parameters};
use super::json::Whole;
use crate::library::{Bookmark, Library, is_full};

/// Letters of a name.
const LONGEST_NAME: usize = 10_000;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    name: String,
    start: Whole,
    end: Whole,
}

impl Asked {
    fn bookmark(self, uuid: Uuid) -> Result<Bookmark, Failure> {
        if self.name.len() > LONGEST_NAME {
            return Err(Failure::wrong("The name is too long"));
        }
        Ok(Bookmark { uuid, name: self.name, start: self.start.0, end: self.end.0 })
    }
}

/// Does something with the bookmarks of the experiment.
fn with<T>(
    library: &Library,
    id: Uuid,
    change: impl FnOnce(&mut BTreeMap<Uuid, Bookmark>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let changed = library.with_bookmarks(id, change);
    changed.unwrap_or_else(|| Err(Failure::missing("There is no such experiment")))
}

fn missing() -> Failure {
    Failure::missing("There is no such bookmark")
}

/// The bookmark in a path.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    bookmark: String,
}

pub(super) async fn list(State(library): State<Arc<Library>>, Id(id): Id) -> Answer {
    let all: Vec<Bookmark> = with(&library, id, |all| Ok(all.values().cloned().collect()))?;
    Ok(Json(all).into_response())
}

pub(super) async fn add(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Parameters(asked): Parameters<Asked>,
) -> Answer {
    let added = with(&library, id, |all| {
        if is_full(all) {
            return Err(Failure::wrong("There are too many bookmarks; remove some"));
        }
        let bookmark = asked.bookmark(Uuid::new_v4())?;
        all.insert(bookmark.uuid, bookmark.clone());
        Ok(bookmark)
    })?;
    Ok(Json(added).into_response())
}

pub(super) async fn one(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(Named { bookmark }): Path<Named>,
) -> Answer {
    let bookmark: Uuid = bookmark.parse().map_err(|_| missing())?;
    let found = with(&library, id, |all| all.get(&bookmark).cloned().ok_or_else(missing))?;
    Ok(Json(found).into_response())
}

pub(super) async fn change(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(Named { bookmark }): Path<Named>,
    Parameters(asked): Parameters<Asked>,
) -> Answer {
    let bookmark: Uuid = bookmark.parse().map_err(|_| missing())?;
    let changed = with(&library, id, |all| {
        let there = all.get_mut(&bookmark).ok_or_else(missing)?;
        *there = asked.bookmark(bookmark)?;
        Ok(there.clone())
    })?;
    Ok(Json(changed).into_response())
}

pub(super) async fn remove(
    State(library): State<Arc<Library>>,
    Id(id): Id,
    Path(Named { bookmark }): Path<Named>,
) -> Answer {
    let bookmark: Uuid = bookmark.parse().map_err(|_| missing())?;
    let gone = with(&library, id, |all| all.remove(&bookmark).ok_or_else(missing))?;
    Ok(Json(gone).into_response())
}
