//! Rows that are too many for memory: encoded, sorted, and moved to a [`Storage`](scratch::Storage).

mod encoding;
pub(crate) mod log_rows;
pub(crate) mod rows;
pub(crate) mod scratch;
pub(crate) mod sorted_rows;
