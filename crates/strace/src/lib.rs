//! The text of system calls, as strace shows them: arguments by name, results, errors.
//!
//! [`Arguments`] is made once for an event class; it keeps the arguments of an event as [`ArgumentValues`],
//! whose text is made when it is shown. [`CallLine`] is a whole call:
//! `openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory)`.

mod arguments;
mod errors;
mod line;
mod number;
mod show;
mod tables;
mod values;
mod writer;

pub use arguments::{Arguments, family_name, hexadecimal, signal_name, socket_type_name};
pub use errors::{errno_name, errno_of, error_in, error_name, error_text};
pub use line::{CallLine, CallResult};
pub use values::ArgumentValues;
