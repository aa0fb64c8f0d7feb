//! Threads that share tasks. [`in_order`]: from one queue, into which [`mod@crate::run`] puts the pieces of
//! all hosts; [`map_in_order`] makes something of a list so. [`take_in_order`]: each every n-th one, whose
//! results are taken in order, as the text of tables is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does tasks `0..tasks` on some threads, one of them the caller's. Tasks are begun in their order, each by
/// the first thread that is free. Where threads cannot be started, the others do all tasks.
///
/// A task that panics makes this panic, when all others are done.
pub(crate) fn in_order(tasks: usize, threads: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || {
        // Only the number is passed by it, so no order of memory is needed.
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

/// What `make` makes of each item, in their order, on some threads, one of them the caller's. Where threads
/// cannot be started, the others do all. One that panics makes this panic, when all others are done.
pub fn map_in_order<T: Send, R: Send>(items: Vec<T>, threads: usize, make: impl Fn(T) -> R + Sync) -> Vec<R> {
    let slots: Vec<_> = items.into_iter().map(|item| (Mutex::new(Some(item)), Mutex::new(None))).collect();
    in_order(slots.len(), threads, |task| {
        let (item, made) = &slots[task];
        let item = lock(item).take();
        *lock(made) = item.map(&make);
    });
    slots.into_iter().filter_map(|(_, made)| into_inner(made)).collect()
}

/// Results of one thread that wait to be taken.
const MAX_WAITING: usize = 1;

/// Makes the results of tasks `0..tasks` on some threads besides the caller's, which takes them in their
/// order meanwhile. Of each thread at most two results wait. Where threads cannot be started, the caller's
/// makes them.
///
/// A task that panics makes this panic.
///
/// # Errors
/// What `take` returns: then the other results are not taken.
pub fn take_in_order<R: Send, E>(
    tasks: usize,
    threads: usize,
    make: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(tasks);
    if threads < 2 {
        return (0..tasks).map(make).try_for_each(take);
    }
    let make = &make;
    thread::scope(|scope| {
        let spawn = |first: usize| -> Option<Receiver<R>> {
            let (sender, receiver) = sync_channel(MAX_WAITING);
            let work = move || {
                let mut own = (first..tasks).step_by(threads);
                // After an error, results are not taken.
                let _ = own.try_for_each(|task| sender.send(make(task)));
            };
            thread::Builder::new().spawn_scoped(scope, work).ok().map(|_| receiver)
        };
        let receivers: Vec<_> = (0..threads).map(spawn).collect();
        for task in 0..tasks {
            match &receivers[task % threads] {
                // A thread that panicked makes the scope panic.
                Some(receiver) => match receiver.recv() {
                    Ok(result) => take(result)?,
                    Err(_) => break,
                },
                None => take(make(task))?,
            }
        }
        Ok(())
    })
}

/// The content of a mutex; also where a thread panicked with it: no content is left incomplete in this crate.
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
    fn results_are_taken_in_order() {
        let check = |tasks: usize, threads: usize| {
            let mut taken = Vec::new();
            let make = |task: usize| {
                thread::sleep(std::time::Duration::from_micros(task as u64 * 7 % 5 * 50));
                task
            };
            let all: Result<(), ()> = take_in_order(tasks, threads, make, |task| {
                taken.push(task);
                Ok(())
            });
            assert_eq!((all, taken), (Ok(()), (0..tasks).collect()), "{tasks} tasks, {threads} threads");
            // What comes after an error is left.
            let mut left = tasks / 2;
            let some = take_in_order(tasks, threads, make, |task| {
                left = left.checked_sub(1).ok_or(task)?;
                Ok(())
            });
            assert_eq!(
                some,
                if tasks == 0 { Ok(()) } else { Err(tasks / 2) },
                "{tasks} tasks, {threads} threads"
            );
        };
        for threads in [0, 1, 2, 3, 8] {
            for tasks in [0, 1, 2, 7, 100] {
                check(tasks, threads);
            }
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_task_that_panics_is_not_lost() {
        let make = |task: usize| assert_ne!(task, 3);
        let _: Result<(), ()> = take_in_order(10, 2, make, |()| Ok(()));
    }

    #[test]
    fn items_are_mapped_in_their_order() {
        for threads in [0, 1, 2, 8] {
            for items in [0, 1, 7, 100] {
                let made = map_in_order((0..items).collect(), threads, |item: u32| item.to_string());
                assert_eq!(made, (0..items).map(|item| item.to_string()).collect::<Vec<_>>());
            }
        }
    }

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
