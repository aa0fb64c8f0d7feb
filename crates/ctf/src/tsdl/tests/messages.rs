//! What is refused, where, and in which words.

use super::refused;
use crate::text_error::{excerpt, line_column, line_columns};

/// Checks a message in the form `line:column: message`.
#[track_caller]
fn check(input: &str, expect: &str) {
    let error = refused(input);
    let (line, column) = line_column(input, error.offset);
    assert_eq!(format!("{line}:{column}: {error}"), expect, "in {input}");
}

#[test]
fn fields() {
    check("struct s {\n\tint a\n};", "3:1: expected `;` after the field name, found `}`");
    check("struct s { int a; struct { int b; } };", "1:37: expected a field name, found `}`");
    check("struct s { int a struct { } b; };", "1:18: expected `;` after the field name, found `struct`");
    check("struct s { unsigned int; };", "1:24: expected a field name, found `;`");
    check("struct s { int a, ; };", "1:19: expected a field name, found `;`");
    check("struct s { int a:x; };", "1:18: expected the number of bits after `:`, found `x`");
    check("struct s { trace x; };", "1:12: expected a type, found `trace`");
    check("struct s { 5 x; };", "1:12: expected a type, found the number 5");
    check("struct s { int a = 3; };", "1:18: expected `;` after the field name, found `=`");
    check("struct s { struct t; };", "1:20: expected a field name, found `;`");
}

#[test]
fn array_lengths() {
    check("typedef int a[-1];", "1:15: an array cannot have a negative length");
    let what = "expected an array length (a number or a field)";
    check("typedef int a[\"x\"];", &format!("1:15: {what}, found the string \"x\""));
    check("typedef int a[typedef];", &format!("1:15: {what}, found `typedef`"));
    check("typedef int a[];", &format!("1:15: {what}, found `]`"));
    check("typedef int a[3;", "1:16: expected `]` after the array length, found `;`");
    check("typedef int a[b.3];", "1:17: expected a name after `.`, found the number 3");
}

#[test]
fn types() {
    check("typealias integer := x;", "1:19: expected `{` after `integer`, found `:=`");
    check("typealias integer { size = 8 } := x;", "1:30: expected `;` after the attribute value, found `}`");
    check(
        "typealias integer { size := 8; } := x;",
        "1:26: expected `=` after the attribute name, found `:=`",
    );
    check("typealias integer { ] := x;", "1:21: expected an attribute or `}`, found `]`");
    check("typealias integer {} = x;", "1:22: expected `:=` after the type, found `=`");
    check("typealias integer {} := ;", "1:25: expected the name of the new type after `:=`, found `;`");
    check(
        "typealias integer {} := event;",
        "1:25: expected the name of the new type after `:=`, found `event`",
    );
    check("typedef int event;", "1:13: `event` is a reserved word and cannot name a type");
    check("typedef uint32_t int;", "1:21: expected the name of the new type, found `;`");
    check("struct ;", "1:8: expected a name or `{` after `struct`, found `;`");
    check("struct struct {};", "1:8: `struct` is a reserved word and cannot name a type");
    check("struct s {} align(8;", "1:20: expected `)` after the alignment, found `;`");
    check("variant <2> {} x;", "1:10: expected the field that selects the option, found the number 2");
    check("variant <a {} x;", "1:12: expected `>` after the tag of the variant, found `{`");
    check("variant <a>;", "1:12: expected `{` after the tag, found `;`");
    check("enum;", "1:5: expected a name, `:` or `{` after `enum`, found `;`");
    check("enum e : int;", "1:13: expected `{` after the type of the enum, found `;`");
    check("enum e { A = B };", "1:14: expected an integer, found `B`");
    check("enum e { A B };", "1:12: expected `,` or `}` after the enumerator, found `B`");
    check("enum e { , };", "1:10: expected a label or `}`, found `,`");
}

#[test]
fn blocks() {
    check(
        "event { id = struct {}; };",
        "1:14: expected a value, found `struct`; a type is assigned with `:=`",
    );
    check("event { id 5; };", "1:12: expected `=` or `:=` after `id`, found the number 5");
    check("event { id = 5 };", "1:16: expected `;` after the value, found `}`");
    check("event { id = ; };", "1:14: expected a value, found `;`");
    check("event { a := 5; };", "1:14: expected a type, found the number 5");
    check(
        "event { \"a\" = 5; };",
        "1:9: expected an attribute, a declaration or `}`, found the string \"a\"",
    );
    check("event { }\nevent { };", "2:1: expected `;` after the block, found `event`");
    check("event x;", "1:7: expected `{` after `event`, found `x`");
    check("} ;", "1:1: expected a declaration or a block such as `event { … };`, found `}`");
}

