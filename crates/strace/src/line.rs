//! A whole call as a line: `openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::errors::{error_in, error_name, error_text};
use crate::values::ArgumentValues;

/// What is known of the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CallResult {
    /// It has not returned.
    Pending,
    /// It returned; the result was not recorded.
    Unseen,
    /// It returned this; -4095 … -1 are errors.
    Returned(i64),
}

/// A call as strace shows it, from what was seen of it; `?` and `...` stand for what was not.
#[derive(Debug, Clone, Copy)]
pub struct CallLine<'c> {
    /// Its name.
    pub name: Option<&'c str>,
    /// The arguments that it was entered with; `None`: its entry was not seen.
    pub given: Option<&'c ArgumentValues>,
    /// Those that it filled in.
    pub filled: Option<&'c ArgumentValues>,
    /// Its result.
    pub result: CallResult,
}

impl fmt::Display for CallLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.unwrap_or("?"))?;
        f.write_str("(")?;
        match self.given {
            Some(given) => given.fmt(f)?,
            None => f.write_str("...")?,
        }
        if let Some(filled) = self.filled.filter(|filled| !filled.is_empty()) {
            if self.given.is_none_or(|given| !given.is_empty()) {
                f.write_str(", ")?;
            }
            filled.fmt(f)?;
        }
        f.write_str(") = ")?;
        match self.result {
            CallResult::Pending => f.write_str("?"),
            CallResult::Unseen => f.write_str("..."),
            CallResult::Returned(ret) => match error_in(ret) {
                Some(error) => put_error(error, f),
                None => put_result(self.name.unwrap_or(""), ret, f),
            },
        }
    }
}

fn put_result(name: &str, ret: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_address = matches!(name, "mmap" | "mmap2" | "mmap_pgoff" | "mremap" | "brk" | "shmat");
    if is_address { write!(f, "{ret:#x}") } else { write!(f, "{ret}") }
}

fn put_error(error: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (error_name(error), error_text(error)) {
        // Kernel-internal codes are no errors that a program sees.
        (Some(name), Some(text)) if error >= 512 => write!(f, "? {name} ({text})"),
        (Some(name), Some(text)) => write!(f, "-1 {name} ({text})"),
        _ => write!(f, "-1 (errno {error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_strace() {
        let none = ArgumentValues::default();
        let check = |entry: Option<(&str, Option<&str>)>, exit: Option<(i64, Option<&str>)>, expect: &str| {
            let [given, filled] = [entry.and_then(|it| it.1), exit.and_then(|it| it.1)]
                .map(|line| line.map(ArgumentValues::from));
            let line = CallLine {
                name: entry.map(|it| it.0),
                given: entry.map(|_| given.as_ref().unwrap_or(&none)),
                filled: filled.as_ref(),
                result: exit.map_or(CallResult::Pending, |it| CallResult::Returned(it.0)),
            };
            let line = line.to_string();
            assert_eq!(line, expect);
        };
        check(Some(("close", Some("3"))), Some((0, None)), "close(3) = 0");
        check(Some(("getpid", Some(""))), Some((7, None)), "getpid() = 7");
        check(
            Some(("openat", Some("AT_FDCWD, \"/x\", O_RDONLY"))),
            Some((-2, None)),
            "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        );
        check(Some(("pipe2", Some("0"))), Some((0, Some("[3, 4]"))), "pipe2(0, [3, 4]) = 0");
        check(Some(("mmap", Some("NULL"))), Some((0x7f00_0000_0000, None)), "mmap(NULL) = 0x7f0000000000");
        check(
            Some(("poll", Some(""))),
            Some((-516, None)),
            "poll() = ? ERESTART_RESTARTBLOCK (Interrupted by signal)",
        );
        check(Some(("x", None)), Some((-4000, None)), "x() = -1 (errno 4000)");
        check(Some(("exit_group", Some("0"))), None, "exit_group(0) = ?");
        check(None, Some((0, None)), "?(...) = 0");
    }
}
