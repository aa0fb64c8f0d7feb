//! A whole call as a line: `openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory)`.

mod errors;

use std::fmt::Write as _;

use super::{Entry, Exit};

pub use errors::{error_name, error_text};

/// A call as strace shows it, from what was seen of it. Arguments are shown if lines were requested from the decoders; `?` stands
/// for what was not seen.
pub fn line(entry: Option<&Entry>, exit: Option<&Exit>) -> String {
    let name = entry.map(|entry| &entry.name).or_else(|| exit.and_then(|exit| exit.name.as_ref()));
    let mut line = String::from(name.map_or("?", |name| name.as_str()));
    line.push('(');
    let given = entry.map_or(Some("..."), |entry| entry.line.as_deref());
    let filled = exit.and_then(|exit| exit.line.as_deref());
    let mut parts = [given, filled].into_iter().flatten().filter(|part| !part.is_empty());
    if let Some(first) = parts.next() {
        line.push_str(first);
    }
    for part in parts {
        line.push_str(", ");
        line.push_str(part);
    }
    line.push_str(") = ");
    let Some(exit) = exit else {
        line.push('?');
        return line;
    };
    match exit.error() {
        Some(error) => put_error(&mut line, error),
        None => put_result(&mut line, name.map_or("", |name| name.as_str()), exit.ret),
    }
    line
}

fn put_result(line: &mut String, name: &str, ret: i64) {
    let is_address = matches!(name, "mmap" | "mmap2" | "mmap_pgoff" | "mremap" | "brk" | "shmat");
    let written = if is_address { write!(line, "{ret:#x}") } else { write!(line, "{ret}") };
    // Writing to a string cannot fail.
    written.unwrap_or_default();
}

fn put_error(line: &mut String, error: i64) {
    let written = match (error_name(error), error_text(error)) {
        // Kernel-internal codes are no errors that a program sees.
        (Some(name), Some(text)) if error >= 512 => write!(line, "? {name} ({text})"),
        (Some(name), Some(text)) => write!(line, "-1 {name} ({text})"),
        _ => write!(line, "-1 (errno {error})"),
    };
    // Writing to a string cannot fail.
    written.unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{Effect, ExitOutput};

    #[test]
    fn lines_look_like_strace() {
        let check = |entry: Option<(&str, Option<&str>)>, exit: Option<(i64, Option<&str>)>, expect: &str| {
            let entry = entry.map(|(name, line)| Entry {
                name: name.into(),
                effect: Effect::Nothing,
                line: line.map(Into::into),
            });
            let exit = exit.map(|(ret, line)| Exit {
                name: None,
                ret,
                output: ExitOutput::Nothing,
                line: line.map(Into::into),
            });
            assert_eq!(line(entry.as_ref(), exit.as_ref()), expect);
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
