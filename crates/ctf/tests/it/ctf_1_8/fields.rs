//! Fields: numbers, alignment, labels, arrays, text, and what lengths and tags mean.

use super::{check, check_odd, in_order};
use crate::bytes;
use crate::common::{event, metadata};

#[test]
fn bit_fields_of_units() {
    let short = "typealias integer { size = 16; align = 16; signed = true; } := short;";
    let fields =
        |fields: &str| metadata(&format!("{short} event {{ name = x; fields := struct {{ {fields} }}; }};"));
    // The second one does not fit the rest of its unit.
    check(
        "the next unit",
        &fields("short a:12; short b:5; short c:11;"),
        &[0xff, 0x07, 0x7e, 0],
        &["x {\"a\":2047,\"b\":-2,\"c\":3}"],
    );
    check("one unit", &fields("short a:12; short b:4;"), &[0xff, 0x77], &["x {\"a\":2047,\"b\":7}"]);
    check(
        "after a byte",
        &fields("u8 a; short b:8; short c:8;"),
        &[1, 2, 3],
        &["x {\"a\":1,\"b\":2,\"c\":3}"],
    );
    let packed = "u32 a:5; u32 b:27;";
    check("of packed units", &event(packed), &bytes!(3_u32 | 7 << 5), &["x {\"a\":3,\"b\":7}"]);
    check_odd(
        "after text",
        &fields("string s; short a:8;"),
        &[b'a', 0, 5],
        &["x {\"s\":\"a\",\"a\":5}"],
        &[
            "Note metadata: line 7, column 124: where the unit of the bit field `a` ends is unknown; taken as packed",
        ],
    );
}

#[test]
fn integers_of_every_order() {
    let fields = "integer { size = 16; byte_order = native; } a; integer { size = 16; byte_order = network; } b; \
                  integer { size = 16; byte_order = le; } c; integer { size = 24; signed = true; } d;";
    let text = |order| in_order(order, &format!("event {{ name = x; fields := struct {{ {fields} }}; }};"));
    let data = [1, 2, 1, 2, 1, 2, 0xff, 0xff, 0xfe];
    check("le", &text("le"), &data, &["x {\"a\":513,\"b\":258,\"c\":513,\"d\":-65537}"]);
    check("be", &text("be"), &data, &["x {\"a\":258,\"b\":258,\"c\":513,\"d\":-2}"]);
    // Without an alignment: bits where the size is no whole number of bytes, else bytes.
    let fields = "integer { size = 3; } a; integer { size = 8; } b; integer { size = 12; } c; integer { size = 4; } d;";
    check(
        "default alignment",
        &event(fields),
        &[0xfd, 7, 0x34, 0x12],
        &["x {\"a\":5,\"b\":7,\"c\":564,\"d\":1}"],
    );
}

#[test]
fn neighbours_of_two_byte_orders_share_no_byte() {
    let of = |first: &str, second: &str| {
        format!(
            "integer {{ size = 4; align = 1; byte_order = {first}; }} a; integer {{ size = 4; align = 1; byte_order = {second}; }} b;"
        )
    };
    check("one order", &event(&of("be", "be")), &[0xab], &["x {\"a\":10,\"b\":11}"]);
    let odd = "Note metadata: line 7, column 141: `b` begins inside a byte with another byte order than the field before it: \
               their values can be wrong";
    check_odd("two orders", &event(&of("be", "le")), &[0xab], &["x {\"a\":10,\"b\":10}"], &[odd]);
    let nested = format!("struct {{ {} }} align(8) s;", of("be", "le"));
    let odd = odd.replace("141", "150");
    check_odd("inside", &event(&nested), &[0xab], &["x {\"s\":{\"a\":10,\"b\":10}}"], &[&odd]);
}

