//! Threads that take tasks from one queue. [`mod@crate::run`] puts the pieces of all hosts into it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does tasks `0..tasks` on so many threads, of which the caller's is one. Tasks are begun in their order, each by the first thread
/// that is free. Where no more threads are to be had, those that there are do it all.
///
/// A task that panics makes this panic, when all others are done.
pub fn in_order(tasks: usize, threads: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || {
        // Nothing but the number is passed on by it, so no order of memory is needed.
        let take_one = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&task| task < tasks);
        while let Some(task) = take_one() {
            work(task);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(tasks) {
            if thread::Builder::new().spawn_scoped(scope, take).is_err() {
                break;
            }
        }
        take();
    });
}

/// What a mutex holds; where a thread panicked with it, too: nothing is left half done in this crate.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a mutex held, under the same rule.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_done_once() {
        let check = |tasks: usize, threads: usize| {
            let done = Mutex::new(Vec::new());
            in_order(tasks, threads, |task| lock(&done).push(task));
            let mut done = into_inner(done);
            if threads <= 1 {
                assert!(done.is_sorted(), "{tasks} tasks, {threads} threads: {done:?}");
            }
            done.sort_unstable();
            assert_eq!(done, (0..tasks).collect::<Vec<_>>(), "{tasks} tasks, {threads} threads");
        };
        for threads in [0, 1, 2, 8, 100] {
            for tasks in [0, 1, 2, 7, 100] {
                check(tasks, threads);
            }
        }
    }
}
