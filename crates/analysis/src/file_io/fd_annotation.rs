//! Lines of system calls with what their file descriptors are, as `strace -y` shows them:
//! `read(3</etc/passwd>, "root", 4) = 4`.

use isochrone_kernel::Name;
use isochrone_kernel::calls::Effect;

/// The descriptors that a call takes.
pub(crate) fn taken(effect: &Effect) -> [Option<i32>; 2] {
    match *effect {
        Effect::Open { dir: fd, .. } | Effect::Object { fd, .. } => [fd, None],
        Effect::Close { fd }
        | Effect::CloseOnExec { fd, .. }
        | Effect::Connect { fd, .. }
        | Effect::Bind { fd, .. }
        | Effect::Listen { fd }
        | Effect::Accept { fd, .. }
        | Effect::Use { fd, .. } => [Some(fd), None],
        Effect::Duplicate { fd, to, .. } => [Some(fd), to],
        Effect::Transfer { from, to } => [Some(from), Some(to)],
        _ => [None; 2],
    }
}

/// Whether what a call returns is a descriptor.
pub(crate) fn makes(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Open { .. } | Effect::Create { .. } | Effect::Duplicate { .. } | Effect::Accept { .. }
    )
}

/// A line with the names of the descriptors that it takes and of the one that it returns. Each is named once,
/// where it is an argument by itself; texts in quotes are left alone.
pub(crate) fn annotated(line: &str, taken: &[(i32, Name)], made: Option<&(i32, Name)>) -> String {
    let mut taken: Vec<_> = taken.iter().map(|(fd, name)| (fd.to_string(), name)).collect();
    let mut text = String::with_capacity(line.len() + 32);
    let mut rest = line;
    if let Some((head, arguments)) = line.split_once('(') {
        text.push_str(head);
        text.push('(');
        rest = arguments;
        while !taken.is_empty() {
            let end = argument(rest);
            let (this, then) = rest.split_at(end);
            text.push_str(this);
            rest = then;
            if let Some(index) = taken.iter().position(|(fd, _)| fd == this) {
                let (_, name) = taken.swap_remove(index);
                text.extend(["<", name, ">"]);
            }
            match rest.strip_prefix(", ") {
                Some(then) => {
                    text.push_str(", ");
                    rest = then;
                }
                None => break,
            }
        }
    }
    let result = made.and_then(|(fd, name)| {
        let begin = rest.rfind(") = ")? + ") = ".len();
        let digits = fd.to_string();
        let after = rest[begin..].strip_prefix(digits.as_str())?;
        (after.is_empty() || after.starts_with(' ')).then(|| (rest.len() - after.len(), name))
    });
    match result {
        Some((end, name)) => {
            text.push_str(&rest[..end]);
            text.extend(["<", name.as_str(), ">"]);
            text.push_str(&rest[end..]);
        }
        None => text.push_str(rest),
    }
    text
}

/// How long the first argument of a list is: up to a comma or a closing bracket that is in no brackets and no
/// quotes.
fn argument(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' | b',' if depth == 0 => return index,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_after_numbers() {
        let check = |line: &str, taken: &[(i32, &str)], made: Option<(i32, &str)>, expect: &str| {
            let taken: Vec<_> = taken.iter().map(|&(fd, name)| (fd, Name::from(name))).collect();
            let made = made.map(|(fd, name)| (fd, Name::from(name)));
            assert_eq!(annotated(line, &taken, made.as_ref()), expect, "{line}");
        };
        check("read(3, \"a\", 3) = 3", &[(3, "/f")], None, "read(3</f>, \"a\", 3) = 3");
        check(
            "openat(7, \"x\", 0) = 3",
            &[(7, "/d")],
            Some((3, "/d/x")),
            "openat(7</d>, \"x\", 0) = 3</d/x>",
        );
        check(
            "sendfile(4, 5, NULL, 4) = 4",
            &[(5, "a"), (4, "b")],
            None,
            "sendfile(4<b>, 5<a>, NULL, 4) = 4",
        );
        check("f({3, (3), \"3, \\\"}\"}, 3)", &[(3, "x")], None, "f({3, (3), \"3, \\\"}\"}, 3<x>)");
        check(
            "close(3) = -9 EBADF (Bad file descriptor)",
            &[],
            Some((-9, "x")),
            "close(3) = -9<x> EBADF (Bad file descriptor)",
        );
        check("dup(3) = 31", &[], Some((3, "x")), "dup(3) = 31");
        // A quotation that does not end: nothing after it is touched.
        check("open(\") = 3", &[(1, "x")], Some((3, "x")), "open(\") = 3");
        for odd in ["", "(", "read", "read(", "read(3", "}{", "f(\"", "ä(ö, ü"] {
            check(odd, &[(3, "")], Some((1, "")), &odd.replace("(3", "(3<>"));
        }
    }
}
