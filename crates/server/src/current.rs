//! The experiment that the page shows now: traces that grow are looked at anew, and the new look takes the place of the old one when it is ready.
//!
//! Requests that have begun go on with the look that they began with. Talks to: `session.rs`; `http.rs` and `api.rs` ask it.

use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::FromRef;

use crate::session::Session;

/// Which session a page shows.
#[derive(Debug, Clone)]
pub struct Current(Arc<RwLock<Arc<Session>>>);

impl Current {
    /// This one, until there is another.
    pub fn new(session: Arc<Session>) -> Self {
        Self(Arc::new(RwLock::new(session)))
    }

    /// The session that is shown now.
    pub fn session(&self) -> Arc<Session> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows another one from now on.
    pub fn replace(&self, session: Arc<Session>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = session;
    }
}

impl FromRef<Current> for Arc<Session> {
    fn from_ref(current: &Current) -> Self {
        current.session()
    }
}
