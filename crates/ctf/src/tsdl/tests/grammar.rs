//! What is accepted, and as what.

use super::super::{Declaration, Entry, Integer, Item, Member, TypeKind};
use super::{SAMPLE, parsed, print};

/// Checks what a text is understood as.
#[track_caller]
fn check(input: &str, expect: &str) {
    assert_eq!(print::tree(&parsed(input)), expect, "in {input}");
}

/// Checks what a body of a struct is understood as.
#[track_caller]
fn check_members(input: &str, expect: &str) {
    check(&format!("struct s {{ {input} }};"), &format!("declare struct s {{{expect}}}"));
}

/// Checks what the value of an attribute is understood as.
#[track_caller]
fn check_value(input: &str, expect: &str) {
    check(&format!("env {{ a = {input}; }};"), &format!("Env{{ a = {expect} }}"));
}

#[test]
fn nothing_and_blanks() {
    check("", "");
    check("/* CTF 1.8 */\n", "");
    check("\u{feff}/* CTF 1.8 */", "");
    check(" \t\r\n\u{b}\u{c};;// no newline", "");
    check("/**/ /* * / // */ // */ /*\r\nenv {};\r\n", "Env{  }");
    check("env /*;*/ { // }\n a = /* b */ 1; };", "Env{ a = 1 }");
}

#[test]
fn blocks() {
    check(
        "trace {}; env {}; clock {}; stream {}; event {}; callsite {}; blah { x = 1; };",
        "Trace{  } Env{  } Clock{  } Stream{  } Event{  } Callsite{  } Unknown(\"blah\"){ x = 1 }",
    );
    check(
        "stream { id = 0; packet.context := struct p; event . header := uint8_t; ; a.b.c = d.e; };",
        "Stream{ id = 0; packet.context := struct p; event.header := 'uint8_t'; a.b.c = d.e }",
    );
    check(
        "event { typedef int t; typealias t := u; struct s { t x; }; enum e { A }; name = string; };",
        "Event{ typedef t: 'int'; typealias 'u': 't'; declare struct s {x: 't'}; declare enum e {A}; \
         name = string }",
    );
    check(
        "event { fields := struct { int a; } align(16); };",
        "Event{ fields := struct {a: 'int'} align(16) }",
    );
}

#[test]
fn integers() {
    check_value("0", "0");
    check_value("-0", "0");
    check_value("1000000000", "1000000000");
    check_value("0xFf", "255");
    check_value("0X10UL", "16");
    check_value("017", "15");
    check_value("0b101u", "5");
    check_value("42ull", "42");
    check_value("18446744073709551615", "18446744073709551615");
    check_value("-18446744073709551615", "-18446744073709551615");
    check_value("+7", "7");
    check_value("- - 7", "7");
}

#[test]
fn integers_convert_only_when_they_fit() {
    let number = |negative, magnitude| Integer { negative, magnitude };
    assert_eq!(number(true, 5).as_u64(), None);
    assert_eq!(number(false, u64::MAX).as_u64(), Some(u64::MAX));
    assert_eq!(number(true, u64::MAX).as_i128(), -i128::from(u64::MAX));
}

