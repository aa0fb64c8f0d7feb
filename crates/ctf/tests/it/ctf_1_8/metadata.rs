//! Metadata: how they come, how they grow, what the grammar allows, what is said about what it does not.

use isochrone_ctf::Trace;

use super::{check, check_odd, in_order, reading};
use crate::common::{event, metadata, metadata_packet, write};

#[test]
fn metadata_come_as_text_or_in_packets() {
    let text = |order: &str| in_order(order, "event { name = x; fields := struct { u16 n; }; };");
    let (events, two) = (["x {\"n\":258}"], [[2, 1], [1, 2]]);
    let odd = "Note metadata: its packets have another byte order than the trace that they describe";
    for (order, data, big, diagnostics) in [
        ("le", two[0], false, &[][..]),
        ("be", two[1], true, &[]),
        ("le", two[0], true, &[odd]),
        ("be", two[1], false, &[odd]),
    ] {
        let text = text(order);
        // One packet after the other, cut anywhere.
        let packets = [&text[..70], &text[70..]].map(|part| metadata_packet(part.as_bytes(), big));
        let reading = reading(&packets.concat(), &data);
        assert_eq!(
            (reading.events, reading.diagnostics),
            (events.map(str::to_owned).to_vec(), diagnostics.iter().map(|&d| d.to_owned()).collect()),
            "{order} in packets, big: {big}"
        );
    }
    check("LF", &text("le"), &two[0], &events);
    check("CRLF", &text("le").replace('\n', "\r\n"), &two[0], &events);
    let unsigned = text("le").replace("/* CTF 1.8 */", "");
    let odd = "Note metadata: it does not begin with `/* CTF 1.8`; read as CTF 1.8";
    check_odd("without the signature", &unsigned, &two[0], &events, &[odd]);
    let latin = [text("le").as_bytes(), b"env { host = \"caf\xe9\"; };"].concat();
    let odd = format!(
        "Note metadata: its text is not UTF-8 from byte {} on; read with U+FFFD for what is not",
        latin.len() - 6
    );
    assert_eq!(reading(&latin, &two[0]).diagnostics, [odd], "Latin 1");
}

#[test]
fn metadata_of_any_size_take_bounded_memory() {
    let trace = write("", &[]);
    let path = trace.path().join("metadata");
    std::fs::File::options().write(true).open(&path).unwrap().set_len((12 << 20) + 1).unwrap();
    let error = Trace::open(trace.path()).map(drop).unwrap_err().to_string();
    assert!(error.ends_with("it has more than 12582912 bytes, the most that are read"), "{error}");
}

#[test]
fn metadata_grow() {
    // As a tracer appends to them: events before their stream, types between, a type again in a scope of its own.
    let text = metadata(
        "event { name = a; id = 0; stream_id = 5; fields := struct { u8 n; }; };\n\
         stream { id = 5; event.header := struct { u8 id; }; };\n\
         typealias integer { size = 24; align = 8; } := u24;\n\
         event { name = b; id = 1; stream_id = 5; typealias u24 := u8; fields := struct { u8 n; }; };",
    );
    check("sections", &text, &[0, 7, 1, 1, 0, 0], &["a {\"n\":7}", "b {\"n\":1}"]);
}