#[test]
fn alignment_is_from_the_packet() {
    let text = metadata(
        "stream { packet.context := struct { u8 packet_size; }; }; \
         event { name = x; fields := struct { integer { size = 8; align = 32; } n; }; };",
    );
    // The second packet begins at byte 5 of the file.
    check("packets", &text, &[40, 9, 9, 9, 1, 40, 9, 9, 9, 2], &["x {\"n\":1}", "x {\"n\":2}"]);
    // An array aligns also when it has no elements, and so does a structure; neither is padded at its end.
    let fields = "u8 n; integer { size = 8; align = 32; } e[n]; u8 a; struct { } align(16) s; u8 b;";
    check(
        "empty",
        &event(fields),
        &[0, 9, 9, 9, 1, 9, 2],
        &["x {\"n\":0,\"e\":[],\"a\":1,\"s\":{},\"b\":2}"],
    );
    let fields = "u8 n; struct { u8 a; integer { size = 16; align = 16; } b; u8 c; } s; u8 d;";
    check(
        "structures",
        &event(fields),
        &[1, 9, 2, 9, 3, 0, 4, 5],
        &["x {\"n\":1,\"s\":{\"a\":2,\"b\":3,\"c\":4},\"d\":5}"],
    );
    // The alignment of a variant is that of the option that was chosen.
    let fields =
        "enum : u8 { A, B } t; struct { variant <t> { u8 A; integer { size = 16; align = 32; } B; } v; } s;";
    check(
        "variants",
        &event(fields),
        &[0, 7, 1, 9, 8, 0],
        &["x {\"t\":[0,[\"A\"]],\"s\":{\"v\":{\"A\":7}}}", "x {\"t\":[1,[\"B\"]],\"s\":{\"v\":{\"B\":8}}}"],
    );
}

#[test]
fn enums_of_every_kind() {
    let fields = "enum : integer { size = 8; signed = true; } { low = -8 ... -1, zero, \"two words\" = 5 ... 9, next, \
                  again = 9 } e;";
    check(
        "labels",
        &event(fields),
        &[0xf8, 0, 9, 10, 100],
        &[
            "x {\"e\":[-8,[\"low\"]]}",
            "x {\"e\":[0,[\"zero\"]]}",
            "x {\"e\":[9,[\"again\",\"two words\"]]}",
            "x {\"e\":[10,[\"next\"]]}",
            "x {\"e\":[100,[]]}",
        ],
    );
    let int =
        "typealias integer { size = 16; } := int; event { name = x; fields := struct { enum { A } e; }; };";
    check("of int", &metadata(int), &[0, 0], &["x {\"e\":[0,[\"A\"]]}"]);
}

#[test]
fn tags_and_lengths_of_every_scope() {
    let text = metadata(
        "trace { packet.header := struct { enum : u8 { a, b } kind; }; };\n\
         stream { packet.context := struct { u8 n; }; event.header := struct { u8 id; u8 n; }; \
         event.context := struct { u8 n; u8 m; }; };\n\
         event { name = x; context := struct { u8 n; }; fields := struct { \
         u8 header[trace.packet.header.kind]; u8 packet[stream.packet.context.n]; u8 event[stream.event.header.n]; \
         u8 common[stream.event.context.n]; u8 specific[event.context.n]; u8 near[n]; u8 far[m]; u8 n; u8 own[n]; \
         struct { u8 n; u8 inner[n]; u8 outer[event.fields.n]; } s; \
         variant <trace.packet.header.kind> { u8 a; u16 b; } v; }; };",
    );
    let data = [
        &[1, 2][..],       // packet header and context
        &[0, 3, 1, 2, 4],  // event header, common context, specific context
        &[11],             // as many as the kind
        &[21, 22],         // … as the packet context says
        &[31, 32, 33],     // … as the event header says
        &[41],             // … as the common context says
        &[51, 52, 53, 54], // … as the specific context says
        &[61, 62, 63, 64], // the nearest `n` so far: that of the specific context
        &[71, 72],         // the only `m`
        &[2, 81, 82],      // its own
        &[1, 91, 92, 93],  // the innermost, and the one further out
        &[5, 1],
    ]
    .concat();
    let names = text.replace("u8 event[", "u8 _event[");
    check(
        "scopes",
        &names,
        &data,
        &[
            "x {\"header\":[11],\"packet\":[21,22],\"event\":[31,32,33],\"common\":[41],\"specific\":[51,52,53,54],\
         \"near\":[61,62,63,64],\"far\":[71,72],\"n\":2,\"own\":[81,82],\
         \"s\":{\"n\":1,\"inner\":[91],\"outer\":[92,93]},\"v\":{\"b\":261}}",
        ],
    );
}

