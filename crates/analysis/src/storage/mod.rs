//! Rows that are too many for memory: encoded, sorted, and moved to a
//! [`Storage`](isochrone_kernel::scratch::Storage).

mod encoding;
pub(crate) mod log_rows;
pub(crate) mod rows;
pub(crate) mod sorted_rows;
pub(crate) mod stored;

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use isochrone_kernel::scratch::{Scratch, Storage};

    use super::log_rows::LogRows;
    use super::rows::Rows;
    use crate::output::table::Cell;
    use crate::testing::{file, thread};

    /// It takes so many pieces, and gives none back.
    struct Broken(Mutex<usize>);

    impl Storage for Broken {
        fn append(&self, _: &[u8]) -> io::Result<u64> {
            let mut room = self.0.lock().unwrap();
            *room = room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(0)
        }

        fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn failures_are_told_and_a_full_one_costs_nothing() {
        let check = |room, all: bool, expect: &str| {
            let scratch = Scratch::new(Broken(Mutex::new(room)));
            let (mut log, mut rows) = (LogRows::new(&scratch), Rows::new(&scratch));
            for at in 0..100 {
                log.push(file(thread(2), 3, "/x", at, at));
                rows.push(&[Cell::from(at), Cell::text("a text that is too long to have a number")]);
            }
            assert_eq!((log.sorted().count() == 100, rows.iter().count() == 100), (all, all), "{room}");
            assert_eq!(scratch.failed().map(|error| error.to_string()).unwrap_or_default(), expect);
            assert_eq!(postcard::to_stdvec(&log).is_ok(), all);
        };
        let full =
            "rows are kept in memory, because they cannot be written to a temporary file: no storage space";
        check(0, true, full);
        check(usize::MAX, false, "rows cannot be read again from a temporary file: entity not found");
    }
}
