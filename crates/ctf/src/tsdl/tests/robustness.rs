//! Input that no writer makes: deep, long, random. The parser must come back, with a tree or an error.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::{MAX_NESTING, parse};
use super::{SAMPLE, parsed, print, refused};
use crate::text_error::{excerpt, line_column};

/// Bytes that mean something to the lexer, so that mutations reach the parser.
const TELLING: &[u8] = b"{}[]()<>;:,.=*+-\"'\\/ \n0x9azL_";

/// Parses whatever it is, and uses the offset of the error if there is one.
fn survive(text: &str) {
    match parse(text) {
        Ok(tree) => drop(print::tree(&tree)),
        Err(error) => {
            assert!(error.offset <= text.len() && text.is_char_boundary(error.offset));
            assert!(!error.message.is_empty());
            line_column(text, error.offset);
            excerpt(text, error.offset);
        }
    }
}

/// A declaration with the given number of structs in each other.
fn nested_structs(depth: usize) -> String {
    format!("{}int x;{} y;", "struct {".repeat(depth), "} x;".repeat(depth)).replacen(
        "struct",
        "typedef struct",
        1,
    )
}

#[test]
fn nesting_has_a_limit() {
    // The innermost field type is a level too.
    let deepest = nested_structs(MAX_NESTING - 1).replace("x; y;", "y;");
    parsed(&deepest);
    for text in [
        nested_structs(MAX_NESTING),
        nested_structs(100_000),
        "typedef ".to_string() + &"enum : ".repeat(100_000),
        "typedef ".to_string() + &"variant <a> { ".repeat(100_000),
        "struct s {".repeat(100_000),
        "event { fields := ".to_string() + &"struct { enum : ".repeat(100_000),
    ] {
        assert_eq!(refused(&text).message, "types are nested more than 256 levels deep");
    }
}

#[test]
fn a_small_stack_suffices() {
    // A quarter of what Rust gives a thread; the parser is also run in threads of a pool.
    let text = nested_structs(MAX_NESTING);
    let worker = std::thread::Builder::new().stack_size(512 * 1024).spawn(move || refused(&text));
    assert!(worker.is_ok_and(|worker| worker.join().is_ok()));
}

#[test]
fn long_texts_take_linear_time() {
    let begin = Instant::now();
    for piece in [
        "{ ",
        "int ",
        "env { a = ",
        "- ",
        "\"a\" ",
        "a.",
        "[3]",
        "* ",
        "const ",
        "/**/ ",
        "; ",
        "A, ",
        "x /* c */ ",
        "\\",
        "\"\\\"",
        "struct s { int a; }; ",
        "/* ",
        "(",
    ] {
        for prefix in ["", "struct s { ", "env { a = ", "typedef int ", "typedef int a[", "enum e { "] {
            survive(&(prefix.to_string() + &piece.repeat(20_000)));
        }
    }
    // Takes well below a second; quadratic time would take minutes.
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[test]
fn every_prefix_of_the_sample() {
    for (end, _) in SAMPLE.char_indices() {
        survive(SAMPLE.get(..end).unwrap_or_default());
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_tokens(text in "([{}\\[\\]<>();:,.=*'\"-]|:=|[.]{3}|struct|enum|variant|typedef|typealias|integer|string|event|align|a|9| ){0,80}") {
        survive(&text);
    }

    #[test]
    fn mutated_sample(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..4_u8, any::<u8>(), prop::sample::select(TELLING)),
            1..12,
        ),
    ) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (place, action, any_byte, telling) in changes {
            let at = place.index(bytes.len());
            match action {
                0 => bytes[at] = any_byte,
                1 => bytes[at] = telling,
                2 => bytes.insert(at, telling),
                _ => drop(bytes.drain(at..(at + usize::from(any_byte) / 8 + 1).min(bytes.len()))),
            }
            if bytes.is_empty() {
                break;
            }
        }
        survive(&String::from_utf8_lossy(&bytes));
    }
}