#[test]
fn names_mean_the_fields_before_the_definition_of_a_type() {
    // The example of section 4.2.2, with a byte after it.
    let fields = "enum : u8 { a, b } x; typedef variant <x> { u8 a; u16 b; } example; \
                  struct { enum : u8 { x, y, b = 0 } x; example v; } s[2];";
    check(
        "variants",
        &event(fields),
        &[0, 0, 7, 0, 8],
        &[
            "x {\"x\":[0,[\"a\"]],\"s\":[{\"x\":[0,[\"b\",\"x\"]],\"v\":{\"a\":7}},{\"x\":[0,[\"b\",\"x\"]],\"v\":{\"a\":8}}]}",
        ],
    );
    let fields =
        "u8 n; typedef u8 list[n]; struct tagged { u8 l[n]; }; struct { u8 n; list l; struct tagged t; } s;";
    check(
        "lengths",
        &event(fields),
        &[2, 1, 3, 4, 5, 6],
        &["x {\"n\":2,\"s\":{\"n\":1,\"l\":[3,4],\"t\":{\"l\":[5,6]}}}"],
    );
    // A field after the definition is not meant, and its own fields come first.
    let fields = "u8 n; struct { typedef struct { u8 l[n]; } list; u8 n; list l; } s; \
                  typedef struct { u8 n; u8 l[n]; } own; own o;";
    check(
        "own fields first",
        &event(fields),
        &[1, 2, 3, 1, 4],
        &["x {\"n\":1,\"s\":{\"n\":2,\"l\":{\"l\":[3]}},\"o\":{\"n\":1,\"l\":[4]}}"],
    );
    // What was defined outside of structures means the fields where it is used; so does what no field before fits.
    let text = "typedef struct { u8 l[n]; } list; event { name = x; fields := struct { u8 n; list l; \
                struct { typedef u8 later[m]; u8 m; later o; } s; }; };";
    check(
        "where it is used",
        &metadata(text),
        &[1, 7, 1, 8],
        &["x {\"n\":1,\"l\":{\"l\":[7]},\"s\":{\"m\":1,\"o\":[8]}}"],
    );
    let text = "variant v { u8 a; u16 b; }; event { name = x; fields := struct { enum : u8 { a, b } t; variant v <t> v; }; };";
    check(
        "a tag that is given with the use",
        &metadata(text),
        &[1, 2, 0],
        &["x {\"t\":[1,[\"b\"]],\"v\":{\"b\":2}}"],
    );
}

#[test]
fn options_have_the_names_of_labels() {
    let fields = "enum : u8 { a, _b, c } t; variant <t> { u8 _a; u16 b; u32 c; } v;";
    check(
        "underscores",
        &event(fields),
        &[0, 1, 1, 2, 0, 2, 3, 0, 0, 0],
        &[
            "x {\"t\":[0,[\"a\"]],\"v\":{\"a\":1}}",
            "x {\"t\":[1,[\"_b\"]],\"v\":{\"b\":2}}",
            "x {\"t\":[2,[\"c\"]],\"v\":{\"c\":3}}",
        ],
    );
    let odd = "Note metadata: line 7, column 61: no label of the tag is the name of an option: the variant cannot be read";
    let fields = "enum : u8 { \" a \" } t; variant <t> { u8 a; } v;";
    check_odd("no option", &event(fields), &[], &[], &[odd]);
}

#[test]
fn arrays_and_text() {
    let fields = "u8 n; u8 m; u16 a[2][n]; struct { u8 l[m]; } s[n]; integer { size = 8; encoding = UTF8; } t[4]; \
                  integer { size = 8; encoding = ASCII; } u[m]; integer { size = 8; encoding = none; } v[1];";
    let data = [&bytes!(2_u8, 0_u8, 1_u16, 2_u16, 3_u16, 4_u16)[..], b"ab\0c", &[5]].concat();
    check(
        "nested, empty and cut at a NUL",
        &event(fields),
        &data,
        &[
            "x {\"n\":2,\"m\":0,\"a\":[[1,2],[3,4]],\"s\":[{\"l\":[]},{\"l\":[]}],\"t\":\"ab\",\"u\":\"\",\"v\":[5]}",
        ],
    );
    let fields =
        "integer { size = 4; } a; string s; integer { size = 4; } b; string { encoding = ASCII; } t;";
    check(
        "strings begin with a byte",
        &event(fields),
        &[1, b'a', 0, 2, b'b', 0],
        &["x {\"a\":1,\"s\":\"a\",\"b\":2,\"t\":\"b\"}"],
    );
}