#[test]
fn what_the_grammar_allows_and_readers_trip_over() {
    let underscores = "u8 _a; u8 __b; u8 _; u8 c_;";
    check(
        "one leading underscore",
        &event(underscores),
        &[1, 2, 3, 4],
        &["x {\"a\":1,\"_b\":2,\"\":3,\"c_\":4}"],
    );
    check(
        "scopes of types",
        &event("typedef u8 t; struct { typedef u16 t; t a; } s; t b;"),
        &[1, 0, 2],
        &["x {\"s\":{\"a\":1},\"b\":2}"],
    );
    let strings =
        "env { a = \"\\x41\\102\\u00e9\\n\\\"\"; }; callsite { name = \"x\"; func = \"f\"; line = 39; };";
    check("strings and callsites", &(event("u8 n;") + strings), &[1], &["x {\"n\":1}"]);
    for (what, block, message) in [
        (
            "of an integer",
            "typealias integer { size = 8; zz = 1; } := t;",
            "line 8, column 31: the attribute `zz` of an integer is unknown; ignored",
        ),
        (
            "of a string",
            "typealias string { base = 8; } := t;",
            "line 8, column 20: the attribute `base` of a string is unknown; ignored",
        ),
        (
            "of a number",
            "typealias floating_point { exp_dig = 8; mant_dig = 24; size = 32; } := t;",
            "line 8, column 56: the attribute `size` of a floating point number is unknown; ignored",
        ),
        (
            "of a clock",
            "clock { name = n; speed = 8; };",
            "line 8, column 19: the attribute `speed` of a clock is unknown; ignored",
        ),
        (
            "of a trace",
            "trace { colour = red; };",
            "line 8, column 9: the attribute `colour` of the trace is unknown; ignored",
        ),
        ("blocks", "group { };", "line 8, column 1: unknown block `group` ignored"),
        (
            "types",
            "trace { packet.footer := struct { }; };",
            "line 8, column 9: nothing called `packet.footer` has a type; ignored",
        ),
        (
            "environment",
            "env { a = 18446744073709551615; };",
            "line 8, column 11: `a` has more than 64 bits with its sign; kept as text",
        ),
        ("versions", "trace { major = 2; };", "line 8, column 17: the major version is 2; read as CTF 1.8"),
    ] {
        let text = format!("{}\n{block}", event("u8 n;"));
        let message = format!("Note metadata: {message}");
        check_odd(&format!("unknown {what}"), &text, &[1], &["x {\"n\":1}"], &[&message]);
    }
}

#[test]
fn types_that_nothing_uses_are_looked_at() {
    let check = |declared: &str, expect: &[&str]| {
        let expect: Vec<String> =
            expect.iter().map(|message| format!("Note metadata: line 8, column {message}")).collect();
        let text = format!("{}\n{declared}", event("u8 n;"));
        let reading = reading(text.as_bytes(), &[1]);
        assert_eq!(reading.events, ["x {\"n\":1}"], "{declared}");
        assert_eq!(reading.diagnostics, expect, "{declared}");
    };
    check(
        "typealias integer { size = 0; } := t;",
        &["28: an integer of 0 bits: 1 to 65536 are possible (in a type that nothing uses)"],
    );
    check("typedef nothing t;", &["9: no type is called `nothing` (in a type that nothing uses)"]);
    check("struct s { struct s s; };", &["12: the type `s` contains itself (in a type that nothing uses)"]);
    check(
        "struct s { u8 n; } align(3);",
        &["26: an alignment of 3 bits: it must be a power of two (in a type that nothing uses)"],
    );
    check(
        "struct s { string t; variant <t> { u8 a; } v; };",
        &["31: `t` is not an enum: it cannot be a tag (in a type that nothing uses)"],
    );
    check(
        "enum : u8 { a = 256 };",
        &["13: the label `a` is for values that its integer never has: that holds 0 to 255"],
    );
    check("enum e : u8 { };", &["1: an enum needs one label at least"]);
    check("typedef u8 t; typedef u8 t;", &["26: the type `t` is declared twice in one scope"]);
    check(
        "typealias integer { size = 8; base = \"hex\"; } := t;",
        &["38: a base is a number or a word, not a string"],
    );
    check("struct s { u8 stream; };", &["15: the reserved word `stream` is the name of a field"]);
    check("env { a = \"a\" \"b\"; };", &["11: strings in a row are not TSDL; joined as in C"]);
    // What is not there may be there where the type is used.
    check("typedef u8 t[n]; struct s { variant <tag> { u8 a; } v; }; variant v { u8 a; };", &[]);
    // A type that is used is in order, or refused with all that uses it.
    check("struct s { u8 n; }; typedef struct s t; typedef t u[2];", &[]);
    // However many fields they stand for.
    let doubled = |n: usize| format!("typedef struct {{ d{0} a; d{0} b; }} d{n}; ", n - 1);
    let doubled: Vec<String> = (1..64).map(doubled).collect();
    check(&format!("typedef u8 d0; {}", doubled.concat()), &[]);
}

#[test]
fn notes_have_an_end() {
    let alias = |n: usize| format!("typealias integer {{ size = 8; a{n} = 1; }} := x{n};\n");
    let aliases: Vec<String> = (0..10_000).map(alias).collect();
    let reading = reading((event("u8 n;") + &aliases.concat()).as_bytes(), &[1]);
    assert_eq!(reading.diagnostics.len(), 101);
    assert!(reading.diagnostics[100].ends_with("and 9900 more like these"), "{}", reading.diagnostics[100]);
}
