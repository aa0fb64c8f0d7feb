//! Answers that take long: how far each is, for who asked under a name, and the end of those that nobody
//! waits for any more. Used by: sessions, and the requests that add up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use isochrone_experiment::Work;

use crate::error::ApiError;

/// The longest name of a question, bytes.
const MAX_NAME: usize = 64;

/// The answers that are worked on, by the names that who asks gave to the questions.
#[derive(Debug, Default)]
pub(crate) struct Works(Mutex<HashMap<String, Weak<Work>>>);

impl Works {
    /// The work on a new question; without a name, nobody can ask how far it is.
    pub(crate) fn begin(&self, name: Option<String>) -> Arc<Work> {
        let work = Arc::<Work>::default();
        if let Some(name) = name.filter(|name| name.len() <= MAX_NAME) {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, work| work.strong_count() > 0);
            all.insert(name, Arc::downgrade(&work));
        }
        work
    }

    /// How far the answer to a question is: what is done, and what there is to do. `None`: it is not worked
    /// on.
    pub(crate) fn progress(&self, name: &str) -> Option<(u64, u64)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(all.get(name)?.upgrade()?.progress())
    }
}

/// Stops some work when it is dropped: when who waited for it has left, or has the result.
#[derive(Debug)]
pub(crate) struct StopOnDrop(pub(crate) Arc<Work>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// A part of some work is about to be done.
///
/// # Errors
/// It was stopped.
pub(crate) fn next_part(work: &Work) -> Result<(), ApiError> {
    if work.is_stopped() {
        return Err(ApiError::stopped());
    }
    work.add(1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use isochrone_time::Window;

    use super::*;
    use crate::tests::{EXAMPLE, ask, ask_example, example_session, served};

    /// Whoever closes a connection drops the future of its request.
    #[test]
    fn work_is_stopped_when_nobody_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (told, heard) = channel();
        let session = example_session();
        runtime.block_on(async {
            let work = session.query_long(Some("long".to_owned()), move |_, work| {
                work.expect(10);
                let begin = Instant::now();
                while !work.is_stopped() && begin.elapsed() < Duration::from_secs(60) {
                    sleep(Duration::from_millis(1));
                }
                told.send(work.is_stopped()).unwrap();
                Ok(())
            });
            assert!(tokio::time::timeout(Duration::from_millis(300), work).await.is_err());
        });
        assert!(heard.recv_timeout(Duration::from_secs(60)).unwrap());
    }

    #[test]
    fn analyses_that_are_stopped_have_no_answer() {
        ask_example(|view| {
            for analysis in ["cputop", "blocking", "accounting", "messages", "bottleneck", "ipc"] {
                let work = Arc::<Work>::default();
                view.tables(analysis, None, 10, &work)?;
                let (done, total) = work.progress();
                assert!(total > 0 && done > 0, "{analysis}: {done} of {total}");
                let work = Arc::<Work>::default();
                work.stop();
                assert_eq!(view.tables(analysis, None, 10, &work).unwrap_err(), ApiError::stopped());
            }
            let work = Arc::<Work>::default();
            work.stop();
            assert_eq!(view.resources(view.extent, 60, &work).unwrap_err(), ApiError::stopped());
            assert_eq!(view.statistics(None, view.extent, &work).unwrap_err(), ApiError::stopped());
            assert_eq!(view.instead(None, view.extent, &work).unwrap_err(), ApiError::stopped());
            assert_eq!(view.files_of(None, view.extent, &work).unwrap_err(), ApiError::stopped());
            Ok(())
        });
    }

    /// What was stopped is not kept as an answer.
    #[test]
    fn requests_and_paths_that_are_stopped_have_no_answer() {
        // Other tests have found the requests of the example before.
        let stores = tempfile::tempdir().unwrap();
        let (_router, session) = served(&[EXAMPLE.into()], stores.path().to_owned());
        ask(&session, |view| {
            let (stopped, work) = (Arc::<Work>::default(), Arc::<Work>::default());
            stopped.stop();
            assert_eq!(view.request_list(&stopped).unwrap_err(), ApiError::stopped());
            assert_eq!(view.tables("critical-path", None, 9, &stopped).unwrap_err(), ApiError::stopped());
            let list = view.request_list(&work)?;
            let (done, total) = work.progress();
            assert!(list.len() > 20 && done > 0 && total > 0, "{done} of {total}");
            assert_eq!(view.request_list(&stopped)?, list);
            assert_eq!(view.path_of_request(1, &stopped).unwrap_err(), ApiError::stopped());
            let path = view.path_of_request(1, &work)?;
            let (Some(row), window) = (list[0].client_row, Window::new(list[0].begin, list[0].end)) else {
                panic!("its client is known")
            };
            assert_eq!(view.path_of_thread(row, window, &stopped).unwrap_err(), ApiError::stopped());
            assert_ne!(view.path_of_thread(row, window, &work)?, path);
            Ok(())
        });
    }

    #[test]
    fn works_are_known_by_name_while_they_last() {
        let works = Works::default();
        let (named, nameless) = (works.begin(Some("a".to_owned())), works.begin(None));
        assert_eq!(works.progress("a"), Some((0, 0)));
        named.expect(3);
        next_part(&named).unwrap();
        nameless.add(1);
        assert_eq!((works.progress("a"), works.progress("b")), (Some((1, 3)), None));
        drop(StopOnDrop(Arc::clone(&named)));
        assert_eq!(next_part(&named).unwrap_err(), ApiError::stopped());
        drop(named);
        assert_eq!(works.progress("a"), None);
        let long = works.begin(Some("x".repeat(MAX_NAME + 1)));
        assert_eq!(works.progress(&"x".repeat(MAX_NAME + 1)), None);
        drop(long);
    }
}