#[test]
fn unclosed() {
    check("trace {\n\tmajor = 1;\n", "1:7: this `{` is never closed with `}`");
    check("struct s { int a;", "1:10: this `{` is never closed with `}`");
    check("enum e { A, B", "1:8: this `{` is never closed with `}`");
    check("typealias integer { size = 8;", "1:19: this `{` is never closed with `}`");
    check("typealias", "1:10: expected a type, found the end of the text");
    check("trace {}; /* comment", "1:11: this comment is never closed with `*/`");
    check("env { a = \"x;\n};", "1:11: this string is not closed with `\"` before the end of its line");
    check("env { a = \"x\\", "1:11: this string is not closed with `\"` before the end of its line");
}

#[test]
fn literals() {
    check("env { a = 1x; };", "1:11: `1x` is not a number");
    check("env { a = 08; };", "1:11: `08` is not an octal number (because it begins with 0)");
    check("env { a = 0xg; };", "1:11: `0xg` is not a hexadecimal number");
    check("env { a = 0b2; };", "1:11: `0b2` is not a binary number");
    check("env { a = 1ulul; };", "1:11: `1ulul` is not a number");
    check("env { a = 1.5; };", "1:11: TSDL has integer constants only, this is a floating-point number");
    check("env { a = 18446744073709551616; };", "1:11: `18446744073709551616` does not fit 64 bits");
    check("env { a = -x; };", "1:12: expected an integer, found `x`");
    check("env { a = \"ab\\q\"; };", "1:14: unknown escape sequence `\\q`");
    check("env { a = L\"é\\q\"; };", "1:14: unknown escape sequence `\\q`");
    check("env { a = \"\\n\\x\"; };", "1:14: expected a hexadecimal digit after `\\x`");
    check("env { a = \"\\777\"; };", "1:12: the escape sequence gives 511, which is not a byte");
    check("env { a = \"\\u12\"; };", "1:12: expected 4 hexadecimal digits in the escape sequence");
    check("env { a = \"\\ud800\"; };", "1:12: U+D800 is not a character");
    check("env { a = \"x\0\"; };", "1:13: a string cannot contain a NUL character");
    check("env { a = @; };", "1:11: unexpected character `@`");
    check("env { é = 1; };", "1:7: unexpected character `é`");
    check("\u{1b}[2J", "1:1: unexpected character `\\u{1b}`");
}

#[test]
fn long_tokens_are_cut() {
    let error = refused(&format!("env {{ a b{}; }};", "c".repeat(1000)));
    assert_eq!(error.message, format!("expected `=` or `:=` after `a`, found `b{}…`", "c".repeat(39)));
}

#[test]
fn lines_and_columns() {
    let text = "one\r\ntwö = 3\n";
    for (offset, expect) in [(0, (1, 1)), (2, (1, 3)), (5, (2, 1)), (7, (2, 3)), (8, (2, 3)), (9, (2, 4))] {
        assert_eq!(line_column(text, offset), expect, "offset {offset}");
    }
    assert_eq!(line_column(text, 999), (3, 1));
    assert_eq!(line_column("", 0), (1, 1));
    assert_eq!(line_columns(text, &[9, 0, 999, 5, 5]), [(2, 4), (1, 1), (3, 1), (2, 1), (2, 1)]);
}

#[test]
fn excerpts() {
    let text = "first\n\ta\u{1b} = 'ö' ;\r\nlast";
    assert_eq!(excerpt(text, 7), " a  = 'ö' ;\n ^");
    assert_eq!(excerpt(text, 17), " a  = 'ö' ;\n          ^");
    assert_eq!(excerpt(text, 999), "last\n    ^");
    assert_eq!(excerpt("", 0), "\n^");
    let long = format!("{}X{}", "a".repeat(500), "b".repeat(500));
    assert_eq!(excerpt(&long, 500), format!("…{}X{}…\n{}^", "a".repeat(60), "b".repeat(59), " ".repeat(61)));
}