#[test]
fn strings() {
    check_value(r#""""#, r#""""#);
    check_value(r#""a; /* b */ // c""#, r#""a; /* b */ // c""#);
    check_value(r#""\"\\\'\?\t\n""#, r#""\"\\'?\t\n""#);
    // At most three digits of either kind, as existing readers have it.
    check_value(r#""\x41\x023\x0231\101\43\0431""#, r#""A##1A##1""#);
    check_value(r#""\0end""#, r#""\0end""#);
    check_value(r#""\u00e9\U0001F600 é \xc3\xa9 \xff""#, "\"é😀 é é \u{fffd}\"");
    check_value("\"ab\" \"c\\n\"\n\"d\"", r#""abc\nd""#);
    check_value(r#"L"wide""#, r#""wide""#);
    check_value(r"'\n'", r#""\n""#);
}

#[test]
fn paths_as_values() {
    check_value("true", "true");
    check_value("clock.monotonic.value", "clock.monotonic.value");
    check_value("string", "string");
    check_value("X", "X");
    let tree = parsed("env { a = b . c; };");
    let Some(Item::Block(block)) = tree.items.first() else { panic!("{tree:?}") };
    let Some(Entry::Value(entry)) = block.entries.first() else { panic!("{tree:?}") };
    assert!(entry.path.is("a") && !entry.path.is("a.b"));
    assert_eq!((entry.path.offset, entry.value.offset), (6, 10));
}

#[test]
fn built_in_types() {
    check_members(
        "integer { size = 8; byte_order = be; base = hex; encoding = UTF8; map = clock.c.value; aa = bb; } x;",
        "x: integer(size = 8, byte_order = be, base = hex, encoding = UTF8, map = clock.c.value, aa = bb)",
    );
    check_members(
        "floating_point { exp_dig = 8; mant_dig = 24; } f;",
        "f: float(exp_dig = 8, mant_dig = 24)",
    );
    check_members("string s; string { encoding = ASCII; } t;", "s: string(); t: string(encoding = ASCII)");
    check_members("integer {} x; string {} s;", "x: integer(); s: string()");
}

#[test]
fn names_of_types() {
    check_members("uint8_t x;", "x: 'uint8_t'");
    check_members("unsigned long long int x;", "x: 'unsigned long long int'");
    check_members("unsigned /* */ int x[2];", "x[2]: 'unsigned int'");
    check_members("const unsigned int const x; const string s;", "x: 'unsigned int'; s: string()");
    check_members("my long type x, y;", "x, y: 'my long type'");
    check_members("char *x; my const char * const * y;", "x: 'char *'; y: 'my char * *'");
    check_members("_Bool b;", "b: '_Bool'");
}

#[test]
fn keywords_as_field_names() {
    check_members(
        "uint8_t stream; string string; string event;",
        "stream: 'uint8_t'; string: string(); event: string()",
    );
    check_members("integer {} integer; int clock, env:3;", "integer: integer(); clock, env/3: 'int'");
    check_members(
        "uint8_t enum; uint8_t struct[2]; a typedef;",
        "enum: 'uint8_t'; struct[2]: 'uint8_t'; typedef: 'a'",
    );
    check_members("struct { int a; } align; struct t align;", "align: struct {a: 'int'}; align: struct t");
    check_members("string int;", "int: string()");
    check(
        "struct event { int a; }; enum clock { A };",
        "declare struct event {a: 'int'} declare enum clock {A}",
    );
}

#[test]
fn declarators() {
    check_members("int a[8], b, c[ len ][0x10], d[a.b.c];", "a[8], b, c[len][16], d[a.b.c]: 'int'");
    check_members("int a[stream.event.header.x];", "a[stream.event.header.x]: 'int'");
    check_members("int a[trace.packet.header.x], b[env.x];", "a[trace.packet.header.x], b[env.x]: 'int'");
    check_members(
        "int a[event.fields.len], b[event], c[string];",
        "a[event.fields.len], b[event], c[string]: 'int'",
    );
    check_members("uint32_t a:5, b:27; enum e c:2;", "a/5, b/27: 'uint32_t'; c/2: enum e");
}

#[test]
fn structs() {
    check("struct s {};", "declare struct s {}");
    check("struct s { int a; } align(8);", "declare struct s {a: 'int'} align(8)");
    check("struct s { int a; } align(X);", "declare struct s {a: 'int'} align(X)");
    check_members("struct { int a; } align(0x10) x[2];", "x[2]: struct {a: 'int'} align(16)");
    check_members("struct t x; struct t align(8) y;", "x: struct t; y: struct t align(8)");
    check_members("struct t { int a; } x;", "x: struct t {a: 'int'}");
    check_members("struct t { int a; }; struct t x;", "declare struct t {a: 'int'}; x: struct t");
    check_members("typedef struct { int a[n]; } t; t x;", "typedef t: struct {a[n]: 'int'}; x: 't'");
    check_members("typealias integer {} := a b; a b x;", "typealias 'a b': integer(); x: 'a b'");
    // As existing readers: no semicolon between two declared types.
    check(
        "struct a { int x; }\nstruct b { struct a y; };",
        "declare struct a {x: 'int'} declare struct b {y: struct a}",
    );
}

#[test]
fn variants() {
    check_members("variant <tag> { int a; string b; } v;", "v: variant <tag> {a: 'int'; b: string()}");
    check_members("variant name <a.b> { int a; } v;", "v: variant name <a.b> {a: 'int'}");
    check_members("variant name<stream.event.header.id> v;", "v: variant name <stream.event.header.id>");
    check_members("variant { int a; } v; variant name v2;", "v: variant {a: 'int'}; v2: variant name");
    check("variant v { int a; };", "declare variant v {a: 'int'}");
    check_members("variant <t> { typedef int i; i a; } v;", "v: variant <t> {typedef i: 'int'; a: 'i'}");
}

#[test]
fn enums() {
    check_members("enum { A } x;", "x: enum {A}");
    check_members("enum {} x;", "x: enum {}");
    check_members("enum e : uint8_t { A, B, C, } x;", "x: enum e : 'uint8_t' {A, B, C}");
    check_members("enum : unsigned int { A = 3, B = 1 ... 5 } x;", "x: enum : 'unsigned int' {A=3, B=1..5}");
    check_members("enum : integer { size = 5; } { A=0...30 } x;", "x: enum : integer(size = 5) {A=0..30}");
    check_members("enum { A = -2 ... -1, B = +1, C = -0x10 } x;", "x: enum {A=-2..-1, B=1, C=-16}");
    check_members(
        r#"enum { "two words" = 1, "a" "b", event, struct } x;"#,
        "x: enum {two words=1, ab, event, struct}",
    );
    check_members("enum e x;", "x: enum e");
    check("enum : int { A = 8 };", "declare enum : 'int' {A=8}");
}

#[test]
fn typedefs_and_typealiases() {
    check("typedef int a, b[2][len];", "typedef a, b[2][len]: 'int'");
    check("typedef unsigned long *p;", "typedef p: 'unsigned long *'");
    check("typedef struct s t;", "typedef t: struct s");
    check("typealias integer { size = 8; } := uint8_t;", "typealias 'uint8_t': integer(size = 8)");
    check("typealias integer {} := unsigned const long;", "typealias 'unsigned long': integer()");
    check("typealias integer {} := const char *;", "typealias 'char *': integer()");
    check("typealias uint8_t [16][2] := uuid_t;", "typealias 'uuid_t': 'uint8_t'[16][2]");
    check("typealias unsigned int := u32;", "typealias 'u32': 'unsigned int'");
    check("typealias enum e : int { A } := e_t;", "typealias 'e_t': enum e : 'int' {A}");
}

#[test]
fn offsets_point_at_what_they_belong_to() {
    let text = "struct s { const uint8_t name[ 3 ]; };";
    let tree = parsed(text);
    let Some(Item::Declaration(Declaration::Type(declared))) = tree.items.first() else { panic!("{tree:?}") };
    let TypeKind::Struct(body) = &declared.kind else { panic!("{tree:?}") };
    assert_eq!(body.name.map(|name| name.offset), text.find("s {"));
    let Some(Member::Field(field)) = body.members.as_deref().and_then(<[_]>::first) else {
        panic!("{tree:?}")
    };
    assert_eq!(Some(field.target.offset), text.find("uint8_t"));
    assert_eq!(field.declarators.first().map(|it| it.name.offset), text.find("name"));
}

#[test]
fn line_ends_do_not_matter() {
    let tree = print::tree(&parsed(SAMPLE));
    assert_eq!(print::tree(&parsed(&SAMPLE.replace('\n', "\r\n"))), tree);
    assert!(
        tree.contains("typedef state_t: enum state : 'uint8_t' {RUNNING, IN SLEEP=1, Z=-5..7}"),
        "{tree}"
    );
    assert!(tree.contains("vtid/24, stream[2][_len]: 'uint32_t'"), "{tree}");
}
